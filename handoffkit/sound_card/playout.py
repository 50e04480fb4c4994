"""Sound on its way to a sound card: queued at 24000 Hz, fetched at the card's rate, counted as it is heard.

It is the part of a speaker that needs no sound card: `CardSpeaker` has its audio thread call `take`.
"""

import threading
from collections import deque
from typing import Any

from ..audio import SAMPLE_RATE, SAMPLE_WIDTH

PREBUFFER = 0.08
"""Seconds of sound that are there before it begins, so that a small delay does not tear it."""
_FETCHES = 256  # that are remembered, to tell what can be heard now: seconds of sound


class Playout:
    """A queue of sound with one writer and one audio thread.

    Args:
        rate: Hz at which the card fetches it.
    """

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self.written = 0
        """Bytes that were written, at 24000 Hz."""
        self._lock = threading.Lock()
        self._resampler: Any = None
        self._queue = bytearray()
        self._whole = True  # the end of the queue is the end of what was written: the resampler holds nothing back
        self._flowing = False
        self._given = 0  # frames of sound that the card has fetched
        self._pieces: deque[tuple[int, int]] = deque([(0, 0)])  # where each begins: in frames given, in bytes written
        self._fetches: deque[tuple[float, int, int]] = deque(maxlen=_FETCHES)  # heard from, given before, frames
        self._passed = 0

    @property
    def left(self) -> float:
        """Seconds of sound that the card has still to fetch."""
        return len(self._queue) / SAMPLE_WIDTH / self.rate

    def write(self, pcm: bytes) -> None:
        """Queue PCM16, mono, 24000 Hz."""
        if not pcm:
            return
        if self._resampler is None:
            self._resampler = _Resampler(self.rate)
        piece = self._resampler.feed(pcm)
        with self._lock:
            self._queue += piece
            self.written += len(pcm)
            self._whole = False

    def finish(self) -> None:
        """Queue what the resampler has held back: for now nothing more is written."""
        if self._whole:
            return
        rest, self._resampler = self._resampler.feed(b"", last=True), None
        with self._lock:
            self._queue += rest
            self._whole = True
            self._begin_piece(self._given + len(self._queue) // SAMPLE_WIDTH)

    def take(self, frames: int, heard_at: float) -> bytes:
        """Return the next *frames* for the card, silence after the sound; called in the audio thread.

        Args:
            frames: Samples at the card's rate.
            heard_at: When the first of them can be heard, in seconds on the clock of `position`.
        """
        with self._lock:
            if not self._flows():
                return bytes(frames * SAMPLE_WIDTH)
            piece = bytes(self._queue[: frames * SAMPLE_WIDTH])
            del self._queue[: len(piece)]
            taken = len(piece) // SAMPLE_WIDTH
            self._fetches.append((heard_at, self._given, taken))
            self._given += taken
            self._flowing = bool(self._queue)
        return piece.ljust(frames * SAMPLE_WIDTH, b"\0")

    def position(self, now: float) -> int:
        """Return how many of the bytes that were written have been heard, or dropped."""
        with self._lock:
            self._passed = max(self._passed, self._in_bytes(self._heard(now)))
            return self._passed

    def drop(self) -> tuple[int, float]:
        """Drop what the card has not fetched; return the position at which it stops, and when that is heard.

        From now on all that was written counts as passed.
        """
        with self._lock:
            self._queue.clear()
            self._resampler, self._whole, self._flowing = None, True, False
            stops = max(self._passed, self._in_bytes(self._given))
            self._passed = self.written
            self._begin_piece(self._given)
            at, _, frames = self._fetches[-1] if self._fetches else (0.0, 0, 0)
        return stops, at + frames / self.rate

    def _flows(self) -> bool:
        self._flowing = bool(self._queue) and (self._flowing or self._whole or self.left >= PREBUFFER)
        return self._flowing

    def _begin_piece(self, frames: int) -> None:
        """What is written from now on comes after *frames*."""
        while len(self._pieces) > 1 and self._pieces[1][1] <= self._passed:
            self._pieces.popleft()
        self._pieces.append((frames, self.written))

    def _heard(self, now: float) -> int:
        """Return the frames of sound that have been heard by *now*."""
        for at, before, frames in reversed(self._fetches):
            if at <= now:
                return before + min(frames, int((now - at) * self.rate))
        return self._fetches[0][1] if self._fetches else 0

    def _in_bytes(self, frames: int) -> int:
        """Return how much of what was written *frames* are."""
        end = self.written
        for begin, size in reversed(self._pieces):
            if frames >= begin:
                return min(end, size + (frames - begin) * SAMPLE_RATE // self.rate * SAMPLE_WIDTH)
            end = size
        return 0


class _Resampler:
    """From 24000 Hz to any rate, with soxr at its high quality."""

    def __init__(self, rate: int) -> None:
        import soxr

        same = rate == SAMPLE_RATE
        self._stream = None if same else soxr.ResampleStream(SAMPLE_RATE, rate, 1, dtype="int16", quality="HQ")

    def feed(self, pcm: bytes, *, last: bool = False) -> bytes:
        import numpy as np

        if self._stream is None:
            return pcm
        return bytes(self._stream.resample_chunk(np.frombuffer(pcm, "<i2"), last=last).tobytes())
