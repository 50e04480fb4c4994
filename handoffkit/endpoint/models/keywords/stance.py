"""Where a caller stands in the end: what was taken back, what is fine, which of two troubles weighs more.

Callers change their minds ("actually, forget that") and call about two things at once. Each clause of theirs gets a
factor by which its words count for the topic:

- what stands before a change of mind counts little, if anything that follows it speaks of a topic;
- a clause that says that something is fine, or was the matter before, counts little;
- of two troubles the more urgent one counts fully; of two that are as urgent, the one that the caller says matters
  more, else the first.

A clause ends at a conjunction or at punctuation; recognisers misplace punctuation, so nothing hangs on it alone.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from .lexicon import Hit, Reading
from .spoken import is_pause

TAKEN_BACK = 0.3
"""What words count that a change of mind follows, or that tell of what is fine."""
SECOND = 0.2
"""What words of the lesser of two troubles count."""
VAGUE = 0.6
"""What they count where one of the two speaks of no topic clearly."""
MAIN = 2.0
"""What words count in a clause about what matters most, whichever trouble it tells of."""
_JOINTS = frozenset(["but", "and", "so", "because", "though", "although", "however"])


@dataclass(frozen=True)
class Clause:
    """A stretch of one turn."""

    turn: int
    start: int
    """Index of its first word in the turn."""
    end: int
    """Index after its last word."""
    hits: tuple[Hit, ...]
    """The known words that begin in it."""

    @cached_property
    def groups(self) -> frozenset[str]:
        """The groups of its known words that are not denied."""
        return frozenset(hit.group for hit in self.hits if not hit.denied)

    @property
    def has_topic(self) -> bool:
        """Whether a topic is spoken of."""
        return any(group.startswith("topics.") and group != "topics.question" for group in self.groups)


def clauses(readings: Sequence[Reading]) -> list[Clause]:
    """Return the clauses of a caller's turns, in order."""
    return [clause for turn, reading in enumerate(readings) for clause in _of_turn(turn, reading)]


def _of_turn(turn: int, reading: Reading) -> Iterator[Clause]:
    words = reading.tokens
    bounds = [0]
    for index in range(1, len(words)):
        if words[index].text in _JOINTS or is_pause(reading.text, words[index - 1], words[index]):
            bounds.append(index)
    ends = [*bounds[1:], len(words)]
    begins = [hit.start for hit in reading.hits]
    for start, end in zip(bounds, ends, strict=True):
        hits = reading.hits[bisect_left(begins, start) : bisect_left(begins, end)]
        yield Clause(turn, start, end, hits)


def turning(found: Sequence[Clause]) -> int:
    """Return the index of the clause with the last change of mind that a topic follows, or 0."""
    for index in range(len(found) - 1, 0, -1):
        if "small.back" in found[index].groups and any(clause.has_topic for clause in found[index:]):
            return index
    return 0


def second(found: Sequence[Clause]) -> int:
    """Return the index of the clause in which a second trouble begins ("and I also …"), or 0."""
    begun = False
    for index, clause in enumerate(found):
        if begun and clause.groups & {"small.another"} and any(other.has_topic for other in found[index:]):
            return index
        begun = begun or clause.has_topic
    return 0


def texts(readings: Sequence[Reading], found: Sequence[Clause]) -> list[str]:
    """Return what the clauses *found* say, a text a turn."""
    turns: dict[int, list[Clause]] = {}
    for clause in found:
        turns.setdefault(clause.turn, []).append(clause)
    said = []
    for turn, parts in turns.items():
        words = readings[turn].tokens
        if parts[0].start < parts[-1].end:
            start, last = words[parts[0].start].start, words[parts[-1].end - 1].end
            said.append(readings[turn].text[start:last])
    return said


def own_factor(clause: Clause) -> float:
    """Return what a clause's words count by themselves."""
    if clause.groups & {"small.fine"}:
        return TAKEN_BACK
    return MAIN if "small.main" in clause.groups else 1.0
