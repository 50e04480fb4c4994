"""Words, images and files of a prompt or of a tool's result, as content of the Responses API, and back."""

import base64
import binascii
import mimetypes
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic_ai.messages import (
    AudioUrl,
    BinaryContent,
    CachePoint,
    DocumentUrl,
    FileUrl,
    ImageUrl,
    StructuredContent,
    TextContent,
    UploadedFile,
    UserContent,
)

from .losses import Losses

Record = dict[str, Any]

_DETAIL = "detail"
_IMAGE = "image/*"  # of an uploaded image nothing more is known than that it is one
_PART_FIELDS = {
    "input_text": {"type", "text"},
    "input_image": {"type", "image_url", "file_id", "detail"},
    "input_file": {"type", "file_data", "file_id", "file_url", "filename"},
}


def words_of(content: str | TextContent, where: str, losses: Losses) -> str:
    """Return the text of a string, or of one with data of the application's beside it."""
    if isinstance(content, str):
        return content
    if isinstance(content, StructuredContent) or content.metadata is not None:
        losses.add("data", where, "the application's data beside a text is left out")
    return content.content


def written(content: Sequence[Any], where: str, losses: Losses) -> list[Record]:
    """Return *content* (strings, texts with data, files) as content of a message or of a tool's output."""
    return [part for each in content for part in _written(each, where, losses)]


def _written(content: Any, where: str, losses: Losses) -> Iterator[Record]:
    match content:
        case str() | TextContent():
            yield {"type": "input_text", "text": words_of(content, where, losses)}
        case CachePoint():
            losses.add("cache", where, "a mark for the prompt cache is left out")
        case ImageUrl():
            _note_download(content, where, losses)
            yield _image(content, where, losses, image_url=content.url)
        case DocumentUrl() | AudioUrl():
            _note_download(content, where, losses)
            _detail(content, where, losses, kept=False)
            yield {"type": "input_file", "file_url": content.url}
        case BinaryContent(is_image=True):
            yield _image(content, where, losses, image_url=content.data_uri)
        case BinaryContent(is_document=True):
            _detail(content, where, losses, kept=False)
            yield {"type": "input_file", "file_data": content.data_uri, "filename": _name(content)}
        case UploadedFile(provider_name="openai"):
            yield from _uploaded(content, where, losses)
        case _:
            losses.add("file", where, f"a file that Responses items have no place for ({kind_of(content)}) is left out")


def _uploaded(content: UploadedFile, where: str, losses: Losses) -> Iterator[Record]:
    if content.media_type.startswith("image/"):
        yield _image(content, where, losses, file_id=content.file_id)
    else:
        _detail(content, where, losses, kept=False)
        yield {"type": "input_file", "file_id": content.file_id}


def _image(content: Any, where: str, losses: Losses, **source: str) -> Record:
    return {"type": "input_image", **source, "detail": _detail(content, where, losses, kept=True)}


def _detail(content: Any, where: str, losses: Losses, *, kept: bool) -> str:
    """Return how closely an image is to be looked at; what else a vendor was told has no place."""
    told = content.vendor_metadata or {}
    if set(told) - ({_DETAIL} if kept else set()):
        losses.add("file", where, f"what a vendor was told about a file ({', '.join(sorted(told))}) is left out")
    return str(told.get(_DETAIL, "auto"))


def _note_download(content: FileUrl, where: str, losses: Losses) -> None:
    if content.force_download:
        losses.add("file", where, "a file that was to be downloaded first is given by its address")


def _name(content: BinaryContent) -> str:
    """Return a file name: the API wants one; the identifier if it looks like one."""
    name = content.identifier
    return name if "." in name else f"{name}.{content.format}"


def kind_of(content: Any) -> str:
    """Return in a word what sort of content this is."""
    return str(getattr(content, "media_type", None) if isinstance(content, BinaryContent) else type(content).__name__)


def read(parts: Sequence[Record], where: str, losses: Losses) -> list[UserContent]:
    """Return the words and files of a message's or a tool output's content; sound is not looked at here."""
    found: list[UserContent] = []
    for part in parts:
        kind = str(part.get("type"))
        if left := set(part) - _PART_FIELDS.get(kind, set(part)):
            _note_fields(left, where, losses)
        match kind:
            case "input_text" | "output_text" | "text" | "summary_text":
                found.append(str(part.get("text") or ""))
            case "input_image" | "computer_screenshot":
                found += _read_image(part, where, losses)
            case "input_file":
                found += _read_file(part, where, losses)
            case _:
                losses.add("unknown", where, f"content of an unknown type ({kind}) is left out")
    return found


def _note_fields(names: set[str], where: str, losses: Losses) -> None:
    if "prompt_cache_breakpoint" in names:
        losses.add("cache", where, "a mark for the prompt cache is left out")
    if others := sorted(names - {"prompt_cache_breakpoint"}):
        losses.add("file", where, f"what was said beside content ({', '.join(others)}) is left out")


def _read_image(part: Record, where: str, losses: Losses) -> Iterator[UserContent]:
    detail = part.get(_DETAIL)
    told = {_DETAIL: str(detail)} if detail not in (None, "auto") else None
    if url := part.get("image_url"):
        binary = _binary(str(url)) if str(url).startswith("data:") else None
        if binary is not None:
            binary.vendor_metadata = told
            yield binary
        elif str(url).startswith("data:"):
            losses.add("file", where, "an image whose data cannot be read is left out")
        else:
            yield ImageUrl(str(url), vendor_metadata=told)
    elif file_id := part.get("file_id"):
        yield UploadedFile(str(file_id), "openai", media_type=_IMAGE, vendor_metadata=told)
    else:
        losses.add("file", where, "an image without a source is left out")


def _read_file(part: Record, where: str, losses: Losses) -> Iterator[UserContent]:
    name = part.get("filename")
    if url := part.get("file_url"):
        guess = mimetypes.guess_type(str(url))[0] or ""
        yield AudioUrl(str(url)) if guess.startswith("audio/") else DocumentUrl(str(url))
    elif file_id := part.get("file_id"):
        yield UploadedFile(str(file_id), "openai")
    elif (data := part.get("file_data")) and (binary := _binary(str(data), name)) is not None:
        yield binary
        return
    else:
        losses.add("file", where, "a file that cannot be read is left out")
        return
    if name:
        losses.add("file", where, f"the name of a file ({name}) is left out")


def _binary(data: str, name: object = None) -> BinaryContent | None:
    """Return what a data URI holds, or bare base64 of a file whose *name* says what it is; None if it is neither."""
    head, comma, body = data.partition(",")
    if comma:
        media_type = head.removeprefix("data:").removesuffix(";base64")
    else:
        media_type, body = mimetypes.guess_type(str(name))[0] or "application/octet-stream", data
    try:
        content = base64.b64decode(body, validate=True)
    except (ValueError, binascii.Error):
        return None
    identifier = str(name) if name else None
    return BinaryContent.narrow_type(BinaryContent(content, media_type=media_type, identifier=identifier))
