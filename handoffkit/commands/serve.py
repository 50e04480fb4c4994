"""`handoffkit endpoint`: the local endpoint for programs that know nothing of handoffkit."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from types import FrameType

from ..connect import connect, current, disconnect
from ..errors import CommandNotStarted, EndpointGone
from .doctor import PROXIES

LOOPBACK = "127.0.0.1,localhost"
NO_TRACES = {"OPENAI_AGENTS_DISABLE_TRACING": "1"}
"""openai-agents sends its traces to OpenAI, whatever the base URL says; a program that wants them sets it to 0."""


def run(command: Sequence[str]) -> int:
    """Serve, with *command* or until Ctrl-C; return the exit status. The endpoint ends with it, and its log goes.

    Raises:
        ConnectError: The endpoint cannot start.
        CommandNotStarted: There is no such program.
        EndpointGone: The endpoint's process ended before its time.
    """
    # A command's own output is all that stands on standard output, so that it can be piped on.
    with redirect_stdout(sys.stderr if command else sys.stdout):
        connect()
    try:
        return run_command(command) if command else serve()
    finally:
        disconnect()


def serve() -> int:
    """Print how to reach the endpoint and wait for Ctrl-C (status 0) or SIGTERM (status 143)."""
    endpoint, stopped = current(), threading.Event()
    received: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        received.append(number)
        stopped.set()

    with _handling((signal.SIGINT, signal.SIGTERM), stop):  # before anybody can read that Ctrl-C is heard
        print(how_to_use(endpoint.base_url, endpoint.token), flush=True)
        while not stopped.wait(0.5):
            if not endpoint.alive:
                raise EndpointGone
    return 128 + signal.SIGTERM if signal.SIGTERM in received else 0


def how_to_use(base_url: str, token: str) -> str:
    """Return what to type so that an OpenAI client talks to the endpoint."""
    variables = {"OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": token, **NO_TRACES}
    if any(os.environ.get(name) or os.environ.get(name.lower()) for name in PROXIES if name != "NO_PROXY"):
        variables["NO_PROXY"] = LOOPBACK
    shell = [f"  export {name}={value}" for name, value in variables.items()]
    powershell = [f'  $env:{name} = "{value}"' for name, value in variables.items()]
    return "\n".join(
        ["Set these where your program runs:", *shell, "In PowerShell:", *powershell, "Ctrl-C here ends the endpoint."]
    )


def run_command(command: Sequence[str]) -> int:
    """Run *command* with the endpoint's variables set; return its status, or 128 + n if signal n ended it."""
    try:
        process = subprocess.Popen(command, env={**NO_TRACES, **os.environ})
    except OSError as error:
        raise CommandNotStarted(command[0], error.strerror or str(error)) from error

    def pass_on(number: int, frame: FrameType | None) -> None:
        # Ctrl-C reaches the command by itself, since it sits at the same terminal; we only outlive it.
        if number != signal.SIGINT:
            process.send_signal(number)

    with _handling((signal.SIGINT, signal.SIGTERM), pass_on):
        status = process.wait()
    return status if status >= 0 else 128 - status


@contextmanager
def _handling(signals: Sequence[signal.Signals], handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number in signals}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
