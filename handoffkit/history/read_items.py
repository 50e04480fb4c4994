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
from .hosted import CALLED, NAMES, PROVIDER, parts_of
from .losses import Converted, Losses
from .marker import unmarked
from .nested import looks_nested, unfolded
from .operator_text import OperatorText
from .pairs import Builder
from .records import note_fields, record, records
from .sound import wav_of
from .words import INAUDIBLE
from .write_answers import NO_ID


def from_items(items: str | Iterable[Any]) -> Converted[ModelMessage]:
    """Return *items* (`result.to_input_list()`, `await session.get_items()`) as messages for pydantic-ai.

    A plain string is one prompt. System and developer messages are in `instructions`. A call without a result gets
    one that says so, and a result without its call is left out, as in `to_items`. What tools of OpenAI's own did is
    kept as pydantic-ai keeps it, where it has a part for it. A summary of the talk before a handoff is unfolded.

    Raises:
        NotItems: Something in *items* is no item.
    """
    reader = _Reader()
    for number, item in enumerate([{"role": "user", "content": items}] if isinstance(items, str) else items, 1):
        reader.read(record(item, f"item {number}"), f"item {number}")
    return Converted(reader.builder.closed(), reader.operator.whole(), reader.losses.all())


class _Reader:
    """Reads one list of items."""

    def __init__(self) -> None:
        self.losses = Losses()
        self.builder = Builder(self.losses)
        self.operator = OperatorText(self.losses)

    def read(self, item: Record, where: str) -> None:
        """Read one item."""
        kind = item.get("type") or ("message" if "role" in item else "item_reference")
        self._read(kind, item, where)
        if item.get("role") not in ("system", "developer"):
            self.operator.talking = True

    def _read(self, kind: str, item: Record, where: str) -> None:
        match kind:
            case "message":
                self._message(item, where)
            case "function_call":
                self._call(item, where, str(item.get("arguments") or ""))
            case "custom_tool_call":
                self.losses.add("custom", where, f"the call of {item.get('name')} is now one with the argument `input`")
                self._call(item, where, {"input": item.get("input")})
            case "function_call_output" | "custom_tool_call_output":
                self._output(item, where)
            case "reasoning":
                self._thought(item, where)
            case "compaction":
                self._sealed(item, where)
            case _ if kind in NAMES and item.get("id"):
                self.builder.answer(where, parts_of(item))
            case _:
                self._left_out(str(kind), item, where)

    def _left_out(self, kind: str, item: Record, where: str) -> None:
        match kind:
            case "item_reference":
                what = f"a reference to {item.get('id')} is left out, since only the service holds it"
                self.losses.add("reference", where, what)
            case "additional_tools" | "configuration_update":
                self.losses.add("change", where, f"a record of a change ({kind}) is left out")
                return
            case _:
                known = kind in CALLED or kind in NAMES
                self.losses.add("hosted" if known else "unknown", where, f"an item of type {kind} is left out")
        self.builder.break_up()

    def _message(self, item: Record, where: str) -> None:
        if (turns := unfolded(item)) is not None:
            what = f"a summary of {len(turns)} turns before a handoff is unfolded; the ids that they had are not in it"
            self.losses.add("nested", where, what)
            for number, turn in enumerate(turns, 1):
                self.read(record(turn, where), f"{where}, turn {number}")
            return
        content = item.get("content")
        if looks_nested(item):
            what = (
                "a summary of turns before a handoff cannot be read: all of it, the caller's words too, is the agent's"
            )
            self.losses.add("unknown", where, what)
        parts = [{"type": "input_text", "text": content}] if isinstance(content, str) else records(content, where)
        role = item.get("role")
        note_fields(
            item,
            {"type", "role", "content", "status"} | ({"id", "phase"} if role == "assistant" else set()),
            where,
            self.losses,
        )
        match role:
            case "system" | "developer":
                found = read(parts, where, self.losses)
                words = [each for each in found if isinstance(each, str)]
                if len(words) < len(found):
                    self.losses.add("file", where, "a file beside operator text is left out")
                self.operator.add(where, "\n".join(words))
            case "assistant":
                self._reply(item, parts, where)
            case "user":
                self.builder.ask(prompt(parts, where, self.losses))
            case _:
                self.losses.add("unknown", where, f"a message of an unknown role ({role}) is left out")

    def _reply(self, item: Record, parts: Sequence[Record], where: str) -> None:
        cut = item.get("status") in ("incomplete", "in_progress")
        found: list[TextPart | SpeechPart] = []
        refusals: list[str] = []
        for part in parts:
            if part.get("type") == "refusal":
                refusals.append(str(part.get("refusal") or ""))
            elif part.get("type") not in ("output_text", "input_text", "text"):
                self.losses.add("unknown", where, f"content of an unknown type ({part.get('type')}) is left out")
            elif text := str(part.get("text") or ""):
                note_fields(part, {"type", "text", "annotations", "logprobs"}, where, self.losses)
                found.append(self._text(part, text, item, cut=cut and part is parts[-1]))
        if not found and not refusals:
            self.losses.add("empty", where, "a reply without a word is left out")
            self.builder.break_up()
            return
        response = self.builder.answer(where, found, cut=cut)
        if refusals:
            response.provider_name = PROVIDER
            response.provider_details = {"refusal": "\n".join(refusals)}
            response.finish_reason = "content_filter"

    def _text(self, part: Record, text: str, item: Record, *, cut: bool) -> TextPart | SpeechPart:
        if cut and (spoken := unmarked(text)):
            if _id(item):
                self.losses.leave("ids of items")
            return spoken
        kept = {"annotations": part.get("annotations"), "logprobs": part.get("logprobs"), "phase": item.get("phase")}
        details = {name: value for name, value in kept.items() if value} or None
        id = _id(item)
        return TextPart(text, id=id, provider_name=PROVIDER if id or details else None, provider_details=details)

    def _call(self, item: Record, where: str, args: str | Record) -> None:
        known = {"type", "id", "call_id", "name", "arguments", "input", "status", "namespace"}
        note_fields(item, known, where, self.losses)
        id = _id(item) if item["type"] == "function_call" else None
        details = {"namespace": item["namespace"]} if item.get("namespace") else None
        provider = PROVIDER if id or details else None
        name, call_id = str(item.get("name")), str(item.get("call_id"))
        call = ToolCallPart(name, args, call_id, id=id, provider_name=provider, provider_details=details)
        self.builder.answer(where, [call], cut=item.get("status") == "incomplete")

    def _output(self, item: Record, where: str) -> None:
        note_fields(item, {"type", "call_id", "output", "status", "name"}, where, self.losses)
        content = item.get("output")
        if not isinstance(content, str):
            parts = read(records(content, where), where, self.losses)
            words = [part for part in parts if isinstance(part, str)]
            content = "\n".join(words) if len(words) == len(parts) else parts
        outcome = "interrupted" if item.get("status") in ("incomplete", "in_progress") else "success"
        self.builder.result(where, str(item.get("call_id")), content, outcome=outcome, name=str(item.get("name") or ""))

    def _thought(self, item: Record, where: str) -> None:
        note_fields(item, {"type", "id", "summary", "content", "encrypted_content", "status"}, where, self.losses)
        summaries = [str(each.get("text") or "") for each in records(item.get("summary"), where)]
        raw = [str(each.get("text") or "") for each in records(item.get("content"), where)]
        sealed = item.get("encrypted_content")
        if not (any(summaries) or raw or sealed) or not item.get("id"):
            self.losses.add("thought", where, "reasoning that only the service holds is left out")
            self.builder.break_up()
            return
        thoughts = [ThinkingPart(text, id=item["id"], provider_name=PROVIDER) for text in summaries or [""]]
        thoughts[0].signature = sealed
        thoughts[0].provider_details = {"raw_content": raw} if raw else None
        self.builder.answer(where, thoughts)

    def _sealed(self, item: Record, where: str) -> None:
        details = {name: value for name, value in item.items() if name != "id"}
        part = CompactionPart(id=item.get("id"), provider_name=PROVIDER, provider_details=details)
        self.builder.answer(where, [part])


def _id(item: Record) -> str | None:
    return str(item["id"]) if item.get("id") and item["id"] != NO_ID else None


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
    """Return a spoken turn: its sound is a file here (`input_audio`), bare PCM16 in a realtime session (`audio`)."""
    note_fields(part, {"type", "input_audio", "audio", "transcript"}, where, losses)
    audio = None
    sound = part.get("input_audio")
    if isinstance(sound, dict) and sound.get("data"):
        audio = _file(str(sound["data"]), str(sound.get("format") or "wav"))
    elif part.get("audio"):
        audio = wav_of(str(part["audio"]))
    if audio is None and (sound or part.get("audio")):
        losses.add("sound", where, "sound that cannot be read is left out")
    transcript = part.get("transcript") or (None if audio else INAUDIBLE)
    return SpeechPart(speaker="user", transcript=transcript, audio=audio)


def _file(data: str, format: str) -> BinaryContent | None:
    try:
        return BinaryContent(base64.b64decode(data, validate=True), media_type=f"audio/{format}")
    except (ValueError, binascii.Error):
        return None
