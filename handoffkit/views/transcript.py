"""A log, or its turns, as a transcript: who said what, in the order of the conversation."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Protocol

from ..wire.conversation import ToolUse, Turn
from .html import Markup, escape, isolated, join, lines, one_line, shorten, table, tag, visible
from .summary import call

WORDS_LIMIT = 2_000
"""Characters of a turn that are shown."""
TOOL_LIMIT = 300
"""Characters of a tool's call, and of its output, that are shown."""

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

    Args:
        log: A log or its turns.
        times: Show when each turn began, in minutes, seconds and tenths since the log began. Off, because it differs
            on every run.
        heard: Show how many seconds were heard of a reply that was interrupted (on a live call they differ, too).
        numbers: Number the turns as the timeline does.
        limit: Characters shown of one turn; None for all of them.
    """
    given: Any = log
    return Transcript(tuple(getattr(given, "turns", given)), times, heard, numbers, limit)


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


@dataclass(frozen=True, slots=True, repr=False)
class Transcript:
    """What was said: print it, or show it as a cell's last line. The options are those of `transcript`."""

    turns: tuple[Turn, ...]
    times: bool = False
    heard: bool = True
    numbers: bool = False
    limit: int | None = WORDS_LIMIT

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
        groups = [(conn, list(turns)) for conn, turns in groupby(enumerate(self.turns, 1), lambda pair: pair[1].conn)]
        for conn, turns in groups:
            label = turns[0][1].label
            title = f"{label or 'Connection'} ({conn})" if len(groups) > 1 else ""
            yield title, [entry for number, turn in turns for entry in self._entries(number, turn)]

    def _entries(self, number: int, turn: Turn) -> Iterator[_Entry]:
        leads = (str(number),) * self.numbers + (_clock(turn.start),) * self.times
        for tool in turn.tools:
            yield _Entry(("",) * len(leads), "Tool", _tool(tool))
        words, left_out = shorten(turn.text, len(turn.text) if self.limit is None else self.limit)
        notes = tuple(self._notes(turn, left_out))
        if words or notes or not turn.tools:
            rest = turn.generated.removeprefix(turn.text) if turn.interrupted and not left_out else ""
            yield _Entry(leads, _SPEAKERS[turn.speaker], words, notes, rest and one_line(rest, TOOL_LIMIT))

    def _notes(self, turn: Turn, left_out: int) -> Iterator[str]:
        """Yield what has to be said about a turn besides its words."""
        if left_out:
            yield f"{left_out:,} more characters"
        if turn.inaudible:
            yield f"inaudible, {turn.audio_ms / 1000:.1f} s of sound" if self.times else "inaudible"
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
    for entry in entries:
        leads = (f"{lead:>{width}}  " for lead, width in zip(entry.leads, widths, strict=True))
        head = "".join(leads) + f"{entry.who:<10}"
        notes = "".join(f" [{note}]" for note in entry.notes)
        first, *more = [isolated(line) for line in visible(entry.words).split("\n")]
        body = [head + first, *(" " * len(head) + line for line in more)]
        body[-1] += notes if entry.words else notes.lstrip()
        yield from (line.rstrip() for line in body)


def _row(entry: _Entry) -> list[Markup]:
    """Return an entry as cells of a table."""
    words = lines(entry.words)
    if entry.who == "Tool":
        words = tag("code", words)
    notes = (tag("em", escape(f"[{note}]")) for note in entry.notes)
    unheard = [tag("del", lines(entry.unheard))] if entry.unheard else []
    said = [words] if entry.words else []
    return [*map(escape, entry.leads), escape(entry.who), join([*said, *unheard, *notes], " ")]
