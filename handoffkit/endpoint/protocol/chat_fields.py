"""The fields of a request to the Chat Completions API, in the order in which the service reports faults."""

from typing import Any

from . import chat_messages, tools
from .api_error import ApiError
from .fields import (
    Check,
    anything,
    array,
    boolean,
    check_fields,
    decimal,
    integer,
    mapping,
    members,
    metadata,
    missing,
    one_of,
    require,
    text,
    wrong_type,
)
from .response_fields import CACHE, TIERS


def _tool(value: Any, param: str) -> None:
    mapping(value, param)
    require(value, ["type"], f"{param}.")
    tools.refuse_hosted(value["type"], f"{param}.type")
    require(value, ["function"], f"{param}.")
    members(tools.FUNCTION, ["name"])(value["function"], f"{param}.function")


def _choice(value: Any, param: str) -> None:
    if isinstance(value, str):
        return one_of("none", "auto", "required")(value, param)
    if not isinstance(value, dict):
        raise wrong_type(param, "one of one of 'none', 'auto', or 'required' or object", value)
    if value.get("type") == "allowed_tools":
        return members({"mode": one_of("auto", "required"), "tools": array(_named)}, ["mode", "tools"])(
            value.get("allowed_tools"), f"{param}.allowed_tools"
        )
    _named(value, param)


def _named(value: Any, param: str) -> None:
    mapping(value, param)
    require(value, ["function"], f"{param}.")
    members({"name": text}, ["name"])(value["function"], f"{param}.function")


def _format(value: Any, param: str) -> None:
    mapping(value, param)
    require(value, ["type"], f"{param}.")
    one_of("json_object", "json_schema", "text")(value["type"], f"{param}.type")
    if value["type"] == "json_schema":
        require(value, ["json_schema"], f"{param}.")
        members({"name": text, "description": text, "schema": mapping, "strict": boolean}, ["name"])(
            value["json_schema"], f"{param}.json_schema"
        )


def _stop(value: Any, param: str) -> None:
    if not isinstance(value, str):
        array(text, "strings")(value, param)


FIELDS: dict[str, Check] = {
    "model": text,
    "messages": chat_messages.check_messages,
    "n": integer(1, 8),
    "stop": _stop,
    "temperature": decimal(0, 2),
    "top_p": decimal(0, 1),
    "presence_penalty": decimal(-2, 2),
    "frequency_penalty": decimal(-2, 2),
    "max_completion_tokens": integer(1),
    "max_tokens": integer(1),
    "tools": array(_tool),
    "tool_choice": _choice,
    "parallel_tool_calls": boolean,
    "functions": array(members(tools.FUNCTION, ["name"])),
    "function_call": anything,
    "response_format": _format,
    "stream": boolean,
    "stream_options": members({"include_usage": boolean, "include_obfuscation": boolean}),
    "store": boolean,
    "metadata": metadata,
    "user": text,
    "safety_identifier": text,
    "seed": integer(),
    "logprobs": boolean,
    "top_logprobs": integer(0, 20),
    "logit_bias": mapping,
    "service_tier": one_of(*TIERS, "scale"),
    "verbosity": one_of("low", "medium", "high"),
    "reasoning_effort": one_of("none", "minimal", "low", "medium", "high", "xhigh", "max"),
    "prediction": mapping,
    "prompt_cache_key": text,
    "prompt_cache_options": members(CACHE),
    "prompt_cache_retention": one_of("in_memory", "24h"),
    "modalities": array(one_of("text", "audio"), "strings"),
    "audio": mapping,
    "moderation": members({"model": text, "policy": mapping}, ["model"]),
    "web_search_options": mapping,
}


def check(body: Any) -> None:
    """Demand a request that the Chat Completions API would take.

    Raises:
        ApiError: The first fault: no model, no messages, a field that nobody knows, then each field in turn.
    """
    if not isinstance(body, dict):
        raise wrong_type("body", "an object", body)
    if not body.get("model"):
        raise ApiError("you must provide a model parameter")
    if body.get("messages") is None:
        raise missing("messages")
    check_fields(body, FIELDS)
    for name in ("tool_choice", "parallel_tool_calls"):
        if body.get(name) is not None and not body.get("tools"):
            message = f"Invalid value for '{name}': '{name}' is only allowed when 'tools' are specified."
            raise ApiError(message, param=name)
    if body.get("stream_options") and not body.get("stream"):
        message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        raise ApiError(message, param="stream_options")
    _refuse_unsimulated(body)


def flat_choice(choice: Any) -> Any:
    """Return a checked `tool_choice` in the shape of the Responses API."""
    match choice:
        case {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": allowed}}:
            return {"type": "allowed_tools", "mode": mode, "tools": [flat_choice(entry) for entry in allowed]}
        case {"function": {"name": name}}:
            return {"type": "function", "name": name}
    return choice


def _refuse_unsimulated(body: dict[str, Any]) -> None:
    for name in ("functions", "function_call"):
        if body.get(name):
            _refuse(name, f"'{name}' is not simulated; it is the old name of a thing. Use 'tools' and 'tool_choice'.")
    if (body.get("n") or 1) > 1:
        _refuse("n", "The simulated service makes one choice for a request. Leave 'n' out, or ask several times.")
    if body.get("audio") or "audio" in (body.get("modalities") or []):
        _refuse("modalities", "The simulated service speaks in the Realtime API alone. Ask for text here.")
    if body.get("web_search_options"):
        _refuse("web_search_options", "Web search options not supported with this model.", None)


def _refuse(param: str, message: str, code: str | None = "unsupported_parameter") -> None:
    raise ApiError(message, code=code, param=param)
