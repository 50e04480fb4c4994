"""Choosing among named things by a caller's words: members of an enum, variants of a union, yes or no."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .judgement import Judgement
from .lexicon import lexicon
from .words import name_words, stem

_EMPTY_WORDS = (
    "is has have had was were are be do does did should would needs need wants want requires require can could will "
    "the a an of to for in on and or any caller customer user"
)
_EMPTY = frozenset(stem(word) for word in _EMPTY_WORDS.split())
_WINDOW = 4
_NEAR = 0.9
"""What a topic counts for a member that is named after a related one."""
_MANNERS = ("question", "human", "feedback")
"""Topics that say how somebody calls, not what about."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A member that was chosen."""

    index: int
    strength: float
    """From 0 (nothing was said; the least committal member) to 1."""


@dataclass(frozen=True, slots=True)
class Field:
    """What a place in a schema is called and said to be."""

    name: str = ""
    description: str = ""

    @property
    def words(self) -> list[str]:
        """The words of its name."""
        return name_words(self.name)

    def is_about(self, key: str, *, described: bool = False) -> bool:
        """Say whether its name has a word of the lexicon's list *key*; with *described*, or its description has."""
        known = lexicon().data["fields"][key]
        words = self.words + (name_words(self.description) if described else [])
        return any(word in known or stem(word) in known for word in words)


