"""The fields of a request to the Responses API, in the order in which the service reports faults."""

from typing import Any

from . import items, tools
from .api_error import ApiError
from .fields import (
    Check,
    array,
    boolean,
    check_fields,
    decimal,
    integer,
    mapping,
    members,
    metadata,
    one_of,
    require,
    text,
    wrong_type,
)

TIERS = ("auto", "default", "fast", "flex", "priority")
_INCLUDABLE = (
    "file_search_call.results",
    "web_search_call.results",
    "web_search_call.action.sources",
    "message.input_image.image_url",
    "computer_call_output.output.image_url",
    "code_interpreter_call.outputs",
    "reasoning.encrypted_content",
    "message.output_text.logprobs",
)


def _conversation(value: Any, param: str) -> None:
    if isinstance(value, dict):
        members({"id": text}, ["id"])(value, param)
    elif not isinstance(value, str):
        raise wrong_type(param, "one of a string or object", value)


def _format(value: Any, param: str) -> None:
    mapping(value, param)
    require(value, ["type"], f"{param}.")
    one_of("json_object", "text", "json_schema")(value["type"], f"{param}.type")
    table: dict[str, Check] = {"type": text}
    if value["type"] == "json_schema":
        require(value, ["name", "schema"], f"{param}.")
        table |= {"name": text, "schema": mapping, "description": text, "strict": boolean}
    check_fields(value, table, f"{param}.")


REASONING: dict[str, Check] = {
    "effort": one_of("none", "minimal", "low", "medium", "high", "xhigh", "max"),
    "summary": one_of("concise", "detailed", "auto"),
    "context": text,
    "mode": text,
    "encrypted_content": text,
}
CACHE: dict[str, Check] = {
    "mode": one_of("implicit", "explicit"),
    "ttl": text,
    "comparison_response_id": text,
    "prewarm": boolean,
}
FIELDS: dict[str, Check] = {
    "model": text,
    "input": items.check_input,
    "previous_response_id": text,
    "conversation": _conversation,
    "prompt": members({"id": text, "version": text, "variables": mapping}, ["id"]),
    "moderation": mapping,
    "include": array(one_of(*_INCLUDABLE), "strings"),
    "tools": array(tools.check_tool, "tools"),
    "metadata": metadata,
    "text": members({"format": _format, "verbosity": one_of("low", "medium", "high")}),
    "temperature": decimal(0, 2),
    "top_p": decimal(0, 1),
    "presence_penalty": decimal(-2, 2),
    "frequency_penalty": decimal(-2, 2),
    "tool_choice": tools.check_choice,
    "parallel_tool_calls": boolean,
    "stream": boolean,
    "stream_options": members({"include_obfuscation": boolean}),
    "background": boolean,
    "background_options": mapping,
    "max_output_tokens": integer(16),
    "max_tool_calls": integer(1),
    "reasoning": members(REASONING),
    "user": text,
    "safety_identifier": text,
    "prompt_cache_options": members(CACHE),
    "prompt_cache_key": text,
    "prompt_cache_retention": one_of("in_memory", "24h"),
    "truncation": one_of("auto", "disabled"),
    "instructions": text,
    "store": boolean,
    "service_tier": one_of(*TIERS),
    "top_logprobs": integer(0, 20),
    "context_management": array(mapping),
    "access_programs": mapping,
    "image": mapping,
}


def check(body: Any) -> None:
    """Demand a request that the Responses API would take.

    Raises:
        ApiError: The first fault: no model, no input, a field that nobody knows, then each field in turn.
    """
    if not isinstance(body, dict):
        raise wrong_type("body", "an object", body)
    if "messages" in body and "input" not in body:
        moved = "In the Responses API, this parameter has moved to 'input'. Try again with the new parameter."
        raise ApiError(f"Unsupported parameter: 'messages'. {moved}", code="unsupported_parameter")
    for name in ("model", "input"):
        if name in body and body[name] is None:
            raise wrong_type(name, "a string", {})  # here the service calls null an object
        require(body, [name])
    check_fields(body, FIELDS)
    _refuse_unsimulated(body)


def _refuse_unsimulated(body: dict[str, Any]) -> None:
    if not body["model"]:
        raise ApiError("The requested model '' does not exist.", code="model_not_found", param="model")
    if body.get("prompt"):
        raise ApiError(f"Prompt with id '{body['prompt']['id']}' not found.", status=404)
    if body.get("background"):
        message = (
            "The simulated service answers at once and keeps no jobs in the background. Leave 'background' out, or "
            'have a real service answer: hk.connect("live").'
        )
        raise ApiError(message, code="unsupported_parameter", param="background")
