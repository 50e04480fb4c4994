"""Passing on: the same frames to OpenAI or any compatible service, and its answers back, with the real key put in here.

The client holds a local token, so the key stands nowhere but in this process's memory. The environment's proxies
are honoured on the way out, as the SDKs would.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from tornado.httputil import HTTPServerRequest

from .faults import Faults
from .line import Cut, Line
from .protocol.api_error import ApiError
from .settings import Settings
from .sse import Sse
from .tap import Connection

if TYPE_CHECKING:
    import httpx2
    from websockets.asyncio.client import ClientConnection

    from .http import Http

# Headers that say what is asked, and nothing about who asks; everything else stays here.
_PASSED_ON = ("accept", "content-type", "openai-beta", "openai-organization", "openai-project", "user-agent")
_PASSED_BACK = ("content-type", "retry-after", "retry-after-ms", "x-request-id", "x-should-retry")
_CONNECT, _READ = 20.0, 600.0  # seconds
_NO_CODE = 1005  # what stands for a close without a code; it is never sent (RFC 6455, section 7.4.1)
_NO_SOCKET = (200, 404, 405, 426, 501)  # what a service says to a handshake where it speaks HTTP alone

Close = Callable[[int | None, str | None], None]
"""Closes the client's connection, with a code and a reason."""


def _headers(settings: Settings, request: HTTPServerRequest) -> dict[str, str]:
    headers = {name: request.headers[name] for name in _PASSED_ON if name in request.headers}
    return headers | ({"Authorization": f"Bearer {settings.key}"} if settings.key else {})


class SocketRelay:
    """A WebSocket that is answered by the upstream."""

    def __init__(self, upstream: "ClientConnection", line: Line, close: "Close") -> None:
        self._upstream, self._line, self._close = upstream, line, close
        self._pump: asyncio.Task[None] | None = None

    @classmethod
    async def connect(
        cls, settings: Settings, request: HTTPServerRequest, path: str, line: Line, close: "Close"
    ) -> "SocketRelay":
        """Reach the upstream.

        Args:
            settings: Where the upstream is.
            request: The client's handshake.
            path: What the address ends with: `realtime` or `responses`.
            line: To the client.
            close: Closes the client's connection.

        Raises:
            ApiError: The upstream's own status and words where it refuses, 502 where it cannot be reached, and what
                to do instead where it has no WebSocket at this address.
        """
        from websockets.asyncio.client import connect
        from websockets.exceptions import InvalidStatus, WebSocketException

        query = urlencode([(name, value) for name, values in request.query_arguments.items() for value in values])
        url = f"{settings.upstream.replace('http', 'ws', 1).rstrip('/')}/{path}" + (f"?{query}" if query else "")
        headers = _headers(settings, request)
        agent = headers.pop("User-Agent", headers.pop("user-agent", None))
        try:
            upstream = await connect(
                url, additional_headers=headers, user_agent_header=agent, max_size=64 << 20, open_timeout=_CONNECT
            )
        except InvalidStatus as error:
            status, body = error.response.status_code, bytes(error.response.body or b"")
            if path == "responses" and (status in _NO_SOCKET or (status == 403 and not body)):
                raise _no_socket(settings, status) from None
            raise _refused(status, body) from None
        except (OSError, TimeoutError, WebSocketException) as error:
            raise _unreachable(settings, error) from None
        return cls(upstream, line, close)

    async def open(self) -> None:
        """Begin to pass the upstream's frames back."""
        self._pump = asyncio.create_task(self._pass_back())

    async def receive(self, message: str | bytes) -> None:
        """Pass one frame of the client's on."""
        from websockets.exceptions import ConnectionClosed

        with contextlib.suppress(ConnectionClosed):  # the pump sees the end, and says so to the client
            await self._upstream.send(message)

    def close(self) -> None:
        """Leave the upstream; the client has gone."""
        self._closing = asyncio.ensure_future(self._upstream.close())

    async def _pass_back(self) -> None:
        from websockets.exceptions import ConnectionClosed

        try:
            while True:
                await self._line.send(await self._upstream.recv())
        except ConnectionClosed as end:
            code, reason = (
                (end.rcvd.code, end.rcvd.reason) if end.rcvd else (1011, "the upstream dropped the connection")
            )
            self._line.connection.closed(code, reason, "server" if end.rcvd else "drop")
            self._close(*((None, None) if code == _NO_CODE else (code, reason)))
        except Cut:
            self.close()


