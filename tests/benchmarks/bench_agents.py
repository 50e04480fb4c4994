"""Calls with agents of openai-agents: handoffkit against a bare script of that SDK, in turn, on the same endpoint.

First two typed turns and hanging up. Then one turn at which an agent hands the call over: from the frame of the
caller's words to the first frame of the new agent's. The log tells how much of that the endpoint took to answer, from
each `response.create` to what came of it; the rest is the client's, which is what the two sides are compared by.
"""

import gc
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from agents.realtime import RealtimeAgent, RealtimeRunner
from measure import FIRST, SECOND, Row, Stopwatch, alternating, endpoint, ratios, run

import handoffkit as hk
from handoffkit.connect import Endpoint
from handoffkit.wire.frames import Frame

WHAT = "Calls with a RealtimeAgent, against a bare openai-agents script"

ROUNDS, WARM_UP = 31, 3
ASKS = "I was charged twice."
GREETING = "Billing desk. What is your invoice number?"
DESKS = hk.ScriptedModel([hk.ToolCall("transfer_to_billing", "{}"), GREETING])


class Sides:
    """The same calls twice: with handoffkit, and as the SDK's users write them."""

    def __init__(self, process: Endpoint) -> None:
        address = f"{process.base_url.replace('http', 'ws', 1)}/realtime?model=gpt-realtime"
        self.config: Any = {"url": address, "api_key": process.token}
        self.support: RealtimeAgent[Any] = RealtimeAgent(name="Support", instructions="You are a phone support agent.")
        billing: RealtimeAgent[Any] = RealtimeAgent(name="Billing", instructions="You are billing.")
        self.front: RealtimeAgent[Any] = RealtimeAgent(
            name="Front", instructions="You are the front desk.", handoffs=[billing]
        )

    async def call(self) -> None:
        """Hold two turns in the verbs of a notebook."""
        async with hk.Call(self.support) as call:
            await call.send(FIRST)
            await call.send(SECOND)

    async def bare_call(self) -> None:
        """Hold them with the SDK alone."""
        await self._bare(self.support, [FIRST, SECOND], replies=1)

    async def handed_over(self) -> None:
        """Hold a turn in which the call is handed over."""
        async with hk.Call(self.front, greetings={"Billing": GREETING}) as call:
            await call.send(ASKS)

    async def bare_handed_over(self) -> None:
        """Hold it with the SDK alone: one reply hands the call over, the next one is the new agent's."""
        await self._bare(self.front, [ASKS], replies=2)

    async def _bare(self, agent: RealtimeAgent[Any], turns: Sequence[str], *, replies: int) -> None:
        async with await RealtimeRunner(agent).run(model_config=self.config) as session:
            for text in turns:
                await session.send_message(text)
                ended = 0
                async for event in session:
                    ended += event.type == "agent_end"
                    if ended == replies:
                        break


def measure(*, smallest: bool) -> list[Row]:
    """Return the rows; 31 pairs after 3 to warm up, or one."""
    rounds, warm_up = (1, 1) if smallest else (ROUNDS, WARM_UP)
    with endpoint() as process:
        rows = run(_calls(Sides(process), rounds, warm_up))
    with endpoint(DESKS) as process:
        return [*rows, *run(_handoffs(Sides(process), rounds, warm_up))]


async def _calls(sides: Sides, rounds: int, warm_up: int) -> list[Row]:
    ours, bare = await alternating(lambda: _timed(sides.call), lambda: _timed(sides.bare_call), rounds, warm_up)
    rows = []
    for kind, of, to, aim in (
        ("client CPU", [w.cpu for w in ours], [w.cpu for w in bare], "1.3"),
        ("wall", [w.wall for w in ours], [w.wall for w in bare], ""),
    ):
        rows += [
            Row.of(f"{kind}, bare script", "ms", to),
            Row.of(f"{kind}, handoffkit", "ms", of),
            Row.of(f"{kind}, handoffkit / bare", "×", ratios(of, to), aim),
            Row.of(f"difference in {kind}, handoffkit - bare", "ms", [a - b for a, b in zip(of, to, strict=True)], "5"),
        ]
    return rows


async def _timed(side: Callable[[], Awaitable[None]]) -> Stopwatch:
    """Measure one call; what the log has grown by is read before, so that no side pays for the other's frames."""
    before = len(hk.log().turns)
    gc.collect()
    with Stopwatch() as watch:
        await side()
    turns = hk.log().turns[before:]
    assert [turn.speaker for turn in turns] == ["caller", "agent"] * 2
    assert all(turn.text for turn in turns)
    return watch


async def _handoffs(sides: Sides, rounds: int, warm_up: int) -> list[Row]:
    """Return the rows of the call that is handed over."""
    ours, bare = await alternating(
        lambda: _waited(sides.handed_over), lambda: _waited(sides.bare_handed_over), rounds, warm_up
    )
    rows = []
    for name, waits in (("bare script", bare), ("handoffkit", ours)):
        rows += [
            Row.of(f"last word to the new agent's first, {name}", "ms", [whole for whole, _ in waits]),
            Row.of(f"of it beyond the model, {name}", "ms", [whole - model for whole, model in waits]),
        ]
    beyond = [(a - b) - (c - d) for (a, b), (c, d) in zip(ours, bare, strict=True)]
    return [*rows, Row.of("difference beyond the model, handoffkit - bare", "ms", beyond, "5")]


async def _waited(side: Callable[[], Awaitable[None]]) -> tuple[float, float]:
    """Return how long the caller waits for the new agent's first words, and what of it the model takes, in ms."""
    before = hk.log()[-1].seq if hk.log() else 0
    gc.collect()
    await side()
    frames = [frame for frame in hk.log().filter(channel="realtime") if frame.seq > before]
    said = _at(frames, "conversation.item.create")
    asked, again = (frame.at for frame in frames if frame.event == "response.create")
    handed = _at(frames, "response.done")
    first = min(_at(frames, "response.output_audio_transcript.delta"), _at(frames, "response.output_audio.delta"))
    assert said < asked < handed < again < first, "the new agent was asked after the old one's reply had ended"
    return 1e3 * (first - said), 1e3 * (handed - asked + first - again)


def _at(frames: Sequence[Frame], event: str) -> float:
    """Return when the first frame of its kind passed, in seconds since the log began."""
    return next(frame.at for frame in frames if frame.event == event)
