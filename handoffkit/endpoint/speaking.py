"""How a simulated session speaks: a voice is synthesised in a worker thread, and sent at the caller's own pace.

A caller who speaks into a microphone gets the reply about as fast as the service sends it, faster than it sounds and
yet so that it can be interrupted. One whose recording came faster than it sounds, or who types, gets all of it at once.
"""

import asyncio
import time
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

from .protocol.realtime.audio import BYTES_PER_MS

if TYPE_CHECKING:
    from .speech.tts import Voice

CHUNK = 100 * BYTES_PER_MS
"""Bytes of sound in one event: 100 ms."""
_LEAD = 1.0  # seconds of sound that are sent at once
_RATE = 2.0  # seconds of sound that are then sent in a second
_LIVE = 1.5  # times as fast as it sounds: whoever sends no faster than this is a microphone
_WINDOW = 0.4  # seconds over which that is measured
_RECENT = 3.0  # seconds without sound after which nobody is listening by ear any more


class Utterance:
    """A text while it is spoken: chunks of PCM16, mono, 24,000 Hz, as they become ready.

    Iterate only while `ready`; else wait with `more`, so that nothing stands still meanwhile.
    """

    def __init__(self, voice: "Voice", text: str, speed: float) -> None:
        self._sentences = voice.sentences(text, speed)
        self._chunks: deque[bytes] = deque()
        self._over = False
        self.sent_ms = 0

    @property
    def ready(self) -> bool:
        """Whether there is a next chunk, or the end, at once."""
        return bool(self._chunks) or self._over

    async def more(self) -> None:
        """Synthesise the next sentence in a worker thread."""
        pcm = await asyncio.to_thread(next, self._sentences, None)
        if pcm is None:
            self._over = True
        else:
            self._chunks.extend(pcm[start : start + CHUNK] for start in range(0, len(pcm), CHUNK))

    def __iter__(self) -> Iterator[bytes]:
        while self._chunks:
            chunk = self._chunks.popleft()
            self.sent_ms += len(chunk) // BYTES_PER_MS
            yield chunk


class Pace:
    """Tells how fast the caller's sound comes in, and how long the reply's next piece waits for that."""

    def __init__(self) -> None:
        self._pieces: deque[tuple[float, int]] = deque()
        self._live = False
        self._last = self._begin = 0.0

    def came(self, size: int) -> None:
        """Note that *size* bytes of sound came in."""
        self._last = now = time.monotonic()
        self._pieces.append((now, size))
        while self._pieces[0][0] < now - _WINDOW:
            self._pieces.popleft()
        sounds = sum(size for _, size in self._pieces) / BYTES_PER_MS / 1000
        self._live = sounds <= _LIVE * _WINDOW

    def begin(self) -> None:
        """Note that a reply begins."""
        self._begin = time.monotonic()

    def wait(self, sent_ms: int) -> float:
        """Return the seconds that the next piece of the reply waits, of which *sent_ms* are out."""
        now = time.monotonic()
        if not self._live or now - self._last > _RECENT:
            return 0.0
        return max(0.0, self._begin + max(0.0, sent_ms / 1000 - _LEAD) / _RATE - now)
