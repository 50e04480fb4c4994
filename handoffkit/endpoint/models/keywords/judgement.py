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
from .words import sentences, tokens

_STAKES_REACH = 12
_NEED_REACH = 8
_DENIED = -4.0
_URGENT_QUESTION = {"urgent", "urgency", "deadline", "soon", "hurry", "priority", "when", "rush"}


class Judgement:
    """The evidence of one conversation, weighed."""

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation

    @cached_property
    def scores(self) -> dict[str, float]:
        """Every topic of the lexicon with the weight of its words, each word counted once, in the lexicon's order."""
        scores = dict.fromkeys(lexicon().topics, 0.0)
        seen: set[tuple[str, str]] = set()
        for hit in self._hits("topics"):
            if (hit.group, hit.word) not in seen:
                seen.add((hit.group, hit.word))
                scores[hit.group.partition(".")[2]] += _DENIED if hit.denied else hit.weight
        return {name: max(0.0, score) for name, score in scores.items()}

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
        """The things that the caller named, as they were said, each once: "laptop"."""
        said = [
            reading.words[hit.start]
            for reading in self.conversation.readings
            for hit in reading.hits
            if hit.group.startswith("things.")
        ]
        return list(dict.fromkeys(said))

    def has(self, group: str) -> bool:
        """Say whether any turn of the caller's has a word of the lexicon's *group*, not denied."""
        return any(reading.has(group) for reading in self.conversation.readings)

    @cached_property
    def urgency(self) -> float | None:
        """How urgent it is: 0.15 there is time, 0.5 trouble as usual, 0.85 a deadline, 1 danger; None: no words.

        Danger counts most, then what the caller says outright (the later word wins), then people who cannot work, a
        near time with something at stake, and whether there is trouble at all or only a question.
        """
        if not self.conversation.caller:
            return None
        outright = [level for reading in self.conversation.readings for level in _outright(reading)] + self._answered()
        if self.has("urgency.danger"):
            return 1.0
        if outright:
            return outright[-1]
        if self.has("urgency.blocked"):
            return 0.9
        if any(_deadline(reading) for reading in self.conversation.readings):
            return 0.85
        return 0.15 if self._idle else 0.5

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
        case = any(hit.group in ("small.trouble", "small.wish") for line in lines for hit in line.hits)
        if case or references(self.conversation.text):
            return False
        idle = [_asks(line) or line.has("feelings.positive") for line in lines]
        return any(idle) and all(calm or len(line.words) < 4 for calm, line in zip(idle, lines, strict=True))

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


def _asks(reading: Reading) -> bool:
    """Say whether a sentence asks for information and tells of no case ("what are your opening hours")."""
    words = list(reading.words)
    while words and words[0] in lexicon().data["small"]["fillers"]:
        words.pop(0)
    starts = any(hit.start == len(reading.words) - len(words) for hit in reading.find("small.info_questions"))
    return starts and (words[:1] == ["how"] or not {"my", "our", "mine"} & set(words))
