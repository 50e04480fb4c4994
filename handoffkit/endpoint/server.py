"""The endpoint's face: WebSocket, HTTP and SSE on one port of 127.0.0.1.

It is the only I/O of the endpoint besides `relay`: it admits a request, has the tap write it down, and hands it to
who answers.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs

from tornado.iostream import StreamClosedError
from tornado.web import Application, RequestHandler
from tornado.websocket import WebSocketHandler

from .faults import Fault, Faults
from .gate import admit
from .line import Cut, Line
from .protocol import chat, conversations, responses
from .protocol.api_error import ApiError
from .protocol.ids import Ids
from .relay import RealtimeRelay, relay_exchange
from .settings import Settings
from .simulated import Simulation, ask
from .speech.loading import Speech
from .tap import Connection, Tap, read_event

_LARGEST = 64 << 20  # bytes of one frame or one body
_HANDOFF = "x-handoffkit-handoff"
_GENERATORS = {"responses": responses, "chat/completions": chat}


class Endpoint:
    """What all handlers share: who answers now, and the log that is being written."""

    def __init__(self, token: str) -> None:
        self.token = token
        self.taps: dict[str, Tap] = {}
        self.settings: Settings
        self.tap: Tap
        self.speech: Speech | None = None
        self.clients: dict[tuple[str, str], Callable[[str], Awaitable[None]]] = {}
        """By log and connection: what takes the frames of an open realtime connection's client."""

    def configure(self, settings: Settings) -> None:
        """Begin anew with *settings*: a new log, new faults, an empty store. Open connections keep the old ones."""
        self.settings = settings
        self.faults = Faults(list(settings.faults))
        self.store = conversations.Store()
        self.tap = Tap(settings.folder, {"mode": settings.mode, "pid": settings.pid})
        self.taps[settings.folder.name] = self.tap
        if settings.mode == "simulated" and settings.speech and self.speech is None:
            self.speech = Speech.start()

    @property
    def speech_in_use(self) -> Speech | None:
        """What hears and speaks for simulated sessions; None where that is turned off."""
        return self.speech if self.settings.speech else None

    def close(self) -> None:
        """Close every log."""
        for tap in self.taps.values():
            tap.close()


