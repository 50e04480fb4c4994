"""The Responses API as pure functions, held against the official types and against both SDKs."""

import json
from typing import Any

import pytest
from http_service import FRANCE, GET_CAPITAL, NOW, valid
from hypothesis import given
from hypothesis import strategies as st
from openai.types.responses import Response, ResponseStreamEvent

from handoffkit.endpoint.models.prompt import Message, Prompt, Reply, Tool, ToolCall, ToolResult
from handoffkit.endpoint.protocol import responses
from handoffkit.endpoint.protocol.api_error import ApiError
from handoffkit.endpoint.protocol.deltas import obfuscation, pieces
from handoffkit.endpoint.protocol.ids import Ids
from handoffkit.endpoint.protocol.store import Conversation, Store

Event = dict[str, Any]


def asked(memory: Store | None = None, **body: Any) -> responses.Ask:
    return responses.ask({"model": "gpt-5.2", "input": "Hello", **body}, memory or Store())


def prompt(**body: Any) -> Prompt:
    return asked(**body).prompt


def answer(reply: Reply, memory: Store | None = None, seed: str = "s", **body: Any) -> dict[str, Any]:
    response = responses.complete(asked(memory, **body), reply, Ids(seed), NOW)
    valid(Response, response)
    return response


def events(reply: Reply, memory: Store | None = None, **body: Any) -> list[Event]:
    found = list(responses.stream(asked(memory, stream=True, **body), reply, Ids("s"), NOW))
    for event in found:
        valid(ResponseStreamEvent, event)
    return found


def refusal(**body: Any) -> ApiError:
    with pytest.raises(ApiError) as caught:
        asked(**body)
    return caught.value


def test_a_whole_response_has_the_fields_and_defaults_that_were_recorded() -> None:
    response = answer(Reply("Hello there."))
    assert response["output"][0]["content"] == [
        {"type": "output_text", "annotations": [], "logprobs": [], "text": "Hello there."}
    ]
    assert response["created_at"] == response["completed_at"] == int(NOW)
    expected = {
        "object": "response", "status": "completed", "background": False, "error": None, "incomplete_details": None,
        "instructions": None, "max_output_tokens": None, "max_tool_calls": None, "model": "gpt-5.2",
        "parallel_tool_calls": True, "previous_response_id": None, "reasoning": {"effort": None, "summary": None},
        "service_tier": "default", "store": True, "temperature": 1.0, "tool_choice": "auto", "tools": [],
        "text": {"format": {"type": "text"}, "verbosity": "medium"}, "top_p": 1.0, "truncation": "disabled",
        "user": None, "metadata": {}, "prompt_cache_key": None, "safety_identifier": None, "top_logprobs": 0,
        "moderation": None, "frequency_penalty": 0.0, "presence_penalty": 0.0, "prompt_cache_retention": None,
    }  # fmt: skip
    assert {name: response[name] for name in expected} == expected


def test_what_was_asked_is_given_back() -> None:
    sent: dict[str, Any] = {
        "instructions": "Be brief.", "temperature": 0.5, "top_p": 0.9, "max_output_tokens": 100, "metadata": {"a": "b"},
        "store": False, "truncation": "auto", "user": "u", "safety_identifier": "s", "prompt_cache_key": "k",
        "prompt_cache_options": {"mode": "implicit", "ttl": "30m"}, "parallel_tool_calls": False, "max_tool_calls": 3,
        "tools": [GET_CAPITAL], "tool_choice": "required",
    }  # fmt: skip
    response = answer(Reply("", (FRANCE,)), **sent)
    assert {name: response[name] for name in sent} == sent
    assert answer(Reply("x"), service_tier="fast")["service_tier"] == "priority"
    assert answer(Reply("x"), reasoning={"effort": "low"})["reasoning"] == {"effort": "low", "summary": None}
    assert "prompt_cache_options" not in answer(Reply("x"))


def test_the_same_request_gets_the_same_ids() -> None:
    assert answer(Reply("x", (FRANCE,))) == answer(Reply("x", (FRANCE,)))
    assert answer(Reply("x"))["id"] != answer(Reply("x"), seed="other")["id"]


def test_words_come_before_calls_and_calls_get_ids() -> None:
    output = answer(Reply("One moment.", (FRANCE, ToolCall("get_capital", "", "call_given"))))["output"]
    assert [item["type"] for item in output] == ["message", "function_call", "function_call"]
    assert output[1]["arguments"] == FRANCE.arguments
    assert output[1]["call_id"].startswith("call_")
    assert (output[2]["arguments"], output[2]["call_id"]) == ("{}", "call_given")
    assert len({item["id"] for item in output}) == 3


