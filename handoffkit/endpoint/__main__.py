"""The endpoint process: settings come in by standard input, and when that ends, so does the process.

The kernel writes one JSON object a line and gets one line back. The first has the tokens; each further one is a new
`connect()`. The pipe's end is the sign that the kernel has gone, however it died: the system closes it.
"""

import asyncio
import json
import os
import signal
import sys
import threading
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets

from .control import Control
from .face import Endpoint
from .server import application
from .settings import Settings

_WATCH = 1.0  # seconds between two looks at the parent


async def main() -> None:
    """Serve until the kernel has gone."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
    parent = os.getppid()
    threading.Thread(target=_read, args=(loop, lines), daemon=True).start()
    first = await lines.get()
    if first is None:
        return
    endpoint = Endpoint(first["token"])
    control = Control(
        first["control"],
        lambda log: endpoint.taps[log],
        lambda: endpoint.speech_in_use,
        lambda log, conn: endpoint.clients.get((log, conn)),
    )
    sockets = bind_sockets(first.get("port", 0), "127.0.0.1")
    server = HTTPServer(application(endpoint), max_buffer_size=64 << 20)
    asking = await asyncio.start_server(control.serve, "127.0.0.1", 0, limit=1 << 20)
    ports = {"port": sockets[0].getsockname()[1], "control": asking.sockets[0].getsockname()[1]}
    server.add_sockets(sockets)
    _configure(endpoint, first, ports)
    await _follow(endpoint, lines, ports, parent)
    server.stop()
    endpoint.close()
    os._exit(0)  # a thread may still be recognising ten minutes of speech, which nobody wants any more


async def _follow(endpoint: Endpoint, lines: Any, ports: dict[str, int], parent: int) -> None:
    while True:
        try:
            line = await asyncio.wait_for(lines.get(), _WATCH)
        except TimeoutError:
            if os.getppid() != parent:  # the pipe can outlive its kernel in a child that it forked
                return
            continue
        if line is None:
            return
        _configure(endpoint, line, ports)


def _configure(endpoint: Endpoint, line: dict[str, Any], ports: dict[str, int]) -> None:
    try:
        endpoint.configure(Settings.read(line))
        answer: dict[str, Any] = {"ok": True, **ports}
    except Exception as error:  # the kernel raises it again, in its own words
        answer = {"ok": False, "error": f"{type(error).__name__}: {error}"}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _read(loop: asyncio.AbstractEventLoop, lines: "asyncio.Queue[dict[str, Any] | None]") -> None:
    try:
        for line in sys.stdin:
            loop.call_soon_threadsafe(lines.put_nowait, json.loads(line))
    finally:
        loop.call_soon_threadsafe(lines.put_nowait, None)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the kernel's interrupt goes to its whole group; the call goes on
    asyncio.run(main())
