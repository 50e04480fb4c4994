"""From `connect()` to an endpoint that is ready, in a fresh kernel, and where the time goes."""

import subprocess
import time

from measure import Row, python

WHAT = "connect() to ready, in a fresh process"

ROUNDS = 15
CONNECT = """
import time, os, io, contextlib, handoffkit as hk
began, used = time.perf_counter(), time.process_time()
with contextlib.redirect_stdout(io.StringIO()):
    hk.connect()
print(time.perf_counter() - began, time.process_time() - used)
"""


def measure(*, smallest: bool) -> list[Row]:
    """Return the rows; 15 fresh processes, or one."""
    ready: list[float] = []
    used: list[float] = []
    bare: list[float] = []
    imports: list[float] = []
    for _ in range(1 if smallest else ROUNDS):
        wall, cpu = map(float, subprocess.check_output(python("-c", CONNECT), text=True, timeout=120).split())
        ready.append(1e3 * wall)
        used.append(1e3 * cpu)
        bare.append(_wall("pass"))
        imports.append(_wall("import handoffkit.endpoint.__main__"))
    return [
        Row.of("connect() to ready, wall", "ms", ready),
        Row.of("client CPU of it", "ms", used),
        Row.of("for comparison: a bare interpreter starts and ends", "ms", bare),
        Row.of("what the endpoint imports, on top of that", "ms", [i - b for i, b in zip(imports, bare, strict=True)]),
    ]


def _wall(code: str) -> float:
    began = time.perf_counter()
    subprocess.run(python("-c", code), check=True, timeout=120)
    return 1e3 * (time.perf_counter() - began)
