"""Whether a caller only asks a question, told without trust in question marks."""

from .conversation import Conversation
from .evidence import references
from .lexicon import Reading, lexicon
from .stance import clauses, texts

_FEW = 4
_MAY_I = {("do", "i"), ("can", "i"), ("am", "i"), ("should", "i")}
"""Beginnings of a question about rules, even about a thing of the caller's own."""
_OWN = {"my", "our", "mine"}


def only_asks(conversation: Conversation) -> bool:
    """Say whether the caller only asks for information or says thanks: nothing is wrong and nothing is wished for."""
    lines = [lexicon().read(sentence) for sentence in conversation.sentences]
    if any(_is_case(line) for line in lines) or references(conversation.text):
        return False
    parts = [part for line in lines for part in ([line] if _is_idle(line) else _parts(line))]
    return any(map(_is_idle, parts)) and all(_is_idle(part) or _says_little(part) for part in parts)


def _is_case(reading: Reading) -> bool:
    """Say whether a sentence tells of trouble or wishes for something to be done; to be told something is no case."""
    asked = [(hit.start, hit.end) for hit in reading.find("small.ask")]
    return reading.has("small.trouble") or any(
        not any(start <= hit.start < end for start, end in asked) for hit in reading.find("small.wish")
    )


def _is_idle(reading: Reading) -> bool:
    """Say whether a sentence asks for information, or says something kind about no matter of the caller's own."""
    return _asks(reading) or (reading.has("feelings.positive") and not _OWN & set(reading.words))


def _asks(reading: Reading) -> bool:
    """Say whether a sentence asks for information and tells of no case ("what are your opening hours").

    With no trust in question marks: it begins like a question, after what callers begin with, or says that it asks.
    """
    start = _after_fillers(reading)
    begins = any(hit.start == start for hit in reading.find("small.info_questions")) or reading.has("small.ask")
    words = reading.words[start:]
    return begins and (words[:1] == ("how",) or words[:2] in _MAY_I or not _OWN & set(words))


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
