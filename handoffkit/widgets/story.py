"""What a panel tells of its subject: the log's rows, events and totals, as they change. Nothing here waits."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..marks import Turn
from ..wire.frames import Frame
from .outbox import BACKLOG
from .state.events import Event, Events
from .state.row import Row
from .state.rows import Rows
from .state.totals import Totals, TotalsJson
from .subject import Subject

ROWS = 300
"""Rows in a snapshot, the newest."""
EVENTS = 500
"""Events in a snapshot, the newest."""


class News(NamedTuple):
    """What has changed since the last look."""

    rows: Sequence[Row]
    gone: Sequence[str]
    order: Sequence[str] | None
    events: Sequence[Event]
    left_out: int
    """Older events that are new, too, and that nobody will be told of."""
    totals: dict[str, Any] | None

    def __bool__(self) -> bool:
        return bool(self.rows or self.gone or self.events or self.totals) or self.order is not None


class Story:
    """The rows and events of one subject.

    Args:
        subject: The call, or the log.
    """

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        source = subject.log if subject.call is None else subject.call.wire
        self._rows = Rows(source, agent=subject.agent)
        self._events = Events(source, self._rows.agent_of)
        self._sums = Totals(source)
        self.seq = self._read = 0
        self._times: dict[str, float | None] = {"began": None, "ended": None}

    def take(self) -> News:
        """Take in what is new, and return what it changes."""
        self._look()
        changes = self._rows.changed()
        events, left_out = self._events.new(BACKLOG)
        return News(*changes, events, left_out, self._totals() if changes.rows else None)

    def snapshot(self) -> dict[str, Any]:
        """Return the newest rows and events, and the totals."""
        return {"rows": self._rows.all(ROWS), "events": self._events.last(EVENTS), "totals": self._totals()}

    def whole(self) -> tuple[Sequence[Row], TotalsJson]:
        """Return all rows, and the totals."""
        rows = self._rows.all()
        return rows, self._sums.now(rows)

    def earlier(self, before: str) -> Sequence[Row]:
        """Return the rows before the one called *before*."""
        return self._rows.before(before)

    def raw(self, q: int) -> str:
        """Return the JSON of event number *q*, to be read."""
        return self._events.raw(q)

    def turn(self, key: str) -> Turn | None:
        """Return the turn that a row shows."""
        return self._rows.turn(key)

    def times(self) -> dict[str, float | None]:
        """Return when the call began and ended, on the log's clock."""
        return dict(self._times)

    def counts(self) -> dict[str, int]:
        """Return how many rows and events there are."""
        return {"rows": len(self._rows), "events": self._events.total, "rows_dropped": 0}

    def judge(self, label: str, valid: Sequence[bool]) -> None:
        """Take whether each attempt of the handoff *label* was valid, which the wire does not say."""
        self._rows.judge(label, valid)

    def _totals(self) -> dict[str, Any]:
        return dict(self._sums.now(self._rows.all()))

    def _look(self) -> None:
        new = self._subject.log[self._read :]
        self._read += len(new)
        for frame in new:
            self.seq = frame.seq
            if frame.channel == "realtime" and frame.event in ("open", "close") and self._is_ours(frame):
                self._times["ended"] = frame.at if frame.event == "close" else None
                if frame.event == "open" and self._times["began"] is None:
                    self._times["began"] = frame.at

    def _is_ours(self, frame: Frame) -> bool:
        return not self._subject.label or frame.label == self._subject.label
