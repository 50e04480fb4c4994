"""Two typed turns and a ticket: handoffkit against a bare pydantic-ai script, in turn, on the same endpoint.

Both are given the same model objects. What the other side's frames cost is not counted: the log is read up to date
before each side starts. Garbage is collected between the two, so that neither pays for the other's.
"""

import gc
from collections.abc import Awaitable, Callable
from typing import Literal

from measure import FIRST, SECOND, Row, Stopwatch, alternating, cpu, endpoint, ratios, run
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIResponsesModel
from pydantic_ai.realtime.openai import OpenAIRealtimeModel

import handoffkit as hk
from handoffkit.connect import Endpoint

WHAT = "Two typed turns and a ticket, against a bare pydantic-ai script"

PAIRS, BATCHES, CALLS = 31, 7, 20
WARM_UP = 3
PROMPT = "Create the support ticket for this call."


class SupportTicket(BaseModel):
    """What notebook 01 asks for."""

    summary: str
    category: Literal["hardware", "software", "billing", "other"]
    priority: Literal["low", "medium", "high"]
    follow_up_questions: list[str]


class Sides:
    """The same job twice: with handoffkit, and as pydantic-ai's users write it."""

    def __init__(self) -> None:
        self.realtime = OpenAIRealtimeModel("gpt-realtime")
        self.voice: Agent[None, str] = Agent(instructions="You are a friendly, concise phone support agent.")
        self.triage = Agent(
            OpenAIResponsesModel("gpt-5.2"), output_type=SupportTicket, instructions="Triage support calls."
        )

    async def handoffkit(self) -> SupportTicket:
        """Hold the call and hand it off, in the verbs of a notebook."""
        async with hk.Call(self.voice, model=self.realtime) as call:
            await call.send(FIRST)
            await call.send(SECOND)
        ticket = await call.handoff(self.triage, PROMPT)
        assert isinstance(ticket.output, SupportTicket)
        return ticket.output

    async def bare(self) -> SupportTicket:
        """Do the same with the SDK alone."""
        async with self.voice.realtime(self.realtime).session() as session:
            await session.send(FIRST)
            await session.wait_for_reply()
            await session.send(SECOND)
            await session.wait_for_reply()
        return (await self.triage.run(PROMPT, message_history=session.all_messages())).output

    async def talk(self, turns: int) -> None:
        """Hold a bare call of so many turns."""
        async with self.voice.realtime(self.realtime).session() as session:
            for _ in range(turns):
                await session.send(FIRST)
                await session.wait_for_reply()


def measure(*, smallest: bool) -> list[Row]:
    """Return the rows; 31 pairs after 3 to warm up, or one."""
    with endpoint() as process:
        return run(_rows(process, smallest))


async def _rows(process: Endpoint, smallest: bool) -> list[Row]:
    sides = Sides()
    pairs, warm_up, batches, calls = (1, 1, 1, 2) if smallest else (PAIRS, WARM_UP, BATCHES, CALLS)
    ours, bare = await alternating(lambda: _timed(sides.handoffkit), lambda: _timed(sides.bare), pairs, warm_up)
    rows = []
    for kind, of in (("client CPU", [w.cpu for w in ours]), ("wall", [w.wall for w in ours])):
        to = [w.cpu if kind == "client CPU" else w.wall for w in bare]
        rows += [
            Row.of(f"{kind}, bare script", "ms", to),
            Row.of(f"{kind}, handoffkit", "ms", of),
            Row.of(f"{kind}, handoffkit / bare", "×", ratios(of, to), "1.05"),
        ]
    used = [await _used(process, sides, calls) for _ in range(batches)]
    return [*rows, Row.of("endpoint CPU per typed turn", "ms", used)]


async def _timed(side: Callable[[], Awaitable[SupportTicket]]) -> Stopwatch:
    assert hk.log().turns is not None
    gc.collect()
    with Stopwatch() as watch:
        ticket = await side()
    assert ticket.category == "hardware"
    return watch


async def _used(process: Endpoint, sides: Sides, calls: int) -> float:
    """Return the endpoint's CPU for a turn, in ms, over a batch: the system counts in ticks of 10 ms."""
    before = cpu(process)
    for _ in range(calls):
        await sides.talk(2)
    return 1e3 * (cpu(process) - before) / (2 * calls)
