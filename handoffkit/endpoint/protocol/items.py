"""The items of a conversation in the Responses and the Conversations API: checked, kept, and read by a model.

An item comes from the client in several shapes (content as a string or as parts, ids and statuses or none); it is
kept in the one shape in which the service gives it back.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from ..models.prompt import Item, Message, ToolCall, ToolResult
from .api_error import ApiError
from .fields import (
    Check,
    anything,
    array,
    check_fields,
    members,
    one_of,
    require,
    text,
    unknown,
    wrong_type,
    wrong_value,
)
from .ids import Ids
from .tools import check_tool

Record = dict[str, Any]

_ROLES = ("assistant", "system", "developer", "user")
_SPOKEN = ("output_text", "refusal")  # the parts of an assistant's message
_GIVEN = ("input_text", "input_image", "input_file", "scoped_content", "input_audio")  # those of any other message
_PARTS = (
    "input_text", "input_image", "input_audio", "output_text", "refusal", "input_file", "computer_screenshot",
    "summary_text", "encrypted_content",
)  # fmt: skip
_TYPES = (
    "additional_tools", "agent_message", "apply_patch_call", "apply_patch_call_output", "code_interpreter_call",
    "compaction", "compaction_trigger", "computer_call", "computer_call_output", "configuration_update",
    "custom_tool_call", "custom_tool_call_output", "file_search_call", "function_call", "function_call_output",
    "image_generation_call", "item_reference", "local_shell_call", "local_shell_call_output", "mcp_approval_request",
    "mcp_approval_response", "mcp_call", "mcp_list_tools", "message", "multi_agent_call", "multi_agent_call_output",
    "program", "program_output", "reasoning", "shell_call", "shell_call_output", "tool_search_call",
    "tool_search_output", "web_search_call",
)  # fmt: skip
_PREFIXES = {"function_call": "fc", "function_call_output": "fco", "reasoning": "rs"}


def check_input(value: Any, param: str) -> None:
    """Demand what the Responses API takes as input: a string, or an array of items."""
    if isinstance(value, list):
        array(check_item)(value, param)
    elif not isinstance(value, str):
        raise wrong_type(param, "one of a string or array of input items", value)


def check_item(item: Any, param: str) -> None:
    """Demand one item that a client may send."""
    if not isinstance(item, dict):
        raise wrong_type(param, "an input item", item)
    kind = type_of(item)
    if kind not in _TYPES:
        raise wrong_value(param, kind, _TYPES)
    if item.get("id") is not None:
        text(item["id"], f"{param}.id")
    if kind == "message":
        _check_message(item, param)
    if rule := _RULES.get(kind):
        required, table = rule
        require(item, required, f"{param}.")
        check_fields(item, table, f"{param}.")


def fresh(value: str | list[Record]) -> list[Record]:
    """Return checked input as a list of items: a string is one message of the user's."""
    return [{"role": "user", "content": value}] if isinstance(value, str) else value


def kept(item: Record, ids: Ids) -> Record:
    """Return *item* as the service keeps it: with an id, a type, a status, and content in parts."""
    kind = type_of(item)
    stamp = {"id": item.get("id") or ids.new(_PREFIXES.get(kind, "msg")), "type": kind}
    rest = {name: value for name, value in item.items() if value is not None and name not in stamp}
    match kind:
        case "message":
            content = [_part(part) for part in _content(item["content"], item["role"])]
            return {**stamp, "status": "completed", **rest, "content": content}
        case "function_call" | "function_call_output":
            return {**stamp, "status": "completed", **rest}
        case "reasoning":
            return {**stamp, "summary": [], **rest}
    return {**stamp, **rest}


def read(items: Iterable[Record]) -> tuple[Item, ...]:
    """Return the conversation as a model reads it, in order.

    `developer` counts as `system`. Reasoning, and what tools of OpenAI's own left behind, is not for a simulated
    model to read and is passed over.
    """
    return tuple(read_one for item in items if (read_one := _read(item)) is not None)


def added_tools(items: Iterable[Record]) -> list[Record]:
    """Return the tools that the conversation itself brought in (`additional_tools`)."""
    return [tool for item in items if item.get("type") == "additional_tools" for tool in item["tools"]]


def check_pairs(items: Sequence[Record]) -> None:
    """Demand that every call of a function has its output and every output its call.

    Raises:
        ApiError: The first that is alone, by the `call_id`.
    """
    calls = {item["call_id"] for item in items if item.get("type") == "function_call"}
    outputs = {item["call_id"]: None for item in items if item.get("type") == "function_call_output"}
    for call_id in outputs:
        if call_id not in calls:
            raise _input_error(f"No tool call found for function call output with call_id {call_id}.")
    for item in items:
        if item.get("type") == "function_call" and item["call_id"] not in outputs:
            raise _input_error(f"No tool output found for function call {item['call_id']}.")


