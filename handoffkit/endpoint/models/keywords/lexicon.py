"""The words that the keyword model knows, read from `lexicon.toml`, and where they stand in a text.

`lexicon()` loads the file once. `Lexicon.read` finds the known words of one text; what they mean together is
`judgement`'s work.
"""

import tomllib
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from .spoken import folded
from .words import Spelling, Token, stem

FILE = Path(__file__).with_name("lexicon.toml")
"""The lexicon as a readable file."""
_GAP = 3


@dataclass(frozen=True, slots=True)
class Question:
    """Something worth asking about a topic."""

    ask: str
    about: frozenset[str]
    """Stems of words that show that it was answered."""
    given: str
    """The kind of fact that answers it (`reference`, `phone`, …), or empty."""
    when: frozenset[str]
    """Stems of words of which the caller must have said one; empty: always worth asking."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A kind of trouble or wish."""

    name: str
    names: tuple[str, ...]
    """What a schema may call it, the closest first."""
    near: tuple[str, ...]
    """Topics that may stand for this one where a schema has no member for it."""
    ack: str
    thing: str
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """A known word or phrase in a text."""

    group: str
    """Where the lexicon has it, such as `topics.billing` or `urgency.low`."""
    start: int
    """Index of its first token."""
    end: int
    """Index after its last token."""
    weight: float
    word: str
    """The word as the lexicon spells it."""
    denied: bool = False
    """A negator stands before it: "not urgent", "it's not billing"."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One text with its words, spelling mended, and the known ones among them."""

    text: str
    tokens: tuple[Token, ...]
    words: tuple[str, ...]
    """The tokens' words, with small spelling mistakes mended."""
    stems: tuple[str, ...]
    hits: tuple[Hit, ...]

    def find(self, group: str) -> list[Hit]:
        """Return the hits of one group, in order."""
        return [hit for hit in self.hits if hit.group == group]

    def index(self, offset: int) -> int:
        """Return the index of the word that begins at or before *offset* in the text."""
        return max(0, bisect_right(self.tokens, offset, key=lambda token: token.start) - 1)

    def has(self, group: str) -> bool:
        """Say whether a word of the group stands here and is not denied."""
        return any(not hit.denied for hit in self.find(group))


