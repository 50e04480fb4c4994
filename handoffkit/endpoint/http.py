"""The endpoint's face over HTTP: whole answers, and streams of server-sent events."""

import asyncio
import json
import time
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qs

from tornado.iostream import StreamClosedError

from .face import HANDOFF, Face
from .gate import admit
from .line import Cut
from .protocol import chat, conversations, responses
from .protocol.api_error import ApiError
from .protocol.ids import Ids
from .protocol.store import held
from .relay import relay_exchange
from .simulated import ask
from .sse import Sse
from .tap import Connection

_GENERATORS = {"responses": responses, "chat/completions": chat}


class Http(Face):
    """Everything else below `/v1`: one exchange, answered by the simulation or passed on."""

    _work: "asyncio.Future[None] | None" = None
    _left = False

    _written: Connection | None = None
    """Where the exchange is written down."""

    def finish(self, chunk: Any = None) -> "asyncio.Future[None]":
        """End the answer; whoever has it finds its end in the log."""
        self._ended()
        return super().finish(chunk)

    def cut(self) -> None:
        """Cut the TCP connection, unless the answer is out already."""
        self._ended()
        super().cut()

    def _ended(self) -> None:
        if self._written is not None:
            self._written.closed(None, "", "server")

    async def _exchange(self, path: str) -> None:
        try:
            admit(self.request, self.endpoint.token)
        except ApiError as error:
            return self.refuse(error)
        channel = path.split("/")[0]
        channel = channel if channel in ("responses", "chat", "conversations") else "other"
        label = self.request.headers.get(HANDOFF)
        self._written = connection = self.endpoint.tap.connection(channel, label, f"/v1/{path}")
        event = f"{self.request.method} /v1/{path}"
        try:
            self._work = asyncio.ensure_future(self._work_on(path, event, connection))
            await self._work
        except ApiError as error:
            self._say(connection, error.status, error.body())
        except (Cut, StreamClosedError):
            connection.closed(None, "", "drop")
            self.cut()
        except asyncio.CancelledError:
            if not self._left:
                raise
            connection.closed(None, "", "drop")
        finally:
            connection.closed(None, "", "server")

    async def _work_on(self, path: str, event: str, connection: Connection) -> None:
        body = self._body()
        connection.frame("client", event, body)
        fault = self.strike(connection, event)
        late = fault.seconds if fault and fault.action == "delay" else 0.0
        if late or not await self.suffer(fault, connection):
            await self._answer(path, body, connection, late)

    def _body(self) -> Any:
        """Return the JSON that came; of a file that is passed on, its size."""
        try:
            return _json(self.request.body)
        except ApiError:
            if self.endpoint.settings.mode == "live" and "json" not in self.request.headers.get("Content-Type", ""):
                return {"bytes": len(self.request.body)}
            raise

    def on_connection_close(self) -> None:
        """Stop: the client has gone, which is how a response is cancelled that does not run in the background."""
        self._left = True
        if self._work and not self._finished:
            self._work.cancel()

    get = post = delete = put = patch = _exchange

    async def _answer(self, path: str, body: Any, connection: Connection, late: float) -> None:
        """Answer a request, *late* seconds after it came."""
        settings = self.endpoint.settings
        if settings.mode == "live":
            await _wait(late)
            return await relay_exchange(settings, self, path, connection, self.endpoint.faults)
        ids, now = Ids(connection.name, self.endpoint.era), int(time.time())
        if self.request.method == "POST" and path in _GENERATORS:
            return await self._generate(path, body, connection, ids, now, late)
        await _wait(late)
        query = {name: values[-1] for name, values in parse_qs(self.request.query).items()}
        answer = conversations.handle(
            self.request.method or "GET", f"/v1/{path}", query, body, self.endpoint.store, ids, now
        )
        self._say(connection, 200, answer)

    async def _generate(self, path: str, body: Any, connection: Connection, ids: Ids, now: int, late: float) -> None:
        """Have a model answer; nobody else works on the same conversation meanwhile."""
        protocol = _GENERATORS[path]
        asked = protocol.ask(body, self.endpoint.store)
        with held(asked.conversation):
            await _wait(late)
            try:
                prompt = replace(asked.prompt, handoff=connection.label is not None)
                reply = await ask(self.endpoint.settings.model(prompt.model), prompt)
            except ApiError as error:
                if not asked.stream or error.status < 500:
                    raise
                return await self._stream(protocol.fail(asked, error, ids, now), connection, path)
            if asked.stream:
                return await self._stream(protocol.stream(asked, reply, ids, now), connection, path)
            self._say(connection, 200, protocol.complete(asked, reply, ids, now))

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


async def _wait(seconds: float) -> None:
    if seconds:  # else not even for a moment, in which another request would find the conversation locked
        await asyncio.sleep(seconds)


def _json(body: bytes) -> Any:
    if not body:
        return {}
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise ApiError("We could not parse the JSON body of your request.") from None
