"""The event log: reading while it grows, filtering, following, saving and loading, recovering, damage."""

import asyncio
import base64
import json
import os
import shutil
import subprocess
import sys
import warnings
import wave
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.messages import SpeechPart, UserPromptPart
from wire_script import Wire

from handoffkit import audio
from handoffkit.errors import (
    LogDamaged,
    LogEmpty,
    LogNotFound,
    LogUnknown,
    NotALog,
    NothingToRecover,
    NotOurSound,
    SaveRefused,
    SeveralCalls,
)
from handoffkit.log import EventLog, load, recover
from handoffkit.marks import CallEnded
from handoffkit.wire.frames import AudioRef, Frame, StoredFrame, parse, record
from handoffkit.wire.left_behind import PREFIX

HEADER = {"handoffkit": 1, "started": 1_700_000_000.0, "mode": "simulated", "pid": 1}


def line(frame: Frame) -> bytes:
    return json.dumps(record(frame, frame.audio), ensure_ascii=False).encode() + b"\n"


class Folder:
    """A folder as an endpoint writes it."""

    def __init__(self, path: Path, header: dict[str, Any] | None = None) -> None:
        self.path = path
        (path / "audio").mkdir(parents=True)
        self.file = path / "log.jsonl"
        self.file.write_bytes(json.dumps(HEADER if header is None else header).encode() + b"\n")

    def write(self, *frames: Frame) -> None:
        with self.file.open("ab") as file:
            for frame in frames:
                file.write(line(frame))

    def write_raw(self, data: bytes) -> None:
        with self.file.open("ab") as file:
            file.write(data)

    def sound(self, wire: Wire) -> None:
        """Give each block of the wire's sound samples of its own."""
        for frame in wire.frames:
            if frame.audio is not None:
                with (self.path / "audio" / frame.audio.file).open("ab") as file:
                    file.write(bytes([frame.seq % 250, 0]) * (frame.audio.bytes // 2))


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path / f"{PREFIX}one")


def typed_call() -> Wire:
    wire = Wire(label="call-1").typed("My laptop does not charge.", "u1").ask()
    return wire.replied("Is the light on?", "r1", "a1").close()


def spoken_call(conn: str = "c1", first: int = 1, began: float = 0.0) -> Wire:
    wire = Wire(conn, "call-1", first=first, began=began).session().append(200).append(300).speech("u1")
    return wire.begin("r1").words("Hello.", "r1", "a1", ms=100).sound(50, "r1", "a1").done("r1").transcript("Hi.", "u1")


def spoken(folder: Folder) -> EventLog:
    wire = spoken_call()
    folder.write(*wire.frames)
    folder.sound(wire)
    return EventLog(folder.path)


# Reading


def test_a_log_is_a_sequence_of_frames(folder: Folder) -> None:
    wire = typed_call()
    folder.write(*wire.frames)
    log = EventLog(folder.path)
    assert len(log) == len(wire.frames)
    assert list(log) == log.frames == wire.frames
    assert log[0] == wire.frames[0]
    assert log[-1].event == "close"
    assert log[1:3] == wire.frames[1:3]
    assert wire.frames[2] in log
    with pytest.raises(IndexError):
        log[999]


def test_it_reads_what_is_new_and_only_that(folder: Folder) -> None:
    wire = typed_call()
    folder.write(*wire.frames[:3])
    log = EventLog(folder.path)
    first = log[0]
    assert len(log) == 3
    folder.write(*wire.frames[3:])
    assert len(log) == len(wire.frames)
    assert log[0] is first
    assert [turn.text for turn in log.turns] == ["My laptop does not charge.", "Is the light on?"]


def test_turns_and_marks_go_on_while_the_log_grows(folder: Folder) -> None:
    wire = typed_call()
    log = EventLog(folder.path)
    for number, frame in enumerate(wire.frames, 1):
        folder.write(frame)
        assert len(log.derived.turns) == len(EventLog(folder.path).turns)
        assert len(log) == number
    assert [mark.kind for mark in log.marks] == ["turn_complete", "call_ended"]
    assert isinstance(log.marks[-1], CallEnded)
    assert [(end.ordinal, end.verdict) for end in log.ends] == [(1, "complete")]
    assert log.open_turns == {}


def test_what_is_outstanding_is_said_in_words(folder: Folder) -> None:
    folder.write(*Wire().typed("Hello.", "u1").ask().frames)
    assert EventLog(folder.path).open_turns == {"c1": "a reply was asked for and has not begun"}


def test_a_line_that_is_not_whole_is_left_for_the_next_time(folder: Folder) -> None:
    wire = typed_call()
    whole = line(wire.frames[1])
    folder.write(wire.frames[0])
    folder.write_raw(whole[:40])
    log = EventLog(folder.path)
    assert (len(log), log.damaged) == (1, None)
    folder.write_raw(whole[40:-1])
    assert len(log) == 1
    folder.write_raw(b"\n")
    assert list(log) == wire.frames[:2]


def test_a_log_that_has_only_begun_has_no_frames(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes(b'{"handoff')
    log = EventLog(tmp_path)
    assert list(log) == []
    (tmp_path / "log.jsonl").write_bytes(json.dumps(HEADER).encode() + b"\n" + line(typed_call().frames[0]))
    assert len(log) == 1
    assert log.header["mode"] == "simulated"


def test_what_was_read_stays_when_the_folder_is_gone(folder: Folder) -> None:
    folder.write(*typed_call().frames)
    log = EventLog(folder.path)
    count = len(log)
    shutil.rmtree(folder.path)
    assert len(log) == count
    assert log.turns[0].text == "My laptop does not charge."
    assert log[0].data["item"]["role"] == "user"


def test_a_frames_data_cannot_be_spoiled(folder: Folder) -> None:
    folder.write(*typed_call().frames)
    log = EventLog(folder.path)
    log[0].data["item"] = "something else"
    assert log[0].data["item"]["role"] == "user"


@pytest.mark.parametrize("words", ["노트북이 충전되지 않아요", "الحاسوب لا يشحن", "🔌❌", "a\u2028b\u0085c", "\ud83d"])
def test_every_script_comes_back_as_it_was_said(folder: Folder, words: str) -> None:
    frame = Wire().typed(words, "u1").frames[0]
    folder.write_raw(json.dumps(record(frame, None)).encode() + b"\n")
    assert EventLog(folder.path).turns[0].text == words
    saved = EventLog(folder.path).save(folder.path.parent / "saved")
    assert load(saved).turns[0].text == words


def test_a_turn_of_100_000_characters_is_one_turn(folder: Folder) -> None:
    words = "word " * 20_000
    folder.write(*Wire().typed(words, "u1").ask().replied(words, "r1", "a1").frames)
    assert [turn.text for turn in EventLog(folder.path).turns] == [words, words]


# Filtering


def test_filter_takes_patterns(folder: Folder) -> None:
    folder.write(*typed_call().frames, *Wire("c2", "call-2", first=50).typed("Hello.", "u1").frames)
    log = EventLog(folder.path)
    assert {frame.event for frame in log.filter("response.*")} == {
        "response.create",
        "response.created",
        "response.output_item.added",
        "response.output_audio_transcript.delta",
        "response.done",
    }
    assert {frame.event for frame in log.filter(["close", "response.d*"])} == {"close", "response.done"}
    assert {frame.dir for frame in log.filter("response.*", dir="client")} == {"client"}
    assert {frame.conn for frame in log.filter(conn="c2")} == {"c2"}
    assert [turn.text for turn in log.filter(label=["call-2", "call-2/*"]).turns] == ["Hello."]
    assert [frame.seq for frame in log.filter(after_seq=50)] == [51]
    assert len(log.filter(channel="chat")) == 0
    assert len(log.filter(label="call-*")) == len(log)


def test_a_filtered_log_is_read_like_the_whole_and_stays_as_it_is(folder: Folder) -> None:
    wire = typed_call()
    folder.write(*wire.frames[:4])
    log = EventLog(folder.path)
    view = log.filter(label="call-1")
    folder.write(*wire.frames[4:])
    assert (len(view), len(log)) == (4, len(wire.frames))
    assert [turn.text for turn in view.turns] == ["My laptop does not charge."]
    assert view.filter("response.create")[0].seq == 3


def test_the_kernels_marks_about_a_connection_belong_to_it(folder: Folder) -> None:
    mark = {"conn": "c1", "seconds": 2}
    folder.write(*typed_call().frames, Frame(99, 9.0, "kernel", "mark", "client", "silence", mark, "call-1"))
    log = EventLog(folder.path)
    assert [frame.seq for frame in log.filter(conn="c1", channel="mark")] == [99]
    assert str(log.filter(conn="c1").marks[-1]) == "Nothing was heard for 2 s."


# Following


async def test_following_yields_what_is_there_and_what_comes(folder: Folder) -> None:
    wire = typed_call()
    folder.write(*wire.frames[:2])
    seen = []
    async for frame in EventLog(folder.path).follow(idle_timeout=30):
        seen.append(frame)
        if len(seen) == 2:
            folder.write(*wire.frames[2:])
        if frame.event == "close":
            break
    assert seen == wire.frames


async def test_following_ends_when_nothing_comes(folder: Folder) -> None:
    folder.write(*typed_call().frames)
    log = EventLog(folder.path)
    assert [frame async for frame in log.follow("close", idle_timeout=0)] == [log[-1]]
    assert [frame async for frame in log.follow(after_seq=len(log), idle_timeout=0)] == []


async def test_a_filtered_log_has_nothing_to_wait_for(folder: Folder) -> None:
    folder.write(*typed_call().frames)
    view = EventLog(folder.path).filter("response.done")
    assert [frame.event async for frame in view.follow(idle_timeout=600)] == ["response.done"]


async def follow_to_close(log: EventLog) -> list[Frame]:
    seen = []
    async with asyncio.timeout(30):
        async for frame in log.follow(idle_timeout=600):
            seen.append(frame)
            if frame.event == "close":
                break
    return seen


async def test_whoever_knows_that_the_log_has_grown_wakes_the_follower(folder: Folder) -> None:
    wire = typed_call()
    folder.write(*wire.frames[:2])
    asked: list[int] = []

    async def grew(seq: int, timeout: float) -> None:
        assert 0 < timeout <= 600
        asked.append(seq)
        folder.write(*wire.frames[2:])

    assert await follow_to_close(EventLog(folder.path, grew=grew)) == wire.frames
    assert asked == [2]


# Sound and raw JSON


def test_sound_is_read_by_frame_and_by_side(folder: Folder) -> None:
    log = spoken(folder)
    first, second = log.filter("input_audio_buffer.append")
    assert (len(log.audio_bytes(first)), len(log.audio_bytes(second))) == (200 * 48, 300 * 48)
    assert log.pcm("caller", "c1") == log.audio_bytes(first) + log.audio_bytes(second)
    assert len(log.pcm("agent", "c1")) == 150 * 48
    assert log.pcm("agent", "c9") == b""
    assert log.audio_bytes(log[0]) == b""


def test_the_raw_frame_has_its_sound_again(folder: Folder) -> None:
    log = spoken(folder)
    (append, _), (delta, _) = log.filter("input_audio_buffer.append"), log.filter("response.output_audio.delta")
    assert append.data["audio"] == delta.data["delta"] == ""
    assert base64.b64decode(log.raw(append)["audio"]) == log.audio_bytes(append)
    assert base64.b64decode(log.raw(delta)["delta"]) == log.audio_bytes(delta)
    assert log.raw(log[0]) == log[0].data


def test_sound_that_is_missing_is_empty(folder: Folder) -> None:
    log = spoken(folder)
    (folder.path / "audio" / "c1-caller.pcm").unlink()
    assert log.pcm("caller", "c1") == b""
    os.truncate(folder.path / "audio" / "c1-agent.pcm", 100)
    assert len(log.pcm("agent", "c1")) == 100


# Saving and loading


def test_a_saved_call_is_the_same_call(folder: Folder, tmp_path: Path) -> None:
    log = spoken(folder)
    target = tmp_path / "my calls" / "the first"
    assert log.save(target) == target
    assert sorted(path.name for path in target.iterdir()) == ["agent.wav", "call.jsonl", "caller.wav"]
    shutil.rmtree(folder.path)
    again = load(target)
    assert again.damaged is None
    assert (again.turns, again.marks) == (log.turns, log.marks)
    assert [(frame.seq, frame.event, frame.data) for frame in again] == [(f.seq, f.event, f.data) for f in log]
    assert again.header == {"handoffkit": 1, "started": HEADER["started"], "mode": "simulated"}


def test_saved_sound_is_wav_and_every_frame_finds_its_own(folder: Folder, tmp_path: Path) -> None:
    log = spoken(folder)
    expected = {frame.seq: log.audio_bytes(frame) for frame in log if frame.audio}
    target = log.save(tmp_path / "saved")
    with wave.open(str(target / "caller.wav")) as file:
        assert (file.getframerate(), file.getsampwidth(), file.getnchannels()) == (24000, 2, 1)
        assert file.readframes(file.getnframes()) == log.pcm("caller", "c1")
    again = load(target)
    assert {frame.seq: again.audio_bytes(frame) for frame in again if frame.audio} == expected
    assert {frame.audio.file for frame in again if frame.audio} == {"caller.wav", "agent.wav"}
    assert again.pcm("agent", "c1") == log.pcm("agent", "c1")


def test_connections_that_spoke_at_once_are_saved_one_after_the_other(folder: Folder, tmp_path: Path) -> None:
    one, two = spoken_call(), spoken_call("c2", first=100)
    mixed = [frame for pair in zip(one.frames, two.frames, strict=True) for frame in pair]
    folder.write(*mixed)
    folder.sound(one)
    folder.sound(two)
    log = EventLog(folder.path)
    again = load(log.save(tmp_path / "saved"))
    for conn in ("c1", "c2"):
        assert again.pcm("agent", conn) == log.pcm("agent", conn)
    assert audio.read_wav(tmp_path / "saved" / "agent.wav") == log.pcm("agent", "c1") + log.pcm("agent", "c2")


def test_half_a_sample_does_not_turn_the_next_connection_into_noise(folder: Folder, tmp_path: Path) -> None:
    (folder.path / "audio" / "c1-agent.pcm").write_bytes(b"\1\2\3")
    (folder.path / "audio" / "c2-agent.pcm").write_bytes(b"\4\5")
    for seq, (conn, size) in enumerate([("c1", 3), ("c2", 2)], 1):
        ref = AudioRef(f"{conn}-agent.pcm", 0, size)
        folder.write(
            Frame(seq, 0.0, conn, "realtime", "server", "response.output_audio.delta", {"delta": ""}, None, ref)
        )
    again = load(EventLog(folder.path).save(tmp_path / "saved"))
    assert [again.audio_bytes(frame) for frame in again] == [b"\1\2\3", b"\4\5"]
    assert audio.read_wav(tmp_path / "saved" / "agent.wav") == b"\1\2\3\0\4\5"


def test_a_loaded_call_can_be_saved_again_and_in_its_own_place(folder: Folder, tmp_path: Path) -> None:
    log = spoken(folder)
    first = load(log.save(tmp_path / "saved"))
    second = load(first.save(tmp_path / "copy"))
    first.save(tmp_path / "saved")
    assert load(tmp_path / "saved").turns == second.turns == log.turns
    assert second.pcm("agent", "c1") == log.pcm("agent", "c1") == load(tmp_path / "saved").pcm("agent", "c1")


def test_a_call_is_saved_out_of_a_log_of_several(folder: Folder, tmp_path: Path) -> None:
    folder.write(*typed_call().frames, *Wire("c2", "call-2", first=50).typed("Hello.", "u1").frames)
    again = load(EventLog(folder.path).filter(label="call-2").save(tmp_path / "saved"))
    assert [turn.text for turn in again.turns] == ["Hello."]
    assert [frame.seq for frame in again] == [50, 51]


def test_a_saved_call_gives_its_messages(folder: Folder, tmp_path: Path) -> None:
    folder.write(*typed_call().frames)
    first, second = load(EventLog(folder.path).save(tmp_path / "saved")).messages()
    assert [part.content for part in first.parts if isinstance(part, UserPromptPart)] == ["My laptop does not charge."]
    assert [part.transcript for part in second.parts if isinstance(part, SpeechPart)] == ["Is the light on?"]


def test_messages_of_several_calls_are_not_mixed(folder: Folder) -> None:
    folder.write(*typed_call().frames, *Wire("c2", "call-2", first=50).typed("Hello.", "u1").frames)
    log = EventLog(folder.path)
    with pytest.raises(SeveralCalls, match=r"call-1, call-2.*log\.filter"):
        log.messages()
    assert len(log.filter(label="call-2").messages()) == 1


def test_an_older_saved_call_is_replaced_and_other_files_in_it_are_kept(folder: Folder, tmp_path: Path) -> None:
    folder.write(*typed_call().frames)
    log = EventLog(folder.path)
    target = log.filter("close").save(tmp_path / "saved", ticket="{}")
    assert (target / "ticket.json").read_text() == "{}"
    (target / "notes.txt").write_text("mine")
    (target / ".ipynb_checkpoints").mkdir()
    log.save(target)
    assert len(load(target)) == len(log)
    names = sorted(path.name for path in target.iterdir())
    assert names == [".ipynb_checkpoints", "agent.wav", "call.jsonl", "caller.wav", "notes.txt"]
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_an_empty_folder_can_be_saved_to(folder: Folder, tmp_path: Path) -> None:
    (tmp_path / "saved").mkdir()
    folder.write(*typed_call().frames)
    assert len(load(EventLog(folder.path).save(tmp_path / "saved"))) > 0


def test_what_is_no_saved_call_is_never_overwritten(folder: Folder, tmp_path: Path) -> None:
    folder.write(*typed_call().frames)
    log = EventLog(folder.path)
    (tmp_path / "file").write_text("mine")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "call.jsonl").write_text("mine")
    for target in (tmp_path / "file", tmp_path / "other", folder.path, tmp_path / "file" / "below"):
        with pytest.raises(SaveRefused, match="Nothing there was changed"):
            log.save(target)
    assert (tmp_path / "file").read_text() == (tmp_path / "other" / "call.jsonl").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", f"{PREFIX}one", "other"]


def test_a_part_of_a_call_does_not_replace_the_call(folder: Folder, tmp_path: Path) -> None:
    folder.write(*typed_call().frames)
    saved = load(EventLog(folder.path).save(tmp_path / "saved"))
    with pytest.raises(SaveRefused, match="filtered from"):
        saved.filter("close").save(tmp_path / "saved")
    assert len(load(tmp_path / "saved")) == len(saved)


def test_a_folder_that_cannot_be_written_is_refused(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write(*typed_call().frames)

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(SaveRefused, match="cannot be written \\(Permission denied\\)"):
        EventLog(folder.path).save(tmp_path / "saved")


def test_a_save_that_fails_half_way_leaves_the_older_call(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write(*typed_call().frames)
    log = EventLog(folder.path)
    target = log.filter("close").save(tmp_path / "saved")

    def full(*_: Any) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(audio, "write_wav", full)
    with pytest.raises(SaveRefused, match="No space left on device"):
        log.save(target)
    assert [frame.event for frame in load(target)] == ["close"]
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{PREFIX}one", "saved"]


def test_a_call_that_cannot_be_moved_into_place_leaves_the_older_one(
    folder: Folder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write(*typed_call().frames)
    log = EventLog(folder.path)
    target = log.filter("close").save(tmp_path / "saved")
    replace = os.replace

    def second_fails(source: Any, goal: Any) -> None:
        if not str(source).endswith("-older") and Path(goal) == target:
            raise OSError(13, "Permission denied")
        replace(source, goal)

    monkeypatch.setattr(os, "replace", second_fails)
    with pytest.raises(SaveRefused):
        log.save(target)
    assert [frame.event for frame in load(target)] == ["close"]


# What cannot be loaded


def test_a_missing_folder_and_a_folder_without_a_call_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(LogNotFound, match="there is no such folder"):
        load(tmp_path / "nowhere")
    with pytest.raises(LogNotFound, match=r"neither `call\.jsonl` nor `log\.jsonl`"):
        load(tmp_path)


@pytest.mark.parametrize("first", [b"hello\n", b"[1]\n", b'{"a": 1}\n', b"\xff\xfe\n", b"[" * 100_000 + b"\n"])
def test_a_file_that_is_no_log_is_refused(tmp_path: Path, first: bytes) -> None:
    (tmp_path / "call.jsonl").write_bytes(first)
    with pytest.raises(NotALog, match="its first line should be JSON"):
        load(tmp_path)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "call.jsonl").touch()
    with pytest.raises(LogEmpty, match="is empty"):
        load(tmp_path)


def test_a_log_of_another_schema_is_refused(tmp_path: Path) -> None:
    (tmp_path / "call.jsonl").write_text('{"handoffkit": 2}\n')
    with pytest.raises(LogUnknown, match="is of schema 2; this version of handoffkit reads schema 1"):
        load(tmp_path)


# Damage


def saved_lines(folder: Folder, tmp_path: Path) -> tuple[Path, list[bytes]]:
    folder.write(*typed_call().frames)
    target = EventLog(folder.path).save(tmp_path / "saved") / "call.jsonl"
    return target, target.read_bytes().splitlines(keepends=True)


def test_a_damaged_last_line_costs_that_line_and_is_told(folder: Folder, tmp_path: Path) -> None:
    file, lines = saved_lines(folder, tmp_path)
    file.write_bytes(b"".join(lines)[:-20])
    with pytest.warns(LogDamaged, match=rf"Line {len(lines)}, the last one, of .* cannot be read") as told:
        log = load(file.parent)
    assert told.pop(LogDamaged).filename == __file__
    assert len(log) == len(lines) - 2
    assert log.damaged == f"line {len(lines)}, the last one, of {file} cannot be read: it is cut off or garbled"
    assert [turn.text for turn in log.turns] == ["My laptop does not charge.", "Is the light on?"]
    assert "damaged: line" in repr(log)


def test_a_last_line_without_its_end_of_line_is_whole(folder: Folder, tmp_path: Path) -> None:
    file, lines = saved_lines(folder, tmp_path)
    file.write_bytes(b"".join(lines)[:-1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(load(file.parent)) == len(lines) - 1


@pytest.mark.parametrize(
    "garbage",
    [
        b"garbage\n",
        b"\xff\xff\n",
        b"null\n",
        b'{"seq": 1}\n',
        b"[" * 100_000 + b"\n",
        b'{"seq":NaN,"at":NaN,"conn":"c1","channel":"x","dir":"x","event":"x","data":{}}\n',
        b'{"seq":1,"at":Infinity,"conn":"c1","channel":"x","dir":"x","event":"x","data":{}}\n',
        b'{"seq":1,"at":0,"conn":"c1","channel":"x","dir":"x","event":"x","data":[]}\n',
    ],
)
def test_damage_in_the_middle_costs_only_the_damaged_lines(folder: Folder, tmp_path: Path, garbage: bytes) -> None:
    file, lines = saved_lines(folder, tmp_path)
    file.write_bytes(b"".join([*lines[:2], garbage, *lines[2:5], garbage, *lines[5:]]))
    with pytest.warns(LogDamaged, match=r"2 lines of .* cannot be read, the first of them line 3"):
        log = load(file.parent)
    assert len(log) == len(lines) - 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load(log.save(tmp_path / "mended")).turns == log.turns


def test_a_live_log_tells_of_damage_once(folder: Folder) -> None:
    folder.write_raw(b"garbage\n")
    folder.write(*typed_call().frames)
    log = EventLog(folder.path)
    with pytest.warns(LogDamaged, match="Line 2"):
        log.refresh()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(log) == len(log.frames) == len(typed_call().frames)


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/b", "..", ".hidden", "a\\b", "", "C:x", "a\n"])
def test_a_log_never_leads_out_of_its_folder(folder: Folder, tmp_path: Path, name: str) -> None:
    (tmp_path / "x").write_bytes(b"secret")
    frame = Frame(1, 0.0, "c1", "realtime", "server", "x", {}, None, AudioRef(name, 0, 6))
    folder.write(frame)
    with pytest.warns(LogDamaged, match="is no file of this log's own folder"):
        assert len(EventLog(folder.path)) == 0


def test_a_link_in_a_saved_call_is_not_followed(folder: Folder, tmp_path: Path) -> None:
    target = spoken(folder).save(tmp_path / "saved")
    shutil.move(target / "agent.wav", tmp_path / "elsewhere.wav")
    (target / "agent.wav").symlink_to(tmp_path / "elsewhere.wav")
    assert load(target).pcm("agent", "c1") == b""


def test_sound_beyond_the_file_is_not_read(folder: Folder) -> None:
    (folder.path / "audio" / "c1-agent.pcm").write_bytes(b"\1\2")
    refs = [AudioRef("c1-agent.pcm", 1, 10**15), AudioRef("c1-agent.pcm", 10**15, 1)]
    folder.write(*(Frame(n, 0.0, "c1", "realtime", "server", "x", {}, None, ref) for n, ref in enumerate(refs, 1)))
    log = EventLog(folder.path)
    assert [log.audio_bytes(frame) for frame in log] == [b"\2", b""]


# Recovering


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def ended_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", "pass"])
    process.wait(60)
    return process.pid


def test_the_newest_log_of_a_dead_kernel_is_recovered(temporary: Path) -> None:
    gone = ended_process()
    for name, started, pid in (("a", 1.0, gone), ("b", 3.0, gone), ("c", 2.0, gone), ("d", 9.0, os.getpid())):
        left = Folder(temporary / f"{PREFIX}{name}", HEADER | {"started": started, "pid": pid})
        left.write(*typed_call().frames)
    newest = recover()
    assert (newest.folder.name, newest.turns[0].text) == (f"{PREFIX}b", "My laptop does not charge.")
    assert [log.folder.name for log in recover(all=True)] == [f"{PREFIX}{name}" for name in "bca"]


def test_a_recovered_log_is_read_up_to_its_damaged_last_line_and_can_be_saved(temporary: Path) -> None:
    left = Folder(temporary / f"{PREFIX}a", HEADER | {"pid": ended_process()})
    wire = spoken_call()
    left.write(*wire.frames)
    left.sound(wire)
    left.write_raw(b'{"seq": 99, "at"')
    with pytest.warns(LogDamaged, match="the last one"):
        log = recover()
    again = load(log.save(temporary / "kept"))
    assert (again.turns, again.pcm("caller", "c1")) == (log.turns, log.pcm("caller", "c1"))


def test_with_nothing_left_behind_recovery_says_so(temporary: Path) -> None:
    (temporary / f"{PREFIX}not-a-folder").touch()
    (temporary / f"{PREFIX}empty").mkdir()
    Folder(temporary / f"{PREFIX}other", {"something": "else"})
    Folder(temporary / f"{PREFIX}no-pid", {"handoffkit": 1, "started": 1.0})
    Folder(temporary / "elsewhere", HEADER | {"pid": ended_process()})
    (temporary / f"{PREFIX}link").symlink_to(temporary / "elsewhere")
    assert recover(all=True) == []
    with pytest.raises(NothingToRecover, match="No log of a kernel that died"):
        recover()


# How it looks


def test_a_log_shows_how_much_there_is_and_escapes_it(folder: Folder) -> None:
    folder.write(*typed_call().frames)
    folder.write(Frame(99, 9.0, "k", "<img src=x onerror=alert(1)>", "client", "x", {}))
    log = EventLog(folder.path)
    assert repr(log).startswith("<EventLog: 10 frames; realtime, <img")
    assert "<img" not in log._repr_html_()
    assert "&lt;img src=x" in log._repr_html_()
    assert repr(log.filter("nothing")) == "<EventLog: 0 frames>"
    assert repr(log.filter("close")) == "<EventLog: 1 frame; realtime>"


def test_the_views_are_at_hand(folder: Folder) -> None:
    folder.write(*typed_call().frames)
    log = EventLog(folder.path)
    assert "My laptop does not charge." in str(log.transcript())
    assert "response.done" in str(log.table())
    assert "1 caller turn" in str(log.timeline())


# Frames and sound files


def test_a_stored_frame_is_the_frame_that_was_written() -> None:
    ref = AudioRef("c1-agent.pcm", 10, 20)
    frame = Frame(3, 0.25, "c1", "realtime", "server", "x", {"a": [1, {"b": None}]}, "call-1", ref)
    stored, data = parse(line(frame).rstrip())
    assert isinstance(stored, StoredFrame)
    assert stored == frame
    assert frame == stored
    assert data == stored.data == frame.data
    assert stored != Frame(4, 0.25, "c1", "realtime", "server", "x", {})
    assert stored != "frame"
    assert "seq=3" in repr(stored)


def test_a_wav_file_of_another_kind_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = tmp_path / "hello.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(2)
        file.setsampwidth(2)
        file.setframerate(44100)
        file.writeframes(bytes(8))
    with pytest.raises(NotOurSound, match="44100 Hz, 16 bits, 2 channels; a call takes WAV with 24000 Hz"):
        audio.read_wav(path)
    path.write_bytes(b"RIFFxxxx")
    for read in (audio.read_wav, audio.wav_data):
        with pytest.raises(NotOurSound):
            read(path)


def test_a_wav_file_comes_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "hello.wav"
    assert audio.write_wav(path, [b"\1\0", b"\2\0\3\0"]) == 6
    assert audio.read_wav(path) == b"\1\0\2\0\3\0"
    offset, size = audio.wav_data(path)
    assert path.read_bytes()[offset : offset + size] == b"\1\0\2\0\3\0"
    assert audio.duration_ms(24000 * 2) == 1000
