"""The check of a run of the second SDK: how often it asked, what it called, what its history keeps.

It reads the result that `Runner.run` gives, and imports nothing of that SDK. `checks` exports it.
"""

from collections import Counter
from typing import Any, Protocol, runtime_checkable

from .verdict import NotYet, checked, counted, take

__all__ = ["run"]

_TOOLS, _HANDOFFS, _OUTPUTS = "tool_call_item", "handoff_output_item", "tool_call_output_item"
"""The `type` of an item, as `new_items` has it."""


@runtime_checkable
class _Run(Protocol):
    """What is asked of a result, plain or streamed."""

    final_output: Any
    new_items: list[Any]
    raw_responses: list[Any]


@checked
def run(
    found: Any,
    *,
    requests: int | None = None,
    tools: int = 0,
    handoffs: int = 0,
    gave: str | None = None,
    in_history: bool | None = None,
) -> str:
    """Check that *found* is a run of an agent that came to its end, by the way that was asked for.

    Args:
        found: What `await Runner.run(...)` returned, or a streamed result that was read to its end.
        requests: How many requests it must have taken; any number by default.
        tools: How many calls of tools it must have in it, at least.
        handoffs: How often another agent must have taken over, at least.
        gave: What must stand in what the model got back for a call of a tool.
        in_history: Whether the final output must be in what the next run would be given, or must not be.
    """
    given = take(found, _Run, "the result of a run", "`await Runner.run(...)`")
    _check_ended(given)
    asked, kinds = len(given.raw_responses), Counter(item.type for item in given.new_items)
    if requests is not None and asked != requests:
        raise NotYet(f"the run did not take {counted(requests, 'request')}", f"it took {asked}{_by_way_of(kinds)}")
    if kinds[_TOOLS] < tools:
        raise NotYet(f"too few tools were called ({kinds[_TOOLS]} of {tools})", "the model asked for no more")
    if kinds[_HANDOFFS] < handoffs:
        raise NotYet(f"too few handoffs happened ({kinds[_HANDOFFS]} of {handoffs})", "the model asked for no more")
    if gave is not None:
        _check_gave(given, gave)
    if in_history is not None:
        _check_history(given, in_history)
    return f"The run came to its end in {counted(asked, 'request')}{_by_way_of(kinds)}."


def _by_way_of(kinds: Counter[str]) -> str:
    names = {_TOOLS: ("call of a tool", "calls of tools"), _HANDOFFS: ("handoff", "handoffs")}
    some = [counted(kinds[kind], *name) for kind, name in names.items() if kinds[kind]]
    return f", with {' and '.join(some)}" if some else ""


def _check_ended(given: _Run) -> None:
    if not getattr(given, "is_complete", True):
        raise NotYet("the run is not at its end", "its stream was not read to the end")
    if waiting := getattr(given, "interruptions", None):
        raise NotYet("the run is not at its end", f"`{waiting[0].name}` waits for an approval")
    if given.final_output is None:
        raise NotYet("the run is not at its end", "it has no final output")


def _check_gave(given: _Run, words: str) -> None:
    outputs = [str(item.output) for item in given.new_items if item.type == _OUTPUTS]
    if not any(words in output for output in outputs):
        why = f"it got {outputs[-1]!r}" if outputs else "no tool gave anything"
        raise NotYet(f"the model did not get {words!r} for a tool", why)


def _check_history(given: Any, wanted: bool) -> None:
    said = [str(item.get("content")) for item in given.to_input_list() if item.get("role") == "assistant"]
    there = any(str(given.final_output) in each for each in said)
    if wanted and not there:
        raise NotYet("the final output is not in the history", "`to_input_list()` has no message with it")
    if there and not wanted:
        raise NotYet("the final output is in the history", "`to_input_list()` has a message with it")
