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

    @cached_property
    def topics(self) -> frozenset[str]:
        """The groups of the topics that are spoken of, general questions left out."""
        return frozenset(group for group in self.groups if group.startswith("topics.")) - {"topics.question"}

    @property
    def has_topic(self) -> bool:
        """Whether a topic is spoken of."""
        return bool(self.topics)


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


@dataclass(frozen=True)
class Turning:
    """The last change of mind that a topic follows."""

    index: int = 0
    """Of its clause; 0: there is none."""
    named: frozenset[str] = frozenset()
    """The topics that are taken back by name ("forget the refund"); empty: all that was said before is."""

    def leaves(self, index: int, group: str) -> float:
        """Return what is left of a word of *group* in the clause of *index*."""
        return 1.0 if index >= self.index or (self.named and group not in self.named) else TAKEN_BACK


def turning(found: Sequence[Clause]) -> Turning:
    """Return the last change of mind in these clauses."""
    for index in range(len(found) - 1, 0, -1):
        clause = found[index]
        if "small.back" in clause.groups and any(other.has_topic for other in found[index:]):
            return Turning(index, clause.topics if "small.fine" in clause.groups else frozenset())
    return Turning()


def second(found: Sequence[Clause]) -> int:
    """Return the index of the clause in which a second trouble begins ("and I also …"), or 0."""
    begun = False
    for index, clause in enumerate(found):
        if begun and clause.groups & {"small.another"} and any(other.has_topic for other in found[index:]):
            return index
        begun = begun or clause.has_topic
    return 0


def of_second(found: Sequence[Clause], start: int) -> list[bool]:
    """Say of each clause whether it tells of the second trouble, which begins at *start*.

    The rest of that turn does; in later turns a clause goes with the trouble whose topics it has, or with the clause
    before it.
    """
    first = {topic for clause in found[:start] for topic in clause.topics}
    turn = found[start].turn
    other = {topic for clause in found[start:] if clause.turn == turn for topic in clause.topics} - first
    belongs, current = [False] * start, True
    for clause in found[start:]:
        if clause.turn > turn and clause.topics & (first | other):
            current = bool(clause.topics & other) and not clause.topics & first
        belongs.append(current)
    return belongs


def texts(readings: Sequence[Reading], found: Sequence[Clause]) -> list[str]:
    """Return what the clauses *found* say: a text for those that follow one another in a turn."""
    runs: list[list[Clause]] = []
    for clause in found:
        if runs and (runs[-1][-1].turn, runs[-1][-1].end) == (clause.turn, clause.start):
            runs[-1].append(clause)
        else:
            runs.append([clause])
    return [_text(readings[run[0].turn], run[0].start, run[-1].end) for run in runs if run[0].start < run[-1].end]


def _text(reading: Reading, start: int, end: int) -> str:
    return reading.text[reading.tokens[start].start : reading.tokens[end - 1].end]


def own_factors(found: Sequence[Clause]) -> list[float]:
    """Return what each clause's words count by themselves; something that is fine counts less beside what is not."""
    factors = [MAIN if "small.main" in c.groups else TAKEN_BACK if "small.fine" in c.groups else 1.0 for c in found]
    told = max((factor for factor, clause in zip(factors, found, strict=True) if clause.has_topic), default=1.0)
    return [factor / told for factor in factors] if told < 1 else factors
