"""What a caller's words amount to: the topic, how urgent it is, how the caller feels.

Weighed by the lexicon, word by word; no sentence is understood. Everything here is a pure function of the
conversation, and only what the caller said counts: an agent that asks "is it urgent?" has said nothing about it, the
caller's "yes" has.
"""

from collections.abc import Iterator
from functools import cached_property

from .asking import only_asks
from .conversation import Conversation
from .lexicon import Hit, Topic, lexicon
from .stance import MAIN, SECOND, VAGUE, Clause, Turning, clauses, of_second, own_factors, second, texts, turning
from .urgency import answers, has_deadline, near, outright

_CLEAR = 2.0
_CALM = 0.3
_DENIED = -4.0


class Judgement:
    """The evidence of one conversation, weighed."""

    def __init__(self, conversation: Conversation, *, part: bool = False) -> None:
        self.conversation = conversation
        self._is_part = part

    @cached_property
    def scores(self) -> dict[str, float]:
        """Every topic of the lexicon with the weight of its words, each word counted once, in the lexicon's order.

        A word counts by where it stands (see `stance`): little if it was taken back, less in the lesser of two
        troubles.
        """
        scores = dict.fromkeys(lexicon().topics, 0.0)
        weights: dict[tuple[str, str, bool], float] = {}
        for hit, factor in self._weighed:
            key = (hit.group, hit.word, hit.denied)
            weights[key] = _DENIED if hit.denied else max(weights.get(key, 0.0), hit.weight * factor)
        for (group, _, _), weight in weights.items():
            scores[group.partition(".")[2]] += weight
        return {name: max(0.0, score) for name, score in scores.items()}

    @cached_property
    def parts(self) -> tuple["Judgement", "Judgement"] | None:
        """The two troubles, if the caller tells of two ("and I also …"), each judged by itself."""
        if self._is_part or not self._second:
            return None
        readings, found = self.conversation.readings, self._clauses
        pairs = list(zip(found, self._is_second, strict=True))
        halves = ([clause for clause, is_second in pairs if is_second == half] for half in (False, True))
        first, other = (Judgement(Conversation.of(*texts(readings, half)), part=True) for half in halves)
        return first, other

    @cached_property
    def _clauses(self) -> list[Clause]:
        return clauses(self.conversation.readings)

    @cached_property
    def _turning(self) -> Turning:
        return turning(self._clauses)

    @cached_property
    def _second(self) -> int:
        return second(self._clauses)

    @cached_property
    def _is_second(self) -> list[bool]:
        return of_second(self._clauses, self._second)

    @cached_property
    def _factors(self) -> list[float]:
        """What each clause's words count, changes of mind apart."""
        factors = own_factors(self._clauses)
        if not self.parts:
            return factors
        first, other = (part.urgency or 0.0 for part in self.parts)
        less = SECOND if all(max(part.scores.values()) >= _CLEAR for part in self.parts) else VAGUE
        lesser = [is_second != (other > first) and factor < MAIN
                  for is_second, factor in zip(self._is_second, factors, strict=True)]  # fmt: skip
        return [factor * less if is_less else factor for factor, is_less in zip(factors, lesser, strict=True)]

    @cached_property
    def _weighed(self) -> list[tuple[Hit, float]]:
        """The known words of topics, each with what it counts."""
        return [
            (hit, factor * self._turning.leaves(index, hit.group))
            for index, (clause, factor) in enumerate(zip(self._clauses, self._factors, strict=True))
            for hit in clause.hits
            if hit.group.startswith("topics.")
        ]

    @cached_property
    def said(self) -> dict[str, float]:
        """Every stem that the caller said, with what it counts by where it stands."""
        said: dict[str, float] = {}
        for index, (clause, factor) in enumerate(zip(self._clauses, self._factors, strict=True)):
            for root in self.conversation.readings[clause.turn].stems[clause.start : clause.end]:
                said[root] = max(factor * self._turning.leaves(index, ""), said.get(root, 0.0))
        return said

    @cached_property
    def topic(self) -> Topic | None:
        """The topic that the caller's words speak of most, or None."""
        name = max(self.scores, key=lambda name: self.scores[name])
        return lexicon().topics[name] if self.scores[name] > 0 else None

    @cached_property
    def strength(self) -> float:
        """How clear the topic is, from 0 (no known word) to 0.99 (many words, and of one topic only)."""
        best, second = sorted(self.scores.values(), reverse=True)[:2]
        return round(min(0.99, best / (best + 1.5) * (1 - 0.4 * second / best)), 2) if best else 0.0

    @cached_property
    def things(self) -> list[str]:
        """The things that the caller named, as they were said, each once: "laptop"; those taken back come last."""
        said = [
            (-factor, self.conversation.readings[clause.turn].words[hit.start])
            for clause, factor in zip(self._clauses, self._factors, strict=True)
            for hit in clause.hits
            if hit.group.startswith("things.")
        ]
        return list(dict.fromkeys(word for _, word in sorted(said, key=lambda pair: pair[0])))

    def has(self, group: str) -> bool:
        """Say whether any turn of the caller's has a word of the lexicon's *group*, not denied."""
        return any(reading.has(group) for reading in self.conversation.readings)

    @cached_property
    def urgency(self) -> float | None:
        """How urgent it is: 0.15 there is time, 0.5 trouble as usual, 0.85 a deadline, 1 danger; None: no words.

        Danger counts most, then what the caller says outright (the later word wins), then people who cannot work or
        bear it, a near time with something at stake, and whether there is trouble at all or only a question. Of two
        troubles the more urgent one counts, and what follows a change of mind, if it says anything about urgency.
        """
        if not self.conversation.caller:
            return None
        answered = answers(self.conversation)
        for level in (self._urgency_of_parts(), self._urgency_after_turning()):
            if level is not None:
                return answered[-1] if answered and level < 1 else level
        return self._plain_urgency(answered)

    def _plain_urgency(self, answered: list[float]) -> float:
        readings = self.conversation.readings
        outspoken = [level for reading in readings for level in outright(reading)] + answered
        if self.has("urgency.danger"):
            return 1.0
        pressed = any(map(has_deadline, readings))
        if outspoken and not (self._is_part and pressed and outspoken[-1] < _CALM):
            return outspoken[-1]
        if self.has("urgency.blocked") or (self.has("urgency.frail") and self.has("urgency.hardship")):
            return 0.9
        if pressed:
            return 0.85
        return 0.15 if only_asks(self.conversation) else 0.5

    def _urgency_of_parts(self) -> float | None:
        return max((part.urgency or 0.0 for part in self.parts), default=None) if self.parts else None

    def _urgency_after_turning(self) -> float | None:
        turn = self._turning.index
        if self._is_part or not turn:
            return None
        later = Judgement(Conversation.of(*texts(self.conversation.readings, self._clauses[turn:])), part=True).urgency
        return None if later == 0.5 else later

    @cached_property
    def deadline(self) -> str:
        """The near time that the caller named ("tomorrow"), or an empty string."""
        for reading in reversed(self.conversation.readings):
            for start, end in near(reading):
                return reading.text[reading.tokens[start].start : reading.tokens[end - 1].end].lower()
        return ""

    @cached_property
    def feelings(self) -> dict[str, int]:
        """Every feeling of the lexicon that the caller's words show, with the number of such words."""
        counts = dict.fromkeys(lexicon().data["feelings"], 0)
        for hit in self._hits("feelings"):
            counts[hit.group.partition(".")[2]] += 0 if hit.denied else 1
        return {name: count for name, count in counts.items() if count}

    @cached_property
    def mood(self) -> float:
        """From -1 (only negative words) to 1 (only positive ones); 0 when neither or both in balance."""
        good = self.feelings.get("positive", 0)
        bad = sum(self.feelings.values()) - good - self.feelings.get("confused", 0)
        return (good - bad) / (good + bad) if good + bad else 0.0

    def _hits(self, family: str) -> Iterator[Hit]:
        for reading in self.conversation.readings:
            yield from (hit for hit in reading.hits if hit.group.startswith(f"{family}."))
