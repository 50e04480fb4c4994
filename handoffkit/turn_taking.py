"""Whose turn it is in one call: a turn is sent, its reply is waited for, a reply is stopped. `Call` stands on it.

What counts is the wire; the SDK's session only does what it is told.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING

from .errors import CallBusy, CallOver, EndpointGone
from .marks import Turn
from .process import Endpoint
from .spoken import Spoken
from .waiting import Waiting, nothing_said
from .wire.call_log import CallLog

if TYPE_CHECKING:
    from .sdk.session import Session

_CANCEL = 10.0  # seconds in which a cancelled reply ends on the wire
_CUT = 2.0  # seconds in which the wire has how much was heard of a reply that was stopped


class TurnTaking:
    """Takes the turns of one call, one at a time.

    Args:
        session: The SDK's session.
        wire: The call, as the log has it.
        endpoint: Where it passes.
        spoken: Sends the caller's sound.
        waiting: Waits for replies.

    Attributes:
        busy: Whether somebody waits for the reply to a turn.
    """

    def __init__(self, session: "Session", wire: CallLog, endpoint: Endpoint, spoken: Spoken, waiting: Waiting) -> None:
        self._session, self._wire, self._endpoint = session, wire, endpoint
        self._spoken, self._waiting = spoken, waiting
        self.busy = False
        self._stopping: asyncio.Task[None] | None = None

    async def turn(self, act: Callable[[], Awaitable[None]]) -> Turn:
        """Have *act* cause a reply, and wait for its end on the wire.

        Raises:
            CallBusy: A reply is under way.
            CallOver, ReplyFailed, ReplyTimeout, ToolRaised, EndpointGone: As `Call.send` has them.
        """
        if self.busy:
            raise CallBusy
        self.busy = True
        try:
            before = await self._idle()
            await self.do(act)
            return await self._waiting.reply(before)
        except asyncio.CancelledError:
            # The cell was interrupted, which is the learner's choice: the reply is stopped, and the call goes on.
            self._stopping = asyncio.create_task(self._stop())
            raise
        finally:
            self.busy = False

    async def respond(self) -> Turn:
        """Ask the agent to speak, and wait for the end of that."""
        before = self.idle_seq()
        await self.do(self._session.respond)
        return await self._waiting.reply(before)

    async def interrupt(self, played_ms: int | None) -> None:
        """Stop the reply that is under way, or what is still heard of the last one."""
        state = await self._waiting.ask("state")  # meanwhile the SDK receives what is in the log already
        if state["outstanding"]:
            await self._session.interrupt(self._heard(played_ms))
            await self._waiting.ask("wait", after=state["seq"], idle=_CANCEL)
        else:
            await self.cut_what_sounds()

    async def cut_what_sounds(self) -> None:
        """Where somebody hears the agent, stop what has arrived and has not sounded, and say that it was not heard."""
        if self._session.playback.audible and self._session.playback.sounding and not self._wire.outstanding:
            seq = self._wire.seq
            await self._session.interrupt(None)
            await self._waiting.passed("conversation.item.truncate", seq, _CUT)

    def idle_seq(self) -> int:
        """Return the number of the last frame.

        Raises:
            CallOver: The call is no longer connected.
        """
        if closed := self._wire.closed:
            raise CallOver(closed)
        return self._wire.seq

    async def say(self, blocks: "AsyncIterator[bytes]", *, realtime: bool) -> tuple[int, int] | None:
        """Send sound; return the last frame before it and the last one with it, or None if nobody speaks in it."""
        before = self.idle_seq()
        heard = False

        async def send() -> None:
            nonlocal heard
            heard = await self._spoken.stream(blocks, realtime=realtime)

        await self.do(send)
        return (before, self._wire.seq) if heard else None

    async def answers(self, before: int, last: int) -> list[Turn]:
        """Return the replies to the turns that began between two frames, or these turns where no reply is due."""
        if not self._spoken.replies:
            return [turn for turn in self._wire.turns if turn.speaker == "caller" and before < turn.seq <= last]
        if not self._spoken.interrupts:
            await self._waiting.passed_over(before, last)
        ends = await self._waiting.answered(before, last)
        return await self._waiting.replies(ends) or [nothing_said(ends[-1])]

    async def do(self, act: Callable[[], Awaitable[None]]) -> None:
        """Have *act* done; without an endpoint its trouble is that.

        Raises:
            EndpointGone: The endpoint process has ended.
        """
        try:
            await act()
        except Exception as error:
            if not self._endpoint.alive:
                raise EndpointGone from error
            raise

    async def _idle(self) -> int:
        """Return the number of the last frame, once no reply is under way."""
        if self._stopping:
            await asyncio.wait([self._stopping], timeout=_CANCEL)
            self._stopping = None
        before = self.idle_seq()
        if self._wire.outstanding:
            raise CallBusy
        return before

    async def _stop(self) -> None:
        with contextlib.suppress(Exception):
            await self.interrupt(None)

    def _heard(self, played_ms: int | None) -> int | None:
        """Never more than has arrived, and nothing to cut where nothing was heard."""
        if played_ms is None:
            return None
        arrived = [turn.audio_ms for turn in self._wire.turns if turn.speaker == "agent"]
        return min(played_ms, arrived[-1] if arrived else 0) or None
