"""The endpoint's address: WebSocket, HTTP and SSE on one port of 127.0.0.1.

The faces are the only I/O of the endpoint besides `relay`.
"""

from typing import Any

from tornado.httputil import HTTPServerRequest
from tornado.routing import PathMatches
from tornado.web import Application

from .face import Endpoint, Face
from .gate import admit
from .http import Http
from .protocol.api_error import ApiError
from .sockets import RealtimeSocket, ResponsesSocket

_LARGEST = 64 << 20  # bytes of one frame or one body


class Nowhere(Face):
    """Any other address."""

    def prepare(self) -> None:
        """Refuse, a stranger first."""
        try:
            admit(self.request, self.endpoint.token)
            raise ApiError(f"Invalid URL ({self.request.method} {self.request.path})", status=404)
        except ApiError as error:
            self.refuse(error)


class _Upgrade(PathMatches):
    """A path that serves a WebSocket beside what it serves over HTTP."""

    def match(self, request: HTTPServerRequest) -> dict[str, Any] | None:
        """Match a request that asks for a WebSocket."""
        return super().match(request) if request.headers.get("Upgrade", "").lower() == "websocket" else None


def application(endpoint: Endpoint) -> Application:
    """Build the web application around *endpoint*."""
    shared = {"endpoint": endpoint}
    return Application(
        [
            (r"/v1/realtime/?", RealtimeSocket, shared),
            (_Upgrade(r"/v1/responses/?"), ResponsesSocket, shared),
            (r"/v1/(.*)", Http, shared),
            (r"/.*", Nowhere, shared),
        ],
        websocket_max_message_size=_LARGEST,
        websocket_ping_interval=None,
        log_function=lambda handler: None,
    )
