"""A forgotten `await` is noticed and named: in one sentence, every time, and by a mark in the log.

Python says of a coroutine that nobody awaits only that it "was never awaited", once for each place, and nothing at all
where it is a cell's last line and `Out[]` keeps it. Meanwhile nothing is sent, and the call is silent. Here the verbs
of a call, of both SDKs' realtime sessions and of their runs are known by name. What is used of Python is its
documented override point (`warnings.showwarning`), what is used of IPython its event `post_run_cell`. Within
`warnings.catch_warnings(record=True)`, as in `pytest.warns`, Python takes that point back, and its own words are kept.
"""

import inspect
import re
import sys
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple, TextIO

from .errors import EndpointGone, ForgottenAwait
from .process import Endpoint

__all__ = ["VERBS", "unwatch", "watch"]

_BOUND = 2.0
"""Seconds that writing the mark may take: it is done where Python throws the coroutine away."""


class Verb(NamedTuple):
    """What a coroutine would have done."""

    name: str
    """What a learner calls it: the class of theirs that has it, where Python names one behind that."""
    undone: str
    """What was not done, in words that follow "so"."""
    write: str
    """What to write."""


def _verbs(kind: str, variable: str, *behind: str, **undone: str) -> dict[str, Verb]:
    """Return the verbs of a class, some of which may come from a class *behind* it, by their qualified names."""
    return {
        f"{owner}.{verb}": Verb(f"{kind}.{verb}", words, f"await {variable}.{verb}(...)")
        for owner in (kind, *behind)
        for verb, words in undone.items()
    }


VERBS = {
    **_verbs(
        "Call",
        "call",
        "Recorded",
        send="the turn was not sent",
        send_audio="no sound was sent",
        listen="nobody listens",
        respond="no reply was asked for",
        interrupt="nothing was interrupted",
        push_to_talk="turns are taken as before",
        use_speaker="the speaker is the same as before",
        start="the call has not begun",
        hang_up="the call goes on",
        handoff="no agent was asked",
        mark="the log has no such mark",
    ),
    **_verbs(
        "RealtimeSession",
        "session",
        enter="the session is not open",
        send="nothing was sent",
        send_message="the message was not sent",
        send_audio="no sound was sent",
        commit_audio="the turn goes on",
        clear_audio="the sound is still there",
        create_response="no reply was asked for",
        interrupt="nothing was interrupted",
        approve_tool_call="the tool call still waits",
        reject_tool_call="the tool call still waits",
        update_agent="the agent is the same as before",
        wait_for_reply="nobody waited for the reply",
        wait_for_playback="nobody waited for the sound",
        hang_up="the session goes on",
        close="the session is still open",
    ),
    **_verbs("RealtimeRunner", "runner", run="no session was opened"),
    **_verbs("Runner", "Runner", run="the agent did not run"),
    **_verbs("Agent", "agent", "AbstractAgent", run="the agent did not run"),
    "handoff": Verb("handoff", "no agent was asked", "await hk.handoff(...)"),
}
"""What is noticed, by the qualified name that Python gives the coroutine: both SDKs have a `RealtimeSession`."""

_NEVER = re.compile(rf"coroutine '({'|'.join(map(re.escape, VERBS))})' was never awaited")

_endpoint: Endpoint | None = None


def watch(endpoint: Endpoint) -> None:
    """Notice what is not awaited from now on, and mark it in the newest log of *endpoint*."""
    global _endpoint
    _endpoint = endpoint
    warnings.filterwarnings("always", _NEVER.pattern, RuntimeWarning)
    if not isinstance(warnings.showwarning, _Hook):
        warnings.showwarning = _Hook(warnings.showwarning)
    if (shell := _shell()) is not None:
        shell.events.register("post_run_cell", _cell_ended)


def unwatch() -> None:
    """Leave the warnings to Python again."""
    global _endpoint
    _endpoint = None
    warnings.filters[:] = [each for each in warnings.filters if not _is_ours(each)]  # type: ignore[index]
    if isinstance(warnings.showwarning, _Hook):  # else somebody came after us, and the hook only passes on
        warnings.showwarning = warnings.showwarning.former
    if (shell := _shell()) is not None:
        with suppress(ValueError):  # registered in no shell, or in one that is gone
            shell.events.unregister("post_run_cell", _cell_ended)


class _Hook:
    """Stands in the place of `warnings.showwarning`: says what was not awaited, and passes everything else on."""

    def __init__(self, former: Callable[..., None]) -> None:
        self.former = former

    def __call__(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        found = _NEVER.match(str(message)) if _endpoint is not None and category is RuntimeWarning else None
        if found is None:
            self.former(message, category, filename, lineno, file, line)
        else:
            _say(found[1], filename, lineno)


def _cell_ended(result: Any) -> None:
    """Look at the value of a cell: a coroutine that was not begun is what `Out[]` keeps from being noticed."""
    value = getattr(result, "result", None)
    if not inspect.iscoroutine(value) or inspect.getcoroutinestate(value) != inspect.CORO_CREATED:
        return
    if value.__qualname__ in VERBS:
        lines = str(getattr(result.info, "raw_cell", "")).rstrip().count("\n") + 1
        _say(value.__qualname__, f"In [{result.execution_count or ' '}]", lines)


def _say(name: str, filename: str, lineno: int) -> None:
    verb = VERBS[name]
    if _endpoint is not None and not sys.is_finalizing():
        data = {"what": verb.name, "undone": verb.undone}
        with suppress(EndpointGone):
            _endpoint.tell("mark", _endpoint.folder, bound=_BOUND, kind="forgotten_await", data=data, newest=True)
    # No registry of what was said before: silence has a cause each time.
    warnings.warn_explicit(ForgottenAwait(verb.name, verb.undone, verb.write), None, filename, lineno)


def _is_ours(entry: tuple[Any, ...]) -> bool:
    return entry[2] is RuntimeWarning and getattr(entry[1], "pattern", None) == _NEVER.pattern


def _shell() -> Any:
    """Return the IPython that this runs in, if any; a plain script has not even loaded it."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None
