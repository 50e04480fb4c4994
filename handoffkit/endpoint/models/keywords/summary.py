"""A caller's words made short: a summary, a title, and what is still worth asking."""

import re
from collections.abc import Callable, Iterator, Sequence

from .conversation import Conversation
from .evidence import addresses, amounts, emails, phones, references
from .judgement import Judgement
from .lexicon import Question, Reading, lexicon
from .spoken import without_hesitations
from .words import sentences, stem, tokens

SUMMARY_LENGTH = 240
"""The longest summary, in characters."""
TITLE_LENGTH = 70
_CLAUSE = re.compile(r"\s+(?=(?:and|but|because|so|then)\b)|(?<=[,;:—–])\s+", re.IGNORECASE)
_LONG_SENTENCE = 160
_BOTH = 120
"""The shortest summary, in characters, that has room for two troubles."""
_OPENERS = re.compile(r"^[\s,.!;:—–-]+")


def summary(judgement: Judgement, length: int = SUMMARY_LENGTH) -> str:
    """Return the caller's most telling sentences, in order and in the caller's words; empty if nothing was said.

    Telling are words of a topic, what went wrong, and deadlines. Words that the lexicon does not know count nothing,
    so of a call in another language it is the first and the last sentence. Of two troubles both are told.
    """
    if judgement.parts and length >= _BOTH:
        return " ".join(filter(None, (summary(part, length // 2) for part in judgement.parts)))
    spoken = [without_hesitations(sentence) for sentence in judgement.conversation.sentences]
    parts = [part for sentence in spoken for part in _clauses(sentence)]
    parts = list(dict.fromkeys(cleaned for part in parts if (cleaned := without_fillers(part))))
    weights = [_weight(lexicon().read(part)) for part in parts]
    if parts and not any(weights):
        weights = [1.0 if index in (0, len(parts) - 1) else 0.0 for index in range(len(parts))]
    chosen: list[int] = []
    for index in sorted(range(len(parts)), key=lambda index: (-weights[index], index)):
        if weights[index] > 0 and len(chosen) < 3 and sum(len(parts[i]) + 2 for i in [*chosen, index]) <= length:
            chosen.append(index)
    if parts and not chosen:
        return cut(parts[max(range(len(parts)), key=lambda index: weights[index])], length)
    return " ".join(_sentence(parts[index]) for index in sorted(chosen))


def title(judgement: Judgement, length: int = TITLE_LENGTH) -> str:
    """Return the one first telling sentence or clause of the caller's, short and without a full stop."""
    spoken = [without_hesitations(sentence) for sentence in judgement.conversation.sentences]
    parts = [without_fillers(part) for sentence in spoken for part in _CLAUSE.split(sentence)]
    parts = [part for part in parts if part]
    if not parts:
        return ""
    weights = [_weight(lexicon().read(part)) for part in parts]
    best = next(part for part, weight in zip(parts, weights, strict=True) if weight >= min(3.0, max(weights)))
    return cut(_capital(best).rstrip(" .!?,;:"), length)


def cut(text: str, length: int) -> str:
    """Return *text*, or its beginning up to a word with an ellipsis, at most *length* characters long."""
    if len(text) <= length:
        return text
    head = text[: max(0, length - 1)]
    return (head.rsplit(" ", 1)[0] if " " in head[length // 2 :] else head).rstrip(" ,;:—–-") + "…"


def without_fillers(text: str) -> str:
    """Return *text* without what callers begin with: "Hi, um, so …"."""
    fillers = set(lexicon().data["small"]["fillers"])
    while True:
        text = _OPENERS.sub("", text)
        words = tokens(text[:60])
        two = " ".join(word.text for word in words[:2])
        size = 2 if len(words) > 1 and two in fillers else 1 if words and words[0].text in fillers else 0
        if not size:
            return text.strip().rstrip(",;:—–- ")
        text = text[words[size - 1].end :]


def _clauses(sentence: str) -> Iterator[str]:
    if len(sentence) <= _LONG_SENTENCE:
        yield sentence
    else:
        yield from _CLAUSE.split(sentence)


def _weight(reading: Reading) -> float:
    """Return how much a sentence tells: each known topic word counts once, a deadline or an urgent word double."""
    topics = {hit.word for hit in reading.hits if hit.group.startswith("topics.") and hit.group != "topics.question"}
    urgent = [hit for hit in reading.hits if hit.group in ("urgency.near", "urgency.high", "urgency.danger")]
    trouble = reading.has("small.trouble") or reading.has("small.nothing_changed")
    return len(topics) + 2.0 * bool(urgent) + 1.5 * trouble + 0.5 * reading.has("small.wish")


def _sentence(text: str) -> str:
    text = _capital(text)
    return text if text.endswith((".", "!", "?", "…", "。")) else f"{text}."


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def open_questions(judgement: Judgement, *, limit: int | None = None) -> list[str]:
    """Return the lexicon's questions about the call's topic that were neither asked by the agent nor answered.

    With no known topic there are the general questions. In the order of the lexicon; at most *limit*.
    """
    topic = judgement.topic
    general = lexicon().topics["anything"].questions
    asked = [*(topic.questions if topic else general[1:2]), *(general[2:3])]
    return [question.ask for question in asked if is_open(question, judgement)][:limit]


def is_open(question: Question, judgement: Judgement) -> bool:
    """Say whether a question makes sense here, has no answer in the caller's words and was not asked."""
    said = judgement.conversation.stems
    fitting = not question.when or bool(question.when & said)
    given = question.given and _FACTS[question.given](judgement.conversation.text)
    return fitting and not given and not question.about & said and not was_asked(question, judgement.conversation)


_FACTS: dict[str, Callable[[str], Sequence[object]]] = {
    "address": addresses,
    "amount": amounts,
    "email": emails,
    "phone": phones,
    "reference": references,
}


def was_asked(question: Question, conversation: Conversation) -> bool:
    """Say whether an agent asked this, in the same words or with at least two of the words that it is about."""
    wanted = _plain(question.ask)
    for text in conversation.agent:
        if wanted in _plain(text) or _is_begun(wanted, _plain(text)):
            return True
        for sentence in sentences(text):
            roots = {stem(token.text) for token in tokens(sentence)}
            if sentence.endswith("?") and len(question.about & roots) >= min(2, len(question.about) or 99):
                return True
    return False


def _is_begun(wanted: Sequence[str] | str, said: str) -> bool:
    """Say whether *said* breaks off inside the question, as it does when the caller interrupts: four words at least."""
    words = str(wanted).split()
    return any(said.endswith(" ".join(words[:size])) for size in range(4, len(words)))


def _plain(text: str) -> str:
    return " ".join(token.text for token in tokens(text))
