"""May this conversation be handed off? Waits, bounded, for what is still on its way, then has it judged.

For calls and logs the wire tells what is missing (`judge.py`). A list of messages tells less: only what it visibly
lacks can be refused (`lists.py`).
"""

import asyncio
import time
import warnings
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..call import Call
from ..errors import CallIncomplete, EndpointGone, InaudibleTurns, NothingSaid, SeveralCalls
from ..log import EventLog
from ..views.html import one_line
from ..wire.frames import Frame
from .judge import State, examine
from .lists import given_messages, with_inaudible, without_lone_results, without_thoughts

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

    from ..history import Loss

LONGEST = 120.0
"""Seconds for which a reply that keeps coming is waited for at most."""
_QUOTED = 80  # characters of a turn in an error


@dataclass(frozen=True, slots=True)
class Ready:
    """A conversation that may be handed off."""

    messages: "Sequence[ModelMessage]"
    last_word: float | None = None
    """Seconds since the log began, when the caller had said everything; None for a list of messages."""
    log: EventLog | None = None
    """The log in which this time counts."""
    call: str = ""
    """The label of the `Call` that is handed off, else empty."""
    losses: "Sequence[Loss]" = ()
    """What of a list could not be read, or stands in it alone."""


async def ready(source: Any, patience: float) -> Ready:
    """Return the conversation of *source* once it is whole.

    Args:
        source: A call, a log, a list of pydantic-ai messages, or one of openai-agents items.
        patience: Seconds without anything new after which what is outstanding counts as not coming.

    Raises:
        CallIncomplete: A turn of the caller's got no complete answer, since something failed.
        NothingSaid: The caller has said nothing that can be read.
        SeveralCalls: A log holds more than one call.
        NotAConversation: *source* is something else.
    """
    if isinstance(source, Call):
        return await _Watch(source.wire.log, patience, source.label).ready()
    if isinstance(source, EventLog):
        return await _Watch(source, patience).ready()
    return _of_messages(source)


class _Watch:
    """A log, or the part of it that belongs to one call, while it may still grow."""

    def __init__(self, log: EventLog, patience: float, call: str = "") -> None:
        self._log, self._patience, self._call = log, patience, call

    async def ready(self) -> Ready:
        from ..history import messages

        if not self._call:
            self._check_one_call()
        state = await self._settled()
        if state.failed:
            raise CallIncomplete(state.failed.number, one_line(state.failed.words, _QUOTED), state.failed.reason)
        callers = [turn for turn in state.turns if turn.speaker == "caller"]
        lost = [turn for turn in callers if turn.inaudible]
        if not any(turn.text.strip() for turn in callers):
            raise NothingSaid(*(["all that the caller has said is inaudible"] if lost else []))
        if lost:
            warnings.warn(InaudibleTurns(len(lost)), stacklevel=4)
        last = max((turn.end for turn in callers if not turn.seeded), default=None)
        return Ready(messages(state.turns), last, self._log, self._call)

    def _check_one_call(self) -> None:
        calls = dict.fromkeys(turn.label or turn.conn for turn in self._log.turns)
        if len(calls) > 1:
            raise SeveralCalls(list(calls))

    async def _settled(self) -> State:
        """Return how the call stands once nothing is outstanding in it, or once that has not come."""
        began = time.monotonic()
        last = self._log[-1].seq if len(self._log) else 0
        state = self._state()
        try:
            async with asyncio.timeout(LONGEST), aclosing(self._new(last)) as new:
                while state.waiting:
                    await anext(new)
                    state = self._state()
        except StopAsyncIteration:
            pass  # nothing new came within the caller's patience
        except TimeoutError:
            return state.given_up(f"after {LONGEST:g} s still")
        except EndpointGone:
            return state.given_up("the endpoint process has ended while")
        waited = time.monotonic() - began
        return state.given_up(
            "the log ends while" if waited < self._patience else f"nothing came for {waited:.1f} s while"
        )

    async def _new(self, last: int) -> AsyncGenerator[Frame, None]:
        """Yield the frames that come and may change how the call stands: pieces of a reply do not."""
        async for frame in self._log.follow(channel="realtime", after_seq=last, idle_timeout=self._patience):
            if not frame.event.endswith((".delta", ".append")):
                yield frame

    def _state(self) -> State:
        turns = [turn for turn in self._log.turns if not self._call or turn.label == self._call]
        conns = {turn.conn for turn in turns}
        outstanding = [words for conn, words in self._log.open_turns.items() if conn in conns]
        return examine(turns, [end for end in self._log.ends if end.conn in conns], outstanding)


def _of_messages(source: Any) -> Ready:
    from ..history import caller_words, unanswered

    given, losses = given_messages(source)
    found, alone = without_lone_results(given)
    found, hosted = without_thoughts(found)
    found, inaudible = with_inaudible(found)
    if not caller_words(found):
        what = "there are no words of a user's in these messages" if source else "there are no messages"
        raise NothingSaid("all that the caller has said is inaudible" if inaudible else what)
    if (missing := unanswered(found)) is not None:
        raise CallIncomplete(missing.number, one_line(missing.words, _QUOTED), missing.reason)
    if inaudible:
        warnings.warn(InaudibleTurns(inaudible), stacklevel=4)
    return Ready(found, losses=[*losses, *alone, *hosted])
