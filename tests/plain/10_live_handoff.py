"""A live handoff: one agent hands the caller to another, which fills in a form by a tool while the call goes on."""

import asyncio
import os

from agents import Agent, function_tool
from agents.realtime import RealtimeAgent, RealtimeRunner

URL = os.environ["OPENAI_BASE_URL"].replace("http", "ws", 1) + "/realtime?model=gpt-realtime"
form = {}


@function_tool
def save_delivery(street: str, city: str, day: str) -> str:
    """Save where and when to deliver an order."""
    form.update(street=street, city=city, day=day)
    return "saved"


delivery = RealtimeAgent(
    name="DeliveryForm",
    handoff_description="Takes the address and the day of a delivery.",
    instructions="Fill in the delivery form. Speak first.",
    tools=[save_delivery],
)
filler = Agent("Filler", instructions="Write the delivery form.", model="gpt-5.2")
service = RealtimeAgent(
    name="Service",
    instructions="You are customer service.",
    handoffs=[delivery],
    tools=[filler.as_tool("write_letter", "Write a letter to the caller.")],
)


async def turn(session, text):
    """Send a turn and return the events until its last reply is complete: no tool and no handoff is under way."""
    await session.send_message(text)
    seen, under_way = [], 0
    async with asyncio.timeout(30):
        async for event in session:
            seen.append(event)
            if event.type == "raw_model_event" and event.data.type == "function_call":
                under_way += 1
            elif event.type == "agent_start" and under_way:
                under_way -= 1
            elif event.type == "agent_end" and not under_way:
                return seen
    raise AssertionError("the session ended in the middle of a turn")


async def main():
    config = {"url": URL, "initial_model_settings": {"voice": "marin", "turn_detection": {"type": "server_vad"}}}
    async with await RealtimeRunner(service).run(model_config=config) as session:
        await turn(session, "Hello, my laptop is repaired.")
        events = await turn(session, "Please arrange the delivery of it.")
        (handoff,) = [event for event in events if event.type == "handoff"]
        assert (handoff.from_agent, handoff.to_agent) == (service, delivery)
        spoke = [event.agent for event in events if event.type == "agent_start"]
        assert spoke == [service, delivery], "the new agent speaks by itself"
        assert any(event.type == "audio" for event in events[events.index(handoff) :])
        for answer in ("12 Main Street.", "Springfield.", "Friday."):
            await turn(session, answer)
    assert form == {"street": "12 Main Street", "city": "Springfield", "day": "Friday"}

    async with await RealtimeRunner(service).run(model_config=config) as session:
        events = await turn(session, "Please write a letter to me.")
        assert "tool_end" in [event.type for event in events], "an agent that is a tool, and no handoff"
        assert "handoff" not in [event.type for event in events]


asyncio.run(main())
