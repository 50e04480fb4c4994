"""Turns and marks as bars in lanes: what the timeline draws, in seconds, before anything is drawn."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ..marks import CallEnded, Extraction, LiveHandoff, Mark, Silence, TurnFailed
from ..wire.conversation import Turn
from .scale import Span, duration

Lane = Literal["operator", "caller", "agent", "tools", "extraction"]


@dataclass(frozen=True, slots=True)
class Bar:
    """Something that lasted, or a moment if `start` is `end`."""

    lane: Lane
    start: float
    """Seconds since the log began."""
    end: float
    words: str
    """What it was; untrusted."""
    number: int = 0
    """The turn's number, from 1; 0 for what is no turn."""
    voice: int = 0
    """0, 1, …: which of the instructions in `Score.voices` an agent spoke under."""
    cut: float | None = None
    """When a reply was cut off; what comes after it was not heard."""
    look: Literal["plain", "inaudible", "failed"] = "plain"

    @property
    def span(self) -> Span:
        """Start and end."""
        return self.start, self.end


@dataclass(frozen=True, slots=True)
class Flag:
    """Something that happened at a moment."""

    at: float
    words: str
    bad: bool = False
    """True for trouble."""


@dataclass(frozen=True, slots=True)
class Score:
    """Everything that the timeline of a call shows."""

    bars: tuple[Bar, ...]
    gaps: tuple[Span, ...]
    """From a caller's last word to the first of the reply."""
    flags: tuple[Flag, ...]
    voices: tuple[str, ...]
    """The different instructions that agents spoke under, in order."""
    seeded: int = 0
    """Turns that were given as history: they have no time of their own."""

    @property
    def busy(self) -> list[Span]:
        """When something happened, in seconds."""
        return [*(bar.span for bar in self.bars), *self.gaps, *((flag.at, flag.at) for flag in self.flags)]


def score(turns: Sequence[Turn], marks: Sequence[Mark]) -> Score:
    """Lay out *turns* (in the order of the conversation) and *marks*."""
    said = [(number, turn) for number, turn in enumerate(turns, 1) if not turn.seeded]
    voices = tuple(dict.fromkeys(turn.instructions for _, turn in said if turn.speaker == "agent"))
    bars = [_bar(number, turn, end, voices) for (number, turn), end in zip(said, _ends(said), strict=True)]
    bars += [
        Bar("tools", tool.start, tool.start if tool.end is None else tool.end, tool.name)
        for _, turn in said
        for tool in turn.tools
    ]
    bars += [_extraction(mark) for mark in marks if isinstance(mark, Extraction)]
    flags = tuple(flag for mark in marks for flag in _flags(mark))
    return Score(tuple(bars), tuple(_gaps(said)), flags, voices, len(turns) - len(said))


def _bar(number: int, turn: Turn, end: float, voices: Sequence[str]) -> Bar:
    words = "[inaudible]" if turn.inaudible else turn.generated or turn.text
    voice = voices.index(turn.instructions) if turn.speaker == "agent" else 0
    cut = None
    if turn.interrupted:
        cut = turn.end if turn.heard_ms is None else min(turn.start + turn.heard_ms / 1000, end)
    look: Literal["plain", "inaudible"] = "inaudible" if turn.inaudible else "plain"
    return Bar(turn.speaker, turn.start, max(end, cut or end), words, number, voice, cut, look)


def heard_until(turn: Turn, following: float | None, spoken: bool) -> float:
    """Return when a turn ended for those who listened (s).

    The sound of a reply arrives faster than it is played. In a spoken call its bar is as long as its sound, at most
    until the next turn begins; in a typed call nobody listens, and it ends when the last of it has arrived.

    Args:
        turn: Not a seeded one.
        following: When the next turn of its connection began (s), if there is one.
        spoken: Whether anybody has spoken in its connection.
    """
    if turn.speaker != "agent" or not spoken:
        return turn.end
    played = turn.start + turn.audio_ms / 1000
    limit = played if following is None else following
    return max(turn.end, played if turn.interrupted or limit <= turn.start else min(played, limit))


def _ends(said: Sequence[tuple[int, Turn]]) -> list[float]:
    """Return when each turn ended for those who listened (s)."""
    spoken = {turn.conn for _, turn in said if turn.speaker == "caller" and turn.spoken}
    next_start: dict[str, float] = {}
    ends = []
    for _, turn in reversed(said):
        ends.append(heard_until(turn, next_start.get(turn.conn), turn.conn in spoken))
        next_start[turn.conn] = turn.start
    return ends[::-1]


def _gaps(said: Sequence[tuple[int, Turn]]) -> Iterator[Span]:
    """Yield the wait before each reply, by connection."""
    waiting: dict[str, float] = {}
    for _, turn in said:
        if turn.speaker == "caller":
            waiting[turn.conn] = turn.end
        elif turn.speaker == "agent" and (since := waiting.pop(turn.conn, None)) is not None and turn.start > since:
            yield since, turn.start


def _extraction(mark: Extraction) -> Bar:
    """Return the bar of an attempt: whether its answer was valid, the wire does not say."""
    words = mark.label.rpartition("/")[2] or "extraction"
    words += f", attempt {mark.attempt}" * (mark.attempt > 1)
    if mark.status == "ok":
        return Bar("extraction", mark.start, mark.start + mark.seconds, words)
    return Bar("extraction", mark.start, mark.start + mark.seconds, f"✕ {words}: {mark.status}", look="failed")


def _flags(mark: Mark) -> Iterator[Flag]:
    match mark:
        case CallEnded(clean=True):
            yield Flag(mark.at, "call ended")
        case CallEnded():
            yield Flag(mark.at, f"✕ {mark.how}", bad=True)
        case LiveHandoff():
            yield Flag(mark.at, f"→ {mark.to or 'other instructions'}")
        case Silence():
            yield Flag(mark.at, f"silence, {duration(mark.seconds)}", bad=True)
        case TurnFailed():
            yield Flag(mark.at, f"✕ no reply: {mark.reason}", bad=True)
