"""No silence after a live handoff: where the new agent is not heard in time, a reply is asked for once more.

The SDK asks for the new agent's reply by itself. It does not where it lost count of replies (the end of the last one
never came), where the request was lost on the way, or where it refused the transfer; then the caller would wait for
ever. A request that the SDK holds back is let go; else one goes straight onto the call's own connection.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from .errors import EndpointGone
from .process import Endpoint
from .wire.call_log import CallLog
from .wire.frames import obj

_HEARD = ("response.output_audio.delta", "response.output_audio_transcript.delta", "response.output_text.delta")
_LOOK = 1.0  # seconds between two looks at whether the call still goes on


class Silence:
    """Watches one call after each handoff.

    Args:
        wire: The call, as the log has it.
        endpoint: Who is asked, and who says it to the service.
        folder: The log's.
        seconds: How long the new agent may be silent.
        sdk_asks: Has the SDK send a request for a reply that it holds back; returns whether there was one.
    """

    def __init__(
        self, wire: CallLog, endpoint: Endpoint, folder: Path, seconds: float, sdk_asks: Callable[[], Awaitable[bool]]
    ) -> None:
        self._wire, self._endpoint, self._folder, self._seconds = wire, endpoint, folder, seconds
        self._sdk_asks = sdk_asks
        self._watching: asyncio.Task[None] | None = None

    def watch(self, why: str) -> None:
        """Begin to watch, since *why*; a watch that is under way ends, for its agent has handed on."""
        self.stop()
        self._watching = asyncio.create_task(self._watch(why), name="handoffkit silence")

    def stop(self) -> None:
        """Watch no more."""
        if self._watching is not None:
            self._watching.cancel()
            self._watching = None

    async def _watch(self, why: str) -> None:
        since = self._asked()
        with contextlib.suppress(EndpointGone):
            if await self._heard(since) or self._wire.closed:
                return
            begun = bool(self._replies(since) - self._failed(since))
            await self._say_so(why, begun)
            if not begun and not await self._sdk_asks():
                await self._ask("say", event={"type": "response.create"})

    def _asked(self) -> int:
        """Return the frame in which the transfer was asked for: the SDK's event may come after the reply has begun."""
        calls = self._wire.frames.filter("response.function_call_arguments.done")
        return calls[-1].seq if len(calls) else self._wire.seq

    async def _heard(self, since: int) -> bool:
        """Wait until a reply that has begun after the frame *since* is heard, or the call is over, or time is."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._seconds):
                while not (heard := self._is_heard(since)) and not self._wire.closed:
                    await self._endpoint.ask("grew", self._folder, seq=self._wire.seq, timeout=_LOOK)
                return heard
        return self._is_heard(since)

    def _is_heard(self, since: int) -> bool:
        replies = self._replies(since)
        frames = self._wire.frames.filter(_HEARD, after_seq=since)
        return any(frame.data.get("response_id") in replies for frame in frames)

    def _replies(self, since: int) -> set[Any]:
        begun = self._wire.frames.filter("response.created", after_seq=since)
        return {obj(frame.data, "response").get("id") for frame in begun}

    def _failed(self, since: int) -> set[Any]:
        ends = [obj(frame.data, "response") for frame in self._wire.frames.filter("response.done", after_seq=since)]
        return {end.get("id") for end in ends if end.get("status") == "failed"}

    async def _say_so(self, why: str, begun: bool) -> None:
        what = "its reply has begun and nothing of it has come" if begun else "a reply was asked for once more"
        conversation = self._wire.conversation
        conn = conversation.conn if conversation else ""
        data = {"conn": conn, "seconds": self._seconds, "reason": f"{why}; {what}"}
        await self._ask("mark", kind="silence", data=data)

    async def _ask(self, op: str, **question: Any) -> None:
        await self._endpoint.ask(op, self._folder, label=self._wire.label, **question)
