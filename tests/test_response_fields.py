"""Faulty requests to the Responses API: each gets the error that the service sends."""

from typing import Any

import pytest
from http_service import GET_CAPITAL, JSON, valid
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.responses import Response, ResponseFunctionToolCallParam
from openai.types.responses import response_input_item_param as input_items
from openai.types.responses.response_create_params import ResponseCreateParamsBase

from handoffkit.endpoint.models.prompt import Reply
from handoffkit.endpoint.protocol import items, response_fields, responses
from handoffkit.endpoint.protocol.api_error import ApiError
from handoffkit.endpoint.protocol.ids import Ids
from handoffkit.endpoint.protocol.store import Store


def refusal(**body: Any) -> ApiError:
    with pytest.raises(ApiError) as caught:
        responses.ask({"model": "gpt-5.2", "input": "Hello", **body}, Store())
    return caught.value


# What the service was seen to answer, by what is wrong: (fields of the request, param, code, message).
FAULTS: list[tuple[dict[str, Any], str | None, str | None, str]] = [
    ({"zzz": 1}, "zzz", "unknown_parameter", "Unknown parameter: 'zzz'."),
    ({"stre": 1}, "stre", "unknown_parameter", "Unknown parameter: 'stre'. Did you mean 'store' or 'stream'?"),
    ({"strem": 1}, "strem", "unknown_parameter", "Unknown parameter: 'strem'. Did you mean 'stream' or 'store'?"),
    ({"modell": 1}, "modell", "unknown_parameter", "Unknown parameter: 'modell'."),
    ({"z" * 100_000: 1}, "z" * 100_000, "unknown_parameter", f"Unknown parameter: '{'z' * 100_000}'."),
    ({"model": 7}, "model", "invalid_type", "Invalid type for 'model': expected a string, but got an integer instead."),
    ({"model": ""}, "model", "model_not_found", "The requested model '' does not exist."),
    ({"input": 7}, "input", "invalid_type",
     "Invalid type for 'input': expected one of a string or array of input items, but got an integer instead."),
    ({"input": [7]}, "input[0]", "invalid_type",
     "Invalid type for 'input[0]': expected an input item, but got an integer instead."),
    ({"input": [None]}, "input[0]", "invalid_type",
     "Invalid type for 'input[0]': expected an input item, but got null instead."),
    ({"input": [{}]}, "input[0]", "invalid_value",
     "Invalid value: ''. Supported values are: 'assistant', 'system', 'developer', and 'user'."),
    ({"input": [{"role": "bogus", "content": "x"}]}, "input[0]", "invalid_value",
     "Invalid value: 'bogus'. Supported values are: 'assistant', 'system', 'developer', and 'user'."),
    ({"input": [{"role": "user"}]}, "input[0].content", "missing_required_parameter",
     "Missing required parameter: 'input[0].content'."),
    ({"input": [{"role": "user", "content": None}]}, "input[0].content", "invalid_type",
     "Invalid type for 'input[0].content': expected one of a string or array of objects, but got null instead."),
    ({"input": [{"type": "function_call", "call_id": None, "name": "f", "arguments": "{}"}]}, "input[0].call_id",
     "missing_required_parameter", "Missing required parameter: 'input[0].call_id'."),
    ({"model": None}, "model", "invalid_type",
     "Invalid type for 'model': expected a string, but got an object instead."),
    ({"input": [{"role": "user", "content": "x", "bogus": 1}]}, "input[0].bogus", "unknown_parameter",
     "Unknown parameter: 'input[0].bogus'."),
    ({"input": [{"role": "user", "content": "x", "phase": "final_answer"}]}, "input[0].phase", "unknown_parameter",
     "Unknown parameter: 'input[0].phase'."),
    ({"input": [{"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}]}, "input[0].content[0]",
     "invalid_value", "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'."),
    ({"input": [{"role": "user", "content": [{"type": "input_text"}]}]}, "input[0].content[0].text",
     "missing_required_parameter", "Missing required parameter: 'input[0].content[0].text'."),
    ({"input": []}, None, "missing_required_parameter",
     "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation' must be provided."),
    ({"input": ""}, None, "missing_required_parameter",
     "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation' must be provided."),
    ({"input": [{}], "truncation": "bogus"}, "input[0]", "invalid_value",
     "Invalid value: ''. Supported values are: 'assistant', 'system', 'developer', and 'user'."),
    ({"input": [{"type": "function_call_output", "call_id": "c1", "output": "x"}]}, "input", None,
     "No tool call found for function call output with call_id c1."),
    ({"input": [{"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}]}, "input", None,
     "No tool output found for function call c1."),
    ({"text": {"zzz": 1}}, "text.zzz", "unknown_parameter", "Unknown parameter: 'text.zzz'."),
    ({"text": {"format": {"type": "bogus"}}}, "text.format.type", "invalid_value",
     "Invalid value: 'bogus'. Supported values are: 'json_object', 'text', and 'json_schema'."),
    ({"text": {"format": {"type": "json_schema"}}}, "text.format.name", "missing_required_parameter",
     "Missing required parameter: 'text.format.name'."),
    ({"text": {"verbosity": "bogus"}}, "text.verbosity", "invalid_value",
     "Invalid value: 'bogus'. Supported values are: 'low', 'medium', and 'high'."),
    ({"text": {"format": {"type": "json_object"}}}, "text.format", None,
     "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'."),
    ({"text": {"format": {"type": "json_object"}}, "instructions": "In JSON."}, "text.format", None,
     "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'."),
    ({"tools": "x"}, "tools", "invalid_type",
     "Invalid type for 'tools': expected an array of tools, but got a string instead."),
    ({"tools": [{}]}, "tools[0].type", "missing_required_parameter", "Missing required parameter: 'tools[0].type'."),
    ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "tools[0].name", "missing_required_parameter",
     "Missing required parameter: 'tools[0].name'."),
    ({"tools": [{"type": "function", "name": "look up"}]}, "tools[0].name", "invalid_value",
     "Invalid 'tools[0].name': string does not match pattern. "
     "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."),
    ({"tool_choice": 7}, "tool_choice", "invalid_type",
     "Invalid type for 'tool_choice': expected one of an object or 'none', 'auto', or 'required', "
     "but got an integer instead."),
    ({"tool_choice": "bogus"}, "tool_choice", "invalid_value",
     "Invalid value: 'bogus'. Supported values are: 'none', 'auto', and 'required'."),
    ({"tool_choice": {"type": "function"}}, "tool_choice.name", "missing_required_parameter",
     "Missing required parameter: 'tool_choice.name'."),
    ({"tool_choice": {"type": "function", "name": "f"}}, "tool_choice", None,
     "Tool choice 'f' not found in 'tools' parameter."),
    ({"tool_choice": {"type": "web_search"}}, "tool_choice", None,
     "Tool choice 'web_search' not found in 'tools' parameter."),
    ({"tool_choice": "required"}, "tool_choice", None,
     "Tool choice 'required' must be specified with 'tools' parameter."),
    ({"temperature": "hot"}, "temperature", "invalid_type",
     "Invalid type for 'temperature': expected a decimal, but got a string instead."),
    ({"temperature": -1}, "temperature", "decimal_below_min_value",
     "Invalid 'temperature': decimal below minimum value. Expected a value >= 0, but got -1 instead."),
    ({"max_output_tokens": 15}, "max_output_tokens", "integer_below_min_value",
     "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 15 instead."),
    ({"stream": "yes"}, "stream", "invalid_type",
     "Invalid type for 'stream': expected a boolean, but got a string instead."),
    ({"stream_options": {"include_usage": True}}, "stream_options.include_usage", "unknown_parameter",
     "Unknown parameter: 'stream_options.include_usage'."),
    ({"instructions": {"a": 1}}, "instructions", "invalid_type",
     "Invalid type for 'instructions': expected a string, but got an object instead."),
    ({"truncation": {"a": 1}}, "truncation", "invalid_type",
     "Invalid type for 'truncation': expected one of 'auto' or 'disabled', but got an object instead."),
    ({"service_tier": "bogus"}, "service_tier", "invalid_value",
     "Invalid value: 'bogus'. Supported values are: 'auto', 'default', 'fast', 'flex', and 'priority'."),
    ({"metadata": "x"}, "metadata", "invalid_type",
     "Invalid type for 'metadata': expected a metadata object, but got a string instead."),
    ({"metadata": {str(n): "v" for n in range(17)}}, "metadata", "object_above_max_properties",
     "Invalid 'metadata': too many properties. Expected an object with at most 16 properties, "
     "but got an object with 17 properties instead."),
    ({"metadata": {"k": "x" * 600}}, "metadata.k", "string_above_max_length",
     "Invalid 'metadata.k': string too long. Expected a string with maximum length 512, "
     "but got a string with length 600 instead."),
    ({"metadata": {"k" * 70: "v"}}, f"metadata.{'k' * 70}", "property_name_above_max_length",
     "Invalid property name in 'metadata': 'kkk...kkk' is too long. Expected a string with maximum length 64, "
     "but got a string with length 70 instead."),
    ({"previous_response_id": "resp_x"}, "previous_response_id", "previous_response_not_found",
     "Previous response with id 'resp_x' not found."),
    ({"previous_response_id": "resp_x", "truncation": "bogus"}, "truncation", "invalid_value",
     "Invalid value: 'bogus'. Supported values are: 'auto' and 'disabled'."),
    ({"conversation": "conv_x", "previous_response_id": "resp_x"}, None, "mutually_exclusive_parameters",
     "Mutually exclusive parameters: ''. Ensure you are only providing one of: "
     "'previous_response_id' or 'conversation'."),
]  # fmt: skip


@pytest.mark.parametrize(("body", "param", "code", "message"), FAULTS, ids=lambda value: str(value)[:60])
def test_a_faulty_request_gets_the_services_error(
    body: dict[str, Any], param: str | None, code: str | None, message: str
) -> None:
    error = refusal(**body)
    assert error.body() == {
        "error": {"message": message, "type": "invalid_request_error", "param": param, "code": code}
    }
    assert error.status == 400


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"conversation": "conv_x"}, "Conversation with id 'conv_x' not found."),
        ({"conversation": {"id": "conv_x"}}, "Conversation with id 'conv_x' not found."),
        ({"prompt": {"id": "pmpt_x"}}, "Prompt with id 'pmpt_x' not found."),
    ],
)
def test_what_is_not_there_is_not_found(body: dict[str, Any], message: str) -> None:
    error = refusal(**body)
    assert (error.status, error.message, error.param, error.code) == (404, message, None, None)


@pytest.mark.parametrize("body", [{}, {"zzz": 1}, {"input": "x", "zzz": 1}])
def test_a_missing_model_comes_first(body: dict[str, Any]) -> None:
    with pytest.raises(ApiError, match="Missing required parameter: 'model'") as caught:
        responses.ask(body, Store())
    assert (caught.value.param, caught.value.code) == ("model", "missing_required_parameter")


def test_then_a_missing_input() -> None:
    with pytest.raises(ApiError, match="Missing required parameter: 'input'"):
        responses.ask({"model": "m", "zzz": 1}, Store())
    with pytest.raises(ApiError, match="has moved to 'input'"):
        responses.ask({"model": "m", "messages": []}, Store())
    with pytest.raises(ApiError, match="expected an object, but got an array"):
        responses.ask([], Store())


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"tools": [{"type": "web_search"}]}, "tools[0].type"),
        ({"tools": [GET_CAPITAL, {"type": "mcp", "server_label": "x"}]}, "tools[1].type"),
        ({"background": True}, "background"),
    ],
)
def test_what_cannot_be_simulated_says_so_and_what_to_do(body: dict[str, Any], param: str) -> None:
    error = refusal(**body)
    assert error.param == param
    assert "simulated" in error.message
    assert 'hk.connect("live")' in error.message


