"""Frames of the wire become turns and marks. Pure: the same frames give the same marks, live or from a saved call.

A mark says in one sentence what happened; OpenAI's events keep their own names and stay as they are.
"""

from collections import Counter
from collections.abc import Iterable
from itertools import chain
from typing import Any

from .mark_kinds import (
    AGENT,
    CallEnded,
    Extraction,
    ForgottenAwait,
    Inaudible,
    Interrupted,
    LiveHandoff,
    Mark,
    OtherMark,
    Silence,
    TurnComplete,
    TurnFailed,
    posted,
)
from .turns import TurnEnd, TurnTracker
from .wire.closing import closed_how, hung_up
from .wire.conversation import Conversation, News, Speaker, ToolUse, Turn, Usage
from .wire.dialogue import Item
from .wire.frames import Frame, obj, text
from .wire.outcome import answered, transferred

__all__ = [
    "AGENT",
    "CallEnded",
    "Derivation",
    "Extraction",
    "ForgottenAwait",
    "Inaudible",
    "Interrupted",
    "LiveHandoff",
    "Mark",
    "OtherMark",
    "Silence",
    "Speaker",
    "ToolUse",
    "Turn",
    "TurnComplete",
    "TurnFailed",
    "Usage",
    "derive",
    "posted",
]


