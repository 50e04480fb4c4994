"""`handoffkit endpoint` serves other programs, and behaves as the command that it runs."""

import asyncio
import json
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from handoffkit.commands.serve import how_to_use

ENDPOINT = (sys.executable, "-m", "handoffkit", "endpoint")
ASK = """
import json, os, urllib.request
body = json.dumps({"model": "gpt-5.2", "input": "My laptop will not charge."}).encode()
headers = {"authorization": f"Bearer {os.environ['OPENAI_API_KEY']}", "content-type": "application/json"}
request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/responses", body, headers)
print(json.load(urllib.request.urlopen(request, timeout=20))["status"])
"""


def run(*command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([*ENDPOINT, *command], capture_output=True, text=True, timeout=60, check=False)


def test_a_command_talks_to_the_endpoint_and_its_output_stands_alone() -> None:
    done = run("--", sys.executable, "-c", ASK)
    assert (done.returncode, done.stdout) == (0, "completed\n"), done.stderr
    assert "Simulated on this machine" in done.stderr


def test_a_proxy_does_not_get_what_is_meant_for_the_endpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert run("--", sys.executable, "-c", ASK).stdout == "completed\n"


def test_the_status_is_the_commands() -> None:
    assert run("--", sys.executable, "-c", "raise SystemExit(7)").returncode == 7


def test_a_command_that_a_signal_ended_is_128_and_the_signal() -> None:
    kill = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    assert run("--", sys.executable, "-c", kill).returncode == 128 + signal.SIGKILL


def test_a_command_that_is_not_there_says_what_to_write() -> None:
    done = run("--", "no-such-program")
    assert done.returncode == 1
    assert "'no-such-program' cannot be started (No such file or directory)" in done.stderr
    assert "Traceback" not in done.stderr


@asynccontextmanager
async def started(*command: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run the endpoint for one block of at most a minute; leave no process and no open pipe."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*ENDPOINT, *command, stdout=pipe, start_new_session=True)
    try:
        async with asyncio.timeout(60):
            yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()


async def status(process: asyncio.subprocess.Process) -> int | None:
    await process.communicate()
    return process.returncode


async def read_until(process: asyncio.subprocess.Process, sign: str) -> str:
    """Return what the process has printed when *sign* stands in it."""
    assert process.stdout
    said = ""
    async for line in process.stdout:
        said += line.decode()
        if sign in said:
            return said
    pytest.fail(f"ended without {sign!r}:\n{said}")


def models(base_url: str, token: str) -> int:
    headers = {"authorization": f"Bearer {token}"}
    with urllib.request.urlopen(urllib.request.Request(f"{base_url}/models", headers=headers), timeout=10) as answer:
        return len(json.load(answer)["data"])


@pytest.mark.parametrize(("number", "expected"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
async def test_without_a_command_it_serves_until_it_is_stopped(number: signal.Signals, expected: int) -> None:
    async with started() as process:
        said = await read_until(process, "Ctrl-C here ends the endpoint.")
        found = re.search(r"export OPENAI_BASE_URL=(\S+)\n  export OPENAI_API_KEY=(\S+)\n", said)
        assert found, said
        assert await asyncio.to_thread(models, found[1], found[2]) > 0
        process.send_signal(number)
        assert await status(process) == expected
    with pytest.raises(OSError, match="refused"):
        await asyncio.to_thread(models, found[1], found[2])


async def test_a_signal_to_the_endpoint_reaches_its_command() -> None:
    ready = "import signal; print('ready', flush=True); signal.pause()"
    async with started("--", sys.executable, "-c", ready) as process:
        await read_until(process, "ready")
        process.terminate()
        assert await status(process) == 128 + signal.SIGTERM


def test_what_to_type_has_both_shells() -> None:
    said = how_to_use("http://127.0.0.1:1/v1", "token")
    assert "  export OPENAI_API_KEY=token\n" in said
    assert "  export OPENAI_AGENTS_DISABLE_TRACING=1\n" in said
    assert '  $env:OPENAI_BASE_URL = "http://127.0.0.1:1/v1"\n' in said


@pytest.mark.parametrize("proxy", ["HTTP_PROXY", "https_proxy", "all_proxy"])
def test_with_a_proxy_loopback_is_kept_from_it(monkeypatch: pytest.MonkeyPatch, proxy: str) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    assert "NO_PROXY" not in how_to_use("http://127.0.0.1:1/v1", "token")
    monkeypatch.setenv(proxy, "http://proxy.example")
    assert "export NO_PROXY=127.0.0.1,localhost\n" in how_to_use("http://127.0.0.1:1/v1", "token")


def test_no_log_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert run("--", sys.executable, "-c", ASK).returncode == 0
    assert list(tmp_path.glob("handoffkit-*")) == []