def test_a_kind_of_tool_that_nobody_knows_is_a_wrong_value() -> None:
    assert refusal(tools=[{"type": "telepathy"}]).message.startswith("Invalid value: 'telepathy'. Supported values")


def test_the_tables_know_every_field_of_the_official_types() -> None:
    assert set(ResponseCreateParamsBase.__annotations__) <= set(response_fields.FIELDS)
    for kind, official in [
        ("message", input_items.Message),
        ("function_call_output", input_items.FunctionCallOutput),
        ("item_reference", input_items.ItemReference),
        ("additional_tools", input_items.AdditionalTools),
        ("function_call", ResponseFunctionToolCallParam),
    ]:
        assert set(official.__annotations__) - {"async_"} <= set(items._RULES[kind][1]), kind


@given(JSON)
def test_whatever_is_sent_is_read_or_refused(value: Any) -> None:
    for name in response_fields.FIELDS:
        try:
            responses.ask({"model": "m", "input": "x", name: value}, Store())
        except ApiError as error:
            refused = error.status
        else:
            refused = 400
        assert refused in (400, 404), name


ITEM = st.fixed_dictionaries(
    {"type": st.sampled_from(items._TYPES), "id": st.sampled_from(["a", "b", "c"])},
    optional={
        "role": st.sampled_from(["user", "assistant", "developer"]) | JSON,
        "content": st.just([{"type": "input_text", "text": "json"}]) | JSON,
        "output": st.text() | JSON,
        "call_id": st.sampled_from(["c1", "c2"]) | JSON,
        "name": st.just("f") | JSON,
        "arguments": st.just("{}") | JSON,
        "tools": JSON,
        "summary": JSON,
    },
)


@settings(deadline=None)
@given(st.lists(ITEM, max_size=4))
def test_a_conversation_that_is_accepted_can_be_read_and_kept(sent: list[Any]) -> None:
    store, form = Store(), {"format": {"type": "json_object"}}
    opening = {"role": "user", "content": "In JSON, please."}
    try:
        asked = responses.ask({"model": "m", "input": [opening, *sent], "text": form}, store)
    except ApiError as error:
        assert error.status in (400, 404)  # noqa: PT017
        return
    for item in asked.prompt.history:
        assert all(isinstance(getattr(item, name), str) for name in type(item).__slots__)
    valid(Response, responses.complete(asked, Reply("{}"), Ids("s"), 0))
    (kept,) = store.responses.values()
    assert len(kept.input) == len(sent) + 1
