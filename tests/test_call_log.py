"""One call in a log that holds others: its turns, its end, what it waits for. No endpoint, a log written by hand."""

import json
from pathlib import Path

import pytest
from wire_script import Wire

from handoffkit import EventLog
from handoffkit.wire.call_log import CallLog
from handoffkit.wire.frames import record


class Written:
    """A log folder, and the calls that are written into it."""

    def __init__(self, path: Path) -> None:
        self.file = path / "log.jsonl"
        self.file.write_text('{"handoffkit": 1, "started": 0}\n')
        self.log = EventLog(path)
        self.seq = 0

    def call(self, conn: str, label: str) -> Wire:
        return Wire(conn, label, first=self.seq + 1)

    def add(self, wire: Wire) -> None:
        """Write what *wire* has by now, and begin its next frames behind that."""
        with self.file.open("a") as file:
            file.writelines(json.dumps(record(frame, None)) + "\n" for frame in wire.frames)
        self.seq = wire.frames[-1].seq
        wire.frames.clear()


@pytest.fixture
def written(tmp_path: Path) -> Written:
    return Written(tmp_path)


def test_a_call_that_has_not_begun_says_nothing(written: Written) -> None:
    call = CallLog(written.log, "call-1")
    assert (call.turns, call.seq, call.outstanding, call.closed, call.end_after(0)) == ([], 0, None, None, None)


def test_it_sees_its_own_turns_and_no_others(written: Written) -> None:
    written.add(written.call("c1", "call-1").typed("Hello.", "u1").ask().replied("Hi.", "r1", "a1"))
    written.add(written.call("c2", "call-2").typed("Hey.", "u2").ask())
    one, two = CallLog(written.log, "call-1"), CallLog(written.log, "call-2")
    assert [turn.text for turn in one.turns] == ["Hello.", "Hi."]
    assert [turn.text for turn in two.turns] == ["Hey."]
    assert one.outstanding is None
    assert two.outstanding == "a reply was asked for and has not begun"
    assert one.seq == two.seq == written.seq, "the number of the last frame is the whole log's"
    assert {frame.label for frame in one.frames} == {"call-1"}


def test_it_finds_the_end_of_the_turn_that_comes_after_a_frame(written: Written) -> None:
    wire = written.call("c1", "call-1").typed("Hello.", "u1").ask().replied("Hi.", "r1", "a1")
    written.add(wire)
    call = CallLog(written.log, "call-1")
    first = call.end_after(0)
    assert first is not None
    assert (first.ordinal, first.verdict, first.end_seq) == (1, "complete", written.seq)
    assert call.end_after(written.seq) is None
    written.add(wire.typed("And?", "u2").ask().replied("Yes.", "r2", "a2"))
    second = call.end_after(first.end_seq)
    assert second is not None
    assert second.ordinal == 2
    assert call.end_after(0) == first


def test_a_connection_that_takes_over_belongs_to_the_call(written: Written) -> None:
    wire = written.call("c1", "call-1").typed("Hello.", "u1").ask()
    wire.server("close", code=1001, reason="restart", by="server")
    written.add(wire)
    call = CallLog(written.log, "call-1")
    assert call.closed == "the service closed the connection (code 1001, restart)"
    failed = call.end_after(0)
    assert failed is not None
    assert failed.verdict == "failed"
    written.add(written.call("c2", "call-1").typed("Hello?", "u2").ask())
    assert call.closed is None, "the newest connection counts"
    assert call.outstanding == "a reply was asked for and has not begun"
    assert [turn.text for turn in call.turns] == ["Hello.", "Hello?"]
