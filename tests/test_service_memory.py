"""What the service keeps for its clients: conversations, locked while they are answered, and chains of responses."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from agents import (
    Agent,
    ModelSettings,
    OpenAIConversationsSession,
    Runner,
    RunResult,
    function_tool,
    responses_websocket_session,
    set_default_openai_client,
    set_default_openai_responses_transport,
    set_tracing_disabled,
)
from agents.models.openai_responses import ResponsesWebSocketError
from openai import AsyncOpenAI, BadRequestError, NotFoundError
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.models.openai import OpenAIResponsesModelSettings

import handoffkit as hk
from handoffkit.connect import Endpoint
from handoffkit.wire.frames import Frame

ORDER = hk.ToolCall("order_status", '{"number": 7}')
ON_ITS_WAY = "Order 7 is on its way."
SLOW = hk.Fault("POST /v1/responses", "delay", seconds=1.0)
LOCKED = "Another process is currently operating on this conversation. Please retry in a few seconds."

set_tracing_disabled(True)


@pytest.fixture(autouse=True)
def client(connected: Endpoint) -> Iterator[None]:
    """Give openai-agents a client of this test's event loop, and HTTP back after it."""
    set_default_openai_client(AsyncOpenAI(), use_for_tracing=False)
    yield
    set_default_openai_responses_transport("http")


@pytest.fixture(params=["http", "websocket"])
def transport(request: pytest.FixtureRequest) -> str:
    """Have openai-agents use the one and the other."""
    set_default_openai_responses_transport(request.param)
    return str(request.param)


@function_tool
def order_status(number: int) -> str:
    """Look an order up."""
    return ON_ITS_WAY


SUPPORT = Agent(name="Support", model="gpt-5.2", tools=[order_status])
UNSTORED = SUPPORT.clone(model_settings=ModelSettings(store=False))


def script(*outputs: Any, faults: tuple[hk.Fault, ...] = ()) -> None:
    """Have these answered, in order, in a fresh log."""
    hk.connect(model=hk.ScriptedModel(outputs=outputs), faults=faults)


def asked() -> list[Frame]:
    """Return the requests, by whatever transport they came."""
    return [frame for frame in hk.log() if frame.event in ("POST /v1/responses", "response.create")]


def locked() -> list[str]:
    """Return the connections of the requests that found a conversation locked."""
    errors = [(frame.conn, frame.data.get("error") or {}) for frame in hk.log() if frame.dir == "server"]
    return [conn for conn, error in errors if error.get("code") == "conversation_locked"]


async def words(conversation_id: str) -> list[tuple[str, str]]:
    """Return who said what in a conversation."""
    items = await AsyncOpenAI().conversations.items.list(conversation_id, order="asc", limit=100)
    messages = [item for item in items.data if item.type == "message"]
    return [(item.role, getattr(item.content[0], "text", "")) for item in messages]


async def given(response_id: str | None) -> list[str]:
    """Return what kinds of items a response was made from, with the text of each message."""
    items = await AsyncOpenAI().responses.input_items.list(str(response_id), order="asc", limit=100)
    return [getattr(item.content[0], "text", "") if item.type == "message" else item.type for item in items.data]


async def run_at_once(conversation_id: str, *, streamed: bool) -> list[Any]:
    """Have two runs answer two turns of one conversation at the same time; return what came of them."""

    async def run(text: str) -> Any:
        if not streamed:
            return (await Runner.run(SUPPORT, text, conversation_id=conversation_id)).final_output
        result = Runner.run_streamed(SUPPORT, text, conversation_id=conversation_id)
        async for _ in result.stream_events():
            pass
        return result.final_output

    return list(await asyncio.gather(run("First."), run("Second."), return_exceptions=True))


@pytest.mark.parametrize("streamed", [False, True])
async def test_two_runs_at_once_in_one_conversation_are_answered_one_after_the_other(streamed: bool) -> None:
    script("One.", "Two.", faults=(SLOW,))
    conversation = await AsyncOpenAI().conversations.create()
    assert sorted(await run_at_once(conversation.id, streamed=streamed)) == ["One.", "Two."]
    refused, retried = asked()[1:]
    assert locked() == [refused.conn]
    assert refused.data["input"] == retried.data["input"]
    assert retried.at - refused.at > 0.9, "openai-agents waits a second before it asks again"
    said = await words(conversation.id)
    assert sorted(said) == [("assistant", "One."), ("assistant", "Two."), ("user", "First."), ("user", "Second.")]
    assert [role for role, _ in said] == ["user", "assistant"] * 2


