"""The Responses API over WebSocket: openai-agents and the official client by their own transports, and bare sockets."""

import json
import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from agents import (
    Agent,
    ModelSettings,
    Runner,
    function_tool,
    responses_websocket_session,
    set_default_openai_client,
    set_default_openai_responses_transport,
    set_tracing_disabled,
)
from agents.models.openai_responses import ResponsesWebSocketError
from http_service import valid
from openai import AsyncOpenAI, BadRequestError
from openai.types.responses import ResponsesServerEvent
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

import handoffkit as hk
from handoffkit.connect import Endpoint, _message, current
from handoffkit.marks import Extraction

ORDER = hk.ToolCall("order_status", '{"number": 7}')
Event = dict[str, Any]

set_tracing_disabled(True)


@pytest.fixture(autouse=True)
def transport(connected: Endpoint) -> Iterator[None]:
    """Have openai-agents use WebSockets, with a client of this test's event loop."""
    set_default_openai_client(AsyncOpenAI(), use_for_tracing=False)
    set_default_openai_responses_transport("websocket")
    yield
    set_default_openai_responses_transport("http")


def script(*outputs: Any, faults: tuple[hk.Fault, ...] = ()) -> None:
    """Have these answered, in order, in a fresh log."""
    hk.connect(model=hk.ScriptedModel(outputs=outputs), faults=faults)


def handshakes() -> int:
    return len(hk.log().filter("open", channel="responses"))


def sent() -> list[Event]:
    return [frame.data for frame in hk.log().filter("response.create", channel="responses")]


@function_tool
def order_status(number: int) -> str:
    """Look an order up."""
    return f"Order {number} is on its way."


SUPPORT = Agent(name="Support", model="gpt-5.2", tools=[order_status])


async def test_a_run_makes_one_handshake_for_all_its_requests() -> None:
    script(ORDER, "It is on its way.", "You are welcome.")
    result = await Runner.run(SUPPORT, "Where is order 7?")
    assert result.final_output == "It is on its way."
    assert (handshakes(), len(sent())) == (1, 2)
    await Runner.run(SUPPORT, "Thanks.")
    assert (handshakes(), len(sent())) == (2, 3)
    closes = hk.log().follow("close", channel="responses", idle_timeout=10)
    assert [(await anext(closes)).conn for _ in range(2)] == ["c1", "c2"]


async def test_a_session_makes_one_handshake_for_all_its_runs() -> None:
    script(ORDER, "It is on its way.", "You are welcome.")
    async with responses_websocket_session() as session:
        result = await session.run(SUPPORT, "Where is order 7?")
        streamed = session.run_streamed(SUPPORT, "Thanks.", previous_response_id=result.last_response_id)
        kinds = [event.data.type async for event in streamed.stream_events() if event.type == "raw_response_event"]
    assert streamed.final_output == "You are welcome."
    assert (kinds[0], kinds[-1]) == ("response.created", "response.completed")
    assert handshakes() == 1
    assert [request.get("previous_response_id") for request in sent()] == [None, None, result.last_response_id]
    assert len(sent()[-1]["input"]) == 1, "the service has the rest"


async def test_an_agent_that_is_used_as_a_tool_shares_the_session() -> None:
    script(hk.ToolCall("ask_stock", '{"input": "7"}'), "There are two.", "Two are left.")
    stock = Agent(name="Stock", model="gpt-5.2").as_tool("ask_stock", "Ask what is left.")
    async with responses_websocket_session() as session:
        result = await session.run(Agent(name="Front", model="gpt-5.2", tools=[stock]), "Is it there?")
    assert result.final_output == "Two are left."
    assert (handshakes(), len(sent())) == (1, 3)


async def test_the_events_are_those_of_a_stream_over_http() -> None:
    script(*[[hk.Reasoning("Well."), ORDER]] * 2)
    asked: Any = {"model": "gpt-5.2", "input": "Hello", "reasoning": {"summary": "auto"}}
    client = AsyncOpenAI()
    over_http = [event.type async for event in await client.responses.create(**asked, stream=True)]
    async with client.responses.connect() as connection:
        await connection.response.create(**asked)
        over_socket = [event.type for event in [await connection.recv() for _ in over_http]]
    assert over_socket == over_http


async def test_what_is_not_stored_can_be_gone_on_from_in_its_connection_alone() -> None:
    script("One.", "Two.", "Three.")
    client = AsyncOpenAI()
    async with client.responses.connect() as connection:
        first = await completed(connection, input="Begin.", store=False)
        second = await completed(connection, input="Go on.", store=False, previous_response_id=first)
        assert await error(connection, input="Back.", previous_response_id=first) == "previous_response_not_found"
        third = await completed(connection, input="Go on.", store=False, previous_response_id=second)
    async with client.responses.connect() as connection:
        assert await error(connection, input="Go on.", previous_response_id=third) == "previous_response_not_found"
    with pytest.raises(BadRequestError, match="not found"):
        await client.responses.create(model="gpt-5.2", input="Go on.", previous_response_id=third)


