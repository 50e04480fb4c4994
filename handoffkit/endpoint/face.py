"""What all faces of the endpoint share: who answers now, the log that is being written, how a stranger is refused.

A face is a handler of tornado's; `http` and `sockets` are the two kinds. It admits a request, has the tap write it
down, and hands it to who answers.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from tornado.web import RequestHandler

from .faults import Fault, Faults
from .protocol.api_error import ApiError
from .protocol.store import Store
from .settings import Settings
from .speech.loading import Speech
from .tap import Connection, Tap

HANDOFF = "x-handoffkit-handoff"
"""The header by which the requests of a handoff are told apart; it stays here."""


class Endpoint:
    """What all handlers share: who answers now, and the log that is being written."""

    def __init__(self, token: str) -> None:
        self.token = token
        self.taps: dict[str, Tap] = {}
        self.settings: Settings
        self.tap: Tap
        self.speech: Speech | None = None
        self.era = -1
        """How often it was configured before."""
        self.clients: dict[tuple[str, str], Callable[[str], Awaitable[None]]] = {}
        """By log and connection: what takes the frames of an open realtime connection's client."""

    def configure(self, settings: Settings) -> None:
        """Begin anew with *settings*: a new log, new faults, an empty store. Open connections keep the old ones."""
        self.settings = settings
        self.era += 1
        self.faults = Faults(list(settings.faults))
        self.store = Store()
        for tap in self.taps.values():
            tap.rest()
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


class Face(RequestHandler):
    """What all handlers do alike: admit, refuse as the service would, and suffer what a fault does."""

    def initialize(self, endpoint: Endpoint) -> None:
        """Take what all handlers share; tornado calls this."""
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
