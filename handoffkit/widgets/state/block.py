"""The rows of one connection, kept up to date: only what comes after the first change is made anew.

Turns come in the order of the conversation, marks in the order of time; each mark stands before the first turn that
began after it.
"""

from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import is_
from typing import NamedTuple, TypeGuard

from ...marks import Extraction, LiveHandoff, Mark
from ...wire.dialogue import Turn
from .row import Moment, Row, Setting, heading, mark_rows, turn_rows
from .safe import name

Voices = tuple[str, ...]
"""The different instructions that agents have spoken under, in the order in which they did."""


@dataclass(frozen=True, slots=True)
class Context:
    """What all rows of a connection depend on."""

    agent: str
    """The name of the first agent."""
    names: tuple[tuple[str, str], ...]
    """The other agents' instructions and names, as far as the wire tells them."""
    voices: Voices
    """Those of the connections before it."""
    simulated: bool
    sound: bool
    closed: bool
    title: str
    """What stands above the connection; empty where it is the only one."""
    began: float
    judged: tuple[tuple[str, int, bool], ...]
    """Attempts of handoffs whose output was valid, or not: label, number and verdict."""


class _Fold(NamedTuple):
    """What is known before a turn, so that rows can be made from there on."""

    rows: int
    marks: int
    latest: float
    """The latest start of a turn so far (s)."""
    waiting: float | None
    """When the caller's last word was said, if no reply has followed (s)."""
    voices: Voices
    voice: int
    """Whose turn was the last of the agent's: an index of `voices`; -1 if nobody's."""


@dataclass(slots=True, order=True)
class _Placed:
    at: float
    number: int
    """Its index among all marks of the log."""
    mark: Mark = field(compare=False)
    cut: bool = field(compare=False)
    """Whether the call broke off in a reply."""


