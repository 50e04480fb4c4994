"""Server-sent events: one HTTP answer that comes in pieces, from a simulation or an upstream."""

from collections.abc import Awaitable
from typing import Any

from .face import Face
from .faults import Faults
from .line import Line
from .tap import Connection, read_event


class Sse:
    """Sends events of one HTTP answer, after faults and tap."""

    def __init__(self, handler: Face, connection: Connection, faults: Faults) -> None:
        self._handler = handler
        if stream := getattr(handler.request.connection, "stream", None):
            stream.set_nodelay(True)  # as for a WebSocket: events are small, and nobody should wait for them
        self.line = Line(self, self._write, connection, faults)

    async def __call__(self, event: dict[str, Any]) -> None:
        """Send one event."""
        await self.line.send(event)

    def raw(self, text: str) -> Awaitable[None]:
        """Send text as it is; it is on its way before anybody waits for it."""
        self._handler.write(text)
        return self._handler.flush()

    def _write(self, message: str | bytes) -> Awaitable[None]:
        assert isinstance(message, str)
        data = read_event(message)[1] or {}
        prefix = f"event: {data['type']}\n" if "type" in data else ""
        return self.raw(f"{prefix}data: {message}\n\n")

    def close(self, code: int | None = None, reason: str | None = None) -> None:
        """End the answer early, as if it were whole."""
        self._handler.finish()

    def abort(self) -> None:
        """Cut the TCP connection."""
        self._handler.cut()
