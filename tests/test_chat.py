"""The Chat Completions API as pure functions, held against the official types."""

from typing import Any

import pytest
from http_service import FRANCE, JSON, NOW, valid
from hypothesis import given
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.chat.completion_create_params import CompletionCreateParamsBase

from handoffkit.endpoint.models.prompt import Message, Prompt, Reply, Tool, ToolCall, ToolResult
from handoffkit.endpoint.protocol import chat, chat_fields
from handoffkit.endpoint.protocol.api_error import ApiError
from handoffkit.endpoint.protocol.ids import Ids

HELLO = [{"role": "user", "content": "Hello"}]
PARAMETERS: dict[str, Any] = {"type": "object", "properties": {"country": {"type": "string"}}}
TOOL = {
    "type": "function",
    "function": {"name": "get_capital", "description": "Find a capital.", "parameters": PARAMETERS},
}
CALL = {"id": "c1", "type": "function", "function": {"name": "get_capital", "arguments": "{}"}}


def asked(**body: Any) -> chat.Ask:
    return chat.ask({"model": "gpt-5.2", "messages": HELLO, **body})


def prompt(**body: Any) -> Prompt:
    return asked(**body).prompt


def answer(reply: Reply, **body: Any) -> dict[str, Any]:
    completion = chat.complete(asked(**body), reply, Ids("s"), NOW)
    valid(ChatCompletion, completion)
    return completion


def choice(reply: Reply, **body: Any) -> dict[str, Any]:
    only: dict[str, Any] = answer(reply, **body)["choices"][0]
    return only


def chunks(reply: Reply, **body: Any) -> list[dict[str, Any]]:
    found = list(chat.stream(asked(stream=True, **body), reply, Ids("s"), NOW))
    for chunk in found:
        valid(ChatCompletionChunk, chunk)
    return found


def test_a_whole_completion_has_the_fields_that_were_recorded() -> None:
    completion = answer(Reply("Hi."))
    assert completion["choices"] == [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "Hi.", "refusal": None, "annotations": []},
            "logprobs": None,
            "finish_reason": "stop",
        }
    ]
    assert completion["id"].startswith("chatcmpl-")
    assert (completion["object"], completion["created"]) == ("chat.completion", int(NOW))
    assert (completion["model"], completion["service_tier"]) == ("gpt-5.2", "default")
    usage = completion["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"] > usage["prompt_tokens"]
    assert usage["prompt_tokens_details"]["cached_tokens"] == 0
    assert usage["completion_tokens_details"]["reasoning_tokens"] == 0


@pytest.mark.parametrize(
    ("sent", "given_back"), [(None, "default"), ("auto", "default"), ("flex", "flex"), ("fast", "fast")]
)
def test_the_tier_is_given_back(sent: str | None, given_back: str) -> None:
    assert answer(Reply("Hi."), service_tier=sent)["service_tier"] == given_back


def test_calls_stand_in_the_message() -> None:
    found = choice(Reply("", (FRANCE, ToolCall("get_capital", "", "call_given"))), tools=[TOOL])
    first, second = found["message"]["tool_calls"]
    assert (found["finish_reason"], found["message"]["content"]) == ("tool_calls", None)
    assert first["function"] == {"name": "get_capital", "arguments": FRANCE.arguments}
    assert first["id"].startswith("call_")
    assert (second["id"], second["function"]["arguments"]) == ("call_given", "{}")
    assert choice(Reply("Wait.", (FRANCE,)))["message"]["content"] == "Wait."
    alone = choice(Reply("", (FRANCE, FRANCE)), tools=[TOOL], parallel_tool_calls=False)
    assert len(alone["message"]["tool_calls"]) == 1


@pytest.mark.parametrize("limit", ["max_tokens", "max_completion_tokens"])
def test_a_reply_that_is_too_long_is_cut(limit: str) -> None:
    found = choice(Reply("word " * 10), **{limit: 2})
    assert (found["finish_reason"], found["message"]["content"]) == ("length", "word wor")


