"""The flight recorder: every frame and every exchange, both ways, stamped and on disk before it passes on.

One `Tap` writes one log folder (`log.jsonl` and `audio/`). It writes with the operating system's own calls and
without a buffer, so a process that is killed leaves all that it had seen. The turn tracker runs here, live; whoever
waits for the end of a turn is woken from here.
"""

import asyncio
import base64
import binascii
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..turns import TurnEnd, TurnTracker
from ..wire.frames import AUDIO_FIELDS, AudioRef, Frame
from .masking import masked

SCHEMA = 1


class Tap:
    """A log folder that is being written.

    Args:
        folder: Where `log.jsonl` and `audio/` go; it must exist and be empty.
        header: Facts for the first line (mode, process id); never a key or a header.
        clock: Seconds, monotonic.
    """

    def __init__(self, folder: Path, header: dict[str, Any], clock: Callable[[], float] = time.monotonic) -> None:
        self.folder = folder
        self.tracker = TurnTracker()
        self.seq = 0
        self.ended: list[TurnEnd] = []
        self.last_at: dict[str, float] = {}
        self.conns: dict[str, list[str]] = {}
        self.closed: dict[str, str] = {}
        self._clock, self._began = clock, clock()
        self._connections = 0
        self._open: set[str] = set()
        self._audio: dict[str, tuple[int, int]] = {}
        self._moved: asyncio.Event = asyncio.Event()
        (folder / "audio").mkdir()
        self._file, self._over = -1, False
        self._put({"handoffkit": SCHEMA, "started": round(time.time(), 3), **header})

    def connection(self, channel: str, label: str | None, path: str, model: str | None = None) -> "Connection":
        """Open the next connection and write its `open` frame."""
        self._connections += 1
        name = f"c{self._connections}"
        self._open.add(name)
        if label:
            self.conns.setdefault(label, []).append(name)
        connection = Connection(self, name, channel, label)
        connection.frame("client", "open", {"path": path} | ({"model": model} if model else {}))
        return connection

    def write(self, conn: str, channel: str, direction: str, event: str, data: Any, label: str | None) -> None:
        """Write one frame; the audio in it goes to its own file."""
        self.seq += 1
        at = round(self._clock() - self._began, 6)
        data, audio = self._split_audio(conn, event, masked(data) if isinstance(data, dict) else {"value": data})
        line = {"seq": self.seq, "at": at, "conn": conn, "channel": channel, "dir": direction, "event": event}
        line["data"] = data
        if label:
            line["label"] = label
        if audio:
            line["audio"] = {"file": audio.file, "start": audio.start, "bytes": audio.bytes}
        self._put(line)
        self.last_at[conn] = self._clock()
        frame = Frame(self.seq, at, conn, channel, direction, event, data, label, audio)
        self.ended.extend(self.tracker.feed(frame))
        self._moved.set()
        self._moved = asyncio.Event()

    async def moved(self, timeout: float) -> bool:
        """Wait until a further frame was written, at the longest *timeout* seconds; False if none was."""
        try:
            await asyncio.wait_for(self._moved.wait(), timeout)
        except TimeoutError:
            return False
        return True

    def idle(self, conn: str) -> float:
        """Return the seconds since the last frame of *conn*."""
        return self._clock() - self.last_at.get(conn, self._began)

    def ended_connection(self, name: str) -> None:
        """Note that nothing more is expected of a connection, no sound either."""
        self._open.discard(name)
        for side in ("agent", "caller"):
            self._let_go(f"{name}-{side}.pcm")

    def rest(self) -> None:
        """Close the files until something is written again, unless a connection is open: a process has only so many."""
        if not self._open:
            self._close_files()

    def close(self) -> None:
        """Close the files for good; safe to call twice."""
        self._over = True
        self._close_files()

    def _close_files(self) -> None:
        for name in self._audio:
            self._let_go(name)
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _let_go(self, name: str) -> None:
        file, size = self._audio.get(name, (-1, 0))
        if file >= 0:
            os.close(file)
            self._audio[name] = -1, size

    def _put(self, line: dict[str, Any]) -> None:
        if self._over:
            return
        if self._file < 0:
            self._file = _opened(self.folder / "log.jsonl")
        try:
            text = json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode()
        except UnicodeEncodeError:  # a lone surrogate, which JSON can carry and UTF-8 cannot
            text = json.dumps(line, separators=(",", ":")).encode()
        except RecursionError:  # what can just be read cannot always be written, a few levels deeper
            left_out = {"left_out": "it is nested too deep to be written down"}
            text = json.dumps(line | {"data": left_out}, separators=(",", ":")).encode()
        _write_all(self._file, text + b"\n")

    def _split_audio(self, conn: str, event: str, data: dict[str, Any]) -> tuple[dict[str, Any], AudioRef | None]:
        field = AUDIO_FIELDS.get(event, "")
        if not isinstance(data.get(field), str):
            return data, None
        try:
            pcm = base64.b64decode(data[field], validate=True)
        except (binascii.Error, ValueError):
            return data, None
        name = f"{conn}-{'agent' if event.startswith('response') else 'caller'}.pcm"
        file, start = self._audio.get(name, (-1, 0))
        if file < 0:
            file = _opened(self.folder / "audio" / name)
        _write_all(file, pcm)
        self._audio[name] = (file, start + len(pcm))
        return data | {field: ""}, AudioRef(name, start, len(pcm))


class Connection:
    """One realtime connection, or one exchange over HTTP, as the log sees it."""

    def __init__(self, tap: Tap, name: str, channel: str, label: str | None) -> None:
        self.tap, self.name, self.channel, self.label = tap, name, channel, label
        self._open = True

    def frame(self, direction: str, event: str, data: Any) -> None:
        """Write one frame of this connection."""
        self.tap.write(self.name, self.channel, direction, event, data, self.label)

    def message(self, direction: str, message: str | bytes, event: "Event | None" = None) -> None:
        """Write a WebSocket message as it came; *event* is what `read_event` finds in it, if that is at hand."""
        if isinstance(message, bytes):
            self.frame(direction, "binary", {"bytes": len(message)})
            return
        kind, data = event or read_event(message)
        self.frame(direction, kind, {"text": message} if data is None else data)

    def closed(self, code: int | None, reason: str, by: str) -> None:
        """Write the `close` frame, once. *by* is `client`, `server` or `drop`."""
        if self._open:
            self._open = False
            self.tap.closed[self.name] = f"{reason or 'no reason given'} (by the {by}, code {code})"
            self.frame("client" if by == "client" else "server", "close", {"code": code, "reason": reason, "by": by})
            self.tap.ended_connection(self.name)


Event = tuple[str, dict[str, Any] | None]
"""The event type of a text frame and its JSON; `text` and None where it is no event."""


def read_event(message: str) -> Event:
    """Return the event in a text frame."""
    try:
        data = json.loads(message)
    except (ValueError, RecursionError):
        return "text", None
    return event_of(data) if isinstance(data, dict) else ("text", None)


def event_of(data: dict[str, Any]) -> Event:
    """Return the event that *data* is. Chat Completions' chunks have no `type`: they are known by their `object`."""
    kind = data.get("type") or data.get("object")
    return (kind, data) if isinstance(kind, str) else ("text", None)


def _opened(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def _write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]
