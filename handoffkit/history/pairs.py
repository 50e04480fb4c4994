"""Messages built up step by step, as they are read from another SDK's items; in the end each call has its result."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, TypeGuard

from pydantic_ai.messages import (
    INTERRUPTED_TOOL_RETURN_CONTENT,
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    SpeechPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
)

from .losses import Losses

State = Literal["complete", "interrupted"]


class Builder:
    """Puts parts together: what the model made in one go is one response, the results of its calls one request."""

    def __init__(self, losses: Losses) -> None:
        self.losses = losses
        self.messages: list[ModelMessage] = []
        self._parts: list[Any] = []  # of the last message
        self._returning = False  # the last message holds results
        self._broken: set[int] = set()
        self._breaking = False
        self._thoughts: dict[int, str] = {}
        self._calls: dict[str, str] = {}
        self._waiting: dict[str, list[tuple[int, str]]] = {}

    def ask(self, parts: Sequence[ModelRequestPart]) -> None:
        """Add what a caller said, as a request of its own."""
        if parts:
            self._append(ModelRequest(parts=list(parts)))

    def answer(self, where: str, parts: Sequence[ModelResponsePart], *, cut: bool = False) -> ModelResponse:
        """Add what the model made: to its last response if nobody else came in between, else as a new one.

        What is cut off is one response with the words before it only if there are none: the cut is shown on the last.
        """
        state: State = "interrupted" if cut else "complete"
        last = self.messages[-1] if self.messages else None
        if isinstance(last, ModelResponse) and _open(last) and not (cut and _speaks(self._parts)):
            self._parts += parts
            last.state = state
        else:
            last = ModelResponse(parts=list(parts), state=state)
            self._append(last)
        if self._breaking:
            self._broken.add(len(self.messages) - 1)
        for part in parts:
            if isinstance(part, ThinkingPart):
                self._thoughts[id(part)] = where
            elif isinstance(part, ToolCallPart):
                self._calls[part.tool_call_id] = part.tool_name
                self._waiting.setdefault(part.tool_call_id, []).append((len(self.messages) - 1, where))
        return last

    def break_up(self) -> None:
        """Note that something of the response under way was left out: its pieces cannot go back by their ids."""
        self._breaking = True
        if self.messages and isinstance(self.messages[-1], ModelResponse):
            self._broken.add(len(self.messages) - 1)

    def result(self, where: str, call_id: str, content: Any, *, outcome: Any = "success", name: str = "") -> None:
        """Add the result of a tool to its call, the last of that id; a result without one is left out."""
        waiting = self._waiting.get(call_id)
        if not waiting:
            told = f" of {name}" if name else ""
            self.losses.add("result", where, f"a result{told} without a call before it is left out")
            return
        waiting.pop()
        part = ToolReturnPart(self._calls[call_id], content, call_id, outcome=outcome)
        if self._returning:
            self._parts.append(part)
        else:
            self._append(ModelRequest(parts=[part]))
            self._returning = True

    def closed(self) -> list[ModelMessage]:
        """Return the messages; each call that never returned gets a result that says so, behind its response."""
        late: dict[int, list[ModelRequestPart]] = {}
        hanging = [(*place, call_id) for call_id, places in self._waiting.items() for place in places]
        for index, where, call_id in sorted(hanging):
            name = self._calls[call_id]
            self.losses.add("call", where, f"{name} was called and never returned; its result now says so")
            content = INTERRUPTED_TOOL_RETURN_CONTENT
            late.setdefault(index, []).append(ToolReturnPart(name, content, call_id, outcome="interrupted"))
        closed: list[ModelMessage] = []
        for index, message in enumerate(self.messages):
            if parts := late.get(index - 1):
                if _returns(message):
                    message = replace(message, parts=[*message.parts, *parts])
                else:
                    closed.append(ModelRequest(parts=parts))
            if isinstance(message, ModelRequest) or self._mended(index, message):
                closed.append(message)
        if parts := late.get(len(self.messages) - 1):
            closed.append(ModelRequest(parts=parts))
        return closed

    def _append(self, message: ModelMessage) -> None:
        self._parts = []
        message.parts = self._parts = list(message.parts)
        self.messages.append(message)
        self._returning = False
        if isinstance(message, ModelRequest):
            self._breaking = False

    def _mended(self, index: int, message: ModelResponse) -> bool:
        """Take from a response what the service would refuse: reasoning without what it was sealed with.

        The same goes for the ids of a response of which something was left out. Say whether something is left.
        """
        kept = list(message.parts)
        if index in self._broken or not _followed(kept):
            kept = [_as_new(part, self.losses) for part in kept if not isinstance(part, ThinkingPart)]
        gone = {id(part) for part in message.parts} - {id(part) for part in kept}
        for where in dict.fromkeys(place for part, place in self._thoughts.items() if part in gone):
            self.losses.add("thought", where, "reasoning is left out, since what it belongs to is not whole here")
        message.parts = kept
        return bool(kept) or message.finish_reason is not None


def _followed(parts: Sequence[Any]) -> bool:
    """Say whether what stands behind each reasoning still has the id with which it was sealed."""
    after = zip(parts, [*parts[1:], None], strict=False)
    return all(not isinstance(part, ThinkingPart) or getattr(other, "id", None) for part, other in after)


def _as_new(part: ModelResponsePart, losses: Losses) -> ModelResponsePart:
    """Return a part without the id under which a service has stored it."""
    if not isinstance(part, TextPart | ToolCallPart) or part.id is None:
        return part
    losses.leave("ids of items")
    return replace(part, id=None)


def _open(message: ModelResponse) -> bool:
    """Say whether a response can go on: it was not cut off, nor did it end in a refusal."""
    return message.state == "complete" and message.finish_reason is None


def _speaks(parts: Sequence[object]) -> bool:
    return any(isinstance(part, TextPart | SpeechPart) for part in parts)


def _returns(message: ModelMessage) -> TypeGuard[ModelRequest]:
    return isinstance(message, ModelRequest) and all(isinstance(part, ToolReturnPart) for part in message.parts)
