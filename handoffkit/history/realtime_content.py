"""What a realtime conversation can hold of a prompt, a reply or a tool's result."""

from collections.abc import Sequence
from typing import Any

from pydantic_ai.messages import (
    BinaryContent,
    CachePoint,
    CompactionPart,
    FilePart,
    ImageUrl,
    NativeToolCallPart,
    NativeToolReturnPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolReturnPart,
)

from .files import Record, kind_of, words_of
from .losses import Losses
from .notes import note_return

IMAGES = ("image/png", "image/jpeg")
"""What the Realtime API takes, as data in the item."""


def typed(content: str | Sequence[Any], where: str, losses: Losses, *, addresses: bool) -> list[Record]:
    """Return a prompt as content of an item: text and images; with *addresses*, images by their address, too."""
    found: list[Record] = []
    for each in [content] if isinstance(content, str) else content:
        match each:
            case str() | TextContent():
                if text := words_of(each, where, losses):
                    found.append({"type": "input_text", "text": text})
            case BinaryContent(media_type=media_type) if media_type in IMAGES:
                found.append(_image(each.data_uri, each, where, losses))
            case ImageUrl() if addresses:
                found.append(_image(each.url, each, where, losses))
            case CachePoint():
                losses.add("cache", where, "a mark for the prompt cache is left out")
            case _:
                what = f"a file that a realtime conversation does not take ({kind_of(each)}) is left out"
                losses.add("file", where, what)
    return found


def _image(url: str, content: Any, where: str, losses: Losses) -> Record:
    told = content.vendor_metadata or {}
    detail = told.get("detail")
    known = detail if detail in ("auto", "low", "high") else None
    if len(told) > (known is not None) or getattr(content, "force_download", False):
        losses.add("file", where, "what was said beside an image is left out")
    return {"type": "input_image", "image_url": url, **({"detail": known} if known else {})}


def output_text(part: ToolReturnPart, where: str, losses: Losses) -> str:
    """Return a tool's result as text; its files have no place."""
    note_return(part, where, losses)
    for each in part.files:
        losses.add("file", where, f"a file of {part.tool_name}'s result ({kind_of(each)}) is left out")
    return part.model_response_str()


def note_text(part: TextPart, where: str, losses: Losses) -> None:
    """Note what a written reply holds beside its words."""
    details = part.provider_details or {}
    if part.citations or details.get("annotations"):
        losses.add("source", where, "the sources beside a text are left out")
    if set(details) - {"annotations"}:
        losses.leave("provider_details")
    if part.id:
        losses.leave("ids of items")


def note_other(part: Any, where: str, losses: Losses) -> None:
    """Note a part of a reply that a realtime conversation has no place for."""
    match part:
        case ThinkingPart():
            losses.add("thought", where, "reasoning is left out")
        case NativeToolCallPart():
            losses.add("hosted", where, f"what the hosted tool {part.tool_name} did is left out")
        case NativeToolReturnPart():
            pass  # its call is noted
        case CompactionPart():
            losses.add("summary", where, "a sealed summary of earlier turns is left out")
        case FilePart():
            losses.add("file", where, f"a file that the model made ({kind_of(part.content)}) is left out")
        case _:
            losses.add("unknown", where, f"a part of an unknown kind ({type(part).__name__}) is left out")
