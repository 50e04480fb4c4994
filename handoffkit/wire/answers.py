"""One exchange of a text model's, from the frames of the log: what was asked, what came back, how it ended. Pure.

Responses and Chat Completions, streamed or not, over HTTP or a WebSocket, come out alike. A frame may come from any
service, so nothing about its data is taken for granted.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from .conversation import Usage
from .frames import Frame


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool, as the model wrote it."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back to one request."""

    conn: str
    id: str = ""
    """The id of the response; empty if none came."""
    model: str = ""
    """The model that answered, or else the one that was asked for."""
    text: str = ""
    calls: tuple[Call, ...] = ()
    refusal: str = ""
    """The model's words for not answering."""
    usage: Usage | None = None
    failure: str = ""
    """Why there is no whole answer, in plain words; empty if there is one."""
    start: float = 0.0
    """Seconds since the log began, when the request was sent."""
    end: float = 0.0
    """Seconds since the log began, when the answer was whole or broke off."""

    @property
    def readable(self) -> bool:
        """Whether an SDK gets a response out of it: a broken stream counts, an error does not."""
        return not self.failure or bool(self.text or self.calls)

    @property
    def seconds(self) -> float:
        """How long the answer took."""
        return max(0.0, self.end - self.start)


def answers(frames: Iterable[Frame]) -> list[Answer]:
    """Return the exchanges of `/v1/responses` and `/v1/chat/completions` in *frames*, in the order of the requests.

    A connection over HTTP has one; a WebSocket has one for each `response.create`, in lanes that may run side by side.
    """
    exchanges: list[list[Frame]] = []
    latest: dict[tuple[str, str], list[Frame]] = {}
    for frame in frames:
        if frame.channel in ("responses", "chat"):
            lane = frame.conn, _text(frame.data.get("stream_id"))
            if lane not in latest or (_asks(frame) and any(_asks(before) for before in latest[lane])):
                latest[lane] = []
                exchanges.append(latest[lane])
            latest[lane].append(frame)
    return [
        _answer(exchange) for exchange in exchanges if any(_asks(frame) for frame in exchange) or _kept_out(exchange)
    ]


def _asks(frame: Frame) -> bool:
    return frame.dir == "client" and (frame.event.startswith("POST ") or frame.event == "response.create")


def _kept_out(exchange: Sequence[Frame]) -> bool:
    """Say whether a WebSocket was refused before anything was asked."""
    return exchange[0].event == "open" and any(frame.dir == "server" and frame.event.isdigit() for frame in exchange)


def _answer(frames: Sequence[Frame]) -> Answer:
    request = next((frame for frame in frames if _asks(frame)), frames[0])
    came = [frame for frame in frames if frame.dir == "server" and frame.event not in ("close", "fault")]
    asked: dict[str, Any] = {
        "conn": request.conn,
        "model": _text(request.data.get("model")),
        "start": request.at,
        "end": came[-1].at if came else frames[-1].at,
    }
    if not came:
        return Answer(**asked, failure="the connection broke off before an answer came")
    read = _streamed(came) if not came[0].event.isdigit() else _whole(came[0])
    return Answer(**asked | {key: value for key, value in read.items() if value})


def _whole(frame: Frame) -> dict[str, Any]:
    status, data = int(frame.event), frame.data
    error = data.get("error")
    if status >= 400 or (error and not data.keys() & {"output", "choices"}):
        return _failure(error, f"HTTP {status}")
    if isinstance(data.get("choices"), list):
        return _chat(data)
    return (
        _response(data) if isinstance(data.get("output"), list) else {"failure": f"HTTP {status}, but no answer in it"}
    )


def _streamed(frames: Sequence[Frame]) -> dict[str, Any]:
    if frames[0].event == "chat.completion.chunk":
        return _chunks(frames)
    for frame in reversed(frames):
        if frame.event in ("response.completed", "response.incomplete", "response.failed"):
            return _response(_dict(frame.data.get("response")))
        if frame.event == "error":
            status = frame.data.get("status")
            what = f"HTTP {status}" if isinstance(status, int) else "an error in the stream"
            return _failure(frame.data.get("error") or frame.data, what)
    deltas = (_text(frame.data.get("delta")) for frame in frames if frame.event == "response.output_text.delta")
    return {"text": "".join(deltas), "failure": "the stream broke off in the middle of the answer"}