async def test_over_a_socket_openai_agents_does_not_ask_again() -> None:
    script("One.", "Two.", faults=(hk.Fault("response.created", "delay", seconds=1.0),))
    set_default_openai_responses_transport("websocket")
    conversation = await AsyncOpenAI().conversations.create()
    answers = await run_at_once(conversation.id, streamed=False)
    [error] = [answer for answer in answers if isinstance(answer, ResponsesWebSocketError)]
    assert (error.code, error.error_message) == ("conversation_locked", LOCKED)
    assert len(await words(conversation.id)) == 2


async def test_pydantic_ai_does_not_ask_again() -> None:
    script("One.", "Two.", faults=(SLOW,))
    conversation = await AsyncOpenAI().conversations.create()
    agent = PydanticAgent("openai:gpt-5.2")
    settings = OpenAIResponsesModelSettings(openai_conversation_id=conversation.id)
    runs = [agent.run(text, model_settings=settings) for text in ("First.", "Second.")]
    answers = await asyncio.gather(*runs, return_exceptions=True)
    [error] = [answer for answer in answers if isinstance(answer, ModelHTTPError)]
    assert (error.status_code, LOCKED in str(error)) == (400, True)
    assert len(await words(conversation.id)) == 2


async def test_nobody_adds_to_a_conversation_that_is_being_answered() -> None:
    script("One.", faults=(SLOW,))
    client = AsyncOpenAI()
    conversation = await client.conversations.create()
    run = asyncio.create_task(Runner.run(SUPPORT, "First.", conversation_id=conversation.id))
    async for _ in hk.log().follow("fault", idle_timeout=10):
        break
    with pytest.raises(BadRequestError, match="Another process") as refused:
        await client.conversations.items.create(conversation.id, items=[{"role": "user", "content": "Me too."}])
    assert refused.value.code == "conversation_locked"
    assert (await run).final_output == "One."
    await client.conversations.items.create(conversation.id, items=[{"role": "user", "content": "Me too."}])
    assert [text for _, text in await words(conversation.id)] == ["First.", "One.", "Me too."]


async def test_a_conversation_is_free_again_after_a_request_that_failed() -> None:
    cut = hk.Fault("response.output_text.done", "abort")
    script("Lost.", "One.", faults=(cut,))
    conversation = await AsyncOpenAI().conversations.create()
    result = Runner.run_streamed(SUPPORT, "First.", conversation_id=conversation.id)
    with pytest.raises(Exception, match=r"(?i)connection|incomplete|closed|peer"):
        async for _ in result.stream_events():
            pass
    assert (await Runner.run(SUPPORT, "First.", conversation_id=conversation.id)).final_output == "One."
    assert await words(conversation.id) == [("user", "First."), ("assistant", "One.")]


@pytest.mark.parametrize("streamed", [False, True])
async def test_who_leaves_before_the_answer_is_answered_no_more_and_locks_nobody_out(streamed: bool) -> None:
    script("One.", faults=(hk.Fault("POST /v1/responses", "delay", seconds=600.0),))
    conversation = await AsyncOpenAI().conversations.create()
    create: Any = AsyncOpenAI().responses.create
    leaving = asyncio.create_task(create(model="gpt-5.2", input="Lost.", conversation=conversation.id, stream=streamed))
    fault = await anext(hk.log().follow("fault", idle_timeout=10))
    leaving.cancel()
    left = await anext(hk.log().follow("close", conn=fault.conn, idle_timeout=10))
    assert left.data["by"] == "drop"
    assert (await Runner.run(SUPPORT, "First.", conversation_id=conversation.id)).final_output == "One."
    assert locked() == []
    assert await words(conversation.id) == [("user", "First."), ("assistant", "One.")]


async def test_a_session_in_a_conversation_keeps_every_turn_once(transport: str) -> None:
    script(ORDER, ON_ITS_WAY, "You are welcome.")
    session = OpenAIConversationsSession(openai_client=AsyncOpenAI())
    await Runner.run(SUPPORT, "Where is it?", session=session)
    await Runner.run(SUPPORT, "Thanks.", session=session)
    assert [text for _, text in await words(session.session_id)] == [
        "Where is it?", ON_ITS_WAY, "Thanks.", "You are welcome.",
    ]  # fmt: skip


