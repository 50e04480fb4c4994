"""A history of pydantic-ai messages made ready to be written as items of another kind.

What each of those kinds needs is done here, once: operator text stands apart, every tool's result has its call and
every call its result, and what a framework noted for itself is left out. What is left is one step a part.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic_ai.messages import (
    INTERRUPTED_TOOL_RETURN_CONTENT,
    CompactionPart,
    InstructionBaselinePart,
    InstructionDeltaPart,
    InstructionPart,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryFeedbackPart,
    RetryPromptPart,
    SpeechPart,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.usage import RequestUsage

from .losses import Losses
from .operator_text import OperatorText


@dataclass(frozen=True, slots=True)
class Refusal:
    """Words with which a model refused to answer; pydantic-ai keeps them beside the parts of a response."""

    content: str


@dataclass(frozen=True, slots=True)
class Step:
    """One part of a history."""

    where: str
    """The message that it stands in, for losses."""
    part: Any
    """A part of pydantic-ai's, or a `Refusal`."""
    answer: int = 0
    """Which of the model's responses it belongs to: 1, 2, …; 0 for what the model did not say."""
    cut: bool = False
    """It was not finished."""
    provider: str | None = None
    """Whose model made it."""


def steps(messages: Sequence[ModelMessage], losses: Losses, *, close_calls: bool = True) -> tuple[str, list[Step]]:
    """Return the operator's text, and what was said and done, in order.

    With *close_calls*, a call that never returned gets a result that says so.
    """
    operator = OperatorText(losses)
    found: list[Step] = []
    prompts = [part for message in messages for part in message.parts if isinstance(part, SystemPromptPart)]
    standing: dict[str | None, SystemPromptPart] = {part.context_id: part for part in prompts if part.context_id}
    last = max((number for number, each in enumerate(messages, 1) if isinstance(each, ModelRequest)), default=0)
    for number, message in enumerate(messages, 1):
        where = f"message {number}"
        if isinstance(message, ModelRequest):
            new = list(_asked(message, where, operator, losses, standing, last=number == last))
        else:
            new = list(_answered(message, where, number, operator, losses))
        operator.talking = operator.talking or bool(new)
        found += new
    return operator.whole(), _paired(found, losses, close_calls=close_calls)


def _asked(
    message: ModelRequest,
    where: str,
    operator: OperatorText,
    losses: Losses,
    standing: Mapping[str | None, SystemPromptPart],
    *,
    last: bool,
) -> Iterator[Step]:
    if message.instructions:
        operator.replace(where, message.instructions)
    _leave(message, losses, "run_id", "conversation_id", "metadata")
    for part in message.parts:
        match part:
            case SystemPromptPart(scope="request") if not last:
                losses.add("superseded", where, "a system prompt that held for one request is left out")
            case SystemPromptPart() if standing.get(part.context_id, part) is not part:
                losses.add("superseded", where, "a system prompt that a later one replaced is left out")
            case SystemPromptPart():
                _leave(part, losses, "dynamic_ref", "context_id", "metadata")
                operator.add(where, part.content)
            case UserPromptPart(content="") | UserPromptPart(content=[]):
                losses.add("empty", where, "a prompt without content is left out")
            case UserPromptPart() | SpeechPart() | ToolReturnPart():
                operator.talking = True
                yield Step(where, part)
            case RetryPromptPart(tool_name=str(name)):
                operator.talking = True
                yield Step(where, ToolReturnPart(name, part.model_response(), part.tool_call_id, outcome="retried"))
            case RetryPromptPart() | RetryFeedbackPart():
                losses.add("retry", where, "what the model was told to do over is left out")
            case CompactionPart():
                _summary(part, where, operator, losses)
            case InstructionBaselinePart():
                losses.leave("what instructions are made of")
                blocks = [each for each in part.instructions if isinstance(each, InstructionPart)]
                operator.begin(where, {each.id: each.content for each in blocks})
            case InstructionDeltaPart() if part.id is not None:
                operator.change(where, part.id, part.content or "")
            case _:
                kind = getattr(part, "part_kind", type(part).__name__)
                losses.add("change", where, f"a record of a change ({kind}) is left out")


