"""The kernel's speaker: queued sound, fetched by PortAudio's thread and counted as it is heard."""

import asyncio
import contextlib
import time
from typing import Any

from ..errors import SpeakerEnded
from ..microphone import OnTrouble
from .playout import Playout
from .portaudio import find, open_stream

FLUSH_SECONDS = 0.25
"""Seconds in which a flush waits for what the card has fetched already."""
_SHORT = 0.1  # seconds after which sound that is shorter than what is usually there at the beginning is played
_BEFORE_DRY = 0.06  # seconds of sound that are still there when its end is taken for the end of what is said


class CardSpeaker:
    """A speaker of the kernel's machine: plays PCM16, mono, 24000 Hz, and knows how much of it has been heard.

    Args:
        device: Its number or its name; by default the one that the system prefers.

    Attributes:
        name: The device's.
        on_trouble: Is told if the device goes away; None tells nobody.
        underruns: How often this machine was too busy to fetch sound in time, so that there was a gap.

    Raises:
        NoPortAudio, NoDevice, DeviceUnknown: There is no such speaker.
        DeviceBusy, DeviceRefused: The system does not hand it out.
    """

    def __init__(self, device: int | str | None = None) -> None:
        found = find("output", device)
        self.name = found.name
        self.on_trouble: OnTrouble | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._finishing: asyncio.TimerHandle | None = None
        self.underruns = 0
        self._gone = self._closed = False
        self._stream = open_stream(found, self._fetch, self._finished)
        self._out = Playout(self._stream.rate)
        self._stream.start()

    @property
    def audible(self) -> bool:
        """Whether somebody can hear it."""
        return not (self._gone or self._closed)

    @property
    def rate(self) -> int:
        """Hz at which the device plays."""
        return self._stream.rate

    @property
    def position(self) -> int:
        """Bytes of what was written that have been heard, or dropped; all of them once the device is gone."""
        return self._out.position(time.monotonic()) if self.audible else self._out.written

    def write(self, pcm: bytes) -> None:
        """Queue sound; it never waits."""
        self._out.write(pcm)
        if self._finishing is not None:
            self._finishing.cancel()
        self._loop = asyncio.get_running_loop()
        self._finishing = self._loop.call_later(max(self._out.left - _BEFORE_DRY, _SHORT), self._out.finish)

    async def flush(self) -> int:
        """Drop what the card has not fetched; return the position at which it stopped, once that has been heard."""
        if self._finishing is not None:
            self._finishing.cancel()
        position, heard = self._out.drop()
        if self.audible:
            await asyncio.sleep(min(max(heard - time.monotonic(), 0), FLUSH_SECONDS))
        return position

    def close(self) -> None:
        """Play nothing any more; called again, it does nothing."""
        self._closed = True
        if self._finishing is not None:
            self._finishing.cancel()
        self._stream.close()

    def _fetch(self, data: Any, frames: int, moment: Any, status: Any) -> None:
        """Give the card its next frames; called in PortAudio's thread."""
        self.underruns += bool(status.output_underflow)
        ahead = moment.outputBufferDacTime - moment.currentTime
        heard = time.monotonic() + (ahead if 0 < ahead < 10 else self._stream.latency)
        sound = self._out.take(frames, heard)
        data[:] = sound if self._stream.channels == 1 else _doubled(sound)

    def _finished(self) -> None:
        """Take note that the device plays no more; called in PortAudio's thread."""
        if self._closed or self._gone:
            return
        self._gone = True
        with contextlib.suppress(RuntimeError):  # the kernel's loop is closed
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._tell)

    def _tell(self) -> None:
        if self.on_trouble is not None:
            self.on_trouble(SpeakerEnded(self.name))


def _doubled(sound: bytes) -> bytes:
    """Return mono PCM16 as two equal channels."""
    import numpy as np

    return np.repeat(np.frombuffer(sound, "<i2"), 2).tobytes()