def test_a_reply_ends_before_a_stop_sequence() -> None:
    assert choice(Reply("one two three"), stop=["three", "two"])["message"]["content"] == "one "
    assert choice(Reply("one two"), stop=" two")["message"]["content"] == "one"
    assert choice(Reply("one two"), stop=["six"])["message"]["content"] == "one two"


def test_the_prompt_keeps_every_message_in_order() -> None:
    found = prompt(
        messages=[
            {"role": "system", "content": "Be kind."},
            {"role": "developer", "content": [{"type": "text", "text": "Be brief."}]},
            {"role": "user", "content": [
                {"type": "text", "text": "What is this?"},
                {"type": "image_url", "image_url": {"url": "http://x/y.png"}},
                {"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}},
                {"type": "file", "file": {"file_id": "f"}},
            ], "name": "ann"},
            {"role": "assistant", "content": "Wait.", "tool_calls": [CALL, {**CALL, "id": "c2"}]},
            {"role": "tool", "tool_call_id": "c2", "content": [{"type": "text", "text": "Rome"}]},
            {"role": "tool", "tool_call_id": "c1", "content": "Paris"},
            {"role": "assistant", "content": None, "refusal": "No."},
            {"role": "assistant", "content": None, "tool_calls": [{**CALL, "id": "c3"}]},
            {"role": "tool", "tool_call_id": "c3", "content": ""},
            {"role": "user"},
        ],
    )  # fmt: skip
    assert found.history == (
        Message("system", "Be kind."),
        Message("system", "Be brief."),
        Message("user", "What is this?\n[image]\n[audio]\n[file]"),
        Message("assistant", "Wait."),
        ToolCall("get_capital", "{}", "c1"),
        ToolCall("get_capital", "{}", "c2"),
        ToolResult("c2", "Rome"),
        ToolResult("c1", "Paris"),
        Message("assistant", "No."),
        ToolCall("get_capital", "{}", "c3"),
        ToolResult("c3", ""),
        Message("user", ""),
    )


def test_tools_and_what_must_be_done_with_them() -> None:
    other = {"type": "function", "function": {"name": "hang_up"}}
    both, tool = [TOOL, other], Tool("get_capital", "Find a capital.", PARAMETERS)
    assert prompt(tools=both).tools == (tool, Tool("hang_up"))
    for mode in ("auto", "none", "required"):
        assert prompt(tools=both, tool_choice=mode).tool_choice == mode
    forced = prompt(tools=both, tool_choice={"type": "function", "function": {"name": "hang_up"}})
    assert forced.tool_choice == "hang_up"
    allowed = {"mode": "auto", "tools": [{"type": "function", "function": {"name": "hang_up"}}]}
    found = prompt(tools=both, tool_choice={"type": "allowed_tools", "allowed_tools": allowed})
    assert (found.tool_choice, found.tools) == ("auto", (Tool("hang_up"),))


def test_structured_output_reaches_the_model() -> None:
    schema = {"type": "object", "properties": {}}
    form = {"type": "json_schema", "json_schema": {"name": "x", "schema": schema, "strict": True}}
    assert prompt(response_format=form).output_schema == schema
    assert prompt(response_format={"type": "json_schema", "json_schema": {"name": "x"}}).output_schema == {}
    said = [{"role": "system", "content": "Answer in JSON."}, *HELLO]
    assert prompt(messages=said, response_format={"type": "json_object"}).json_object
    assert prompt(response_format={"type": "text"}).output_schema is None


def test_streamed_words_have_the_recorded_chunks() -> None:
    found = chunks(Reply("The capital."), stream_options={"include_usage": True})
    deltas = [chunk["choices"][0]["delta"] for chunk in found[:-1]]
    assert deltas == [
        {"role": "assistant", "content": "", "refusal": None},
        {"content": "The"},
        {"content": " capital"},
        {"content": "."},
        {},
    ]
    assert [chunk["choices"][0]["finish_reason"] for chunk in found[:-1]] == [None, None, None, None, "stop"]
    assert [chunk["usage"] is None for chunk in found] == [True] * 5 + [False]
    assert (found[-1]["choices"], found[-1]["usage"]) == ([], answer(Reply("The capital."))["usage"])
    assert len({chunk["id"] for chunk in found}) == 1
    assert all("obfuscation" in chunk for chunk in found[:-1])


def test_streamed_calls_have_the_recorded_chunks() -> None:
    found = chunks(Reply("", (FRANCE, FRANCE)), tools=[TOOL], stream_options={"include_obfuscation": False})
    assert not any("obfuscation" in chunk or "usage" in chunk for chunk in found)
    first = found[0]["choices"][0]["delta"]
    assert (first["role"], first["content"], first["tool_calls"][0]["type"]) == ("assistant", None, "function")
    joined, ids = ["", ""], set()
    for chunk in found[:-1]:
        (call,) = chunk["choices"][0]["delta"]["tool_calls"]
        joined[call["index"]] += call["function"]["arguments"]
        ids |= {call["id"]} if "id" in call else set()
    assert joined == [FRANCE.arguments] * 2
    assert len(ids) == 2
    assert found[-1]["choices"][0]["finish_reason"] == "tool_calls"


def test_words_and_calls_can_be_streamed_together() -> None:
    found = chunks(Reply("Wait.", (FRANCE,)))
    assert [chunk["choices"][0]["delta"].get("role") for chunk in found].count("assistant") == 1
    assert chunks(Reply())[0]["choices"][0]["delta"]["content"] == ""


def test_a_failing_model_ends_a_stream_with_its_error() -> None:
    error = ApiError("Out of lines.", status=500, type="server_error")
    assert list(chat.fail(asked(stream=True), error, Ids("s"), NOW)) == [
        {"error": {"message": "Out of lines.", "type": "server_error", "param": None, "code": None}}
    ]


# What the service was seen to answer, by what is wrong: (fields of the request, param, code, message).
FAULTS: list[tuple[dict[str, Any], str | None, str | None, str]] = [
    ({"model": None}, None, None, "you must provide a model parameter"),
    ({"messages": None, "zzz": 1}, "messages", "missing_required_parameter", "Missing required parameter: 'messages'."),
    ({"zzz": 1, "n": "x"}, "zzz", "unknown_parameter", "Unknown parameter: 'zzz'."),
    ({"text": {}}, "text", "unknown_parameter", "Unknown parameter: 'text'."),
    ({"messages": []}, "messages", "empty_array",
     "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead."),
    ({"messages": "x"}, "messages", "invalid_type",
     "Invalid type for 'messages': expected an array of objects, but got a string instead."),
    ({"messages": ["x"]}, "messages[0]", "invalid_type",
     "Invalid type for 'messages[0]': expected an object, but got a string instead."),
    ({"messages": [{"content": "x"}]}, "messages[0].role", "missing_required_parameter",
     "Missing required parameter: 'messages[0].role'."),
    ({"messages": [{"role": "bogus"}]}, "messages[0].role", "invalid_value",
     "Invalid value: 'bogus'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', "
     "and 'developer'."),
    ({"messages": [{"role": "user", "content": 7}]}, "messages[0].content", "invalid_type",
     "Invalid type for 'messages[0].content': expected one of a string or array of objects, "
     "but got an integer instead."),
    ({"messages": [{"role": "user", "content": [{"type": "bogus"}]}]}, "messages[0].content[0].type", "invalid_value",
     "Invalid value: 'bogus'. Supported values are: 'text', 'image_url', 'input_audio', 'refusal', 'audio', "
     "and 'file'."),
    ({"messages": [{"role": "tool", "tool_call_id": "c1", "content": "x"}]}, "messages.[0].role", None,
     "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."),
    ({"messages": [{"role": "assistant", "tool_calls": [CALL]}]}, "messages", None,
     "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
     "The following tool_call_ids did not have response messages: c1"),
    ({"messages": [{"role": "assistant", "tool_calls": [CALL]}, *HELLO]}, "messages", None,
     "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "
     "The following tool_call_ids did not have response messages: c1"),
    ({"n": 0}, "n", "integer_below_min_value",
     "Invalid 'n': integer below minimum value. Expected a value >= 1, but got 0 instead."),
    ({"n": 64}, "n", "integer_above_max_value",
     "Invalid 'n': integer above maximum value. Expected a value <= 8, but got 64 instead."),
    ({"seed": 1.5}, "seed", "invalid_type",
     "Invalid type for 'seed': expected an integer, but got a decimal number instead."),
    ({"tools": "x"}, "tools", "invalid_type",
     "Invalid type for 'tools': expected an array of objects, but got a string instead."),
    ({"tools": [{"type": "function"}]}, "tools[0].function", "missing_required_parameter",
     "Missing required parameter: 'tools[0].function'."),
    ({"tools": [{"type": "function", "function": {}}]}, "tools[0].function.name", "missing_required_parameter",
     "Missing required parameter: 'tools[0].function.name'."),
    ({"tool_choice": 7}, "tool_choice", "invalid_type",
     "Invalid type for 'tool_choice': expected one of one of 'none', 'auto', or 'required' or object, "
     "but got an integer instead."),
    ({"tool_choice": {"type": "bogus"}, "tools": [TOOL]}, "tool_choice.function", "missing_required_parameter",
     "Missing required parameter: 'tool_choice.function'."),
    ({"tool_choice": "auto"}, "tool_choice", None,
     "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified."),
    ({"parallel_tool_calls": True}, "parallel_tool_calls", None,
     "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified."),
    ({"response_format": {}}, "response_format.type", "missing_required_parameter",
     "Missing required parameter: 'response_format.type'."),
    ({"response_format": {"type": "bogus"}}, "response_format.type", "invalid_value",
     "Invalid value: 'bogus'. Supported values are: 'json_object', 'json_schema', and 'text'."),
    ({"response_format": {"type": "json_object"}}, "messages", None,
     "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."),
    ({"stream_options": {"include_usage": True}}, "stream_options", None,
     "The 'stream_options' parameter is only allowed when 'stream' is enabled."),
    ({"web_search_options": {"a": 1}}, "web_search_options", None,
     "Web search options not supported with this model."),
]  # fmt: skip


@pytest.mark.parametrize(("body", "param", "code", "message"), FAULTS, ids=lambda value: str(value)[:60])
def test_a_faulty_request_gets_the_services_error(
    body: dict[str, Any], param: str | None, code: str | None, message: str
) -> None:
    with pytest.raises(ApiError) as caught:
        asked(**body)
    assert caught.value.body()["error"] == {
        "message": message, "type": "invalid_request_error", "param": param, "code": code,
    }  # fmt: skip
    assert caught.value.status == 400


@pytest.mark.parametrize(
    ("body", "advice"),
    [
        ({"n": 2}, "ask several times"),
        ({"functions": [{"name": "f"}]}, "Use 'tools'"),
        ({"function_call": "auto"}, "Use 'tools'"),
        ({"messages": [{"role": "function", "name": "f", "content": "x"}]}, "Use role 'tool'"),
        ({"modalities": ["text", "audio"]}, "Ask for text here"),
        ({"tools": [{"type": "custom", "custom": {"name": "x"}}]}, "Leave the tool out"),
    ],
)
def test_what_is_not_simulated_says_so_and_what_to_do(body: dict[str, Any], advice: str) -> None:
    with pytest.raises(ApiError, match="simulated") as caught:
        asked(**body)
    assert advice in caught.value.message


def test_a_body_that_is_no_object_is_refused() -> None:
    with pytest.raises(ApiError, match="expected an object, but got an array"):
        chat.ask([])


def test_the_table_knows_every_field_of_the_official_type() -> None:
    assert set(CompletionCreateParamsBase.__annotations__) <= set(chat_fields.FIELDS)


@given(JSON)
def test_whatever_is_sent_is_read_or_refused(value: Any) -> None:
    for name in chat_fields.FIELDS:
        try:
            chat.ask({"model": "m", "messages": HELLO, "tools": [TOOL], "stream": True, name: value})
        except ApiError as error:
            refused = error.status
        else:
            refused = 400
        assert refused == 400, name
