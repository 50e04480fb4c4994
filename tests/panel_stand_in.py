"""A stand-in for a page that shows a panel: it sends what a page sends, and keeps what it is sent."""

import asyncio
import contextlib
import gc
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import comm
import pytest
from comm.base_comm import BaseComm

from handoffkit.widgets.panel import Panel

PATIENCE = 20.0
"""Seconds in which whatever is waited for comes, on a busy machine."""


class Line(BaseComm):
    """The kernel's end of a panel's comm, which publishes to nobody and remembers."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.sent: list[tuple[float, str, dict[str, Any], list[bytes]]] = []
        self.moved = asyncio.Event()
        super().__init__(*args, **kwargs)

    def publish_msg(
        self, msg_type: str, data: Any = None, metadata: Any = None, buffers: Any = None, **keys: Any
    ) -> None:
        with contextlib.suppress(RuntimeError):
            now = asyncio.get_running_loop().time()
            self.sent.append((now, msg_type, data or {}, [bytes(each) for each in buffers or ()]))
            self.moved.set()


@pytest.fixture
def line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give widgets comms that remember what was sent."""
    monkeypatch.setattr(comm, "create_comm", lambda *args, **kwargs: Line(*args, **kwargs))


@pytest.fixture(autouse=True)
def quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Nothing that a page does may end in the kernel's log; for modules that import this."""
    gc.collect()  # what other tests have left behind says so now
    yield
    gc.collect()
    logged = [*caplog.get_records("call"), *caplog.records]
    assert [each.getMessage() for each in logged if each.levelno >= logging.ERROR] == []


class Page:
    """A page that shows *panel*.

    Args:
        panel: The panel.
        name: What the page calls itself.
    """

    def __init__(self, panel: Panel, name: str = "page-1") -> None:
        self.panel, self.name = panel, name
        assert isinstance(panel.comm, Line)
        self.line: Line = panel.comm
        self.rows: dict[str, dict[str, Any]] = {}
        self.events: list[dict[str, Any]] = []
        self._read = 0
        self.messages: list[dict[str, Any]] = []
        self.buffers: list[list[bytes]] = []
        self.state: dict[str, Any] = dict(panel.get_state())

    def send(self, t: str, buffers: list[bytes] | None = None, **fields: Any) -> None:
        """Send a message."""
        self.raw({"t": t, "page": self.name, **fields}, buffers)

    def raw(self, content: Any, buffers: list[Any] | None = None) -> None:
        """Send whatever a damaged page might send."""
        data = {"method": "custom", "content": content}
        self.panel._handle_msg({"content": {"data": data}, "buffers": buffers or []})

    def read(self) -> None:
        """Take what has come, as the page's script does."""
        new, self._read = self.line.sent[self._read :], len(self.line.sent)
        for _, _, data, buffers in new:
            if data.get("method") == "update":
                self.state |= data["state"]
            elif data.get("method") == "custom":
                self._message(data["content"], buffers)

    def _message(self, message: dict[str, Any], buffers: list[bytes]) -> None:
        self.messages.append(message)
        self.buffers.append(buffers)
        if message["t"] == "snapshot":
            self.rows = {row["k"]: row for row in message["rows"]}
            self.events = list(message["events"])
        elif message["t"] == "rows" and not message.get("older"):
            for key in message.get("gone", ()):
                self.rows.pop(key, None)
            self.rows |= {row["k"]: row for row in message["rows"]}
        elif message["t"] == "events":
            self.events += message["list"]

    async def until(self, happened: Callable[[], Any], seconds: float = PATIENCE) -> Any:
        """Wait until *happened* is true of what has come, and return what it says."""
        async with asyncio.timeout(seconds):
            while True:
                self.line.moved.clear()
                self.read()
                if found := happened():
                    return found
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self.line.moved.wait(), 0.2)

    async def phase(self, phase: str) -> None:
        """Wait until the call stands so."""
        await self.until(lambda: self.state["phase"] == phase)

    async def trouble(self, fact: str) -> dict[str, Any]:
        """Wait until the strip says *fact*, or words with it."""
        return dict(await self.until(lambda: fact in self.state["error"].get("fact", "") and self.state["error"]))

    def texts(self) -> list[str]:
        """Return the words of the turns."""
        return [row["text"] for row in self.rows.values() if row["kind"] == "turn"]

    def of(self, t: str) -> list[dict[str, Any]]:
        """Return the messages of a kind that have come."""
        return [message for message in self.messages if message["t"] == t]


@contextlib.asynccontextmanager
async def shown(panel: Panel, name: str = "page-1") -> AsyncIterator[Page]:
    """Show *panel* on a page; at the end no task of it is left."""
    page = Page(panel, name)
    page.send("hello")
    try:
        await page.until(lambda: page.of("snapshot"))
        yield page
    finally:
        await panel._desk.end()
        if panel.call is not None:
            await panel.call.hang_up()
