"""The Responses API over WebSocket as pydantic-ai uses it: one socket a run, lanes for runs side by side."""

import asyncio
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.exceptions import ModelConnectionError, ModelHTTPError
from pydantic_ai.models.openai import OpenAIResponsesModel, OpenAIResponsesModelSettings
from pydantic_ai.profiles.openai import OpenAIModelProfile

import handoffkit as hk
from handoffkit.connect import Endpoint
from handoffkit.marks import Extraction

ORDER = hk.ToolCall("order_status", '{"number": 7}')
ON_ITS_WAY = "Order 7 is on its way."
Event = dict[str, Any]


@pytest.fixture(autouse=True)
def endpoint(connected: Endpoint) -> Endpoint:
    return connected


def agent(model: OpenAIResponsesModel | str = "openai:gpt-5.2", **settings: Any) -> Agent[None, str]:
    """Return an agent with a tool that asks over a socket."""
    over: Any = OpenAIResponsesModelSettings(openai_transport="websocket") | settings
    made = Agent(model, model_settings=over)

    @made.tool_plain
    def order_status(number: int) -> str:
        """Look an order up."""
        return ON_ITS_WAY

    return made


def script(*outputs: Any, faults: tuple[hk.Fault, ...] = ()) -> None:
    """Have these answered, in order, in a fresh log."""
    hk.connect(model=hk.ScriptedModel(outputs=outputs), faults=faults)


def handshakes() -> int:
    return len(hk.log().filter("open", channel="responses"))


def sent() -> list[Event]:
    return [frame.data for frame in hk.log().filter("response.create", channel="responses")]


@pytest.mark.parametrize("store", [True, False])
async def test_a_run_sends_what_is_new_on_one_socket(store: bool) -> None:
    script([hk.Reasoning("I have to look."), ORDER], ON_ITS_WAY, "You are welcome.")
    asking = agent(openai_store=store)
    result = await asking.run("Where is order 7?")
    assert result.output == ON_ITS_WAY
    assert handshakes() == 1
    assert [item.get("type", item.get("role")) for item in sent()[1]["input"]] == ["function_call_output"]
    assert (await asking.run("Thanks.", message_history=result.all_messages())).output == "You are welcome."
    assert handshakes() == 2
    again = [item.get("type", item.get("role")) for item in sent()[2]["input"]]
    assert again == (
        ["user"] if store else ["user", "reasoning", "function_call", "function_call_output", "message", "user"]
    ), "what is not stored went with its socket, so the history is sent whole"


async def test_a_model_that_is_entered_keeps_its_socket() -> None:
    script("One.", "Two.")
    model = OpenAIResponsesModel("gpt-5.2")
    async with model:
        assert (await agent(model).run("First.")).output == "One."
        async with agent(model).run_stream("Second.") as stream:
            assert await stream.get_output() == "Two."
    assert (handshakes(), len(sent())) == (1, 2)


async def test_runs_side_by_side_have_a_lane_each() -> None:
    script("One.", "Two.", "Three.", faults=(hk.Fault("response.created", "delay", nth=0, seconds=0.3),))
    profile = OpenAIModelProfile(openai_responses_supports_websocket_stream_id=True)
    model = OpenAIResponsesModel("gpt-5.2", profile=profile)
    async with model:
        results = await asyncio.gather(*(agent(model).run(text) for text in ("First.", "Second.", "Third.")))
    assert sorted(result.output for result in results) == ["One.", "Three.", "Two."]
    assert handshakes() == 1
    lanes = {request.get("stream_id") for request in sent()}
    assert lanes == {None, "lane-1", "lane-2"}
    said = {frame.data.get("stream_id") for frame in hk.log().filter("response.completed")}
    assert said == lanes


async def test_a_request_that_is_refused_on_its_lane_is_sent_again() -> None:
    held_up = hk.Fault("response.created", "delay", seconds=0.3)
    script("One.", "Two.", faults=(held_up, hk.Fault("response.create", "status", 2, "client", status=429)))
    profile = OpenAIModelProfile(openai_responses_supports_websocket_stream_id=True)
    async with asyncio.timeout(60), OpenAIResponsesModel("gpt-5.2", profile=profile) as model:
        results = await asyncio.gather(*(agent(model).run(text) for text in ("First.", "Second.")))
    assert sorted(result.output for result in results) == ["One.", "Two."]
    [refused] = hk.log().filter("error")
    assert (refused.data["status"], refused.data["stream_id"]) == (429, "lane-1")


async def test_a_request_that_is_refused_for_a_while_is_sent_again() -> None:
    script("One.", faults=(hk.Fault("response.create", "status", direction="client", status=429),))
    assert (await agent().run("First.")).output == "One."
    assert (handshakes(), len(sent())) == (1, 2)


async def test_a_refusal_is_what_it_is_over_http() -> None:
    script("One.")
    with pytest.raises(ModelHTTPError, match="Previous response with id 'resp_x' not found") as refused:
        await agent(openai_previous_response_id="resp_x").run("First.")
    assert refused.value.status_code == 400


async def test_a_handshake_that_is_refused_is_what_it_is_over_http() -> None:
    script("One.", faults=(hk.Fault("open", "status", nth=0, status=401),))
    with pytest.raises(ModelHTTPError) as refused:
        await agent().run("First.")
    assert refused.value.status_code == 401


async def test_a_socket_that_is_cut_in_the_middle_is_an_error() -> None:
    script("One.", faults=(hk.Fault("response.output_text.done", "abort"),))
    with pytest.raises(ModelConnectionError, match="interrupted"):
        await agent().run("First.")


async def test_requests_of_a_handoff_are_attempts() -> None:
    script(ORDER, ON_ITS_WAY)
    await agent(extra_headers={"x-handoffkit-handoff": "handoff-7"}).run("Where is order 7?")
    marks = [mark for mark in hk.log().marks if isinstance(mark, Extraction)]
    assert [(mark.label, mark.attempt, mark.status) for mark in marks] == [
        ("handoff-7", 1, "ok"),
        ("handoff-7", 2, "ok"),
    ]
