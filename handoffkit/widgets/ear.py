"""The caller's sound in one panel: which microphone is open, and when what it hears goes into the call.

Hands-free, all of it goes in, and the service finds the turns; with push-to-talk, what is said while a key is held, as
one turn. One task takes what the microphone yields, so that nothing old waits in it when a key is pressed.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import CallOver, MicrophoneTrouble, NoPanel, PageMicrophoneOff, SoundAgain
from ..microphone import BLOCK_BYTES, BLOCK_MS, Microphone, open_microphone
from .page_sound import PageMicrophone
from .source import Source
from .troubles import MICROPHONE, TROUBLES, Trouble, dropped, of_error

if TYPE_CHECKING:
    from ..call import Call
    from .desk import Desk

_HUSH_MS = 1600  # of silence, which ends a turn by the usual settings of turn detection
_LONGEST = 24 * 3600.0  # seconds for which is listened at a time; every call ends before
_AGAIN = 0.5  # seconds before hands-free listening begins anew after an error
_SAID_BY = 2.0  # seconds in which it is noticed that the kernel was blocked
_TRIES = 5  # errors in a row after which it is given up


class Ear:
    """The microphones of one panel.

    Args:
        desk: The panel's.
        chosen: The microphone that is used where nobody has chosen another.
    """

    def __init__(self, desk: "Desk", chosen: str = "none") -> None:
        self._desk = desk
        self.chosen = chosen
        """`page`, `card:0`, … or `none`."""
        self.hands_free = self.talking = False
        self._mic: Any = None
        self._pump: asyncio.Task[None] | None = None
        self._source: Source | None = None
        self._lent: Source | None = None
        self._listens: set[asyncio.Task[None]] = set()
        self._lost = 0

    def controls(self) -> dict[str, Any]:
        """Return how the switches of the microphone stand."""
        return {"hands_free": self.hands_free, "microphone": self.chosen, "talking": self.talking}

    @property
    def listening(self) -> bool:
        """Whether sound goes into the call, or is being answered."""
        return bool(self._listens)

    @property
    def page_is_open(self) -> bool:
        """Whether the page's microphone is the one that is used, and its sound arrives."""
        return self.chosen == "page" and isinstance(self._mic, PageMicrophone) and bool(self._mic.stream)

    def lend(self) -> Source:
        """Return what the page's microphone hears from now on, for a cell that listens, until the cell closes it.

        Raises:
            NoPanel: No page shows the panel.
            PageMicrophoneOff: The microphone of the page is not open.
        """
        if not self._desk.presence.here:
            raise NoPanel
        if not self.page_is_open:
            raise PageMicrophoneOff
        self._end_source()
        self._lent = self._source = Source("the page's microphone")
        return self._lent

    def lost_ms(self) -> int:
        """Return how many milliseconds of sound were dropped since this was last asked."""
        count, before = getattr(self._mic, "dropped_ms", 0), self._lost
        self._lost = count
        return max(0, count - before)

    # The microphone.

    async def choose(self, name: str) -> None:
        """Take the microphone called *name* from now on; one of the kernel's is opened at once.

        Raises:
            MicrophoneError: The kernel's sound card cannot be used.
        """
        if name == "page" or name == "none":
            before, self.chosen = self.chosen, name  # at once: a key may be pressed meanwhile
            if name != before or name == "none":
                await self.silence()
        elif name != self.chosen or self._mic is None:
            await self.silence()
            self._use(await open_microphone(name, on_trouble=self._warned), name)
        self.arrange()

    def feed(self, message: Mapping[str, Any], buffers: Sequence[bytes]) -> None:
        """Take a message of the page's microphone; where another one is chosen, it is passed over."""
        if message["t"] == "mic":
            self._desk.strip.clear(MICROPHONE)
        if self.chosen == "page" and self._desk.page_sound:
            if self._mic is None:
                self._use(PageMicrophone(on_trouble=self._told, gone=None), "page")
            self._mic.feed(message, buffers)
            self.arrange()

    def hush(self) -> None:
        """Have a turn that is being spoken end: a muted page sends nothing, and turn detection waits for silence."""
        if self._source is not None and not self.talking:
            for _ in range(_HUSH_MS // BLOCK_MS):
                self._source.put(bytes(BLOCK_BYTES))

    async def silence(self) -> None:
        """Close the microphone that is open; what was said goes into the call."""
        mic, self._mic, self._lost, self.talking = self._mic, None, 0, False
        if mic is not None:
            mic.close()
        pump, self._pump = self._pump, None
        if pump is not None and pump is not asyncio.current_task():
            pump.cancel()
            await asyncio.gather(pump, return_exceptions=True)
        self._end_source()

    async def rest(self) -> None:
        """Close a microphone of the kernel's, since the call is over; the page closes its own."""
        if self._mic is not None and self.chosen not in ("page", "none"):
            await self.silence()

    async def close(self) -> None:
        """Close the microphone, and send no sound any more."""
        await self.silence()
        tasks = [task for task in self._listens if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _use(self, microphone: Microphone | PageMicrophone, name: str) -> None:
        self._mic, self.chosen, self._lost = microphone, name, 0
        self._pump = asyncio.create_task(self._take(microphone), name="handoffkit panel microphone")

    async def _take(self, microphone: Microphone | PageMicrophone) -> None:
        """Pass on what the microphone yields, until it ends."""
        try:
            async for block in microphone:
                if self._source is not None:
                    self._source.put(bytes(len(block)) if self._desk.muted else block)
        except Exception as error:
            await self._desk.trouble(of_error(error, "card", "warn", "microphone"))
        await self.silence()
        self._desk.feed.nudge()

    def _told(self, kind: str, words: str) -> None:
        """The page's microphone has trouble."""
        if kind == "sound-again":
            self._desk.strip.clear(["stopped"])
            self._desk.feed.nudge()
        elif kind == "stopped":
            self._say(TROUBLES["stopped"])
        else:
            trouble = Trouble(f"microphone-{kind}", "warn", words, "Say again what was lost.")
            self._desk.task(self._lose(trouble), "trouble")

    async def _lose(self, trouble: Trouble) -> None:
        """Say that sound was lost, unless the kernel was blocked: then that says it."""
        await asyncio.sleep(_SAID_BY)
        if asyncio.get_running_loop().time() - self._desk.blocked_at > 2 * _SAID_BY:
            await self._desk.trouble(trouble)

    def _warned(self, trouble: MicrophoneTrouble) -> None:
        """The kernel's microphone has trouble."""
        self._desk.strip.clear(["card"])
        if not isinstance(trouble, SoundAgain):
            self._say(of_error(trouble, "card", "warn", "microphone"))
        self._desk.feed.nudge()

    def _say(self, trouble: Trouble) -> None:
        self._desk.task(self._desk.trouble(trouble), "trouble")

    # What goes into the call.

    def arrange(self) -> None:
        """Begin to listen hands-free, or end it, as the switches and the call stand now."""
        if self._lent is not None and self._source is self._lent and not self._lent.ended:
            return
        wanted = self.hands_free and self._mic is not None and self._desk.subject.phase == "on"
        if wanted and self._source is None:
            self._listen(self._hands_free)
        elif not wanted and not self.talking:
            self._end_source()

    async def talk(self, down: bool) -> None:
        """Begin, or end, a turn that is spoken while a key is held."""
        if self.hands_free or self._desk.subject.phase != "on":
            return
        if not down:
            self.talking = False
            self._end_source()
        elif not self.talking and (trouble := self._deaf):
            await self._desk.trouble(trouble)
        elif not self.talking:
            self.talking = True
            self._listen(self._press)

    @property
    def _deaf(self) -> Trouble | None:
        """Why nothing can be heard now, if so."""
        if self.chosen == "none" or (self.chosen != "page" and self._mic is None):
            return TROUBLES["no-microphone"]
        return TROUBLES["muted"] if self._desk.muted else None

    def _listen(self, how: Any) -> None:
        self._end_source()
        self._source = Source()
        task = asyncio.create_task(how(self._desk.subject.call, self._source), name="handoffkit panel listens")
        self._listens.add(task)
        task.add_done_callback(self._listens.discard)

    def _end_source(self) -> None:
        source, self._source = self._source, None
        if source is not None:
            source.end()
            if source.dropped_ms:
                self._say(dropped("speech", source.dropped_ms))

    def _over(self, source: Source) -> None:
        if self._source is source:
            self._source, self.talking, self.hands_free = None, False, False
        self._desk.feed.nudge()

    async def _press(self, call: "Call", source: Source) -> None:
        """One turn of push-to-talk: the agent stops, listens, and answers."""
        self._desk.driven = True
        try:
            await call.push_to_talk(True)
            await call.interrupt()
            await call.listen(source=source, seconds=_LONGEST)
        except CallOver:
            pass
        except Exception as error:
            await self._desk.failed(error, "talk")
        finally:
            self._over(source)

    async def _hands_free(self, call: "Call", source: Source) -> None:
        """Listen until the source ends; after an error go on, unless errors are all that comes."""
        self._desk.driven = True
        for _ in range(_TRIES):
            try:
                await call.push_to_talk(False)
                await call.listen(source=source, seconds=_LONGEST)
                break
            except CallOver:
                break
            except Exception as error:
                await self._desk.failed(error, "listen")
            if source.over or self._desk.subject.phase != "on":
                break
            await asyncio.sleep(_AGAIN)
        self._over(source)
