"""What pages ask for becomes verbs of the call.

A message may arrive on any thread and at any moment: it is read, copied and handed to the kernel's loop, and that is
all. There each request is a task with a bound, and whatever goes wrong in it is said on the page.
"""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

from ..audio import BYTES_PER_MS
from ..errors import CallBusy, ExtractionFailed
from . import requests, troubles
from .requests import Request

if TYPE_CHECKING:
    from ..marks import Turn
    from .desk import Desk
    from .handover import Handover

_BOUND = 900.0  # seconds in which a verb is done, at most: each has bounds of its own, and far shorter ones
_START = 90.0
_PENDING = 2_000  # messages that wait for the loop, at most: a minute of sound
_SAYING = 5  # typed turns that wait, at most
_FREE, _FREE_LOOKS = 10.0, 200  # seconds in which a reply that was stopped is out of the way
_CLIP_MS = 600_000  # of a turn's sound that are sent, at most


class Hands:
    """Does what the pages of one panel ask for.

    Args:
        desk: The panel's.
        handover: What *Hand off* does.
        hello: Looks at what a page that opens has to know.
    """

    def __init__(self, desk: "Desk", handover: "Handover", hello: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._desk, self._handover, self._greet = desk, handover, hello
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pending = 0
        self._counting = threading.Lock()
        self._saying = asyncio.Lock()
        self._says = 0
        self._under_way: set[str] = set()

    # Any thread.

    def use(self, loop: asyncio.AbstractEventLoop | None) -> None:
        """Do everything on *loop*."""
        self._loop = loop or self._loop

    def take(self, content: Any, buffers: Sequence[Any] | None) -> None:
        """Take a message of a page's, on whatever thread it comes, and return at once."""
        request = requests.read(content, buffers)
        if self._loop is None:
            with contextlib.suppress(RuntimeError):
                self._loop = asyncio.get_running_loop()
        if request is None or self._loop is None or self._loop.is_closed():
            return
        with self._counting:
            if self._pending >= _PENDING:
                return
            self._pending += 1
        try:
            self._loop.call_soon_threadsafe(self._on_loop, request)
        except RuntimeError:  # the loop has been closed meanwhile
            self._done()

    def _done(self) -> None:
        with self._counting:
            self._pending -= 1

    # The kernel's loop.

    def _on_loop(self, request: Request) -> None:
        self._done()
        try:
            self._answer(request)
        except Exception as error:  # whatever a page sends, the panel lives on
            self._desk.task(self._desk.failed(error, request.name), "trouble")
        self._desk.feed.nudge()

    def _answer(self, request: Request) -> None:
        desk, page = self._desk, request.fields.get("page", "")
        match request.name:
            case "hello":
                self._hello(page)
            case "beat":
                desk.presence.beat(page, request["mic"])
                desk.begin()
                desk.outbox.pulse()
            case "bye":
                desk.presence.leave(page)
            case "raw":
                self._do("raw", self._raw(request["q"]), once=False)
            case "clip":
                self._do("clip", self._clip(request["k"]))
            case "earlier":
                rows = desk.feed.story.earlier(request["before"])
                desk.outbox.answer({"t": "rows", "rows": rows, "older": True})
            case "trouble":
                self._trouble(request["kind"], request["detail"])
            case "played" | "flushed":
                desk.mouth.feed({"t": request.name, **request.fields})
            case "a" | "mic" | "mic_end":
                desk.ear.feed({"t": request.name, **request.fields}, [request.sound] if request.sound else [])
            case _ if desk.subject.call is not None:
                self._verb(request, page)

    def _hello(self, page: str) -> None:
        self._desk.presence.hello(page)
        self._desk.begin()
        self._desk.show()
        self._desk.feed.snapshot(page)
        self._do("hello", self._greet())

    def _verb(self, request: Request, page: str) -> None:
        desk, phase = self._desk, self._desk.subject.phase
        call = desk.subject.call.label if desk.subject.call else ""  # of another one it may still be under way
        match request.name:
            case "start" if phase == "ready":
                desk.presence.owns(page)
                self._do(f"start {call}", self._start(), bound=_START)
            case "hangup" if phase in ("starting", "on"):
                self._do(f"hangup {call}", self._hang_up())
            case "new" if phase in ("ready", "ended"):
                self._do("new", self._new())
            case "say" if request["text"].strip():
                self._say(request["text"])
            case "interrupt" if phase == "on":
                self._do("interrupt", self._interrupt())
            case "handoff":
                self._do("handoff", self._hand_off())
            case "approve":
                self._do(f"approve {request['id']}", self._approve(request))
            case "mute":
                desk.muted = request["on"]
                if desk.muted:
                    desk.ear.hush()
            case "talk":
                self._do("talk", desk.ear.talk(request["down"]), once=False)
            case "hands_free":
                desk.ear.hands_free = request["on"]
                desk.strip.clear(["echo"])
                desk.ear.arrange()
            case "microphone":
                self._do("microphone", desk.ear.choose(request["id"]))

    def _do(self, name: str, work: Coroutine[Any, Any, None], *, bound: float = _BOUND, once: bool = True) -> None:
        """Run *work* as a task; where the same is under way already, nothing happens."""
        if (once and name in self._under_way) or len(self._desk._tasks) > 50:
            work.close()
            return
        self._under_way.add(name)
        self._desk.task(self._bounded(name, work, bound), name)

    async def _bounded(self, name: str, work: Coroutine[Any, Any, None], bound: float) -> None:
        error: Exception | None = None
        try:
            async with asyncio.timeout(bound):
                await work
        except Exception as raised:
            error = raised
        finally:  # at once: what a page asks for next counts
            self._under_way.discard(name)
            self._desk.feed.nudge()
        if error is not None:
            await self._desk.failed(error, name.partition(" ")[0])

    # Verbs.

    async def _start(self) -> None:
        self._desk.driven = True
        self._desk.strip.clear()
        self._desk.feed.nudge()
        assert self._desk.subject.call is not None
        await self._desk.mouth.open()
        await self._desk.subject.call.start()
        self._desk.ear.arrange()

    async def _hang_up(self) -> None:
        assert self._desk.subject.call is not None
        await self._desk.ear.silence()
        await self._desk.subject.call.hang_up()

    async def _new(self) -> None:
        from .desk import subject_of

        call = self._desk.subject.call
        assert call is not None
        fresh = call.again()
        self._handover.forget()
        fresh._panel, fresh.on_handoff = call._panel, self._handover.shows
        await self._desk.changes(subject_of(fresh))

    async def _interrupt(self) -> None:
        assert self._desk.subject.call is not None
        await self._desk.subject.call.interrupt()

    def _say(self, text: str) -> None:
        """Send a typed turn after those that wait already, which are few."""
        if len(text) > requests.TEXT:
            self._do("say", self._desk.trouble(troubles.too_long(len(text), requests.TEXT)))
        elif self._says >= _SAYING:
            self._do("too many", self._desk.trouble(troubles.too_many("a typed turn")))
        else:
            self._desk.strip.clear(["asked"])
            self._says += 1
            self._do("say", self._typed(text), once=False)

    async def _typed(self, text: str) -> None:
        call = self._desk.subject.call
        assert call is not None
        place = asyncio.ensure_future(self._saying.acquire())  # taken first, so that turns are said as they were typed
        try:
            await call.interrupt()
            await place
            await self._send(call, text)
        finally:
            self._says -= 1
            if not place.cancel():
                self._saying.release()

    async def _send(self, call: Any, text: str) -> None:
        """Send a typed turn; where the agent is speaking, it is stopped first."""
        self._desk.driven = True
        for _ in range(_FREE_LOOKS):
            try:
                await call.send(text)
                self._desk.strip.clear(["verb"])
                return
            except CallBusy:
                await call.interrupt()
                await asyncio.sleep(_FREE / _FREE_LOOKS)
        raise CallBusy

    async def _approve(self, request: Request) -> None:
        call = self._desk.subject.call
        assert call is not None
        if request["yes"]:
            call.approvals.approve(request["id"])
        else:
            call.approvals.reject(request["id"], request["words"])

    async def _hand_off(self) -> None:
        call = self._desk.subject.call
        assert call is not None
        self._desk.feed.nudge()
        try:
            result = await self._handover.run(call)
            if result is not None:
                self._desk.feed.story.judge(result.label, [one.ok for one in result.attempts])
        except ExtractionFailed as error:  # the ticket says it
            self._desk.feed.story.judge(error.label, [one.ok for one in error.attempts])
        except Exception as error:
            words = troubles.of_error(error).fact
            self._desk.task(self._desk.subject.mark("handoff_failed", words=words), "mark")

    # Questions.

    async def _raw(self, seq: int) -> None:
        """Send the JSON of one event, its sound left out."""
        self._desk.outbox.answer({"t": "raw", "q": seq, "text": self._desk.feed.story.raw(seq)})

    async def _clip(self, key: str) -> None:
        """Send the sound of one row, of an interrupted reply only what was heard."""
        turn = self._desk.feed.story.turn(key)
        pcm = b"" if turn is None else await asyncio.to_thread(_heard, self._desk.subject.log, turn)
        answer = {"t": "clip", "k": key, "ms": len(pcm) // BYTES_PER_MS, "ok": bool(pcm)}
        self._desk.outbox.answer(answer, [pcm] if pcm else None)

    def _trouble(self, kind: str, detail: str) -> None:
        if kind == "sound-again":
            self._desk.strip.clear(["zeros", "stalled"])
        if (found := troubles.TROUBLES.get(kind)) is not None:
            self._do(f"trouble {kind}", self._desk.trouble(found, detail=detail))
        elif kind in troubles.SILENT:
            self._do(f"mark {kind}", self._desk.subject.mark("panel_trouble", trouble=kind, detail=detail))


def _heard(log: Any, turn: "Turn") -> bytes:
    pcm: bytes = log.sound(turn).pcm
    if turn.interrupted and turn.heard_ms is not None:
        pcm = pcm[: turn.heard_ms * BYTES_PER_MS]
    return pcm[: _CLIP_MS * BYTES_PER_MS]
