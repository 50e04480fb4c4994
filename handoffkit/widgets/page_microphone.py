"""The kernel's end of the page's microphone: its messages become blocks of sound, in order and bounded.

Handlers of a page's messages may run on any thread: `feed` copies, hands over to the loop and returns.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from ..audio import BYTES_PER_MS, SAMPLE_WIDTH
from .page_stream import Order, Pace, whole

BLOCK_MS = 40
"""Milliseconds of a microphone's block."""
BLOCK_BYTES = BLOCK_MS * BYTES_PER_MS
BLOCK_SAMPLES = BLOCK_BYTES // SAMPLE_WIDTH

Buffer = bytes | bytearray | memoryview
Trouble = Callable[[str, str], object]
"""Gets a kind ("stopped", "sound-again", "dropped", "refused") and a sentence."""

_SETTLES = 0.03  # seconds without a block after which a burst is over; a microphone's come every 40 ms
_SAY = 1.0  # seconds over which dropped sound is summed up before it is said
_LONGEST_NAME = 200  # characters
_REMEMBERED = 1000  # ids of streams that have ended


class PageMicrophone:
    """The page's microphone: iterate over it for blocks of 40 ms (1920 bytes, PCM16, mono, 24000 Hz).

    Make it on the loop that takes the blocks. The iteration ends with `close`, or *gone* seconds after the page's last
    sign of life; another stream of the page's (after a reload, another device) just goes on.

    Args:
        on_trouble: Is told what goes wrong, on the loop.
        queue_seconds: Sound that waits to be taken at most; then the oldest goes.
        burst_seconds: Sound that is kept of what piled up while the kernel was busy.
        quiet: Seconds without a message of an open stream after which it counts as stopped.
        gone: Seconds after which the iteration ends; None waits for ever.

    Attributes:
        stream: The page's id of the stream that is open, "" if none is.
        label: What the page calls the device.
        rate: Hz of the page's audio.
        dropped_ms: Milliseconds that were dropped here.
        order: Its counts say how many blocks were `missing`, `reordered` and `repeated`; those are left out.
        stale: Blocks of a stream that is no longer the page's.
        refused: Messages that are none.
    """

    def __init__(
        self,
        *,
        on_trouble: Trouble | None = None,
        queue_seconds: float = 10.0,
        burst_seconds: float = 2.0,
        quiet: float = 3.0,
        gone: float | None = 60.0,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._say = on_trouble or (lambda kind, words: None)
        self._most, self._burst_most = _blocks(queue_seconds), _blocks(burst_seconds)
        self._quiet, self._gone = quiet, gone
        self._queue: deque[bytes] = deque()
        self._wake = asyncio.Event()
        self._closed = self._iterated = self._stopped = False
        self.stream = self.label = ""
        self.rate = self.dropped_ms = self.stale = self.refused = 0
        self.order = Order()
        self._ended: deque[str] = deque(maxlen=_REMEMBERED)
        self._life = self._loop.time()
        self._pace = Pace(self._life)
        self._burst: asyncio.TimerHandle | None = None
        self._late: asyncio.TimerHandle | None = None
        self._unsaid = 0

    # From any thread

    def feed(self, message: Mapping[str, Any], buffers: Sequence[Buffer] | None = None) -> None:
        """Take a message of the page's: `mic`, `a` or `mic_end`; others are passed over. Never raises.

        Args:
            message: Its content.
            buffers: Its buffers; they are copied before this returns.
        """
        taken = dict(message) if isinstance(message, Mapping) else {}
        if taken.get("t") in ("mic", "a", "mic_end"):
            self._later(self._take, taken, _copied(buffers))

    def close(self) -> None:
        """End the iteration, after what has arrived."""
        self._later(self._shut)

    def _later(self, function: Callable[..., object], *values: object) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens any more
            self._loop.call_soon_threadsafe(function, *values)

    # On the loop: messages

    def _take(self, message: dict[str, Any], block: bytes | None) -> None:
        stream, number = message.get("s"), message.get("q")
        if self._closed:
            return
        if not isinstance(stream, str) or not 0 < len(stream) <= _LONGEST_NAME:
            return self._refuse("it names no stream")
        if message["t"] == "mic":
            return self._begin(stream, message)
        if not self.stream and message["t"] == "a" and stream not in self._ended:
            self._begin(stream, {}, number if whole(number) else 0)
        if stream != self.stream:
            self.stale += 1
        elif message["t"] == "mic_end":
            self._end(message.get("last"))
        else:
            self._arrived(message, block)

    def _begin(self, stream: str, about: dict[str, Any], number: int = 0) -> None:
        if stream == self.stream:
            return
        self._leave()
        self.stream = stream
        self.order.begin(number)
        self.label = str(about.get("label", ""))[:_LONGEST_NAME]
        self.rate = rate if whole(rate := about.get("rate")) else 0
        self._life = self._loop.time()
        self._pace = Pace(self._life)
        self._wake.set()

    def _end(self, last: object) -> None:
        if whole(last):
            self.order.end(last)
        self._leave()
        self._life = self._loop.time()
        self._wake.set()

    def _leave(self) -> None:
        if self.stream:
            self._ended.append(self.stream)
        self.stream, self._stopped = "", False

    def _arrived(self, message: dict[str, Any], block: bytes | None) -> None:
        number, count = message.get("q"), message.get("n")
        if not whole(number):
            return self._refuse("it has no number")
        if count == 0 and block is None:  # a sign of life: nobody is to be heard now
            return self._alive(0.0)
        if count != BLOCK_SAMPLES or block is None or len(block) != BLOCK_BYTES:
            return self._refuse(f"it should have one buffer of {BLOCK_BYTES} bytes")
        self._alive(BLOCK_MS / 1000)
        if self.order.fits(number):
            self._put(block)

    def _refuse(self, why: str) -> None:
        self.refused += 1
        if self.refused == 1 and not self._closed:
            self._say(
                "refused", f"A message of the page's microphone cannot be used: {why}. Such messages are left out."
            )

    # On the loop: the queue

    def _alive(self, seconds: float) -> None:
        """Note a sign of life, with so much sound in it."""
        self._life = self._loop.time()
        bursts = self._pace.bursts(seconds, self._life)
        if seconds and (self._burst or bursts):
            self._hold()
        if self._stopped:
            self._stopped = False
            self._say("sound-again", "The page's microphone is back.")

    def _hold(self) -> None:
        """Give out nothing until the burst is over: only then is it known which blocks are the newest."""
        if self._burst:
            self._burst.cancel()
        self._burst = self._loop.call_later(_SETTLES, self._release)

    def _release(self) -> None:
        if self._burst:
            self._burst.cancel()
        self._burst = None
        if self._unsaid and not self._late:
            self._tell("the kernel was busy")
        self._wake.set()

    def _shut(self) -> None:
        self._closed = True
        self._release()

    def _put(self, block: bytes) -> None:
        self._queue.append(block)
        most = self._burst_most if self._burst or not self._iterated else self._most
        if len(self._queue) > most:
            self._drop(len(self._queue) - most)
        if not self._burst:
            self._wake.set()

    def _drop(self, count: int) -> None:
        for _ in range(count):
            self._queue.popleft()
        if not self._iterated:
            return
        self.dropped_ms += count * BLOCK_MS
        self._unsaid += count * BLOCK_MS
        if not self._burst and not self._late:
            self._late = self._loop.call_later(_SAY, self._tell, "nobody took it in time")

    def _tell(self, why: str) -> None:
        self._late, unsaid, self._unsaid = None, self._unsaid, 0
        self._say("dropped", f"{unsaid / 1000:.1f} s of sound were dropped: {why}.")

    # On the loop: whoever iterates

    def __aiter__(self) -> Self:
        """Begin with what has just arrived; what is older than a burst may be is left out."""
        while len(self._queue) > self._burst_most:
            self._queue.popleft()
        self._iterated, self._life = True, self._loop.time()
        return self

    async def __anext__(self) -> bytes:
        """Return the next block."""
        while not self._queue or (self._burst and not self._closed):
            if self._closed or not await self._wait():
                raise StopAsyncIteration
        return self._queue.popleft()

    async def _wait(self) -> bool:
        """Wait for something to happen; return whether the page may still come back."""
        self._wake.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._left()):
                await self._wake.wait()
        left = self._left()  # signs of life move it, and wake nobody
        return self._wake.is_set() or left is None or left > 0 or self._silent(-left)

    def _left(self) -> float | None:
        """Return the seconds until silence means something."""
        quiet = self._quiet if self.stream and not self._stopped else None
        limits = [limit for limit in (quiet, self._gone) if limit is not None]
        return min(limits) - (self._loop.time() - self._life) if limits else None

    def _silent(self, overslept: float) -> bool:
        """Judge a silence that has lasted; if the loop was blocked, messages may be waiting, and it is too early."""
        if overslept > _SETTLES * 10:
            self._life = self._loop.time()
        elif self.stream and not self._stopped and (self._gone is None or self._quiet < self._gone):
            self._stopped = True
            self._say("stopped", "The page's microphone stopped: the page was reloaded or closed, or lost its device.")
        else:
            return False
        return True


def _blocks(seconds: float) -> int:
    return max(int(seconds * 1000 / BLOCK_MS), 1)


def _copied(buffers: Sequence[Buffer] | None) -> bytes | None:
    """Return a copy of the one buffer, None if there is none; what cannot be a block is not copied, and gives b""."""
    if not buffers:
        return None
    if len(buffers) != 1 or not isinstance(buffers[0], bytes | bytearray | memoryview):
        return b""
    view = memoryview(buffers[0])
    return bytes(view) if view.nbytes == BLOCK_BYTES else b""
