"""A log as a table of events: who sent what to whom, one line each, and the raw JSON on demand."""

import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import NoSuchFrame
from ..wire.frames import Frame
from .html import Markup, escape, isolated, join, one_line, shorten, tag, visible
from .html import table as html_table
from .summary import LIMIT, streams, summary

ROWS = 60
"""Rows that are shown unless more are asked for: the newest."""
RAW_LIMIT = 10_000
"""Characters of JSON in a row of HTML; `Table.raw` shows all of it."""

_WAYS = {"client": "client → server", "server": "server → client"}
_HIDDEN_IN_JSON = re.compile(
    "[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def table(log: Iterable[Frame], *, limit: int | None = ROWS, times: bool = False, raw: bool = False) -> "Table":
    """Show the frames of *log* as it is now, runs of streamed pieces as one row.

    Args:
        log: A log, a filtered log or any frames.
        limit: Rows that are shown, the newest; None for all.
        times: Show seconds since the log began. Off, because they differ on every run.
        raw: Put the JSON of each row into the HTML, folded. `table(log).raw(seq)` shows that of one frame.
    """
    frames = tuple(log)
    rows = _rows(frames, limit)
    return Table(frames, rows, len(frames) - sum(len(row) for row in rows), times, raw)


@dataclass(frozen=True, slots=True, repr=False)
class Table:
    """The events: print it, or show it as a cell's last line. The options are those of `table`."""

    frames: Sequence[Frame]
    rows: Sequence[Sequence[Frame]]
    """What is shown: single frames, and runs of the same streamed event."""
    hidden: int
    """How many frames are older than what is shown."""
    times: bool = False
    details: bool = False

    def raw(self, seq: int) -> "RawFrame":
        """Show the whole JSON of the frame with the number *seq*.

        Raises:
            NoSuchFrame: There is no such frame in this table.
        """
        index = bisect_left(self.frames, seq, key=lambda frame: frame.seq)
        if index == len(self.frames) or self.frames[index].seq != seq:
            raise NoSuchFrame(seq, [self.frames[at].seq for at in (0, -1)] if self.frames else [])
        return RawFrame(self.frames[index])

    def __str__(self) -> str:
        if not self.rows:
            return self._hidden() or "No events yet."
        cells = [self._head(), *(self._cells(row) for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        body = [_line(each, widths) for each in cells]
        return "\n".join([self._hidden(), *body] if self.hidden else body)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        if not self.rows:
            return tag("p", tag("em", escape(str(self))))
        above = [tag("p", tag("em", escape(self._hidden())))] if self.hidden else []
        return join([*above, html_table(self._head(), map(self._markup, self.rows))])

    def _hidden(self) -> str:
        return f"{self.hidden:,} earlier frames are not shown; limit=None shows all." if self.hidden else ""

    @property
    def _connections(self) -> bool:
        return len({row[0].conn for row in self.rows}) > 1

    def _head(self) -> list[str]:
        return ["seq", *["s"] * self.times, *["conn"] * self._connections, "who → whom", "event", "what"]

    def _cells(self, row: Sequence[Frame]) -> list[str]:
        first, last = row[0], row[-1]
        way = first.channel if first.channel in ("mark", "trace") else _WAYS.get(first.dir, first.dir)
        event = one_line(first.event, LIMIT) + (f" ×{len(row)}" if len(row) > 1 else "")
        return [
            str(first.seq) if first is last else f"{first.seq}–{last.seq}",
            *[f"{first.at:.3f}"] * self.times,
            *[" ".join(filter(None, (first.conn, first.label)))] * self._connections,
            way,
            event,
            one_line(summary(row), LIMIT),
        ]

    def _markup(self, row: Sequence[Frame]) -> list[Markup]:
        *cells, way, event, what = self._cells(row)
        way = way.replace(" → ", "\u00a0→\u00a0")  # in one line, else every row of a narrow page is two lines high
        shown = [*map(escape, (*cells, way)), tag("code", escape(event)), tag("bdi", escape(what))]
        if self.details:
            shown[-1] = tag("details", tag("summary", shown[-1] or escape("JSON")), _folded(row))
        return shown


@dataclass(frozen=True, slots=True, repr=False)
class RawFrame:
    """The JSON of one frame, laid out to be read; `frame.data` is the same as Python objects."""

    frame: Frame

    def __str__(self) -> str:
        return f"{self._title()}\n{_json(self.frame.data)}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return tag("p", tag("strong", escape(self._title()))) + _pre(_json(self.frame.data))

    def _title(self) -> str:
        frame = self.frame
        return f"{frame.seq}  {_WAYS.get(frame.dir, visible(frame.dir))}  {one_line(frame.event, LIMIT)}"


def _rows(frames: Sequence[Frame], limit: int | None) -> list[list[Frame]]:
    """Return the newest rows, walking back from the end no further than needed."""
    rows: list[list[Frame]] = []
    end = len(frames)
    while end and (limit is None or len(rows) < limit):
        start = end
        while start and streams(frames[start - 1].event):
            start -= 1
        start = min(start, end - 1)
        rows += reversed(_runs(frames[start:end]))
        end = start
    rows = rows[:limit]
    return rows[::-1]


def _runs(frames: Iterable[Frame]) -> list[list[Frame]]:
    """Sort a stretch of streamed pieces into runs: words, sound and the microphone's blocks arrive interleaved."""
    runs: dict[tuple[str, str, str], list[Frame]] = {}
    for frame in frames:
        runs.setdefault((frame.conn, frame.dir, frame.event), []).append(frame)
    return list(runs.values())


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    number, *middle, what = cells
    middle = [cell.ljust(width) for cell, width in zip(middle, widths[1:], strict=False)]
    return "  ".join([number.rjust(widths[0]), *middle, isolated(what)]).rstrip()


def _json(data: Any) -> str:
    """Return *data* as JSON; what could hide or reorder text is written as `\\uXXXX`, so that it stays JSON."""
    text = json.dumps(data, ensure_ascii=False, indent=2)
    return _HIDDEN_IN_JSON.sub(lambda match: json.dumps(match.group())[1:-1], text)


def _folded(row: Sequence[Frame]) -> Markup:
    """Return the JSON of a row, no more of it than a page should carry."""
    shown, size = [], 0
    for frame in row:
        shown.append(_json(frame.data))
        size += len(shown[-1])
        if size > RAW_LIMIT:
            break
    text, left_out = shorten("\n".join(shown), RAW_LIMIT)
    more = [f"{left_out:,} more characters: raw({row[len(shown) - 1].seq}) shows them"] if left_out else []
    more += [f"{len(row) - len(shown):,} more frames"] if len(row) > len(shown) else []
    return join([_pre(text), *(tag("p", tag("em", escape(f"[{each}]"))) for each in more)])


def _pre(text: str) -> Markup:
    return tag("pre", tag("code", join(map(escape, text.split("\n")), "\n")))
