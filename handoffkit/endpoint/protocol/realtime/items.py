"""The items of a realtime conversation: what a client may add, their order, and how a model reads them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ...models.prompt import Item, Message, ToolCall, ToolResult
from ..api_error import ApiError
from ..fields import Check, anything, array, identifier, one_of, text
from .audio import BYTES_PER_MS, decode, heard
from .check import record, short, tagged

Record = dict[str, Any]

_ID = short(32)  # the service refuses longer ones
_STATUS = one_of("completed", "incomplete", "in_progress")
_COMMON: dict[str, Check] = {"id": _ID, "type": text, "object": one_of("realtime.item"), "status": _STATUS}


def _call_id(value: Any, param: str) -> None:
    """Demand an id of a call as the service takes it (https://github.com/livekit/agents/issues/5652)."""
    _ID(value, param)
    identifier(value, param)


def _audio(value: Any, param: str) -> None:
    text(value, param)
    decode(value, param)


def _text_part(kind: str) -> dict[str, Check]:
    return {kind: record({"type": text, "text": text}, ["text"])}


def _message(parts: Mapping[str, Check]) -> Check:
    return record({**_COMMON, "role": text, "content": array(tagged("type", parts))}, ["content"])


_CALLER = {
    **_text_part("input_text"),
    "input_audio": record({"type": text, "audio": _audio, "transcript": text}),
    "input_image": record({"type": text, "image_url": text, "detail": one_of("auto", "low", "high")}, ["image_url"]),
}
_KINDS: dict[str, Check] = {
    "message": tagged(
        "role",
        {
            "user": _message(_CALLER),
            "assistant": _message(_text_part("output_text")),
            "system": _message(_text_part("input_text")),
        },
    ),
    "function_call": record({**_COMMON, "call_id": _call_id, "name": text, "arguments": text}, ["name", "arguments"]),
    "function_call_output": record({**_COMMON, "call_id": _call_id, "output": text}, ["call_id", "output"]),
}
ITEM = tagged("type", _KINDS)
"""The `item` of a `conversation.item.create`. An assistant's audio cannot be created, only its text."""

CONTEXT = tagged("type", {**_KINDS, "item_reference": record({"type": text, "id": text, "object": anything}, ["id"])})
"""An item in the `input` of a `response.create`: a new one, or a reference to one in the conversation."""


def kept(item: Mapping[str, Any], id: str, call_id: str) -> Record:
    """Return a checked *item* in the shape in which the service gives it back.

    Sound and pictures are not given back. *call_id* is for a call that brings none.
    """
    head = {"id": id, "type": item["type"]}
    match item["type"]:
        case "message":
            return {
                **head,
                "status": "completed",
                "role": item["role"],
                "content": [_part(part) for part in item["content"]],
            }
        case "function_call":
            call_id = item.get("call_id") or call_id
            called = {"name": item["name"], "call_id": call_id, "arguments": item["arguments"]}
            return {**head, "status": "completed", **called}
    return {**head, "call_id": item["call_id"], "output": item["output"]}


def _part(part: Mapping[str, Any]) -> Record:
    match part["type"]:
        case "input_audio":
            return {"type": "input_audio", "transcript": part.get("transcript")}
        case "input_image":
            return {"type": "input_image", "detail": part.get("detail") or "auto"}
    return {"type": part["type"], "text": part["text"]}


def sound_ms(item: Mapping[str, Any]) -> int:
    """Return the milliseconds of sound that a client's checked *item* brings."""
    parts = item.get("content") or [] if item["type"] == "message" else []
    sounds = [part["audio"] for part in parts if part.get("audio")]
    return sum(len(decode(sound, "audio")) for sound in sounds) // BYTES_PER_MS


@dataclass(eq=False, slots=True)
class Entry:
    """An item, and what the service knows of it beyond what it shows."""

    item: Record
    audio_ms: int = 0
    """Milliseconds of sound: of a caller's turn, or of a reply as far as it was sent or is left after a cut."""
    cut: bool = False
    """The client has cut it off where it stopped listening; nothing is added to it any more."""
    heard: str | None = None
    """The words that were recognised in a caller's sound, whether the client wants a transcript or not."""
    listening: bool = False
    """The words of a caller's sound are being recognised."""

    def shown(self) -> Record:
        """Return a copy of the item that later changes do not reach."""
        content = self.item.get("content")
        return {**self.item, "content": [{**part} for part in content]} if content is not None else {**self.item}

    def keep_heard(self, end_ms: int | None = None) -> None:
        """Keep of a spoken reply the words that were heard: up to *end_ms*, or as far as its sound was sent."""
        content = self.item.get("content")
        if not content or content[0]["type"] != "output_audio" or (self.cut and end_ms is None):
            return
        known = self.cut or self.item["status"] == "completed"
        end_ms = self.audio_ms if end_ms is None else end_ms
        words = heard(content[0]["transcript"], end_ms, self.audio_ms if known else None)
        self.item = {**self.item, "content": [{"type": "output_audio", "transcript": words}]}
        self.audio_ms, self.cut = end_ms, True

    def words(self) -> str:
        """Return what is said in it; sound without words is `[inaudible]`, a picture `[image]`."""
        if self.heard is not None:
            return self.heard or "[inaudible]"
        return "".join(_words_of(part) for part in self.item.get("content", ()))


def _words_of(part: Record) -> str:
    match part["type"]:
        case "input_audio":
            return "[inaudible]" if part["transcript"] is None else str(part["transcript"])
        case "input_image":
            return "[image]"
        case "output_audio":
            return str(part["transcript"])
    return str(part["text"])


class Conversation:
    """The items of a session, in the order of the conversation."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._by_id: dict[str, Entry] = {}

    def __contains__(self, id: str | None) -> bool:
        return id in self._by_id

    def find(self, id: str, doing: str) -> Entry:
        """Return the entry of an item.

        Args:
            id: The item's id.
            doing: What it is wanted for, as the service's errors say it: `delete`, `retrieve` or `truncate`.

        Raises:
            ApiError: There is no such item.
        """
        if id not in self:
            verb = f"{doing.removesuffix('e')}ing"
            message = f"Error {verb} item: the item with id '{id}' does not exist."
            raise ApiError(message, code=f"item_{doing}_invalid_item_id")
        return self._by_id[id]

    def check_room(self, id: str | None, after: str | None) -> None:
        """Make sure that an item of this id can be added after that item.

        Raises:
            ApiError: The id is taken, or there is no such item to stand before it.
        """
        if id is not None and id in self:
            message = f"Error adding item: an item with id '{id}' already exists."
            raise ApiError(message, code="item_create_duplicate_item_id")
        if after not in (None, "root") and after not in self:
            message = f"Error adding item: the previous item with id '{after}' does not exist."
            raise ApiError(message, code="item_create_invalid_previous_item_id")

    def check_call(self, call_id: str) -> None:
        """Make sure that there is a call that an output with this id can belong to.

        Raises:
            ApiError: There is none.
        """
        calls = (entry.item for entry in self.entries if entry.item["type"] == "function_call")
        if call_id not in {item["call_id"] for item in calls}:
            message = f"Tool call ID '{call_id}' not found in conversation."
            raise ApiError(message, code="invalid_tool_call_id")

    def add(self, entry: Entry, after: str | None = None) -> None:
        """Insert *entry* after the item with id *after*: `root` is the beginning, None the end."""
        place = len(self.entries)
        if after is not None:
            place = 0 if after == "root" else self.entries.index(self._by_id[after]) + 1
        self.entries.insert(place, entry)
        self._by_id[entry.item["id"]] = entry

    def remove(self, entry: Entry) -> None:
        """Take *entry* out."""
        self.entries.remove(entry)
        del self._by_id[entry.item["id"]]

    def before(self, entry: Entry) -> str | None:
        """Return the id of the item before *entry*; None if it is the first, or out of the conversation."""
        if entry.item["id"] not in self:
            return None
        place = self.entries.index(entry)
        return str(self.entries[place - 1].item["id"]) if place else None

    def is_first(self, id: str | None) -> bool:
        """Tell whether the conversation begins with this item."""
        return bool(self.entries) and self.entries[0].item["id"] == id


def history(entries: Iterable[Entry]) -> tuple[Item, ...]:
    """Return a conversation as a model reads it.

    A reply that was cut off has only the words that were heard, and is left out if that is none; a call that was
    never finished is left out.
    """
    return tuple(read for entry in entries if (read := _read(entry)) is not None)


def _read(entry: Entry) -> Item | None:
    item = entry.item
    match item["type"]:
        case "function_call":
            return ToolCall(item["name"], item["arguments"], item["call_id"]) if item["status"] == "completed" else None
        case "function_call_output":
            return ToolResult(item["call_id"], item["output"])
    words = entry.words()
    return Message(item["role"], words) if words or item["role"] != "assistant" else None