def test_without_parallel_calls_there_is_one() -> None:
    output = answer(Reply("", (FRANCE, FRANCE)), tools=[GET_CAPITAL], parallel_tool_calls=False)["output"]
    assert len(output) == 1


def test_usage_grows_with_what_is_read_and_written() -> None:
    small, large = answer(Reply("x"))["usage"], answer(Reply("x" * 400), input="word " * 100)["usage"]
    assert 0 < small["input_tokens"] < large["input_tokens"]
    assert small["output_tokens"] == 1
    assert large["output_tokens"] == 100
    assert large["total_tokens"] == large["input_tokens"] + large["output_tokens"]
    with_tools = answer(Reply("x"), tools=[GET_CAPITAL], instructions="Be brief.")["usage"]
    assert with_tools["input_tokens"] > small["input_tokens"] + 20


def test_a_reply_that_is_too_long_is_incomplete() -> None:
    response = answer(Reply("word " * 100), max_output_tokens=16)
    assert (response["status"], response["incomplete_details"]) == ("incomplete", {"reason": "max_output_tokens"})
    assert response["completed_at"] is None
    assert response["output"][0]["status"] == "incomplete"
    assert len(response["output"][0]["content"][0]["text"]) == 64
    assert response["usage"]["output_tokens"] == 16


def test_a_call_that_does_not_fit_is_cut() -> None:
    long = ToolCall("get_capital", json.dumps({"country": "x" * 200}))
    output = answer(Reply("Yes.", (long, FRANCE)), max_output_tokens=16, tools=[GET_CAPITAL])["output"]
    assert [item["status"] for item in output] == ["completed", "incomplete"]
    assert long.arguments.startswith(output[1]["arguments"])
    streamed = events(Reply("Yes.", (long,)), max_output_tokens=16)
    assert streamed[-1]["type"] == "response.incomplete"


def test_the_prompt_keeps_every_item_in_order() -> None:
    found = prompt(
        instructions="Be kind.",
        input=[
            {"role": "developer", "content": "Speak of cats."},
            {"role": "system", "content": [{"type": "input_text", "text": "Or dogs."}]},
            {"type": "message", "role": "user", "content": [
                {"type": "input_text", "text": "What is this?", "prompt_cache_breakpoint": {"mode": "explicit"}},
                {"type": "input_image", "image_url": "data:image/png;base64,AA=="},
                {"type": "input_file", "filename": "bill.pdf", "file_data": "data:..."},
            ]},
            {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "hidden"}]},
            {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "phase": "commentary",
             "content": [{"type": "output_text", "text": "A ", "annotations": []},
                         {"type": "output_text", "text": "cat.", "annotations": [], "logprobs": []}]},
            {"type": "function_call", "call_id": "c1", "name": "get_capital", "arguments": "{}", "status": None},
            {"type": "function_call_output", "call_id": "c1", "output": "Paris"},
            {"type": "function_call", "call_id": "c2", "name": "get_capital", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c2", "output": [
                {"type": "input_text", "text": "Rome"}, {"type": "input_image", "image_url": "http://x/y.png"}]},
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
            {"role": "user", "content": ""},
        ],
    )  # fmt: skip
    assert found.instructions == "Be kind."
    assert found.history == (
        Message("system", "Speak of cats."),
        Message("system", "Or dogs."),
        Message("user", "What is this?\n[image]\n[file: bill.pdf]"),
        Message("assistant", "A cat."),
        ToolCall("get_capital", "{}", "c1"),
        ToolResult("c1", "Paris"),
        ToolCall("get_capital", "{}", "c2"),
        ToolResult("c2", "Rome\n[image]"),
        Message("assistant", "No."),
        Message("user", ""),
    )
    assert (found.spoken, found.session, found.replies) == (False, "", 0)


def test_a_string_is_one_message_of_the_users() -> None:
    assert prompt(input="Grüße, 안녕 🎈").history == (Message("user", "Grüße, 안녕 🎈"),)


