"""Words as a caller says them, made comparable: tokens, stems, small spelling mistakes.

The lowest layer under the keyword model. It knows no vocabulary of its own and only Latin script; what is written in
another script passes through as words that match nothing.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

_WORD = re.compile(r"[^\W\d_]+(?:['’`´][^\W\d_]+)*|\d+(?:[.,:]\d+)*")
_APOSTROPHES = str.maketrans("", "", "'’`´")
_SENTENCE_END = re.compile(r"(?<=[.!?…。!?؟])\s+|\n+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
MIN_CORRECTED = 5
"""The shortest word, in letters, whose spelling is mended."""


@dataclass(frozen=True, slots=True)
class Token:
    """One word of a text."""

    text: str
    """Lower case, without apostrophes: `wont` for "won't"."""
    start: int
    """The offset of its first character."""
    end: int
    """The offset after its last one."""


def tokens(text: str) -> list[Token]:
    """Return the words and numbers of *text* in order, lower case and without apostrophes."""
    return [Token(m.group().translate(_APOSTROPHES).lower(), m.start(), m.end()) for m in _WORD.finditer(text)]


def sentences(text: str) -> list[str]:
    """Return the sentences of *text*, each with its punctuation; unpunctuated speech is one sentence."""
    return [part.strip() for part in _SENTENCE_END.split(text) if part.strip()]


def name_words(name: str) -> list[str]:
    """Return the words of an identifier: `order_id`, `orderId` and `Order ID` all give `["order", "id"]`."""
    return [token.text for token in tokens(_CAMEL.sub(" ", name).replace("_", " ").replace("-", " "))]


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return *word* without its common English endings: `charging`, `charges` and `charge` give `charg`."""
    if len(word) < 4 or not word.isascii():
        return word
    for ending, instead in (("ies", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith(("ss", "us", "is")):
            word = word[: -len(ending)] + instead
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return word[:-1] if word.endswith("e") and len(word) > 3 else word


def stems(text: str) -> list[str]:
    """Return the stem of each word of *text*, in order."""
    return [stem(token.text) for token in tokens(text)]


def is_foreign(text: str) -> bool:
    """Say whether *text* has no Latin word at all, or more letters of other scripts than Latin ones."""
    letters = [character for character in text[:5000] if character.isalpha()]
    latin = sum("LATIN" in unicodedata.name(letter, "") for letter in letters)
    return bool(text.strip()) and ((latin == 0 and not any(c.isdigit() for c in text)) or latin * 2 < len(letters))


class Spelling:
    """Mends words that are one mistake away from a known one: a letter too many, too few, wrong, or two swapped.

    Only words of five letters or more are mended, and only to a word with the same first letter; a word that is
    itself *known* or *common* stays as it is. Of several candidates the alphabetically first one wins.
    """

    def __init__(self, known: Iterable[str], common: Iterable[str] = ()) -> None:
        self._known = {word for word in known if len(word) >= MIN_CORRECTED and word.isascii()}
        self._kept = self._known | set(common)
        self._shorter: dict[str, list[str]] = {}
        for word in sorted(self._known):
            for form in _one_shorter(word):
                self._shorter.setdefault(form, []).append(word)

    def mend(self, word: str) -> str:
        """Return the known word that *word* is meant to be, or *word* itself."""
        if not MIN_CORRECTED <= len(word) <= 30 or word in self._kept or not word.isascii() or stem(word) in self._kept:
            return word
        near = (other for form in _one_shorter(word) for other in self._shorter.get(form, ()))
        return min((other for other in near if other[0] == word[0] and _one_mistake(word, other)), default=word)


def _one_shorter(word: str) -> set[str]:
    """Return *word* and each word that has one of its letters less."""
    return {word} | {word[:i] + word[i + 1 :] for i in range(len(word))}


def _one_mistake(word: str, other: str) -> bool:
    """Say whether the two differ by one letter added, missing or changed, or by two neighbours swapped."""
    start = 0
    while start < min(len(word), len(other)) and word[start] == other[start]:
        start += 1
    left, right = word[start:], other[start:]
    swapped = len(left) > 1 and len(right) > 1 and left[:2] == right[1::-1] and left[2:] == right[2:]
    return swapped or left[1:] == right or left == right[1:] or left[1:] == right[1:]
