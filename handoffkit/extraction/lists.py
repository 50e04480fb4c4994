"""A conversation that is given as a list: of pydantic-ai messages, or of openai-agents items; made ready to be sent.

Pure. A service refuses a tool's result that no call stands before, so such a list is mended here, and the loss is told.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import NotAConversation

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

    from ..history import Loss

TOLD = frozenset({"call", "ending", "file", "hosted", "reference", "result", "summary", "unknown"})
"""The kinds of loss that a user of a handoff is warned about: something that was said or done has not gone over. The
others change no words, or are about operator text, which a handoff leaves out by design."""


def told(losses: "Iterable[Loss]") -> "list[Loss]":
    """Return those of *losses* that a user of a handoff should know, each once."""
    return list(dict.fromkeys(loss for loss in losses if loss.kind in TOLD))


def given_messages(source: Any) -> "tuple[list[ModelMessage], Sequence[Loss]]":
    """Return what *source* holds as pydantic-ai messages, and what of it they cannot hold.

    Raises:
        NotAConversation: It is no list of messages or items.
    """
    from pydantic_ai.messages import ModelRequest, ModelResponse

    from ..history import from_items, from_session_history

    if not isinstance(source, list | tuple):
        raise NotAConversation(source)
    if all(isinstance(each, ModelRequest | ModelResponse) for each in source):
        return list(source), ()
    if all(_is_heard(each) for each in source):
        return _both(from_session_history(source))
    if all(_is_item(each) for each in source):
        return _both(from_items(source))
    raise NotAConversation(source)


def _both(converted: Any) -> "tuple[list[ModelMessage], Sequence[Loss]]":
    return converted.items, converted.losses


def _is_heard(item: Any) -> bool:
    """Say whether *item* is of a RealtimeSession's history: its items have an `item_id`, others an `id` or none."""
    return "item_id" in item if isinstance(item, dict) else hasattr(item, "item_id")


def _is_item(item: Any) -> bool:
    """Say whether *item* is one of the Responses API's: a dictionary, or the `openai` package's model of one."""
    if isinstance(item, dict):
        return "type" in item or "role" in item
    return hasattr(item, "model_dump") and isinstance(getattr(item, "type", None), str)


def without_lone_results(messages: "Sequence[ModelMessage]") -> "tuple[list[ModelMessage], list[Loss]]":
    """Return *messages* without results of tools that no call stands before, and what was left out."""
    from pydantic_ai.messages import ModelRequest, RetryPromptPart, ToolCallPart, ToolReturnPart

    from ..history import Loss

    called: set[str] = set()
    found: list[ModelMessage] = []
    losses: list[Loss] = []
    for number, message in enumerate(messages, 1):
        called |= {part.tool_call_id for part in message.parts if isinstance(part, ToolCallPart)}
        if isinstance(message, ModelRequest):
            results = [part for part in message.parts if isinstance(part, ToolReturnPart | RetryPromptPart)]
            alone = [part for part in results if part.tool_name and part.tool_call_id not in called]
            for part in alone:
                what = f"a result of {part.tool_name} without a call before it is left out"
                losses.append(Loss("result", f"message {number}", what))
            if alone:
                kept = [part for part in message.parts if not any(part is each for each in alone)]
                message = replace(message, parts=kept)
        if message.parts:
            found.append(message)
    return found, losses


def without_thoughts(messages: "Sequence[ModelMessage]") -> "tuple[list[ModelMessage], list[Loss]]":
    """Return *messages* without what models thought, and what hosted tools did, which hangs on it.

    Nobody has said it, and a service takes it back only whole and from the model that it came from. The ids of the
    parts beside it go, too: by them the service would ask for it.
    """
    from pydantic_ai.messages import ModelResponse, NativeToolCallPart, NativeToolReturnPart, ThinkingPart

    from ..history import Loss

    found: list[ModelMessage] = []
    losses: list[Loss] = []
    for number, message in enumerate(messages, 1):
        if isinstance(message, ModelResponse):
            for part in message.parts:
                if isinstance(part, NativeToolCallPart):
                    what = f"what the hosted tool {part.tool_name} did is left out"
                    losses.append(Loss("hosted", f"message {number}", what))
            kinds = ThinkingPart | NativeToolCallPart | NativeToolReturnPart
            kept = [part for part in message.parts if not isinstance(part, kinds)]
            message = replace(message, parts=[replace(part, id=None) if hasattr(part, "id") else part for part in kept])
        if message.parts:
            found.append(message)
    return found, losses


def with_inaudible(messages: "Sequence[ModelMessage]") -> "tuple[list[ModelMessage], int]":
    """Return *messages* with a word for each turn of the caller's that nobody understood, and how many there are."""
    from pydantic_ai.messages import ModelRequest, SpeechPart

    from ..history import INAUDIBLE

    count = 0
    found: list[ModelMessage] = []
    for message in messages:
        if isinstance(message, ModelRequest):
            parts = list(message.parts)
            for place, part in enumerate(parts):
                if isinstance(part, SpeechPart) and (part.transcript or INAUDIBLE).strip() in ("", INAUDIBLE):
                    parts[place] = replace(part, transcript=INAUDIBLE)
                    count += 1
            message = replace(message, parts=parts)
        found.append(message)
    return found, count
