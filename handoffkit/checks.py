"""What the check cells of the notebooks call: has the exercise been done, and if not, what is missing?

A check looks at how a thing is built, never at a model's exact words, so that it holds for every model and every
learner's story. It raises nothing: whatever it is given, it answers with a `Check`, which shows as one sentence.
"""

import difflib
import re
from collections.abc import Iterable
from typing import Any

from .audio import BYTES_PER_MS, SAMPLE_RATE
from .call import Call
from .extraction.judge import State, examine
from .extraction.result import HandoffResult
from .live_checks import handed_on
from .log import EventLog
from .marks import Extraction
from .microphone import BLOCK_BYTES, BLOCK_MS
from .request_checks import connections, request
from .run_checks import run
from .verdict import Check, NotYet, an, checked, counted, take

__all__ = [
    "Check",
    "blocks",
    "call",
    "connections",
    "frames",
    "handed_on",
    "heard",
    "interrupted",
    "request",
    "result",
    "run",
    "sent",
    "tool",
]

_ALIKE = 0.8
"""How alike two words are, of 1, to pass for the same one misheard (`difflib`)."""


@checked
def call(found: Any, *, turns: int = 1, seeded: int = 0, handed_off: bool = False) -> str:
    """Check that *found*, a call or its log, holds enough turns with their answers.

    Args:
        found: The `hk.Call`, or a log such as `hk.load` gives.
        turns: How many turns of the caller's are asked for.
        seeded: How many turns of an earlier call, by both sides, it must begin with.
        handed_off: Whether the call must have been handed off with success as well.
    """
    log = _log(found)
    state = _whole(log)
    count, before = len(_callers(state)), sum(turn.seeded for turn in state.turns)
    if before < seeded:
        why = f"it begins with {counted(before, 'turn')} of one, and {seeded} are asked; `message_history=` takes them"
        raise NotYet("the earlier call is not in it", why)
    if count < turns:
        raise NotYet("the call is too short", f"it has {counted(count, 'turn')} of the caller's, and {turns} are asked")
    begins = f" begins with {counted(before, 'earlier turn')}," if seeded else ""
    answered = f"The call{begins} has {counted(count, 'turn')} of the caller's, and each got its answer."
    if not handed_off:
        return answered
    if not any(isinstance(mark, Extraction) and mark.status == "ok" for mark in log.marks):
        raise NotYet(
            "the call has no result", "no handoff of it was answered; `await my_call.handoff(...)` asks for one"
        )
    return f"{answered} It was handed off, too."


@checked
def result(
    found: Any, *, other_than: type | None = None, adds_to: type | None = None, rejected: str | None = None
) -> str:
    """Check that *found* is the result of a handoff.

    Args:
        found: What `await call.handoff(...)` returned.
        other_than: A type that the output must not have: the exercise asks for another one.
        adds_to: A type whose fields the output must have, and at least one more.
        rejected: A field that an attempt must have been rejected for, before one was accepted.
    """
    handed = take(found, HandoffResult, "the result of a handoff", "`await call.handoff(...)`")
    if other_than is not None and type(handed.output) is other_than:
        raise NotYet("there is no schema of your own", f"the output is {an(other_than.__name__)} again")
    more = "" if adds_to is None else _added(handed, adds_to)
    attempts = f"after {counted(len(handed.attempts), 'attempt')}"
    if rejected is not None:
        _check_rejected(handed, rejected)
        attempts += f", one of them rejected for `{rejected}`"
    return f"The handoff gave {an(type(handed.output).__name__)}{more}, {attempts}."


@checked
def frames(found: Any, log: EventLog, **wanted: Any) -> str:
    """Check that *found* holds the frames that `log.filter(**wanted)` holds, and no others."""
    held = {frame.seq: frame.event for frame in take(found, EventLog, "part of the log", "`log.filter(...)`")}
    asked = {frame.seq for frame in log.filter(**wanted)}
    if extra := sorted(held.keys() - asked):
        raise NotYet("there is too much in it", f"frame {extra[0]} ({held[extra[0]]}) is none of these")
    if missing := sorted(asked - held.keys()):
        raise NotYet("something is left out", f"frame {missing[0]} belongs to it, too")
    return f"These are the {counted(len(held), 'frame')} that were asked for, and no others."


@checked
def sent(found: Any, path: str, value: Any) -> str:
    """Check that the client sent *value* in a call.

    Args:
        found: The `hk.Call`, or a log.
        path: Where in the JSON of an event the value stands, with dots: `session.audio.output.voice`.
        value: What has to stand there.
    """
    log = _log(found)
    values = [each for frame in log.filter(dir="client") if (each := _at(frame.data, path.split("."))) is not None]
    if value in values:
        return f"The client sent {value!r} as `{path}`."
    why = f"it was {values[-1]!r}" if values else f"no event of the client's has `{path}`"
    raise NotYet(f"{value!r} was not sent as `{path}`", why)


