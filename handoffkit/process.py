"""The endpoint process, as the kernel sees it: started, configured through a pipe, asked, ended.

`connect` keeps one of them for a kernel, and a call asks it. The pipe is the only way by which a key travels, and its
end is the sign for the process that the kernel has gone.
"""

import asyncio
import contextlib
import json
import os
import queue
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from .errors import ConnectError, EndpointGone
from .log import EventLog
from .wire.left_behind import PREFIX

_START = 60.0  # seconds; a laptop that is busy takes several
_ANSWER = 30.0
_SETTLED = 2.0


class Endpoint:
    """The endpoint process of this kernel, as the kernel sees it."""

    def __init__(self) -> None:
        self.token, self._control = secrets.token_hex(16), secrets.token_hex(16)
        self.port = self._control_port = 0
        self.folder = Path()
        self.mode = "simulated"
        self.models: dict[str, Any] = {}
        """Who answers a simulation, by the model's name, as each model's `describe` tells; `*` for the others."""
        self.upstream: str | None = None
        """The base URL of the service that a live endpoint sends on to."""
        self._owner = os.getpid()
        self._folders: list[Path] = []
        self._labels: Counter[str] = Counter()
        self._logs: WeakValueDictionary[Path, EventLog] = WeakValueDictionary()
        self._newest: EventLog | None = None
        self._replies: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self._process: subprocess.Popen[str] | None = None

    @classmethod
    def after(cls, gone: "Endpoint") -> "Endpoint":
        """Return one that takes the place of *gone*, at the same address if it is free, so that agents live on."""
        endpoint = cls()
        endpoint.token, endpoint.port, endpoint._folders = gone.token, _free(gone.port), gone._folders
        return endpoint

    @property
    def base_url(self) -> str:
        """The URL that both SDKs talk to: `http://127.0.0.1:PORT/v1`."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def pid(self) -> int:
        """The process id of the endpoint, 0 before it was started."""
        return self._process.pid if self._process else 0

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process is not None and self._process.poll() is None

    def configure(self, message: dict[str, Any]) -> None:
        """Send one configuration through the pipe, starting the process where there is none.

        Raises:
            ConnectError: The process could not be started, or refused the configuration.
        """
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        try:
            if not self.alive:
                self._start(folder)
            answer = self._say(message | {"folder": str(folder), "pid": os.getpid()})
        except ConnectError:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        self._folders.append(folder)
        self.folder, self.mode = folder, message["mode"]
        self.models, self.upstream = message.get("models", {}), message.get("upstream")
        self._labels.clear()
        self.port, self._control_port = answer["port"], answer["control"]

    def takes(self, message: dict[str, Any]) -> bool:
        """Configure the process that runs; False if there is none, or none any more by then.

        Raises:
            ConnectError: It runs, and refused the configuration.
        """
        if self.alive:
            try:
                self.configure(message)
            except ConnectError:
                if self._lives(2):
                    raise
            else:
                return True
        return False

    def _lives(self, seconds: float) -> bool:
        """Say whether the process still runs after *seconds*: one that was killed takes a moment to be gone."""
        assert self._process is not None
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return self.alive

    def next_label(self, kind: str) -> str:
        """Return `call-1`, `call-2`, …: the names by which the log tells calls and handoffs apart."""
        self._labels[kind] += 1
        return f"{kind}-{self._labels[kind]}"

    def stop(self) -> None:
        """End the process in peace: its logs are removed. A child that was forked from this kernel leaves it alone."""
        process, self._process = self._process, None
        if process is None or os.getpid() != self._owner:
            return
        self._end(process)
        for folder in self._folders:  # also those of a process that was killed before
            shutil.rmtree(folder, ignore_errors=True)

    def _end(self, process: "subprocess.Popen[str]") -> None:
        try:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(5)
        except (OSError, ValueError, subprocess.TimeoutExpired):
            process.kill()
            process.wait(5)
        if process.stdout:
            process.stdout.close()

    async def ask(self, op: str, log: Path, *, bound: float = _ANSWER, **question: Any) -> dict[str, Any]:
        """Ask the control socket one question about the log in the folder *log*.

        Raises:
            EndpointGone: Nobody answers, or not within *bound* seconds.
        """
        line = {"token": self._control, "op": op, "log": log.name, **question}
        try:
            async with asyncio.timeout(bound):
                reader, writer = await asyncio.open_connection("127.0.0.1", self._control_port)
                try:
                    writer.write(json.dumps(line).encode() + b"\n")
                    answer = await reader.readline()
                finally:
                    writer.close()
        except (OSError, TimeoutError):
            answer = b""
        return self._read(answer)

    def tell(self, op: str, log: Path, *, bound: float = _ANSWER, **question: Any) -> dict[str, Any]:
        """Ask the same, from code that cannot await.

        Raises:
            EndpointGone: Nobody answers, or connecting, sending or the answer takes longer than *bound* seconds.
        """
        line = {"token": self._control, "op": op, "log": log.name, **question}
        try:
            with socket.create_connection(("127.0.0.1", self._control_port), timeout=bound) as connection:
                connection.sendall(json.dumps(line).encode() + b"\n")
                answer = connection.makefile("rb").readline()
        except OSError:
            answer = b""
        return self._read(answer)

    def settle(self, log: Path) -> None:
        """Wait until the log in the folder *log* has all that clients have sent by now, at the longest 2 s.

        A client goes on as soon as its bytes are on their way; the endpoint writes them down a moment later. Where no
        endpoint answers any more, what there is stands in the log already.
        """
        with contextlib.suppress(EndpointGone):
            self.tell("settle", log, bound=_SETTLED)

    def log(self, folder: Path | None = None) -> EventLog:
        """Return the log that is written in *folder* (by default the newest), woken as it grows.

        All who look at it at the same time share one, so that each frame is read once.
        """
        written = folder or self.folder

        async def grew(seq: int, timeout: float) -> None:
            await self.ask("grew", written, bound=timeout + _ANSWER, seq=seq, timeout=timeout)

        if (log := self._logs.get(written)) is None:
            log = self._logs[written] = EventLog(written, grew=grew)
        if written == self.folder:
            self._newest = log  # it stays until the next one, also when nobody looks at it for a while
        return log

    def _read(self, answer: bytes) -> dict[str, Any]:
        if not answer:
            status = self._process.poll() if self._process else None
            raise EndpointGone("" if status is None else f"exit status {status}")
        found: dict[str, Any] = json.loads(answer)
        return found

    def _start(self, folder: Path) -> None:
        environment = {name: value for name, value in os.environ.items() if name != "OPENAI_API_KEY"}
        self._replies = queue.Queue()
        with (folder / "endpoint.txt").open("w") as errors:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "handoffkit.endpoint"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                encoding="utf-8",
                env=environment,
                start_new_session=True,
            )
        threading.Thread(target=_listen, args=(self._process, self._replies), daemon=True).start()

    def _say(self, message: dict[str, Any]) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdin is not None
        line = message | {"token": self.token, "control": self._control, "port": self.port}
        answer = None
        with contextlib.suppress(OSError, queue.Empty):
            self._process.stdin.write(json.dumps(line) + "\n")
            self._process.stdin.flush()
            answer = self._replies.get(timeout=_START)
        if answer is None:
            raise ConnectError(f"the endpoint process did not answer; {_last_words(Path(message['folder']))}")
        if not answer["ok"]:
            raise ConnectError(str(answer["error"]))
        return answer


def _free(port: int) -> int:
    """Return *port* if it can be listened on again, so that agents which point there live on; else 0, for any."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return 0
    return port


def _last_words(folder: Path) -> str:
    errors = folder / "endpoint.txt"
    lines = errors.read_text(errors="replace").split("\n") if errors.exists() else []
    words = [line for line in lines if line.strip()]
    return f"its last words were {words[-1]!r}" if words else "it said nothing"


def _listen(process: "subprocess.Popen[str]", replies: "queue.Queue[dict[str, Any] | None]") -> None:
    assert process.stdout is not None
    try:
        for line in process.stdout:
            replies.put(json.loads(line))
    except ValueError:
        pass  # the stream was closed under us, or a line is none of ours
    replies.put(None)
