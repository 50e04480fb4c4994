"""What a call has been so far: its log, turns, sound and pictures, and handing it off. The SDK has no part in it."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .log import EventLog
from .marks import Turn
from .process import Endpoint
from .wire.call_log import CallLog
from .wire.frames import obj

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

    from .audio import Sound
    from .extraction.result import HandoffResult
    from .views import Timeline, Transcript


class Recorded:
    """A call as the log has it.

    Args:
        endpoint: Where it passes.
        label: The call's name in the log, `call-1`.
    """

    def __init__(self, endpoint: Endpoint, label: str) -> None:
        self.label = label
        self._endpoint = endpoint
        self._folder = endpoint.folder
        self._wire = CallLog(endpoint.log(), label)
        self._expires: float | None = None
        self.on_handoff: Callable[[HandoffResult], None] | None = None
        """Is told the result of each handoff of this call: its panel shows it."""

    @property
    def endpoint(self) -> Endpoint:
        """The endpoint that the call passes."""
        return self._endpoint

    @property
    def folder(self) -> Path:
        """Where its log is written."""
        return self._folder

    @property
    def wire(self) -> CallLog:
        """How the call stands by the judgement of the wire."""
        return self._wire

    @property
    def log(self) -> EventLog:
        """What has passed so far in this call and in its handoffs, also what nobody has answered yet."""
        self._endpoint.settle(self._folder)
        return self._wire.frames

    @property
    def turns(self) -> list[Turn]:
        """Who has said what so far, in the order of the conversation."""
        return self._wire.turns

    @property
    def transcript(self) -> "Transcript":
        """Who has said what so far."""
        return self.log.transcript()

    @property
    def expires_at(self) -> float | None:
        """When the service ends the session, in seconds on the log's clock; None as long as it has not said so."""
        if self._expires is None:
            started = self._wire.log.header.get("started")
            greeting = next(iter(self._wire.log.filter("session.created", label=self.label)), None)
            says = obj(greeting.data, "session").get("expires_at") if greeting else None
            if isinstance(says, int | float) and isinstance(started, int | float):
                self._expires = says - started
        return self._expires

    def sound(self, turn: Turn) -> "Sound":
        """Return what was heard in a spoken *turn* of this call, to play in a notebook or to save as a WAV."""
        return self._wire.log.sound(turn)

    def timeline(self) -> "Timeline":
        """Draw who spoke when, with the gaps between in milliseconds."""
        return self.log.timeline()

    def messages(self) -> "list[ModelMessage]":
        """Return the conversation as pydantic-ai's message history, in the order in which it was spoken."""
        from .history import messages

        return messages(self.turns)

    async def handoff(self, agent: Any, prompt: str | None = None, **options: Any) -> "HandoffResult":
        """Hand the conversation so far to *agent* and return its typed result; see `handoffkit.handoff`."""
        from .handoff import handoff

        return await handoff(self, agent, prompt, **options)

    def save(self, path: str | Path, *, ticket: "HandoffResult | None" = None) -> Path:
        """Save the call as a folder (`call.jsonl`, `caller.wav`, `agent.wav`), which `hk.load` opens; return its path.

        Args:
            path: The folder; an older saved call there is replaced.
            ticket: The result of a handoff, which goes into `ticket.json`.

        Raises:
            SaveRefused: Something else is there, or the place cannot be written.
        """
        return self.log.save(path, ticket=None if ticket is None else ticket.to_json())

    async def mark(self, kind: str, **data: Any) -> None:
        """Write a mark of your own about this call into the log, among the frames of the wire.

        Args:
            kind: What it is, in small letters with underscores; the log shows it as words.
            data: JSON.

        Raises:
            EndpointGone: The endpoint process has ended.
        """
        await self._endpoint.ask("mark", self._folder, label=self.label, kind=kind, data=data)