def _response(data: dict[str, Any]) -> dict[str, Any]:
    """Read a response object of the Responses API."""
    items = [item for item in _list(data.get("output")) if isinstance(item, dict)]
    parts = [part for item in items for part in _list(item.get("content")) if isinstance(part, dict)]
    usage = _dict(data.get("usage"))
    return {
        "id": _text(data.get("id")),
        "model": _text(data.get("model")),
        "text": "".join(_text(part.get("text")) for part in parts if part.get("type") == "output_text"),
        "refusal": "".join(_text(part.get("refusal")) for part in parts if part.get("type") == "refusal"),
        "calls": tuple(
            Call(_text(item.get("name")), _text(item.get("arguments")))
            for item in items
            if item.get("type") == "function_call"
        ),
        "usage": _usage(usage.get("input_tokens"), usage.get("output_tokens")),
        **_ended(data),
    }


def _ended(data: dict[str, Any]) -> dict[str, Any]:
    match data.get("status"):
        case "failed":
            return _failure(data.get("error"), "the response failed")
        case "incomplete":
            reason = _text(_dict(data.get("incomplete_details")).get("reason")) or "no reason given"
            return {"failure": f"the answer is incomplete ({reason})"}
    return {}


def _chat(data: dict[str, Any]) -> dict[str, Any]:
    """Read a completion of Chat Completions."""
    choice = _dict(next(iter(_list(data.get("choices"))), None))
    message = _dict(choice.get("message"))
    usage = _dict(data.get("usage"))
    calls = [_dict(_dict(call).get("function")) for call in _list(message.get("tool_calls"))]
    return {
        "id": _text(data.get("id")),
        "model": _text(data.get("model")),
        "text": _text(message.get("content")),
        "refusal": _text(message.get("refusal")),
        "calls": tuple(Call(_text(call.get("name")), _text(call.get("arguments"))) for call in calls),
        "usage": _usage(usage.get("prompt_tokens"), usage.get("completion_tokens")),
        "failure": "the answer is incomplete (length)" if choice.get("finish_reason") == "length" else "",
    }


def _chunks(frames: Sequence[Frame]) -> dict[str, Any]:
    """Put the pieces of a streamed completion together, and read it as if it had come in one."""
    message: dict[str, Any] = {"content": "", "refusal": "", "tool_calls": {}}
    whole: dict[str, Any] = {}
    finish = ""
    for frame in frames:
        data = frame.data
        if frame.event != "chat.completion.chunk":
            continue
        whole |= {key: data[key] for key in ("id", "model", "usage") if data.get(key)}
        choice = _dict(next(iter(_list(data.get("choices"))), None))
        _add(message, _dict(choice.get("delta")))
        finish = _text(choice.get("finish_reason")) or finish
    message["tool_calls"] = list(message["tool_calls"].values())
    read = _chat(whole | {"choices": [{"message": message, "finish_reason": finish}]})
    return read if finish else read | {"failure": "the stream broke off in the middle of the answer"}


def _add(message: dict[str, Any], delta: dict[str, Any]) -> None:
    for key in ("content", "refusal"):
        message[key] += _text(delta.get(key))
    for piece in _list(delta.get("tool_calls")):
        call = message["tool_calls"].setdefault(_dict(piece).get("index"), {"function": {"name": "", "arguments": ""}})
        for key in ("name", "arguments"):
            call["function"][key] += _text(_dict(_dict(piece).get("function")).get(key))


def _failure(error: Any, what: str) -> dict[str, Any]:
    said = _text(_dict(error).get("message")) or _text(error)
    return {"failure": f"{what}: {said}" if said else what}


def _usage(given: Any, made: Any) -> Usage | None:
    return Usage(given, made) if type(given) is int and type(made) is int else None


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
