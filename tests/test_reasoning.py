"""What a model thinks: the item that shows it, its tokens, and what the service refuses when it stands alone."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import openai
import pytest
from agents import (
    Agent,
    ModelSettings,
    RunConfig,
    Runner,
    RunResult,
    function_tool,
    set_default_openai_client,
    set_tracing_disabled,
)
from http_service import FRANCE, NOW, valid
from openai.types.responses import Response, ResponseStreamEvent
from openai.types.shared import Reasoning
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.messages import ModelMessage, ModelResponse, ThinkingPart
from pydantic_ai.models.openai import OpenAIResponsesModelSettings

import handoffkit as hk
from handoffkit.connect import Endpoint
from handoffkit.endpoint.models.prompt import Reply
from handoffkit.endpoint.protocol import responses
from handoffkit.endpoint.protocol.api_error import ApiError
from handoffkit.endpoint.protocol.ids import Ids
from handoffkit.endpoint.protocol.store import Store

THOUGHT = "I have to look the order up."
THINKING = [hk.Reasoning(THOUGHT), hk.ToolCall("order_status", '{"number": 7}')]
ON_ITS_WAY = "Order 7 is on its way."
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "Paris"}
ALONE = r"Item 'rs_\w+' of type 'reasoning' was provided without its required following item\."
UNTHOUGHT = r"of type '%s' was provided without its required 'reasoning' item: 'rs_\w+'\."

set_tracing_disabled(True)


class Desk:
    """A service that thinks; each request of a test gets an answer with or without it."""

    def __init__(self) -> None:
        self.store, self._ids = Store(), Ids("s")

    def answer(self, reply: Reply, **body: Any) -> dict[str, Any]:
        asked = responses.ask({"model": "gpt-5.2", "input": "Hello", **body}, self.store)
        response = responses.complete(asked, reply, self._ids, NOW)
        valid(Response, response)
        return response

    def thought(self, reply: Reply, **body: Any) -> list[dict[str, Any]]:
        """Return the items of an answer that was thought about."""
        output: list[dict[str, Any]] = self.answer(replace(reply, reasoning=(THOUGHT,)), **body)["output"]
        return output

    def refusal(self, items: Sequence[Any], **body: Any) -> ApiError:
        with pytest.raises(ApiError) as caught:
            responses.ask({"model": "gpt-5.2", "input": list(items), **body}, self.store)
        return caught.value


def without(item: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name not in names}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def test_the_words_of_a_thought_are_sent_where_a_summary_is_asked_for() -> None:
    silent, message = Desk().thought(Reply("Paris."))
    assert set(silent) == {"id", "type", "summary", "encrypted_content"}
    assert (silent["type"], silent["summary"], message["type"]) == ("reasoning", [], "message")
    told, _ = Desk().thought(Reply("Paris."), reasoning={"summary": "auto"})
    assert told == {**silent, "summary": [{"type": "summary_text", "text": THOUGHT}]}


def test_what_a_model_thinks_counts_as_written() -> None:
    plain = Desk().answer(Reply("Paris."))["usage"]
    thought = Desk().answer(Reply("Paris.", reasoning=("x" * 40, "y" * 40)))["usage"]
    assert thought["output_tokens_details"]["reasoning_tokens"] == 20
    assert thought["output_tokens"] == plain["output_tokens"] + 20
    assert thought["total_tokens"] == plain["total_tokens"] + 20


def test_thoughts_that_use_all_tokens_up_are_all_there_is() -> None:
    response = Desk().answer(Reply("Paris.", reasoning=("x" * 400,)), max_output_tokens=16)
    assert (response["status"], response["incomplete_details"]) == ("incomplete", {"reason": "max_output_tokens"})
    assert [(item["type"], item["status"]) for item in response["output"]] == [("reasoning", "incomplete")]
    cut = Desk().answer(Reply("word " * 100, reasoning=("x" * 40,)), max_output_tokens=16)
    assert [item["type"] for item in cut["output"]] == ["reasoning", "message"]
    assert len(cut["output"][1]["content"][0]["text"]) == 24


def test_a_streamed_thought_has_the_official_sequence() -> None:
    asked = responses.ask({"model": "m", "input": "x", "stream": True, "reasoning": {"summary": "auto"}}, Store())
    found = list(responses.stream(asked, Reply("Paris.", reasoning=(THOUGHT, "So I will.")), Ids("s"), NOW))
    for event in found:
        valid(ResponseStreamEvent, event)
    own = [event for event in found if event.get("output_index") == 0]
    part = ["added", "text.delta", "text.done", "part.done"]
    kinds = list(dict.fromkeys((event.get("summary_index"), event["type"].rpartition("summary_")[2]) for event in own))
    assert kinds[0] == (None, "response.output_item.added")
    assert [kind.removeprefix("part.") if kind == "part.added" else kind for _, kind in kinds[1:-1]] == part * 2
    assert kinds[-1] == (None, "response.output_item.done")
    assert own[0]["item"]["summary"] == []
    deltas = "".join(event["delta"] for event in own if event["type"] == "response.reasoning_summary_text.delta")
    assert deltas == THOUGHT + "So I will."
    assert own[-1]["item"] == found[-1]["response"]["output"][0]


@pytest.mark.parametrize("reply", [Reply("Paris."), Reply("", (FRANCE,))], ids=["words", "call"])
def test_thought_and_answer_that_stand_together_are_taken(reply: Reply) -> None:
    desk = Desk()
    output = desk.thought(reply)
    answers = [{**OUTPUT, "call_id": item["call_id"]} for item in output if "call_id" in item]
    given = [user("Capital?"), *output, *answers, user("Sure?")]
    assert desk.answer(Reply("Yes."), input=given)["status"] == "completed"
    assert desk.answer(Reply("Yes."), input=[without(item, "id") for item in given])["status"] == "completed"
    references = [{"type": "item_reference", "id": item["id"]} for item in output]
    assert desk.answer(Reply("Yes."), input=[*references, *answers])["status"] == "completed"


def test_a_thought_without_what_followed_it_is_refused() -> None:
    desk = Desk()
    thought, message = desk.thought(Reply("Paris."))
    sentence = f"Item '{thought['id']}' of type 'reasoning' was provided without its required following item."
    for rest in ([], [user("Sure?")], [without(message, "id")], [user("Sure?"), message]):
        error = desk.refusal([user("Capital?"), thought, *rest])
        assert (error.message, error.status, error.code, error.param) == (sentence, 400, None, "input")
    assert desk.answer(Reply("Yes."), input=[user("Capital?"), without(thought, "id")])


@pytest.mark.parametrize("reply", [Reply("Paris."), Reply("", (FRANCE, FRANCE))], ids=["message", "function_call"])
def test_an_answer_without_its_thought_is_refused(reply: Reply) -> None:
    desk = Desk()
    thought, *rest = desk.thought(reply)
    answers = [{**OUTPUT, "call_id": item["call_id"]} for item in rest if "call_id" in item]
    lacks = f"was provided without its required 'reasoning' item: '{thought['id']}'."
    sentence = f"Item '{rest[0]['id']}' of type '{rest[0]['type']}' {lacks}"
    for given in ([], [without(thought, "id")]):
        assert desk.refusal([*given, *rest, *answers]).message == sentence
    assert desk.answer(Reply("Yes."), input=[without(item, "id") for item in [*rest, *answers]])


def test_a_thought_that_was_not_stored_is_known_by_its_encrypted_content() -> None:
    desk = Desk()
    thought, message = desk.thought(Reply("Paris."), store=False)
    assert desk.answer(Reply("Yes."), input=[thought, message])
    error = desk.refusal([without(thought, "encrypted_content"), message])
    assert (error.status, error.message[:44]) == (404, f"Item with id '{thought['id']}' not found."[:44])
    stored, message = desk.thought(Reply("Paris."))
    assert desk.answer(Reply("Yes."), input=[without(stored, "encrypted_content"), message])


def test_a_thought_of_another_service_is_held_to_less() -> None:
    thought = {"type": "reasoning", "id": "rs_x", "summary": []}
    assert Desk().answer(Reply("Yes."), input=[thought, {"role": "assistant", "content": "Paris."}])
    for rest in ([], [user("Sure?")]):
        assert Desk().refusal([thought, *rest]).message.startswith("Item 'rs_x' of type 'reasoning' was provided")


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({}, "Missing required parameter: 'input[0].summary'."),
        ({"summary": ["x"]}, "Invalid type for 'input[0].summary[0]': expected an object, but got a string instead."),
        ({"summary": [], "id": []}, "Invalid type for 'input[0].id': expected a string, but got an array instead."),
        ({"summary": [], "words": "x"}, "Unknown parameter: 'input[0].words'."),
    ],
)
def test_a_thought_that_is_not_in_order_is_refused(item: dict[str, Any], message: str) -> None:
    assert Desk().refusal([{"type": "reasoning", **item}]).message == message


def test_the_service_remembers_what_belongs_together() -> None:
    desk = Desk()
    first = desk.answer(Reply("", (FRANCE,), (THOUGHT,)))
    output = {**OUTPUT, "call_id": first["output"][1]["call_id"]}
    assert desk.answer(Reply("Paris."), input=[output], previous_response_id=first["id"])
    cut = desk.answer(Reply("Paris.", reasoning=("x" * 400,)), max_output_tokens=16)
    assert "following item" in desk.refusal([user("Go on.")], previous_response_id=cut["id"]).message


@pytest.fixture
def client(connected: Endpoint) -> None:
    """Give the SDK a client of this test's event loop."""
    set_default_openai_client(openai.AsyncOpenAI(), use_for_tracing=False)


