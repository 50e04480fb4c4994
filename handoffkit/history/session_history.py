"""pydantic-ai messages as the history of a `RealtimeSession` of openai-agents, and back."""

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any

from pydantic_ai.messages import (
    INTERRUPTED_TOOL_RETURN_CONTENT,
    ModelMessage,
    SpeechPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from .files import Record
from .losses import Converted, Losses
from .notes import arguments
from .operator_text import OperatorText
from .pairs import Builder
from .read_items import prompt
from .realtime_content import note_other, note_text, output_text, typed
from .records import note_fields, record, records
from .sound import pcm_of, wav_of
from .steps import Refusal, Step, steps
from .words import INAUDIBLE


def to_session_history(messages: Sequence[ModelMessage]) -> Converted[Record]:
    """Return *messages* as dictionaries that `agents.realtime.RealtimeItem` reads, as in `session.history`.

    Spoken turns stay spoken, and an interrupted reply has the status `incomplete`. A tool's call and its result are
    one item; a call without a result is `in_progress`.
    """
    losses = Losses()
    instructions, found = steps(messages, losses, close_calls=False)
    writer = _Writer(losses)
    for place, step in enumerate(found):
        writer.write(step, found[place - 1] if place else None)
    return Converted(writer.items, instructions, losses.all())


class _Writer:
    def __init__(self, losses: Losses) -> None:
        self.losses = losses
        self.items: list[Record] = []
        self._open: dict[str, list[int]] = {}
        self._ids: set[str] = set()
        self._names = (f"item_{number}" for number in count(1))

    def write(self, step: Step, before: Step | None) -> None:
        part, where = step.part, step.where
        match part:
            case UserPromptPart():
                if content := typed(part.content, where, self.losses, addresses=True):
                    self._add({"type": "message", "role": "user", "content": content})
            case SpeechPart():
                self._speech(part, step)
            case TextPart():
                note_text(part, where, self.losses)
                self._reply({"type": "text", "text": part.content}, cut=step.cut)
            case Refusal():
                self.losses.add("refusal", where, "that the words were a refusal is not kept")
                self._reply({"type": "text", "text": part.content})
            case ToolCallPart():
                self._call(part, step, before)
            case ToolReturnPart():
                self._result(part, where)
            case _:
                note_other(part, where, self.losses)

    def _speech(self, part: SpeechPart, step: Step) -> None:
        if part.speaker == "assistant" and not part.transcript and part.audio is None and not step.cut:
            self.losses.add("empty", step.where, "a spoken reply without sound and words is left out")
            return
        sound = pcm_of(part.audio) if part.audio is not None else None
        if part.audio is not None and sound is None:
            self.losses.add("sound", step.where, "sound in another form than the session's is left out")
        if part.timestamps:
            self.losses.add("times", step.where, "when each word was spoken is left out")
        if part.provider_details:
            self.losses.leave("provider_details")
        content = {"transcript": part.transcript, **({"audio": sound} if sound else {})}
        id = part.id if part.speaker == "assistant" else None
        if part.speaker == "user":
            self._add({"type": "message", "role": "user", "content": [{"type": "input_audio", **content}]})
        else:
            if part.interrupted_at_ms is not None:
                self.losses.add("heard", step.where, f"that {part.interrupted_at_ms} ms were heard is not kept")
            self._reply({"type": "audio", **content}, id, cut=step.cut)

    def _reply(self, content: Record, id: str | None = None, *, cut: bool = False) -> None:
        status = "incomplete" if cut else "completed"
        self._add({"type": "message", "role": "assistant", "status": status, "content": [content]}, id)

    def _call(self, part: ToolCallPart, step: Step, before: Step | None) -> None:
        if step.cut:
            self.losses.add("ending", step.where, f"that the call of {part.tool_name} is not whole is not kept")
        if part.id:
            self.losses.leave("ids of items")
        if part.provider_details:
            self.losses.leave("provider_details")
        if before and before.answer == step.answer and isinstance(before.part, ToolCallPart):
            self.losses.add("together", step.where, f"that {part.tool_name} was called at the same time is not kept")
        self._open.setdefault(part.tool_call_id, []).append(len(self.items))
        called = {"call_id": part.tool_call_id, "name": part.tool_name, "arguments": arguments(part)}
        self._add({"type": "function_call", "status": "in_progress", **called, "output": None})

    def _result(self, part: ToolReturnPart, where: str) -> None:
        place = self._open[part.tool_call_id].pop(0)
        if any(item["type"] != "function_call" for item in self.items[place:]):
            self.losses.add("place", where, f"the result of {part.tool_name} now stands with its call")
        if part.outcome == "interrupted" and part.content == INTERRUPTED_TOOL_RETURN_CONTENT:
            return  # as when it never came
        self.items[place] |= {"status": "completed", "output": output_text(part, where, self.losses)}

    def _add(self, item: Record, id: str | None = None) -> None:
        previous = self.items[-1]["item_id"] if self.items else None
        if id is None or id in self._ids:
            id = next(name for name in self._names if name not in self._ids)
        self._ids.add(id)
        self.items.append({"item_id": id, "previous_item_id": previous, **item})


def from_session_history(history: Iterable[Any]) -> Converted[ModelMessage]:
    """Return the *history* of a `RealtimeSession`, items or dictionaries, as messages for pydantic-ai.

    A spoken turn whose words never came says so (`INAUDIBLE`), and a reply that was cut off is interrupted. Of an
    interrupted reply the SDK keeps all the words that were made, also those that nobody heard.
    """
    losses = Losses()
    operator, builder = OperatorText(losses), Builder(losses)
    for number, each in enumerate(history, 1):
        item = record(each, f"item {number}")
        _read(item, f"item {number}", builder, operator)
        operator.talking = operator.talking or item.get("role") != "system"
    return Converted(builder.closed(), operator.whole(), losses.all())


def _read(item: Record, where: str, builder: Builder, operator: OperatorText) -> None:
    losses = builder.losses
    content = records(item.get("content"), where)
    note_fields(item, _CALL if item.get("type") == "function_call" else _MESSAGE, where, losses)
    match item.get("role") or item.get("type"):
        case "user":
            builder.ask(prompt(content, where, losses))
        case "assistant":
            cut = item.get("status") in _UNFINISHED
            parts = [reply for part in content if (reply := _reply(part, item, where, losses, cut=cut))]
            if cut:  # only the last can have been begun without a word
                parts = [part for part in parts[:-1] if part.has_content()] + parts[-1:]
            if not parts:
                losses.add("empty", where, "a reply without a word is left out")
                return
            builder.answer(where, parts, cut=cut)
        case "system":
            operator.add(where, "\n".join(str(part.get("text") or "") for part in content))
        case "function_call":
            call_id = str(item.get("call_id") or item.get("item_id"))
            call = ToolCallPart(str(item.get("name")), str(item.get("arguments") or ""), call_id)
            builder.answer(where, [call])
            if item.get("output") is not None:
                builder.result(where, call_id, str(item["output"]))
        case kind:
            losses.add("unknown", where, f"an item of an unknown kind ({kind}) is left out")


def _reply(part: Record, item: Record, where: str, losses: Losses, *, cut: bool) -> TextPart | SpeechPart | None:
    note_fields(part, {"type", "text", "transcript", "audio"}, where, losses)
    if part.get("type") not in ("audio", "output_audio"):
        return TextPart(str(part["text"])) if part.get("text") else None
    audio = wav_of(str(part["audio"])) if part.get("audio") else None
    if part.get("audio") and audio is None:
        losses.add("sound", where, "sound that cannot be read is left out")
    id = str(item["item_id"]) if item.get("item_id") else None
    provider = "openai" if id else None
    transcript = part.get("transcript") or (None if audio or cut else INAUDIBLE)
    return SpeechPart(speaker="assistant", transcript=transcript, audio=audio, id=id, provider_name=provider)


_UNFINISHED = ("incomplete", "in_progress")
_MESSAGE = {"item_id", "previous_item_id", "type", "object", "role", "status", "content"}
_CALL = {"item_id", "previous_item_id", "type", "object", "call_id", "name", "arguments", "output", "status"}
