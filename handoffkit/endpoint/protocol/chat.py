"""The Chat Completions API: a request as a dict in, a completion as a dict or as chunks out.

The server ends a stream with `data: [DONE]`; this module yields the chunks before it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ..models.prompt import Prompt, Reply, ToolCall
from . import chat_fields, chat_messages, tools
from .api_error import ApiError
from .deltas import obfuscation, pieces
from .ids import Ids
from .usage import count_prompt, count_reply, count_thoughts, within

Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Ask:
    """A request that was found in order."""

    prompt: Prompt
    stream: bool
    body: Record
    conversation: None = None
    """This API keeps none; here so that `chat` and `responses` are called alike."""


def ask(body: Any, store: object = None) -> Ask:
    """Read the JSON body of `POST /v1/chat/completions`.

    Args:
        body: The body, whatever it is.
        store: Not used; here so that `chat` and `responses` are called alike.

    Raises:
        ApiError: What the service would answer to a request that is not in order, or one that asks for what cannot
            be simulated (several choices, spoken answers, `functions`).
    """
    chat_fields.check(body)
    if (body.get("response_format") or {}).get("type") == "json_object" and not _mentions_json(body["messages"]):
        message = "must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
        raise ApiError(f"'messages' {message}", param="messages")
    return Ask(_prompt(body), bool(body.get("stream")), body)


def complete(asked: Ask, reply: Reply, ids: Ids, now: float) -> Record:
    """Return the whole completion.

    Args:
        asked: The request.
        reply: What the model answered.
        ids: Where ids come from.
        now: Seconds since 1970.
    """
    written, why = _written(asked, reply, ids)
    message: Record = {
        "role": "assistant",
        "content": written.text if written.text or not written.calls else None,
        **({"tool_calls": [_call(call) for call in written.calls]} if written.calls else {}),
        "refusal": None,
        "annotations": [],
    }
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": why}
    begun = _begun("chat.completion", asked, ids, now)
    return {**begun, "choices": [choice], "usage": _usage(asked, written)}


def stream(asked: Ask, reply: Reply, ids: Ids, now: float) -> Iterator[Record]:
    """Yield the chunks of a streamed completion, the usage last if it was asked for; arguments as in `complete`."""
    written, why = _written(asked, reply, ids)
    options = asked.body.get("stream_options") or {}
    common = _begun("chat.completion.chunk", asked, ids, now)
    counted: Record = {"usage": None} if options.get("include_usage") else {}
    for number, (delta, end) in enumerate([*((delta, None) for delta in _deltas(written)), ({}, why)]):
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": end}
        chunk = {**common, "choices": [choice], **counted}
        yield _padded(chunk, number) if options.get("include_obfuscation", True) else chunk
    if counted:
        yield {**common, "choices": [], "usage": _usage(asked, written)}


def fail(asked: Ask, error: ApiError, ids: Ids, now: float) -> Iterator[Record]:
    """Yield what a stream carries when the model fails; arguments as in `complete`, and as in `responses`."""
    yield error.body()


def _prompt(body: Record) -> Prompt:
    given = tuple(tools.read_tool(tool["function"]) for tool in body.get("tools") or [])
    choice, allowed = tools.choose(chat_fields.flat_choice(body.get("tool_choice")), given)
    form = body.get("response_format") or {}
    return Prompt(
        model=body["model"],
        history=chat_messages.read(body["messages"]),
        tools=allowed,
        tool_choice=choice,
        output_schema=form["json_schema"].get("schema") or {} if form.get("type") == "json_schema" else None,
        json_object=form.get("type") == "json_object",
    )


def _mentions_json(messages: list[Record]) -> bool:
    return any("json" in chat_messages.words(message).lower() for message in messages)


def _written(asked: Ask, reply: Reply, ids: Ids) -> tuple[Reply, str]:
    """Return what of *reply* is sent, its calls with ids, and why it ends there."""
    body = asked.body
    calls = reply.calls[:1] if body.get("parallel_tool_calls") is False else reply.calls
    ids = ids.beside({call.call_id for call in asked.prompt.history if isinstance(call, ToolCall)})
    named = tuple(ToolCall(call.name, call.arguments or "{}", call.call_id or ids.new("call", 24)) for call in calls)
    stops = [body["stop"]] if isinstance(body.get("stop"), str) else body.get("stop") or []
    text = reply.text[: min((at for stop in stops if (at := reply.text.find(stop)) >= 0), default=None)]
    written, whole = within(
        Reply(text, named, reply.reasoning), body.get("max_completion_tokens") or body.get("max_tokens")
    )
    return written, "length" if not whole else "tool_calls" if named else "stop"


def _deltas(written: Reply) -> Iterator[Record]:
    opening: Record = {"role": "assistant", "content": None, "refusal": None}
    if written.text or not written.calls:
        yield {**opening, "content": ""}
        yield from ({"content": delta} for delta in pieces(written.text))
        opening = {}
    for index, call in enumerate(written.calls):
        blank = {"index": index, **_call(ToolCall(call.name, "", call.call_id))}
        yield {**opening, "tool_calls": [blank]}
        opening = {}
        for delta in pieces(call.arguments):
            yield {"tool_calls": [{"index": index, "function": {"arguments": delta}}]}


def _call(call: ToolCall) -> Record:
    return {"id": call.call_id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _padded(chunk: Record, number: int) -> Record:
    delta = chunk["choices"][0]["delta"]
    calls = delta.get("tool_calls")
    said = calls[0]["function"]["arguments"] if calls else delta.get("content") or ""
    return {**chunk, "obfuscation": obfuscation(said, (chunk["id"], number))}


def _begun(kind: str, asked: Ask, ids: Ids, now: float) -> Record:
    id = "chatcmpl-" + ids.new("chatcmpl", 29).removeprefix("chatcmpl_")
    tier = asked.body.get("service_tier") or "default"
    return {
        "id": id,
        "object": kind,
        "created": int(now),
        "model": asked.body["model"],
        "service_tier": "default" if tier == "auto" else tier,
        "system_fingerprint": None,
    }


def _usage(asked: Ask, written: Reply) -> Record:
    read, wrote = count_prompt(asked.prompt), count_reply(written)
    return {
        "prompt_tokens": read,
        "completion_tokens": wrote,
        "total_tokens": read + wrote,
        "prompt_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": count_thoughts(written),
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }
