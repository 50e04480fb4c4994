"""The caller's sound in one panel: which microphone is open, and when what it hears goes into the call.

Hands-free, all of it goes in; with push-to-talk what is said while the key is held, as a turn of its own each time. One
task takes what the microphone yields, so that nothing old waits in it when a key is pressed.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import CallOver
from .troubles import MICROPHONE, TROUBLES, dropped, of_error

if TYPE_CHECKING:
    from .desk import Desk

_KEPT = 250  # blocks of 40 ms that wait for the call, at most: ten seconds
_LONGEST = 24 * 3600.0  # seconds for which hands-free listening lasts; the call ends before
_AGAIN = 0.5  # seconds before hands-free listening begins anew after an error
_TRIES = 5  # errors in a row after which it is given up


class Microphone(Protocol):
    """Yields blocks of PCM16, mono, 24000 Hz, 40 ms each, until it is closed."""

    def __aiter__(self) -> AsyncIterator[bytes]: ...


class Source:
    """What goes into the call: blocks as they are put in, until it is ended. The oldest go where too many wait."""

    def __init__(self) -> None:
        self._blocks: deque[bytes] = deque()
        self._moved = asyncio.Event()
        self._ended = False
        self.dropped = 0
        """Blocks that were dropped."""

    def put(self, block: bytes) -> None:
        """Add a block."""
        if not self._ended:
            self._blocks.append(block)
            if len(self._blocks) > _KEPT:
                self._blocks.popleft()
                self.dropped += 1
            self._moved.set()

    def end(self) -> None:
        """Add no more: what is there already is still taken."""
        self._ended = True
        self._moved.set()

    def __aiter__(self) -> "Source":
        return self

    async def __anext__(self) -> bytes:
        while not self._blocks:
            if self._ended:
                raise StopAsyncIteration
            self._moved.clear()
            await self._moved.wait()
        return self._blocks.popleft()


class Ear:
    """The microphones of one panel.

    Args:
        desk: The panel's.
    """

    def __init__(self, desk: "Desk") -> None:
        self._desk = desk
        self.chosen = "none"
        """`page`, `card:0`, … or `none`."""
        self.hands_free = self.talking = False
        self._mic: Any = None
        self._stream = ""
        self._pump: asyncio.Task[None] | None = None
        self._source: Source | None = None
        self._listens: set[asyncio.Task[None]] = set()
        self._lost = 0

    def controls(self) -> dict[str, Any]:
        """Return how the switches of the microphone stand."""
        return {"hands_free": self.hands_free, "microphone": self.chosen, "talking": self.talking}

    @property
    def open(self) -> bool:
        """Whether a microphone is on."""
        return self._mic is not None

    @property
    def listening(self) -> bool:
        """Whether sound goes into the call, or is being answered."""
        return bool(self._listens)

    def lost_ms(self) -> int:
        """Return how many milliseconds of sound were dropped since this was last asked."""
        count, before = self._count(), self._lost
        self._lost = count
        return max(0, count - before) * 40

    # The microphone.

    async def begin(self, stream: str, microphone: Any, chosen: str) -> None:
        """Take *microphone* in place of the one before; *stream* is the page's name for what it sends."""
        await self.silence()
        self._mic, self._stream, self.chosen = microphone, stream, chosen
        self._desk.strip.clear(MICROPHONE)
        self._pump = asyncio.create_task(self._take(microphone), name="handoffkit panel microphone")
        self.arrange()

    async def silence(self) -> None:
        """Close the microphone that is open; what was said goes into the call."""
        mic, self._mic, self._stream, self.chosen, self._lost = self._mic, None, "", "none", 0
        self.talking = False
        if mic is not None:
            mic.close()
        pump, self._pump = self._pump, None
        if pump is not None and pump is not asyncio.current_task():
            pump.cancel()
            await asyncio.gather(pump, return_exceptions=True)
        self._end_source()

    async def close(self) -> None:
        """Close the microphone, and send no sound any more."""
        await self.silence()
        tasks = self._listens - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _take(self, microphone: Microphone) -> None:
        """Pass on what the microphone yields, until it ends."""
        try:
            async for block in microphone:
                if self._source is not None:
                    self._source.put(bytes(len(block)) if self._desk.muted else block)
        except Exception as error:
            await self._desk.trouble(of_error(error, "card", "warn", "microphone"))
        await self.silence()
        self._desk.feed.nudge()

    # What goes into the call.

    def arrange(self) -> None:
        """Begin to listen hands-free, or end it, as the switches and the call stand now."""
        wanted = self.hands_free and self.open and self._desk.subject.phase == "on"
        if wanted and self._source is None:
            self._listen(hands_free=True)
        elif not wanted and not self.talking:
            self._end_source()

    async def talk(self, down: bool) -> None:
        """Begin, or end, a turn that is spoken while a key is held."""
        if not down or self.hands_free:
            self.talking = False
            if not self.hands_free:
                self._end_source()
            return
        call = self._desk.subject.call
        if call is None or self._desk.subject.phase != "on" or self.talking:
            return
        if not self.open or self._desk.muted:
            await self._desk.trouble(TROUBLES["muted" if self.open else "no-microphone"])
            return
        self.talking = True
        self._listen(hands_free=False)

    def _listen(self, *, hands_free: bool) -> None:
        self._source = Source()
        work = self._hands_free(self._source) if hands_free else self._press(self._source)
        task = asyncio.create_task(work, name="handoffkit panel listens")
        self._listens.add(task)
        task.add_done_callback(self._listens.discard)

    def _end_source(self) -> None:
        source, self._source = self._source, None
        if source is not None:
            source.end()
            if source.dropped:
                self._desk.task(self._desk.trouble(dropped("speech", source.dropped), blocks=source.dropped), "trouble")

    async def _press(self, source: Source) -> None:
        """One turn of push-to-talk: the agent stops, listens, and answers."""
        call = self._desk.subject.call
        assert call is not None
        try:
            if self._desk.subject.outstanding:
                await call.interrupt()
            await call.listen(source=source, seconds=_LONGEST)
        except CallOver:
            pass
        except Exception as error:
            await self._desk.failed(error, "talk")
        finally:
            if self._source is source:
                self._source, self.talking = None, False
            self._desk.feed.nudge()

    async def _hands_free(self, source: Source) -> None:
        """Listen until the source ends; after an error go on, unless errors are all that comes."""
        call = self._desk.subject.call
        assert call is not None
        tries = 0
        while self._source is source or source._blocks:
            try:
                await call.listen(source=source, seconds=_LONGEST)
                break
            except CallOver:
                break
            except Exception as error:
                tries += 1
                await self._desk.failed(error, "listen")
                if tries >= _TRIES or self._desk.subject.phase != "on":
                    break
                await asyncio.sleep(_AGAIN)
        if self._source is source:
            self._source = None
            self.hands_free = False
        self._desk.feed.nudge()

    def _count(self) -> int:
        count = getattr(self._mic, "dropped", 0)
        with contextlib.suppress(TypeError, ValueError):
            return int(count) + (self._source.dropped if self._source else 0)
        return 0
