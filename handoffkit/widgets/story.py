"""What a panel tells of its subject: the log's rows, events and totals, as they change. Nothing here waits."""

from collections.abc import Sequence
from typing import Any

from ..marks import Turn
from .state.rows import Rows
from .subject import Subject

ROWS = 300
"""Rows in a snapshot, the newest."""
EVENTS = 500
"""Events in a snapshot, the newest."""


class Story:
    """The rows and events of one subject.

    Args:
        subject: The call, or the log.
    """

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        call = subject.call
        self._rows = Rows(subject.log if call is None else call.wire, agent=subject.agent)
        self.seq = 0
        """The last frame that was taken."""
        self._events: list[dict[str, Any]] = []
        self._times: dict[str, float | None] = {"began": None, "ended": None}

    def take(self) -> dict[str, Any]:
        """Take in what is new, and return what it changes: rows, gone, order, events, totals."""
        log = self._subject.log
        new = list(log.filter(after_seq=self.seq))
        self.seq = log[-1].seq if log else 0
        self._time(new)
        changes = self._rows.changed()
        events = [
            {"q": f.seq, "at": f.at, "dir": f.dir, "e": f.event, "c": "session", "w": "", "x": "", "bad": False}
            for f in new
        ]
        self._events = (self._events + events)[-EVENTS:]
        totals = {"gap_ms": None, "tokens": None, "cost": "", "simulated": True} if changes.rows else None
        return {**changes._asdict(), "events": events, "totals": totals}

    def snapshot(self) -> dict[str, Any]:
        """Return the newest rows and events, and the totals."""
        totals = {"gap_ms": None, "tokens": None, "cost": "", "simulated": True}
        return {"rows": self._rows.all(ROWS), "events": self._events, "totals": totals}

    def earlier(self, before: str) -> Sequence[Any]:
        """Return the rows before the one called *before*."""
        return self._rows.before(before)

    def turn(self, key: str) -> Turn | None:
        """Return the turn that a row shows."""
        return self._rows.turn(key)

    def times(self) -> dict[str, float | None]:
        """Return when the call began and ended, on the log's clock."""
        return dict(self._times)

    def counts(self) -> dict[str, int]:
        """Return how many rows and events there are."""
        return {"rows": len(self._rows), "events": self.seq, "rows_dropped": 0}

    def judge(self, label: str, valid: Sequence[bool]) -> None:
        """Take whether each attempt of the handoff *label* was valid, which the wire does not say."""
        self._rows.judge(label, valid)

    def _time(self, frames: Sequence[Any]) -> None:
        for frame in frames:
            if frame.event in ("open", "close") and frame.channel == "realtime" and self._is_ours(frame.label):
                if frame.event == "close":
                    self._times["ended"] = frame.at
                elif self._times["began"] is None:
                    self._times["began"] = frame.at

    def _is_ours(self, label: str | None) -> bool:
        return not self._subject.label or label == self._subject.label