@checked
def heard(found: Any, *words: str, turns: int | None = None) -> str:
    """Check that a caller was heard to speak, and loosely what: recognition differs from processor to processor.

    Args:
        found: The `hk.Call`, or a log.
        words: Words of what was spoken, or their beginnings. Most of them must have been heard, two of three; one that
            was misheard by a letter or two counts.
        turns: How many turns the caller's sound must have been taken for; any number from 1 on by default.
    """
    spoken = [turn for turn in _callers(_whole(_log(found))) if turn.spoken]
    if not spoken:
        raise NotYet(
            "nobody was heard to speak", "the call has no spoken turn; `await my_call.send_audio(...)` makes one"
        )
    if turns is not None and len(spoken) != turns:
        raise NotYet(
            f"the caller's sound was not taken for {counted(turns, 'turn')}",
            f"it became {counted(len(spoken), 'turn')}",
        )
    said = " ".join(turn.text for turn in spoken)
    missing = [word for word in words if not _is_in(word, said)]
    if 3 * len(missing) > len(words):
        raise NotYet(f"{_listed(missing)} was not heard", f"what was heard is {said!r}")
    about = f", with most of these words: {_listed(words)}" if words else ""
    return f"The caller was heard in {counted(len(spoken), 'spoken turn')}{about}."


@checked
def interrupted(found: Any, *, replies: int = 1) -> str:
    """Check that replies were spoken over, and that only what was heard of them stayed in the conversation.

    Args:
        found: The `hk.Call`, or a log.
        replies: How many of them, at least. One that nobody heard anything of does not count.
    """
    state = _whole(_log(found))
    cut = [turn for turn in state.turns if turn.interrupted]
    if not cut:
        raise NotYet("no reply was interrupted", "the agent could say each of them to its end")
    known = [turn for turn in cut if turn.heard_ms]
    if len(known) < replies:
        what = f"too few replies were cut after something of them was heard ({len(known)} of {replies})"
        raise NotYet(what, _why_not_known(cut))
    if longer := [turn for turn in known if turn.text == turn.generated]:
        raise NotYet("a reply was heard to its end", f"all of {longer[0].text!r} is in the conversation")
    return f"The caller cut {counted(len(known), 'reply', 'replies')} short, and only what was heard stayed."


@checked
def tool(
    found: Any,
    name: str | None = None,
    *,
    other_than: Iterable[str] = (),
    turn: int | None = None,
    gave: str | None = None,
) -> str:
    """Check that the agent called a tool in a call, and that the tool returned.

    Args:
        found: The `hk.Call`, or a log.
        name: The tool; any one by default.
        other_than: Tools that do not count: the exercise asks for another one.
        turn: The turn of the caller's, 1, 2, …, that the tool was called for; any one by default.
        gave: What must stand in what the agent got back, such as the words of a refusal.
    """
    used = _used(_whole(_log(found)))
    fitting = [(number, use) for number, use in used if use.name not in set(other_than) and name in (None, use.name)]
    wanted = f"`{name}`" if name else "another tool" if other_than else "a tool"
    if not fitting:
        called = ", ".join(dict.fromkeys(f"`{use.name}`" for _, use in used))
        raise NotYet(
            f"{wanted} was not called", f"the agent called only {called}" if called else "the agent called no tool"
        )
    if turn is not None and all(number != turn for number, _ in fitting):
        raise NotYet(f"{wanted} was not called for turn {turn}", f"it was called for turn {fitting[0][0]}")
    number, use = next(each for each in fitting if turn in (None, each[0]))
    if use.output is None:
        raise NotYet(f"`{use.name}` has not returned", "no output of it came")
    if gave is not None and not any(gave in (each.output or "") for _, each in fitting):
        raise NotYet(f"the agent did not get {gave!r} for `{use.name}`", f"it got {use.output!r}")
    return f"The agent called `{use.name}` for turn {number} of the caller's and got its output."