class Block:
    """One connection's rows."""

    def __init__(self, conn: str) -> None:
        self.conn = conn
        self.rows: list[Row] = []
        self.turns: list[Turn] = []
        self._owners: list[Turn | None] = []
        self._bases: list[str] = []
        self._used: Counter[str] = Counter()
        self._marks: list[_Placed] = []
        self._folds: list[_Fold] = []
        self._context: Context | None = None
        self._spoken_at = -1
        """The index of the first turn that the caller spoke; -1 if there is none."""
        self._first_mark: float | None = None
        """The earliest of the marks that have come since the last time."""

    @property
    def voices(self) -> Voices:
        """The instructions that agents have spoken under so far, those of earlier connections first."""
        return self._folds[-1].voices if self._folds else ()

    def take(self, mark: Mark, number: int, *, cut: bool = False) -> None:
        """Take a mark that is about this connection, the one with the index *number* in the log."""
        at = mark.start if isinstance(mark, Extraction) else mark.at
        insort(self._marks, _Placed(at, number, mark, cut))
        self._first_mark = at if self._first_mark is None else min(at, self._first_mark)

    def forget_marks(self) -> None:
        """Begin without marks again, since they are to be given anew."""
        self._marks.clear()
        self._context = None

    def turn_of(self, key: str) -> Turn | None:
        """Return the turn whose row has the key *key*."""
        for row, owner in zip(reversed(self.rows), reversed(self._owners), strict=True):
            if row["k"] == key:
                return owner
        return None

    def update(self, turns: list[Turn], context: Context) -> int | None:
        """Take the turns as they are now; return the index of the first row made anew, None if none is."""
        changed = self._first_changed(turns)
        if context == self._context and changed is None and self._first_mark is None:
            return None
        first = self._from(turns, changed) if context == self._context else 0
        if not 0 <= self._spoken_at < first:
            self._spoken_at = next((n for n in range(first, len(turns)) if _is_spoken(turns[n])), -1)
            # A call that becomes a spoken one: the replies before that last as long as they sound.
            first = 0 if self._spoken_at >= 0 else first
        self.turns, self._context, self._first_mark = turns, context, None
        self._make(first, context)
        return self._folds[first].rows

    def _first_changed(self, turns: Sequence[Turn]) -> int | None:
        """Return the index of the first turn that is another than before; turns that stay are the same objects."""
        same = list(map(is_, self.turns, turns))
        if False in same:
            return same.index(False)
        return None if len(turns) == len(self.turns) else len(same)

    def _from(self, turns: Sequence[Turn], changed: int | None) -> int:
        """Return the first turn whose rows are to be made: the end of the one before hangs on the next one's start."""
        first = len(self._folds) - 1 if changed is None else changed
        while changed is not None and first > 0:
            first -= 1
            if not turns[first].seeded:
                break
        if self._first_mark is not None:
            later = bisect_right(self._folds, self._first_mark, key=lambda fold: fold.latest)
            first = min(first, max(0, later - 1))
        return first

    def _make(self, first: int, context: Context) -> None:
        """Make the rows of the turns from number *first* on, and of the marks among and behind them."""
        if first == 0:
            self._folds = [_Fold(0, 0, float("-inf"), None, context.voices, -1)]
        fold = self._folds[first]
        del self._folds[first + 1 :]
        self._cut(fold.rows)
        if first == 0 and context.title:
            self._add([heading(self.conn, context.title, context.began)], None)
        for number in range(first, len(self.turns)):
            turn = self.turns[number]
            fold = self._say(fold, turn, self._following(number), context)
            self._folds.append(fold)
        self._place(fold, float("inf"), context)

    def _following(self, number: int) -> float | None:
        """Return when the next turn began that was said in the call."""
        later = (self.turns[n].start for n in range(number + 1, len(self.turns)) if not self.turns[n].seeded)
        return next(later, None)

    def _say(self, fold: _Fold, turn: Turn, following: float | None, context: Context) -> _Fold:
        """Add the rows of a turn."""
        voices, voice, waiting = fold.voices, fold.voice, fold.waiting
        gap_ms = None
        if turn.speaker == "agent" and not turn.seeded:
            if turn.instructions not in voices:
                voices = (*voices, turn.instructions)
            voice = voices.index(turn.instructions)
            if waiting is not None and (turn.generated or turn.audio_ms):
                gap_ms = round((turn.start - waiting) * 1000) if turn.start > waiting else None
                waiting = None
        elif turn.speaker == "caller" and not turn.seeded:
            waiting = turn.end
        who, called = _who(turn, voices, context)
        setting = Setting(
            who=who,
            name=called,
            following=following,
            gap_ms=gap_ms,
            spoken=self._spoken_at >= 0,
            closed=context.closed,
            simulated=context.simulated,
            sound=context.sound,
        )
        for row in turn_rows(turn, name(self.conn), setting):
            fold = self._place(fold, min(row["at"], turn.start), context)  # a tool may come before its turn's words
            self._add([row], turn)
        return _Fold(len(self.rows), fold.marks, max(fold.latest, turn.start), waiting, voices, voice)

    def _place(self, fold: _Fold, before: float, context: Context) -> _Fold:
        """Add the rows of the marks that stand before the second *before*."""
        number = fold.marks
        while number < len(self._marks) and self._marks[number].at < before:
            placed = self._marks[number]
            key = f"{name(self.conn)}.mark.{placed.number}"
            self._add(list(mark_rows(placed.mark, key, self._moment(fold, placed, context))), None)
            number += 1
        return fold._replace(marks=number)

    def _moment(self, fold: _Fold, placed: _Placed, context: Context) -> Moment:
        mark = placed.mark
        voice = max(fold.voice, 0)
        later = fold.voices.index(mark.instructions) if _known(mark, fold.voices) else len(fold.voices)
        to = _voice_name(later, mark.instructions if isinstance(mark, LiveHandoff) else "", context)
        speaking = _voice_name(voice, fold.voices[voice] if fold.voices else "", context)
        judged = {(label, attempt): valid for label, attempt, valid in context.judged}
        valid = judged.get((mark.label, mark.attempt)) if isinstance(mark, Extraction) else None
        cut_ms = self.turns[-1].audio_ms if placed.cut and self.turns else None
        return Moment(who=f"a{later + 1}", speaking=speaking, name=to, valid=valid, cut_ms=cut_ms)

    def _cut(self, rows: int) -> None:
        self._used.subtract(self._bases[rows:])
        del self.rows[rows:], self._owners[rows:], self._bases[rows:]

    def _add(self, rows: list[Row], owner: Turn | None) -> None:
        """Add rows; a key that is taken gets a number, so that each is there once."""
        for row in rows:
            base = row["k"]
            if self._used[base]:
                row["k"] = f"{base}~{self._used[base]}"
            self._used[base] += 1
            self.rows.append(row)
            self._bases.append(base)
            self._owners.append(owner)


def _is_spoken(turn: Turn) -> bool:
    return turn.speaker == "caller" and turn.spoken and not turn.seeded


def _known(mark: Mark, voices: Voices) -> TypeGuard[LiveHandoff]:
    return isinstance(mark, LiveHandoff) and mark.instructions in voices


def _who(turn: Turn, voices: Voices, context: Context) -> tuple[str, str]:
    """Return who speaks, as the page has it, and the name."""
    if turn.speaker == "caller":
        return "c", "Caller"
    if turn.speaker == "operator":
        return "o", "Operator"
    voice = voices.index(turn.instructions) if turn.instructions in voices else 0
    return f"a{voice + 1}", _voice_name(voice, turn.instructions, context)


def _voice_name(voice: int, instructions: str, context: Context) -> str:
    if voice == 0:
        return name(context.agent)
    return name(dict(context.names).get(instructions, "")) or f"Agent {voice + 1}"