def check_new(past: Iterable[Record], new: Iterable[Record]) -> None:
    """Refuse an item that is there already, which would be counted twice."""
    seen = {item["id"] for item in past}
    for item in new:
        if item.get("id") in seen:
            advice = "Remove duplicate items from your input and try again."
            raise _input_error(f"Duplicate item found with id {item['id']}. {advice}")
        if item.get("id"):
            seen.add(item["id"])


def ids_in(items: Iterable[Record]) -> set[str]:
    """Return the ids of *items* and of the calls in them."""
    return {item[name] for item in items for name in ("id", "call_id") if isinstance(item.get(name), str)}


def type_of(item: Record) -> Any:
    """Return what kind of item this is; one without a type is a message, or names another by its id alone."""
    if item.get("type") is None:
        return "item_reference" if "id" in item and "role" not in item else "message"
    return item["type"]


def _read(item: Record) -> Item | None:
    match type_of(item):
        case "message":
            role = item["role"]
            joint = "" if role == "assistant" else "\n"
            return Message("system" if role == "developer" else role, _words(item["content"], joint))
        case "function_call":
            return ToolCall(item["name"], item["arguments"], item["call_id"])
        case "function_call_output":
            return ToolResult(item["call_id"], _words(item["output"], "\n"))
    return None


def _words(content: str | list[Record], joint: str) -> str:
    return content if isinstance(content, str) else joint.join(_words_of(part) for part in content)


def _content(content: str | list[Record], role: str) -> list[Record]:
    kind = "output_text" if role == "assistant" else "input_text"
    return [{"type": kind, "text": content}] if isinstance(content, str) else content


def _part(part: Record) -> Record:
    match part["type"]:
        case "output_text":
            return {"annotations": [], "logprobs": [], **part}
        case "input_image":
            return {"detail": "auto", **part}
    return part


def _words_of(part: Record) -> str:
    match part["type"]:
        case "input_text" | "output_text":
            return str(part["text"])
        case "refusal":
            return str(part["refusal"])
        case "input_audio":
            return part.get("transcript") or "[audio]"
        case "input_file":
            return f"[file: {part['filename']}]" if part.get("filename") else "[file]"
    return "[image]"


def _check_message(item: Record, param: str) -> None:
    role = item.get("role")
    if role not in _ROLES:
        raise wrong_value(param, role, _ROLES)
    if role != "assistant" and "phase" in item:
        raise unknown("phase", (), f"{param}.")
    if "content" in item:
        _check_content(item["content"], role, f"{param}.content")


def _check_content(content: Any, role: str, param: str) -> None:
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        raise wrong_type(param, "one of a string or array of objects", content)
    for place, part in enumerate(content):
        _check_part(part, _SPOKEN if role == "assistant" else _GIVEN, f"{param}[{place}]")


def _check_part(part: Any, allowed: Sequence[str], param: str) -> None:
    if not isinstance(part, dict):
        raise wrong_type(param, "an object", part)
    require(part, ["type"], f"{param}.")
    kind = part["type"]
    if kind not in (*_PARTS, *allowed):
        raise wrong_value(f"{param}.type", kind, _PARTS)
    if kind not in allowed:
        raise wrong_value(param, kind, allowed)
    if field := {"input_text": "text", "output_text": "text", "refusal": "refusal"}.get(kind):
        require(part, [field], f"{param}.")
        text(part[field], f"{param}.{field}")
    if part.get("transcript") is not None:
        text(part["transcript"], f"{param}.transcript")


def _output(value: Any, param: str) -> None:
    if isinstance(value, list):
        for place, part in enumerate(value):
            _check_part(part, _GIVEN, f"{param}[{place}]")
    elif not isinstance(value, str):
        raise wrong_type(param, "one of a string or array of objects", value)


def _input_error(message: str) -> ApiError:
    return ApiError(message, param="input")


_STATUS = one_of("in_progress", "completed", "incomplete")
_COMMON: dict[str, Check] = {"type": text, "id": text, "status": _STATUS}
_CALLED: dict[str, Check] = {
    "call_id": text, "name": text, "namespace": text, "caller": anything, "created_by": anything,
}  # fmt: skip
_RULES: dict[str, tuple[list[str], dict[str, Check]]] = {
    "message": (
        ["content"],
        {**_COMMON, "role": text, "content": anything, "phase": one_of("commentary", "final_answer")},
    ),
    "function_call": (
        ["call_id", "name", "arguments"],
        {**_COMMON, **_CALLED, "arguments": text, "async": anything},
    ),
    "function_call_output": (["call_id", "output"], {**_COMMON, **_CALLED, "output": _output}),
    "item_reference": (["id"], {**_COMMON}),
    "reasoning": (
        ["summary"],
        {
            **_COMMON,
            "summary": array(members({"type": one_of("summary_text"), "text": text}, ["type", "text"])),
            "content": array(members({"type": one_of("reasoning_text"), "text": text}, ["type", "text"])),
            "encrypted_content": text,
        },
    ),
    "additional_tools": (["tools"], {**_COMMON, "role": text, "tools": array(check_tool, "tools")}),
}
