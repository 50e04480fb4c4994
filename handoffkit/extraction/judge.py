"""Is a call whole? Looks at its turns and at the tracker's verdicts on them. Pure.

When a reply is complete is the tracker's judgement (`turns.py`); here a call is judged by all of its turns.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from ..turns import TurnEnd
from ..wire.conversation import Turn

TRANSCRIPT = "words of the caller's are being transcribed"
"""What is outstanding where a spoken turn waits for its transcript."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A turn of the caller's that got no complete answer."""

    number: int
    """1, 2, …: which of the caller's turns; those that were given as history do not count."""
    words: str
    reason: str
    """Why, in plain words."""


@dataclass(frozen=True, slots=True)
class State:
    """How a call stands."""

    turns: tuple[Turn, ...]
    """What was said, each turn once: without those that failed and were said again."""
    failed: Failed | None = None
    """The first turn that failed for good."""
    waiting: str | None = None
    """What is outstanding, in words that follow "while"; None if nothing is."""

    def given_up(self, why: str) -> "State":
        """Return how the call stands if what is outstanding will not come.

        A reply that does not come fails the caller's last turn; words that do not come make a turn inaudible.
        """
        if self.waiting is None:
            return self
        turns = tuple(_silent(turn) for turn in self.turns)
        said = _callers(turns)
        if self.failed or self.waiting == TRANSCRIPT or not said:
            return State(turns, self.failed)
        return State(turns, Failed(len(said), said[-1].text, f"{why} {self.waiting}"))


def examine(turns: Iterable[Turn], ends: Iterable[TurnEnd], outstanding: Iterable[str]) -> State:
    """Judge one call.

    Args:
        turns: Its turns, in the order of the conversation.
        ends: The verdicts on those that have ended.
        outstanding: For each connection where a turn has not ended, what it waits for.
    """
    said = list(turns)
    failed, again = _failures(sorted(ends, key=lambda end: end.start_seq), said)
    waiting = next(iter(outstanding), None)
    if waiting is None and any(turn.pending and turn.speaker == "caller" for turn in said):
        waiting = TRANSCRIPT
    return State(_once([turn for turn in said if turn not in again]), failed, waiting)


def _failures(ends: Sequence[TurnEnd], said: Sequence[Turn]) -> tuple[Failed | None, list[Turn]]:
    """Return the first failure that stands, and the turns that failed and were said again with the same words."""
    first: Failed | None = None
    again: list[Turn] = []
    words = {id(end): _key(_words(end, said)) for end in ends}
    for index, end in enumerate(ends):
        if end.verdict != "failed" or not end.caller:
            continue
        same = [later for later in ends[index + 1 :] if words[id(later)] == words[id(end)] != ""]
        if any(later.verdict != "failed" for later in same):
            again += [turn for turn in said if _belongs(turn, end)]
        elif first is None:
            first = _failed(end, said)
    return first, again


def _failed(end: TurnEnd, said: Sequence[Turn]) -> Failed:
    mine = [number for number, turn in enumerate(_callers(said), 1) if _belongs(turn, end)]
    return Failed(mine[0] if mine else end.ordinal, _words(end, said), end.reason)


def _callers(said: Iterable[Turn]) -> list[Turn]:
    return [turn for turn in said if turn.speaker == "caller" and not turn.seeded]


def _words(end: TurnEnd, said: Iterable[Turn]) -> str:
    """Return the words of one turn; those that a new connection was given and that were then sent again, once."""
    mine = [turn.text for turn in _callers(said) if _belongs(turn, end)]
    return " ".join(
        text for text, follows in zip_longest(mine, mine[1:]) if follows is None or _key(text) != _key(follows)
    )


def _belongs(turn: Turn, end: TurnEnd) -> bool:
    """Say whether *turn* is part of the turn that *end* ended: its words, or a reply to them."""
    if turn.conn != end.conn or turn.seeded:
        return False
    if turn.speaker == "agent":
        return turn.response_id in end.responses
    return turn.item_id in end.items if end.items else end.start_seq <= turn.seq <= end.end_seq


def _silent(turn: Turn) -> Turn:
    waits = turn.pending and turn.speaker == "caller"
    return replace(turn, pending=False, inaudible=not turn.text) if waits else turn


def _once(said: Sequence[Turn]) -> tuple[Turn, ...]:
    """Leave out operator text, and what stands twice.

    A connection that replaces another one is given its history again; and typed words that nobody answered may have
    been sent again.
    """
    replayed = max((n for n in range(1, len(said)) if said[n].seeded and said[n].conn != said[n - 1].conn), default=0)
    kept = [turn for turn in said[replayed:] if turn.speaker != "operator"]
    return tuple(turn for turn, follows in zip_longest(kept, kept[1:]) if not _same(turn, follows))


def _same(turn: Turn, follows: Turn | None) -> bool:
    """Say whether the caller typed the same again, with no answer in between."""
    if follows is None or {turn.speaker, follows.speaker} != {"caller"} or turn.spoken or follows.spoken:
        return False
    return _key(turn.text) == _key(follows.text)


def _key(words: str) -> str:
    return " ".join(words.split()).casefold()
