"""The rows of one connection, kept up to date: only what comes after the first change is made anew.

Turns come in the order of the conversation, marks in the order of time; each mark stands before the first turn that
began after it.
"""

from bisect import bisect_right, insort
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile
from operator import is_
from typing import NamedTuple

from ...marks import Extraction, LiveHandoff, Mark
from ...views.voices import Key, cast, is_late, key_of
from ...wire.dialogue import Turn
from .row import Moment, Row, Setting, heading, mark_rows, turn_rows
from .safe import name

_LOOK = 12
"""Turns before and after a live handoff in which the caller's last words and the new agent's first are looked for."""

Voices = tuple[Key, ...]
"""Who has spoken, in the order in which they did: agents, or the instructions of those whom nobody named."""


@dataclass(frozen=True, slots=True)
class Context:
    """What all rows of a connection depend on."""

    agent: str
    """The name of the first agent."""
    names: tuple[tuple[str, str], ...]
    """Instructions and names of agents that other connections have told."""
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
    holder: int
    """Who has the call: an index of `voices`; -1 before the first reply."""


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
        self._handed: list[LiveHandoff] = []
        self._unheard = -1
        """The turn before which the last handoff stands whose new agent was not heard yet."""
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

    def who(self, agent: str, instructions: str) -> str:
        """Return who made a reply, `a1`, `a2`, …, as far as it is known; else `a1`."""
        key = _key(agent, instructions, self._context) if self._context else None
        return f"a{self.voices.index(key) + 1}" if key and key in self.voices else "a1"

    def take(self, mark: Mark, number: int, *, cut: bool = False) -> None:
        """Take a mark that is about this connection, the one with the index *number* in the log."""
        at = mark.start if isinstance(mark, Extraction) else mark.at
        insort(self._marks, _Placed(at, number, mark, cut))
        if isinstance(mark, LiveHandoff):
            known = self._handed and self._first_name()
            insort(self._handed, mark, key=lambda one: one.at)
            if known != self._first_name():  # the first agent is named only now, by whom hands the call back
                self._context = None
        self._first_mark = at if self._first_mark is None else min(at, self._first_mark)

    def forget_marks(self) -> None:
        """Begin without marks again, since they are to be given anew."""
        self._marks.clear()
        self._handed.clear()
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
        if 0 <= self._unheard < first < self._unheard + _LOOK:
            first = self._unheard
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
        voices, waiting = self._heard_of(fold, turn.start, context), fold.waiting
        gap_ms = None
        if turn.speaker == "agent" and not turn.seeded:
            voices = _with(voices, _key(turn.agent, turn.instructions, context))
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
            late=is_late(turn, self._handed),
        )
        for row in turn_rows(turn, name(self.conn), setting):
            fold = self._place(fold, min(row["at"], turn.start), context)  # a tool may come before its turn's words
            self._add([row], turn)
        voices = _with(fold.voices, *voices)
        holder = fold.holder
        if holder < 0 and turn.speaker == "agent" and not turn.seeded:
            holder = voices.index(_key(turn.agent, turn.instructions, context))
        return _Fold(len(self.rows), fold.marks, max(fold.latest, turn.start), waiting, voices, holder)

    def _place(self, fold: _Fold, before: float, context: Context) -> _Fold:
        """Add the rows of the marks that stand before the second *before*."""
        number = fold.marks
        while number < len(self._marks) and self._marks[number].at < before:
            placed = self._marks[number]
            key = f"{name(self.conn)}.mark.{placed.number}"
            moment, fold = self._moment(fold, placed, context)
            self._add(list(mark_rows(placed.mark, key, moment)), None)
            number += 1
        return fold._replace(marks=number)

    def _moment(self, fold: _Fold, placed: _Placed, context: Context) -> tuple[Moment, _Fold]:
        """Return what the row of a mark depends on, and who has spoken and has the call from there on."""
        mark = placed.mark
        judged = {(label, attempt): valid for label, attempt, valid in context.judged}
        valid = judged.get((mark.label, mark.attempt)) if isinstance(mark, Extraction) else None
        cut_ms = self.turns[-1].audio_ms if placed.cut and self.turns else None
        moment = Moment(who="o", speaking="", name="", gap_ms=None, valid=valid, cut_ms=cut_ms)
        if not isinstance(mark, LiveHandoff):
            return moment, fold
        if fold.holder < 0:
            before = self._first(context)
            voices = _with(fold.voices, before)
            fold = fold._replace(voices=voices, holder=voices.index(before))
        speaking = _voice_name(fold.holder, fold.voices, context)
        now = _key(mark.to, mark.instructions, context)
        voices = _with(fold.voices, now)
        holder = voices.index(now)
        moment["who"], moment["gap_ms"] = f"a{holder + 1}", self._wait(mark)
        moment["speaking"], moment["name"] = speaking, _voice_name(holder, voices, context)
        return moment, fold._replace(voices=voices, holder=holder)

    def _heard_of(self, fold: _Fold, before: float, context: Context) -> Voices:
        """Return who has spoken or has had the call before a moment (s)."""
        fresh = takewhile(lambda placed: placed.at < before, islice(self._marks, fold.marks, None))
        handed = [placed.mark for placed in fresh if isinstance(placed.mark, LiveHandoff)]
        first = [self._first(context)] if handed and fold.holder < 0 else []
        return _with(fold.voices, *first, *(_key(mark.to, mark.instructions, context) for mark in handed))

    def _first(self, context: Context) -> Key:
        """Return who had the call before it was handed over."""
        return _key(self._first_name(), self._handed[0].before, context)

    def _first_name(self) -> str:
        """Return the name of who had the call before it was handed over, also where it was named later."""
        first = self._handed[0]
        names = (mark.to for mark in self._handed if mark.to and mark.instructions == first.before)
        return first.by or next(names, "")

    def _wait(self, mark: LiveHandoff) -> int | None:
        """Return how long the caller waited for who takes over (ms); None if that cannot be told, or not yet."""
        number, which = len(self._folds) - 1, self._handed.index(mark)
        found = cast(self.turns[max(0, number - _LOOK) : number + _LOOK], self._handed[which : which + 2])
        wait = found.takeovers[0].wait
        if wait is None:
            self._unheard = number
        return None if wait is None else round((wait[1] - wait[0]) * 1000)

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


def _key(agent: str, instructions: str, context: Context) -> Key:
    return key_of(agent or dict(context.names).get(instructions, ""), instructions)


def _with(voices: Voices, *more: Key) -> Voices:
    return tuple(dict.fromkeys((*voices, *more)))


def _who(turn: Turn, voices: Voices, context: Context) -> tuple[str, str]:
    """Return who speaks, as the page has it, and the name."""
    if turn.speaker == "caller":
        return "c", "Caller"
    if turn.speaker == "operator":
        return "o", "Operator"
    key = _key(turn.agent, turn.instructions, context)
    voice = voices.index(key) if key in voices else 0
    return f"a{voice + 1}", _voice_name(voice, voices, context)


def _voice_name(voice: int, voices: Voices, context: Context) -> str:
    """Return what an agent is called: by its name, the first one as the panel calls it, else by its number."""
    told = voices[voice][0] if voice < len(voices) else ""
    return name(told or (context.agent if voice == 0 else f"Agent {voice + 1}"))
