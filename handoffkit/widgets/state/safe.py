"""Text on its way to the page: whole characters that UTF-8 can carry, nothing hidden in them, and not too long.

The page sets it as text, never as HTML; here it is made sure that it arrives, and that it cannot reorder or bury what
stands around it.
"""

import math
import unicodedata

from ...views.html import one_line, shorten, visible

TEXT_LIMIT = 8_000
"""Characters of a turn that the page gets."""
LINE_LIMIT = 300
"""Characters of a tool's call, and of its output."""
NAME_LIMIT = 80
"""Characters of a name, and of what the wire has as an id."""


def shown(text: str, limit: int = TEXT_LIMIT) -> tuple[str, int]:
    """Return the beginning of *text*, made visible, and how many characters were left out."""
    head, left_out = shorten(text, limit)
    return visible(head), left_out


def line(text: str, limit: int = LINE_LIMIT) -> str:
    """Return *text* in one line of at most *limit* characters and an ellipsis."""
    return one_line(text, limit)


def name(text: str) -> str:
    """Return what is to be a name or an id: one short line."""
    return one_line(text, NAME_LIMIT)


def stable(words: str) -> tuple[str, str]:
    """Split words that are still arriving: what has come whole, and the last word, to which more may come.

    Pieces of words are only ever added at the end. The space between the two is left out. Where a script writes no
    spaces, each sign is a word, and all of them have come whole.
    """
    if not words or words[-1].isspace() or unicodedata.east_asian_width(words[-1]) in "WF":
        return words.rstrip(), ""
    last = len(words.split()[-1])
    return words[:-last].rstrip(), words[-last:]


def seconds(moment: float) -> float:
    """Return a moment on the log's clock, in thousandths of a second; 0.0 for what is no number."""
    return round(moment, 3) if math.isfinite(moment) else 0.0
