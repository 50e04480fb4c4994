"""pydantic-ai messages as input items of the Responses API, as openai-agents takes them."""

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby
from typing import Any

from pydantic_ai.messages import (
    CompactionPart,
    FilePart,
    ModelMessage,
    NativeToolCallPart,
    NativeToolReturnPart,
    SpeechPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from .files import Record, kind_of, written
from .hosted import PROVIDER, item_of
from .losses import Converted, Losses
from .marker import marked
from .steps import Refusal, Step, steps
from .words import INAUDIBLE

NO_ID = "__fake_id__"
"""The id that openai-agents gives an output message which no service has made; it takes it off before sending."""


def to_items(messages: Sequence[ModelMessage]) -> Converted[Record]:
    """Return *messages* as input items, for `Runner.run(agent, items)` or a session's `add_items(items)`.

    The same repairs are made as in `handoffkit.history.messages`: a call without a result gets one that says so, since
    the API refuses calls and results that are alone. Hand `instructions` to the agent, not to the conversation.
    """
    losses = Losses()
    instructions, found = steps(messages, losses)
    items: list[Record] = []
    for answer, group in groupby(found, key=lambda step: step.answer):
        same = list(group)
        items += _answer(same, losses) if answer else [item for step in same if (item := _asked(step, losses))]
    return Converted(items, instructions, losses.all())


def _asked(step: Step, losses: Losses) -> Record | None:
    part, where = step.part, step.where
    if isinstance(part, ToolReturnPart):
        return tool_output(part, where, losses)
    if isinstance(part, SpeechPart):
        return {"role": "user", "content": spoken_words(part, where, losses)}
    prompt: UserPromptPart = part
    if isinstance(prompt.content, str):
        return {"role": "user", "content": prompt.content}
    content = written(prompt.content, where, losses)
    return {"role": "user", "content": content} if content else None


def spoken_words(part: SpeechPart, where: str, losses: Losses) -> str:
    """Return the words of a caller's spoken turn; one that nobody understood says so."""
    note_speech(part, where, losses)
    losses.add("speech", where, "that the words were spoken is not kept")
    return part.transcript or INAUDIBLE


def note_speech(part: SpeechPart, where: str, losses: Losses) -> None:
    """Note what no text holds of a spoken turn."""
    if part.audio is not None:
        losses.add("sound", where, "the sound of a spoken turn is left out")
    if part.timestamps:
        losses.add("times", where, "when each word was spoken is left out")
    if part.provider_details:
        losses.leave("provider_details")


def tool_output(part: ToolReturnPart, where: str, losses: Losses) -> Record:
    """Return the output of a tool as an item; a failure is worded as pydantic-ai words it to a model."""
    note_return(part, where, losses)
    item: Record = {"type": "function_call_output", "call_id": part.tool_call_id}
    if part.outcome == "interrupted":
        item["status"] = "incomplete"
    if not part.files:
        return {**item, "output": part.model_response_str()}
    content = written(part.content_items(mode="str"), where, losses)
    return {**item, "output": content or part.model_response_str()}


def note_return(part: ToolReturnPart, where: str, losses: Losses) -> None:
    """Note what no item holds of a tool's return."""
    if part.outcome in ("failed", "denied", "retried"):
        losses.add(
            "outcome", where, f"that {part.tool_name} was not a success ({part.outcome}) is told by its words only"
        )
    if part.metadata is not None:
        losses.leave("metadata")
    if part.retry is not None:
        losses.leave("retry")


def _answer(group: Sequence[Step], losses: Losses) -> list[Record]:
    """Return the items of one response.

    Reasoning is sealed together with what followed it. Where a piece of a response has no place, the service would
    refuse the rest by its ids (`… was provided without its required 'reasoning' item`), so they go as new ones.
    """
    found: list[tuple[Step, Record]] = []
    whole = True
    parts = [step.part for step in group]
    hosted = {part.tool_call_id for part in parts if isinstance(part, NativeToolCallPart)}
    for step in group:
        item = _said(step, parts, hosted, losses)
        if item is None:
            whole = whole and not isinstance(step.part, ThinkingPart | NativeToolCallPart)
        elif not _joined(item, found):
            found.append((step, item))
    while found and found[-1][1]["type"] == "reasoning":
        whole = False
        step, _ = found.pop()
        losses.add("thought", step.where, "reasoning that nothing follows is left out, since it would be refused")
    return [item for _, item in found] if whole else list(_as_new(found, losses))


def _as_new(found: Sequence[tuple[Step, Record]], losses: Losses) -> Iterator[Record]:
    for step, item in found:
        if item["type"] == "reasoning":
            losses.add("thought", step.where, "reasoning is left out, since its response is not whole")
        elif item["type"] == "message":
            yield _message({**item, "id": NO_ID})
        else:
            yield {name: value for name, value in item.items() if name != "id" or item["type"] != "function_call"}


def _joined(item: Record, found: Sequence[tuple[Step, Record]]) -> bool:
    """Add *item* to the one before it if both were one: the texts of a message, the summaries of a thought."""
    last = found[-1][1] if found else {}
    if not item.get("id") or item["id"] == NO_ID or last.get("id") != item["id"] or last["type"] != item["type"]:
        return False
    field = "content" if item["type"] == "message" else "summary"
    last[field] = [*last.get(field, []), *item.get(field, [])]
    if item.get("status") == "incomplete":
        last["status"] = "incomplete"
    return True


def _said(step: Step, parts: Sequence[Any], hosted: Collection[str], losses: Losses) -> Record | None:
    part, where = step.part, step.where
    match part:
        case TextPart():
            return _text(part, step, losses)
        case SpeechPart():
            return _spoken(part, step, losses)
        case Refusal():
            return _output_message([{"type": "refusal", "refusal": part.content}], None)
        case ToolCallPart():
            return _call(part, step, losses)
        case ThinkingPart():
            return _thought(part, step, losses)
        case NativeToolCallPart():
            item = item_of(part, parts)
            if item is None:
                losses.add("hosted", where, f"what the hosted tool {part.tool_name} did is left out")
            return item
        case NativeToolReturnPart(tool_call_id=id) | FilePart(id=id) if id in hosted:
            return None  # its call says it
        case CompactionPart(provider_details={"encrypted_content": str(sealed)}) if step.provider == PROVIDER:
            return {"type": "compaction", "id": part.id, "encrypted_content": sealed}
        case CompactionPart():
            losses.add("summary", where, "a sealed summary of earlier turns is left out")
        case NativeToolReturnPart():
            losses.add("hosted", where, f"what the hosted tool {part.tool_name} returned is left out")
        case FilePart():
            losses.add("file", where, f"a file that the model made ({kind_of(part.content)}) is left out")
        case _:
            losses.add("unknown", where, f"a part of an unknown kind ({type(part).__name__}) is left out")
    return None


def _own_id(part: Any, step: Step, prefix: str, losses: Losses) -> str | None:
    """Return the id under which the Responses API knows a part; it refuses those of other services."""
    if not part.id:
        return None
    if step.provider == PROVIDER and part.id.startswith(prefix):
        return str(part.id)
    losses.leave("ids of items")
    return None


def _text(part: TextPart, step: Step, losses: Losses) -> Record:
    details = dict(part.provider_details or {}) if step.provider == PROVIDER else {}
    id = _own_id(part, step, "msg", losses)
    annotations, phase, logprobs = (
        details.pop("annotations", None),
        details.pop("phase", None),
        details.pop("logprobs", None),
    )
    if part.citations and not annotations:
        losses.add("source", step.where, "the sources beside a text are left out")
    if details or (part.provider_details and step.provider != PROVIDER):
        losses.leave("provider_details")
    content: Record = {"type": "output_text", "text": part.content, "annotations": annotations or []}
    if logprobs:
        content["logprobs"] = logprobs
    item = _output_message([content], id, cut=step.cut)
    if phase:
        item["phase"] = phase
    return _message(item)


def _message(item: Record) -> Record:
    """Return a message of the agent's in the short form, if that says the same."""
    [*parts] = item["content"]
    plain = len(parts) == 1 and parts[0]["type"] == "output_text" and not parts[0]["annotations"]
    if not plain or "logprobs" in parts[0] or item["id"] != NO_ID or item["status"] != "completed":
        return item
    phase = {"phase": item["phase"]} if "phase" in item else {}
    return {"type": "message", "role": "assistant", "content": parts[0]["text"], **phase}


def _output_message(content: list[Record], id: str | None, *, cut: bool = False) -> Record:
    status = "incomplete" if cut else "completed"
    return {"type": "message", "role": "assistant", "id": id or NO_ID, "status": status, "content": content}


def _spoken(part: SpeechPart, step: Step, losses: Losses) -> Record | None:
    note_speech(part, step.where, losses)
    if part.id:
        losses.leave("ids of items")
    if not part.transcript and not step.cut:
        if part.audio is None:
            losses.add("empty", step.where, "a spoken reply without sound and words is left out")
            return None
        return {"type": "message", "role": "assistant", "content": INAUDIBLE}
    content = {"type": "output_text", "text": marked(part, cut=step.cut), "annotations": []}
    if not step.cut:
        losses.add("speech", step.where, "that the words were spoken is not kept")
    return _message(_output_message([content], None, cut=step.cut))


def _call(part: ToolCallPart, step: Step, losses: Losses) -> Record:
    item: Record = {"type": "function_call", "call_id": part.tool_call_id, "name": part.tool_name}
    item["arguments"] = arguments(part)
    details = dict(part.provider_details or {}) if step.provider == PROVIDER else {}
    if id := _own_id(part, step, "fc", losses):
        item["id"] = id
    if namespace := details.pop("namespace", None):
        item["namespace"] = namespace
    if step.cut:
        item["status"] = "incomplete"
    if details or (part.provider_details and step.provider != PROVIDER):
        losses.leave("provider_details")
    return item


def arguments(part: ToolCallPart) -> str:
    """Return the arguments of a call as the model wrote them; those of a dictionary as JSON."""
    return part.args if isinstance(part.args, str) and part.args else part.args_as_json_str()


def _thought(part: ThinkingPart, step: Step, losses: Losses) -> Record | None:
    id = _own_id(part, step, "rs", losses)
    details = dict(part.provider_details or {})
    raw = details.pop("raw_content", None)
    if id is None:
        losses.add("thought", step.where, "reasoning that the Responses API has not made is left out")
        return None
    if details:
        losses.leave("provider_details")
    item: Record = {"type": "reasoning", "id": id, "summary": []}
    if part.content:
        item["summary"] = [{"type": "summary_text", "text": part.content}]
    if raw:
        item["content"] = [{"type": "reasoning_text", "text": text} for text in raw]
    if part.signature:
        item["encrypted_content"] = part.signature
    return item
