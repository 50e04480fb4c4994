"""A log, or its turns, as a transcript: who said what, in the order of the conversation."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Literal, Protocol

from ..marks import Mark
from ..wire.conversation import ToolUse, Turn
from .html import Markup, escape, isolated, join, lines, one_line, shorten, table, tag, visible
from .summary import call
from .voices import LATE, Cast, Takeover, cast

WORDS_LIMIT = 2_000
"""Characters of a turn that are shown."""
TOOL_LIMIT = 300
"""Characters of a tool's call, and of its output, that are shown."""

WIDTH = 10
"""Columns of who speaks, at least."""

_NOTHING = "Nothing has been said yet."
_SPEAKERS = {"caller": "Caller", "agent": "Agent", "operator": "Operator"}


class HasTurns(Protocol):
    """A log, as far as a transcript needs one."""

    @property
    def turns(self) -> list[Turn]:
        """The turns, in the order of the conversation."""
        ...


def transcript(
    log: HasTurns | Iterable[Turn],
    *,
    times: bool = False,
    heard: bool = True,
    numbers: bool = False,
    limit: int | None = WORDS_LIMIT,
) -> "Transcript":
    """Show what was said in *log*, or in the turns given, as it is now.

    Where several agents speak, each has its name beside its turns, as far as it is known. Of a log it is shown, too,
    where one agent handed the call to another.

    Args:
        log: A log or its turns.
        times: Show when each turn began, in minutes, seconds and tenths since the log began. Off, because it differs
            on every run.
        heard: Show how many seconds were heard of a reply that was interrupted (on a live call they differ, too).
        numbers: Number the turns as the timeline does.
        limit: Characters shown of one turn; None for all of them.
    """
    given: Any = log
    marks = tuple(getattr(given, "marks", ()))
    return Transcript(tuple(getattr(given, "turns", given)), times, heard, numbers, limit, marks)


@dataclass(frozen=True, slots=True)
class _Entry:
    """One row: words of one side, or one use of a tool."""

    leads: tuple[str, ...]
    """Number and time, as far as they are shown."""
    who: str
    words: str
    notes: tuple[str, ...] = ()
    """What we say about the words, shown in brackets."""
    unheard: str = ""
    """Words that the model made and nobody heard; shown struck, where that can be shown."""
    kind: Literal["words", "tool", "line"] = "words"
    """`line`: what happened between two turns; its words are ours but for a name."""
    at: float = 0.0
    """When it began, in seconds since the log began."""


