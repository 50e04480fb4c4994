"""The kinds of marks: what can have happened in a call, each a frozen dataclass that says it in one sentence.

`marks.py` makes them from the frames of the wire; the kernel posts some of them itself.
"""

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from .wire.frames import Frame

AGENT = "agent"
"""The kind of the mark that names the agent which a call begins with: `{"name": "Front"}`. The wire does not tell."""


@dataclass(frozen=True, slots=True)
class Mark:
    """What every mark has."""

    kind: ClassVar[str] = "mark"
    at: float
    """Seconds since the log began."""
    conn: str = ""
    """The connection that it is about."""


@dataclass(frozen=True, slots=True)
class TurnComplete(Mark):
    """A turn has its whole reply."""

    kind: ClassVar[str] = "turn_complete"
    ordinal: int = 0
    """1, 2, …: the turn's number within its connection."""
    caller: bool = True
    """False where the agent spoke without being asked."""
    first: float | None = None
    """Seconds from the caller's last word to the agent's first sound or text; None if there was none."""
    seconds: float = 0.0
    """Seconds from the caller's last word until the reply was complete."""
    messages: int = 1
    """How many messages of the caller's it answers: an SDK may ask for one reply to several."""

    def __str__(self) -> str:
        who = f"Turn {self.ordinal}" if self.caller else f"The agent's own turn {self.ordinal}"
        reply = f"the one reply to {self.messages} messages" if self.messages > 1 else "the reply"
        first = "" if self.first is None else f", the first of it after {_ms(self.first)}"
        return f"{who} is complete: {reply} took {_ms(self.seconds)}{first}."


@dataclass(frozen=True, slots=True)
class TurnFailed(Mark):
    """A turn will get no complete reply."""

    kind: ClassVar[str] = "turn_failed"
    ordinal: int = 0
    """1, 2, …: the turn's number within its connection."""
    caller: bool = True
    """False where the agent was to speak without being asked."""
    reason: str = ""
    """Why, in plain words."""

    def __str__(self) -> str:
        return f"Turn {self.ordinal} got no complete reply{_why(self.reason)}."


@dataclass(frozen=True, slots=True)
class Interrupted(Mark):
    """A reply was cut off by the caller's choice."""

    kind: ClassVar[str] = "interrupted"
    item_id: str = ""
    """The reply's item; empty if it had none yet."""
    heard_ms: int | None = None
    """Milliseconds of it that were heard; None if the client did not say."""
    reason: str = ""
    """How it came about, in plain words."""

    def __str__(self) -> str:
        heard = (
            "" if self.heard_ms is None else f" after {self.heard_ms} ms" if self.heard_ms else " before it was heard"
        )
        return f"The reply was cut off{heard}{_why(self.reason)}."


@dataclass(frozen=True, slots=True)
class LiveHandoff(Mark):
    """Another agent has taken over in the same connection."""

    kind: ClassVar[str] = "live_handoff"
    to: str = ""
    """The new agent's name; empty where the wire does not tell."""
    instructions: str = ""
    """The instructions that are in force from here on."""
    by: str = ""
    """The name of the agent that had the call; empty where nobody has told."""
    before: str = ""
    """The instructions that were in force until here."""

    def __str__(self) -> str:
        return f"The call was handed to {self.to or 'an agent with other instructions'}."


@dataclass(frozen=True, slots=True)
class Extraction(Mark):
    """One request of a handoff was answered."""

    kind: ClassVar[str] = "extraction"
    label: str = ""
    """The handoff, `handoff-1`, …"""
    attempt: int = 1
    """1, 2, …: the request's number within the handoff."""
    status: str = "ok"
    """`ok`, or what went wrong in plain words."""
    start: float = 0.0
    """Seconds since the log began, when the request was sent."""
    seconds: float = 0.0
    """How long the answer took."""

    def __str__(self) -> str:
        how = "was answered" if self.status == "ok" else f"failed ({self.status})"
        return f"Attempt {self.attempt} of {self.label} {how} after {_ms(self.seconds)}."


@dataclass(frozen=True, slots=True)
class Inaudible(Mark):
    """Somebody spoke, and no words came of it."""

    kind: ClassVar[str] = "inaudible"
    item_id: str = ""
    reason: str = ""
    """Why, in plain words."""

    def __str__(self) -> str:
        return f"A spoken turn stays without words{_why(self.reason)}."


@dataclass(frozen=True, slots=True)
class Silence(Mark):
    """Nobody was heard where the agent should have spoken; posted by the kernel."""

    kind: ClassVar[str] = "silence"
    seconds: float = 0.0
    """How long nothing was heard."""
    reason: str = ""
    """What should have been heard, and what was done."""

    def __str__(self) -> str:
        return f"Nothing was heard for {self.seconds:g} s{_why(self.reason)}."


@dataclass(frozen=True, slots=True)
class ForgottenAwait(Mark):
    """A verb was called and not awaited, so nothing happened."""

    kind: ClassVar[str] = "forgotten_await"
    what: str = ""
    """The verb, `RealtimeSession.send_message`."""
    undone: str = ""
    """What was not done, in plain words."""

    def __str__(self) -> str:
        return f"`{self.what}` was called without `await`{_why(self.undone)}."


@dataclass(frozen=True, slots=True)
class CallEnded(Mark):
    """A realtime connection is closed."""

    kind: ClassVar[str] = "call_ended"
    how: str = ""
    """Who ended it and how, in plain words."""
    clean: bool = True
    """True if the client hung up."""

    def __str__(self) -> str:
        return f"The call ended{_why(self.how)}."


@dataclass(frozen=True, slots=True)
class OtherMark(Mark):
    """A mark of a kind that this version does not know."""

    name: str = ""
    """The kind, as it was posted."""
    data: dict[str, Any] = field(default_factory=dict)
    """Its fields, as they were posted."""

    def __str__(self) -> str:
        said = ", ".join(f"{key} {value}" for key, value in self.data.items())
        return f"{self.name.replace('_', ' ').capitalize()}{f': {said}' if said else ''}."


_KINDS: dict[str, type[Mark]] = {
    kind.kind: kind
    for kind in (
        *(TurnComplete, TurnFailed, Interrupted, LiveHandoff, Extraction, Inaudible, Silence, CallEnded),
        ForgottenAwait,
    )
}


def posted(frame: Frame, data: dict[str, Any] | None = None) -> Mark:
    """Return the mark that a frame of the channel `mark` carries; of an unknown kind, an `OtherMark`."""
    data = frame.data if data is None else data
    conn = data["conn"] if isinstance(data.get("conn"), str) else frame.conn
    if (kind := _KINDS.get(frame.event)) is None:
        return OtherMark(frame.at, conn, frame.event, {k: v for k, v in data.items() if k != "conn"})
    known = {f.name: f.default for f in fields(kind) if f.name not in ("at", "conn")}
    return kind(frame.at, conn, **{k: v for k, v in data.items() if k in known and _fits(v, known[k])})


def _fits(value: Any, default: Any) -> bool:
    """Say whether a posted value is of a field's kind, which its default shows; None stands for a number or nothing."""
    if default is None or (isinstance(default, int | float) and not isinstance(default, bool)):
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, type(default))


def _why(reason: str) -> str:
    """Return a reason as the end of a sentence; a service's own words often bring their full stop."""
    return f": {reason.rstrip('. ')}" if reason else ""


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
