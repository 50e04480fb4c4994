"""A page that keeps rows as it is told, and logs whose frames come bit by bit."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from handoffkit.log import EventLog
from handoffkit.widgets.state.row import Row
from handoffkit.widgets.state.rows import Changes
from handoffkit.wire.frames import Frame, record


class Page:
    """The rows as a page has them that is told only what changes."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self.seen: dict[str, Row] = {}

    def take(self, changes: Changes) -> None:
        told = json.loads(json.dumps(changes._asdict(), allow_nan=False).encode("utf-8"))
        for key in told["gone"]:
            del self.rows[key]
        for row in told["rows"]:
            self.rows[row["k"]] = row
            self.seen[row["k"]] = row
        if told["order"] is not None:
            last = dict.fromkeys(told["order"])
            keys = [*(key for key in self.rows if key not in last), *last]
            self.rows = {key: self.rows[key] for key in keys}


class Growing:
    """A log in a folder, to which frames are written one by one."""

    def __init__(self, folder: Path, mode: str = "live") -> None:
        folder.mkdir(parents=True)
        header = {"handoffkit": 1, "started": 1_700_000_000.0, "mode": mode, "pid": 1}
        self.file = folder / "log.jsonl"
        self.file.write_bytes(json.dumps(header).encode() + b"\n")
        self.log = EventLog(folder)

    def write(self, frames: Iterable[Frame]) -> None:
        with self.file.open("ab") as file:
            for frame in frames:
                file.write(json.dumps(record(frame, frame.audio)).encode() + b"\n")


def grown(folder: Path, frames: Iterable[Frame], mode: str = "live") -> EventLog:
    """Return a log of *frames*."""
    growing = Growing(folder, mode)
    growing.write(frames)
    return growing.log


def brief(rows: Sequence[Any], *names: str) -> list[tuple[Any, ...]]:
    """Return some fields of each row."""
    return [tuple(row[name] for name in names) for row in rows]