class Derivation:
    """Turns and marks of a log as it grows: each frame costs about the same, however many came before it."""

    def __init__(self) -> None:
        self.tracker = TurnTracker()
        self.ends: list[TurnEnd] = []
        """The ends of turns in all connections, in the order in which they came."""
        self.marks: list[Mark] = []
        """In the order in which things happened."""
        self.conversations: dict[str, Conversation] = {}
        self.closed: dict[str, str] = {}
        """By connection that is closed: who ended it and how, in plain words."""
        self._interrupted: dict[Item, int] = {}
        self._takeovers: dict[str, bool] = {}
        self._first_agents: dict[str, str] = {}
        """By the call's label: what its kernel calls the agent that it begins with."""
        self._exchanges: dict[str, tuple[str, int, float]] = {}
        self._attempts: Counter[str] = Counter()

    @property
    def turns(self) -> list[Turn]:
        """The turns: connection by connection, each in the order of its conversation."""
        return list(chain.from_iterable(conversation.turns for conversation in self.conversations.values()))

    @property
    def open_turns(self) -> dict[str, str]:
        """By connection: what is outstanding where a turn has not ended."""
        found = {conn: self.tracker.open_turn(conn) for conn in self.conversations}
        return {conn: words for conn, words in found.items() if words is not None}

    def feed(self, frame: Frame, data: dict[str, Any] | None = None) -> None:
        """Take the next frame; *data* is its data, if the caller has it at hand."""
        if data is None:
            data = frame.data
        if frame.channel == "realtime":
            self._realtime(frame, data)
        elif frame.channel == "mark":
            self._posted(frame, data)
        elif frame.label and frame.label.rpartition("/")[2].startswith("handoff"):
            self._exchange(frame, data)

    def _realtime(self, frame: Frame, data: dict[str, Any]) -> None:
        if (conversation := self.conversations.get(frame.conn)) is None:
            conversation = self.conversations[frame.conn] = Conversation(frame.conn, frame.label)
            conversation.begins_with(self._first_agents.get(frame.label or "", ""))
        conversation.feed(frame, data)
        self._watch(conversation, frame, data)
        for news in conversation.news:
            self._happened(conversation, news)
        conversation.news.clear()
        for end in self.tracker.feed(frame, data):
            self._ended(conversation, end)
        if frame.event == "close":
            clean = hung_up(data)
            how = "the client hung up" if clean else closed_how(data)
            self.closed[frame.conn] = how
            self.marks.append(CallEnded(frame.at, frame.conn, how, clean))

    def _happened(self, conversation: Conversation, news: News) -> None:
        kind, item, reason = news
        at, conn = conversation.at, conversation.conn
        if kind == "inaudible":
            self.marks.append(Inaudible(at, conn, item.id, reason))
        elif (number := self._interrupted.get(item)) is None:
            self._interrupted[item] = len(self.marks)
            self.marks.append(Interrupted(at, conn, item.id, item.heard_ms, reason))
        else:  # told twice: the reply is cancelled, and the client says how much was heard
            before = self.marks[number]
            told = reason or getattr(before, "reason", "")
            self.marks[number] = Interrupted(before.at, conn, item.id, item.heard_ms, told)

    def _ended(self, conversation: Conversation, end: TurnEnd) -> None:
        self.ends.append(end)
        if end.verdict == "failed":
            self.marks.append(TurnFailed(end.at, end.conn, end.ordinal, end.caller, end.reason))
        elif end.verdict == "complete":
            words = [item for name in end.items if (item := conversation.items.named(name)) is not None]
            asked = max((item.end for item in words if item.end is not None), default=end.start_at)
            first = None if end.first_at is None else max(0.0, end.first_at - asked)
            seconds = max(0.0, end.at - asked)
            answers = max(1, len(end.items))
            self.marks.append(TurnComplete(end.at, end.conn, end.ordinal, end.caller, first, seconds, answers))

    def _watch(self, conversation: Conversation, frame: Frame, data: dict[str, Any]) -> None:
        """See whether another agent takes over: other instructions in the middle of a call, or a tool that says so."""
        conn = frame.conn
        if frame.event == "session.update" and conversation.replies:
            if conversation.told != conversation.instructions:
                self._takeovers[conn] = True
        elif frame.event == "conversation.item.create":
            output = obj(data, "item")
            tool = conversation.items.call(text(output, "call_id"))
            if output.get("type") == "function_call_output" and tool is not None:
                to = transferred(text(output, "output"))
                if to and (self._takeovers.pop(conn, False) or tool.name.startswith("transfer_to_")):
                    self._taken_over(conversation, frame.at, to)
        elif frame.event == "response.created" and self._takeovers.get(conn) and not _under_way(conversation):
            del self._takeovers[conn]
            self._taken_over(conversation, frame.at, "")

    def _taken_over(self, conversation: Conversation, at: float, to: str) -> None:
        before, now = conversation.taken_over(to)
        had = (before.agent, before.instructions) if before else ("", "")
        self.marks.append(LiveHandoff(at, conversation.conn, now.agent, now.instructions, *had))

    def _posted(self, frame: Frame, data: dict[str, Any]) -> None:
        mark = posted(frame, data)
        if isinstance(mark, Inaudible) and mark.conn in self.conversations:
            self.conversations[mark.conn].no_words(mark.item_id)
        elif isinstance(mark, OtherMark) and mark.name == AGENT:
            self._begins_with(mark, frame.label)
        self.marks.append(mark)

    def _begins_with(self, mark: OtherMark, label: str | None) -> None:
        """Take the name of a call's first agent; it may be told before the call has a connection."""
        if not isinstance(name := mark.data.get("name"), str):
            return
        if label is not None:
            self._first_agents[label] = name
        if mark.conn in self.conversations:
            self.conversations[mark.conn].begins_with(name)

    def _exchange(self, frame: Frame, data: dict[str, Any]) -> None:
        """Follow one request of a handoff to its answer."""
        asked = frame.event.startswith("POST ") or frame.event == "response.create"
        if frame.dir == "client" and asked and frame.label is not None:
            self._attempts[frame.label] += 1
            self._exchanges[frame.conn] = frame.label, self._attempts[frame.label], frame.at
        elif frame.conn in self._exchanges and (status := answered(frame, data)) is not None:
            label, attempt, start = self._exchanges.pop(frame.conn)
            self.marks.append(Extraction(frame.at, frame.conn, label, attempt, status, start, frame.at - start))


def derive(frames: Iterable[Frame]) -> Derivation:
    """Return the turns and marks of *frames*."""
    derivation = Derivation()
    for frame in frames:
        derivation.feed(frame)
    return derivation


def _under_way(conversation: Conversation) -> bool:
    """Say whether a handoff is not done: other instructions are not in force yet, or the transfer has no output."""
    return conversation.told != conversation.instructions or conversation.items.awaits_output
