"""From `connect()` to an endpoint that is ready, in a fresh kernel, and where the time goes."""

import subprocess

from measure import Row, python

WHAT = "connect() to ready, in a fresh process"

ROUNDS = 15
CONNECT = """
import time, io, contextlib, handoffkit as hk
began, used = time.perf_counter(), time.process_time()
with contextlib.redirect_stdout(io.StringIO()):
    hk.connect()
print(1e3 * (time.perf_counter() - began), 1e3 * (time.process_time() - used))
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
    for _ in range(1 if smallest else ROUNDS):
        wall, cpu = _said(CONNECT)
        ready.append(wall)
        used.append(cpu)
        imports.append(_said(IMPORT.format(ENDPOINT))[0])
        server.append(_said(IMPORT.format(SERVER))[0])
    return [
        Row.of("connect() to ready, wall", "ms", ready),
        Row.of("client CPU of it", "ms", used),
        Row.of("the endpoint's imports, wall", "ms", imports),
        Row.of("of these tornado and what it needs", "ms", server),
    ]


def _said(code: str) -> tuple[float, float]:
    """Return the two numbers that a fresh interpreter prints."""
    said = subprocess.check_output(python("-c", code), text=True, timeout=120)
    wall, cpu = map(float, said.split())
    return wall, cpu
