"""A frame through the relay against the same frame from the service itself, which is a second endpoint here.

A plain WebSocket client reads the frames, so that no SDK's own work stands beside the relay's.
"""

import json

from measure import FIRST, Row, Stopwatch, cpu, ratios, relay, run
from websockets.asyncio.client import ClientConnection, connect

import handoffkit as hk
from handoffkit.connect import Endpoint

WHAT = "The relay against direct, per frame"

ROUNDS, TURNS, PINGS = 15, 4, 100
LINE = " ".join(["Please check whether the cable sits firmly in the laptop and in the outlet."] * 12)


def measure(*, smallest: bool) -> list[Row]:
    """Return the rows; 15 rounds of 4 turns each way, in turn, or one of one."""
    with relay(hk.ScriptedModel([LINE], repeat=True)) as (passing, service):
        return run(_rows(passing, service, smallest))


class Way:
    """One way to the service: straight, or through the relay."""

    def __init__(self, to: Endpoint, processes: list[Endpoint]) -> None:
        self.to, self.processes = to, processes
        self.wall: list[float] = []
        self.used: list[float] = []
        self.trips: list[float] = []

    async def round(self, turns: int, pings: int) -> None:
        """Measure one call: its frames one by one (µs each), and the round trip of a single small one (µs)."""
        url = f"{self.to.base_url.replace('http', 'ws', 1)}/realtime?model=gpt-realtime"
        headers = {"Authorization": f"Bearer {self.to.token}"}
        async with connect(url, additional_headers=headers, max_size=None) as socket:
            await socket.recv()
            frames, before = 0, [cpu(process) for process in self.processes]
            with Stopwatch() as watch:
                for _ in range(turns):
                    frames += await _turn(socket)
            self.wall.append(1e3 * watch.wall / frames)
            after = [cpu(process) for process in self.processes]
            self.used.append(1e6 * (sum(after) - sum(before)) / frames)
            with Stopwatch() as watch:
                for _ in range(pings):
                    await _ping(socket)
            self.trips.append(1e3 * watch.wall / pings)


async def _turn(socket: ClientConnection) -> int:
    """Say something, take the whole reply, and return how many frames passed."""
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": FIRST}]}
    await socket.send(json.dumps({"type": "conversation.item.create", "item": item}))
    await socket.send(json.dumps({"type": "response.create"}))
    frames = 2
    while True:
        frames += 1
        if '"type":"response.done"' in str(await socket.recv())[:400]:
            return frames


async def _ping(socket: ClientConnection) -> None:
    await socket.send('{"type":"input_audio_buffer.clear"}')
    await socket.recv()


async def _rows(passing: Endpoint, service: Endpoint, smallest: bool) -> list[Row]:
    direct, through = Way(service, [service]), Way(passing, [passing, service])
    rounds, turns, pings = (1, 1, 2) if smallest else (ROUNDS, TURNS, PINGS)
    for number in range(rounds + 1):
        for way in (direct, through) if number % 2 else (through, direct):
            await way.round(turns, pings)
    for way in (direct, through):
        del way.wall[0], way.used[0], way.trips[0]  # to warm up
    return [
        Row.of("wall per frame, direct", "µs", direct.wall),
        Row.of("wall per frame, relay", "µs", through.wall),
        Row.of("wall per frame, relay / direct", "×", ratios(through.wall, direct.wall)),
        Row.of("round trip of one small frame, direct", "µs", direct.trips),
        Row.of("round trip of one small frame, relay", "µs", through.trips),
        Row.of("CPU per frame, service alone", "µs", direct.used),
        Row.of("CPU per frame, relay and service", "µs", through.used),
    ]
