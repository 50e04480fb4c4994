"""`handoffkit call`: the whole job in a terminal, by options, by a pipe and by hand."""

import asyncio
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

import handoffkit as hk
from handoffkit import audio
from handoffkit.commands.terminal import SupportTicket, Ticker
from handoffkit.errors import EndpointGone
from handoffkit.sources import folder

CALL = (sys.executable, "-m", "handoffkit", "call")
TURNS = ("My laptop does not charge. Its light stays off when I plug it in.", "Another outlet changed nothing.")
TEXTS = ("--text", TURNS[0], "--text", TURNS[1])


def call(*options: str, typed: str = "", **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*CALL, *options],
        input=typed,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="backslashreplace",
        timeout=180,
        check=False,
    )


def test_json_is_the_ticket_alone() -> None:
    done = call(*TEXTS, "--json")
    assert done.returncode == 0, done.stderr
    ticket = SupportTicket.model_validate_json(done.stdout)
    assert ticket.category == "hardware"
    assert f"caller: {TURNS[1]}\n" in done.stderr
    assert "Simulated on this machine" in done.stderr


def test_the_same_words_give_the_same_ticket_by_option_and_by_pipe() -> None:
    assert call(*TEXTS, "--json").stdout == call("--json", typed="\n".join(("", *TURNS, ""))).stdout != ""


def test_events_stand_between_the_lines_of_the_conversation_as_they_passed() -> None:
    done = call(*TEXTS)
    assert (done.returncode, done.stderr) == (0, "")
    first, second, after = (done.stdout.index(f"{sign}") for sign in (*TURNS, "POST /v1/responses"))
    between = done.stdout[first:second]
    assert between.index("-> response.create\n") < between.index("<- response.done\n") < between.index("\nagent: ")
    assert between.count("response.output_audio_transcript.delta x ") == 1
    assert second < after < done.stdout.index("priority")
    times = [float(line.split(" s ")[0]) for line in done.stdout.splitlines() if " s -> " in line or " s <- " in line]
    assert times == sorted(times)


def test_a_caller_who_says_nothing_gets_no_ticket() -> None:
    done = call("--json", typed="\n \n")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith("type it when you are asked.\n")


def test_an_empty_turn_is_refused_and_no_ticket_is_printed() -> None:
    done = call("--text", " ", "--json")
    assert (done.returncode, done.stdout) == (1, "")
    assert "handoffkit: A typed turn needs words" in done.stderr


def test_a_terminal_that_lacks_letters_still_gets_valid_json() -> None:
    done = call("--text", "노트북이 충전되지 않아요 😀", "--json", PYTHONIOENCODING="cp1252", PYTHONUTF8="0")
    assert done.returncode == 0, done.stderr
    assert SupportTicket.model_validate_json(done.stdout)
    assert done.stdout.isascii()


def test_no_log_and_no_process_stay_behind(tmp_path: Any) -> None:
    assert call(*TEXTS, TMPDIR=str(tmp_path)).returncode == 0
    assert list(tmp_path.glob("handoffkit-*")) == []


@asynccontextmanager
async def by_hand(pty: Any) -> AsyncIterator[tuple[asyncio.subprocess.Process, int]]:
    """Run the command at a terminal of its own for at most a minute; give the process and the keyboard's end."""
    keyboard, terminal = pty.openpty()
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *CALL, "--json", stdin=terminal, stdout=pipe, stderr=pipe, start_new_session=True
    )
    os.close(terminal)
    try:
        async with asyncio.timeout(60):
            yield process, keyboard
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()
        os.close(keyboard)


async def said(process: asyncio.subprocess.Process, sign: str) -> None:
    assert process.stderr
    async for line in process.stderr:
        if sign in line.decode():
            return
    pytest.fail(f"ended without {sign!r}")


