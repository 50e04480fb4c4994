"""What no item of any kind holds of a part of pydantic-ai's."""

from typing import Any

from pydantic_ai.messages import SpeechPart, ToolCallPart, ToolReturnPart

from .losses import Losses


def note_speech(part: SpeechPart, where: str, losses: Losses) -> None:
    """Note what no text holds of a spoken turn."""
    if part.audio is not None:
        losses.add("sound", where, "the sound of a spoken turn is left out")
    if part.timestamps:
        losses.add("times", where, "when each word was spoken is left out")
    if part.provider_details:
        losses.leave("provider_details")


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


def note_ids(part: Any, losses: Losses) -> None:
    """Note the id and the details that belong to another service."""
    if part.id:
        losses.leave("ids of items")
    if part.provider_details:
        losses.leave("provider_details")


def arguments(part: ToolCallPart) -> str:
    """Return the arguments of a call as the model wrote them; those of a dictionary as JSON."""
    return part.args if isinstance(part.args, str) and part.args else part.args_as_json_str()
