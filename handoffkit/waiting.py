"""Waiting for what a call is owed: a reply, the last words, the end. Every wait has a bound.

The wire is the judge of all of them; the endpoint is asked only where nothing is there yet.
"""

import asyncio
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .approvals import Approvals
from .errors import EndpointGone, ReplyFailed, ReplyTimeout, ToolRaised
from .marks import Turn
from .process import Endpoint
from .turns import UNASKED, TurnEnd
from .wire.call_log import CallLog

if TYPE_CHECKING:
    from .sdk.session import Session

_GIVEN_UP = 3.0  # seconds in which an SDK that gives a session up says why
_CLOSE = 5.0  # seconds in which the end of a call reaches the log
_SHORT = 1.0  # seconds that a reply takes at most if it is waited for without asking the endpoint
_CUT, _CUT_LOOKS = 2.0, 100  # seconds in which a client says how much it has played, and how often the log is looked at
_LAST_WORDS = 10.0  # seconds without anything new after which words that are due count as not coming
_UNASKED = 1.0  # seconds in which the service itself asks for the reply to a turn, if it does
_LONGEST = 60.0  # seconds for which they are waited for at most, whatever else passes in the log


class Waiting:
    """Waits on behalf of one call.

    Args:
        session: The SDK's session.
        wire: The call, as the log has it.
        endpoint: Who is asked.
        folder: The log's.
        reply_timeout: Seconds without any frame after which a reply counts as not coming.
        approvals: Who is asked about tool calls, in a time of their own.
    """

    def __init__(
        self,
        session: "Session",
        wire: CallLog,
        endpoint: Endpoint,
        folder: Path,
        reply_timeout: float,
        approvals: Approvals,
    ) -> None:
        self._session, self._wire, self._endpoint, self._folder = session, wire, endpoint, folder
        self.reply_timeout, self._approvals = reply_timeout, approvals

    async def ask(self, op: str, **question: Any) -> dict[str, Any]:
        """Ask the endpoint about this call."""
        bound = question.get("idle", 0.0) + 660.0
        return await self._endpoint.ask(op, self._folder, bound=bound, label=self._wire.label, **question)

    async def reply(self, after: int) -> Turn:
        """Return the reply to the turn that ends first after the frame *after*."""
        end = await self._end(after)
        while end.verdict == "interrupted" and self._session.replaced():
            end = await self._end(end.end_seq)
        if end.verdict == "failed":
            raise ReplyFailed(end.ordinal, end.reason) from await self._why()
        self._check_tools()
        replies = [turn for turn in self._wire.turns if turn.speaker == "agent" and turn.seq > after]
        return replies[-1] if replies else nothing_said(end)

    def _check_tools(self) -> None:
        if (error := self._session.tool_error()) is not None:
            raise ToolRaised(error, self._session.advice) from error

    async def _why(self) -> BaseException | None:
        """Return what the SDK says of the end of the connection, if that is what has gone wrong."""
        return await self._session.given_up(_GIVEN_UP) if self._wire.closed else None

    async def _end(self, after: int) -> TurnEnd:
        """Wait for the end of the turn. The wire is its judge; a short reply's the SDK has seen first, at no cost."""
        await self._session.settle(min(_SHORT, self.reply_timeout))
        if end := self._wire.end_after(after):
            return end
        await self._moved(after)
        if (end := self._wire.end_after(after)) is None:
            raise ReplyTimeout(self.reply_timeout, self._wire.outstanding or "no reply was asked for")
        if end.verdict != "failed":
            await self._session.settle()
        return end

    async def _moved(self, after: int) -> dict[str, Any]:
        """Wait for the end of a turn after the frame *after*, or until nothing has come for too long.

        While a person is asked about a tool call, nothing has to come: that has its own bound, `Approvals.patience`.
        """
        idle = self.reply_timeout
        while True:
            asked = bool(self._approvals.pending)
            state = await self.ask("wait", after=after, idle=idle)
            if state["end"] is not None or not (asked or self._approvals.pending):
                return state
            idle = state["idle"] + self.reply_timeout

    async def answered(self, before: int, last: int) -> list[TurnEnd]:
        """Wait until every turn has ended that began after the frame *before* and not after *last*; return how."""
        after = before
        while not (ends := self._wire.ends_between(before, last)) or self._wire.open_between(before, last):
            state = await self._moved(after)
            if state["end"] is None:
                raise ReplyTimeout(self.reply_timeout, self._wire.outstanding or "no reply was asked for")
            after = state["end"]["end_seq"]
        await self._session.settle()
        for end in ends:
            if end.verdict == "failed":
                raise ReplyFailed(end.ordinal, end.reason) from await self._why()
        self._check_tools()
        return ends

    async def passed_over(self, before: int, last: int) -> None:
        """Ask for the reply to a turn between two frames that was spoken over the agent, where that does not stop it.

        The service asks for a reply when such a turn ends, and gets none while the agent is still replying: OpenAI's
        API reference warns of it at `create_response`. Nobody asks again, and the turn would wait for ever.
        """
        with contextlib.suppress(EndpointGone, TimeoutError):
            async with asyncio.timeout(self.reply_timeout):
                while self._wire.open_between(before, last):
                    seq, outstanding = self._wire.seq, self._wire.outstanding
                    await self._endpoint.ask("grew", self._folder, seq=seq, timeout=_UNASKED)
                    if self._wire.seq == seq and outstanding == UNASKED:
                        return await self._session.respond()

    async def replies(self, ends: list[TurnEnd]) -> list[Turn]:
        """Return what the agent said in turns that have ended; of a reply that was spoken over, what was heard of it.

        The service ends such a reply at once, and the client says a moment later how much it had played.
        """
        made = {response for end in ends for response in end.responses}
        for _ in range(_CUT_LOOKS):
            replies = [turn for turn in self._wire.turns if turn.speaker == "agent" and turn.response_id in made]
            if not any(turn.interrupted and turn.heard_ms is None and turn.audio_ms for turn in replies):
                break
            await asyncio.sleep(_CUT / _CUT_LOOKS)
        return replies

    async def last_words(self) -> None:
        """Wait, bounded, for words of the caller's that are on their way."""
        loop = asyncio.get_running_loop()
        limit = loop.time() + _LONGEST
        with contextlib.suppress(TimeoutError, EndpointGone):
            async with asyncio.timeout(_LAST_WORDS) as bound:
                while self._wire.words_due and not self._wire.closed:
                    before = self._wire.seq
                    await self._endpoint.ask("grew", self._folder, seq=before, timeout=_LAST_WORDS)
                    if self._wire.seq > before:
                        bound.reschedule(min(limit, loop.time() + _LAST_WORDS))

    async def passed(self, event: str, after: int, seconds: float) -> None:
        """Wait until *event* has passed after the frame *after*, *seconds* at most."""
        with contextlib.suppress(EndpointGone, TimeoutError):
            async with asyncio.timeout(seconds):
                while not self._wire.count(event, after) and not self._wire.closed:
                    await self._endpoint.ask("grew", self._folder, seq=self._wire.seq, timeout=seconds)

    async def closed(self) -> None:
        """Wait until the log has the end of the call, so that it is the same whoever looks first."""
        with contextlib.suppress(EndpointGone, TimeoutError):
            async with asyncio.timeout(_CLOSE):
                while not self._wire.closed:
                    await self._endpoint.ask("grew", self._folder, seq=self._wire.seq, timeout=_CLOSE)


def nothing_said(end: TurnEnd) -> Turn:
    """Return the reply of an agent that ended its turn without a word."""
    return Turn(end.conn, "agent", "", end.at, end.at, end.end_seq, "")