async def test_turns_can_be_typed_until_an_empty_line() -> None:
    async with by_hand(pytest.importorskip("pty")) as (process, keyboard):
        for turn in TURNS:
            os.write(keyboard, turn.encode() + b"\n")
            await said(process, "agent: ")
        os.write(keyboard, b"\n")
        output, _ = await process.communicate()
        assert process.returncode == 0
    assert SupportTicket.model_validate_json(output.decode())


async def test_ctrl_c_while_it_waits_for_words_ends_the_command() -> None:
    async with by_hand(pytest.importorskip("pty")) as (process, keyboard):
        os.write(keyboard, TURNS[0].encode() + b"\n")
        await said(process, "agent: ")
        process.send_signal(signal.SIGINT)
        output, errors = await process.communicate()
        assert process.returncode == 130
    assert b"category" not in output
    assert b"Traceback" not in errors


async def test_what_is_said_cannot_steer_the_terminal(connected: Any) -> None:
    out = io.StringIO()
    Ticker(hk.log(), "call-1", out).say("caller", "\x1b[2Jgone\r\nnext\tline\x9b")
    assert out.getvalue() == "caller: \\x1b[2Jgone\\x0d\nnext\tline\\x9b\n"


class Gone:
    """A log whose endpoint has ended."""

    async def follow(self, **_: Any) -> AsyncIterator[Any]:
        raise EndpointGone("while following")
        yield

    def filter(self, **_: Any) -> list[Any]:
        return []


async def test_an_endpoint_that_dies_leaves_the_calls_own_error() -> None:
    gone: Any = Gone()

    async def fail() -> None:
        async with Ticker(gone, "call-1", io.StringIO()).running():
            await asyncio.sleep(0)
            raise EndpointGone("the call's own")

    with pytest.raises(EndpointGone, match="the call's own"):
        await fail()


def test_the_ticket_has_the_fields_of_the_course() -> None:
    schema = json.loads(json.dumps(SupportTicket.model_json_schema()))["properties"]
    assert list(schema) == ["summary", "category", "priority", "follow_up_questions"]
    assert schema["priority"]["enum"] == ["low", "medium", "high"]


@pytest.mark.usefixtures("speech")
def test_a_folder_of_recordings_becomes_a_ticket(tmp_path: Path) -> None:
    """The sound alone counts: it is a copy elsewhere, 6 dB quieter, with words beside it that say something else."""
    for turn in folder(ROOT / "audio" / "laptop-will-not-charge"):
        audio.load(turn).louder(-6).save(tmp_path / turn.name)
    (tmp_path / "words.json").write_text('{"turns": ["My invoice is wrong.", "There is no hurry."]}')
    (tmp_path / "truth.json").write_text('{"category": "billing", "priority": "low"}')
    done = call(str(tmp_path), "--json")
    assert done.returncode == 0, done.stderr
    ticket = json.loads(done.stdout)
    assert (ticket["category"], ticket["priority"]) == ("hardware", "high")
    assert "invoice" not in done.stdout + done.stderr
    assert "caller: (speaks: turn-1.wav)" in done.stderr
    assert "input_audio_buffer.append x" in done.stderr


def test_a_folder_without_recordings_is_refused_before_anything_starts(tmp_path: Path) -> None:
    done = call(str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert "it is empty" in done.stderr


@pytest.mark.usefixtures("speech")
def test_a_recording_that_is_none_is_refused_and_no_ticket_is_printed(tmp_path: Path) -> None:
    (tmp_path / "turn-1.wav").write_bytes(b"ID3 nothing that can be heard")
    done = call(str(tmp_path), "--json")
    assert (done.returncode, done.stdout) == (1, "")
    assert "turn-1.wav" in done.stderr
    assert "Traceback" not in done.stderr


def test_spoken_and_typed_turns_do_not_mix(tmp_path: Path) -> None:
    done = call(str(tmp_path), "--text", "Hello.")
    assert done.returncode == 2
    assert "not both" in done.stderr