def test_tools_and_what_must_be_done_with_them() -> None:
    other = {"type": "function", "name": "hang_up", "description": None, "parameters": None, "strict": True}
    tool = Tool("get_capital", "Find a capital.", GET_CAPITAL["parameters"])  # type: ignore[arg-type]
    both = [GET_CAPITAL, other]
    assert prompt(tools=both).tools == (tool, Tool("hang_up"))
    for mode in ("auto", "none", "required"):
        assert prompt(tools=both, tool_choice=mode).tool_choice == mode
    named = prompt(tools=both, tool_choice={"type": "function", "name": "hang_up"})
    assert (named.tool_choice, len(named.tools)) == ("hang_up", 2)
    choice = {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "get_capital"}]}
    allowed = prompt(tools=both, tool_choice=choice)
    assert (allowed.tool_choice, allowed.tools) == ("required", (tool,))
    assert answer(Reply("x"), tools=both, tool_choice=choice)["tools"] == both


def test_tools_that_the_conversation_brings_can_be_used() -> None:
    brought = {"type": "additional_tools", "role": "developer", "tools": [GET_CAPITAL]}
    assert [tool.name for tool in prompt(input=[brought, {"role": "user", "content": "Hi"}]).tools] == ["get_capital"]


def test_structured_output_reaches_the_model() -> None:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    form = {"type": "json_schema", "name": "capital", "schema": schema, "strict": True, "description": "d"}
    assert prompt(text={"format": form}).output_schema == schema
    assert answer(Reply("{}"), text={"format": form})["text"] == {"format": form, "verbosity": "medium"}
    json_mode = prompt(input="Answer in JSON.", text={"format": {"type": "json_object"}})
    assert (json_mode.json_object, json_mode.output_schema) == (True, None)
    assert not prompt(text={"format": {"type": "text"}, "verbosity": "low"}).json_object


def test_a_streamed_message_has_the_official_sequence() -> None:
    found = events(Reply("The capital is Paris."))
    kinds = [event["type"] for event in found]
    deltas = [event["delta"] for event in found if event["type"] == "response.output_text.delta"]
    assert kinds == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        *["response.output_text.delta"] * len(deltas),
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    assert deltas == ["The", " capital", " is", " Paris", "."]
    assert [event["sequence_number"] for event in found] == list(range(len(found)))
    assert all(len(event["delta"] + event["obfuscation"]) == 16 for event in found if "delta" in event)
    assert {event.get("output_index", 0) for event in found} == {0}
    created, done, completed = found[0]["response"], found[-2]["item"], found[-1]["response"]
    assert (created["status"], created["output"], created["usage"]) == ("in_progress", [], None)
    assert (created["service_tier"], completed["service_tier"]) == ("auto", "default")
    assert found[2]["item"] == {**done, "status": "in_progress", "content": []}
    assert completed["output"] == [done]
    assert {event["item_id"] for event in found if "item_id" in event} == {done["id"]}


def test_a_streamed_call_has_the_official_sequence() -> None:
    found = events(Reply("Wait.", (FRANCE,)), tools=[GET_CAPITAL])
    call = [event for event in found if event.get("output_index") == 1]
    deltas = [event["delta"] for event in call if "delta" in event]
    assert [event["type"] for event in call] == [
        "response.output_item.added",
        *["response.function_call_arguments.delta"] * len(deltas),
        "response.function_call_arguments.done",
        "response.output_item.done",
    ]
    assert "".join(deltas) == call[-2]["arguments"] == FRANCE.arguments
    assert len(deltas) > 1
    assert call[0]["item"]["arguments"] == ""
    assert [item["type"] for item in found[-1]["response"]["output"]] == ["message", "function_call"]


def test_a_stream_is_what_the_whole_response_would_have_been() -> None:
    body: dict[str, Any] = {"tools": [GET_CAPITAL], "metadata": {"a": "b"}}
    reply = Reply("Wait.", (FRANCE, FRANCE))
    assert events(reply, **body)[-1]["response"] == answer(reply, **body)


def test_padding_can_be_left_out() -> None:
    assert not any(
        "obfuscation" in event for event in events(Reply("Hi"), stream_options={"include_obfuscation": False})
    )


def test_an_empty_reply_is_an_empty_message() -> None:
    assert answer(Reply())["output"][0]["content"][0]["text"] == ""
    assert "response.output_text.delta" not in [event["type"] for event in events(Reply())]


def test_a_model_that_fails_ends_the_stream_as_failed() -> None:
    store = Store()
    for error, code in [
        (ApiError("Out of lines.", status=500, type="server_error"), "server_error"),
        (ApiError("Too fast.", status=429, code="rate_limit"), "rate_limit_exceeded"),
        (ApiError("Bad.", code="invalid_prompt"), "invalid_prompt"),
    ]:
        found = list(responses.fail(asked(store, stream=True), error, Ids("s"), NOW))
        for event in found:
            valid(ResponseStreamEvent, event)
        assert [event["type"] for event in found] == ["response.created", "response.in_progress", "response.failed"]
        failed = found[-1]["response"]
        assert (failed["status"], failed["error"]) == ("failed", {"code": code, "message": error.message})
    assert not store.responses


