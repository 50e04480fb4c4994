"""A small table of words: as text for a terminal, as HTML for a notebook. For results, not for logs.

Everything in a cell may come from a model, so it is shown as text and cannot reorder or imitate its surroundings.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .html import escape, isolated, join, lines, table, tag, visible

WIDTH = 110
"""Columns of a terminal that a table of several columns fills at most, if it can."""
_NARROWEST = 14


@dataclass(frozen=True, slots=True, repr=False)
class Grid:
    """Rows of cells under a head, and sentences below. The first column is the project's own or a field's name."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = field(default=())
    """Sentences below the table."""

    def __str__(self) -> str:
        body = "\n".join(self._plain()) if self.rows else ""
        return "\n\n".join(filter(None, (body, "\n".join(visible(note) for note in self.notes))))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        grid = [table(self.head, ([lines(cell) for cell in row] for row in self.rows))] if self.rows else []
        return join([*grid, *(tag("p", join(map(escape, note.split("\n")), "<br>")) for note in self.notes)])

    def _plain(self) -> Iterator[str]:
        cells = [[visible(cell).expandtabs(4) for cell in row] for row in (self.head, *self.rows)]
        widths = _widths(cells)
        for row in cells:
            columns = [_wrapped(cell, width) for cell, width in zip(row, widths, strict=True)]
            for index in range(max(map(len, columns))):
                parts = [column[index] if index < len(column) else "" for column in columns]
                padded = [
                    isolated(part) + " " * (width - _width(part)) for part, width in zip(parts, widths, strict=True)
                ]
                yield "  ".join(padded).rstrip()


def _widths(cells: Sequence[Sequence[str]]) -> list[int]:
    """Return how wide each column may be: as its longest line, less where the whole would be too wide."""
    natural = [max(_width(line) for cell in column for line in cell.split("\n")) for column in zip(*cells, strict=True)]
    room, share = WIDTH - 2 * (len(natural) - 1), {}
    for left, column in zip(
        range(len(natural), 0, -1), sorted(range(len(natural)), key=natural.__getitem__), strict=True
    ):
        share[column] = min(natural[column], max(_NARROWEST, room // left))
        room -= share[column]
    return [share[column] for column in range(len(natural))]


def _wrapped(cell: str, width: int) -> list[str]:
    return [part for line in cell.split("\n") for part in _lines(line, width)]


def _lines(line: str, width: int) -> Iterator[str]:
    """Break *line* at spaces into lines of at most *width* columns; a word that is longer is cut."""
    current = ""
    for word in line.split(" "):
        longer = f"{current} {word}" if current else word
        if _width(longer) <= width:
            current = longer
            continue
        if current:
            yield current
        *pieces, current = _pieces(word, width)
        yield from pieces
    yield current


def _pieces(word: str, width: int) -> Iterator[str]:
    piece, used = "", 0
    for character in word:
        if piece and used + _width(character) > width:
            yield piece
            piece, used = "", 0
        piece, used = piece + character, used + _width(character)
    yield piece


def _width(text: str) -> int:
    """Return how many columns *text* takes: two for wide scripts, none for marks that join."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )
