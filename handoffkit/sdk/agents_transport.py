"""openai-agents' own transport, and what a call needs besides: settings that last, and no words in a caller's mouth."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any

from agents.realtime import OpenAIRealtimeWebSocketModel
from agents.realtime.model_inputs import (
    RealtimeModelRawClientMessage,
    RealtimeModelSendEvent,
    RealtimeModelSendRawMessage,
    RealtimeModelSendSessionUpdate,
    RealtimeModelSendToolOutput,
    RealtimeModelSendUserInput,
)
from openai.types.realtime import ConversationItem
from pydantic import TypeAdapter, ValidationError

from .agents_replies import Replies

GUARDRAIL = "guardrail triggered:"
"""How the words begin with which the SDK tells the model of a guardrail, as a user's message (agents 0.24)."""
_GIVEN_UP, _CLOSED = 1011, 5.0  # the code of RFC 6455 for trouble that its sender had, and seconds that it may take
_ITEM: TypeAdapter[Any] = TypeAdapter(ConversationItem)


class Transport(OpenAIRealtimeWebSocketModel):
    """The SDK's own transport; what was changed on the wire meanwhile stays in force after a handoff.

    Args:
        replies: Knows which call was made in which reply.
    """

    def __init__(self, replies: Replies) -> None:
        super().__init__()
        self._replies = replies
        self.detection: tuple[dict[str, Any] | None] | None = None
        """The turn detection that was put in force; None where it is the session's own."""
        self.leaving = False
        """Whether the call is being hung up, so that the end of the connection is meant."""
        self.add_listener(replies)

    async def close(self) -> None:
        """Close the connection; where the SDK gives its session up by itself, the wire is told so: nobody hung up.

        It does at a frame that is no JSON, and at an error that a tool's guardrail raises, and closes as in peace.
        """
        socket = getattr(self, "_websocket", None)
        if socket is not None and not self.leaving:
            with contextlib.suppress(Exception):
                async with asyncio.timeout(_CLOSED):
                    await socket.close(_GIVEN_UP, "openai-agents gave the session up")
        await super().close()

    async def let_go(self) -> bool:
        """Count the reply that is thought to be under way as ended; return whether there was one.

        The SDK (0.24) has no public verb for it; a version that moves these names is asked nothing here.
        """
        ended = getattr(self, "_mark_response_done", None)
        if ended is None or not getattr(self, "_ongoing_response", False):
            return False
        await ended()
        return True

    async def send_event(self, event: RealtimeModelSendEvent) -> None:
        """Send an event, as the SDK does."""
        if isinstance(event, RealtimeModelSendSessionUpdate) and self.detection is not None:
            settings: dict[str, Any] = dict(event.session_settings)
            audio = dict(settings.get("audio") or {})
            audio["input"] = {**(audio.get("input") or {}), "turn_detection": self.detection[0]}
            event = RealtimeModelSendSessionUpdate({**settings, "audio": audio})  # type: ignore[typeddict-item]
        elif isinstance(event, RealtimeModelSendToolOutput):
            event = self._replies.answer(event)
        await super().send_event(event)

    async def send_event_if(self, event: RealtimeModelSendEvent, send_if: Callable[[], bool]) -> bool:
        """Send an event on a condition; what the SDK says of a guardrail is no word of the caller's."""
        words = event.user_input if isinstance(event, RealtimeModelSendUserInput) else None
        if not isinstance(words, str) or not words.startswith(GUARDRAIL):
            return await super().send_event_if(event, send_if)
        if not send_if():
            return False
        item = {"type": "message", "role": "system", "content": [{"type": "input_text", "text": words}]}
        await self.send_event(RealtimeModelSendRawMessage(raw("conversation.item.create", item=item)))
        await self.send_event(RealtimeModelSendRawMessage(raw("response.create")))
        return True


def raw(event: str, **data: Any) -> RealtimeModelRawClientMessage:
    """Return an event of any kind as the transport takes it."""
    return {"type": event, "other_data": data}


def takes(item: dict[str, Any]) -> bool:
    """Say whether the SDK would send an item: it validates it, and drops what does not fit."""
    try:
        _ITEM.validate_python(item)
    except ValidationError:
        return False
    return True
