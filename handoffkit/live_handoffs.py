"""What one call does about its live handoffs: names in the log, no silence after them, no endless round.

It listens to the session's transfers; a session of pydantic-ai has none.
"""

import asyncio
import contextlib
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import BadLimit, EndpointGone, HandoffLimit
from .process import Endpoint
from .silence import Silence
from .transfers import Transfers
from .wire.call_log import CallLog

if TYPE_CHECKING:
    from .sdk.session import Session

_MARKED = 5.0  # seconds in which the endpoint takes a mark


class LiveHandoffs:
    """Follows the live handoffs of one call.

    Args:
        session: The SDK's session.
        wire: The call, as the log has it.
        endpoint: Where it passes.
        folder: The log's.
        seconds: How long an agent that takes over may be silent.

    Raises:
        BadLimit: *seconds* is no time.
    """

    def __init__(self, session: "Session", wire: CallLog, endpoint: Endpoint, folder: Path, seconds: float) -> None:
        if not 0 < seconds < float("inf"):
            raise BadLimit("silence_seconds", seconds, "a number of seconds above 0")
        self._wire, self._endpoint, self._folder = wire, endpoint, folder
        self._silence = Silence(wire, endpoint, folder, seconds, session.asks)
        self._marking: set[asyncio.Task[None]] = set()
        self._transfers: Transfers | None = getattr(session, "transfers", None)
        if self._transfers is not None:
            self._transfers.on_transfer = self._silence.watch
            self._transfers.on_limit = self._limited
            self._transfers.on_ignored = lambda name: self._mark("handoff_ignored", kept=name)

    def begin(self, agent: Any) -> None:
        """Say who has the call at first, which the wire does not tell, where others may have it later."""
        if self._transfers is not None:
            self._mark("agent", name=str(agent.name))

    async def end(self) -> None:
        """Follow nothing any more; what is to stand in the log stands there then."""
        self._silence.stop()
        if self._marking:
            await asyncio.wait(self._marking, timeout=_MARKED)

    def _limited(self, names: list[str]) -> None:
        warnings.warn(HandoffLimit(names), stacklevel=2)
        self._mark("handoff_limit", names=names)

    def _mark(self, kind: str, **data: Any) -> None:
        task = asyncio.create_task(self._write(kind, data), name="handoffkit mark")
        self._marking.add(task)
        task.add_done_callback(self._marking.discard)

    async def _write(self, kind: str, data: dict[str, Any]) -> None:
        conversation = self._wire.conversation
        told = {"conn": conversation.conn, **data} if conversation else data
        with contextlib.suppress(EndpointGone):
            await self._endpoint.ask("mark", self._folder, label=self._wire.label, kind=kind, data=told)