async def relay_exchange(
    settings: Settings, handler: "Http", path: str, connection: Connection, faults: Faults
) -> None:
    """Pass one HTTP exchange on, and its answer back as it comes.

    Raises:
        ApiError: 502 where the upstream cannot be reached.
        Cut: The upstream broke off in the middle of a stream, or a fault struck.
    """
    import httpx2

    request = handler.request
    url = f"{settings.upstream.rstrip('/')}/{path}" + (f"?{request.query}" if request.query else "")
    timeout = httpx2.Timeout(_READ, connect=_CONNECT)
    began = False
    try:
        async with (
            httpx2.AsyncClient(timeout=timeout, follow_redirects=False) as client,
            client.stream(
                request.method or "GET", url, headers=_headers(settings, request), content=request.body or None
            ) as answer,
        ):
            handler.set_status(answer.status_code)
            for name in _PASSED_BACK:
                if name in answer.headers:
                    handler.set_header(name, answer.headers[name])
            began = "text/event-stream" in answer.headers.get("content-type", "")
            await (_stream_back if began else _whole_back)(handler, answer, connection, faults)
    except httpx2.HTTPError as error:
        if began:
            raise Cut from None
        raise _unreachable(settings, error) from None


async def _whole_back(handler: "Http", answer: "httpx2.Response", connection: Connection, faults: Faults) -> None:
    body = await answer.aread()
    connection.frame("server", str(answer.status_code), _shown(body))
    handler.finish(body or None)  # an answer without a body (204) takes not even an empty one


def _shown(body: bytes) -> Any:
    """Return an answer as the log has it: JSON, else text, and the size of anything else."""
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        pass
    try:
        return {"text": body.decode()}
    except UnicodeDecodeError:
        return {"bytes": len(body)}


async def _stream_back(handler: "Http", answer: "httpx2.Response", connection: Connection, faults: Faults) -> None:
    send = Sse(handler, connection, faults)
    async for event in _events(answer):
        if event == "[DONE]":
            await send.raw("data: [DONE]\n\n")
            break  # nothing follows, and a client leaves with it
        await send.line.send(event)
    handler.finish()


async def _events(answer: "httpx2.Response") -> AsyncIterator[str]:
    """Yield the data of each server-sent event (a data field may take several lines)."""
    data: list[str] = []
    async for line in answer.aiter_lines():
        if line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif not line and data:
            yield "\n".join(data)
            data = []


def _refused(status: int, body: bytes) -> ApiError:
    fallback: dict[str, Any] = {"message": f"The upstream refused the connection with status {status}."}
    try:
        found = json.loads(body)["error"]
        error = found if isinstance(found, dict) else fallback
    except (ValueError, KeyError, TypeError):
        error = fallback
    return ApiError(
        str(error.get("message") or fallback["message"]),
        status=status,
        type=str(error.get("type") or "invalid_request_error"),
        code=error.get("code"),
        param=error.get("param"),
    )


def _no_socket(settings: Settings, status: int) -> ApiError:
    from .settings import shown

    return ApiError(
        f"The upstream at {shown(settings.upstream)} serves no WebSocket at /responses (it answered the handshake with "
        f"status {status}). Ask it over HTTP, which is openai-agents' own default: "
        'set_default_openai_responses_transport("http").',
        status=501,
        type="server_error",
        code="websocket_not_supported",
    )


def _unreachable(settings: Settings, error: BaseException) -> ApiError:
    from .settings import shown

    return ApiError(
        f"The upstream at {shown(settings.upstream)} cannot be reached ({type(error).__name__}). Is it running, and is "
        "its address right?",
        status=502,
        type="server_error",
        code="upstream_unreachable",
    )
