"""What stands behind one panel, on the kernel's loop: the subject, its feed, who is watching, what is wrong.

`hands.py` does what pages ask for; here is what happens by itself, and what the page is told of it.
"""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from ..connect import current
from ..marks import Turn
from . import expiry, presence, troubles
from .ear import Ear
from .echo import hears_itself
from .feed import Feed
from .mouth import Mouth
from .outbox import Outbox, Send
from .presence import Presence
from .strip import Strip
from .subject import Subject
from .troubles import Trouble

_SAID = ("handoffkit panel mark", "handoffkit panel trouble")
_PASSES = 20.0  # seconds for which it is said what is over already
_BURST = 0.5  # seconds in which what pages have sent meanwhile comes in, after the kernel was blocked
_WATCH = 1.0  # seconds between two looks at who is there, and at how late the loop is


class Desk:
    """The state of one panel, besides its traits.

    Args:
        subject: What the panel is about.
        send: Sends a custom message to the page.
        state: Sets traits of the panel.
        gone: Seconds without a page after which a call that a page drives is hung up.
        bye: The same after a page has said good-bye.
        page_sound: Whether the kernel can take a page's sound.
    """

    def __init__(
        self,
        subject: Subject,
        send: Send,
        state: Callable[[dict[str, Any]], None],
        gone: float = presence.GONE,
        bye: float = presence.BYE,
        page_sound: bool = True,
    ) -> None:
        self.page_sound = page_sound
        self.outbox = Outbox(send, state, _clock)
        self.presence = Presence(_clock, gone, bye)
        self.strip = Strip()
        self.driven = False
        """Whether a page has ever driven the call."""
        self.muted = False
        self.handing_off: Callable[[], bool] = lambda: False
        """Whether a handoff is under way."""
        self._shown: dict[str, Any] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._watching: asyncio.Task[None] | None = None
        self._deciding: contextlib.ExitStack | None = None
        self._judged, self._echo = 0, ""
        self.blocked_at = float("-inf")
        """When a cell had last kept the loop from running, on the loop's clock."""
        self.sits(subject)

    def sits(self, subject: Subject) -> None:
        """Be about *subject* from now on."""
        self.subject = subject
        self.feed = Feed(subject, self.outbox, self.look, self.failed)
        self.ear = Ear(self, "page" if self.page_sound and subject.hears else "none")
        self.mouth = Mouth(self)
        self.driven, self._judged, self._echo = False, 0, ""
        self.strip.clear()

    async def changes(self, subject: Subject) -> None:
        """Be about another subject, and show it to all pages."""
        await self._rest()
        self.sits(subject)
        self.begin()
        self.feed.snapshot("")

    # Life.

    def begin(self) -> None:
        """Follow the log and watch over the call, as long as somebody is there."""
        self.feed.start()
        if self._deciding is None and self.subject.call is not None:
            self._deciding = contextlib.ExitStack()
            self._deciding.enter_context(self.subject.call.approvals.watch(self.feed.nudge))
        if self._watching is None or self._watching.done():
            self._watching = asyncio.create_task(self._watch(), name="handoffkit panel watch")

    def task(self, work: Coroutine[Any, Any, None], name: str) -> "asyncio.Task[None]":
        """Run *work* as a task that is kept until it is done."""
        task = asyncio.create_task(work, name=f"handoffkit panel {name}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def end(self) -> None:
        """Stop everything that the panel itself does; the call goes on."""
        tasks = {*self._tasks, *filter(None, (self._watching,))} - {asyncio.current_task()}
        for task in tasks:
            if task.get_name() not in _SAID:  # what went wrong gets into the log, which takes a moment
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._rest()

    async def _rest(self) -> None:
        """Let go of the call and of the log."""
        if self._deciding is not None:
            self._deciding.close()
            self._deciding = None
        await self.ear.close()
        await self.mouth.close()
        await self.feed.stop()

    async def _watch(self) -> None:
        """See who is there and how late the loop is, until the last page is gone."""
        while True:
            began = _clock()
            await asyncio.sleep(_WATCH)
            if late := presence.lag(_clock() - began, _WATCH):
                self.blocked_at = _clock()
                self.presence.lagged(late)
                await asyncio.sleep(_BURST)
                await self._blocked(late)
            if self.presence.nobody() and not self._cell_is_at_work:
                await self._nobody()
                return

    @property
    def _cell_is_at_work(self) -> bool:
        return self.subject.busy and not (self._tasks or self.ear.listening)

    async def _blocked(self, seconds: float) -> None:
        if self.subject.phase != "on" or self.subject.call is None:
            return
        lost = self.ear.lost_ms()
        self._put(troubles.blocked(seconds, lost))
        await self.subject.mark("kernel_blocked", seconds=round(seconds, 1), dropped_ms=lost)

    async def _nobody(self) -> None:
        """The last page is gone for good: hang up what a page has driven, and follow the log no longer."""
        seconds = self.presence.away()
        call = self.subject.call
        await self.ear.close()
        if call is not None and self.driven and self.subject.phase in ("starting", "on"):
            await self.subject.mark("page_gone", seconds=round(seconds))
            self.strip.put(troubles.gone(seconds))
            with contextlib.suppress(Exception):
                await call.hang_up()
        await self.look()
        await self._rest()

    # Troubles.

    async def trouble(self, trouble: Trouble, **data: Any) -> None:
        """Say what is wrong, on the page and in the log."""
        self._put(trouble)
        await self.subject.mark("panel_trouble", trouble=trouble.kind, words=trouble.fact, **data)

    def _put(self, trouble: Trouble) -> None:
        number = self.strip.again(trouble)
        self.feed.nudge()
        if trouble.kind in troubles.PASSING:
            asyncio.get_running_loop().call_later(_PASSES, self._passed, trouble.kind, number)

    def _passed(self, kind: str, number: int) -> None:
        self.strip.passes(kind, number)
        self.feed.nudge()

    async def failed(self, error: BaseException, what: str) -> None:
        """Say that *what* could not be done, in the error's own words."""
        over = self.subject.phase == "ended"
        await self.trouble(troubles.of_error(error, tone="bad" if over else "warn"), asked=what)

    # What the page is told besides the log.

    async def look(self) -> None:
        """See what has changed besides the log, and have it shown."""
        self._judge()
        await self.mouth.look()
        if self.phase == "ended":
            await self.ear.rest()
        self.show()

    def show(self) -> None:
        """Have the traits shown that have changed."""
        values: dict[str, Any] = {
            "phase": self.phase,
            "error": self.strip.shown,
            "controls": self.controls(),
            "approvals": self.subject.approvals,
        }
        clock = self.clock()
        if clock != self._shown.get("clock") or values["phase"] != self._shown.get("phase"):
            self._shown["clock"] = clock
            self.outbox.traits(clock=clock | {"now": round(self.subject.now(), 3)})
        for name, value in values.items():
            if self._shown.get(name) != value:
                self._shown[name] = value
                self.outbox.traits(**{name: value})

    @property
    def phase(self) -> str:
        """How the call stands."""
        return self.subject.phase

    def controls(self) -> dict[str, Any]:
        """Return how the panel's switches stand."""
        return {
            "muted": self.muted,
            "handing_off": self.handing_off(),
            **self.ear.controls(),
            "speaker": self.mouth.kind,
            "owner": self.presence.owner,
        }

    def clock(self) -> dict[str, Any]:
        """Return when the call began, ended and expires, on the log's clock."""
        return {**self.feed.story.times(), "expires": self.subject.expires}

    def _judge(self) -> None:
        """See whether time runs out, the call has ended early, or the agent hears itself."""
        subject, times = self.subject, self.feed.story.times()
        if subject.call is None:
            return
        if subject.phase == "on":
            if warned := expiry.warning(subject.now(), times["began"], subject.expires):
                self._say(warned)
            if self._judged != self.feed.story.seq:
                self._judged = self.feed.story.seq
                self._listen_for_echo(subject.call.turns)
        elif subject.phase == "ended" and subject.early:
            self.strip.clear(["expiry"])
            ended = expiry.verdict(times["ended"], subject.expires) or troubles.ended_early(subject.early)
            self._say(ended)

    def _listen_for_echo(self, turns: Sequence[Turn]) -> None:
        """Say it of each turn once, and take it back when the caller is heard to say something else."""
        said = next((turn for turn in reversed(turns) if turn.speaker == "caller" and turn.spoken), None)
        if said is None or said.pending or said.item_id == self._echo:
            return
        self._echo = said.item_id
        if hears_itself(turns):
            self._say(troubles.TROUBLES["echo"])
        else:
            self.strip.clear(["echo"])

    def _say(self, trouble: Trouble) -> None:
        """Say it, and mark it in the log the first time."""
        if not self.strip.has(trouble.kind):
            self.task(self.subject.mark("panel_trouble", trouble=trouble.kind, words=trouble.fact), "mark")
        self.strip.put(trouble)


def subject_of(call: Any) -> Subject:
    """Return what a panel for *call* is about; the whole log where there is none."""
    return Subject(current() if call is None else call.endpoint, call)


def _clock() -> float:
    return asyncio.get_running_loop().time()
