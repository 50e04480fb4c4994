"""One line of the event log as an object: a frame of the wire, and where its sound lies.

The tap in the endpoint process writes these lines; `log.py` reads them; turns, marks and views take them as they are.
"""

import json
import re
import sys
from dataclasses import dataclass, fields
from typing import Any

AUDIO_FIELDS = {"response.output_audio.delta": "delta", "input_audio_buffer.append": "audio"}
"""The events that carry sound, and the field where the wire has it as base64 (empty in the log)."""

_LABEL = (str, type(None))
_LONGEST = 1e12  # seconds; also keeps out what is no number, and integers that no float holds
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z")


@dataclass(frozen=True, slots=True)
class AudioRef:
    """Where the sound of a frame lies: a slice of a file of raw PCM16, mono, 24000 Hz."""

    file: str
    """A plain file name, such as `c1-agent.pcm`, or `agent.wav` in a saved call."""
    start: int
    """Offset in bytes from the first sample."""
    bytes: int
    """Length in bytes: 48 to a millisecond."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One message of the wire, or one mark that the kernel posted, as the log has it."""

    seq: int
    """1, 2, …: the number in the whole log."""
    at: float
    """Seconds since the log began."""
    conn: str
    """`c1`, `c2`, …: one realtime connection or one exchange over HTTP each; `t1`, `t2`, …: one trace each."""
    channel: str
    """`realtime`, `responses`, `chat`, `conversations`, `mark`, `trace` or `other`."""
    dir: str
    """Who sent it: `client` (the SDK) or `server`."""
    event: str
    """OpenAI's event type; `POST /v1/…` and `200` for plain HTTP; `open` and `close`; a mark's or trace's kind."""
    data: dict[str, Any]
    """The JSON of the message, its sound left out."""
    label: str | None = None
    """The call (`call-1`) or handoff (`handoff-1`) that the client said it belongs to."""
    audio: AudioRef | None = None
    """Where the sound of this frame is, if it has any."""


class StoredFrame(Frame):
    """A frame that keeps its line and parses `data` again each time it is asked for.

    A parsed event takes several times the memory of its line, and most are never looked at again.
    """

    __slots__ = ("_line",)
    _line: bytes

    def __init__(self, line: bytes, record: dict[str, Any]) -> None:
        # One by one: there are a hundred thousand frames in a long log, and a loop over names takes twice the time.
        put, word = object.__setattr__, sys.intern
        put(self, "seq", record["seq"])
        put(self, "at", record["at"])
        put(self, "conn", word(record["conn"]))
        put(self, "channel", word(record["channel"]))
        put(self, "dir", word(record["dir"]))
        put(self, "event", word(record["event"]))
        put(self, "label", record.get("label"))
        put(self, "audio", _audio(record["audio"]) if record.get("audio") is not None else None)
        put(self, "_line", line)

    @property
    def line(self) -> bytes:
        """The frame's line in the log, without its end of line."""
        return self._line

    @property
    def data(self) -> dict[str, Any]:
        """The JSON of the message, parsed anew: change it and the frame stays as it is."""
        data: dict[str, Any] = json.loads(self._line)["data"]
        return data

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Frame):
            return NotImplemented
        return all(getattr(self, f.name) == getattr(other, f.name) for f in fields(Frame))

    __hash__ = None  # type: ignore[assignment]


def parse(line: bytes) -> tuple[StoredFrame, dict[str, Any]]:
    """Read one line of a log: the frame, and its `data` while it is parsed anyway.

    Raises:
        ValueError: The line is no frame (cut off, damaged, or a field of the wrong kind).
    """
    record = json.loads(line.decode("utf-8", "surrogatepass"))
    if type(record) is not dict or type(data := record.get("data")) is not dict:
        raise ValueError("a frame is a JSON object with data")
    get = record.get
    texts = type(get("conn")) is type(get("channel")) is type(get("dir")) is type(get("event")) is str
    if not texts or type(get("label", "")) not in _LABEL:
        raise ValueError("a frame needs conn, channel, dir and event")
    seq, at = get("seq"), get("at")
    if type(seq) is not int or not (type(at) is float or type(at) is int) or not abs(at) < _LONGEST:
        raise ValueError("a frame needs a number and a time")
    return StoredFrame(line, record), data


def record(frame: Frame, audio: AudioRef | None) -> dict[str, Any]:
    """Return the JSON of *frame*'s line, with *audio* in place of its own reference."""
    line: dict[str, Any] = {"seq": frame.seq, "at": frame.at, "conn": frame.conn, "channel": frame.channel}
    line |= {"dir": frame.dir, "event": frame.event, "data": frame.data}
    if frame.label is not None:
        line["label"] = frame.label
    if audio is not None:
        line["audio"] = {"file": audio.file, "start": audio.start, "bytes": audio.bytes}
    return line


def _audio(found: Any) -> AudioRef:
    """Read the reference to the sound. A log may come from anybody: only a plain name in its own folder counts."""
    if not isinstance(found, dict):
        raise ValueError("audio is a JSON object")
    file, start, size = found.get("file"), found.get("start"), found.get("bytes")
    if not isinstance(file, str) or not _PLAIN_NAME.match(file):
        raise ValueError(f"audio names {file!r}, which is no file of this log's own folder")
    if type(start) is not int or type(size) is not int or start < 0 or size < 0:
        raise ValueError("audio needs start and bytes")
    return AudioRef(sys.intern(file), start, size)


def obj(data: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the object called *name*, or an empty one: what comes over a wire may be of any kind."""
    found = data.get(name)
    return found if isinstance(found, dict) else {}


def text(data: dict[str, Any], name: str) -> str | None:
    """Return the text called *name*, or None if there is none."""
    found = data.get(name)
    return found if isinstance(found, str) else None
