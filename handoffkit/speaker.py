"""Where the agent's sound goes, and how much of it has been heard: a clock, the page's speaker, or a sound card.

The service sends a reply faster than it sounds. Who cuts in has heard only what was played by then, so a speaker counts
bytes; `Playback` is the session's one count, whichever speaker plays.
"""

import asyncio
import math
import time
from typing import Protocol

from .audio import BYTES_PER_MS

_LOOK = 0.02
"""Seconds between two looks at how far a speaker is."""


class Speaker(Protocol):
    """Plays PCM16, mono, 24000 Hz, and says how far it is."""

    @property
    def audible(self) -> bool:
        """Whether somebody can hear it."""
        ...

    @property
    def position(self) -> int:
        """Bytes of what was written that have been passed; never more than was written."""
        ...

    def write(self, pcm: bytes) -> None:
        """Queue sound; it never waits."""
        ...

    async def flush(self) -> int:
        """Stop at once and drop the rest; return where it stopped. All that was written counts as passed then."""
        ...

    def close(self) -> None:
        """Play nothing any more."""
        ...


class ClockSpeaker:
    """Plays to nobody: sound is passed as long as it would sound, or at once.

    Attributes:
        realtime: As long as it would sound (True by default).
    """

    audible = False

    def __init__(self, *, realtime: bool = True) -> None:
        self.realtime = realtime
        self._written = 0
        self._ends = 0.0

    @property
    def position(self) -> int:
        """Bytes that would have been heard by now."""
        left = self._ends - time.monotonic() if self.realtime else 0.0
        return max(0, self._written - _bytes(left)) if left > 0 else self._written

    def write(self, pcm: bytes) -> None:
        """Queue sound."""
        self._ends = max(self._ends, time.monotonic()) + len(pcm) / (1000 * BYTES_PER_MS)
        self._written += len(pcm)

    async def flush(self) -> int:
        """Drop what has not been heard."""
        position, self._ends = self.position, 0.0
        return position

    def close(self) -> None:
        """Play nothing any more."""
        self._ends = 0.0


class Playback:
    """The sound of one session, played by one speaker at a time; positions count from the session's first byte."""

    def __init__(self) -> None:
        self.clock = ClockSpeaker()
        self._speaker: Speaker = self.clock
        self._before = 0
        self.written = 0
        """Bytes of the agent's sound so far."""

    @property
    def audible(self) -> bool:
        """Whether somebody can hear it."""
        return self._speaker.audible

    @property
    def sounding(self) -> bool:
        """Whether there is sound that has not been played."""
        return self.position < self.written

    @property
    def position(self) -> int:
        """Bytes that have been played, or dropped."""
        return min(self.written, self._before + self._speaker.position)

    def write(self, pcm: bytes) -> None:
        """Play *pcm* after what is queued."""
        self.written += len(pcm)
        self._speaker.write(pcm)

    async def flush(self) -> int:
        """Stop at once; return the position at which it stopped."""
        before, written = self._before, self.written
        return min(written, before + await self._speaker.flush())

    async def use(self, speaker: Speaker | None) -> None:
        """Play by another speaker from now on, None for the clock; what the old one still had is dropped."""
        old, self._speaker, self._before = self._speaker, speaker or self.clock, self.written
        if speaker is None:
            self.clock = self._speaker = ClockSpeaker(realtime=self.clock.realtime)
        await old.flush()

    async def drained(self, seconds: float) -> None:
        """Wait until everything has been played, *seconds* at most."""
        end = time.monotonic() + seconds
        while self.sounding and time.monotonic() < end:  # noqa: ASYNC110  a speaker tells nobody that it is through
            await asyncio.sleep(_LOOK)


def _bytes(seconds: float) -> int:
    """Return the bytes that last *seconds*, rounded up to a millisecond: what is doubtful was not heard."""
    return math.ceil(seconds * 1000) * BYTES_PER_MS
