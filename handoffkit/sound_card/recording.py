"""The kernel's microphone: what PortAudio's thread records, on the kernel's loop, at 24000 Hz."""

import asyncio
import contextlib
from collections.abc import Sequence
from typing import Any, Self

from ..audio import SAMPLE_WIDTH
from ..errors import DeviceRefused, MicrophoneEnded, MicrophoneTrouble, SoundDropped, SoundLost
from ..microphone import BLOCK_BYTES, KEPT_SECONDS, Kept, OnTrouble, Watch
from .portaudio import Stream, find, open_stream

ENDED_SECONDS = 4.0
"""Seconds without any sound after which a device counts as gone, though nobody has said so."""
_OPENS = 10.0  # seconds in which a sound server answers
_BETWEEN = 2.0  # seconds at least between two words about dropped sound
_LOOK = 0.5  # seconds between two looks at a device that gives no sound


class CardMicrophone:
    """A microphone of the kernel's machine: an async iterator over blocks of PCM16, mono, 24000 Hz.

    It records from `start`, or from the first block that is asked for. Up to 10 s wait for a kernel that is busy; of
    more the oldest is dropped. When the device is gone, it ends.

    Args:
        device: Its number or its name; by default the one that the system prefers.

    Attributes:
        name: The device's.
        on_trouble: Is told what goes wrong meanwhile; None tells nobody.
        watch: Looks at the sound; `watch.level` is the newest block's, in dBFS.
        lost: How often the system had thrown sound away before it was fetched.
        samples: How many have been recorded, at the device's rate.

    Raises:
        NoPortAudio, NoDevice, DeviceUnknown: There is no such microphone.
    """

    def __init__(self, device: int | str | None = None) -> None:
        self._device = find("input", device)
        self.name = self._device.name
        self.on_trouble: OnTrouble | None = None
        self.watch = Watch(self.name)
        self.lost = self.samples = 0
        self._told_lost, self._told_dropped, self._next_word = 0, 0, 0.0
        self._stream: Stream | None = None
        self._kept = Kept(1)
        self._blocks = bytearray()
        self._arrived = asyncio.Event()
        self._waking = self._over = self._ended = self._closed = False

    @property
    def rate(self) -> int:
        """Hz at which the device records."""
        return self._stream.rate if self._stream else self._device.rate

    @property
    def dropped_ms(self) -> int:
        """Milliseconds of sound that nobody took in time."""
        return self._kept.dropped * 1000 // self._stream.bytes_per_second if self._stream else 0

    async def start(self) -> None:
        """Begin to record; called again, it does nothing.

        Raises:
            DeviceBusy, DeviceRefused: The system does not hand it out.
        """
        if self._stream is None and not self._closed:
            self._loop = asyncio.get_running_loop()
            opening = asyncio.to_thread(open_stream, self._device, self._recorded, self._finished)
            try:
                stream = await asyncio.wait_for(opening, _OPENS)
            except TimeoutError:
                raise DeviceRefused(self.name, f"nothing, for {_OPENS:g} s") from None
            self._kept = Kept(KEPT_SECONDS * stream.bytes_per_second)
            self._ours = _Ours(stream.rate, stream.channels)
            self._stream = stream
            await asyncio.to_thread(stream.start)
            if self._closed:  # meanwhile
                stream.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        await self.start()
        while len(self._blocks) < BLOCK_BYTES and (piece := await self._piece()):
            self._blocks += self._ours.feed(piece)
        if not self._blocks:
            raise StopAsyncIteration
        block = bytes(self._blocks[:BLOCK_BYTES])
        del self._blocks[:BLOCK_BYTES]
        self._look(block)
        return block

    def close(self) -> None:
        """Record nothing any more; who iterates gets what has been recorded, and then the end.

        Called again, it does nothing.
        """
        self._closed = True
        self._arrived.set()
        if self._stream is not None:
            self._stream.close()

    def _recorded(self, data: Any, frames: int, moment: Any, status: Any) -> None:
        """Copy what was recorded and hand it over; called in PortAudio's thread."""
        self._kept.put(bytes(data))
        self.samples += frames
        self.lost += bool(status.input_overflow)
        if not self._waking:
            self._waking = True
            self._wake()

    def _finished(self) -> None:
        """Take note that no more comes; called in PortAudio's thread."""
        self._over = True
        self._wake()

    def _wake(self) -> None:
        with contextlib.suppress(RuntimeError):  # the kernel's loop is closed
            self._loop.call_soon_threadsafe(self._awake)

    def _awake(self) -> None:
        self._waking = False
        self._arrived.set()

    async def _piece(self) -> bytes:
        """Return what was recorded next, as the device gives it; nothing at the end."""
        waited = 0.0
        while not (piece := self._kept.take()):
            if self._over or self._closed or waited >= ENDED_SECONDS:
                self._end()
                return b""
            self._arrived.clear()
            try:
                await asyncio.wait_for(self._arrived.wait(), _LOOK)
            except TimeoutError:
                waited += _LOOK
                self._over = self._over or not (self._stream and self._stream.active)
                self._tell(self.watch.waited(waited))
        return piece

    def _end(self) -> None:
        if self._stream is not None and not self._ended:
            self._ended = True
            self._blocks += self._ours.rest()
            if not self._closed:
                self._tell([MicrophoneEnded(self.name)])
                self.close()

    def _look(self, block: bytes) -> None:
        """Say what is wrong with the sound, and how much of it is missing."""
        self._tell(self.watch.heard(block))
        now = self._loop.time()
        if (dropped := self.dropped_ms) > self._told_dropped and now >= self._next_word:
            self._tell([SoundDropped(self.name, dropped - self._told_dropped, KEPT_SECONDS)])
            self._told_dropped, self._next_word = dropped, now + _BETWEEN
        if self.lost > self._told_lost:
            self._tell([SoundLost(self.name)] if not self._told_lost else [])
            self._told_lost = self.lost

    def _tell(self, troubles: Sequence[MicrophoneTrouble]) -> None:
        if self.on_trouble is not None:
            for trouble in troubles:
                self.on_trouble(trouble)


class _Ours:
    """Makes what a card gives into PCM16, mono, 24000 Hz; many channels become their mean."""

    def __init__(self, rate: int, channels: int) -> None:
        from ..audio.samples import Resampler

        self._resampler, self._channels = Resampler(rate), channels

    def feed(self, raw: bytes) -> bytes:
        from ..audio.samples import decode, mono

        return self._resampler.feed(mono(decode(raw, SAMPLE_WIDTH, "int"), self._channels))

    def rest(self) -> bytes:
        return self._resampler.rest()
