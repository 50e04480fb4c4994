"""A hundred thousand frames through the log and the views: does the last tenth cost what the first did?

The frames are what the endpoint's own session and tap write for one long conversation, only with less sound. Another
process writes them beforehand; here they are put behind the log that is read, reply by reply, as in a call.
"""

import gc
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO

import psutil
from measure import FIRST, Row, python

from handoffkit import EventLog
from handoffkit.endpoint.models.prompt import Reply
from handoffkit.endpoint.protocol.ids import Ids
from handoffkit.endpoint.protocol.realtime.session import RealtimeSession
from handoffkit.endpoint.tap import Connection, Tap

WHAT = "100,000 frames through log and views, in one conversation"

FRAMES, SMALLEST = 100_000, 1_000
REPLY = "Is the light on when you plug it in? And have you tried another cable since then?"
MB = 2**20

Costs = dict[str, list[float]]
"""What looking at a log has cost, in µs each, by what was looked at."""


def measure(*, smallest: bool) -> list[Row]:
    """Return the rows for 100,000 frames, or for 1,000."""
    frames = SMALLEST if smallest else FRAMES
    with tempfile.TemporaryDirectory() as folder:
        written, read = Path(folder, "written"), Path(folder, "read")
        subprocess.run(python(__file__, str(written), str(frames)), check=True, timeout=600)
        read.mkdir()
        with (written / "log.jsonl").open("rb") as source, (read / "log.jsonl").open("wb", buffering=0) as target:
            return _rows(source, target, EventLog(read), frames)


def _rows(source: BinaryIO, target: BinaryIO, log: EventLog, frames: int) -> list[Row]:
    target.write(source.readline())
    replies = _replies(source)
    assert log.turns == []
    gc.collect()
    before = psutil.Process().memory_info().rss
    tenths = [_tenth(replies, target, log, frames * number // 10) for number in range(1, 11)]
    gc.collect()
    resident = psutil.Process().memory_info().rss - before
    rows = []
    for what, first in tenths[0].items():
        last = tenths[-1][what]
        rows += [Row.of(f"{what}, first tenth", "µs", first), Row.of(f"{what}, last tenth", "µs", last)]
        rows.append(Row.of(f"{what}, last / first", "×", [(sum(last) / len(last)) / (sum(first) / len(first))]))
    size = Row.of("the log file", "MB", [target.tell() / MB])
    return [*rows, Row.of(f"memory for {len(log):,} frames, {len(log.turns):,} turns", "MB", [resident / MB]), size]


def _tenth(replies: Iterator[list[bytes]], target: BinaryIO, log: EventLog, until: int) -> Costs:
    """Let the log grow to *until* frames, and look at it after each reply; then have it shown."""
    reading: list[float] = []
    while len(log) < until:
        lines = next(replies)
        target.write(b"".join(lines))
        reading.append(_timed(lambda: log.turns) / len(lines))
    turns = len(log.turns)
    return {
        "log and turns after a reply, per frame": reading,
        "table(), shown": [_timed(lambda: str(log.table())) for _ in range(9)],
        "transcript() of all, shown, per turn": [_timed(lambda: str(log.transcript())) / turns for _ in range(9)],
    }


def _replies(source: BinaryIO) -> Iterator[list[bytes]]:
    """Yield the lines of a log in pieces, each up to the end of a reply."""
    lines: list[bytes] = []
    for line in source:
        lines.append(line)
        if b'"event":"response.done"' in line[:120]:
            yield lines
            lines = []


def _timed(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return 1e6 * (time.perf_counter() - began)


def write(folder: Path, frames: int) -> None:
    """Write one long conversation of at least so many frames."""
    folder.mkdir()
    tap = Tap(folder, {"mode": "simulated"})
    session = RealtimeSession("gpt-realtime", Ids("c1"), voice=lambda text: iter([bytes(480)] * (len(text) // 4)))
    wire = tap.connection("realtime", "call-1", "/v1/realtime", "gpt-realtime")
    _serve(wire, session.open())
    for number in count():
        said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": FIRST}]}
        _ask(wire, session, {"type": "conversation.item.create", "item": {"id": f"item_{number}", **said}})
        _ask(wire, session, {"type": "response.create"})
        pending = session.pending()
        assert pending is not None
        _serve(wire, session.answer(pending.response_id, Reply(REPLY)))
        if tap.seq >= frames:
            return


def _ask(wire: Connection, session: RealtimeSession, event: dict[str, Any]) -> None:
    text = json.dumps(event)
    wire.message("client", text)
    _serve(wire, session.receive(text))


def _serve(wire: Connection, events: Any) -> None:
    for event in events:
        wire.frame("server", event["type"], event)


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]))
