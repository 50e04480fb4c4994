"""What a caller says about urgency: outright, by a near time with something at stake, or when asked."""

from collections.abc import Iterator

from .conversation import Conversation
from .evidence import numbers
from .lexicon import Reading, lexicon
from .words import sentences, tokens

_STAKES_REACH = 12
_NEED_REACH = 8
_URGENT_QUESTION = {"urgent", "urgency", "deadline", "soon", "hurry", "priority", "when", "rush"}


def outright(reading: Reading) -> Iterator[float]:
    """Yield what the caller says about urgency in so many words, in order."""
    low = [(hit.start, hit.end) for hit in reading.find("urgency.low")]
    for hit in reading.hits:
        inside = any(start <= hit.start and hit.end <= end for start, end in low)
        if hit.group == "urgency.low" or (hit.group == "urgency.high" and hit.denied and not inside):
            yield 0.15
        elif hit.group == "urgency.high" and not inside:
            yield 0.95


def has_deadline(reading: Reading) -> bool:
    """Say whether a near time and something at stake, or a need, stand close together."""
    stakes = [hit.start for hit in reading.find("urgency.stakes")]
    asked = {hit.start for hit in reading.find("small.ask")}
    needs = [hit.start for hit in reading.find("urgency.need") if hit.start not in asked]
    return any(
        any(abs(stake - start) <= _STAKES_REACH for stake in stakes)
        or any(0 < start - need <= _NEED_REACH for need in needs)
        for start, _ in near(reading)
    )


def near(reading: Reading) -> list[tuple[int, int]]:
    """Return where the caller names a time within a day or so: first token and the one after the last."""
    spans = [(hit.start, hit.end) for hit in reading.find("urgency.near")]
    spoken = tokens(reading.text)
    for number in numbers(reading.text):
        before = spoken[number.start - 1].text if number.start else ""
        if number.unit in ("minute", "hour") and before in ("in", "within", "than"):
            spans.append((reading.index(spoken[number.start - 1].start), reading.index(spoken[number.end].start) + 1))
    return sorted(spans)


def answers(conversation: Conversation) -> list[float]:
    """Return what the caller answered when the agent asked about urgency: yes, no, or a near time."""
    levels, question = [], False
    for turn in conversation.turns:
        if turn.role == "assistant":
            last = sentences(turn.text)[-1:]
            question = bool(last) and "?" in last[0] and bool(_URGENT_QUESTION & set(lexicon().read(last[0]).words))
            continue
        reading = lexicon().read(turn.text)
        if question and len(reading.words) <= 6:
            if near(reading):
                levels.append(0.85)
            elif reading.has("small.yes") or reading.has("small.no"):
                levels.append(0.85 if reading.has("small.yes") else 0.15)
        question = False
    return levels