def test_a_run_can_open_before_its_model_has_answered() -> None:
    run = responses.Run(asked(stream=True), Ids("s"), NOW)
    first, then = list(run.opening()), list(run.answer(Reply("Hi")))
    assert [*first, *then] == events(Reply("Hi"))


def test_a_response_can_be_gone_on_from() -> None:
    store = Store()
    one = answer(Reply("", (FRANCE,)), store, instructions="Be kind.", tools=[GET_CAPITAL])
    output = {"type": "function_call_output", "call_id": one["output"][0]["call_id"], "output": "Paris"}
    two_asked = asked(store, input=[output], previous_response_id=one["id"])
    assert two_asked.prompt.history == (
        Message("user", "Hello"),
        ToolCall("get_capital", FRANCE.arguments, one["output"][0]["call_id"]),
        ToolResult(one["output"][0]["call_id"], "Paris"),
    )
    assert two_asked.prompt.instructions == ""  # they are not carried over
    two = responses.complete(two_asked, Reply("It is Paris."), Ids("t"), NOW)
    three = prompt(memory=store, input="Sure?", previous_response_id=two["id"])
    assert three.history[-2:] == (Message("assistant", "It is Paris."), Message("user", "Sure?"))
    assert len(three.history) == 5
    # the first one is still there: a conversation may fork
    assert len(prompt(memory=store, input=[output], previous_response_id=one["id"]).history) == 3


def test_a_response_that_is_not_stored_cannot_be_gone_on_from() -> None:
    store = Store()
    one = answer(Reply("Hi"), store, store=False)
    error = refusal(memory=store, previous_response_id=one["id"])
    assert (error.status, error.code, error.param) == (400, "previous_response_not_found", "previous_response_id")
    assert error.message == f"Previous response with id '{one['id']}' not found."


def test_a_conversation_takes_up_each_turn_once() -> None:
    store = Store()
    store.conversations["conv_1"] = Conversation("conv_1", 0, {})
    one = asked(store, conversation="conv_1")
    assert responses.complete(one, Reply("Hi"), Ids("a"), NOW)["conversation"] == {"id": "conv_1"}
    failed = asked(store, conversation="conv_1", input="Lost?")
    list(responses.fail(failed, ApiError("x", status=500), Ids("b"), NOW))
    list(responses.stream(asked(store, conversation={"id": "conv_1"}, input="Again."), Reply("Yes."), Ids("c"), NOW))
    kept = [(item["role"], item["content"][0]["text"]) for item in store.conversations["conv_1"].items.values()]
    assert kept == [("user", "Hello"), ("assistant", "Hi"), ("user", "Again."), ("assistant", "Yes.")]
    assert len(prompt(memory=store, conversation="conv_1", input=[]).history) == 4


def test_an_item_can_be_named_by_its_id() -> None:
    store = Store()
    one = answer(Reply("Hi"), store)
    for reference in ({"type": "item_reference", "id": one["output"][0]["id"]}, {"id": one["output"][0]["id"]}):
        assert prompt(memory=store, input=[reference]).history == (Message("assistant", "Hi"),)
    error = refusal(memory=store, input=[{"type": "item_reference", "id": "msg_none"}])
    assert (error.status, error.message.startswith("Item with id 'msg_none' not found.")) == (404, True)


def test_an_item_is_not_counted_twice() -> None:
    store = Store()
    one = answer(Reply("Hi"), store)
    error = refusal(memory=store, input=one["output"], previous_response_id=one["id"])
    assert error.message.startswith(f"Duplicate item found with id {one['output'][0]['id']}.")
    assert error.param == "input"
    assert refusal(input=[*one["output"], *one["output"]]).message == error.message


@given(st.text())
def test_the_pieces_of_a_text_are_the_text(text: str) -> None:
    assert "".join(pieces(text)) == text


def test_a_huge_text_is_not_a_huge_number_of_pieces() -> None:
    text = "word, " * 20_000
    assert len(pieces(text)) <= 512
    assert "".join(pieces(text)) == text
    assert {len(delta + obfuscation(delta, 1)) % 16 for delta in ("", "a", "x" * 15, "x" * 16, "x" * 40)} == {0}