@dataclass(frozen=True, slots=True, repr=False)
class Transcript:
    """What was said: print it, or show it as a cell's last line. The options are those of `transcript`."""

    turns: tuple[Turn, ...]
    times: bool = False
    heard: bool = True
    numbers: bool = False
    limit: int | None = WORDS_LIMIT
    marks: tuple[Mark, ...] = ()

    def __str__(self) -> str:
        return "\n".join(line for title, entries in self._calls() for line in _plain(title, entries)) or _NOTHING

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = ["#"] * self.numbers + ["Time"] * self.times + ["Speaker", "Words"]
        parts = (
            part
            for title, entries in self._calls()
            for part in (title and tag("p", tag("strong", escape(title))), table(head, map(_row, entries)))
        )
        return "".join(parts) or tag("p", tag("em", escape(_NOTHING)))

    def _calls(self) -> Iterator[tuple[str, list[_Entry]]]:
        """Yield the rows by connection, with a title if there are several connections."""
        who = cast(self.turns, self.marks)
        told: set[str] = set()
        groups = [(conn, list(turns)) for conn, turns in groupby(enumerate(self.turns, 1), lambda pair: pair[1].conn)]
        for conn, turns in groups:
            label = turns[0][1].label
            title = f"{label or 'Connection'} ({conn})" if len(groups) > 1 else ""
            entries = [entry for number, turn in turns for entry in self._entries(number, turn, who)]
            handed = [each for each in who.takeovers if each.mark.conn == conn]
            yield title, list(self._among(entries, handed if conn not in told else []))
            told.add(conn)

    def _among(self, entries: Sequence[_Entry], handed: Sequence[Takeover]) -> Iterator[_Entry]:
        """Yield *entries*, and each handoff before the first of them that came after it."""
        left = list(handed)
        for entry in entries:
            while left and left[0].mark.at < entry.at:
                yield self._line(left.pop(0))
            yield entry
        yield from map(self._line, left)

    def _line(self, takeover: Takeover) -> _Entry:
        leads = ("",) * self.numbers + (_clock(takeover.mark.at),) * self.times
        notes: tuple[str, ...] = ()
        if self.times and takeover.wait:
            start, end = takeover.wait
            notes = (f"{(end - start) * 1000:,.0f} ms from the caller's last word to the new agent's first",)
        return _Entry(leads, "—", str(takeover), notes, kind="line", at=takeover.mark.at)

    def _entries(self, number: int, turn: Turn, who: Cast) -> Iterator[_Entry]:
        leads = (str(number),) * self.numbers + (_clock(turn.start),) * self.times
        for tool in turn.tools:
            at = float("-inf") if turn.seeded else tool.start
            yield _Entry(("",) * len(leads), "Tool", _tool(tool), kind="tool", at=at)
        words, left_out = shorten(turn.text, len(turn.text) if self.limit is None else self.limit)
        notes = tuple(self._notes(turn, left_out, late=who.is_late(turn)))
        if words or notes or not turn.tools:
            rest = turn.generated.removeprefix(turn.text) if turn.interrupted and not left_out else ""
            speaker, at = who.name_of(turn) or _SPEAKERS[turn.speaker], float("-inf") if turn.seeded else turn.start
            yield _Entry(leads, speaker, words, notes, rest and one_line(rest, TOOL_LIMIT), at=at)

    def _notes(self, turn: Turn, left_out: int, *, late: bool) -> Iterator[str]:
        """Yield what has to be said about a turn besides its words."""
        if left_out:
            yield f"{left_out:,} more characters"
        if turn.inaudible:
            yield f"inaudible, {turn.audio_ms / 1000:.1f} s of sound" if self.times else "inaudible"
        if late:
            yield LATE
        if turn.interrupted:
            yield _interrupted(turn.heard_ms if self.heard else None)
        if turn.pending:
            yield "still coming"
        if turn.seeded:
            yield "seeded"
        if not (turn.text or turn.tools or turn.inaudible or turn.interrupted or turn.pending):
            yield "no words"


def _interrupted(heard_ms: int | None) -> str:
    if heard_ms is None:
        return "interrupted"
    return f"interrupted, heard {heard_ms / 1000:.1f} s" if heard_ms else "interrupted, nothing heard"


def _tool(tool: ToolUse) -> str:
    output = "no output" if tool.output is None else one_line(tool.output, TOOL_LIMIT)
    return f"{one_line(call(tool.name, tool.arguments), TOOL_LIMIT)} → {output}"


def _clock(seconds: float) -> str:
    minutes, tenths = divmod(round(seconds * 10), 600)
    return f"{minutes}:{tenths // 10:02}.{tenths % 10}"


def _plain(title: str, entries: Sequence[_Entry]) -> Iterator[str]:
    """Yield lines of text. All but an entry's first are indented, so that no turn can pose as somebody else's."""
    if title:
        yield f"— {visible(title)} —"
    widths = [max(map(len, column)) for column in zip(*(entry.leads for entry in entries), strict=True)]
    speaker = max([WIDTH, *(len(entry.who) + 2 for entry in entries)])
    for entry in entries:
        leads = "".join(f"{lead:>{width}}  " for lead, width in zip(entry.leads, widths, strict=True))
        if entry.kind == "line":
            yield f"{leads}— {', '.join([isolated(entry.words), *entry.notes])} —"
            continue
        head = f"{leads}{isolated(entry.who)}{' ' * (speaker - len(entry.who))}"
        indent = " " * (len(leads) + speaker)
        notes = "".join(f" [{note}]" for note in entry.notes)
        first, *more = [isolated(line) for line in visible(entry.words).split("\n")]
        body = [head + first, *(indent + line for line in more)]
        body[-1] += notes if entry.words else notes.lstrip()
        yield from (line.rstrip() for line in body)


def _row(entry: _Entry) -> list[Markup]:
    """Return an entry as cells of a table."""
    words = lines(entry.words)
    if entry.kind != "words":
        words = tag("code" if entry.kind == "tool" else "em", words)
    notes = (tag("em", escape(f"[{note}]")) for note in entry.notes)
    unheard = [tag("del", lines(entry.unheard))] if entry.unheard else []
    said = [words] if entry.words else []
    return [*map(escape, entry.leads), escape(entry.who), join([*said, *unheard, *notes], " ")]
