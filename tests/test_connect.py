"""`connect()`: one process a kernel, one line about who answers, an end with its kernel, the environment put back."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import openai
import psutil
import pytest
from pydantic_ai import Agent
from tornado.httpserver import HTTPServer
from tornado.testing import bind_unused_port
from tornado.websocket import WebSocketProtocol13

import handoffkit as hk
from handoffkit.connect import Endpoint, current
from handoffkit.endpoint.face import Endpoint as Server
from handoffkit.endpoint.server import application
from handoffkit.endpoint.settings import Settings
from handoffkit.errors import ConnectError, EndpointGone, NotConnected, ReplyFailed


def kernel(code: str, tmp_path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run *code* in a Python of its own, as a kernel is."""
    settings = {"TMPDIR": str(tmp_path), "PATH": os.environ["PATH"], "HOME": str(tmp_path)} | environment
    command = [sys.executable, "-c", textwrap.dedent(code)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, env=settings, cwd=tmp_path)


def gone(pid: int) -> bool:
    try:
        psutil.Process(pid).wait(15)
    except psutil.NoSuchProcess:
        return True
    except psutil.TimeoutExpired:
        return False
    return True


def test_it_says_in_one_line_who_answers(capsys: pytest.CaptureFixture[str]) -> None:
    hk.connect()
    said = capsys.readouterr().out
    assert said.count("\n") == 1
    assert "keyword model" in said
    assert "no language model" in said
    hk.connect(model=hk.ScriptedModel(["Hello."]))
    assert "script" in capsys.readouterr().out


def test_connecting_again_keeps_the_address_and_begins_a_new_log(connected: Endpoint) -> None:
    before = (connected.pid, connected.base_url, connected.token)
    connected.tell("mark", connected.folder, kind="silence", data={"seconds": 1.0})
    assert len(hk.log()) == 1
    hk.connect()
    assert (current().pid, current().base_url, current().token) == before
    assert len(hk.log()) == 0


def open_logs(endpoint: Endpoint) -> list[str]:
    """Return the files in folders of logs that the endpoint process has open to write frames or sound."""
    names = [file.path for file in psutil.Process(endpoint.pid).open_files()]
    return [name for name in names if name.endswith((".jsonl", ".pcm"))]


async def test_however_often_one_connects_and_calls_one_log_is_open(connected: Endpoint) -> None:
    logs = []
    for _ in range(5):
        hk.connect(model=hk.ScriptedModel(["Hello."], repeat=True))
        for _ in range(2):
            async with hk.Call(Agent()) as call:
                await call.send("Hi.")
        logs.append(hk.log())
    assert open_logs(connected) == [str(connected.folder / "log.jsonl")]
    connected.tell("mark", logs[0].folder, kind="note", data={"text": "later"})
    assert logs[0][-1].data == {"text": "later"}
    assert all(len(log.filter("close")) == 2 for log in logs)


async def test_a_log_that_cannot_be_written_drops_the_call_and_lets_nobody_wait(connected: Endpoint) -> None:
    hk.connect(model=hk.ScriptedModel(["Hello."]))
    (connected.folder / "audio").rmdir()
    async with asyncio.timeout(30), hk.Call(Agent()) as call:
        with pytest.raises(ReplyFailed, match="dropped"):
            await call.send("Hi.")


def test_it_points_both_sdks_here_and_past_every_proxy(monkeypatch: pytest.MonkeyPatch, connected: Endpoint) -> None:
    monkeypatch.setenv("NO_PROXY", "intranet.example")
    hk.connect()
    assert os.environ["OPENAI_BASE_URL"] == connected.base_url
    assert os.environ["OPENAI_API_KEY"] == connected.token
    assert os.environ["NO_PROXY"] == "intranet.example,127.0.0.1,localhost"


def test_disconnecting_puts_the_environment_back(tmp_path: Path) -> None:
    code = """
        import os, handoffkit as hk
        hk.connect(); hk.connect()
        inside = os.environ["OPENAI_API_KEY"]
        hk.disconnect()
        print(inside != "sk-mine", os.environ["OPENAI_API_KEY"], os.environ.get("OPENAI_BASE_URL"),
              os.environ.get("NO_PROXY"))
    """
    done = kernel(code, tmp_path, OPENAI_API_KEY="sk-mine")
    assert done.stdout.splitlines()[-1] == "True sk-mine None None", done.stderr


def test_a_key_alone_never_makes_a_call_live(tmp_path: Path) -> None:
    done = kernel("import handoffkit as hk; hk.connect()", tmp_path, OPENAI_API_KEY="sk-mine")
    assert done.stdout.startswith("Simulated on this machine"), done.stderr