async def completed(connection: Any, **request: Any) -> str:
    """Have a response made and return its id."""
    await connection.response.create(model="gpt-5.2", **request)
    while (event := await connection.recv()).type != "response.completed":
        assert event.type != "error", event
    return str(event.response.id)


async def error(connection: Any, **request: Any) -> str | None:
    """Have a request refused and return the error's code."""
    await connection.response.create(model="gpt-5.2", **request)
    event = await connection.recv()
    assert (event.type, event.status) == ("error", 400)
    code: str | None = event.error.code
    return code


@asynccontextmanager
async def bare(**headers: str) -> AsyncIterator[ClientConnection]:
    """Open a socket as a program without an SDK would."""
    url = current().base_url.replace("http", "ws", 1) + "/responses"
    own = {"Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}", **headers}
    async with connect(url, additional_headers=own, open_timeout=10, close_timeout=10) as socket:
        yield socket


def create(text: str = "Hello", **fields: Any) -> str:
    return json.dumps({"type": "response.create", "model": "gpt-5.2", "input": text, **fields})


async def until_ended(socket: ClientConnection, responses: int = 1) -> list[Event]:
    """Return the events of the next responses, each held against the official types."""
    found: list[Event] = []
    while responses:
        found.append(json.loads(await socket.recv()))
        valid(ResponsesServerEvent, found[-1])
        responses -= found[-1]["type"] in ("response.completed", "response.failed", "response.incomplete", "error")
    return found


def text_of(events: list[Event]) -> str:
    return "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")


async def test_what_is_refused_leaves_the_connection_as_it_was() -> None:
    script("Hi.")
    async with bare() as socket:
        for frame in (
            "{",
            b"\x00",
            '{"type": "response.cancel"}',
            create(model=None),
            create(previous_response_id="x"),
        ):
            await socket.send(frame)
            [refused] = await until_ended(socket)
            assert (refused["type"], refused["status"]) == ("error", 400)
        await socket.send(create())
        assert text_of(await until_ended(socket)) == "Hi."
    errors = [frame for frame in hk.log() if frame.event == "error"]
    assert len(errors) == 5


async def test_half_a_surrogate_pair_and_a_deep_nest_come_back_or_are_refused() -> None:
    hk.connect(model=hk.ScriptedModel(outputs=["Hi."], repeat=True))
    async with bare() as socket:
        await socket.send(create("\ud83d", instructions="half \ud83d"))
        assert (await until_ended(socket))[-1]["response"]["instructions"] == "half \ud83d"
        nest: Any = {}
        for _ in range(300):
            nest = {"a": nest}
        await socket.send(create(tools=[{"type": "function", "name": "f", "parameters": {"properties": nest}}]))
        assert (await until_ended(socket))[-1]["type"] in ("response.completed", "error")
        await socket.send(create())
        assert text_of(await until_ended(socket)) == "Hi."


async def test_a_used_up_script_is_refused_and_a_broken_model_fails() -> None:
    script("One.", faults=(hk.Fault("response.completed", "patch", data={"response": {"metadata": {"seen": "yes"}}}),))
    async with bare() as socket:
        await socket.send(create())
        assert (await until_ended(socket))[-1]["response"]["metadata"] == {"seen": "yes"}
        await socket.send(create())
        [refused] = await until_ended(socket)
        assert refused["error"]["code"] == "script_exhausted"
    hk.connect(model=hk.TextModel("llama3.2", upstream="http://127.0.0.1:9/v1"))
    async with bare() as socket:
        await socket.send(create())
        events = await until_ended(socket)
        assert [event["type"] for event in events] == ["response.created", "response.in_progress", "response.failed"]


async def test_requests_of_a_lane_follow_one_another_and_lanes_do_not_wait_for_each_other() -> None:
    script("One.", "Two.", "Three.", faults=(hk.Fault("response.created", "delay", seconds=0.5),))
    async with bare() as socket:
        await socket.send(create())
        await socket.send(create())
        await socket.send(create(stream_id="side"))
        events = await until_ended(socket, 3)
    side = [event for event in events if event.get("stream_id") == "side"]
    assert events[: len(side)] == side, "the one that is held up holds nobody else up"
    rest = events[len(side) :]
    ends = [place for place, event in enumerate(rest) if event["type"] == "response.completed"]
    assert [event["type"] for event in rest].index("response.created", 1) == ends[0] + 1
    assert len({event["response"]["id"] for event in events if event["type"] == "response.completed"}) == 3


async def test_a_request_may_only_prepare_the_next_one() -> None:
    script("Hi.")
    async with bare() as socket:
        await socket.send(create("My name is Ada.", generate=False, store=False))
        prepared = await until_ended(socket)
        assert [event["type"] for event in prepared][-1] == "response.completed"
        assert (prepared[-1]["response"]["output"], prepared[-1]["response"]["usage"]["output_tokens"]) == ([], 0)
        await socket.send(create("Who am I?", previous_response_id=prepared[-1]["response"]["id"]))
        answered = await until_ended(socket)
    assert text_of(answered) == "Hi."
    assert answered[-1]["response"]["usage"]["input_tokens"] > prepared[-1]["response"]["usage"]["input_tokens"]


