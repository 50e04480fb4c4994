"""A realtime session that begins with an earlier talk, and the same talk given to a text agent as items."""

import asyncio
import os

from agents import Agent, Runner
from agents.realtime import RealtimeAgent, RealtimeModelSendRawMessage, RealtimeRunner
from openai import BadRequestError
from pydantic import BaseModel

ASKED, TOLD, TODAY = "My laptop does not charge.", "Is its light on?", "It stays dark, and I present tomorrow."


class Ticket(BaseModel):
    summary: str
    urgent: bool


def words(role, text):
    kind = "input_text" if role == "user" else "output_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def heard(item):
    part = item.content[0]
    return item.role, getattr(part, "text", None) or getattr(part, "transcript", None)


async def seeded_call():
    """The SDK has no argument for a history: each message is an event of the Realtime API."""
    address = os.environ["OPENAI_BASE_URL"].replace("http", "ws", 1)
    config = {"url": f"{address}/realtime?model=gpt-realtime", "api_key": os.environ["OPENAI_API_KEY"]}
    agent = RealtimeAgent(name="Support", instructions="You are a friendly phone support agent.")
    history = []
    async with await RealtimeRunner(agent).run(model_config=config) as session:
        for item in (words("user", ASKED), words("assistant", TOLD)):
            message = {"type": "conversation.item.create", "other_data": {"item": item}}
            await session.model.send_event(RealtimeModelSendRawMessage(message))
        await session.send_message(TODAY)
        async for event in session:
            if event.type == "history_updated":
                history = event.history
            if event.type == "agent_end":
                break
    return [heard(item) for item in history]


async def main():
    async with asyncio.timeout(60):
        talk = await seeded_call()
    assert talk[:3] == [("user", ASKED), ("assistant", TOLD), ("user", TODAY)], talk
    assert talk[3][0] == "assistant"
    assert talk[3][1]
    assert len(talk) == 4

    items = [{"role": role, "content": text} for role, text in talk]
    triage = Agent(name="Triage", instructions="Write tickets.", model="gpt-5.2", output_type=Ticket)
    result = await Runner.run(triage, [*items, {"role": "user", "content": "Write the ticket for this call."}])
    assert "laptop" in result.final_output.summary
    assert len(result.to_input_list()) == 6

    alone = {"type": "function_call_output", "call_id": "call_9", "output": "packed"}
    try:
        await Runner.run(triage, [alone, *items])
    except BadRequestError as error:
        assert "call_9" in str(error)
    else:
        raise SystemExit("a result without its call was taken")


asyncio.run(main())
