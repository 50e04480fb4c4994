"""In a real kernel: cells, interrupts, restarts and a kill, and what is left behind."""

import os
import signal
import socket
from pathlib import Path

import psutil
import pytest
from kernel import Kernel

import handoffkit as hk

START = """
import asyncio, handoffkit as hk
from pydantic_ai import Agent
from handoffkit.connect import current
hk.connect()
agent = Agent(instructions="Support.")
"""


def endpoints(folder: Path) -> list[int]:
    """Return the endpoint processes that write below *folder*."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        if "handoffkit.endpoint" in (process.info["cmdline"] or []):
            try:
                if process.environ().get("TMPDIR") == str(folder):
                    found.append(process.pid)
            except psutil.Error:
                continue
    return found


def test_a_call_lives_across_cells_and_each_cell_can_be_run_twice(tmp_path: Path) -> None:
    with Kernel(tmp_path) as kernel:
        for _ in range(2):
            kernel.run(START)
            kernel.run("call = hk.Call(agent)\nawait call.start()")
            assert (
                kernel.run("reply = await call.send('My laptop does not charge.'); print(reply.speaker)") == "agent\n"
            )
            assert kernel.run("await call.hang_up(); print(len(call.log.turns))") == "2\n"


def test_an_interrupted_cell_leaves_the_call_usable(tmp_path: Path) -> None:
    with Kernel(tmp_path) as kernel:
        kernel.run(START)
        kernel.run(
            "hk.connect(model=hk.ScriptedModel(['Slow answer.', 'Here.']),"
            " faults=[hk.Fault('response.output_audio.delta', 'delay', seconds=4)])\n"
            "call = await hk.Call(agent).start()"
        )
        cell = kernel.start("await call.send('First.')")
        _wait_for(tmp_path, "response.output_audio_transcript.delta")
        kernel.manager.interrupt_kernel()
        said = kernel.finish(cell)
        assert "CancelledError" in said or "KeyboardInterrupt" in said
        assert kernel.run("print((await call.send('Second.')).text)", timeout=90) == "Here.\n"


def _wait_for(folder: Path, event: str) -> None:
    import time

    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if any(event in log.read_text() for log in folder.glob("handoffkit-*/log.jsonl")):
            return
        time.sleep(0.02)
    raise TimeoutError(event)


def test_a_kernel_that_is_killed_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Kernel(tmp_path) as kernel:
        kernel.run(START)
        kernel.run("call = await hk.Call(agent).start()\nawait call.send('My laptop does not charge.')")
        (endpoint,) = endpoints(tmp_path)
        pid = int(kernel.run("import os; print(os.getpid())"))
        os.kill(pid, signal.SIGKILL)
        psutil.Process(endpoint).wait(15)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    log = hk.recover()
    assert [turn.speaker for turn in log.turns] == ["caller", "agent"]
    assert log.turns[0].text == "My laptop does not charge."
    saved = log.save(tmp_path / "a saved call")
    assert [turn.text for turn in hk.load(saved).turns] == [turn.text for turn in log.turns]


def test_two_kernels_side_by_side_have_an_endpoint_each(tmp_path: Path) -> None:
    with Kernel(tmp_path) as one, Kernel(tmp_path) as other:
        pids = {kernel.run(START + "print(current().pid)").splitlines()[-1] for kernel in (one, other)}
        assert {int(pid) for pid in pids} == set(endpoints(tmp_path))
        assert len(pids) == 2
        for kernel in (one, other):
            kernel.run("call = await hk.Call(agent).start()\nawait call.send('Hello.')")
            assert kernel.run("print(len(hk.log().turns))") == "2\n"


def test_twenty_restarts_leave_no_process_no_port_and_no_file(tmp_path: Path) -> None:
    with Kernel(tmp_path) as kernel:
        for _ in range(20):
            port = int(kernel.run(START + "print(current().port)").split()[-1])
            (endpoint,) = endpoints(tmp_path)
            kernel.restart()
            psutil.wait_procs([process for process in psutil.process_iter() if process.pid == endpoint], timeout=15)
            assert endpoints(tmp_path) == []
            with socket.socket() as probe:
                assert probe.connect_ex(("127.0.0.1", port)) != 0
        assert list(tmp_path.glob("handoffkit-*")) == []


def test_a_blocked_kernel_stalls_the_call_and_nothing_else(tmp_path: Path) -> None:
    with Kernel(tmp_path) as kernel:
        kernel.run(START)
        kernel.run("call = await hk.Call(agent).start()\nawait call.send('My laptop does not charge.')")
        kernel.run("import time; time.sleep(25)")
        assert kernel.run("print((await call.send('Another outlet changed nothing.')).speaker)") == "agent\n"
