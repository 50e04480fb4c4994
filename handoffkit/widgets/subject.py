"""What a panel is about: one call, or whatever passes on the wire; and how it stands.

Everything that a panel reads of a `Call` besides its verbs is read here.
"""

import contextlib
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import EndpointGone
from ..log import EventLog
from ..process import Endpoint
from .state.facts import VOICE_AGENT

if TYPE_CHECKING:
    from ..call import Call, Phase

_MARKED = 5.0  # seconds in which the endpoint takes a mark


class Subject:
    """A call, or a whole log, as a panel sees it.

    Args:
        endpoint: Who writes the log.
        call: The call; None for the whole log.

    Raises:
        EndpointGone: Nobody writes it any more.
    """

    def __init__(self, endpoint: Endpoint, call: "Call | None") -> None:
        self.endpoint, self.call = endpoint, call
        self.folder: Path = endpoint.folder if call is None else call.folder
        self.log: EventLog = endpoint.log(self.folder)
        self.label = "" if call is None else call.label
        self.hearing = _hearing(endpoint.mode, endpoint.tell("speech", self.folder, timeout=0))
        """Whether spoken turns are heard here, and if not, why and what to do."""

    @property
    def phase(self) -> "Phase":
        """How the call stands; a log is on for as long as its endpoint writes it."""
        if self.call is not None:
            return self.call.phase
        return "on" if self.endpoint.alive and self.endpoint.folder == self.folder else "ended"

    @property
    def early(self) -> str:
        """How the call ended, if nobody had hung up; else empty."""
        return "" if self.call is None else self.call.early

    @property
    def agent(self) -> str:
        """What the agent that a call begins with is called."""
        name = getattr(self.call and self.call.agent, "name", None)
        return str(name) if name and name != "agent" else VOICE_AGENT  # the SDK names one by a variable of its own

    @property
    def hears(self) -> bool:
        """Whether spoken turns are heard here, as far as is known."""
        return self.hearing[0]

    async def listens(self) -> bool:
        """See whether spoken turns are heard here; return whether that has changed."""
        before = self.hearing
        with contextlib.suppress(EndpointGone):
            self.hearing = _hearing(self.endpoint.mode, await self.endpoint.ask("speech", self.folder, timeout=0))
        return self.hearing != before

    @property
    def mine(self) -> list[str]:
        """The realtime connections that it is about, in order."""
        found = self.log.derived.conversations.values()
        return [one.conn for one in found if not self.label or one.label == self.label]

    def now(self) -> float:
        """Return the seconds since the log began."""
        started = self.log.header.get("started")
        return max(0.0, time.time() - started) if isinstance(started, int | float) else 0.0

    @property
    def busy(self) -> bool:
        """Whether a verb of a cell's, or of the panel's, waits for a reply."""
        return self.call is not None and self.call.busy

    @property
    def outstanding(self) -> bool:
        """Whether the agent is answering."""
        return self.call is not None and self.call.wire.outstanding is not None

    @property
    def expires(self) -> float | None:
        """When the service ends the session, on the log's clock; None if it does not say."""
        return None if self.call is None or self.phase in ("ready", "starting") else self.call.expires_at

    @property
    def approvals(self) -> list[dict[str, Any]]:
        """The tool calls that wait for a yes, as the page has them."""
        pending = [] if self.call is None else self.call.approvals.pending
        return [{"id": one.id, "name": one.name, "arguments": one.arguments} for one in pending]

    async def mark(self, kind: str, **data: Any) -> None:
        """Post a mark into the log; without an endpoint there is none."""
        question: dict[str, Any] = {"kind": kind, "data": data}
        if self.label:
            question["label"] = self.label
        with contextlib.suppress(EndpointGone):
            await self.endpoint.ask("mark", self.folder, bound=_MARKED, **question)

    async def grown(self, seq: int, seconds: float) -> None:
        """Wait until the log has frames after *seq*, *seconds* at most.

        Raises:
            EndpointGone: Nobody writes it any more.
        """
        await self.endpoint.ask("grew", self.folder, bound=seconds + _MARKED, seq=seq, timeout=seconds)


def _hearing(mode: str, answer: dict[str, Any]) -> tuple[bool, str]:
    """Say whether a service of this *mode*, or the endpoint that answered so, hears speech, and if not, why."""
    if mode == "live" or answer["hears"] or answer.get("state") == "loading":
        return True, ""
    why = answer["problem"] or "Speech is turned off in this session: call `hk.connect(speech=True)`."
    return False, f"Nothing here hears speech. {why} Typed turns work."
