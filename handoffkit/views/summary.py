"""What matters in a frame, in one short line: the words of the event table.

A frame may come from any service, so nothing about its data is taken for granted: what is missing or of another kind
is left out.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..marks import posted
from ..wire.frames import Frame

LIMIT = 100
"""Characters of a summary, about."""
BYTES_PER_SECOND = 48_000
"""PCM16 mono at 24000 Hz."""

Data = dict[str, Any]


def streams(event: str) -> bool:
    """Tell whether *event* is one of many pieces of the same thing: a delta, a block of sound."""
    return event.endswith(".delta") or event in ("input_audio_buffer.append", "chat.completion.chunk")


def summary(frames: Sequence[Frame]) -> str:
    """Return what *frames*, one or a run of the same streamed event, say; untrusted, perhaps empty, not yet cut."""
    sound = sum(frame.audio.bytes for frame in frames if frame.audio)
    if sound:
        return f"{sound / BYTES_PER_SECOND:.2f} s of sound"
    first = frames[0]
    if streams(first.event):
        return _quoted(_pieces(frames))
    if first.channel == "mark":
        return _mark(first)
    return _WORDS.get(first.event, _by_name)(first.data | {"": first.event})


def call(name: object, arguments: object) -> str:
    """Return a call of a tool as code would write it: `look_up(order="A-17")`; *arguments* is JSON in a string."""
    given = _parsed(arguments)
    if isinstance(given, dict) and all(str(key).isidentifier() for key in given):
        arguments = ", ".join(f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in given.items())
    return f"{name}({arguments})"


def _parsed(arguments: object) -> object:
    try:
        return json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        return None


def _pieces(frames: Iterable[Frame]) -> str:
    """Join the words of a run of deltas, no more of them than can be shown."""
    words = ""
    for frame in frames:
        data = frame.data
        words += _text(data.get("delta")) or _text(_get(data, "choices", 0, "delta", "content"))
        if len(words) > 2 * LIMIT:
            break
    return words


def _get(data: object, *path: str | int) -> Any:
    """Follow *path* into nested dicts and lists; None where it leads nowhere."""
    for step in path:
        if isinstance(step, int):
            data = data[step] if isinstance(data, list) and step < len(data) else None
        else:
            data = data.get(step) if isinstance(data, dict) else None
    return data


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _quoted(words: object) -> str:
    return f"“{_text(words)}”" if words else ""


def _said(*parts: object) -> str:
    return ", ".join(str(part) for part in parts if part not in (None, ""))


def _names(tools: object) -> str:
    names = [_text(_get(tool, "name") or _get(tool, "function", "name")) for tool in _list(tools)]
    return f"tools: {' '.join(filter(None, names))}" if any(names) else ""


def _mark(frame: Frame) -> str:
    try:
        return str(posted(frame))
    except (TypeError, ValueError):
        return _by_name(frame.data)


def _session(data: Data) -> str:
    session = data.get("session")
    voice = _get(session, "audio", "output", "voice")
    return _said(
        _get(session, "model"),
        voice and f"voice {voice}",
        _names(_get(session, "tools")),
        _quoted(_get(session, "instructions")),
    )


def _item(item: object) -> str:
    match _get(item, "type"):
        case "function_call":
            return call(_get(item, "name"), _get(item, "arguments"))
        case "function_call_output":
            return f"→ {_get(item, 'output')}"
        case _:
            content = _get(item, "content")
            parts = (_text(_get(part, "text") or _get(part, "transcript")) for part in _list(content))
            return " ".join(filter(None, (_text(_get(item, "role")), _quoted(_text(content) or " ".join(parts)))))


def _message(message: object) -> str:
    """Return a message of Chat Completions: its words and its calls."""
    calls = [_get(each, "function") for each in _list(_get(message, "tool_calls"))]
    return _said(
        _quoted(_get(message, "content")), *(call(_get(each, "name"), _get(each, "arguments")) for each in calls)
    )


def _error(error: object) -> str:
    return _said(_get(error, "message"), _get(error, "code"))


def _response(data: Data) -> str:
    response = data.get("response") if "response" in data else data
    why, usage = _get(response, "status_details"), _get(response, "usage")
    return _said(
        _get(response, "status"),
        _get(why, "reason"),
        _error(_get(response, "error") or _get(why, "error")),
        usage and f"{_get(usage, 'input_tokens')} tokens in, {_get(usage, 'output_tokens')} out",
        *(_item(item) for item in _list(_get(response, "output"))),
    )


def _asked(data: Data) -> str:
    """Return what a request over HTTP asks for."""
    items = data.get("input") or data.get("messages")
    last = _list(items)[-1] if _list(items) else None
    form = _get(data, "text", "format", "name") or _get(data, "response_format", "json_schema", "name")
    words = _quoted(items) if isinstance(items, str) else _item(last) if last else ""
    return _said(data.get("model"), _names(data.get("tools")), form and f"format {form}", words)


def _answered(data: Data) -> str:
    """Return what an unstreamed answer over HTTP says."""
    if data.get("error"):
        return _error(data["error"])
    if "choices" in data:
        return _message(_get(data, "choices", 0, "message"))
    return _response(data) if "output" in data else _by_name(data)


def _by_name(data: Data) -> str:
    """Return something about a frame of which only the shape is known."""
    event = data.get("", "")
    if " " in event:
        return _asked(data)
    if event.isdigit():
        return _answered(data)
    if "item" in data:
        return _item(data["item"])
    if data.get("error"):
        return _error(data["error"])
    plain = ((key, value) for key, value in data.items() if key not in ("", "type", "event_id", "object"))
    return _said(*(f"{key} {value}" for key, value in plain if isinstance(value, str | int | float) and value != ""))


def _limits(data: Data) -> str:
    limits = _list(data.get("rate_limits"))
    return _said(*(f"{_get(each, 'name')}: {_get(each, 'remaining')} of {_get(each, 'limit')} left" for each in limits))


def _closed(data: Data) -> str:
    code = data.get("code")
    return _said(f"by the {data.get('by')}", None if code is None else f"code {code}", data.get("reason"))


def _trace(data: Data) -> str:
    group, metadata = data.get("group_id"), _get(data, "metadata")
    given = [f"{name} {value}" for name, value in metadata.items()] if isinstance(metadata, dict) else []
    return _said(_quoted(data.get("workflow_name")), group and f"group {group}", *given)


def _span(data: Data) -> str:
    """Return what a part of a trace of openai-agents was. What the SDK calls `custom` has its kind within."""
    span = data.get("span_data")
    kind, inner = _get(span, "type"), _get(span, "data")
    if kind == "custom" and isinstance(_get(inner, "sdk_span_type"), str):
        kind = inner["sdk_span_type"]
    return _said(" ".join(filter(None, (_text(kind), _span_of(kind, span, inner)))), _error(data.get("error")))


def _span_of(kind: object, span: object, inner: object) -> str:
    match kind:
        case "turn":
            return f"{_get(inner, 'turn')} of {_get(inner, 'agent_name')}"
        case "task":
            return _quoted(_get(inner, "name"))
        case "function":
            output = _get(span, "output")
            answer = "" if output is None else f" → {output}"
            return call(_get(span, "name"), _get(span, "input") or "") + answer
        case "handoff":
            return f"{_get(span, 'from_agent')} → {_get(span, 'to_agent')}"
        case "guardrail":
            return f"{_get(span, 'name')}: {'triggered' if _get(span, 'triggered') else 'passed'}"
        case "response" | "generation":
            usage = _get(span, "usage")
            tokens = f"{_get(usage, 'input_tokens')} tokens in, {_get(usage, 'output_tokens')} out" if usage else ""
            return _said(_get(span, "model"), tokens)
        case _:
            return _text(_get(span, "name"))


_WORDS: dict[str, Callable[[Data], str]] = {
    "open": lambda data: _said(data.get("path"), data.get("model")),
    "close": _closed,
    "text": lambda data: _text(data.get("text")),
    "binary": lambda data: f"{data.get('bytes')} bytes",
    "error": lambda data: _error(data.get("error") or data),
    "rate_limits.updated": _limits,
    "trace_start": _trace,
    "trace_end": _trace,
    "span_end": _span,
    "session.created": _session,
    "session.update": _session,
    "session.updated": _session,
    "conversation.item.truncate": lambda data: f"after {data.get('audio_end_ms')} ms of {data.get('item_id')}",
    "conversation.item.truncated": lambda data: f"after {data.get('audio_end_ms')} ms of {data.get('item_id')}",
    "conversation.item.input_audio_transcription.completed": lambda data: _quoted(data.get("transcript")),
    "input_audio_buffer.speech_started": lambda data: f"at {data.get('audio_start_ms')} ms of the sound",
    "input_audio_buffer.speech_stopped": lambda data: f"at {data.get('audio_end_ms')} ms of the sound",
    "input_audio_buffer.committed": lambda data: _text(data.get("item_id")),
    "response.create": lambda data: _quoted(_get(data, "response", "instructions")),
    "response.created": _response,
    "response.in_progress": _response,
    "response.completed": _response,
    "response.incomplete": _response,
    "response.failed": _response,
    "response.done": _response,
    "response.content_part.added": lambda data: _text(_get(data, "part", "type")),
    "response.content_part.done": lambda data: _text(_get(data, "part", "type")),
    "response.output_text.done": lambda data: _quoted(data.get("text")),
    "response.output_audio.done": lambda data: "",
    "response.output_audio_transcript.done": lambda data: _quoted(data.get("transcript")),
    "response.function_call_arguments.done": lambda data: call(data.get("name"), data.get("arguments")),
}
