"""What a caller's words amount to: the topic, how urgent it is, how the caller feels.

Weighed by the lexicon, word by word; no sentence is understood. Everything here is a pure function of the
conversation, and only what the caller said counts: an agent that asks "is it urgent?" has said nothing about it, the
caller's "yes" has.
"""

from collections.abc import Iterator
from functools import cached_property

from .conversation import Conversation
from .evidence import numbers, references
from .lexicon import Hit, Reading, Topic, lexicon
from .stance import SECOND, TAKEN_BACK, Clause, clauses, own_factor, second, texts, turning
from .words import sentences, tokens

_STAKES_REACH = 12
_NEED_REACH = 8
_FEW = 4
_DENIED = -4.0
_URGENT_QUESTION = {"urgent", "urgency", "deadline", "soon", "hurry", "priority", "when", "rush"}


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
        first, other = texts(readings, found[: self._second]), texts(readings, found[self._second :])
        return Judgement(Conversation.of(*first), part=True), Judgement(Conversation.of(*other), part=True)

    @cached_property
    def _clauses(self) -> list[Clause]:
        return clauses(self.conversation.readings)

    @cached_property
    def _second(self) -> int:
        return second(self._clauses)

    @cached_property
    def _factors(self) -> list[float]:
        """What each clause's words count."""
        turn, split = turning(self._clauses), self._second
        factors = [own_factor(c) * (TAKEN_BACK if i < turn else 1.0) for i, c in enumerate(self._clauses)]
        if not self.parts:
            return factors
        first, other = (part.urgency or 0.0 for part in self.parts)
        lesser = range(split) if other > first else range(split, len(factors))
        return [factor * (SECOND if index in lesser else 1.0) for index, factor in enumerate(factors)]

    @cached_property
    def _weighed(self) -> list[tuple[Hit, float]]:
        """The known words of topics, each with what it counts."""
        weighed = zip(self._clauses, self._factors, strict=True)
        return [(hit, factor) for clause, factor in weighed for hit in clause.hits if hit.group.startswith("topics.")]

    @cached_property
    def said(self) -> dict[str, float]:
        """Every stem that the caller said, with what it counts by where it stands."""
        said: dict[str, float] = {}
        for clause, factor in zip(self._clauses, self._factors, strict=True):
            for root in self.conversation.readings[clause.turn].stems[clause.start : clause.end]:
                said[root] = max(factor, said.get(root, 0.0))
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

        Danger counts most, then what the caller says outright (the later word wins), then people who cannot work, a
        near time with something at stake, and whether there is trouble at all or only a question. Of two troubles the
        more urgent one counts, and what follows a change of mind, if it says anything about urgency.
        """
        if not self.conversation.caller:
            return None
        answered = self._answered()
        for level in (self._urgency_of_parts(), self._urgency_after_turning()):
            if level is not None:
                return answered[-1] if answered and level < 1 else level
        return self._plain_urgency(answered)

    def _plain_urgency(self, answered: list[float]) -> float:
        outright = [level for reading in self.conversation.readings for level in _outright(reading)] + answered
        if self.has("urgency.danger"):
            return 1.0
        if outright:
            return outright[-1]
        if self.has("urgency.blocked"):
            return 0.9
        if any(_deadline(reading) for reading in self.conversation.readings):
            return 0.85
        return 0.15 if self._idle else 0.5

    def _urgency_of_parts(self) -> float | None:
        return max((part.urgency or 0.0 for part in self.parts), default=None) if self.parts else None

    def _urgency_after_turning(self) -> float | None:
        turn = turning(self._clauses)
        if self._is_part or not turn:
            return None
        later = Judgement(Conversation.of(*texts(self.conversation.readings, self._clauses[turn:])), part=True).urgency
        return None if later == 0.5 else later

    @cached_property
    def deadline(self) -> str:
        """The near time that the caller named ("tomorrow"), or an empty string."""
        for reading in reversed(self.conversation.readings):
            for start, end in _near(reading):
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

    @cached_property
    def _idle(self) -> bool:
        """The caller only asks for information or says thanks; nothing is wrong and nothing is wished for."""
        lines = [lexicon().read(sentence) for sentence in self.conversation.sentences]
        if any(_is_case(line) for line in lines) or references(self.conversation.text):
            return False
        parts = [part for line in lines for part in ([line] if _is_idle(line) else _parts(line))]
        return any(map(_is_idle, parts)) and all(_is_idle(part) or _says_little(part) for part in parts)

    def _hits(self, family: str) -> Iterator[Hit]:
        for reading in self.conversation.readings:
            yield from (hit for hit in reading.hits if hit.group.startswith(f"{family}."))

    def _answered(self) -> list[float]:
        """Return what the caller answered when the agent asked about urgency: yes, no, or a near time."""
        levels, question = [], False
        for turn in self.conversation.turns:
            if turn.role == "assistant":
                last = sentences(turn.text)[-1:]
                question = bool(last) and "?" in last[0] and bool(_URGENT_QUESTION & set(lexicon().read(last[0]).words))
                continue
            reading = lexicon().read(turn.text)
            if question and len(reading.words) <= 6:
                if _near(reading):
                    levels.append(0.85)
                elif reading.has("small.yes") or reading.has("small.no"):
                    levels.append(0.85 if reading.has("small.yes") else 0.15)
            question = False
        return levels


def _outright(reading: Reading) -> Iterator[float]:
    """Yield what the caller says about urgency in so many words, in order."""
    low = [(hit.start, hit.end) for hit in reading.find("urgency.low")]
    for hit in reading.hits:
        inside = any(start <= hit.start and hit.end <= end for start, end in low)
        if hit.group == "urgency.low" or (hit.group == "urgency.high" and hit.denied and not inside):
            yield 0.15
        elif hit.group == "urgency.high" and not inside:
            yield 0.95


def _deadline(reading: Reading) -> bool:
    """Say whether a near time and something at stake, or a need, stand close together."""
    near = _near(reading)
    stakes = [hit.start for hit in reading.find("urgency.stakes")]
    needs = [hit.start for hit in reading.find("urgency.need")]
    return any(
        any(abs(stake - start) <= _STAKES_REACH for stake in stakes)
        or any(0 < start - need <= _NEED_REACH for need in needs)
        for start, _ in near
    )


def _near(reading: Reading) -> list[tuple[int, int]]:
    """Return where the caller names a time within a day or so: first token and the one after the last."""
    spans = [(hit.start, hit.end) for hit in reading.find("urgency.near")]
    spoken = tokens(reading.text)
    for number in numbers(reading.text):
        before = spoken[number.start - 1].text if number.start else ""
        if number.unit in ("minute", "hour") and before in ("in", "within", "than"):
            spans.append((reading.index(spoken[number.start - 1].start), reading.index(spoken[number.end].start) + 1))
    return sorted(spans)


def _is_case(reading: Reading) -> bool:
    """Say whether a sentence tells of trouble or wishes for something to be done; to be told something is no case."""
    asked = [(hit.start, hit.end) for hit in reading.find("small.ask")]
    return reading.has("small.trouble") or any(
        not any(start <= hit.start < end for start, end in asked) for hit in reading.find("small.wish")
    )


def _is_idle(reading: Reading) -> bool:
    """Say whether a sentence asks for information, or says something kind about no matter of the caller's own."""
    return _asks(reading) or (reading.has("feelings.positive") and not {"my", "our", "mine"} & set(reading.words))


def _asks(reading: Reading) -> bool:
    """Say whether a sentence asks for information and tells of no case ("what are your opening hours").

    With no trust in question marks: it begins like a question, after what callers begin with, or says that it asks.
    """
    start = _after_fillers(reading)
    begins = any(hit.start == start for hit in reading.find("small.info_questions")) or reading.has("small.ask")
    words = reading.words[start:]
    return begins and (words[:1] == ("how",) or not {"my", "our", "mine"} & set(words))


def _after_fillers(reading: Reading) -> int:
    """Return the index of the first word after "Hi", "so", "I have a question"."""
    fillers: dict[int, int] = {}
    for hit in [*reading.find("small.fillers"), *reading.find("small.ask")]:
        fillers[hit.start] = max(hit.end, fillers.get(hit.start, 0))
    start = 0
    while start in fillers:
        start = fillers[start]
    return start


def _parts(reading: Reading) -> list[Reading]:
    """Return the clauses of a sentence, each read by itself."""
    return [lexicon().read(text) for clause in clauses([reading]) for text in texts([reading], [clause])]


def _says_little(reading: Reading) -> bool:
    """Say whether a clause is a greeting, a few words, or speaks of no topic."""
    topics = {hit.group for hit in reading.hits if hit.group.startswith("topics.")} - {"topics.question"}
    return len(reading.words) < _FEW or not topics or reading.has("urgency.low")