class _Face(RequestHandler):
    """What both handlers do alike: admit, and refuse as the service would."""

    def initialize(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Answer what nobody foresaw with the service's kind of error, and without a traceback."""
        kind = "invalid_request_error" if status_code < 500 else "server_error"
        self.finish(ApiError(self._reason, status=status_code, type=kind).body())

    def refuse(self, error: ApiError) -> None:
        """Answer with the error that the service would send."""
        self.set_status(error.status)
        self.finish(error.body())

    def strike(self, connection: Connection, event: str) -> Fault | None:
        """Return the fault that strikes a handshake or a request, written into the log."""
        if fault := self.endpoint.faults.strike("client", event):
            connection.frame("server", "fault", {"action": fault.action, "event": fault.event, "nth": fault.nth})
        return fault

    async def suffer(self, fault: Fault | None, connection: Connection) -> bool:
        """Let *fault* happen to this handshake or request; True if it was answered or cut by that."""
        match fault:
            case None:
                return False
            case Fault(action="delay"):
                await asyncio.sleep(fault.seconds)
                return False
            case Fault(action="status"):
                body = fault.data or ApiError("A fault was asked for.", type="server_error").body()
                connection.frame("server", str(fault.status), body)
                self.set_status(fault.status)
                self.finish(body)
            case _:
                self.cut()
        return True

    def cut(self) -> None:
        """Cut the TCP connection, unless the answer is out already."""
        if self._finished:
            return
        self._finished = True
        if stream := getattr(self.request.connection, "stream", None):
            stream.close()


class Realtime(_Face, WebSocketHandler):
    """`/v1/realtime`: one WebSocket, answered by the simulation or passed on."""

    who: Simulation | RealtimeRelay | None = None
    line: Line | None = None

    def check_origin(self, origin: str) -> bool:
        """Refuse every page; `admit` has said so before."""
        return False

    def select_subprotocol(self, subprotocols: list[str]) -> str | None:
        """Speak the service's own subprotocol where a client offers it."""
        return "realtime" if "realtime" in subprotocols else None

    async def get(self, *args: Any, **kwargs: Any) -> None:
        """Admit the client, reach the upstream where there is one, then upgrade."""
        settings = self.endpoint.settings
        try:
            label = admit(self.request, self.endpoint.token)
            model = self.get_query_argument("model", "")
            if not model and settings.mode == "simulated":
                raise ApiError("You must provide a model parameter.", code="missing_model", param="model")
        except ApiError as error:
            return self.refuse(error)
        connection = self.endpoint.tap.connection("realtime", label, "/v1/realtime", model or None)
        self.line = Line(self, self._write, connection, self.endpoint.faults)
        if await self.suffer(self.strike(connection, "open"), connection):
            return connection.closed(None, "fault", "server")
        try:
            self.who = await self._who_answers(settings, connection, model)
        except ApiError as error:
            connection.frame("server", str(error.status), error.body())
            connection.closed(None, "handshake refused", "server")
            return self.refuse(error)
        await super().get(*args, **kwargs)

    async def _who_answers(self, settings: Settings, connection: Connection, model: str) -> Simulation | RealtimeRelay:
        assert self.line is not None
        if settings.mode == "live":
            return await RealtimeRelay.connect(settings, self.request, self.line, self.close)
        speech, lasts = self.endpoint.speech_in_use, settings.session_seconds
        return Simulation(model, Ids(connection.name), settings.model, self.line, speech, lasts)

    async def open(self, *args: str, **kwargs: str) -> None:
        """Greet the client."""
        self.set_nodelay(True)  # else a small frame waits up to 40 ms for the acknowledgement of the one before
        if self.who and self.line:
            self.endpoint.clients[self._name] = self.on_message
            await self.who.open()

    @property
    def _name(self) -> tuple[str, str]:
        assert self.line is not None
        return self.line.connection.tap.folder.name, self.line.connection.name

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

    def on_close(self) -> None:
        """Write down how the connection ended."""
        if self.who:
            self.who.close()
        if self.line:
            self.endpoint.clients.pop(self._name, None)
            by = "drop" if self.close_code is None else "client"
            self.line.connection.closed(self.close_code, self.close_reason or "", by)

    def abort(self) -> None:
        """Cut the TCP connection."""
        if self.ws_connection is not None:
            self.ws_connection._abort()

    def _write(self, message: str | bytes) -> Awaitable[None]:
        return self.write_message(message, binary=isinstance(message, bytes))


class Http(_Face):
    """Everything else below `/v1`: one exchange, answered by the simulation or passed on."""

    async def _exchange(self, path: str) -> None:
        try:
            admit(self.request, self.endpoint.token)
        except ApiError as error:
            return self.refuse(error)
        channel = path.split("/")[0]
        channel = channel if channel in ("responses", "chat", "conversations") else "other"
        label = self.request.headers.get(_HANDOFF)
        connection = self.endpoint.tap.connection(channel, label, f"/v1/{path}")
        event = f"{self.request.method} /v1/{path}"
        try:
            body = _json(self.request.body)
            connection.frame("client", event, body)
            if await self.suffer(self.strike(connection, event), connection):
                return
            await self._answer(path, body, connection)
        except ApiError as error:
            self._say(connection, error.status, error.body())
        except (Cut, StreamClosedError):
            self.cut()
        finally:
            connection.closed(None, "", "server")

    get = post = delete = put = patch = _exchange

    async def _answer(self, path: str, body: Any, connection: Connection) -> None:
        settings = self.endpoint.settings
        if settings.mode == "live":
            return await relay_exchange(settings, self, path, connection, self.endpoint.faults)
        ids, now = Ids(connection.name), int(time.time())
        if self.request.method == "POST" and (protocol := _GENERATORS.get(path)):
            asked = protocol.ask(body, self.endpoint.store)
            try:
                prompt = replace(asked.prompt, handoff=connection.label is not None)
                reply = await ask(settings.model(prompt.model), prompt)
            except ApiError as error:
                if not asked.stream or error.status < 500:
                    raise
                return await self._stream(protocol.fail(asked, error, ids, now), connection, path)
            if asked.stream:
                return await self._stream(protocol.stream(asked, reply, ids, now), connection, path)
            return self._say(connection, 200, protocol.complete(asked, reply, ids, now))
        query = {name: values[-1] for name, values in parse_qs(self.request.query).items()}
        answer = conversations.handle(
            self.request.method or "GET", f"/v1/{path}", query, body, self.endpoint.store, ids, now
        )
        self._say(connection, 200, answer)

    def _say(self, connection: Connection, status: int, body: Any) -> None:
        connection.frame("server", str(status), body)
        self.set_status(status)
        self.finish(body)

    async def _stream(self, events: Any, connection: Connection, path: str) -> None:
        self.set_header("Content-Type", "text/event-stream; charset=utf-8")
        send = Sse(self, connection, self.endpoint.faults)
        for event in events:
            await send(event)
        if path.startswith("chat"):
            await send.raw("data: [DONE]\n\n")
        self.finish()


class Nowhere(_Face):
    """Any other address."""

    def prepare(self) -> None:
        """Refuse, a stranger first."""
        try:
            admit(self.request, self.endpoint.token)
            raise ApiError(f"Invalid URL ({self.request.method} {self.request.path})", status=404)
        except ApiError as error:
            self.refuse(error)


class Sse:
    """Sends events of one HTTP answer, after faults and tap."""

    def __init__(self, handler: _Face, connection: Connection, faults: Faults) -> None:
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


def _json(body: bytes) -> Any:
    if not body:
        return {}
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise ApiError("We could not parse the JSON body of your request.") from None


def application(endpoint: Endpoint) -> Application:
    """Build the web application around *endpoint*."""
    shared = {"endpoint": endpoint}
    return Application(
        [(r"/v1/realtime/?", Realtime, shared), (r"/v1/(.*)", Http, shared), (r"/.*", Nowhere, shared)],
        websocket_max_message_size=_LARGEST,
        websocket_ping_interval=None,
        log_function=lambda handler: None,
    )
