"""What a history of pydantic-ai messages says by itself: the caller's words, and which of them got no answer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, SpeechPart, ToolCallPart, UserPromptPart

INAUDIBLE = "[inaudible]"
"""Stands for a spoken turn whose words never came. Without a text, pydantic-ai would leave the turn out of what a text
model reads, and the model could not know that something is missing."""


def caller_words(history: Iterable[ModelMessage]) -> list[str]:
    """Return what users say in *history*, one text a part; parts without words (an image, say) are left out."""
    return [text for message in history for part in message.parts if (text := _words(part)).strip()]


def _words(part: object) -> str:
    match part:
        case UserPromptPart(content=str(text)):
            return text
        case UserPromptPart(content=content):
            return " ".join(item if isinstance(item, str) else getattr(item, "content", "") for item in content)
        case SpeechPart(speaker="user", transcript=transcript) if transcript != INAUDIBLE:
            return transcript or ""
    return ""


@dataclass(frozen=True, slots=True)
class Unanswered:
    """Words of a user's that a history shows no whole answer to."""

    number: int
    """1, 2, …: which of the user's words."""
    words: str
    reason: str
    """What is missing, in plain words."""


_CUT = {"error": "the reply failed", "length": "the reply is incomplete", "content_filter": "the reply was withheld"}


def unanswered(history: Sequence[ModelMessage]) -> Unanswered | None:
    """Return the first words in *history* that visibly have no whole answer, and were not said again; None if none.

    A history does not tell everything: a reply that was dropped looks in it like one that a caller interrupted.
    """
    found: list[Unanswered] = []
    called: dict[str, str] = {}
    said: list[str] = []
    for message in history:
        words = [text for part in message.parts if (text := _words(part)).strip()]
        found = [each for each in found if each.words not in words]
        said += words
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                called[part.tool_call_id] = part.tool_name
            elif isinstance(message, ModelRequest):
                called.pop(getattr(part, "tool_call_id", ""), None)
        if isinstance(message, ModelResponse) and (why := _CUT.get(message.finish_reason or "")):
            found.append(Unanswered(len(said), said[-1] if said else "", why))
    last = history[-1] if history else None
    if called:
        why = f"the tool {next(iter(called.values()))} was called and has not returned"
        found.append(Unanswered(len(said), said[-1] if said else "", why))
    elif isinstance(last, ModelRequest) and any(_words(part).strip() for part in last.parts):
        found.append(Unanswered(len(said), said[-1], "the history ends with these words, and no reply follows"))
    return found[0] if found else None
