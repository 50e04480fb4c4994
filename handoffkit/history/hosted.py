"""What OpenAI's own tools did within a response (web search, MCP, …), as items and as pydantic-ai's parts.

pydantic-ai sends such a part back by its id and arguments alone, so they are named and shaped here as it does it. The
item itself is kept beside them, whole, for the way back.
"""

import base64
import binascii
import json
from collections.abc import Iterable
from typing import Any

from pydantic_ai.messages import (
    BinaryContent,
    FilePart,
    ModelResponsePart,
    NativeToolCallPart,
    NativeToolReturnPart,
)

from .files import Record

PROVIDER = "openai"
KEPT = "item"
"""Where in `provider_details` the item itself is kept."""
NAMES = {
    "web_search_call": "web_search",
    "file_search_call": "file_search",
    "code_interpreter_call": "code_execution",
    "image_generation_call": "image_generation",
    "mcp_call": "mcp_server",
    "mcp_list_tools": "mcp_server",
}
"""The tools that pydantic-ai (2.68) knows, by the type of their item; those of an MCP server have its label, too."""
CALLED = {
    *("computer_call", "computer_call_output", "local_shell_call", "local_shell_call_output", "shell_call"),
    *("shell_call_output", "apply_patch_call", "apply_patch_call_output", "tool_search_call", "tool_search_output"),
    *("mcp_approval_request", "mcp_approval_response", "program", "program_output", "multi_agent_call"),
    *("multi_agent_call_output", "agent_message"),
}
"""Items of tools that pydantic-ai has no part for."""


def parts_of(item: Record) -> list[ModelResponsePart]:
    """Return one of the items in `NAMES` as a call, its return, and the file that it made, if any."""
    name, args, content = _read(item)
    id = str(item.get("id"))
    call = NativeToolCallPart(name, args, id, id=id, provider_name=PROVIDER, provider_details={KEPT: dict(item)})
    returned = NativeToolReturnPart(
        name, {k: v for k, v in content.items() if v is not None}, id, provider_name=PROVIDER
    )
    return [call, *_made(item, id), returned]


def _read(item: Record) -> tuple[str, Record | None, Record]:
    name, status = NAMES[item["type"]], {"status": item.get("status") or "completed"}
    match item["type"]:
        case "web_search_call":
            action = dict(item["action"]) if isinstance(item.get("action"), dict) else {}
            sources = action.pop("sources", None)
            return name, action or None, {**status, "sources": sources}
        case "file_search_call":
            return name, {"queries": item.get("queries") or []}, {**status, "results": item.get("results")}
        case "code_interpreter_call":
            given = item.get("outputs")
            outputs = [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []
            logs = [each["logs"] for each in outputs if each.get("logs")]
            args = {"container_id": item.get("container_id"), "code": item.get("code") or ""}
            return name, args, {**status, "logs": logs or None}
        case "image_generation_call":
            return name, None, {**status, "revised_prompt": item.get("revised_prompt")}
        case "mcp_list_tools":
            labelled = f"{name}:{item.get('server_label')}"
            return labelled, {"action": "list_tools"}, {"tools": item.get("tools"), "error": item.get("error")}
    args = {"action": "call_tool", "tool_name": item.get("name"), "tool_args": _json(item.get("arguments"))}
    return f"{name}:{item.get('server_label')}", args, {"output": item.get("output"), "error": item.get("error")}


def _made(item: Record, id: str) -> list[ModelResponsePart]:
    """Return the picture that a tool made."""
    if item["type"] != "image_generation_call" or not item.get("result"):
        return []
    try:
        data = base64.b64decode(str(item["result"]), validate=True)
    except (ValueError, binascii.Error):
        return []
    image = BinaryContent(data, media_type=f"image/{item.get('output_format') or 'png'}")
    return [FilePart(BinaryContent.narrow_type(image), id=id, provider_name=PROVIDER)]


def item_of(call: NativeToolCallPart, others: Iterable[object]) -> Record | None:
    """Return the item of a hosted tool's call, with what *others* of its response say of it; None if there is none.

    It is the item that was kept, or one made from a part of pydantic-ai's own run against OpenAI.
    """
    if isinstance(kept := (call.provider_details or {}).get(KEPT), dict) and isinstance(kept.get("type"), str):
        return dict(kept)
    if call.provider_name != PROVIDER or not call.tool_call_id:
        return None
    same = [each for each in others if _of(each, call.tool_call_id)]
    contents = [each.content for each in same if isinstance(each, NativeToolReturnPart)]
    content = next((each for each in contents if isinstance(each, dict)), {})
    made = next((each.content for each in same if isinstance(each, FilePart)), None)
    return _rebuilt(call, content, made)


def _of(part: object, id: str) -> bool:
    match part:
        case NativeToolReturnPart(tool_call_id=other):
            return other == id
        case FilePart(id=other):
            return other == id
    return False


def _rebuilt(call: NativeToolCallPart, content: Record, made: BinaryContent | None) -> Record | None:
    args = call.args_as_dict()
    item: Record = {"id": call.tool_call_id, "status": content.get("status") or "completed"}
    match call.tool_name.split(":", 1):
        case ["web_search"] if args.get("type"):
            return {**item, "type": "web_search_call", "action": {k: v for k, v in args.items() if v is not None}}
        case ["file_search"]:
            found = {"queries": args.get("queries") or [], "results": content.get("results")}
            return {**item, "type": "file_search_call", **found}
        case ["code_execution"] if args.get("container_id"):
            outputs = [{"type": "logs", "logs": logs} for logs in content.get("logs") or []]
            ran = {"code": args.get("code"), "container_id": args["container_id"], "outputs": outputs or None}
            return {**item, "type": "code_interpreter_call", **ran}
        case ["image_generation"]:
            return {**item, "type": "image_generation_call", "result": made.base64 if made else None}
        case ["mcp_server", label]:
            return _rebuilt_mcp(call.tool_call_id, label, args, content)
    return None


def _rebuilt_mcp(id: str, label: str, args: Record, content: Record) -> Record | None:
    item: Record = {"id": id, "server_label": label, "error": content.get("error")}
    match args:
        case {"action": "list_tools"}:
            return {**item, "type": "mcp_list_tools", "tools": content.get("tools") or []}
        case {"action": "call_tool", "tool_name": str(name), "tool_args": given}:
            called = {"name": name, "arguments": json.dumps(given, ensure_ascii=False), "output": content.get("output")}
            return {**item, "type": "mcp_call", **called}
    return None


def _json(text: Any) -> Any:
    try:
        return json.loads(text) if text else {}
    except ValueError:
        return {"INVALID_JSON": text}
