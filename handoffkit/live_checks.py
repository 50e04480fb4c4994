"""The check of a call that was handed on while it went on. `checks` exports it."""

from collections.abc import Iterable
from typing import Any

from .call import Call
from .log import EventLog
from .marks import LiveHandoff, Turn
from .verdict import NotYet, checked, counted, take

__all__ = ["handed_on"]

_SEND = "`await my_call.send('...')` says something"


@checked
def handed_on(found: Any, *agents: str, greeted: bool = False) -> str:
    """Check that *found*, a call or its log, was handed from agent to agent, and that each new one really spoke.

    Args:
        found: The `hk.Call`, or a log such as `hk.load` gives.
        agents: The names of the agents that must have taken over, in order; any by default.
        greeted: Whether each must have spoken before the caller's next turn.
    """
    given = take(found, (Call, EventLog), "the call", "`hk.Call(...)`")
    log = given.log if isinstance(given, Call) else given
    taken = [mark for mark in log.marks if isinstance(mark, LiveHandoff)]
    if not taken:
        spoken = any(turn.speaker == "caller" and not turn.seeded for turn in log.turns)
        why = "no transfer was made in it; the caller's words decide" if spoken else f"nobody spoke in it; {_SEND}"
        raise NotYet("the call was not handed on", why)
    names = [mark.to for mark in taken]
    if agents and names != list(agents):
        raise NotYet("other agents took over", f"it went to {_in_order(names)}, and not to {_in_order(agents)}")
    for mark, follows in zip(taken, [*taken[1:], None], strict=True):
        _check_spoke(log, mark, follows.at if follows else float("inf"), greeted=greeted)
    return f"The call was handed on {counted(len(taken), 'time')}, and each new agent spoke by instructions of its own."


def _in_order(names: Iterable[str]) -> str:
    return ", then ".join(names)


def _check_spoke(log: EventLog, mark: LiveHandoff, until: float, *, greeted: bool) -> None:
    later = [turn for turn in log.turns if turn.conn == mark.conn and mark.at <= turn.start < until and turn.text]
    spoke: Turn | None = next((turn for turn in later if turn.speaker == "agent"), None)
    if spoke is None:
        raise NotYet(f"{mark.to} was not heard", "nothing was said after it took over")
    if spoke.instructions != mark.instructions:
        raise NotYet(f"{mark.to} did not speak for itself", "its first words were made under other instructions")
    if greeted and later[0] is not spoke:
        raise NotYet(f"{mark.to} was silent at first", "the caller had to speak before it did")
