"""Turns and marks as bars in lanes: what the timeline draws, in seconds, before anything is drawn."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..marks import CallEnded, Extraction, ForgottenAwait, LiveHandoff, Mark, OtherMark, Silence, TurnFailed
from ..wire.conversation import Turn
from .html import one_line
from .scale import Span, duration
from .voices import NAME_LIMIT, Cast, Reign, Takeover, Voice, cast

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
    look: Literal["plain", "inaudible", "failed", "late"] = "plain"
    """`late`: said after a handoff, under the instructions before it."""

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
    voice: int | None = None
    """Which of `Score.voices` has the call from here on, where somebody takes over."""


@dataclass(frozen=True, slots=True)
class Score:
    """Everything that the timeline of a call shows."""

    bars: tuple[Bar, ...]
    gaps: tuple[Span, ...]
    """From a caller's last word to the first of the reply."""
    flags: tuple[Flag, ...]
    voices: tuple[Voice, ...]
    """The agents, or the different instructions that agents spoke under, in order."""
    reigns: tuple[Reign, ...] = ()
    """Which voice was in force when, where a call was handed over."""
    takeovers: tuple[Takeover, ...] = ()
    """Live handoffs, each with the wait from the caller's last word to the new agent's first."""
    seeded: int = 0
    """Turns that were given as history: they have no time of their own."""

    @property
    def waits(self) -> list[tuple[Span, int]]:
        """The waits for a new agent that are none of `gaps`, since the old one spoke first: each with the new voice."""
        return [(each.wait, each.voice) for each in self.takeovers if each.wait and each.wait not in self.gaps]

    @property
    def busy(self) -> list[Span]:
        """When something happened, in seconds."""
        waits = (wait for wait, _ in self.waits)
        return [*(bar.span for bar in self.bars), *self.gaps, *waits, *((flag.at, flag.at) for flag in self.flags)]


def score(turns: Sequence[Turn], marks: Sequence[Mark]) -> Score:
    """Lay out *turns* (in the order of the conversation) and *marks*."""
    said = [(number, turn) for number, turn in enumerate(turns, 1) if not turn.seeded]
    who = cast(turns, marks)
    bars = [_bar(number, turn, end, who) for (number, turn), end in zip(said, _ends(said), strict=True)]
    bars += [
        Bar("tools", tool.start, tool.start if tool.end is None else tool.end, tool.name)
        for _, turn in said
        for tool in turn.tools
    ]
    bars += [_extraction(mark) for mark in marks if isinstance(mark, Extraction)]
    flags = tuple(flag for mark in marks for flag in _flags(mark, who))
    return Score(
        bars=tuple(bars),
        gaps=tuple(_gaps(said)),
        flags=flags,
        voices=who.voices,
        reigns=_heard_out(who, [(turn.conn, bar.end) for (_, turn), bar in zip(said, bars, strict=False)]),
        takeovers=who.takeovers,
        seeded=len(turns) - len(said),
    )


def _heard_out(who: Cast, ends: Sequence[tuple[str, float]]) -> tuple[Reign, ...]:
    """Return who had the call when; the last one had it until the last sound was heard, by connection in *ends*."""
    last = {reign.conn: reign for reign in who.reigns}
    heard = {conn: max(end for each, end in ends if each == conn) for conn in dict.fromkeys(conn for conn, _ in ends)}
    return tuple(
        replace(reign, end=max(reign.end, heard.get(reign.conn, reign.end))) if reign is last[reign.conn] else reign
        for reign in who.reigns
    )


def _bar(number: int, turn: Turn, end: float, who: Cast) -> Bar:
    words = "[inaudible]" if turn.inaudible else turn.generated or turn.text
    cut = None
    if turn.interrupted:
        cut = turn.end if turn.heard_ms is None else min(turn.start + turn.heard_ms / 1000, end)
    look: Literal["plain", "inaudible", "late"] = "inaudible" if turn.inaudible else "plain"
    if who.is_late(turn):
        look = "late"
    return Bar(turn.speaker, turn.start, max(end, cut or end), words, number, who.voice_of(turn), cut, look)


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


def _flags(mark: Mark, who: Cast) -> Iterator[Flag]:
    match mark:
        case CallEnded(clean=True):
            yield Flag(mark.at, "call ended")
        case CallEnded():
            yield Flag(mark.at, f"✕ {mark.how}", bad=True)
        case LiveHandoff():
            voice = next(each.voice for each in who.takeovers if each.mark is mark)
            yield Flag(mark.at, f"→ {one_line(mark.to, NAME_LIMIT) or 'other instructions'}", voice=voice)
        case Silence():
            yield Flag(mark.at, f"silence, {duration(mark.seconds)}", bad=True)
        case ForgottenAwait():
            yield Flag(mark.at, f"✕ {mark.what.rpartition('.')[2]} without await", bad=True)
        case OtherMark(name="handoff_limit"):
            yield Flag(mark.at, "✕ handed on too often", bad=True)
        case TurnFailed():
            yield Flag(mark.at, f"✕ no reply: {mark.reason}", bad=True)
