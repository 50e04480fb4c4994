"""pydantic-ai messages as items for `conversation.item.create`, with which a realtime session begins."""

from collections.abc import Sequence
from dataclasses import replace

from pydantic_ai.messages import ModelMessage, SpeechPart, TextPart, ToolCallPart, ToolReturnPart, UserPromptPart

from .call_ids import REALTIME, with_call_ids
from .files import Record
from .losses import Converted, Losses
from .marker import marked, unmarked
from .notes import arguments, note_speech
from .realtime_content import note_other, note_text, output_text, typed
from .sound import pcm_of
from .steps import Refusal, Step, steps
from .words import INAUDIBLE


def to_seed(messages: Sequence[ModelMessage]) -> Converted[Record]:
    """Return *messages* as conversation items, one for each `conversation.item.create`, in order.

    A model reads the words of a spoken turn, not its sound, where both are there; sound alone is sent as it is. An
    agent's own turns can only be text. Hand `instructions` to the session.
    """
    losses = Losses()
    instructions, found = steps(messages, losses)
    seed = _Seed(losses)
    items = [item for step in with_call_ids(found, REALTIME, losses) if (item := seed.item(step))]
    return Converted(items, instructions, losses.all())


class _Seed:
    def __init__(self, losses: Losses) -> None:
        self.losses = losses

    def item(self, step: Step) -> Record | None:
        part, where = step.part, step.where
        match part:
            case UserPromptPart():
                content = typed(part.content, where, self.losses, addresses=False)
                return {"type": "message", "role": "user", "content": content} if content else None
            case SpeechPart(speaker="user"):
                return {"type": "message", "role": "user", "content": [self._spoken(part, where)]}
            case ToolReturnPart():
                output = output_text(part, where, self.losses)
                return {"type": "function_call_output", "call_id": part.tool_call_id, "output": output}
            case ToolCallPart():
                return self._call(part, step)
            case TextPart():
                note_text(part, where, self.losses)
                return self._text(part, step)
            case SpeechPart():
                return self._speech(part, step)
            case Refusal():
                self.losses.add("refusal", where, "that the words were a refusal is not kept")
                return _reply(part.content, cut=False)
        note_other(part, where, self.losses)
        return None

    def _spoken(self, part: SpeechPart, where: str) -> Record:
        """Return a caller's spoken turn: its words; its sound where there are none."""
        if part.audio is not None and not part.transcript and (sound := pcm_of(part.audio)):
            note_speech(replace(part, audio=None), where, self.losses)
            return {"type": "input_audio", "audio": sound}
        note_speech(part, where, self.losses)
        self.losses.add("speech", where, "that the words were spoken is not kept")
        return {"type": "input_text", "text": part.transcript or INAUDIBLE}

    def _text(self, part: TextPart, step: Step) -> Record:
        told = step.cut and unmarked(part.content) is not None
        if told:
            self.losses.add("ending", step.where, "that a reply was cut off is told by its own words only")
        return _reply(part.content, cut=step.cut and not told)

    def _speech(self, part: SpeechPart, step: Step) -> Record | None:
        note_speech(part, step.where, self.losses)
        if part.id:
            self.losses.leave("ids of items")
        if not part.transcript and not step.cut and part.audio is None:
            self.losses.add("empty", step.where, "a spoken reply without sound and words is left out")
            return None
        if not step.cut:
            self.losses.add("speech", step.where, "that the words were spoken is not kept")
        return _reply(marked(part, cut=step.cut) or INAUDIBLE, cut=step.cut)

    def _call(self, part: ToolCallPart, step: Step) -> Record:
        if part.id:
            self.losses.leave("ids of items")
        if part.provider_details:
            self.losses.leave("provider_details")
        called = {"name": part.tool_name, "arguments": arguments(part)}
        status = {"status": "incomplete"} if step.cut else {}
        return {"type": "function_call", "call_id": part.tool_call_id, **called, **status}


def _reply(text: str, *, cut: bool) -> Record:
    item: Record = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    return {**item, "status": "incomplete"} if cut else item
