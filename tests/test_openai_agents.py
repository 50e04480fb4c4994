"""The second SDK against the endpoint, by its own transports: sessions, tools, a live handoff, typed output."""

import os
from typing import Any, Literal

import pytest
from agents import (
    Agent,
    OpenAIProvider,
    RunConfig,
    Runner,
    function_tool,
    set_default_openai_client,
    set_tracing_disabled,
)
from agents.realtime import RealtimeAgent, RealtimeRunner, RealtimeSession
from openai import AsyncOpenAI
from pydantic import BaseModel

import handoffkit as hk
from handoffkit.connect import Endpoint

FIRST = "My laptop does not charge."

set_tracing_disabled(True)


@pytest.fixture(autouse=True)
def client(connected: Endpoint) -> None:
    """Give each test's event loop a client of its own: the SDK would share one across loops, which breaks."""
    set_default_openai_client(AsyncOpenAI(), use_for_tracing=False)


class Ticket(BaseModel):
    summary: str
    category: Literal["hardware", "software", "billing", "other"]


@function_tool
def order_status(number: int) -> str:
    """Look an order up."""
    return f"Order {number} is on its way."


async def session_of(agent: RealtimeAgent[Any], endpoint: Endpoint) -> RealtimeSession:
    url = f"{endpoint.base_url.replace('http', 'ws', 1)}/realtime?model=gpt-realtime"
    runner = RealtimeRunner(agent)
    return await runner.run(model_config={"url": url, "api_key": os.environ["OPENAI_API_KEY"]})


async def until_complete(session: RealtimeSession, turns: int) -> None:
    """Iterate as a program does, until the wire says that so many turns are complete."""
    async for _ in session:
        if len(hk.log().ends) >= turns:
            return


async def test_two_turns_are_complete_by_the_same_judge(connected: Endpoint) -> None:
    hk.connect(model=hk.ScriptedModel(["Is the light on?", "Thank you."]))
    async with await session_of(RealtimeAgent(name="Support", instructions="Help."), connected) as session:
        for turn, text in enumerate((FIRST, "It stays off."), start=1):
            await session.send_message(text)
            await until_complete(session, turn)
    log = hk.log()
    assert [(end.verdict, end.caller) for end in log.ends] == [("complete", True)] * 2
    expected = [("caller", FIRST), ("agent", "Is the light on?"), ("caller", "It stays off."), ("agent", "Thank you.")]
    assert [(turn.speaker, turn.text) for turn in log.turns] == expected
    assert "error" not in {frame.event for frame in log}


async def test_a_turn_with_a_tool_is_complete_after_the_answer_that_follows_it(connected: Endpoint) -> None:
    hk.connect(model=hk.ScriptedModel([hk.ToolCall("order_status", '{"number": 7}'), "It is on its way."]))
    agent = RealtimeAgent(name="Support", instructions="Help.", tools=[order_status])
    async with await session_of(agent, connected) as session:
        await session.send_message("Where is order 7?")
        await until_complete(session, 1)
    log = hk.log()
    assert [(end.verdict, len(end.responses)) for end in log.ends] == [("complete", 2)]
    assert [(tool.name, tool.output) for turn in log.turns for tool in turn.tools] == [
        ("order_status", "Order 7 is on its way.")
    ]


async def test_a_live_handoff_is_a_mark_and_the_new_instructions_are_known(connected: Endpoint) -> None:
    hk.connect(model=hk.ScriptedModel([hk.ToolCall("transfer_to_billing", "{}"), "Billing, good morning."]))
    billing = RealtimeAgent(name="Billing", instructions="You are billing.")
    front = RealtimeAgent(name="Front", instructions="You are the front desk.", handoffs=[billing])
    async with await session_of(front, connected) as session:
        await session.send_message("I was charged twice.")
        await until_complete(session, 1)
    log = hk.log()
    assert [str(mark) for mark in log.marks if mark.kind == "live_handoff"] == ["The call was handed to Billing."]
    assert log.turns[-1].text == "Billing, good morning."
    assert "You are billing." in log.turns[-1].instructions


async def test_typed_output_over_responses(connected: Endpoint) -> None:
    agent = Agent(name="Triage", model="gpt-5.2", output_type=Ticket)
    result = await Runner.run(agent, FIRST)
    assert result.final_output.category == "hardware"
    streamed = Runner.run_streamed(agent, FIRST)
    events = [event.type async for event in streamed.stream_events()]
    assert "raw_response_event" in events
    assert streamed.final_output.category == "hardware"


@pytest.mark.parametrize("api", ["responses", "chat_completions"])
async def test_a_text_agent_with_a_tool(api: str, connected: Endpoint) -> None:
    hk.connect(model=hk.ScriptedModel(outputs=[hk.ToolCall("order_status", '{"number": 7}'), "It is on its way."]))
    agent = Agent(name="Support", model="gpt-5.2", tools=[order_status])
    provider = OpenAIProvider(openai_client=AsyncOpenAI(), use_responses=api == "responses")
    result = await Runner.run(agent, "Where is order 7?", run_config=RunConfig(model_provider=provider))
    assert result.final_output == "It is on its way."
    asked = [frame for frame in hk.log() if frame.event.startswith("POST")]
    assert len(asked) == 2
    assert "Order 7 is on its way." in str(asked[1].data)
