"""Input items of the Responses API, as openai-agents keeps them, as pydantic-ai messages."""

import base64
import binascii
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic_ai.messages import (
    BinaryContent,
    CompactionPart,
    ModelMessage,
    ModelRequestPart,
    SpeechPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UserContent,
    UserPromptPart,
)

from .files import Record, read
from .losses import Converted, Losses
from .marker import unmarked
from .operator_text import OperatorText
from .pairs import Builder
from .words import INAUDIBLE
from .write_items import NO_ID, PROVIDER


def from_items(items: str | Iterable[Any]) -> Converted[ModelMessage]:
    """Return *items* (`result.to_input_list()`, `await session.get_items()`) as messages for pydantic-ai.

    A plain string is one prompt. System and developer messages are in `instructions`.
    """
    given = [{"role": "user", "content": items}] if isinstance(items, str) else [record(item) for item in items]
    reader = _Reader()
    for number, item in enumerate(given, 1):
        reader.read(item, f"item {number}")
    return Converted(reader.builder.closed(), reader.operator.whole(), reader.losses.all())


def record(item: Any) -> Record:
    """Return an item as a dictionary, whether it came as one or as a model of the SDK's."""
    if isinstance(item, dict):
        return item
    dumped: Record = item.model_dump(exclude_none=True)
    return dumped


class _Reader:
    """Reads one list of items."""

    def __init__(self) -> None:
        self.losses = Losses()
        self.builder = Builder(self.losses)
        self.operator = OperatorText(self.losses)

    def read(self, item: Record, where: str) -> None:
        """Read one item."""
        self.operator.talking = not self.builder.empty
        match item.get("type") or ("message" if "role" in item else "item_reference"):
            case "message":
                self._message(item, where)
            case "function_call":
                self._call(item, where)
            case "function_call_output":
                self._output(item, where)
            case "reasoning":
                self._thought(item, where)
            case "compaction":
                self._sealed(item, where)
            case "item_reference":
                self.losses.add(
                    "reference", where, f"a reference to {item.get('id')} is left out, since only the service holds it"
                )
            case kind:
                self.losses.add("unknown", where, f"an item of type {kind} is left out")

    def _message(self, item: Record, where: str) -> None:
        content = item.get("content")
        parts = (
            [{"type": "input_text", "text": content}]
            if isinstance(content, str)
            else [record(part) for part in content or []]
        )
        match item.get("role"):
            case "system" | "developer":
                words = [each for each in read(parts, where, self.losses) if isinstance(each, str)]
                self.operator.add(where, "\n".join(words))
            case "assistant":
                self._reply(item, parts, where)
            case "user":
                self.builder.ask(prompt(parts, where, self.losses))
            case role:
                self.losses.add("unknown", where, f"a message of an unknown role ({role}) is left out")

    def _reply(self, item: Record, parts: Sequence[Record], where: str) -> None:
        cut = item.get("status") in ("incomplete", "in_progress")
        id = item.get("id") if item.get("id") != NO_ID else None
        found: list[TextPart | SpeechPart] = []
        refusals: list[str] = []
        for part in parts:
            if part.get("type") == "refusal":
                refusals.append(str(part.get("refusal") or ""))
            elif text := str(part.get("text") or ""):
                spoken = unmarked(text) if cut else None
                found.append(spoken or _text(part, text, id, item.get("phase")))
        if not found and not refusals:
            self.losses.add("empty", where, "a reply without a word is left out")
            return
        response = self.builder.answer(where, found, cut=cut)
        if refusals:
            response.provider_name = PROVIDER
            response.provider_details = {"refusal": "\n".join(refusals)}
            response.finish_reason = "content_filter"

    def _call(self, item: Record, where: str) -> None:
        id = item.get("id") if item.get("id") != NO_ID else None
        details = {"namespace": item["namespace"]} if item.get("namespace") else None
        call = ToolCallPart(
            str(item.get("name")),
            str(item.get("arguments") or ""),
            str(item.get("call_id")),
            id=id,
            provider_name=PROVIDER if id or details else None,
            provider_details=details,
        )
        self.builder.answer(where, [call], cut=item.get("status") == "incomplete")

    def _output(self, item: Record, where: str) -> None:
        output = item.get("output")
        content: Any = output
        if not isinstance(output, str):
            parts = read([record(part) for part in output or []], where, self.losses)
            words = [part for part in parts if isinstance(part, str)]
            content = "\n".join(words) if len(words) == len(parts) else parts
        outcome = "interrupted" if item.get("status") == "incomplete" else "success"
        self.builder.result(where, str(item.get("call_id")), content, outcome=outcome, name=str(item.get("name") or ""))

    def _thought(self, item: Record, where: str) -> None:
        summaries = [str(each.get("text") or "") for each in item.get("summary") or []]
        raw = [str(each.get("text") or "") for each in item.get("content") or []]
        sealed = item.get("encrypted_content")
        if not (summaries or raw or sealed):
            self.losses.add("thought", where, "reasoning that only the service holds is left out")
            return
        thoughts = [ThinkingPart(text, id=item.get("id"), provider_name=PROVIDER) for text in summaries or [""]]
        thoughts[0].signature = sealed
        thoughts[0].provider_details = {"raw_content": raw} if raw else None
        self.builder.answer(where, thoughts)

    def _sealed(self, item: Record, where: str) -> None:
        details = {name: value for name, value in item.items() if name != "id"}
        self.builder.answer(
            where, [CompactionPart(id=item.get("id"), provider_name=PROVIDER, provider_details=details)]
        )


def _text(part: Record, text: str, id: str | None, phase: str | None) -> TextPart:
    kept = {"annotations": part.get("annotations"), "logprobs": part.get("logprobs"), "phase": phase}
    details = {name: value for name, value in kept.items() if value} or None
    return TextPart(text, id=id, provider_name=PROVIDER if id or details else None, provider_details=details)


def prompt(parts: Sequence[Record], where: str, losses: Losses) -> list[ModelRequestPart]:
    """Return what a caller said in one message: typed words and files in one prompt, what was spoken apart."""
    found: list[ModelRequestPart] = []
    typed: list[Record] = []
    for part in parts:
        if part.get("type") == "input_audio":
            found += _typed(typed, where, losses)
            typed = []
            found.append(_spoken(part, where, losses))
        else:
            typed.append(part)
    found += _typed(typed, where, losses)
    if not found:
        losses.add("empty", where, "a message without content is left out")
    return found


def _typed(parts: Sequence[Record], where: str, losses: Losses) -> list[ModelRequestPart]:
    content: list[UserContent] = [each for each in read(parts, where, losses) if each != ""]
    if content == [INAUDIBLE]:
        return [SpeechPart(speaker="user", transcript=INAUDIBLE)]
    if not content:
        return []
    return [UserPromptPart(content[0] if len(content) == 1 and isinstance(content[0], str) else content)]


def _spoken(part: Record, where: str, losses: Losses) -> SpeechPart:
    sound = part.get("input_audio")
    audio = None
    if isinstance(sound, dict) and sound.get("data"):
        try:
            audio = BinaryContent(
                base64.b64decode(str(sound["data"]), validate=True), media_type=f"audio/{sound.get('format', 'wav')}"
            )
        except (ValueError, binascii.Error):
            losses.add("sound", where, "sound that cannot be read is left out")
    return SpeechPart(speaker="user", transcript=part.get("transcript") or INAUDIBLE, audio=audio)