def test_the_mode_can_come_from_the_environment(tmp_path: Path) -> None:
    settings = {"OPENAI_API_KEY": "sk-mine", "HANDOFFKIT_MODE": "live"}
    done = kernel("import handoffkit as hk; hk.connect()", tmp_path, **settings)
    assert done.stdout == "Live: OpenAI at https://api.openai.com/v1 answers. Calls may cost money.\n", done.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"mode": "real"}, "'simulated' or 'live'"),
        ({"mode": "live"}, "OPENAI_API_KEY"),
        ({"mode": "live", "model": hk.KeywordModel()}, "no simulated model"),
        ({"mode": "simulated", "upstream": "http://127.0.0.1:1/v1"}, "no upstream"),
        ({"upstream": "localhost:11434"}, "base URL"),
    ],
)
def test_what_makes_no_sense_is_refused_and_nothing_changes(
    options: dict[str, object], words: str, connected: Endpoint
) -> None:
    folder = connected.folder
    with pytest.raises(ConnectError, match=words):
        hk.connect(**options)  # type: ignore[arg-type]
    assert current().folder == folder


def test_a_password_in_an_upstream_is_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    hk.connect("live", upstream="http://me:secret@127.0.0.1:9/v1?key=k")
    assert capsys.readouterr().out == "Live: the service at http://127.0.0.1:9/v1 answers. Calls may cost money.\n"


def test_the_real_key_is_in_no_environment_and_no_command_line(tmp_path: Path) -> None:
    code = """
        import handoffkit as hk, os, psutil
        from handoffkit.connect import current
        hk.connect("live", upstream="http://127.0.0.1:9/v1")
        process = psutil.Process(current().pid)
        seen = " ".join(process.cmdline()) + str(process.environ())
        print("sk-mine" in seen, "sk-mine" in os.environ["OPENAI_API_KEY"], "sk-mine" in repr(vars(current())))
        print("sk-mine" in "".join(f.read_text() for f in current().folder.rglob("*") if f.is_file()))
    """
    done = kernel(code, tmp_path, OPENAI_API_KEY="sk-mine")
    assert done.stdout.splitlines()[-2:] == ["False False False", "False"], done.stderr


