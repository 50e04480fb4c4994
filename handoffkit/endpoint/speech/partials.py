"""Words that can be shown while the caller still speaks: each is sent once, and none is taken back.

A recogniser that looks at a growing turn changes its mind about the last words. One that two looks in a row agree on
has rarely changed since; what changed after all, the final transcript replaces.
"""

import re

_MARKS = re.compile(r"[^\w']+|(?<!\w)'|'(?!\w)")


class Partials:
    """The words of one turn, as far as they were sent."""

    def __init__(self) -> None:
        self._sent: list[str] = []
        self._last: list[str] = []

    def heard(self, text: str) -> str:
        """Take what the recogniser makes of the turn so far; return the delta that may be sent now, "" for none."""
        words = text.split()
        agreed = _common(self._last, words)
        self._last = words
        return self._send(words[:agreed])

    def rest(self, final: str) -> list[str]:
        """Return the deltas that are still to be sent, a word each; none if the final text says something else."""
        words, sent = final.split(), len(self._sent)
        if _common(self._sent, words) < sent:
            return []
        return [delta for end in range(sent, len(words)) if (delta := self._send(words[: end + 1]))]

    def _send(self, words: list[str]) -> str:
        """Send the *words* that were not sent, if they continue those that were."""
        sent = len(self._sent)
        if len(words) <= sent or _common(self._sent, words) < sent:
            return ""
        self._sent += words[sent:]
        return "".join(f" {word}" for word in words[sent:])


def _common(one: list[str], other: list[str]) -> int:
    """Return how many words two texts share from the beginning, whatever their case and punctuation."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if _plain(left) != _plain(right):
            break
        count += 1
    return count


def _plain(word: str) -> str:
    """Return *word* without case and punctuation; a word of nothing else stays as it is."""
    return _MARKS.sub("", word.casefold().replace("’", "'")) or word