async def test_a_chain_sends_what_is_new_and_the_service_has_the_rest(transport: str) -> None:
    script(ORDER, ON_ITS_WAY, "You are welcome.")
    result = await Runner.run(SUPPORT, "Where is it?", auto_previous_response_id=True)
    again = await Runner.run(SUPPORT, "Thanks.", previous_response_id=result.last_response_id)
    assert again.final_output == "You are welcome."
    sent = [frame.data for frame in asked()]
    first, second = (response.response_id for response in result.raw_responses)
    assert [request.get("previous_response_id") for request in sent] == [None, first, second]
    assert [item.get("type", item.get("role")) for request in sent for item in request["input"]] == [
        "user", "function_call_output", "user",
    ]  # fmt: skip
    assert await given(again.last_response_id) == [
        "Where is it?", "function_call", "function_call_output", ON_ITS_WAY, "Thanks.",
    ]  # fmt: skip


async def test_a_chain_may_branch(transport: str) -> None:
    script("Red or blue?", "Red it is.", "Blue it is.")
    trunk = await Runner.run(SUPPORT, "Paint it.", auto_previous_response_id=True)
    branches = [
        await Runner.run(SUPPORT, text, previous_response_id=trunk.last_response_id) for text in ("Red.", "Blue.")
    ]
    assert [branch.final_output for branch in branches] == ["Red it is.", "Blue it is."]
    for branch, text in zip(branches, ("Red.", "Blue."), strict=True):
        assert await given(branch.last_response_id) == ["Paint it.", "Red or blue?", text]


async def gone_on_from(response_id: str) -> RunResult:
    return await Runner.run(SUPPORT, "Thanks.", previous_response_id=response_id)


async def test_a_response_that_there_is_not_cannot_be_gone_on_from(transport: str) -> None:
    error = BadRequestError if transport == "http" else ResponsesWebSocketError
    with pytest.raises(error, match="Previous response with id 'resp_x' not found") as refused:
        await gone_on_from("resp_x")
    assert getattr(refused.value, "code", None) == "previous_response_not_found"


async def test_what_is_not_stored_is_a_chain_on_one_socket_alone(transport: str) -> None:
    script(ORDER, ON_ITS_WAY, "You are welcome.")
    if transport == "http":
        with pytest.raises(BadRequestError, match="not found"):
            await Runner.run(UNSTORED, "Where is it?", auto_previous_response_id=True)
        return
    async with responses_websocket_session() as session:
        result = await session.run(UNSTORED, "Where is it?", auto_previous_response_id=True)
        again = await session.run(UNSTORED, "Thanks.", previous_response_id=result.last_response_id)
    assert again.final_output == "You are welcome."
    with pytest.raises(ResponsesWebSocketError, match="not found"):
        await gone_on_from(str(again.last_response_id))


async def test_a_chain_needs_the_output_of_its_call(transport: str) -> None:
    script(ORDER, ON_ITS_WAY)
    error = BadRequestError if transport == "http" else ResponsesWebSocketError
    called = await AsyncOpenAI().responses.create(model="gpt-5.2", input="Where is it?")
    with pytest.raises(error, match="No tool output found for function call call_"):
        await gone_on_from(called.id)


async def test_a_history_is_gone_on_with_after_another_connect(transport: str) -> None:
    script(ORDER, ON_ITS_WAY)
    result = await Runner.run(SUPPORT, "Where is it?")
    for turn in range(3):  # the first requests of a log would get the ids of the first requests of the one before
        script(ORDER, ON_ITS_WAY)
        result = await Runner.run(SUPPORT, [*result.to_input_list(), {"role": "user", "content": f"Sure? {turn}"}])
        assert result.final_output == ON_ITS_WAY
    items: list[Any] = result.to_input_list()
    ids = [item["id"] for item in items if item.get("id")]
    assert len(ids) == len(set(ids)) == 8


async def test_a_response_of_an_earlier_connect_is_not_there_any_more(transport: str) -> None:
    script("One.")
    earlier = (await Runner.run(SUPPORT, "Hello.")).last_response_id
    conversation = (await AsyncOpenAI().conversations.create()).id
    script("Two.", "Three.")
    later = (await Runner.run(SUPPORT, "Hello.")).last_response_id
    await AsyncOpenAI().conversations.create()
    assert later != earlier
    with pytest.raises((BadRequestError, ResponsesWebSocketError), match=f"'{earlier}' not found"):
        await gone_on_from(str(earlier))
    with pytest.raises(NotFoundError):
        await AsyncOpenAI().conversations.retrieve(conversation)
