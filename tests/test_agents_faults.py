"""What goes wrong around a `Call` on openai-agents: none of it makes a result of half a call, and no wait is endless."""

from typing import Any

import pytest
from agents.realtime import RealtimeAgent
from pydantic_ai import Agent

import handoffkit as hk
from handoffkit.connect import Endpoint
from handoffkit.errors import CallIncomplete, ReplyFailed, SessionRefused

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
