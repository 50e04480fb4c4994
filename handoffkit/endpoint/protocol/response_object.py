"""The response as the service shows it: its fields and their defaults, its items, its usage."""

import base64
import hashlib
from typing import Any

from ..models.prompt import Reply, ToolCall
from . import tools
from .ids import Ids
from .items import Record
from .usage import count_reply, count_thoughts


def begun(body: dict[str, Any], id: str, now: int, conversation_id: str | None) -> Record:
    """Return a response that has just begun; what the request leaves out has the service's defaults."""
    form = {"format": {"type": "text"}, "verbosity": "medium", **(body.get("text") or {})}
    conversation = {"conversation": {"id": conversation_id}} if conversation_id else {}
    cached = {"prompt_cache_options": body["prompt_cache_options"]} if body.get("prompt_cache_options") else {}
    return {
        "id": id,
        "object": "response",
        "created_at": now,
        "status": "in_progress",
        "background": False,
        "completed_at": None,
        **conversation,
        "error": None,
        "frequency_penalty": _or(body, "frequency_penalty", 0.0),
        "incomplete_details": None,
        "instructions": body.get("instructions"),
        "max_output_tokens": body.get("max_output_tokens"),
        "max_tool_calls": body.get("max_tool_calls"),
        "model": body["model"],
        "moderation": None,
        "output": [],
        "parallel_tool_calls": _or(body, "parallel_tool_calls", True),
        "presence_penalty": _or(body, "presence_penalty", 0.0),
        "previous_response_id": body.get("previous_response_id"),
        "prompt_cache_key": body.get("prompt_cache_key"),
        **cached,
        "prompt_cache_retention": body.get("prompt_cache_retention"),
        "reasoning": {"effort": None, "summary": None, **(body.get("reasoning") or {})},
        "safety_identifier": body.get("safety_identifier"),
        "service_tier": body.get("service_tier") or "auto",
        "store": _or(body, "store", True),
        "temperature": _or(body, "temperature", 1.0),
        "text": form,
        "tool_choice": body.get("tool_choice") or "auto",
        "tools": [tools.echoed(tool) for tool in body.get("tools") or []],
        "top_logprobs": body.get("top_logprobs") or 0,
        "top_p": _or(body, "top_p", 1.0),
        "truncation": body.get("truncation") or "disabled",
        "usage": None,
        "user": body.get("user"),
        "metadata": body.get("metadata") or {},
    }


def _or(body: dict[str, Any], name: str, default: float) -> Any:
    return default if body.get(name) is None else body[name]


def tier(asked: str | None) -> str:
    """Return the tier that serves a request which asks for this one."""
    return {"auto": "default", "fast": "priority"}.get(asked or "auto", asked or "default")


def output(reply: Reply, ids: Ids, whole: bool, shown: bool = False) -> list[Record]:
    """Return a reply as items: reasoning first, then words, then calls.

    Args:
        reply: The reply.
        ids: Where ids come from.
        whole: Whether it is all there; else the last item is incomplete.
        shown: Whether the summary of the reasoning has its words.
    """
    items = [_reasoning(reply.reasoning, ids, shown)] if reply.reasoning else []
    if reply.text or not (reply.calls or items):
        part = {"type": "output_text", "annotations": [], "logprobs": [], "text": reply.text}
        stamp = {"id": ids.new("msg", 40), "type": "message", "status": "completed"}
        items.append({**stamp, "content": [part], "role": "assistant"})
    items += [_call(call, ids) for call in reply.calls]
    if not whole:
        items[-1]["status"] = "incomplete"
    return items


def _reasoning(thoughts: tuple[str, ...], ids: Ids, shown: bool) -> Record:
    """Return the item of a model's thoughts.

    Their words are no part of it unless a summary was asked for. What stands for the encrypted thoughts is there
    without being asked for, as the official types say of the service (openai 3, `ResponseReasoningItem`); nobody can
    read thoughts in it.
    """
    id = ids.new("rs", 40)
    summary = [{"type": "summary_text", "text": thought} for thought in thoughts if thought] if shown else []
    return {"id": id, "type": "reasoning", "encrypted_content": encrypted(id, thoughts), "summary": summary}


def encrypted(id: str, thoughts: tuple[str, ...]) -> str:
    """Return what stands for the encrypted thoughts of a reasoning item; the same on every run."""
    digest = hashlib.sha512("/".join((id, *thoughts)).encode(errors="replace")).digest()
    return "gAAAAA" + base64.urlsafe_b64encode(digest).decode()


def _call(call: ToolCall, ids: Ids) -> Record:
    stamp = {"id": ids.new("fc", 40), "type": "function_call", "status": "completed"}
    call_id = call.call_id or ids.new("call", 24)
    return {**stamp, "arguments": call.arguments or "{}", "call_id": call_id, "name": call.name}


def usage(read: int, written: Reply) -> Record:
    """Return the usage of *read* tokens and a reply; what a model thinks counts as written."""
    thought, wrote = count_thoughts(written), count_reply(written)
    return {
        "input_tokens": read,
        "input_tokens_details": {"cache_write_tokens": 0, "cached_tokens": 0},
        "output_tokens": wrote,
        "output_tokens_details": {"reasoning_tokens": thought},
        "total_tokens": read + wrote,
    }
