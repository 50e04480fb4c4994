"""What goes wrong around a `Call` on openai-agents: half a call gives no result, and no wait is endless."""

import asyncio
from typing import Any

import pytest
from agents import function_tool
from agents.realtime import RealtimeAgent
from pydantic_ai import Agent, Tool
from voice_agents import sdk, voice_agent

import handoffkit as hk
from handoffkit.connect import Endpoint
from handoffkit.errors import CallIncomplete, CallOver, ReplyFailed, ReplyTimeout, SessionRefused

__all__ = ["sdk"]

FIRST, SECOND = "My laptop does not charge.", "Another outlet changed nothing."


@pytest.fixture
def agent(connected: Endpoint) -> RealtimeAgent[Any]:
    return RealtimeAgent(name="Support", instructions="You are a phone support agent.")


async def test_a_call_whose_start_failed_can_be_started_and_its_failures_still_count(agent: RealtimeAgent[Any]) -> None:
    """The SDK gives the session up at a frame that is no JSON, and closes as in peace; so did the first start."""
    slow = hk.Fault("response.output_audio_transcript.delta", "delay", nth=0, seconds=0.5)
    hk.connect(faults=[hk.Fault("session.updated", "abort"), hk.Fault("response.content_part.added", "text"), slow])
    call = hk.Call(agent, reply_timeout=10)
    with pytest.raises(SessionRefused):
        await call.start()
    await call.start()
    with pytest.raises(ReplyFailed, match="gave the session up"):
        await call.send(FIRST)
    await call.hang_up()
    with pytest.raises(CallIncomplete, match=FIRST):
        await call.handoff(Agent("openai:gpt-5.2"))


# A call that is left


@pytest.mark.usefixtures("sdk")
@pytest.mark.parametrize("when", ["after a reply", "in the middle of one", "by an error"])
def test_a_call_ends_with_the_event_loop_that_it_was_started_in(when: str, connected: Endpoint) -> None:
    """As in a script that runs `asyncio.run` for each step, or leaves its call without a word."""
    slow = hk.Fault("response.output_audio.delta", "delay", nth=4, seconds=30)
    hk.connect(faults=[slow] if when == "in the middle of one" else [])
    call = hk.Call(voice_agent())

    async def leave() -> None:
        await call.start()
        sending = asyncio.create_task(call.send(FIRST))
        if when == "in the middle of one":
            async for _ in hk.log().follow("response.output_audio.delta", label=call.label):
                return
        await sending
        if when == "by an error":
            raise LookupError

    try:
        asyncio.run(leave())
    except LookupError:
        assert when == "by an error"
    assert call.phase == "ended"
    for step in (call.send(SECOND), call.start(), call.interrupt()):
        with pytest.raises(CallOver, match="the event loop that it was started in has ended"):
            asyncio.run(step)
    asyncio.run(call.hang_up())
    asyncio.run(call.hang_up())
    assert call.state == "the client hung up"
    assert [end.verdict for end in call.log.ends] == ["interrupted" if when == "in the middle of one" else "complete"]
    assert FIRST in str(asyncio.run(call.handoff(Agent("openai:gpt-5.2"))).output)


# Waits


def refunding(sdk: str, returns: asyncio.Event) -> Any:
    """Return an agent of an SDK with a tool that needs a yes, and returns when it is told to."""

    async def refund() -> str:
        """Refund the order."""
        await returns.wait()
        return "refunded"

    if sdk == "pydantic-ai":
        return Agent(tools=[Tool(refund, requires_approval=True)])
    return RealtimeAgent(name="Refunds", tools=[function_tool(refund, needs_approval=True)])


@pytest.mark.parametrize("returned", [True, False])
async def test_while_a_person_is_asked_nothing_has_to_come_and_after_that_it_has(
    returned: bool, sdk: str, connected: Endpoint
) -> None:
    hk.connect(model=hk.ScriptedModel([hk.ToolCall("refund", "{}"), "Done."]))
    returns = asyncio.Event()
    async with hk.Call(refunding(sdk, returns), reply_timeout=0.5) as call:
        with call.approvals.watch(lambda: None):
            sending = asyncio.create_task(call.send("Refund my order."))
            await asyncio.wait([sending], timeout=2)
            (asked,) = call.approvals.pending
            call.approvals.approve(asked.id)
            async with asyncio.timeout(20):
                if returned:
                    returns.set()
                    assert (await sending).text == "Done."
                else:
                    with pytest.raises(ReplyTimeout, match="the tool refund has not returned anything"):
                        await sending
