"""The messages of a Chat Completions request: checked, then as a model reads them."""

from collections.abc import Sequence
from typing import Any

from ..models.prompt import Item, Message, ToolCall, ToolResult
from .api_error import ApiError
from .fields import Check, anything, array, check_fields, mapping, one_of, require, text, wrong_type, wrong_value

_ROLES = ("system", "assistant", "user", "function", "tool", "developer")
_PARTS = ("text", "image_url", "input_audio", "refusal", "audio", "file")
_SHOWN = {"image_url": "[image]", "input_audio": "[audio]", "file": "[file]"}


def check_messages(value: Any, param: str) -> None:
    """Demand an array of messages, each call of a tool directly followed by its outputs."""
    array(_message)(value, param)
    if not value:
        found = "Expected an array with minimum length 1, but got an empty array instead."
        raise ApiError(f"Invalid '{param}': empty array. {found}", code="empty_array", param=param)
    _check_order(value)


def read(messages: Sequence[dict[str, Any]]) -> tuple[Item, ...]:
    """Return the conversation as a model reads it; `developer` counts as `system`, a message may be several items."""
    return tuple(item for message in messages for item in _read(message))


def words(message: dict[str, Any]) -> str:
    """Return the words of a message; a picture is `[image]`, and so on."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(_words_of(part) for part in content or [])


def _read(message: dict[str, Any]) -> list[Item]:
    said = words(message)
    match message["role"]:
        case "tool":
            return [ToolResult(message["tool_call_id"], said)]
        case "assistant":
            calls = [_read_call(call) for call in message.get("tool_calls") or []]
            said = said or message.get("refusal") or ""
            return [*([Message("assistant", said)] if said or not calls else []), *calls]
        case "user":
            return [Message("user", said)]
    return [Message("system", said)]


def _read_call(call: dict[str, Any]) -> ToolCall:
    return ToolCall(call["function"]["name"], call["function"]["arguments"], call["id"])


def _words_of(part: dict[str, Any]) -> str:
    kind = part["type"]
    return _SHOWN[kind] if kind in _SHOWN else str(part.get(kind) or "")


def _message(value: Any, param: str) -> None:
    mapping(value, param)
    require(value, ["role"], f"{param}.")
    role = value["role"]
    if role not in _ROLES:
        raise wrong_value(f"{param}.role", role, _ROLES)
    if role == "function":
        message = "Messages with role 'function' are not simulated. Use role 'tool', which answers 'tool_calls'."
        raise ApiError(message, code="unsupported_value", param=f"{param}.role")
    if role == "tool":
        require(value, ["content", "tool_call_id"], f"{param}.")
    check_fields(value, _FIELDS, f"{param}.")


def _content(value: Any, param: str) -> None:
    if isinstance(value, list):
        for place, part in enumerate(value):
            _part(part, f"{param}[{place}]")
    elif not isinstance(value, str):
        raise wrong_type(param, "one of a string or array of objects", value)


def _part(part: Any, param: str) -> None:
    mapping(part, param)
    require(part, ["type"], f"{param}.")
    one_of(*_PARTS)(part["type"], f"{param}.type")
    if part["type"] in ("text", "refusal"):
        require(part, [part["type"]], f"{param}.")
        text(part[part["type"]], f"{param}.{part['type']}")


def _call(call: Any, param: str) -> None:
    mapping(call, param)
    require(call, ["id", "type", "function"], f"{param}.")
    text(call["id"], f"{param}.id")
    one_of("function")(call["type"], f"{param}.type")
    mapping(call["function"], f"{param}.function")
    for name in ("name", "arguments"):
        require(call["function"], [name], f"{param}.function.")
        text(call["function"][name], f"{param}.function.{name}")


def _check_order(messages: list[dict[str, Any]]) -> None:
    owed: dict[str, None] = {}
    for place, message in enumerate(messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in owed:
                sentence = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
                raise ApiError(f"Invalid parameter: {sentence}", param=f"messages.[{place}].role")
            del owed[message["tool_call_id"]]
        else:
            _refuse_owed(owed)
            owed = dict.fromkeys(call["id"] for call in message.get("tool_calls") or [])
    _refuse_owed(owed)


def _refuse_owed(owed: dict[str, None]) -> None:
    if owed:
        sentence = (
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(owed)}"
        )
        raise ApiError(sentence, param="messages")


_FIELDS: dict[str, Check] = {
    "role": text,
    "content": _content,
    "name": text,
    "refusal": text,
    "tool_calls": array(_call),
    "tool_call_id": text,
    "audio": mapping,
    "annotations": anything,
    "function_call": anything,
    "reasoning": anything,
    "reasoning_content": anything,
}
