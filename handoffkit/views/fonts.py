"""Which installed fonts draw a text: chosen by the glyphs that they have, never by hope.

matplotlib brings DejaVu Sans (Latin, Greek, Cyrillic, Hebrew, Arabic and more) and, from 3.11 on, shapes and orders
text with libraqm. For every other script it needs a font of the machine. Where none has the glyphs, the picture has
to say so: a row of empty boxes says nothing.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache

from matplotlib import font_manager
from matplotlib.font_manager import FontEntry
from matplotlib.ft2font import FT2Font

BASE = "DejaVu Sans"
EMOJI = "emoji"
UNNAMED = "unnamed"
"""What Unicode has no name for: private use, and what is not assigned."""

DEBIAN = {"hangul": "fonts-wqy-microhei", "CJK": "fonts-wqy-microhei", EMOJI: "fonts-symbola"}
"""The smallest Debian package for a script; for the others see `package`."""

_UI_CORE = {
    *("arabic", "bengali", "devanagari", "gujarati", "gurmukhi", "kannada", "khmer", "lao", "malayalam", "myanmar"),
    *("oriya", "sinhala", "tamil", "telugu", "thai"),
}
_CJK = {"cjk", "hiragana", "katakana", "katakana-hiragana", "bopomofo", "fullwidth", "halfwidth", "ideographic"}
_NEVER = re.compile(r"last ?resort|^STIX|^cm|DejaVu|unifont|mono\b|serif|math", re.IGNORECASE)
_PLAIN = re.compile(r"\bsans\b|gothic|hei\b|symbola|noto emoji|segoe ui", re.IGNORECASE)
_UNDRAWN = re.compile("[\u200b\u2060-\u2064\ufe00-\ufe0f\ufeff\U0001f3fb-\U0001f3ff\U000e0000-\U000e01ef]")
_EMOJI_JOINER = re.compile("(?<=[\u2190-\u2bff\U0001f000-\U0001faff])\u200d")


@dataclass(frozen=True, slots=True)
class Fonts:
    """The fonts for a picture."""

    families: tuple[str, ...]
    """Family names in the order in which matplotlib asks them for a glyph."""
    missing: dict[str, frozenset[str]]
    """Script to the characters of it that no font here has."""

    def draws(self, text: str) -> bool:
        """Tell whether every character of *text* has a glyph."""
        return not any(lacking.intersection(text) for lacking in self.missing.values())


def drawable(text: str) -> str:
    """Return *text* without what only a colour font draws (skin tones, variation selectors) and joins of emoji."""
    return _EMOJI_JOINER.sub("", _UNDRAWN.sub("", text))


def choose(texts: Iterable[str]) -> Fonts:
    """Return the fonts that draw *texts*: DejaVu Sans, then the best font for each script that it lacks."""
    by_script: defaultdict[str, set[str]] = defaultdict(set)
    for character in _lacking(FT2Font(font_manager.findfont(BASE)), set().union(*texts)):
        by_script[script(character)].add(character)
    families = [BASE]
    missing = {}
    for name, characters in sorted(by_script.items()):
        found, rest = _cover(characters)
        families += (family for family in found if family not in families)
        if rest:
            missing[name] = frozenset(rest)
    return Fonts(tuple(families), missing)


def script(character: str) -> str:
    """Return the script of *character* in lower case, as Unicode names it; `CJK` and `emoji` stand for many."""
    first = unicodedata.name(character, UNNAMED).partition(" ")[0].lower()
    if first in _CJK or first.startswith("cjk"):
        return "CJK"
    return first if first == UNNAMED or unicodedata.category(character)[0] in "LMN" else EMOJI


def package(name: str) -> str:
    """Return the smallest Debian package with a font for a script; empty if there can be none."""
    if name == UNNAMED:
        return ""
    return DEBIAN.get(name) or ("fonts-noto-ui-core" if name in _UI_CORE else "fonts-noto-core")


def _cover(characters: set[str]) -> tuple[list[str], set[str]]:
    """Return font families that draw *characters*, the one that draws most first, and what is left over."""
    found: list[str] = []
    rest = characters
    for families in (_candidates, _newly_installed):
        for entry in sorted(families(), key=lambda entry: len(_lacking(_open(entry.fname, entry.index), characters))):
            left = _lacking(_open(entry.fname, entry.index), rest)
            if len(left) < len(rest):
                found.append(entry.name)
                rest = left
            if not rest:
                return found, rest
    return found, rest


def _candidates() -> list[FontEntry]:
    """Return one upright regular face of each family, plain ones first."""
    faces: dict[str, FontEntry] = {}
    for entry in font_manager.fontManager.ttflist:
        upright = entry.style == "normal" and entry.stretch == "normal" and entry.weight in (400, "normal", "regular")
        if upright and not _NEVER.search(entry.name):
            faces.setdefault(entry.name, entry)
    return sorted(faces.values(), key=lambda entry: (not _PLAIN.search(entry.name), entry.name))


def _newly_installed() -> list[FontEntry]:
    """Add the fonts that matplotlib's list, kept from an earlier day, does not know; return all candidates."""
    known = {entry.fname for entry in font_manager.fontManager.ttflist}
    for path in sorted(set(font_manager.findSystemFonts()) - known):
        with suppress(Exception):  # a bitmap font, such as Noto Color Emoji, or a damaged file
            font_manager.fontManager.addfont(path)
    return _candidates()


@lru_cache(maxsize=64)
def _open(path: str, index: int) -> FT2Font:
    return FT2Font(path, face_index=index)


def _lacking(font: FT2Font, characters: set[str]) -> set[str]:
    """Return those of *characters* that are drawn by a glyph which *font* has not."""
    return {each for each in characters if not font.get_char_index(ord(each)) and unicodedata.category(each) != "Cf"}
