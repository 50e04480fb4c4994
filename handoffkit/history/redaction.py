"""A history without what must not be read: every text that a model could come to see goes through one function.

What a service stored or sealed is read by it, too: a message that goes out with the id of its first version is read in
that version (`TextPart.id` of pydantic-ai says so), and sealed reasoning says what it was made from. So nothing of the
kind leaves here, whether a text changed or not. Sound cannot be searched and is left out where its words are known.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import fields, is_dataclass, replace
from typing import Any

from pydantic_ai.messages import (
    BinaryContent,
    CachePoint,
    Citation,
    CompactionPart,
    FileUrl,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    SpeechPart,
    StructuredContent,
    TextContent,
    ThinkingPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_core import PydanticSerializationError, to_jsonable_python

from .words import INAUDIBLE

Replace = Callable[[str], str]

_NAMES = {
    *("kind", "part_kind", "tool_name", "tool_call_id", "tool_kind", "speaker", "outcome", "scope", "granularity"),
    *("id", "provider_name", "dynamic_ref", "context_id", "media_type", "_media_type", "timestamp", "on_change"),
    *("tools_added", "loaded", "settings", "base_hash", "content_hash", "retry"),
}
"""Fields that name or number something, and are no text."""
_STORED = {"id", "provider_details", "signature"}
"""What would lead a service back to the text as it was."""
_ESCAPED = re.compile(r"(?:\\u[0-9a-fA-F]{4})+")
_UNREAD = re.compile(r"(audio|video|image)/(?!svg)|application/(?!(.*[+/-])?(json|xml|yaml|toml|csv)\b)")
"""Kinds of files that are not looked into: sound, films, pictures, and documents that are no plain text."""


def redacted(messages: Sequence[ModelMessage], replace: Replace) -> list[ModelMessage]:
    """Return *messages* with *replace* applied to every text that a model could read.

    That is words and transcripts, system prompts and instructions, reasoning, arguments and outputs of tools (inside
    JSON, too, keys and numbers as well; of objects what they are as JSON), files of text, names and addresses of files,
    and summaries. Ids and sealed content of a service go, so that it cannot look the old text up; hosted tools' calls
    go, since they are nothing but ids. Metadata goes, and which words a source stands behind. Pictures, films, files of
    sound, and documents other than text, are handed on unread. *replace* sees one text at a time: what is said half in
    one message and half in the next is not found.
    """
    return [_message(message, replace) for message in messages]


def _message(message: ModelMessage, change: Replace) -> ModelMessage:
    parts = [part for each in message.parts for part in _part(each, change)]
    if isinstance(message, ModelRequest):
        instructions = change(message.instructions) if message.instructions is not None else None
        return replace(message, parts=parts, instructions=instructions, metadata=None, conversation_id=None)
    return replace(
        message,
        parts=parts,
        provider_response_id=None,
        provider_details=_deep({"refusal": refusal}, change) if (refusal := _refusal(message)) else None,
        conversation_id=None,
        metadata=None,
        failed_attempts=None,
        history_digest=None,
    )


def _refusal(message: ModelResponse) -> object:
    return (message.provider_details or {}).get("refusal")


def _part(part: Any, change: Replace) -> Iterator[Any]:
    match part:
        case NativeToolCallPart() | NativeToolReturnPart() | CompactionPart(content=None):
            return
        case ThinkingPart(content=""):
            return
        case UserPromptPart(content=content) if not isinstance(content, str):
            yield replace(part, content=[_deep(each, change) for each in content])
        case SpeechPart():
            yield _speech(part, change)
        case ToolReturnPart():
            yield replace(part, content=_deep(part.content, change), metadata=None)
        case _:
            yield _object(part, change)


def _speech(part: SpeechPart, change: Replace) -> SpeechPart:
    transcript = change(part.transcript) if part.transcript else part.transcript
    if part.audio is not None and not transcript:
        transcript = INAUDIBLE
    times = [replace(each, text=change(each.text)) for each in part.timestamps] if part.timestamps else None
    return replace(part, transcript=transcript, audio=None, timestamps=times, id=None, provider_details=None)


def _object(thing: Any, change: Replace) -> Any:
    """Return a part, or something that pydantic-ai keeps in one, with every text in it changed."""
    named = {field.name for field in fields(thing)}
    new = {name: _deep(getattr(thing, name), change) for name in named - _NAMES}
    stored = (_STORED & named if "provider_name" in named else set()) | (named & {"metadata"})
    return replace(thing, **new | dict.fromkeys(stored))


def _deep(value: Any, change: Replace) -> Any:
    match value:
        case str():
            return _text(value, change)
        case bool() | None | CachePoint():
            return value
        case int() | float():
            number = str(value)
            return value if (changed := change(number)) == number else changed
        case bytes():
            return value if (text := _bytes(value, change)) is None else text
        case dict() if all(isinstance(key, str) for key in value):
            return {_text(key, change): _deep(each, change) for key, each in value.items()}
        case list() | tuple():
            return [_deep(each, change) for each in value]
        case StructuredContent() | TextContent():
            return TextContent(change(value.content))
        case BinaryContent() | FileUrl():
            return _file(value, change)
        case Citation():
            return Citation([_object(each, change) for each in value.sources])
    if is_dataclass(value) and type(value).__module__.partition(".")[0] == "pydantic_ai":
        return _object(value, change)
    plain = _plain(value)
    return value if (new := _deep(plain, change)) == plain else new


def _plain(value: Any) -> Any:
    """Return a model, a date, a set or another object as a model reads it: as what its JSON says."""
    try:
        return to_jsonable_python(value, by_alias=True, serialize_unknown=True)
    except (PydanticSerializationError, ValueError):  # bytes in it that are no text
        return to_jsonable_python(value, by_alias=True, serialize_unknown=True, bytes_mode="base64")


def _file(content: BinaryContent | FileUrl, change: Replace) -> BinaryContent | FileUrl:
    """Return a file with its name and address changed, and what is in it, if that is text."""
    new = copy(content)  # `replace` would lose the name
    new._identifier = change(content._identifier) if content._identifier else None
    new.vendor_metadata = _deep(content.vendor_metadata, change)
    if isinstance(new, FileUrl):
        new.url = change(new.url)
    elif not _UNREAD.match(new.media_type) and (text := _bytes(new.data, change)) is not None:
        new.data = text.encode()
    return new


def _bytes(data: bytes, change: Replace) -> str | None:
    """Return the text in *data* changed; None if there is nothing to change."""
    text = data.decode("utf-8", errors="replace")
    return None if (changed := _text(text, change)) == text else changed


def _text(text: str, change: Replace) -> str:
    """Return *text* changed; of JSON what it says, however it is written down, so that it stays JSON."""
    if text.lstrip()[:1] in ("{", "[", '"'):
        try:
            value = json.loads(text, object_pairs_hook=_once)
        except ValueError:
            return _words(text, change)
        new = _deep(value, change)
        return text if new == value else json.dumps(new, ensure_ascii=False)
    return _words(text, change)


def _words(text: str, change: Replace) -> str:
    """Return *text* changed; letters that are written as JSON escapes them (`\\u00eb`) are read, too."""
    shown = _ESCAPED.sub(lambda found: str(json.loads(f'"{found[0]}"')), text).encode(errors="replace").decode()
    return changed if shown != text and (changed := change(shown)) != shown else change(text)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object of *pairs*; one with a name twice would lose the first, unread."""
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError
    return found
