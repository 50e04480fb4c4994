"""One call within the log: what was said in it, and how it stands by the tracker's judgement.

`Call` looks here rather than asking the endpoint: the tap writes each frame before it passes it on, so whatever the
client has seen is in the log, and reading what is new costs less than a question.
"""

from ..log import EventLog
from ..marks import Derivation, Turn
from ..turns import TurnEnd
from .conversation import Conversation


class CallLog:
    """The connections that a call has had, usually one, in a log that may hold other calls.

    Args:
        log: The log, read anew with each look.
        label: The call's name in it, `call-1`.
    """

    def __init__(self, log: EventLog, label: str) -> None:
        self.log, self.label = log, label

    @property
    def frames(self) -> EventLog:
        """What has passed so far in the call and in its handoffs."""
        return self.log.filter(label=[self.label, f"{self.label}/*"])

    @property
    def turns(self) -> list[Turn]:
        """What has been said so far, in the order of the conversation."""
        return [turn for conversation in self._conversations(self.log.derived) for turn in conversation.turns]

    @property
    def seq(self) -> int:
        """The number of the last frame in the whole log."""
        return self.log[-1].seq if len(self.log) else 0

    @property
    def outstanding(self) -> str | None:
        """What the call waits for, in words that follow "while"; None if for nothing."""
        derived = self.log.derived
        last = self._conversations(derived)[-1:]
        return derived.tracker.open_turn(last[0].conn) if last else None

    @property
    def closed(self) -> str | None:
        """Who closed the call's connection and how, in plain words; None while it is open."""
        derived = self.log.derived
        last = self._conversations(derived)[-1:]
        return derived.closed.get(last[0].conn) if last else None

    def end_after(self, seq: int) -> TurnEnd | None:
        """Return the end of the first turn of the call that ended after the frame *seq*; None if none has."""
        derived = self.log.derived
        ends = [end for found in self._conversations(derived) for end in derived.tracker.ended(found.conn)]
        return min((end for end in ends if end.end_seq > seq), key=lambda end: end.end_seq, default=None)

    def ends_between(self, seq: int, last: int) -> list[TurnEnd]:
        """Return the ends of the call's turns that began after the frame *seq* and not after *last*, as they ended."""
        derived = self.log.derived
        ends = [end for found in self._conversations(derived) for end in derived.tracker.ended(found.conn)]
        return sorted((end for end in ends if seq < end.start_seq <= last), key=lambda end: end.end_seq)

    def open_between(self, seq: int, last: int) -> bool:
        """Whether a turn of the call has not ended that began after the frame *seq* and not after *last*."""
        derived = self.log.derived
        began = [start for found in self._conversations(derived) for start in derived.tracker.began(found.conn)]
        return any(seq < start <= last for start in began)

    def count(self, event: str, seq: int) -> int:
        """Return how often *event* has passed in the call after the frame *seq*."""
        return len(self.log.filter(event, label=self.label, after_seq=seq))

    @property
    def conversation(self) -> Conversation | None:
        """What was said in the call's last connection; None before it has one."""
        found = self._conversations(self.log.derived)
        return found[-1] if found else None

    @property
    def words_due(self) -> bool:
        """Whether words of the caller's are still on their way."""
        return any(turn.pending and turn.speaker == "caller" for turn in self.turns)

    def _conversations(self, derived: Derivation) -> list[Conversation]:
        return [found for found in derived.conversations.values() if found.label == self.label]
