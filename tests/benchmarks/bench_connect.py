"""From `connect()` to an endpoint that is ready, in a fresh kernel, and where the time goes.

Where the `speech` extra is installed its models are loaded meanwhile, as for a user; a last row says until when.
"""

import subprocess
from importlib.util import find_spec

from measure import Row, python

WHAT = "connect() to ready, in a fresh process"

ROUNDS = 15
CONNECT = """
import time, io, contextlib, handoffkit as hk
began, used = time.perf_counter(), time.process_time()
with contextlib.redirect_stdout(io.StringIO()):
    hk.connect(speech={})
"""
READY = "print(1e3 * (time.perf_counter() - began), 1e3 * (time.process_time() - used))"
LOADED = """
import asyncio
from handoffkit.connect import current
answer = asyncio.run(current().ask("speech", current().folder, bound=120, timeout=90))
assert answer["hears"], answer["problem"]
"""
IMPORT = """
import time
began = time.perf_counter()
import {}
print(1e3 * (time.perf_counter() - began), 1e3 * time.process_time())
"""
SERVER = "tornado.httpserver, tornado.web, tornado.websocket"
ENDPOINT = "handoffkit.endpoint.__main__"


def measure(*, smallest: bool) -> list[Row]:
    """Return the rows; 15 rounds of fresh processes, or one."""
    ready: list[float] = []
    used: list[float] = []
    imports: list[float] = []
    server: list[float] = []
    loaded: list[float] = []
    hears = find_spec("faster_whisper") is not None
    connect = CONNECT.format(hears)
    for _ in range(1 if smallest else ROUNDS):
        wall, cpu = _said(connect + READY)
        ready.append(wall)
        used.append(cpu)
        imports.append(_said(IMPORT.format(ENDPOINT))[0])
        server.append(_said(IMPORT.format(SERVER))[0])
        if hears:
            loaded.append(_said(connect + LOADED + READY)[0])
    return [
        Row.of("connect() to ready, wall", "ms", ready),
        Row.of("client CPU of it", "ms", used),
        Row.of("the endpoint's imports, wall", "ms", imports),
        Row.of("of these tornado and what it needs", "ms", server),
        *([Row.of("connect() until it hears and speaks, wall", "ms", loaded)] if hears else []),
    ]


def _said(code: str) -> tuple[float, float]:
    """Return the two numbers that a fresh interpreter prints."""
    said = subprocess.check_output(python("-c", code), text=True, timeout=120)
    wall, cpu = map(float, said.split())
    return wall, cpu
