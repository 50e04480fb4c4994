"""Whatever stands in a field of a request over HTTP: it is taken, or refused in the service's words, never a fault."""

import contextlib
import copy
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from http_service import NOW

from handoffkit.endpoint.models.prompt import Reply, ToolCall
from handoffkit.endpoint.protocol import chat, conversations, responses
from handoffkit.endpoint.protocol.api_error import ApiError
from handoffkit.endpoint.protocol.ids import Ids
from handoffkit.endpoint.protocol.store import Store

ODD: list[Any] = [
    None, True, -1, 1.5, 10**30, "", "x", "\ud83d", [], [1], [None], ["x"], [[]], [{}], {}, {"a": 1},
    {"type": "x"}, {"type": []}, {"type": {}}, {"type": "message"},
]  # fmt: skip
TOOL = {"type": "function", "name": "f", "description": "d", "parameters": {"type": "object", "properties": {"a": {}}}}
ITEMS: list[Any] = [
    {"role": "user", "content": [
        {"type": "input_text", "text": "hi"}, {"type": "input_image", "image_url": "u"},
        {"type": "input_file", "filename": "f"}, {"type": "input_audio", "transcript": "w"},
    ]},
    {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "t"}], "encrypted_content": "e"},
    {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [
        {"type": "output_text", "text": "ok", "annotations": []}, {"type": "refusal", "refusal": "no"},
    ]},
    {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}"},
    {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "hi"}]},
    {"type": "additional_tools", "tools": [TOOL]},
    {"type": "mcp_call", "id": "m"},
]  # fmt: skip
RESPONSES: list[Any] = [
    {
        "model": "m", "input": ITEMS, "tools": [TOOL], "tool_choice": {"type": "function", "name": "f"},
        "text": {"format": {"type": "json_schema", "name": "n", "schema": {"type": "object"}}, "verbosity": "low"},
        "reasoning": {"effort": "low", "summary": "auto"}, "metadata": {"a": "b"}, "max_output_tokens": 100,
        "include": ["reasoning.encrypted_content"], "stream_options": {"include_obfuscation": False}, "store": False,
    },
    {
        "model": "m", "input": "x", "tools": [TOOL],
        "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}]},
    },
    {"model": "m", "input": [{"type": "item_reference", "id": "x"}], "conversation": {"id": "x"}},
    {"model": "m", "input": "json", "text": {"format": {"type": "json_object"}}, "prompt": {"id": "p"}},
]  # fmt: skip
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
CHAT: list[Any] = [
    {
        "model": "m",
        "messages": [
            {"role": "system", "content": "s"}, {"role": "user", "content": [{"type": "text", "text": "x"}]},
            {"role": "assistant", "content": None, "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": "x"},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
        "tool_choice": {"type": "function", "function": {"name": "f"}},
        "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "object"}}},
        "stream_options": {"include_usage": True},
    }
]  # fmt: skip
REPLY = Reply("Hi.", (ToolCall("f", "{}"),), ("t",))


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path to everything in *value*, itself first."""
    yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, part in inside:
        yield from places(part, (*path, name))


def changed(body: Any) -> Iterator[Any]:
    """Yield *body* with each part left out, and with each of the odd values in its place."""
    for *way, last in filter(None, places(body)):
        for odd in (..., *ODD):
            other = copy.deepcopy(body)
            part = other
            for name in way:
                part = part[name]
            if odd is ...:
                del part[last]
            else:
                part[last] = odd
            yield other
    yield from ODD


def asked(body: Any) -> None:
    found = responses.ask(body, Store())
    json.dumps([*responses.stream(found, REPLY, Ids("s"), NOW), responses.complete(found, REPLY, Ids("s"), NOW)])


def completed(body: Any) -> None:
    found = chat.ask(body, Store())
    json.dumps([*chat.stream(found, REPLY, Ids("s"), NOW), chat.complete(found, REPLY, Ids("s"), NOW)])


def kept(body: Any) -> None:
    json.dumps(conversations.handle("POST", "/v1/conversations", {}, body, Store(), Ids("s"), NOW))


def listed(limit: str) -> None:
    store = Store()
    conversations.handle("POST", "/v1/conversations", {}, {}, store, Ids("s"), NOW)
    path = f"/v1/conversations/{next(iter(store.conversations))}/items"
    conversations.handle("GET", path, {"limit": limit}, None, store, Ids("s"), NOW)


@pytest.mark.parametrize(
    ("answer", "bodies"),
    [(asked, RESPONSES), (completed, CHAT), (kept, [{"items": ITEMS, "metadata": {"a": "b"}}])],
    ids=["responses", "chat", "conversations"],
)
def test_whatever_stands_in_a_field_is_taken_or_refused(answer: Callable[[Any], None], bodies: list[Any]) -> None:
    for body in bodies:
        for odd in changed(body):
            with contextlib.suppress(ApiError):
                answer(odd)


def test_a_page_has_1_to_100_items() -> None:
    for limit in ("1", "100", "0050"):
        listed(limit)
    for limit in ("0", "101", "9" * 5000, "-1", "x", ""):
        with pytest.raises(ApiError, match="limit"):
            listed(limit)
