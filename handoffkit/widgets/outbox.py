"""The one way from the kernel to the page: everything waits here, newest state first in line, within a fixed rate.

A kernel's output channel drops messages without a word where there are too many. So state is kept here, of which only
the newest counts, in place of messages; events have a limit, beyond which the oldest go, counted; sound passes at once.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

RATE = 30
"""Messages in any second, at most, sound included."""
SOUND = 11
"""Of these, what is kept free for sound while the agent speaks: it comes in pieces of 100 ms or more."""
PASS = 0.1
"""Seconds between two looks at what waits: ten a second."""
BACKLOG = 2_000
"""Events that wait, at most; the log has them all."""
BATCH = 300
"""Events in a message, at most."""
ROWS = 200
"""Rows in a message, at most."""
_ANSWERS = 40  # answers to a page's questions that wait, at most
_SPEAKING = 1.0  # seconds since the last sound for which room is kept

Send = Callable[[dict[str, Any], list[bytes] | None], None]


class Outbox:
    """What waits for the page.

    Args:
        send: Sends a custom message.
        state: Sends the traits that have changed, in one message.
        clock: Seconds, monotonic.
    """

    def __init__(self, send: Send, state: Callable[[dict[str, Any]], None], clock: Callable[[], float]) -> None:
        self._send, self._state, self._clock = send, state, clock
        self._sent: deque[float] = deque()
        self._sounded = float("-inf")
        self._traits: dict[str, Any] = {}
        self._rows: dict[str, Mapping[str, Any]] = {}
        self._gone: dict[str, None] = {}
        self._order: list[str] | None = None
        self._events: deque[Mapping[str, Any]] = deque()
        self._totals: dict[str, Any] | None = None
        self._answers: deque[tuple[dict[str, Any], list[bytes] | None]] = deque()
        self.dropped = 0
        """Events that the page was never sent, so that it could keep up."""
        self.refused = 0
        """Answers that were dropped, since a page had asked too much."""

    # What is to be sent.

    def traits(self, **values: Any) -> None:
        """Have traits of the panel set; only the newest value counts."""
        self._traits.update(values)

    def rows(
        self, rows: Sequence[Mapping[str, Any]], gone: Sequence[str] = (), order: Sequence[str] | None = None
    ) -> None:
        """Have rows of the transcript shown, changed or new."""
        for key in gone:
            self._rows.pop(key, None)
            self._gone[key] = None
        for row in rows:
            self._gone.pop(row["k"], None)
            self._rows.pop(row["k"], None)
            self._rows[row["k"]] = row
        if order is not None:
            self._order = list(order)

    def events(self, events: Sequence[Mapping[str, Any]], left_out: int = 0) -> None:
        """Have events added to the list, before which others were *left_out*; of too many the oldest are dropped."""
        self.dropped += left_out
        self._events.extend(events)
        while len(self._events) > BACKLOG:
            self._events.popleft()
            self.dropped += 1

    def totals(self, totals: dict[str, Any]) -> None:
        """Have the totals shown."""
        self._totals = totals

    def pulse(self) -> None:
        """Answer a heartbeat, unless something else tells the page that the kernel lives."""
        if not any(message["t"] == "beat" for message, _ in self._answers):
            self.answer({"t": "beat"})

    def answer(self, message: dict[str, Any], buffers: list[bytes] | None = None) -> None:
        """Answer a page's question; of too many answers the oldest are dropped."""
        self._answers.append((message, buffers))
        if len(self._answers) > _ANSWERS:
            self._answers.popleft()
            self.refused += 1

    def snapshot(self, message: dict[str, Any]) -> None:
        """Send the whole picture, which makes what waits of it superfluous."""
        self._rows.clear()
        self._gone.clear()
        self._events.clear()
        self._order = self._totals = None
        self.answer(message)

    def sound(self, message: dict[str, Any], buffers: list[bytes] | None = None) -> None:
        """Send sound, or what stops it, at once."""
        self._sounded = self._clock()
        self._out(message, buffers)

    # Sending.

    @property
    def waiting(self) -> bool:
        """Whether anything waits."""
        state = self._traits or self._rows or self._gone or self._events or self._answers
        return bool(state) or self._order is not None or self._totals is not None

    def post(self) -> None:
        """Send what waits, as far as the rate allows; state first, then answers, then what has happened."""
        room = self.room()
        for step in (self._post_traits, self._post_answers, self._post_rows, self._post_events, self._post_totals):
            while room > 0 and step():
                room -= 1
                if step is not self._post_answers:
                    break

    def room(self) -> int:
        """Return how many messages may go now, with room kept for sound."""
        now = self._clock()
        while self._sent and now - self._sent[0] >= 1.0:
            self._sent.popleft()
        kept = SOUND if now - self._sounded < _SPEAKING else 0
        return max(0, RATE - kept - len(self._sent))

    def _out(self, message: dict[str, Any], buffers: list[bytes] | None = None) -> None:
        self._sent.append(self._clock())
        self._send(message, buffers)

    def _post_traits(self) -> bool:
        if not self._traits:
            return False
        values, self._traits = self._traits, {}
        self._sent.append(self._clock())
        self._state(values)
        return True

    def _post_answers(self) -> bool:
        if not self._answers:
            return False
        self._out(*self._answers.popleft())
        return True

    def _post_rows(self) -> bool:
        if not (self._rows or self._gone or self._order is not None):
            return False
        keys = list(self._rows)[:ROWS]
        message: dict[str, Any] = {"t": "rows", "rows": [self._rows.pop(key) for key in keys]}
        if self._gone:
            message["gone"] = list(self._gone)
            self._gone.clear()
        if self._order is not None and not self._rows:
            message["order"], self._order = self._order, None
        self._out(message)
        return True

    def _post_events(self) -> bool:
        if not self._events:
            return False
        batch = [self._events.popleft() for _ in range(min(BATCH, len(self._events)))]
        self._out({"t": "events", "list": batch})
        return True

    def _post_totals(self) -> bool:
        if self._totals is None:
            return False
        totals, self._totals = self._totals, None
        self._out({"t": "totals", **totals})
        return True