@function_tool
def order_status(number: int) -> str:
    """Look an order up."""
    return ON_ITS_WAY


SUMMARY = ModelSettings(reasoning=Reasoning(effort="low", summary="auto"))
SUPPORT = Agent(name="Support", model="gpt-5.2", tools=[order_status], model_settings=SUMMARY)


def script(*outputs: Any) -> None:
    """Have these answered, in order, in a fresh log."""
    hk.connect(model=hk.ScriptedModel(outputs=outputs))


def asked() -> list[dict[str, Any]]:
    return [frame.data for frame in hk.log() if frame.event == "POST /v1/responses"]


@pytest.mark.parametrize("store", [True, False])
async def test_agents_send_back_what_they_were_sent(client: None, store: bool) -> None:
    script(THINKING, [hk.Reasoning("That is good."), ON_ITS_WAY], "You are welcome.")
    agent = SUPPORT.clone(model_settings=SUMMARY.resolve(ModelSettings(store=store)))
    result = await Runner.run(agent, "Where is it?")
    assert result.final_output == ON_ITS_WAY
    assert [item.type for item in result.new_items] == [
        "reasoning_item", "tool_call_item", "tool_call_output_item", "reasoning_item", "message_output_item",
    ]  # fmt: skip
    assert result.context_wrapper.usage.output_tokens_details.reasoning_tokens > 5
    again = await Runner.run(agent, [*result.to_input_list(), {"role": "user", "content": "Thanks."}])
    assert again.final_output == "You are welcome."
    thoughts = [item for item in asked()[-1]["input"] if item.get("type") == "reasoning"]
    assert [item["summary"][0]["text"] for item in thoughts] == [THOUGHT, "That is good."]
    assert all(item["id"] and item["encrypted_content"] for item in thoughts)