class Lexicon:
    """The parsed file, and the index that finds its words in a text."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.topics = {name: _topic(name, entry) for name, entry in data["topics"].items()}
        self.voice: dict[str, Any] = data["voice"]
        self._forms: dict[str, dict[str, float]] = {}
        self._stems: dict[str, dict[str, float]] = {}
        self._phrases: dict[str, list[tuple[tuple[str, ...], str, float]]] = {}
        self._not = frozenset(stem(word) for word in data["small"]["negators"] if _is_not(word))
        for group, entry, weight in _entries(data):
            self._add(group, entry, weight)
        self._joined = frozenset(self._compounds())
        self._spelling = Spelling(self._vocabulary(), data["common"]["words"].split())
        self._between = frozenset(data["small"]["between"])
        self.read = lru_cache(maxsize=1024)(self._read)

    def stems(self, section: str, key: str) -> frozenset[str]:
        """Return the stems of the single words of one list of the file."""
        return frozenset(stem(word) for word in self.data[section][key] if " " not in word)

    def _add(self, group: str, entry: str, weight: float) -> None:
        parts = entry.split()
        if len(parts) == 1:
            self._forms.setdefault(entry, {})[group] = weight
            if group.partition(".")[0] not in _EXACT:
                self._stems.setdefault(stem(entry), {}).setdefault(group, weight)
        else:
            pattern = tuple(stem(part) for part in parts)
            self._phrases.setdefault(pattern[0], []).append((pattern, group, weight))
            if len(parts) == 2 and not {"*", "$"} & set(parts):
                self._stems.setdefault(stem("".join(parts)), {}).setdefault(group, weight)

    def _compounds(self) -> Iterator[str]:
        """Yield the words that may have been heard as two: names of topics and things, no small words, no phrases."""
        phrases = {pattern[0] + pattern[1] for patterns in self._phrases.values() for pattern, _, _ in patterns}
        for word, groups in self._forms.items():
            known = any(group.partition(".")[0] in _COMPOUND for group in groups)
            if len(word) >= _MIN_JOINED and known and stem(word) not in phrases:
                yield word

    def _vocabulary(self) -> Iterator[str]:
        yield from self._forms
        for patterns in self._phrases.values():
            for pattern, _, _ in patterns:
                yield from pattern

    def _read(self, text: str) -> Reading:
        found = folded(text, self._joined)
        words = tuple(self._spelling.mend(token.text) for token in found)
        roots = tuple(stem(word) for word in words)
        hits = _unmasked([*self._words(words, roots), *self._sequences(roots)])
        denied = [self._deny(hit, hits, words) for hit in hits]
        return Reading(text, found, words, roots, tuple(sorted(denied, key=lambda hit: (hit.start, -hit.end))))

    def _words(self, words: tuple[str, ...], roots: tuple[str, ...]) -> Iterator[Hit]:
        for index, (word, root) in enumerate(zip(words, roots, strict=True)):
            exact, loose = self._forms.get(word, {}), self._stems.get(root, {})
            families = {group.partition(".")[0] for group in exact}
            for group, weight in exact.items():
                yield Hit(group, index, index + 1, weight, word)
            for group, weight in loose.items():
                if group.partition(".")[0] not in families:
                    yield Hit(group, index, index + 1, weight, root)

    def _sequences(self, roots: tuple[str, ...]) -> Iterator[Hit]:
        for index, root in enumerate(roots):
            patterns = self._phrases.get(root, [])
            for pattern, group, weight in patterns + (self._phrases.get("not", []) if root in self._not else []):
                end = self._match(pattern, roots, index)
                if end:
                    yield Hit(group, index, end, weight, " ".join(pattern))

    def _match(self, pattern: tuple[str, ...], roots: tuple[str, ...], start: int) -> int:
        """Return the index after *pattern* in *roots* at *start*, or 0.

        `*` stands for at most three words, `not` for any word that denies, `$` for the end of the turn.
        """
        index = start
        for position, part in enumerate(pattern):
            if part == "*":
                rest = pattern[position + 1]
                index = next((i for i in range(index, index + _GAP + 1) if roots[i : i + 1] == (rest,)), len(roots))
            elif part == "$":
                if index != len(roots):
                    return 0
            elif roots[index : index + 1] == (part,):
                index += 1
            else:
                size = self._denies(roots, index) if part == "not" else 0
                if not size:
                    return 0
                index += size
        return index

    def _denies(self, roots: tuple[str, ...], index: int) -> int:
        """Return how many words at *index* deny: 1 for "dont", 2 for "do not", else 0."""
        here, after = roots[index : index + 1], roots[index + 1 : index + 2]
        return 1 if set(here) & self._not else 2 if set(here) & _HELPERS and set(after) & self._not else 0

    def _deny(self, hit: Hit, hits: list[Hit], words: tuple[str, ...]) -> Hit:
        """Mark urgency and names of topics that are denied; other words after "not" are what went wrong."""
        family, _, name = hit.group.partition(".")
        before = hit.start
        while before and hit.start - before < 5 and words[before - 1] in self._between:
            before -= 1
        if family == "topics" and {hit.word, stem(hit.word)} & {stem(word) for word in self.topics[name].names}:
            denied = any(other.group == "small.denials" and before <= other.end <= hit.start for other in hits)
        else:
            denied = hit.group in _DENIABLE and before > 0 and words[before - 1] in self.data["small"]["negators"]
        return Hit(hit.group, hit.start, hit.end, hit.weight, hit.word, denied) if denied else hit


_EXACT = {"feelings", "things"}
"""Families whose words are found only as they are listed: "please" is no "pleased"."""
_MIN_JOINED = 6
"""The shortest word, in letters, that may have been heard as two."""
_MASKS = {"small.idioms"}
_HELPER_WORDS = "am is are was were do does did have has had will would can could should"
_HELPERS = frozenset(stem(word) for word in _HELPER_WORDS.split())
"""Verbs that may stand before `not` in a phrase: "do not" is as good as "dont"."""
_COMPOUND = {"topics", "things"}
_DENIABLE = {
    "urgency.high",
    "urgency.danger",
    "feelings.positive",
    "feelings.negative",
    "feelings.angry",
    "small.solved",
    "small.goodbye",
    "topics.human",
}


@cache
def lexicon() -> Lexicon:
    """Return the lexicon of `lexicon.toml`, read once in a process."""
    return Lexicon(tomllib.loads(FILE.read_text(encoding="utf-8")))


def _topic(name: str, entry: dict[str, Any]) -> Topic:
    questions = tuple(
        Question(q["ask"], _stems(q.get("about")), q.get("given", ""), _stems(q.get("when")))
        for q in entry["questions"]
    )
    return Topic(name, tuple(entry["names"]), tuple(entry["near"]), entry["ack"], entry.get("thing", "it"), questions)


def _stems(words: str | None) -> frozenset[str]:
    return frozenset(stem(word) for word in (words or "").split())


def _entries(data: dict[str, Any]) -> Iterator[tuple[str, str, float]]:
    """Yield every word and phrase of the file with its group and weight."""
    for name, topic in data["topics"].items():
        group = f"topics.{name}"
        yield from ((group, word, 1.0) for word in topic["words"].split())
        yield from ((group, word, 1.0) for word in topic.get("things", "").split())
        yield from ((f"things.{name}", word, 1.0) for word in _with_plurals(topic.get("things", "")))
        yield from ((group, word, 2.0) for word in topic["strong"].split())
        yield from ((group, phrase, 2.0) for phrase in topic.get("phrases", ()))
        yield from ((group, phrase, 1.0) for phrase in topic.get("faint", ()))
    for section in ("urgency", "small"):
        yield from _lists(section, data[section])
    for name, feeling in data["feelings"].items():
        yield from ((f"feelings.{name}", word, 1.0) for word in feeling["words"])


def _with_plurals(words: str) -> list[str]:
    return [form for word in words.split() for form in (word, f"{word}s")]


def _lists(section: str, lists: dict[str, Iterable[str]]) -> Iterator[tuple[str, str, float]]:
    for key, words in lists.items():
        if isinstance(words, list) and key not in ("between", "fields"):
            yield from ((f"{section}.{key}", word, 1.0) for word in words)


def _is_not(word: str) -> bool:
    return word in ("not", "cannot", "never") or (word.endswith("nt") and len(word) > 3)


def _unmasked(hits: list[Hit]) -> list[Hit]:
    """Return *hits* without those inside a longer phrase of another topic: "order" in "out of order"."""
    phrases: dict[int, list[Hit]] = {}
    for hit in hits:
        if hit.end - hit.start > 1 and (hit.group in _MASKS or hit.group.startswith("topics.")):
            for index in range(hit.start, hit.end):
                phrases.setdefault(index, []).append(hit)
    return [hit for hit in hits if not _is_masked(hit, phrases.get(hit.start, ()))]


def _is_masked(hit: Hit, phrases: Iterable[Hit]) -> bool:
    longer = [p for p in phrases if p.end >= hit.end and p.end - p.start > hit.end - hit.start]
    size = max((p.end - p.start for p in longer), default=0)
    longest = {p.group for p in longer if p.end - p.start == size}
    if hit.group == "urgency.danger":
        return bool(longest & _MASKS)
    return hit.group.startswith("topics.") and bool(longest) and hit.group not in longest
