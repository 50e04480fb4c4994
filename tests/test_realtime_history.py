"""A realtime conversation that begins with a history, and what a client may add to it, over real sockets."""

import base64
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from agents import set_tracing_disabled
from agents.realtime import RealtimeAgent, RealtimeRunner
from pydantic_ai import Agent, BinaryImage
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SpeechPart,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from websockets.asyncio.client import ClientConnection, connect

import handoffkit as hk
from handoffkit.connect import Endpoint, current
from handoffkit.history import to_seed

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
CALL = ToolCallPart("order_status", {"number": 7}, tool_call_id="call_1")
EVERYTHING: list[ModelMessage] = [
    ModelRequest(
        [SystemPromptPart("Be brief."), UserPromptPart(["What is this?", BinaryImage(PNG, media_type="image/png")])]
    ),
    ModelResponse([TextPart("A light."), CALL]),
    ModelRequest(
        [ToolReturnPart("order_status", "On its way.", "call_1"), SpeechPart(transcript="Thanks.", speaker="user")]
    ),
    ModelResponse([SpeechPart(transcript="You are welcome.", speaker="assistant")]),
]

set_tracing_disabled(True)


@asynccontextmanager
async def session() -> AsyncIterator[ClientConnection]:
    """Open a realtime session as a program without an SDK would, and read the greeting."""
    url = current().base_url.replace("http", "ws", 1) + "/realtime?model=gpt-realtime"
    headers = {"Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
    async with connect(url, additional_headers=headers, open_timeout=10, close_timeout=10) as socket:
        assert (await event(socket))["type"] == "session.created"
        yield socket


async def event(socket: ClientConnection) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(await socket.recv())
    return found


async def add(socket: ClientConnection, item: dict[str, Any]) -> dict[str, Any]:
    """Add an item to the conversation and return what the service says first."""
    await socket.send(json.dumps({"type": "conversation.item.create", "item": item}))
    found = await event(socket)
    if found["type"] != "error":
        assert (await event(socket))["type"] == "conversation.item.done"
    return found


async def test_a_history_of_every_kind_begins_a_session(connected: Endpoint) -> None:
    seed = [{"type": "message", "role": "system", "content": [{"type": "input_text", "text": "Be brief."}]}]
    seed += to_seed(EVERYTHING).items
    async with session() as socket:
        added = [await add(socket, item) for item in seed]
    assert [found["type"] for found in added] == ["conversation.item.added"] * 7
    items = [found["item"] for found in added]
    assert [item.get("role", item["type"]) for item in items] == [
        "system", "user", "assistant", "function_call", "function_call_output", "user", "assistant",
    ]  # fmt: skip
    assert [part["type"] for part in items[1]["content"]] == ["input_text", "input_image"]
    assert [item["call_id"] for item in items[3:5]] == ["call_1"] * 2


async def test_pydantic_ai_begins_a_session_with_such_a_history(connected: Endpoint) -> None:
    hk.connect(model=hk.ScriptedModel(["Gladly."]))
    async with hk.Call(Agent(), message_history=EVERYTHING) as call:
        assert (await call.send("One more thing.")).text == "Gladly."
    assert len(call.log.filter("error")) == 0
    assert len(call.log.filter("conversation.item.create", dir="client")) == 7


@pytest.mark.parametrize(
    ("item", "code", "message"),
    [
        (
            {"type": "function_call_output", "call_id": "call_9", "output": "x"},
            "invalid_tool_call_id",
            "Tool call ID 'call_9' not found in conversation.",
        ),
        (
            {"type": "message", "role": "assistant", "content": [{"type": "output_audio", "transcript": "Hello."}]},
            "invalid_value",
            "Invalid value: 'output_audio'. Supported values are: 'output_text'.",
        ),
        (
            {"type": "message", "role": "system", "content": [{"type": "input_audio", "transcript": "Hello."}]},
            "invalid_value",
            "Invalid value: 'input_audio'. Supported values are: 'input_text'.",
        ),
        (
            {"type": "reasoning", "id": "rs_1", "summary": []},
            "invalid_value",
            "Invalid value: 'reasoning'. Supported values are: 'message', 'function_call', and 'function_call_output'.",
        ),
    ],
)
async def test_what_cannot_begin_a_session_is_refused_and_the_session_goes_on(
    item: dict[str, Any], code: str, message: str, connected: Endpoint
) -> None:
    async with session() as socket:
        refused = await add(socket, item)
        assert (refused["type"], refused["error"]["code"], refused["error"]["message"]) == ("error", code, message)
        hello = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello."}]}
        assert (await add(socket, hello))["type"] == "conversation.item.added"


async def test_two_transfers_in_one_reply_end_with_the_last_and_one_greeting(connected: Endpoint) -> None:
    both = [hk.ToolCall("transfer_to_billing", "{}"), hk.ToolCall("transfer_to_shipping", "{}")]
    hk.connect(model=hk.ScriptedModel([both, "Shipping, good morning."]))
    desks: list[Any] = [RealtimeAgent(name=name, instructions=f"You are {name}.") for name in ("Billing", "Shipping")]
    front = RealtimeAgent(name="Front", instructions="You are the front desk.", handoffs=desks)
    url = f"{connected.base_url.replace('http', 'ws', 1)}/realtime?model=gpt-realtime"
    config: Any = {"url": url, "api_key": os.environ["OPENAI_API_KEY"]}
    async with await RealtimeRunner(front).run(model_config=config) as call:
        await call.send_message("My parcel is lost, and I was charged twice.")
        async for _ in call:
            if hk.log().ends:
                break
    log = hk.log()
    assert [(end.verdict, len(end.responses)) for end in log.ends] == [("complete", 2)]
    outputs = [frame.data["item"]["output"] for frame in log.filter("conversation.item.create")[1:]]
    assert outputs == ['{"assistant": "Billing"}', '{"assistant": "Shipping"}']
    assert (log.turns[-1].text, "You are Shipping." in log.turns[-1].instructions) == ("Shipping, good morning.", True)
    assert len(log.filter("error")) == 0