async def test_agents_stream_a_thought(client: None) -> None:
    script([hk.Reasoning(THOUGHT), "Paris."])
    result = Runner.run_streamed(SUPPORT, "Capital of France?")
    raw = [event.data async for event in result.stream_events() if event.type == "raw_response_event"]
    assert "".join(event.delta for event in raw if event.type == "response.reasoning_summary_text.delta") == THOUGHT
    assert result.final_output == "Paris."


async def answer_cut_off(policy: Any) -> RunResult:
    """Have a question answered, take the answer away, and ask for another one."""
    script([hk.Reasoning(THOUGHT), "Paris."], "It is Paris.")
    config = RunConfig(reasoning_item_id_policy=policy)
    history = (await Runner.run(SUPPORT, "Capital of France?", run_config=config)).to_input_list()
    return await Runner.run(SUPPORT, history[:-1], run_config=config)


async def test_a_history_that_ends_in_a_thought_is_refused_unless_its_id_is_left_out(client: None) -> None:
    with pytest.raises(openai.BadRequestError, match=ALONE):
        await answer_cut_off("preserve")
    assert (await answer_cut_off("omit")).final_output == "It is Paris."


@pytest.mark.parametrize(
    ("earlier", "since"),
    [("Paris.", [[hk.Reasoning(THOUGHT), "Hello."]]), ([hk.Reasoning(THOUGHT), "Paris."], [THINKING, ON_ITS_WAY])],
    ids=["words", "thought"],
)
async def test_a_history_of_an_earlier_connect_owes_nothing_to_what_is_thought_since(
    client: None, earlier: Any, since: list[Any]
) -> None:
    script(earlier)
    history = (await Runner.run(SUPPORT, "Capital of France?")).to_input_list()
    script(*since, "It is Paris.")
    await Runner.run(SUPPORT, "Where is it?")
    again = await Runner.run(SUPPORT, [*history, {"role": "user", "content": "Sure?"}])
    assert again.final_output == "It is Paris."


