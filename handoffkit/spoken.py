"""The caller's sound in one call: streamed as a microphone would, until the service has taken it for turns.

`Call.send_audio` and `Call.listen` stand on it. What the service makes of the sound is read off the wire.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .audio import BYTES_PER_MS
from .errors import AudioBusy, CallOver, EndpointGone, SpeechMissing
from .process import Endpoint
from .wire.call_log import CallLog

if TYPE_CHECKING:
    from .sdk.session import Session

BLOCK_MS = 40
"""Milliseconds of sound in one event."""
_MARGIN_MS = 1000  # of quiet beyond what ends a turn, after which nobody is speaking
_USUAL_SILENCE_MS = 1200  # of quiet that ends a turn where the settings do not say so (semantic turn detection)
_TAKEN = 10.0  # seconds in which the endpoint has taken in what was sent, unless it goes on taking
_LOOK = 0.02  # seconds between two looks at the log, which cost less than a question for each piece of sound
_REMOTE = 3.0  # seconds in which a service elsewhere says that it hears somebody
_SHORTEST_MS = 100  # of sound that the service takes for a turn; less is refused as an empty buffer
_LOADING = 90.0  # seconds in which the models are loaded


class Spoken:
    """Sends the caller's sound of one call.

    Args:
        session: The SDK's session.
        wire: The call, as the log has it.
        endpoint: Who is asked what it hears.
        folder: The log's.
    """

    def __init__(self, session: "Session", wire: CallLog, endpoint: Endpoint, folder: Path) -> None:
        self._session, self._wire, self._endpoint, self._folder = session, wire, endpoint, folder
        self._source = ""
        self._sent = 0
        self._hears = self._ending = self._ended = False
        self._before: dict[str, Any] | None = None
        self._sender: asyncio.Task[Any] | None = None
        self._silent = asyncio.Event()

    @property
    def detection(self) -> dict[str, Any] | None:
        """The turn detection in force; None for push-to-talk."""
        conversation = self._wire.conversation
        return conversation.detection if conversation else None

    @property
    def sending(self) -> bool:
        """Whether a source of sound holds the call's ear."""
        return bool(self._source)

    @property
    def replies(self) -> bool:
        """Whether a turn is answered: push-to-talk asks for that, and turn detection may be told not to."""
        return self.detection is None or bool(self.detection.get("create_response", True))

    @property
    def interrupts(self) -> bool:
        """Whether a caller who begins to speak stops the agent."""
        return bool((self.detection or {}).get("interrupt_response", True))

    @contextlib.asynccontextmanager
    async def source(self, name: str) -> AsyncIterator[None]:
        """Hold the call's one ear for a source of sound; one that only waits for the end of its turn is waited for.

        Raises:
            AudioBusy: Another source is being sent.
        """
        if self._ending:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._silent.wait(), _TAKEN)
        if self._source:
            raise AudioBusy(self._source, name)
        self._source, self._sender = name, asyncio.current_task()
        self._silent.clear()
        try:
            yield
        finally:
            self._source, self._sender, self._ending = "", None, False
            self._silent.set()

    async def check(self) -> None:
        """Wait until the models are loaded.

        Raises:
            SpeechMissing: Nothing here can hear, and what to do about it.
        """
        if self._hears or self._endpoint.mode == "live":
            return
        answer = await self._endpoint.ask("speech", self._folder, bound=_LOADING + 30, timeout=_LOADING)
        if not answer["hears"]:
            raise SpeechMissing(answer["problem"])
        self._hears = True

    async def stream(self, blocks: AsyncIterator[bytes], *, realtime: bool) -> bool:
        """Send all of *blocks* and what ends the last turn in it; return whether anybody was heard to speak.

        A stream that is given up in the middle is taken back, so that the next turn begins with itself.

        Raises:
            CallOver: The call was hung up meanwhile; what was spoken by then is kept.
        """
        before, sent = self._wire.seq, self._sent
        self._session.play(realtime=realtime)
        try:
            async for block in blocks:
                await self._send(block)
            self._ending = True
            if self.detection is None:
                return await self._push(self._sent - sent)
            return await self._fall_silent(before, realtime)
        except asyncio.CancelledError:
            if self._ended and (task := asyncio.current_task()) and task.uncancel() == 0:
                raise CallOver("hung up") from None
            with contextlib.suppress(Exception):
                await asyncio.shield(self._session.clear())
            raise

    async def end(self) -> None:
        """Stop what is being sent, and have a turn that is still being spoken taken as it is, since the call ends."""
        self._ended = True
        if self._sender:
            self._sender.cancel()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._silent.wait(), _TAKEN)
        if self._sent:
            await self.taken()
            if self._speaking:
                with contextlib.suppress(Exception):  # whatever is wrong with the connection, the call ends
                    await self._session.commit()

    async def taken(self) -> None:
        """Wait until the endpoint has taken in all that was sent: it answers in turn, so it has acted on it by then."""
        with contextlib.suppress(TimeoutError, EndpointGone):
            async with asyncio.timeout(_TAKEN) as bound:
                while (got := self._got()) < self._sent and self._endpoint.alive:
                    await asyncio.sleep(_LOOK)
                    if self._got() > got:
                        bound.reschedule(asyncio.get_running_loop().time() + _TAKEN)
            await self._endpoint.ask("grew", self._folder, seq=-1, timeout=0)

    async def _send(self, block: bytes) -> None:
        await self._session.send_audio(block)
        self._sent += len(block)

    def _got(self) -> int:
        conversation = self._wire.conversation
        return conversation.sound_bytes if conversation else 0

    async def push_to_talk(self, on: bool) -> None:
        """Turn the service's turn detection off, or put back the one that was in force."""
        if on == (self.detection is None):
            return
        if on:
            self._before = self.detection
        detection = None if on else self._before or {"type": "server_vad"}
        self._session.detects(detection)
        await self._set(detection)

    async def _set(self, detection: dict[str, Any] | None) -> None:
        """Change turn detection where both SDKs have no verb for it: a message of ours on the call's own connection."""
        session = {"type": "realtime", "audio": {"input": {"turn_detection": detection}}}
        event = {"type": "session.update", "session": session}
        await self._endpoint.ask("say", self._folder, label=self._wire.label, event=event)
        with contextlib.suppress(TimeoutError, EndpointGone):
            async with asyncio.timeout(_TAKEN):
                while (self.detection is None) != (detection is None) and not self._wire.closed:
                    await self._endpoint.ask("grew", self._folder, seq=self._wire.seq, timeout=1.0)

    async def _push(self, sent: int | None = None) -> bool:
        if sent is not None and sent < _SHORTEST_MS * BYTES_PER_MS:
            await self._session.clear()
            return False
        before = self._wire.seq
        await self._session.commit()
        await self._session.respond()
        await self._committed(before)
        return True

    async def _committed(self, before: int) -> None:
        """Wait until the log has the client's commit, which is the beginning of the turn."""
        with contextlib.suppress(TimeoutError, EndpointGone):
            async with asyncio.timeout(_TAKEN):
                while not self._wire.frames.filter("input_audio_buffer.commit", after_seq=before):
                    await self._endpoint.ask("grew", self._folder, seq=self._wire.seq, timeout=1.0)

    async def _fall_silent(self, before: int, realtime: bool) -> bool:
        """Send quiet, as a microphone does, until the turn is over; one that never is over is committed."""
        wanted = (self.detection or {}).get("silence_duration_ms", _USUAL_SILENCE_MS) + _MARGIN_MS
        for _ in range(0, wanted, BLOCK_MS):
            if realtime and self._all_taken(before):
                break
            await self._send(bytes(BLOCK_MS * BYTES_PER_MS))
            await asyncio.sleep(BLOCK_MS / 1000 if realtime else 0)
        await self.taken()
        if self._endpoint.mode == "live":
            await self._wait_for_speech(before)
        if self._speaking:
            await self._push()
        return self._spoke(before)

    async def _wait_for_speech(self, before: int) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_REMOTE):
                while not self._all_taken(before):
                    await self._endpoint.ask("grew", self._folder, seq=self._wire.seq, timeout=1.0)

    @property
    def _speaking(self) -> bool:
        conversation = self._wire.conversation
        return conversation is not None and conversation.speaking is not None

    def _spoke(self, before: int) -> bool:
        return self._wire.count("input_audio_buffer.speech_started", before) > 0

    def _all_taken(self, before: int) -> bool:
        """Whether somebody has spoken since the frame *before*, and all of it has become turns."""
        started = self._wire.count("input_audio_buffer.speech_started", before)
        return 0 < started <= self._wire.count("input_audio_buffer.committed", before)