async def test_a_connection_ends_with_its_hour() -> None:
    hk.connect(session_seconds=0.2)
    async with bare() as socket:
        [ended] = await until_ended(socket)
        assert ended["error"]["code"] == "websocket_connection_limit_reached"
        with pytest.raises(ConnectionClosed):
            await socket.recv()
    assert hk.log()[-1].event == "close"


async def test_a_handshake_can_be_refused() -> None:
    script("Hi.", faults=(hk.Fault("open", "status", status=429),))
    with pytest.raises(InvalidStatus) as refused:
        await Runner.run(SUPPORT, "Hello")
    assert refused.value.response.status_code == 429
    await anext(hk.log().follow("close", idle_timeout=10))
    assert [frame.event for frame in hk.log()] == ["open", "fault", "429", "close"]
    assert (await Runner.run(SUPPORT, "Hello")).final_output == "Hi."


async def test_a_request_can_be_refused() -> None:
    script("Hi.", faults=(hk.Fault("response.create", "status", direction="client", status=429),))
    with pytest.raises(ResponsesWebSocketError, match="A fault was asked for") as refused:
        await Runner.run(SUPPORT, "Hello")
    assert (refused.value.payload["status"], refused.value.error_type) == (429, "server_error")
    assert (await Runner.run(SUPPORT, "Hello")).final_output == "Hi."


@pytest.mark.parametrize("action", ["close", "abort"])
async def test_a_connection_that_ends_in_the_middle_is_an_error(action: Any) -> None:
    script("Hi.", faults=(hk.Fault("response.output_text.done", action),))
    with pytest.raises(ConnectionClosed):
        await Runner.run(SUPPORT, "Hello")


async def test_events_can_be_dropped_and_held_up() -> None:
    faults = (
        hk.Fault("response.output_text.delta", "drop", nth=0),
        hk.Fault("response.create", "delay", 1, "client", 0.1),
    )
    script("Hi.", faults=faults)
    assert (await Runner.run(SUPPORT, "Hello")).final_output == "Hi.", "the last event has all of it"
    assert [frame.data["action"] for frame in hk.log() if frame.event == "fault"] == ["delay", "drop", "drop"]


async def test_a_stranger_is_refused() -> None:
    for headers, status in (({"Authorization": "Bearer sk-wrong"}, 401), ({"Origin": "https://evil.example"}, 403)):
        with pytest.raises(InvalidStatus) as refused:
            async with bare(**headers):
                pass
        assert refused.value.response.status_code == status


async def test_requests_of_a_handoff_are_attempts() -> None:
    script("Hi.", "Again.")
    labelled = SUPPORT.clone(model_settings=ModelSettings(extra_headers={"x-handoffkit-handoff": "handoff-7"}))
    async with responses_websocket_session() as session:
        await session.run(labelled, "Hello")
        await session.run(labelled, "Hello")
    marks = [mark for mark in hk.log().marks if isinstance(mark, Extraction)]
    assert [(mark.label, mark.attempt, mark.status) for mark in marks] == [
        ("handoff-7", 1, "ok"),
        ("handoff-7", 2, "ok"),
    ]


@pytest.fixture
def service() -> Iterator[Endpoint]:
    """Return another endpoint process, which plays the service."""
    endpoint = Endpoint()
    yield endpoint
    endpoint.stop()


async def test_live_frames_pass_both_ways(service: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    service.configure(_message("simulated", hk.ScriptedModel(outputs=[ORDER, "From upstream."]), None, ()))
    live(service.base_url, service.token, monkeypatch)
    assert (await Runner.run(SUPPORT, "Where is order 7?")).final_output == "From upstream."
    here, there = hk.log(), hk.EventLog(service.folder)
    passed = [(frame.dir, frame.event, frame.data) for frame in here if frame.event not in ("open", "close")]
    arrived = [(frame.dir, frame.event, frame.data) for frame in there if frame.event not in ("open", "close")]
    assert passed == arrived
    assert len(passed) > 10


async def test_an_upstream_that_speaks_http_alone_is_named(service: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    service.configure(_message("simulated", None, None, ()))
    live(f"{service.base_url}/elsewhere", service.token, monkeypatch)
    with pytest.raises(InvalidStatus) as refused:
        await Runner.run(SUPPORT, "Hello")
    assert refused.value.response.status_code == 501
    said = next(frame for frame in hk.log() if frame.event == "501").data["error"]
    assert said["code"] == "websocket_not_supported"
    assert 'set_default_openai_responses_transport("http")' in said["message"]


def live(upstream: str, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    hk.disconnect()
    monkeypatch.setenv("OPENAI_API_KEY", key)
    hk.connect("live", upstream=upstream)
    set_default_openai_client(AsyncOpenAI(), use_for_tracing=False)