class Chooser:
    """Chooses by one judgement."""

    def __init__(self, judgement: Judgement) -> None:
        self.judgement = judgement
        self._levels: dict[str, float] = lexicon().data["urgency"]["levels"]

    def member(self, members: Sequence[Any], field: Field) -> Choice:
        """Choose one of *members*, the values of an enum (or names of variants); there must be one at least.

        Members on a scale (`low` … `high`, `P1` …) go by urgency, or by the strength of the match where the field is
        called confidence; members that are feelings go by the caller's words of feeling; `yes` and `no` by what was
        said about the field; others by the topic that they are named after, and by their own words.
        """
        names = [_member_words(member) for member in members]
        for way in (self._level, self._feeling, self._answer, self._topic):
            choice = way(members, names, field)
            if choice:
                return choice
        return Choice(self.neutral(names), 0.0)

    def neutral(self, names: Sequence[list[str]]) -> int:
        """Return the index of the member that says least: `other`, a neutral feeling, the middle of a scale."""
        vague = lexicon().topics["anything"].names
        calm = lexicon().data["feelings"]["neutral"]["names"]
        for known in (vague, calm):
            for index, words in enumerate(names):
                if set(words) & set(known):
                    return index
        levels = [(abs(0.45 - level), index) for index, words in enumerate(names) for level in self._levels_of(words)]
        return min(levels)[1] if levels and (len(levels) > 1 or min(levels)[0] < 0.1) else 0

    def _levels_of(self, words: list[str]) -> list[float]:
        return [self._levels[word] for word in words if word in self._levels][:1]

    def _level(self, members: Sequence[Any], names: Sequence[list[str]], field: Field) -> Choice | None:
        """Choose on a scale, if there is one: two members at least are levels, or numbers in a field of urgency."""
        urgent = field.is_about("urgency") or bool(set(field.words) & set(lexicon().data["urgency"]["fields"]))
        sure = field.is_about("confidence")
        levels = {index: level for index, words in enumerate(names) for level in self._levels_of(words)}
        if urgent and len(members) > 1 and all(isinstance(member, int) for member in members):
            levels = dict(enumerate(_ranks(members, field)))
        wanted = self.judgement.strength if sure else self.judgement.urgency
        if len(levels) < 2 or wanted is None or (field.words and not urgent and not sure):
            return None
        index = min(levels, key=lambda index: (abs(levels[index] - wanted), index))
        return Choice(index, 0.6 if wanted == 0.5 else 0.9)

    def _feeling(self, members: Sequence[Any], names: Sequence[list[str]], field: Field) -> Choice | None:
        feelings = lexicon().data["feelings"]
        known = [
            index for index, words in enumerate(names) if any(set(words) & set(f["names"]) for f in feelings.values())
        ]
        if len(known) < 2 and not (known and field.is_about("feeling")):
            return None
        felt = sorted(self.judgement.feelings.items(), key=lambda item: -item[1])
        for feeling, _ in felt:
            for name in feelings[feeling]["names"]:
                for index in known:
                    if name in names[index]:
                        return Choice(index, 0.8)
        return Choice(self.neutral(names), 0.3) if self.judgement.conversation.caller else None

    def _answer(self, members: Sequence[Any], names: Sequence[list[str]], field: Field) -> Choice | None:
        yes = next((index for index, words in enumerate(names) if words and words[0] in ("yes", "true")), None)
        no = next((index for index, words in enumerate(names) if words and words[0] in ("no", "false")), None)
        said = self.yes_or_no(field) if yes is not None and no is not None else None
        return None if said is None or yes is None or no is None else Choice(yes if said else no, 0.8)

    def _topic(self, members: Sequence[Any], names: Sequence[list[str]], field: Field) -> Choice | None:
        fits = [self.fit(words) for words in names]
        best = max(range(len(fits)), key=lambda index: fits[index])
        vague = lexicon().topics["anything"].names
        catch_all = next((index for index, words in enumerate(names) if set(words) & set(vague)), None)
        elsewhere = self._unnamed(names) if self._name_topics(names) else 0.0
        if fits[best] < 1.0 or (elsewhere > fits[best] and catch_all is not None):
            return Choice(catch_all, 0.6) if catch_all is not None and elsewhere >= 1.0 else None
        second = max((fit for index, fit in enumerate(fits) if index != best), default=0.0)
        return Choice(best, round(min(0.99, fits[best] / (fits[best] + 1.5) * (1 - 0.4 * second / fits[best])), 2))

    def fit(self, words: Sequence[str]) -> float:
        """Return how well a name fits what the caller said: its topic's weight, and 2 for being said itself."""
        said = self.judgement.said
        own = [root for word in words if (root := stem(word)) not in _EMPTY and len(root) > 1]
        direct = 2.0 * sum(min(1.0, said.get(root, 0.0)) for root in own) / len(own) if own else 0.0
        denied = any(hit.denied and hit.word in words for hit in self._topic_hits)
        return (0.0 if denied else direct) + max(
            (self._affinity(name, words) for name in self.judgement.scores), default=0.0
        )

    @cached_property
    def _topic_hits(self) -> list[Any]:
        readings = self.judgement.conversation.readings
        return [hit for reading in readings for hit in reading.hits if hit.group.startswith("topics.")]

    def _affinity(self, name: str, words: Sequence[str]) -> float:
        """Return the weight of topic *name* for a member of these words: the full one for its first name."""
        topic = lexicon().topics[name]
        places = [place for place, known in enumerate(topic.names) if known in words or stem(known) in map(stem, words)]
        if places:
            return self.judgement.scores[name] * (1.0 - 0.05 * places[0])
        related = [other for other in topic.near if set(lexicon().topics[other].names[:2]) & set(words)]
        return self.judgement.scores[name] * _NEAR if related else 0.0

    def _name_topics(self, names: Sequence[list[str]]) -> bool:
        """Say whether members are named after topics; else (`laptop`, `phone`) a topic cannot be elsewhere."""
        known = {name for topic in lexicon().topics.values() for name in topic.names if topic.name != "anything"}
        return any(set(words) & known for words in names)

    def _unnamed(self, names: Sequence[list[str]]) -> float:
        """Return the weight of the strongest topic that no member is named after; praise or a complaint counts half."""
        left = [
            score * (0.5 if name == "feedback" else 1.0)
            for name, score in self.judgement.scores.items()
            if (name not in _MANNERS or name == "feedback") and not any(self._affinity(name, words) for words in names)
        ]
        return max(left, default=0.0)

    def yes_or_no(self, field: Field) -> bool | None:
        """Return what the caller said about a field that is true or false, or None.

        Looked for: a field of urgency, escalation or a solved problem by the lexicon; else all words of the field's
        name in one sentence of the caller's (false where a negator stands just before them); else a yes or no just
        after an agent's question that has the words.
        """
        own = [root for word in field.words if (root := stem(word)) not in _EMPTY]
        if not own or not self.judgement.conversation.caller:
            return None
        known = self._known_fact(set(field.words))
        if known is not None:
            return known
        for sentence in reversed(self.judgement.conversation.sentences):
            reading = lexicon().read(sentence)
            if all(root in reading.stems for root in own):
                first = min(reading.stems.index(root) for root in own)
                return not set(reading.words[max(0, first - _WINDOW) : first + 1]) & set(
                    lexicon().data["small"]["negators"]
                )
        return self._reply_to(set(own))

    def _known_fact(self, words: set[str]) -> bool | None:
        judgement = self.judgement
        if words & set(lexicon().data["urgency"]["fields"]):
            return None if judgement.urgency is None else judgement.urgency >= 0.7
        if words & {"resolved", "solved", "fixed"}:
            return judgement.has("small.solved")
        if words & {"human", "escalate", "escalation", "supervisor"}:
            return judgement.scores["human"] > 0 or judgement.has("urgency.danger")
        named = [
            name for name, topic in lexicon().topics.items() if set(topic.names[:3]) & words and name != "anything"
        ]
        scores = [judgement.scores[name] for name in named if judgement.scores[name] >= 2]
        return True if scores else None

    def _reply_to(self, own: set[str]) -> bool | None:
        said, asked = None, False
        for turn in self.judgement.conversation.turns:
            reading = lexicon().read(turn.text)
            if turn.role == "assistant":
                asked = "?" in turn.text and own <= set(reading.stems)
            elif asked:
                said = True if reading.has("small.yes") else False if reading.has("small.no") else said
                asked = False
        return said


def _member_words(member: Any) -> list[str]:
    if isinstance(member, bool) or member is None:
        return ["none"] if member is None else ["yes" if member else "no"]
    return [word for part in name_words(str(member)) for word in (part,)]


def _ranks(members: Sequence[int], field: Field) -> list[float]:
    """Return whole numbers as levels: the largest is the most urgent, unless the field says that 1 is."""
    low, high = min(members), max(members)
    words = " ".join(name_words(field.description))
    first = any(f"{low} {how}{best}" in words for how in ("", "is ", "is the ", "being ", "means ", "the ") for best in
                ("highest", "most", "critical", "urgent", "top", "high"))  # fmt: skip
    ranks = [(member - low) / (high - low) if high > low else 0.5 for member in members]
    return [1 - rank for rank in ranks] if first else ranks
