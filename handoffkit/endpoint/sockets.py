"""The endpoint's faces over WebSocket: the Realtime API's and the Responses API's."""

from abc import abstractmethod
from collections.abc import Awaitable
from typing import Any, ClassVar, Protocol

from tornado.httputil import HTTPServerRequest
from tornado.websocket import WebSocketHandler, WebSocketProtocol, WebSocketProtocol13

from .face import HANDOFF, Face
from .gate import admit
from .line import Cut, Line
from .protocol.api_error import ApiError
from .protocol.ids import Ids
from .relay import SocketRelay
from .responding import ResponsesSimulation
from .simulated import Simulation
from .tap import Connection


class Answerer(Protocol):
    """Who takes the frames of one connection's client and answers them."""

    async def open(self) -> None:
        """Begin; the client is connected."""

    async def receive(self, message: str | bytes) -> None:
        """Take one frame of the client's."""

    def close(self) -> None:
        """End; the client has gone."""


class Socket(Face, WebSocketHandler):
    """One WebSocket, answered by a simulation or passed on."""

    channel: ClassVar[str]
    """Where its frames stand in the log, and what its address ends with."""
    who: Answerer | None = None
    line: Line | None = None
    _left = False

    def check_origin(self, origin: str) -> bool:
        """Refuse every page; `admit` has said so before."""
        return False

    async def get(self, *args: Any, **kwargs: Any) -> None:
        """Admit the client, reach the upstream where there is one, then upgrade."""
        try:
            label, model = self.asked(admit(self.request, self.endpoint.token))
            _check_handshake(self.request)
        except ApiError as error:
            return self.refuse(error)
        connection = self.endpoint.tap.connection(self.channel, label, f"/v1/{self.channel}", model)
        self.line = Line(self, self._write, connection, self.endpoint.faults)
        if await self.suffer(self.strike(connection, "open"), connection):
            return connection.closed(None, "fault", "server")
        try:
            self.who = await self._who_answers(self.line, model)
        except ApiError as error:
            connection.frame("server", str(error.status), error.body())
            connection.closed(None, "handshake refused", "server")
            return self.refuse(error)
        if self._left:  # while the upstream was reached
            return self.who.close()
        await super().get(*args, **kwargs)

    @abstractmethod
    def asked(self, label: str | None) -> tuple[str | None, str | None]:
        """Return the connection's label and the model that it names; *label* is the one behind the token.

        Raises:
            ApiError: What the service would answer to an address that is not in order.
        """

    @abstractmethod
    def simulation(self, line: Line, model: str | None) -> Answerer:
        """Return who answers on this machine."""

    async def _who_answers(self, line: Line, model: str | None) -> Answerer:
        settings = self.endpoint.settings
        if settings.mode == "live":
            return await SocketRelay.connect(settings, self.request, self.channel, line, self.close)
        return self.simulation(line, model)

    async def open(self, *args: str, **kwargs: str) -> None:
        """Greet the client."""
        self.set_nodelay(True)  # else a small frame waits up to 40 ms for the acknowledgement of the one before
        if self.who:
            await self.who.open()

    async def on_message(self, message: str | bytes) -> None:
        """Write down the client's frame, then pass it to who answers."""
        assert self.who is not None
        assert self.line is not None
        try:
            passed = await self.line.receive(message)
            if passed is not None:
                await self.who.receive(passed)
        except Cut:
            self.who.close()

    def get_websocket_protocol(self) -> WebSocketProtocol | None:
        """Return what speaks the protocol, and writes down before it answers."""
        found = super().get_websocket_protocol()
        return _Protocol(self, False, found.params) if isinstance(found, WebSocketProtocol13) else found

    def on_close(self) -> None:
        """Write down how the connection ended."""
        self._left = True
        if self.who:
            self.who.close()
        self.ended(self.close_code, self.close_reason)

    def ended(self, code: int | None, reason: str | None) -> None:
        """Write down that the client has ended the connection, once."""
        if self.line:
            self.line.connection.closed(code, reason or "", "drop" if code is None else "client")

    def abort(self) -> None:
        """Cut the TCP connection."""
        if self.ws_connection is not None:
            self.ws_connection._abort()

    def _write(self, message: str | bytes) -> Awaitable[None]:
        return self.write_message(message, binary=isinstance(message, bytes))


class _Protocol(WebSocketProtocol13):
    """The protocol, which has the client's goodbye written down before it is answered, as each of its frames is."""

    def close(self, code: int | None = None, reason: str | None = None) -> None:
        """Close, or answer the client's close."""
        if self.client_terminated and isinstance(self.handler, Socket):
            self.handler.ended(self.close_code, self.close_reason)
        super().close(code, reason)


class RealtimeSocket(Socket):
    """`/v1/realtime`: one WebSocket a session."""

    channel = "realtime"

    def select_subprotocol(self, subprotocols: list[str]) -> str | None:
        """Speak the service's own subprotocol where a client offers it."""
        return "realtime" if "realtime" in subprotocols else None

    def asked(self, label: str | None) -> tuple[str | None, str | None]:
        """Return the label behind the token, and the model in the address."""
        model = self.get_query_argument("model", "")
        if not model and self.endpoint.settings.mode == "simulated":
            raise ApiError("You must provide a model parameter.", code="missing_model", param="model")
        return label, model or None

    def simulation(self, line: Line, model: str | None) -> Answerer:
        """Return a session that a simulated model answers."""
        settings, speech = self.endpoint.settings, self.endpoint.speech_in_use
        ids = Ids(line.connection.name)
        return Simulation(model or "", ids, settings.model, line, speech, settings.session_seconds)

    async def open(self, *args: str, **kwargs: str) -> None:
        """Greet the client, and let the kernel speak beside it (`say`)."""
        if self.line:
            self.endpoint.clients[_name(self.line.connection)] = self.on_message
        await super().open(*args, **kwargs)

    def on_close(self) -> None:
        """Write down how the connection ended."""
        super().on_close()
        if self.line:
            self.endpoint.clients.pop(_name(self.line.connection), None)


class ResponsesSocket(Socket):
    """`/v1/responses`: one WebSocket for any number of responses, one after the other or side by side."""

    channel = "responses"

    def asked(self, label: str | None) -> tuple[str | None, str | None]:
        """Return the label in the header, as over HTTP; each request names its own model."""
        return self.request.headers.get(HANDOFF), None

    def simulation(self, line: Line, model: str | None) -> Answerer:
        """Return what asks a simulated model for each response."""
        settings, ids = self.endpoint.settings, Ids(line.connection.name, self.endpoint.era)
        return ResponsesSimulation(ids, settings.model, self.endpoint.store, line, settings.session_seconds)


def _check_handshake(request: HTTPServerRequest) -> None:
    """Demand a WebSocket's handshake (RFC 6455, section 4.2.1), before anybody is asked on its behalf.

    Raises:
        ApiError: It asks for something else.
    """
    headers = request.headers
    asks = [word.strip().lower() for word in headers.get("Connection", "").split(",")]
    if headers.get("Upgrade", "").lower() != "websocket" or "upgrade" not in asks:
        raise ApiError(f"{request.path} is a WebSocket here: connect to ws://{request.host}{request.path}.", status=426)
    if headers.get("Sec-WebSocket-Version") != "13" or not headers.get("Sec-WebSocket-Key"):
        raise ApiError("A WebSocket's handshake has a Sec-WebSocket-Key, and the Sec-WebSocket-Version 13.")


def _name(connection: Connection) -> tuple[str, str]:
    return connection.tap.folder.name, connection.name
