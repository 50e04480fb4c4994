"""Untrusted text made safe to show, as plain text and as HTML.

Everything that a caller, a model or a tool says passes through here on its way into a view. The HTML needs neither
style sheets, classes nor scripts, since GitHub and an untrusted notebook strip them; it sets no colours, so that a
dark theme stays dark.
"""

import html
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NewType

Markup = NewType("Markup", str)
"""HTML that is safe to put into a page: made by `escape` and `tag` only, so that mypy finds a forgotten escape."""

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters, except tab and newline
    "\u202a-\u202e\u2066-\u2069"  # overrides and isolates: they change the direction of what stands around them
    "\u2028\u2029\u206a-\u206f\ufff9-\ufffb\ufffe\uffff"  # line separators, deprecated formats, non-characters
    "\ud800-\udfff"  # halves of surrogate pairs: they cannot be encoded
    "\U000e0000-\U000e007f]"  # tags: invisible copies of ASCII
)
_RIGHT_TO_LEFT = re.compile("[\u200f\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")
_ENGLAND_AND_OTHERS = re.compile("\U0001f3f4[\U000e0020-\U000e007e]{1,8}\U000e007f")
_ELEMENT = re.compile("<[^>]*>")
_LEFT, _RIGHT = "text-align: left", "text-align: right"
_MATH = re.compile(r"[$\\]")


def visible(text: str) -> str:
    """Return *text* with what cannot be seen made visible: an escape character is ␛, an override ⟨U+202E⟩.

    Newlines and tabs stay; a carriage return before a newline goes.
    """
    flags = iter(_ENGLAND_AND_OTHERS.findall(text))
    parts = (_HIDDEN.sub(_name, part) for part in _ENGLAND_AND_OTHERS.split(text.replace("\r\n", "\n")))
    return "".join(part + next(flags, "") for part in parts)


def _name(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"⟨U+{code:04X}⟩"


def one_line(text: str, limit: int) -> str:
    """Return *text* in one line of at most *limit* characters and an ellipsis."""
    head = visible(" ".join(text[: 4 * limit].split()))
    return head if len(head) <= limit and len(text) <= 4 * limit else cut(head, limit) + "…"


def shorten(text: str, limit: int) -> tuple[str, int]:
    """Return the beginning of *text*, *limit* characters at most, and how many characters were left out."""
    if len(text) <= limit:
        return text, 0
    head = cut(text, limit)
    return head, len(text) - len(head)


def cut(text: str, limit: int) -> str:
    """Cut before a character rather than between a letter and its marks."""
    end = min(limit, len(text))
    while 0 < end < len(text) and (_joins(text[end]) or text[end - 1] == "\u200d"):
        end -= 1
    return text[:end] or text[:limit]


def _joins(character: str) -> bool:
    return unicodedata.category(character) in ("Mn", "Mc", "Me") or character == "\u200d" or "🏻" <= character <= "🏿"


def isolated(line: str) -> str:
    """Return a line of plain text that cannot reorder what stands around it, if it has right-to-left letters."""
    return f"\u2068{line}\u2069" if _RIGHT_TO_LEFT.search(line) else line


def escape(text: str) -> Markup:
    """Return *text* as HTML that shows exactly its characters, hidden ones made visible.

    Dollar signs and backslashes get a `<span>` of their own: Jupyter's and GitHub's MathJax then finds no formula.
    """
    return Markup(_MATH.sub(r"<span>\g<0></span>", html.escape(visible(text))))


def lines(text: str) -> Markup:
    """Return *text* as HTML, each line isolated in its own direction, with line breaks between."""
    return join((tag("bdi", escape(line)) for line in text.split("\n")), "<br>")


def tag(name: str, *children: Markup, **attributes: str) -> Markup:
    """Return an element; *attributes* are the project's own words, never somebody else's."""
    given = "".join(f' {key}="{html.escape(value)}"' for key, value in attributes.items())
    return Markup(f"<{name}{given}>{''.join(children)}</{name}>")


def join(parts: Iterable[Markup], between: str = "") -> Markup:
    """Return *parts* one after the other; *between* is the project's own markup."""
    return Markup(between.join(parts))


def table(head: Sequence[str], rows: Iterable[Sequence[Markup]]) -> Markup:
    """Return a table: *head* are the project's own words, the first cell of each row is its header."""
    top = tag("tr", *(tag("th", escape(title), scope="col", style=_LEFT) for title in head))
    body = (
        tag(
            "tr",
            tag("th", first, scope="row", style=_LEFT),
            *(tag("td", cell, dir="auto", style=_flush(cell)) for cell in rest),
        )
        for first, *rest in rows
    )
    return tag("table", tag("thead", top), tag("tbody", *body))


def _flush(cell: Markup) -> str:
    """Return the side where the cell's words begin. Jupyter sets cells right, and takes out `start`."""
    words = html.unescape(_ELEMENT.sub("", cell))
    first = next((letter for letter in words if letter.isalpha()), "")
    return _RIGHT if first and unicodedata.bidirectional(first) in ("R", "AL") else _LEFT
