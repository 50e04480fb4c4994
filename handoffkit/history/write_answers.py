"""A model's responses, in pydantic-ai's parts, as output items of the Responses API."""

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic_ai.messages import (
    CompactionPart,
    FilePart,
    NativeToolCallPart,
    NativeToolReturnPart,
    SpeechPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
)

from .files import Record, kind_of
from .hosted import PROVIDER, item_of
from .losses import Losses
from .marker import marked, unmarked
from .notes import arguments, note_speech
from .steps import Refusal, Step
from .words import INAUDIBLE

NO_ID = "__fake_id__"
"""The id that openai-agents gives an output message which no service has made; it takes it off before sending."""


class Answers:
    """Writes responses, one after the other; no id is used twice, which the service would refuse."""

    def __init__(self, losses: Losses) -> None:
        self._losses = losses
        self._used: set[str] = set()

    def items(self, response: Sequence[Step]) -> list[Record]:
        """Return the items of one response.

        Reasoning is sealed together with what followed it. Where a piece of a response has no place, the service would
        refuse the rest by its ids (`… was provided without its required 'reasoning' item`), so they go as new ones.
        """
        losses, found, whole = self._losses, list[tuple[Step, Record]](), True
        parts = [step.part for step in response]
        for step in response:
            item = _said(step, parts, losses)
            if item is not None and _joined(item, found):
                continue
            item = self._once(item, step)
            if item is not None:
                found.append((step, item))
            elif isinstance(step.part, ThinkingPart | NativeToolCallPart):
                whole = False
        whole = whole and _followed([item for _, item in found])
        return [item for _, item in found] if whole else list(_as_new(found, losses))

    def _once(self, item: Record | None, step: Step) -> Record | None:
        id = item.get("id", NO_ID) if item else NO_ID
        if item is None or id == NO_ID:
            return item
        if id not in self._used:
            self._used.add(id)
            return item
        match item["type"]:
            case "message":
                self._losses.leave("ids of items")
                return _message({**item, "id": NO_ID})  # not yet joined: it has one text
            case "function_call":
                self._losses.leave("ids of items")
                return {name: value for name, value in item.items() if name != "id"}
        kind = {"reasoning": "thought", "compaction": "summary"}.get(item["type"], "hosted")
        self._losses.add(kind, step.where, f"a second item with the id {id} is left out, since it would be refused")
        return None


def _followed(items: Sequence[Record]) -> bool:
    """Say whether what stands behind each reasoning goes out under the id with which it was sealed."""
    after = zip(items, [*items[1:], {}], strict=False)
    return all(item["type"] != "reasoning" or other.get("id", NO_ID) != NO_ID for item, other in after)


def _as_new(found: Sequence[tuple[Step, Record]], losses: Losses) -> Iterator[Record]:
    for step, item in found:
        if item["type"] == "reasoning":
            losses.add("thought", step.where, "reasoning is left out, since its response is not whole")
            continue
        if item["type"] in ("message", "function_call") and item.get("id", NO_ID) != NO_ID:
            losses.leave("ids of items")
            del item["id"]
        yield from _apart(item) if item["type"] == "message" else [item]


def _apart(item: Record) -> Iterator[Record]:
    """Yield the texts of a message as messages of their own, since no id holds them together; the last shows a cut."""
    parts = [item["content"]] if isinstance(item["content"], str) else item["content"]
    for place, part in enumerate(parts, 1):
        status = item.get("status", "completed") if place == len(parts) else "completed"
        yield _message({**item, "id": NO_ID, "status": status, "content": part if isinstance(part, str) else [part]})


def _joined(item: Record, found: Sequence[tuple[Step, Record]]) -> bool:
    """Add *item* to the one before it if both were one: the texts of a message, the summaries of a thought."""
    last = found[-1][1] if found else {}
    if item.get("id", NO_ID) == NO_ID or last.get("id") != item["id"]:
        return False
    if item["type"] == "reasoning" and not (item.get("encrypted_content") or item.get("content")):
        last["summary"] = [*last["summary"], *item["summary"]]
        return True
    if item["type"] == "message" and item.get("phase") == last.get("phase"):
        last["content"] = [*last["content"], *item["content"]]
        last["status"] = item["status"]
        return True
    return False


def _said(step: Step, parts: Sequence[Any], losses: Losses) -> Record | None:
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
        case CompactionPart(provider_details={"encrypted_content": str(sealed)}) if step.provider == PROVIDER:
            return {"type": "compaction", "id": part.id, "encrypted_content": sealed}
        case CompactionPart():
            losses.add("summary", where, "a sealed summary of earlier turns is left out")
        case NativeToolCallPart() | NativeToolReturnPart() | FilePart():
            return _hosted(part, where, parts, losses)
        case _:
            losses.add("unknown", where, f"a part of an unknown kind ({type(part).__name__}) is left out")
    return None


def _hosted(part: Any, where: str, parts: Sequence[Any], losses: Losses) -> Record | None:
    """Return what a hosted tool did, at the place of its call; what it returned and made is in it."""
    if isinstance(part, NativeToolCallPart):
        if item := item_of(part, parts):
            return item
        losses.add("hosted", where, f"what the hosted tool {part.tool_name} did is left out")
        return None
    id = part.id if isinstance(part, FilePart) else part.tool_call_id
    if any(isinstance(call, NativeToolCallPart) and call.tool_call_id == id and item_of(call, ()) for call in parts):
        return None
    if isinstance(part, FilePart):
        losses.add("file", where, f"a file that the model made ({kind_of(part.content)}) is left out")
    else:
        losses.add("hosted", where, f"what the hosted tool {part.tool_name} returned is left out")
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
    told = step.cut and unmarked(part.content) is not None
    if told:
        losses.add("ending", step.where, "that a reply was cut off is told by its own words only")
    item = _output_message([content], id, cut=step.cut and not told)
    if phase:
        item["phase"] = phase
    return _message(item)


def _message(item: Record) -> Record:
    """Return a message of the agent's in the short form, if that says the same."""
    parts = item["content"]
    if isinstance(parts, str):
        return {name: value for name, value in item.items() if name not in ("id", "status")}
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
    if not part.transcript and not step.cut and part.audio is None:
        losses.add("empty", step.where, "a spoken reply without sound and words is left out")
        return None
    if not step.cut:
        losses.add("speech", step.where, "that the words were spoken is not kept")
    text = marked(part, cut=step.cut) or INAUDIBLE
    content = {"type": "output_text", "text": text, "annotations": []}
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


def _thought(part: ThinkingPart, step: Step, losses: Losses) -> Record | None:
    id = _own_id(part, step, "rs", losses)
    details = dict(part.provider_details or {})
    raw = details.pop("raw_content", None)
    if id is None:
        losses.add("thought", step.where, "reasoning that the Responses API has not made is left out")
        return None
    if details:
        losses.leave("provider_details")
    if not (part.content or raw or part.signature):
        losses.add("thought", step.where, "reasoning that only the service holds is left out")
        return None
    item: Record = {"type": "reasoning", "id": id, "summary": []}
    if part.content:
        item["summary"] = [{"type": "summary_text", "text": part.content}]
    if raw:
        item["content"] = [{"type": "reasoning_text", "text": text} for text in raw]
    if part.signature:
        item["encrypted_content"] = part.signature
    return item