@checked
def blocks(found: Any, *, hertz: float | None = None, seconds: float = 1.0) -> str:
    """Check that *found* is what a microphone gives: blocks of PCM16, mono, 24000 Hz, of 40 ms each.

    Args:
        found: The list of the blocks, as bytes; the last one may be shorter.
        hertz: The tone that must be the loudest in them, a fiftieth more or less.
        seconds: How long they must sound, a block more or less.
    """
    given = take(found, list, "the list of blocks", "`[block async for block in your_microphone()]`")
    _check_blocks(given)
    pcm = b"".join(given)
    if abs(len(pcm) - seconds * 1000 * BYTES_PER_MS) > BLOCK_BYTES:
        found_ms = len(pcm) // BYTES_PER_MS
        raise NotYet(f"it does not last {seconds:g} s", f"the blocks have {found_ms} ms at {SAMPLE_RATE} Hz")
    if not any(pcm):
        raise NotYet("there is no sound in it", "all its samples are zero")
    heard = _loudest(pcm)
    if hertz is not None and abs(heard - hertz) > hertz / 50:
        raise NotYet(f"it has no tone of {hertz:g} Hz", f"the loudest one in it has {heard:.0f} Hz")
    return f"{counted(len(given), 'block')} of sound, the loudest tone at {heard:.0f} Hz: a call can listen to it."


def _check_blocks(given: list[Any]) -> None:
    """Raise what is wrong with the first of them that no microphone would give."""
    for number, block in enumerate(given, 1):
        if not isinstance(block, bytes):
            raise NotYet(f"block {number} is no sound", f"it is {an(type(block).__name__)}, and sound is bytes")
        if len(block) % 2 or len(block) > BLOCK_BYTES or (len(block) < BLOCK_BYTES and number < len(given)):
            wanted = f"{BLOCK_MS} ms of PCM16 at {SAMPLE_RATE} Hz are {BLOCK_BYTES}"
            raise NotYet(f"block {number} has no {BLOCK_MS} ms", f"it has {len(block)} bytes, and {wanted}")


def _loudest(pcm: bytes) -> float:
    """Return the Hz of the loudest tone in PCM16."""
    import numpy as np

    strength = np.abs(np.fft.rfft(np.frombuffer(pcm, "<i2")))
    return float(strength.argmax()) * SAMPLE_RATE / (len(pcm) // 2)


def _log(found: Any) -> EventLog:
    given = take(found, (Call, EventLog), "the call", "`hk.Call(agent)`")
    return given.log if isinstance(given, Call) else given


def _whole(log: EventLog) -> State:
    state = examine(log.turns, log.ends, log.open_turns.values())
    if state.failed:
        raise NotYet(f"turn {state.failed.number} has no complete answer", state.failed.reason)
    if state.waiting:
        raise NotYet("the last turn has no complete answer yet", state.waiting)
    return state


def _callers(state: State) -> list[Any]:
    return [turn for turn in state.turns if turn.speaker == "caller" and not turn.seeded]


def _used(state: State) -> list[tuple[int, Any]]:
    """Return every use of a tool, with the number of the caller's turn that it was for."""
    number, used = 0, []
    for turn in state.turns:
        number += turn.speaker == "caller" and not turn.seeded
        used += [(number, use) for use in turn.tools]
    return used


def _added(handed: HandoffResult, base: type) -> str:
    wanted = set(getattr(base, "model_fields", {}))
    if missing := sorted(wanted - handed.fields.keys()):
        raise NotYet(f"the field `{missing[0]}` is missing", f"the output must keep those of {base.__name__}")
    if not (more := [name for name in handed.fields if name not in wanted]):
        raise NotYet("there is no field of your own", f"the output has only those of {base.__name__}")
    return f" with {', '.join(f'`{name}`' for name in more)} beside the fields of {base.__name__}"


def _check_rejected(handed: HandoffResult, field: str) -> None:
    wrong = dict.fromkeys(error.field for attempt in handed.attempts for error in attempt.errors)
    if field not in wrong:
        names = ", ".join(f"`{name}`" for name in wrong)
        raise NotYet(
            f"no attempt was rejected for `{field}`", f"only {names} was" if wrong else "every attempt was accepted"
        )


def _at(data: Any, path: list[str]) -> Any:
    for step in path:
        data = data.get(step) if isinstance(data, dict) else None
    return data


def _why_not_known(cut: list[Any]) -> str:
    """Say why no more than these replies, which were interrupted, count as heard for a while."""
    if any(turn.heard_ms is None for turn in cut):
        return "nobody said how much of one was heard; `interrupt(played_ms=...)` does"
    if any(turn.heard_ms == 0 for turn in cut):
        return "of one nothing was heard"
    return "the others were said to their end"


def _is_in(word: str, said: str) -> bool:
    """Return whether a word of *said* begins with *word*, or is almost the same one."""
    wanted = word.casefold()
    found = re.findall(r"[\w']+", said.casefold())
    return any(each.startswith(wanted) for each in found) or bool(difflib.get_close_matches(wanted, found, 1, _ALIKE))


def _listed(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)
