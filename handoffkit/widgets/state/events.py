"""The frames of a log as events of the panel: who sent what, in which of a few categories, and one line about it.

A burst may be of ten thousand frames: what the page is not going to show is counted by its name alone, and its JSON is
never read.
"""

import json
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Literal, TypedDict

from ...log import EventLog
from ...views.summary import summary
from ...wire.call_log import CallLog
from ...wire.closing import hung_up
from ...wire.frames import AUDIO_FIELDS, Frame, StoredFrame, obj, text
from .safe import line, name, seconds

Category = Literal[
    "speech", "words", "tools", "handoff", "usage", "errors", "session", "audio", "http", "marks"
]  # fmt: skip

SUMMARY_LIMIT = 160
"""Characters of an event's one line."""
RAW_LIMIT = 200_000
"""Characters of an event's JSON."""
_READ_LIMIT = 64_000
"""Bytes of a frame's line that are read for one line about it: what is longer takes too long in a burst."""

_HIDDEN = re.compile(
    "[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)

_CATEGORIES: tuple[tuple[str, Category], ...] = (
    ("conversation.item.input_audio_transcription.", "words"),
    ("response.output_audio_transcript.", "words"),
    ("response.output_text.", "words"),
    ("response.function_call_arguments.", "tools"),
    ("response.mcp_call", "tools"),
    ("response.output_audio.done", "audio"),
    ("input_audio_buffer.append", "audio"),
    ("input_audio_buffer.", "speech"),
    ("output_audio_buffer.", "speech"),
    ("conversation.item.truncate", "speech"),
    ("rate_limits.", "usage"),
    ("response.done", "usage"),
    ("response.completed", "usage"),
    ("error", "errors"),
    ("response.failed", "errors"),
    ("response.incomplete", "errors"),
    ("conversation.", "words"),
    ("response.", "session"),
)
"""The first that a name begins with says its category."""


Data = dict[str, Any]
Agent = Callable[[str, str], str]


class Event(TypedDict):
    """An event, ready for JSON."""

    q: int
    """The frame's number in the log."""
    at: float
    """Seconds on the log's clock."""
    dir: str
    """Who sent it: `client` or `server`."""
    e: str
    """OpenAI's event name, or the kind of a mark."""
    c: Category
    w: str
    """Who it is about, as rows have it: `c`, `a1`, `t`, `o`; empty for nobody."""
    x: str
    """What it says, in one line."""
    bad: bool


class Events:
    """The events of a call, or of a whole log, each told once.

    Args:
        source: A log, or a call within one.
        agent: Says which agent made a response, by its connection and id; see `Rows.agent_of`.
    """

    def __init__(self, source: EventLog | CallLog, agent: Agent = lambda conn, response: "a1") -> None:
        self._agent = agent
        self._log = source.log if isinstance(source, CallLog) else source
        self._label = source.label if isinstance(source, CallLog) else None
        self._read = 0
        self.counts: Counter[str] = Counter()
        """How many events there have been so far, by category."""

    @property
    def total(self) -> int:
        """How many events there have been so far."""
        return self.counts.total()

    def new(self, limit: int | None = 300) -> tuple[list[Event], int]:
        """Return the events since the last time, and how many were left out because there are more than *limit*.

        Sound is left out first, then what is oldest.
        """
        new = self._log[self._read :]
        self._read += len(new)
        ours = [frame for frame in new if self._is_ours(frame)]
        self.counts.update(map(category, ours))
        kept = ours if limit is None else _newest(ours, limit)
        return [self.event(frame) for frame in kept], len(ours) - len(kept)

    def last(self, count: int = 500) -> list[Event]:
        """Return the newest *count* events of those that `new` has told of; what it will tell stays the same.

        A fifth of them at most is sound, so that a page that opens in a long reply does not find that alone.
        """
        sound, others = count // 5, count - count // 5
        found: list[Frame] = []
        for frame in reversed(self._log[: self._read]):
            if others == 0:
                break
            if not self._is_ours(frame):
                continue
            if frame.audio is None:
                others -= 1
            elif sound == 0:
                continue
            else:
                sound -= 1
            found.append(frame)
        return [self.event(frame) for frame in reversed(found)]

    def event(self, frame: Frame) -> Event:
        """Return a frame as an event."""
        size = len(frame.line) if isinstance(frame, StoredFrame) else 0
        data = frame.data if size <= _READ_LIMIT else {}
        found = category(frame)
        return Event(
            q=frame.seq,
            at=seconds(frame.at),
            dir="client" if frame.dir == "client" else "server",
            e=name(frame.event),
            c=found,
            w=_who(frame, found, data, self._agent),
            x=_summary(frame) if size <= _READ_LIMIT else f"{size:,} bytes",
            bad=found == "errors" or _failed(frame, data),
        )

    def raw(self, q: int) -> str:
        """Return the JSON of event number *q* to be read, its sound left out; empty if there is no such event."""
        frames = self._log.frames
        index = bisect_left(frames, q, key=lambda frame: frame.seq)
        if index == len(frames) or frames[index].seq != q or not self._is_ours(frames[index]):
            return ""
        return raw(frames[index])

    def _is_ours(self, frame: Frame) -> bool:
        label = self._label
        return label is None or frame.label == label or bool(frame.label and frame.label.startswith(f"{label}/"))


def _newest(frames: list[Frame], limit: int) -> list[Frame]:
    """Return *limit* of *frames* in their order: the newest without sound; the newest with sound if there is room."""
    if len(frames) <= limit:
        return frames
    others = [frame for frame in frames if frame.audio is None][-limit:] if limit else []
    room = limit - len(others)
    sound = [frame for frame in frames if frame.audio is not None][-room:] if room else []
    return sorted([*others, *sound], key=lambda frame: frame.seq)


def category(frame: Frame) -> Category:
    """Return the category of a frame, by what it is called."""
    if frame.audio is not None:
        return "audio"
    if frame.channel in ("mark", "trace"):
        return "marks"
    if (frame.label or "").rpartition("/")[2].startswith("handoff"):
        return "handoff"
    if frame.channel != "realtime":
        return "errors" if frame.event == "error" else "http"
    found = _by_name(frame.event)
    return "tools" if "item." in frame.event and _is_tool(frame) else found


@lru_cache(maxsize=1_000)
def _by_name(event: str) -> Category:
    if event in AUDIO_FIELDS:
        return "audio"
    return next((found for start, found in _CATEGORIES if event.startswith(start)), "session")


def _is_tool(frame: Frame) -> bool:
    """Tell whether a frame's item is a call of a tool, or its output; the JSON of a stored frame is not read for it."""
    if isinstance(frame, StoredFrame):
        return b'"function_call' in frame.line
    return str(obj(frame.data, "item").get("type")).startswith("function_call")


def _who(frame: Frame, found: Category, data: Data, agent: Agent) -> str:
    """Return who a frame is about, as rows have it; empty for nobody."""
    if found == "tools":
        return "t"
    if frame.event.startswith("response."):
        return agent(frame.conn, text(data, "response_id") or text(obj(data, "response"), "id") or "")
    if frame.event.startswith(("conversation.item.input_audio_transcription.", "input_audio_buffer.")):
        return "c"
    role = text(obj(data, "item"), "role") or ""
    return {"user": "c", "assistant": "a1", "system": "o", "developer": "o"}.get(role, "")


def _summary(frame: Frame) -> str:
    try:
        return line(summary([frame]), SUMMARY_LIMIT)
    except (TypeError, ValueError, AttributeError, RecursionError):  # what is on a wire may be anything
        return ""


def _failed(frame: Frame, data: Data) -> bool:
    if frame.channel == "mark":
        return frame.event in ("turn_failed", "silence", "forgotten_await")
    if frame.event == "close":
        return not hung_up(data) and frame.channel == "realtime"
    if frame.event == "response.done":
        return obj(data, "response").get("status") in ("failed", "incomplete")
    return frame.event.isdigit() and not frame.event.startswith("2")


def raw(frame: Frame) -> str:
    """Return the JSON of a frame, laid out; what could hide or reorder text is written as `\\uXXXX`."""
    data = frame.data
    if frame.audio is not None:
        field = AUDIO_FIELDS.get(frame.event, "audio")
        data = data | {field: f"({frame.audio.bytes:,} bytes of sound left out)"}
    words = json.dumps(data, ensure_ascii=False, indent=2)
    left_out = len(words) - RAW_LIMIT
    words = _HIDDEN.sub(lambda match: json.dumps(match.group())[1:-1], words[:RAW_LIMIT])
    return words if left_out <= 0 else f"{words}\n… {left_out:,} more characters are in the log"