async def test_leaving_out_the_id_of_a_thought_leaves_its_call_alone(client: None) -> None:
    script(THINKING, ON_ITS_WAY)
    with pytest.raises(openai.BadRequestError, match=UNTHOUGHT % "function_call"):
        await Runner.run(SUPPORT, "Where is it?", run_config=RunConfig(reasoning_item_id_policy="omit"))


SETTINGS = OpenAIResponsesModelSettings(openai_reasoning_effort="low", openai_reasoning_summary="detailed")


def pydantic_agent() -> PydanticAgent[None, str]:
    agent = PydanticAgent("openai:gpt-5.2", model_settings=SETTINGS)

    @agent.tool_plain
    def order_status(number: int) -> str:
        """Look an order up."""
        return ON_ITS_WAY

    return agent


def thoughts_of(messages: list[ModelMessage]) -> list[ThinkingPart]:
    parts = [part for message in messages if isinstance(message, ModelResponse) for part in message.parts]
    return [part for part in parts if isinstance(part, ThinkingPart)]


async def test_pydantic_ai_sends_back_what_it_was_sent(connected: Endpoint) -> None:
    script(THINKING, [hk.Reasoning("That is good."), ON_ITS_WAY], "You are welcome.")
    agent = pydantic_agent()
    result = await agent.run("Where is it?")
    assert result.output == ON_ITS_WAY
    thoughts = thoughts_of(result.all_messages())
    assert [part.content for part in thoughts] == [THOUGHT, "That is good."]
    assert all(part.id and part.signature for part in thoughts)
    assert (await agent.run("Thanks.", message_history=result.all_messages())).output == "You are welcome."
    assert [item["id"] for item in asked()[-1]["input"] if item.get("type") == "reasoning"] == [
        part.id for part in thoughts
    ]


async def test_pydantic_ai_streams_a_thought(connected: Endpoint) -> None:
    script([hk.Reasoning(THOUGHT), "Paris."])
    async with pydantic_agent().run_stream("Capital of France?") as result:
        assert await result.get_output() == "Paris."
    assert [part.content for part in thoughts_of(result.all_messages())] == [THOUGHT]


async def test_pydantic_ai_without_a_thought_of_its_history_has_to_leave_the_ids_out(connected: Endpoint) -> None:
    script([hk.Reasoning(THOUGHT), "Paris."], "You are welcome.")
    agent = pydantic_agent()
    question, answer = (await agent.run("Capital of France?")).all_messages()
    assert isinstance(answer, ModelResponse)
    history = [question, replace(answer, parts=answer.parts[1:])]
    with pytest.raises(ModelHTTPError, match=UNTHOUGHT % "message"):
        await agent.run("Thanks.", message_history=history)
    bare = OpenAIResponsesModelSettings(openai_send_reasoning_ids=False)
    assert (await agent.run("Thanks.", message_history=history, model_settings=bare)).output == "You are welcome."


async def test_chat_completions_tell_of_thoughts_as_tokens_alone(connected: Endpoint) -> None:
    script([hk.Reasoning("x" * 40), "Paris."])
    messages: Any = [{"role": "user", "content": "Capital?"}]
    answer = await openai.AsyncOpenAI().chat.completions.create(model="gpt-5.2", messages=messages)
    assert answer.choices[0].message.content == "Paris."
    assert answer.usage is not None
    assert answer.usage.completion_tokens_details is not None
    assert answer.usage.completion_tokens_details.reasoning_tokens == 10
