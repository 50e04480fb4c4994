"""The kernel's end of the page's speaker: sound goes out in a few messages a second, and what was heard comes back.

The page holds what it was sent and plays it; it says ten times a second how far it is, and exactly when it is told to
stop. Between its reports the clock goes on.
"""

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from typing import Any

from ..audio import BYTES_PER_MS, SAMPLE_WIDTH
from .page_stream import whole

Send = Callable[[dict[str, Any], list[bytes]], object]
"""Sends a message with its buffers to the page."""

_EVERY = 0.1  # seconds between two messages with sound
_SOON = 0.04  # seconds to the second, where the first had less than the page waits for before it begins
_BEGINNING = 80 * BYTES_PER_MS
_MOST = 400 * BYTES_PER_MS  # bytes of one: four times as fast as it is heard
_ANSWER = 1.0  # seconds in which a page says where it stopped; a page that is busy took 0.3
_PATIENCE = 0.25  # seconds for which the clock is believed without a word of the page's
_SILENT = 1.0  # seconds without a report after which the page counts as gone, and the clock goes on
_BEGINS = 0.1  # seconds from a message to its first sound, about


class PageSpeaker:
    """Plays PCM16 (mono, 24000 Hz) in the page. Make it on the loop that writes; everything but `feed` runs there.

    Args:
        send: Sends a message to the page.
        on_trouble: Gets a kind ("dropped") and a sentence.
        seconds: Sound that waits to be sent at most; then the oldest goes.

    Attributes:
        dropped_ms: Milliseconds that were dropped here.
    """

    audible = True

    def __init__(self, send: Send, *, on_trouble: Callable[[str, str], object] | None = None, seconds: float = 300.0):
        self._loop = asyncio.get_running_loop()
        self._send, self._say = send, on_trouble or (lambda kind, words: None)
        self._limit = int(seconds * 1000) * BYTES_PER_MS
        self._pending = bytearray()
        self._written = self._base = self._sent = self._generation = self._number = 0
        self._floor = 0  # bytes of this generation that were told as passed: `position` never goes back
        self._known, self._since = 0, 0.0  # bytes of this generation passed at a time on the loop's clock
        self._reported = 0.0  # when the page last said something, or was first asked to play
        self._timer: asyncio.TimerHandle | None = None
        self._answers: dict[int, asyncio.Future[int]] = {}
        self._closed = False
        self.dropped_ms = 0

    @property
    def position(self) -> int:
        """Bytes of what was written that have been passed, by the page's reports and the time since the last."""
        self._floor = max(self._floor, self._passed())
        return min(self._base + self._floor, self._written)

    def write(self, pcm: bytes) -> None:
        """Queue sound; half a sample waits for its other half."""
        if self._closed:
            return
        self._written += len(pcm)
        self._pending += pcm
        self._bound()
        if self._timer is None:
            self._out(first=True)

    async def flush(self) -> int:
        """Stop at once and drop the rest.

        Returns:
            The position at which it stopped: exactly, or as estimated if the page does not answer in time.
        """
        generation, base, sent, estimate = self._generation, self._base, self._sent, self.position
        ended = self._known >= sent
        self._turn()
        if ended or self._closed:
            return estimate
        answer = self._answers[generation] = self._loop.create_future()
        self._send({"t": "flush", "g": generation}, [])
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_ANSWER):
                estimate = base + min(await answer, sent)
        self._answers.pop(generation, None)
        return estimate

    def close(self) -> None:
        """Play nothing any more."""
        if not self._closed and self._known < self._sent:
            self._send({"t": "flush", "g": self._generation}, [])
        self._turn()
        self._closed = True

    def feed(self, message: Mapping[str, Any]) -> None:
        """Take a message of the page's, from any thread: `played` or `flushed`; others are passed over."""
        if not isinstance(message, Mapping) or message.get("t") not in ("played", "flushed"):
            return
        if whole(generation := message.get("g")) and whole(samples := message.get("n")):
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody asks any more
                self._loop.call_soon_threadsafe(self._take, str(message["t"]), generation, samples * SAMPLE_WIDTH)

    def _take(self, kind: str, generation: int, size: int) -> None:
        answer = self._answers.get(generation)
        if kind == "flushed" and answer is not None and not answer.done():
            answer.set_result(size)
        if kind == "played" and generation == self._generation:
            self._known = min(size, self._sent)
            self._since = self._reported = self._loop.time()

    def _passed(self) -> int:
        """Return the bytes of this generation that have been passed, as far as can be known now."""
        now = self._loop.time()
        believed = min(now - self._since, self._reported + _PATIENCE - self._since)
        believed += max(now - self._reported - _SILENT, 0.0)
        return min(self._known + int(max(believed, 0.0) * 1000) * BYTES_PER_MS, self._sent)

    def _turn(self) -> None:
        """Begin a generation: all that was written is passed."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None
        del self._pending[: len(self._pending) & ~1]
        self._base = self._written
        self._generation += 1
        self._sent = self._number = self._floor = self._known = 0

    def _bound(self) -> None:
        lost = (len(self._pending) - self._limit) & ~1
        if lost <= 0:
            return
        del self._pending[:lost]
        self._sent += lost
        self.dropped_ms += lost // BYTES_PER_MS
        self._say("dropped", f"{lost / BYTES_PER_MS / 1000:.1f} s of the agent's sound were dropped: too much waited.")

    def _out(self, *, first: bool = False) -> None:
        """Send what is due, and come back as long as there is more; the *first* goes at once, however short."""
        self._timer = None
        size = min(len(self._pending), _MOST) & ~1
        if not size:
            return
        sound = bytes(self._pending[:size])
        del self._pending[:size]
        self._began()
        message = {"t": "s", "g": self._generation, "q": self._number, "at": self._sent // SAMPLE_WIDTH}
        self._number, self._sent = self._number + 1, self._sent + size
        self._timer = self._loop.call_later(_SOON if first and size < _BEGINNING else _EVERY, self._out)
        self._send(message, [sound])

    def _began(self) -> None:
        """Start the clock, if the page has nothing left to play."""
        if self._passed() >= self._sent:
            self._known, self._since = self._sent, self._loop.time() + _BEGINS
            self._reported = self._since
