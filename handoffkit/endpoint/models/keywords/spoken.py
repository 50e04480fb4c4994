"""Words as a recogniser hears them, brought to the form in which the lexicon has them.

A recogniser writes down hesitations, repeats a word that was said twice, and splits words that belong together
("lap top"). Nothing here trusts its commas and full stops.
"""

import re
import unicodedata
from collections.abc import Set

from .words import Token, tokens

_HESITATION = r"u+m+|u+h+m*|e+r+m?|h+m{2,}|m{2,}"
_HESITATIONS = re.compile(_HESITATION)
_HESITATING = re.compile(rf"(?:(?<=\s)|^)(?:{_HESITATION})\b[,.…]*\s*", re.IGNORECASE)
_MARKS = re.compile(r"[*_#`|~^\\]+")
_PUNCTUATION = re.compile(r"[,.;:!?…。—–]")
_TWICE_IN_ENGLISH = frozenset(["had", "that", "very", "so", "really", "no", "yes", "bye"])
_NO_ENDINGS = frozenset(["or", "and", "to", "in"])
"""Words that end no other one: "the project or the plan" has no projector."""
_LOOPS = 4


def folded(text: str, joined: Set[str]) -> tuple[Token, ...]:
    """Return the words of *text* without hesitations and repetitions, two being one where *joined* has it."""
    kept: list[Token] = []
    for token in tokens(text):
        last = kept[-1] if kept else None
        if _HESITATIONS.fullmatch(token.text):
            continue
        if last and last.text == token.text and token.text.isalpha() and token.text not in _TWICE_IN_ENGLISH:
            kept[-1] = Token(last.text, last.start, token.end)
        elif last and _are_one(last, token, text, joined):
            kept[-1] = Token(last.text + token.text, last.start, token.end)
        else:
            kept.append(token)
    return tuple(kept)


def _are_one(first: Token, second: Token, text: str, joined: Set[str]) -> bool:
    whole = min(len(first.text), len(second.text)) > 1 and second.text not in _NO_ENDINGS
    return whole and text[first.end : second.start] in (" ", "-") and first.text + second.text in joined


def without_hesitations(text: str) -> str:
    """Return *text* without "um" and "uh"."""
    return _HESITATING.sub("", text).strip()


def is_pause(text: str, first: Token, second: Token) -> bool:
    """Say whether punctuation stands between two neighbouring words: a weak sign that a clause ends."""
    return bool(_PUNCTUATION.search(text[first.end : second.start]))


def is_noise(text: str) -> bool:
    """Say whether a turn holds no words that anybody said: no letter or digit, hesitations only, or one word in a loop.

    Recognisers make such text of noise: "...", "♪", "you you you you you".
    """
    words = [token.text for token in tokens(text)]
    said = [word for word in words if not _HESITATIONS.fullmatch(word)]
    return not said or (len(said) >= _LOOPS and len(set(said)) == 1 and said[0].isalpha())


def sayable(text: str) -> str:
    """Return *text* without what a voice cannot say: marks of formatting, emoji and other pictures."""
    plain = "".join(" " if unicodedata.category(c) in ("So", "Cs", "Co") else c for c in _MARKS.sub(" ", text))
    return re.sub(r" +([.,;:!?])", r"\1", " ".join(plain.split())) or text
