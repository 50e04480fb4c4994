"""The pump from the log to the page: it waits until something has passed, and sends what that changes.

Nothing happens while no page is there, and nothing is sent while nothing changes. What it sends goes through the
outbox, which keeps the rate.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from ..errors import EndpointGone
from .outbox import PASS, Outbox
from .story import Story
from .subject import Subject

_LONGEST = 20.0  # seconds for which the log is waited for at a time
_CLOCK = 1.0  # seconds between two looks at what changes without the log: phase, approvals, the end of the session

Failed = Callable[[Exception, str], Awaitable[object]]
"""Is told an error, and what could not be done."""


class Feed:
    """Follows the log of one subject for the pages of one panel.

    Args:
        subject: The call, or the log.
        outbox: Where what has changed goes.
        look: Looks at what the log changes besides rows and events (phase, troubles), ten times a second at most.
        failed: Says what could not be shown.
    """

    def __init__(self, subject: Subject, outbox: Outbox, look: Callable[[], Awaitable[object]], failed: Failed) -> None:
        self._subject, self._outbox, self._look, self._failed = subject, outbox, look, failed
        self.story = Story(subject)
        self._tasks: list[asyncio.Task[None]] = []
        self._news = asyncio.Event()

    @property
    def running(self) -> bool:
        """Whether the log is followed."""
        return any(not task.done() for task in self._tasks)

    def start(self) -> None:
        """Follow the log from now on; called again, it does nothing."""
        if not self.running:
            self._tasks = [
                asyncio.create_task(self._follow(), name="handoffkit panel feed"),
                asyncio.create_task(self._pump(), name="handoffkit panel pump"),
            ]

    async def stop(self) -> None:
        """Follow it no longer."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def nudge(self) -> None:
        """Have what waits sent, and what does not stand in the log looked at."""
        self._news.set()

    def snapshot(self, page: str) -> None:
        """Send the whole picture, which is bounded, since *page* has just opened."""
        self._take()
        self._outbox.snapshot({"t": "snapshot", "for": page, **self.story.snapshot(), "counts": self.counts()})
        self.nudge()

    def counts(self) -> dict[str, int]:
        """Return how much there is, and how much of it the page was not sent."""
        return {**self.story.counts(), "events_dropped": self._outbox.dropped}

    async def _follow(self) -> None:
        """Wake the pump as the log grows, at most ten times a second; end with the log's endpoint."""
        while True:
            try:
                await self._subject.grown(self.story.seq, _LONGEST)
            except EndpointGone:
                self._news.set()
                return
            if self._subject.log and self._subject.log[-1].seq > self.story.seq:
                self._news.set()
                await asyncio.sleep(PASS)

    async def _pump(self) -> None:
        while True:
            await self._awaited()
            self._news.clear()
            try:
                self._take()
                await self._look()
                self._outbox.post()
            except Exception as error:  # the panel lives on, and says what it could not show
                await self._failed(error, "show")
                await asyncio.sleep(_CLOCK)
            await asyncio.sleep(PASS)

    async def _awaited(self) -> None:
        """Wait for news; look at the clock now and then where something may change without any."""
        if self._outbox.waiting:
            return
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), _CLOCK if self._subject.phase != "ended" else None)

    def _take(self) -> None:
        news = self.story.take()
        if not news:
            return
        self._outbox.rows(news.rows, news.gone, news.order)
        self._outbox.events(news.events, news.left_out)
        if news.totals is not None:
            self._outbox.totals(news.totals)
        self._outbox.traits(counts=self.counts())
