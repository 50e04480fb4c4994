"""What a spoken call costs in CPU: the whole of it, in both processes, and the streaming of sound in the kernel alone.

Streaming is what a spoken turn costs the kernel beyond a typed one. The bare side is a script on pydantic-ai alone that
sends the same blocks, with the same quiet after them, and waits for the reply; both sides take turns on one endpoint.
"""

import gc
from collections.abc import Awaitable, Callable

from measure import FIRST, Row, Stopwatch, cpu, endpoint, ratios, run
from pydantic_ai import Agent
from pydantic_ai.realtime import RealtimeTurnCompleteEvent
from pydantic_ai.realtime.openai import OpenAIRealtimeModel
from recorded import laptop
from spoken import SETTINGS, SILENCE_MS, hold

import handoffkit as hk
from handoffkit import audio
from handoffkit.connect import Endpoint
from handoffkit.spoken import BLOCK_MS

WHAT = "CPU of a spoken call, and of streaming sound, against a bare pydantic-ai script"

FAST, REALTIME, ROUNDS = 7, 3, 21
MARGIN_MS = 1000
"""Quiet that `send_audio` sends after a recording, beyond what ends a turn."""


def measure(*, smallest: bool) -> list[Row]:
    """Return the rows for the call about the laptop, and for 21 rounds of its last turn; or for one of each."""
    with endpoint(speech=True) as process:
        rows = run(_calls(process, smallest))
    with endpoint(hk.ScriptedModel(["I see."], repeat=True), speech=True):
        return [*rows, *run(_streaming(smallest))]


async def _calls(process: Endpoint, smallest: bool) -> list[Row]:
    files = laptop().files[-1:] if smallest else laptop().files
    seconds = sum(audio.load(path).seconds for path in files)
    await hold(files[:1], realtime=False)  # to warm up
    rows = []
    for how, realtime, times in (("as fast as it goes", False, FAST), ("in real time", True, REALTIME)):
        here: list[float] = []
        there: list[float] = []
        for _ in range(1 if smallest else times):
            before = cpu(process)
            with Stopwatch() as watch:
                await hold(files, realtime=realtime)
            here.append(watch.cpu / seconds)
            there.append(1e3 * (cpu(process) - before) / seconds)
        rows += [
            Row.of(f"endpoint CPU per second of sound, {len(files)} turns {how}", "ms", there),
            Row.of(f"kernel CPU per second of sound, {len(files)} turns {how}", "ms", here),
        ]
    return rows


class Sides:
    """One turn in one call: spoken or typed, with handoffkit or without."""

    def __init__(self) -> None:
        self.sound = audio.load(laptop().files[-1])
        quiet = bytes(BLOCK_MS * audio.BYTES_PER_MS)
        self.blocks = [*self.sound.blocks(BLOCK_MS), *[quiet] * -(-(SILENCE_MS + MARGIN_MS) // BLOCK_MS)]
        self.model = OpenAIRealtimeModel("gpt-realtime")
        self.agent: Agent[None, str] = Agent(instructions="You are a friendly, concise phone support agent.")

    async def spoken(self) -> None:
        """Speak the recording with handoffkit."""
        async with hk.Call(self.agent, model=self.model, model_settings=SETTINGS) as call:
            await call.send_audio(self.sound, realtime=False)

    async def typed(self) -> None:
        """Type a turn with handoffkit."""
        async with hk.Call(self.agent, model=self.model, model_settings=SETTINGS) as call:
            await call.send(FIRST)

    async def bare_spoken(self) -> None:
        """Send the same blocks with the SDK alone."""
        async with self.agent.realtime(self.model, model_settings=SETTINGS).session() as session:
            for block in self.blocks:
                await session.send_audio(block)
            async for event in session:
                if isinstance(event, RealtimeTurnCompleteEvent):
                    return

    async def bare_typed(self) -> None:
        """Type a turn with the SDK alone."""
        async with self.agent.realtime(self.model, model_settings=SETTINGS).session() as session:
            await session.send(FIRST)
            await session.wait_for_reply()


async def _streaming(smallest: bool) -> list[Row]:
    sides = Sides()
    seconds = sum(map(len, sides.blocks)) / audio.BYTES_PER_MS / 1000
    jobs = [sides.spoken, sides.typed, sides.bare_spoken, sides.bare_typed]
    used: list[list[float]] = [[], [], [], []]
    for number in range(2 if smallest else ROUNDS + 2):
        for at in range(4) if number % 2 else range(3, -1, -1):
            used[at].append(await _used(jobs[at]))
    spoken, typed, bare_spoken, bare_typed = [values[1 if smallest else 2 :] for values in used]  # to warm up
    ours = [(a - b) / seconds for a, b in zip(spoken, typed, strict=True)]
    bare = [(a - b) / seconds for a, b in zip(bare_spoken, bare_typed, strict=True)]
    return [
        Row.of("streaming, kernel CPU per second of sound: bare script", "ms", bare),
        Row.of("streaming, kernel CPU per second of sound: handoffkit", "ms", ours),
        Row.of("kernel CPU of a call of one spoken turn: bare script", "ms", bare_spoken),
        Row.of("kernel CPU of a call of one spoken turn: handoffkit", "ms", spoken),
        Row.of("kernel CPU of a call of one spoken turn: handoffkit / bare", "×", ratios(spoken, bare_spoken)),
    ]


async def _used(job: Callable[[], Awaitable[None]]) -> float:
    """Return the CPU of this process for a job, in ms; what the log holds by then is read before."""
    assert hk.log().turns is not None
    gc.collect()
    with Stopwatch() as watch:
        await job()
    return watch.cpu
