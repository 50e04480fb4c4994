"""One connection's way out: faults strike, the tap writes, then the frame leaves, in this order and in turn.

Both who answers (`simulated`) and who passes on (`relay`) send through a `Line`, so faults and the log mean the
same for either.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from tornado.iostream import StreamClosedError
from tornado.websocket import WebSocketClosedError

from .faults import Fault, Faults, patched
from .protocol.api_error import ApiError
from .tap import Connection, Event, event_of, read_event


class Cut(Exception):
    """A fault has ended the connection."""


class Socket(Protocol):
    """What a line needs of a WebSocket."""

    def close(self, code: int | None = None, reason: str | None = None) -> None:
        """Close cleanly."""

    def abort(self) -> None:
        """Cut the TCP connection."""


class Line:
    """Sends the server's frames of one connection to the client.

    Args:
        socket: How to close or cut the connection.
        send: Puts a frame on its way at once, and returns what waits until it has gone.
        connection: Where the tap writes.
        faults: What strikes.
    """

    def __init__(
        self, socket: Socket, send: Callable[[str | bytes], Awaitable[None]], connection: Connection, faults: Faults
    ) -> None:
        self._socket, self._start = socket, send
        self.connection, self._faults = connection, faults
        self._turn = asyncio.Lock()

    async def send(self, *messages: dict[str, Any] | str | bytes) -> None:
        """Send frames to the client; nothing else gets in between them.

        A delay that strikes a single frame holds up its sender only: what others send passes by, as words of the
        caller's that come late pass by a reply.

        Raises:
            Cut: A fault ended the connection instead.
        """
        alone = [await self._struck(messages[0])] if len(messages) == 1 else None
        async with self._turn:
            struck = [await self._struck(message) for message in messages] if alone is None else alone
            sent = [self._out(*one) for one in struck if one is not None]
            try:
                await (sent[0] if len(sent) == 1 else asyncio.gather(*sent))
            except (WebSocketClosedError, StreamClosedError):
                raise Cut from None

    async def end(self, code: int, reason: str) -> None:
        """Close the connection as the service does when it is done with it."""
        async with self._turn:
            self.connection.closed(code, reason, "server")
            self._socket.close(code, reason)

    async def _struck(self, message: dict[str, Any] | str | bytes) -> tuple[str | bytes, Event | None] | None:
        """Let a fault strike; return what is left to be sent, None where nothing is."""
        frame: str | bytes | None = _text(message) if isinstance(message, dict) else message
        event = _event(message)
        if isinstance(frame, str) and event and (fault := self._faults.strike("server", event[0])):
            frame, event = await self._strike(fault, frame), None
        return None if frame is None else (frame, event)

    def _out(self, frame: str | bytes, event: Event | None) -> Awaitable[None]:
        """Write a frame down, then put it on its way; where the log cannot be written, the connection is cut."""
        try:
            self.connection.message("server", frame, event)
        except OSError:  # such as a disk that is full; the client would else wait for what never comes
            self._socket.abort()
            raise Cut from None
        return self._write(frame)

    def _write(self, frame: str | bytes) -> Awaitable[None]:
        try:
            return self._start(frame)
        except UnicodeEncodeError:  # half a surrogate pair, which JSON can carry and UTF-8 cannot
            return self._start(json.dumps(json.loads(frame)))
        except (WebSocketClosedError, StreamClosedError):
            raise Cut from None

    async def receive(self, message: str | bytes) -> str | bytes | None:
        """Write down the client's frame; return it, or None where a fault swallowed it."""
        event = _event(message)
        self.connection.message("client", message, event)
        if isinstance(message, str) and event and (fault := self._faults.strike("client", event[0])):
            if fault.action == "status" and event[0] == "response.create" and self.connection.channel == "responses":
                await self._refuse(fault, event[1] or {})
                return None
            return await self._strike(fault, message)
        return message

    async def _refuse(self, fault: Fault, request: dict[str, Any]) -> None:
        """Answer a request, on the lane that it came by, with the event that says what a status says over HTTP."""
        self._note(fault)
        body = fault.data or ApiError("A fault was asked for.", type="server_error").body()
        lane = {"stream_id": request["stream_id"]} if request.get("stream_id") else {}
        await self.send({"type": "error", "status": fault.status, **body, **lane})

    def _note(self, fault: Fault) -> None:
        self.connection.frame("server", "fault", {"action": fault.action, "event": fault.event, "nth": fault.nth})

    async def _strike(self, fault: Fault, message: str | bytes) -> str | bytes | None:
        self._note(fault)
        match fault.action:
            case "delay":
                await asyncio.sleep(fault.seconds)
            case "drop":
                return None
            case "replace":
                return json.dumps(fault.data)
            case "patch":
                return json.dumps(patched(json.loads(message), fault.data))
            case "text":
                return "this is not JSON"
            case "close":
                self.connection.closed(fault.code, "fault", "server")
                self._socket.close(fault.code, "fault")
                raise Cut
            case "abort" | "status":
                self.connection.closed(None, "fault", "drop")
                self._socket.abort()
                raise Cut
        return message


def _event(message: dict[str, Any] | str | bytes) -> Event | None:
    if isinstance(message, bytes):
        return None
    return event_of(message) if isinstance(message, dict) else read_event(message)


def _text(event: dict[str, Any]) -> str:
    # Letters as they are: escaped, a hundred thousand of them would pass the frame size that clients take (1 MiB).
    return json.dumps(event, ensure_ascii=False, separators=(",", ":"))