def _answered(
    message: ModelResponse, where: str, number: int, operator: OperatorText, losses: Losses
) -> Iterator[Step]:
    _leave_record(message, losses)
    provider = message.provider_name
    parts = [part for part in message.parts if _has_content(part, where, losses)]
    refusal = (message.provider_details or {}).get("refusal")
    broken = message.state != "complete" or message.finish_reason in _ENDED
    last = _last_words(parts) if broken and not isinstance(refusal, str) else None
    _note_ending(message, where, losses, shown=last is not None, refused=isinstance(refusal, str))
    for place, part in enumerate(parts):
        if isinstance(part, CompactionPart) and part.content:
            _summary(part, where, operator, losses)
        else:
            cut = place == last or getattr(part, "interrupted_at_ms", None) is not None
            yield Step(where, part, number, cut, getattr(part, "provider_name", None) or provider)
    if isinstance(refusal, str):
        yield Step(where, Refusal(refusal), number, provider=provider)


_ENDED = ("length", "error", "content_filter")


def _note_ending(message: ModelResponse, where: str, losses: Losses, *, shown: bool, refused: bool) -> None:
    """Note what is not kept of why a reply is not whole."""
    if refused:
        if message.state != "complete":
            losses.add("ending", where, "that the refusal was cut off is not kept")
    elif message.finish_reason in _ENDED:
        losses.add("ending", where, f"why the reply is not whole ({message.finish_reason}) is not kept")
    elif message.state != "complete" and not shown:
        losses.add("ending", where, f"that a reply without words was not finished ({message.state}) is not kept")


def _has_content(part: Any, where: str, losses: Losses) -> bool:
    if isinstance(part, TextPart) and not part.content:
        losses.add("empty", where, "a text without a word is left out")
        return False
    return True


def _last_words(parts: Sequence[Any]) -> int | None:
    """Return which part shows that a response is not whole: the last spoken, else the last written one or call."""
    for kind in (SpeechPart, TextPart, ToolCallPart):
        places = [place for place, part in enumerate(parts) if isinstance(part, kind)]
        if places:
            return places[-1]
    return None


def _summary(part: CompactionPart, where: str, operator: OperatorText, losses: Losses) -> None:
    if not part.content:
        losses.add("summary", where, "a sealed summary of earlier turns is left out")
        return
    losses.add("summary", where, "a summary of earlier turns is now in `instructions`")
    operator.add(where, part.content)


def _paired(found: Sequence[Step], losses: Losses, *, close_calls: bool) -> list[Step]:
    """Leave out results without a call, and give the calls without a result one behind their response."""
    waiting: dict[str, list[int]] = {}
    paired: list[Step] = []
    for step in found:
        part = step.part
        if isinstance(part, ToolReturnPart):
            if not waiting.get(part.tool_call_id):
                losses.add("result", step.where, f"a result of {part.tool_name} without a call before it is left out")
                continue
            waiting[part.tool_call_id].pop(0)
        elif isinstance(part, ToolCallPart):
            waiting.setdefault(part.tool_call_id, []).append(len(paired))
        paired.append(step)
    hanging = sorted(place for places in waiting.values() for place in places)
    return _closed(paired, hanging, losses) if close_calls and hanging else paired


def _closed(paired: Sequence[Step], hanging: Sequence[int], losses: Losses) -> list[Step]:
    late = set(hanging)
    closed: list[Step] = []
    open_steps: list[Step] = []
    for place, step in enumerate(paired):
        if open_steps and step.answer != open_steps[-1].answer and not isinstance(step.part, ToolReturnPart):
            closed += [_never(step, losses) for step in open_steps]
            open_steps = []
        closed.append(step)
        if place in late:
            open_steps.append(step)
    return [*closed, *(_never(step, losses) for step in open_steps)]


def _never(step: Step, losses: Losses) -> Step:
    call: ToolCallPart = step.part
    losses.add("call", step.where, f"{call.tool_name} was called and never returned; its result now says so")
    content = INTERRUPTED_TOOL_RETURN_CONTENT
    return Step(step.where, ToolReturnPart(call.tool_name, content, call.tool_call_id, outcome="interrupted"))


def _leave(thing: object, losses: Losses, *names: str) -> None:
    for name in names:
        if getattr(thing, name, None) is not None:
            losses.leave(name)


def _leave_record(message: ModelResponse, losses: Losses) -> None:
    if message.usage != RequestUsage():
        losses.leave("usage")
    _leave(message, losses, "model_name", "provider_url", "provider_response_id", "run_id", "conversation_id")
    _leave(message, losses, "metadata", "workspace_ref", "failed_attempts")
    if set(message.provider_details or {}) - {"refusal"}:
        losses.leave("provider_details")
