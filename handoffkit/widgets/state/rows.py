"""The rows of a log as it grows: what has changed since the last look, for a page that has the rest.

A look costs what has changed, not what the call has become: turns that stay are the same objects, and rows are made
anew from the first change on.
"""

from collections.abc import Sequence
from typing import NamedTuple

from ...log import EventLog
from ...marks import CallEnded, Derivation, Extraction, Interrupted, LiveHandoff, Mark, TurnFailed
from ...wire.call_log import CallLog
from ...wire.conversation import Conversation
from ...wire.dialogue import Turn
from ...wire.log_file import SAVED
from .block import Block, Context, Voices
from .row import Row

_KERNEL = "kernel"
"""What the log calls the connection of a mark that was posted before there was one."""


class Changes(NamedTuple):
    """What a page has to do to have the rows as they are now."""

    rows: list[Row]
    """Changed or new, in their order."""
    gone: list[str]
    """The keys of rows that are no more."""
    order: list[str] | None
    """The keys of the last rows in their order; None where new rows just follow the others."""


class Rows:
    """The rows of a call, or of all the calls in a log.

    Args:
        source: A log, or a call within one.
        agent: The name of the agent that a call begins with.
    """

    def __init__(self, source: EventLog | CallLog, *, agent: str = "Agent") -> None:
        self.agent = agent
        self._log = source.log if isinstance(source, CallLog) else source
        self._label = source.label if isinstance(source, CallLog) else None
        self._blocks: dict[str, Block] = {}
        self._began: dict[str, float] = {}
        self._others: set[float] = set()
        """When marks were posted that are about other calls and name no connection."""
        self._frames = self._marks = 0
        self._names: dict[str, tuple[str, str]] = {}
        """By instructions: the connection in which an agent took over with them, and its name."""
        self._judged: dict[tuple[str, int], bool] = {}
        self._sound: bool | None = None
        self._rows: list[Row] = []
        self._told: list[Row] = []
        self._first = 0
        """The first row that may be another than what was told."""

    def __len__(self) -> int:
        return len(self._rows)

    def changed(self) -> Changes:
        """Return what has changed since the last time; the first time, everything."""
        self.look()
        before, now = self._told[self._first :], self._rows[self._first :]
        old, new = {row["k"]: row for row in before}, {row["k"] for row in now}
        rows = [row for row in now if old.get(row["k"]) != row]
        kept = [row["k"] for row in before if row["k"] in new]
        keys = [row["k"] for row in now]
        self._told[self._first :] = now
        self._first = len(self._rows)
        return Changes(rows, [key for key in old if key not in new], _order(kept, keys))

    def all(self, last: int | None = None) -> list[Row]:
        """Return the rows as they are now, all or the *last* so many. What `changed` will tell stays the same."""
        self.look()
        return self._rows[-last:] if last else self._rows[:] if last is None else []

    def before(self, key: str, n: int = 100) -> list[Row]:
        """Return up to *n* rows that stand before the row *key*, oldest first; none if there is no such row."""
        at = next((number for number in range(len(self._rows) - 1, -1, -1) if self._rows[number]["k"] == key), 0)
        return self._rows[max(0, at - n) : at]

    def turn(self, key: str) -> Turn | None:
        """Return the turn that a row shows, for its sound; None for another kind of row."""
        found = (block.turn_of(key) for block in self._blocks.values())
        return next((turn for turn in found if turn is not None), None)

    def agent_of(self, conn: str, response_id: str) -> str:
        """Return who made a response, `a1`, `a2`, …, as far as it is known; else `a1`."""
        conversation, block = self._log.derived.conversations.get(conn), self._blocks.get(conn)
        reply = conversation.replies.get(response_id) if conversation else None
        return "a1" if reply is None or block is None else block.who(reply.voice.agent, reply.instructions)

    def judge(self, label: str, valid: Sequence[bool]) -> None:
        """Take whether the output of each attempt of the handoff *label* was valid, which the wire does not say."""
        self._judged |= {(label, attempt): ok for attempt, ok in enumerate(valid, 1)}

    def look(self) -> None:
        """Read what is new in the log."""
        derived = self._log.derived
        fresh = self._scan(derived)
        self._mark(derived, again=fresh)
        voices: Voices = ()
        start, first = 0, None
        for conn, block in self._blocks.items():
            changed = block.update(derived.conversations[conn].turns, self._context(conn, voices, derived))
            if changed is not None and first is None:
                first = start + changed
            voices, start = block.voices or voices, start + len(block.rows)
        if first is not None:
            self._join(first)

    def _join(self, first: int) -> None:
        """Put the blocks' rows one after the other again, from row *first* on."""
        start = 0
        del self._rows[first:]
        for block in self._blocks.values():
            if start + len(block.rows) > first:
                self._rows += block.rows[max(0, first - start) :]
            start += len(block.rows)
        self._first = min(self._first, first)

    def _scan(self, derived: Derivation) -> bool:
        """Find connections that are new; tell whether there are any."""
        for frame in self._log[self._frames :]:
            self._frames += 1
            if frame.channel == "realtime":
                self._began.setdefault(frame.conn, frame.at)
            elif frame.channel == "mark" and frame.conn == _KERNEL and frame.label not in (None, self._label):
                self._others.add(frame.at)
        new = [
            conn for conn, found in derived.conversations.items() if conn not in self._blocks and self._is_ours(found)
        ]
        self._blocks |= {conn: Block(conn) for conn in new}
        return bool(new)

    def _is_ours(self, conversation: Conversation) -> bool:
        return self._label is None or conversation.label == self._label

    def _mark(self, derived: Derivation, *, again: bool) -> None:
        """Give each new mark to the connection that it is about; *again*: all of them, since there are new ones."""
        if again:
            self._marks = 0
            for block in self._blocks.values():
                block.forget_marks()
        for number in range(self._marks, len(derived.marks)):
            mark = derived.marks[number]
            if (block_ := self._block_of(mark, derived)) is None:
                continue
            beside = [one for one in derived.marks[max(0, number - 3) : number + 4] if _beside(one, mark)]
            if isinstance(mark, LiveHandoff) and mark.to:
                self._names.setdefault(mark.instructions, (mark.conn, mark.to))
            broke_off = any(isinstance(one, CallEnded) and not one.clean for one in beside)
            if not (isinstance(mark, TurnFailed) and broke_off):  # the end of the call says it
                block_.take(mark, number, cut=any(isinstance(one, Interrupted) for one in beside))
        self._marks = len(derived.marks)

    def _block_of(self, mark: Mark, derived: Derivation) -> Block | None:
        if mark.conn in self._blocks:
            return self._blocks[mark.conn]
        label = mark.label.partition("/")[0] if isinstance(mark, Extraction) else None
        named = [conn for conn in self._blocks if label and derived.conversations[conn].label == label]
        if named or not self._blocks:
            return self._blocks[named[-1]] if named else None
        if self._label is not None and (mark.conn in derived.conversations or label or mark.at in self._others):
            return None
        begun = [conn for conn in self._blocks if self._began[conn] <= mark.at] or list(self._blocks)[:1]
        return self._blocks[max(begun, key=self._began.__getitem__)]

    def _context(self, conn: str, voices: Voices, derived: Derivation) -> Context:
        several = len(self._blocks) > 1
        label = derived.conversations[conn].label
        return Context(
            agent=self.agent,
            names=tuple((told, to) for told, (where, to) in self._names.items() if where != conn),
            voices=voices,
            simulated=self._log.header.get("mode") == "simulated",
            sound=self._has_sound(),
            closed=conn in derived.closed,
            title=f"{label or 'Connection'} ({conn})" if several else "",
            began=self._began.get(conn, 0.0) if several else 0.0,
            judged=tuple((label, attempt, ok) for (label, attempt), ok in self._judged.items()),
        )

    def _has_sound(self) -> bool:
        """Whether the sound is there: a log that is being written has it, a saved call may have been stripped of it."""
        if self._sound is None:
            folder = self._log.folder
            self._sound = not (folder / SAVED).exists() or any(folder.glob("*.wav"))
        return self._sound


def _beside(one: Mark, mark: Mark) -> bool:
    return one.at == mark.at and one.conn == mark.conn


def _order(kept: list[str], keys: list[str]) -> list[str] | None:
    """Return the part of *keys* that is not as if the new ones had been put behind the *kept* ones."""
    if keys[: len(kept)] == kept:
        return None
    same = next(number for number, key in enumerate(kept) if keys[number] != key)
    return keys[same:]
