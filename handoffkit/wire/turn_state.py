"""What the turn tracker remembers of a connection: turns that are open, and what was sent and not yet answered."""

from collections import deque
from dataclasses import dataclass, field
from typing import Any, Literal

from .frames import obj, text

Verdict = Literal["complete", "interrupted", "failed"]

ALREADY_ACTIVE = "conversation_already_has_active_response"
"""The error code for a `response.create` that comes while a response is under way: the client may ask again."""
EMPTY_COMMIT = "input_audio_buffer_commit_empty"
"""The error code for a commit without enough sound."""


@dataclass(slots=True, eq=False)
class Words:
    """An item of the caller's. The service may name it only later."""

    id: str | None


@dataclass(slots=True, eq=False)
class OpenTurn:
    """A turn that has not ended."""

    start_seq: int
    start_at: float
    caller: bool = True
    ordinal: int = 0
    """0 until it is sure that a reply is owed."""
    words: list[Words] = field(default_factory=list)
    responses: list[str] = field(default_factory=list)
    requests: int = 0
    """How many `response.create` for it are neither begun nor refused."""
    active: int = 0
    """How many of its responses are under way."""
    calls: dict[str, str] = field(default_factory=dict)
    """The tool calls without an output: call id and name."""
    owes: bool = False
    """The output of a tool was sent, and no reply to it was asked for."""
    refused: str = ""
    """The service refused to reply because it was replying; the client may ask again."""
    spoiled: str = ""
    """The service refused the caller's words, so whatever it says is no answer to them."""
    last: tuple[Verdict, str] = ("complete", "")
    """How its last response ended."""
    first_at: float | None = None
    """When the first sound or text of the reply came, in seconds."""

    def outstanding(self) -> str | None:
        """Say what the turn waits for, in words that follow "while"; None if for nothing."""
        if self.active:
            return "a reply is under way"
        if self.requests:
            return "a reply was asked for and has not begun"
        if self.calls:
            return f"the tool {next(iter(self.calls.values()))} has not returned anything"
        if self.owes:
            return "the output of a tool was sent and no reply to it has been asked for"
        if self.refused:
            return f"the service has refused to reply so far ({self.refused})"
        return None


@dataclass(slots=True, eq=False)
class Request:
    """A `response.create` that the service has neither begun to answer nor refused."""

    event_id: str | None
    turns: list[OpenTurn]
    outside: bool
    """True for a response outside the conversation, which answers no turn."""
    options: dict[str, Any]
    """What it asked for besides, as sent."""

    @property
    def metadata(self) -> Any:
        """What the service sends back with the response."""
        return self.options.get("metadata")


@dataclass(slots=True, eq=False)
class Response:
    """A response under way."""

    turns: list[OpenTurn]
    calls: list[str] = field(default_factory=list)
    items: set[str] = field(default_factory=set)
    cut: bool = False
    """The client cut off what was said of it so far."""


class Requests:
    """The requests for a reply that are under way, oldest first."""

    def __init__(self) -> None:
        self._all: list[Request] = []
        self.last_sent: Request | None = None
        """The last thing that the client sent, if that was a request."""

    def __bool__(self) -> bool:
        return bool(self._all)

    def add(self, request: Request) -> None:
        """Take a request that was just sent."""
        self._all.append(request)
        self.last_sent = request
        for turn in request.turns:
            turn.requests += 1

    def take(self, request: Request) -> Request:
        """Take out a request that has begun or was refused."""
        self._all.remove(request)
        for turn in request.turns:
            turn.requests -= 1
        return request

    def answered_by(self, response: dict[str, Any], sound_waits: bool) -> Request | None:
        """Take out the request that *response* answers; None if the service replies by itself (voice detection)."""
        outside = "conversation_id" in response and response["conversation_id"] is None
        fitting = [request for request in self._all if request.outside == outside]
        if outside and not fitting:  # a service that names no conversation at all
            fitting = list(self._all)
        metadata = response.get("metadata")
        for request in fitting:
            if metadata and request.metadata == metadata:
                return self.take(request)
        if sound_waits and not metadata:
            # The service returns a request's metadata, and sound waits for an answer: this one it made by itself.
            fitting = [request for request in fitting if not request.metadata]
        return self.take(fitting[0]) if fitting else None

    def refused_by(self, event_id: str | None, code: str | None, about: str) -> Request | None:
        """Take out the request that an error is about: by its event id or, if it has none, by what the error says."""
        nameless = [request for request in self._all if request.event_id is None]
        # An error that names nothing is about the last thing that was sent.
        said = code == ALREADY_ACTIVE or about.startswith("response") or not about
        if event_id is not None:
            found = [request for request in self._all if request.event_id == event_id]
        elif nameless and said and (code == ALREADY_ACTIVE or about or self.last_sent is nameless[-1]):
            found = nameless[-1:]
        else:
            found = []
        return self.take(found[0]) if found else None


class Unconfirmed:
    """The caller's items that were sent and that the service has not confirmed, oldest first."""

    def __init__(self) -> None:
        self._sent: deque[tuple[str | None, Words]] = deque()

    def add(self, event_id: str | None, words: Words) -> Words:
        """Take an item that was just sent."""
        self._sent.append((event_id, words))
        return words

    def confirm(self, name: str) -> bool:
        """Name the first item that can be the one which the service calls *name*; False if there is none."""
        for entry in self._sent:
            if entry[1].id in (None, name):
                entry[1].id = name
                self._sent.remove(entry)
                return True
        return False

    def refused_by(self, event_id: str | None, about: bool) -> Words | None:
        """Take out what an error is about: by its event id or, if it has none and is *about* such items, the last."""
        for entry in reversed(self._sent):
            if entry[0] == event_id and (event_id is not None or about):
                self._sent.remove(entry)
                return entry[1]
        return None


def ending(response: dict[str, Any], cut: bool) -> tuple[Verdict, str]:
    """Read how a response ended: its status and, where the service gives them, reason and message."""
    details = obj(response, "status_details")
    reason = text(details, "reason") or ""
    match response.get("status"):
        case "cancelled" if reason == "turn_detected":
            return "interrupted", "the caller spoke over the reply"
        case "cancelled":
            return "interrupted", "the client cancelled the reply"
        case "failed":
            error = obj(details, "error")
            said = text(error, "message") or text(error, "code") or text(error, "type") or "no reason given"
            return "failed", f"the response failed: {said}"
        case "incomplete":
            return "failed", f"the response ended incomplete ({reason or 'no reason given'})"
    return ("interrupted", "the client cut the reply off") if cut else ("complete", "")