def test_nothing_works_before_connect(tmp_path: Path) -> None:
    code = """
        import handoffkit as hk
        try: hk.log()
        except hk.errors.NotConnected as error: print(error)
    """
    assert "Run `hk.connect()` first" in kernel(code, tmp_path).stdout
    assert issubclass(NotConnected, hk.errors.HandoffkitError)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_the_endpoint_ends_with_its_kernel_however_that_dies(how: signal.Signals, tmp_path: Path) -> None:
    code = """
        import handoffkit as hk, time
        from handoffkit.connect import current
        hk.connect(); print(current().pid, flush=True); time.sleep(100)
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | {"TMPDIR": str(tmp_path)}
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        pid = int(process.stdout.readline())
        assert psutil.pid_exists(pid)
        process.send_signal(how)
        process.wait(10)
        assert gone(pid)


def test_it_ends_with_its_kernel_even_when_a_forked_child_holds_the_pipe(tmp_path: Path) -> None:
    code = """
        import handoffkit as hk, os, time
        from handoffkit.connect import current
        hk.connect()
        child = os.fork()
        if child == 0: time.sleep(60); os._exit(0)
        print(current().pid, child, flush=True)
        os.kill(os.getpid(), 9)
    """
    done = kernel(code, tmp_path)
    pid, child = map(int, done.stdout.splitlines()[-1].split())
    try:
        assert gone(pid)
    finally:
        os.kill(child, signal.SIGKILL)


def test_a_clean_end_leaves_no_process_and_no_file(tmp_path: Path) -> None:
    code = """
        import handoffkit as hk
        from handoffkit.connect import current
        hk.connect(); hk.connect(); print(current().pid)
    """
    done = kernel(code, tmp_path)
    assert gone(int(done.stdout.splitlines()[-1]))
    assert list(tmp_path.glob("handoffkit-*")) == []


async def test_whoever_has_an_answer_finds_its_end_in_the_log(connected: Endpoint) -> None:
    client = openai.AsyncOpenAI()
    for streams in (False, True) * 20:
        answer: Any = await client.responses.create(model="gpt-5.2", input="Hello.", stream=streams)
        if streams:
            async with answer:
                assert [event async for event in answer]
        assert connected.log()[-1].event == "close"


async def test_whoever_has_left_a_session_finds_its_end_in_the_log(connected: Endpoint) -> None:
    client = openai.AsyncOpenAI()
    for leaves in range(1, 41):
        async with client.realtime.connect(model="gpt-realtime") as session:
            await session.recv()
        ends = [(frame.dir, frame.data["code"], frame.data["by"]) for frame in connected.log().filter("close")]
        assert ends == [("client", 1000, "client")] * leaves


async def test_the_log_has_what_was_sent_before_one_asked_for_it(connected: Endpoint) -> None:
    async with openai.AsyncOpenAI().realtime.connect(model="gpt-realtime") as session:
        for times in range(1, 41):
            await session.send_raw(f"not even an event {times}")
            assert [frame.data["text"][-2:].strip() for frame in hk.log().filter("text")][times - 1 :] == [str(times)]
            await session.recv()  # a client that reads nothing takes 10 s to close


async def test_a_goodbye_is_written_down_before_it_is_answered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    endpoint = Server("a-token")
    endpoint.configure(Settings(tmp_path, models={"*": hk.KeywordModel()}, speech=False))
    written: list[str] = []
    close = WebSocketProtocol13.close

    def answer(self: WebSocketProtocol13, *args: Any) -> None:
        written.append((tmp_path / "log.jsonl").read_text().splitlines()[-1])
        close(self, *args)

    monkeypatch.setattr(WebSocketProtocol13, "close", answer)
    socket, port = bind_unused_port()
    server = HTTPServer(application(endpoint))
    server.add_socket(socket)
    try:
        client = openai.AsyncOpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key="a-token")
        async with asyncio.timeout(30), client.realtime.connect(model="gpt-realtime") as session:
            await session.recv()
    finally:
        server.stop()
        await server.close_all_connections()
        endpoint.close()
    assert {json.loads(line)["event"] for line in written} == {"close"}


async def test_an_endpoint_that_stands_still_holds_up_nobody_who_reads_the_log(connected: Endpoint) -> None:
    connected.tell("mark", connected.folder, kind="silence", data={"seconds": 1.0})
    os.kill(connected.pid, signal.SIGSTOP)
    try:
        assert [frame.event for frame in await asyncio.wait_for(asyncio.to_thread(hk.log), 25)] == ["silence"]
    finally:
        os.kill(connected.pid, signal.SIGCONT)


async def test_a_log_whose_endpoint_has_ended_is_read_as_it_is(connected: Endpoint) -> None:
    connected.tell("mark", connected.folder, kind="silence", data={"seconds": 1.0})
    os.kill(connected.pid, signal.SIGKILL)
    assert gone(connected.pid)
    assert [frame.event for frame in hk.log()] == ["silence"]


def test_a_file_in_the_notebook_folder_does_not_shadow_the_endpoint(tmp_path: Path) -> None:
    (tmp_path / "tornado.py").write_text("raise RuntimeError('shadowed')")
    (tmp_path / "json.py").write_text("raise RuntimeError('shadowed')")
    code = "import sys; sys.path.pop(0); import handoffkit as hk; hk.connect()"
    assert kernel(code, tmp_path).stdout.startswith("Simulated")


async def test_a_killed_endpoint_says_so_and_a_new_one_takes_its_place(connected: Endpoint) -> None:
    connected.tell("mark", connected.folder, kind="silence", data={"seconds": 1.0})
    kept = hk.log()
    base_url = connected.base_url
    os.kill(connected.pid, signal.SIGKILL)
    assert gone(connected.pid)
    with pytest.raises(EndpointGone, match=r"hk\.connect\(\)"):
        await connected.ask("state", connected.folder, label="call-1")
    assert len(kept) == 1
    hk.connect()
    assert current().alive
    assert current().base_url == base_url


def test_a_log_that_was_left_behind_is_kept_for_a_week(tmp_path: Path) -> None:
    code = """
        import handoffkit as hk, os
        from handoffkit.connect import current
        hk.connect(); print(current().folder, flush=True); os.kill(os.getpid(), 9)
    """
    old, new = (Path(kernel(code, tmp_path).stdout.splitlines()[-1]) for _ in range(2))
    week_ago = (old / "log.jsonl").stat().st_mtime - 7.5 * 86400
    os.utime(old / "log.jsonl", (week_ago, week_ago))
    kernel("import handoffkit as hk; hk.connect()", tmp_path)
    assert (old.exists(), new.exists()) == (False, True)


def test_a_clean_end_removes_also_the_logs_of_an_endpoint_that_was_killed(tmp_path: Path) -> None:
    code = """
        import handoffkit as hk, os
        from handoffkit.connect import current
        hk.connect(); hk.connect()
        os.kill(current().pid, 9); current()._process.wait()
        hk.connect()
    """
    kernel(code, tmp_path)
    assert list(tmp_path.glob("handoffkit-*")) == []


def test_connecting_in_the_very_moment_in_which_the_endpoint_dies(connected: Endpoint) -> None:
    for _ in range(5):
        os.kill(current().pid, signal.SIGKILL)
        hk.connect()
        assert current().alive
