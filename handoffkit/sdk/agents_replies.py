"""The replies of one openai-agents session, as its transport tells them: each hands the call on once.

A model may ask for several transfers in one reply. Where agents write, openai-agents keeps to the first ("Multiple
handoffs detected", run_internal, 0.24); its realtime sessions carry out all of them side by side, and who has the call
then, and in how many replies he begins, is a matter of chance. Here the first counts, and one reply follows all.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from agents.realtime.model import RealtimeModelListener
from agents.realtime.model_events import RealtimeModelEvent
from agents.realtime.model_inputs import RealtimeModelSendToolOutput

ONE_AT_A_TIME = "The call was handed over already: one transfer at a time."
"""What the model is told of a second transfer in one reply."""
FAILED = "The transfer failed."
"""What the model is told of one that raised: no detail of the error, as with a tool."""
_WHOLE = 1.0  # seconds in which the reply ends that asks for a transfer; by then all that it asks for is known
_REMEMBERED = 64  # calls


class OneReply:
    """A reply, and the transfers that it asks for."""

    def __init__(self) -> None:
        self.transfers: list[str] = []
        """The ids of its calls that hand the call over, in order."""
        self.whole = asyncio.Event()
        self.failed: set[str] = set()
        """The names of those of its transfers that raised, so that whoever had the call still has it."""
        self.answered, self.told = 0, False
        self._lock, self._decided, self._tried = asyncio.Lock(), asyncio.Event(), 0
        self.taker: Any = None
        """The agent that it has handed the call to, None if none."""

    async def hand_over(self, carry_out: Callable[[], Awaitable[Any]], *, waits: bool) -> Any:
        """Return the agent that has the call, handing it over if that has not been done; where that fails, raise.

        Args:
            carry_out: Hands it over, and returns the agent.
            waits: First wait until the reply has ended, so that all its transfers are known; and after a failure, until
                another one of them has succeeded, or none.
        """
        if waits:
            await _bounded(self.whole)
        failed: Exception | None = None
        async with self._lock:
            self._tried += 1
            if self.taker is None:
                try:
                    self.taker = await carry_out()
                except Exception as error:
                    failed = error
            if self.taker is not None or self._tried == len(self.transfers):
                self._decided.set()
        if failed is None:
            return self.taker
        if waits:
            await _bounded(self._decided)
        raise failed


async def _bounded(event: asyncio.Event) -> None:
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), _WHOLE)


class Replies(RealtimeModelListener):
    """Listens to the transport, which tells it of each event before the session makes anything of it.

    Args:
        ignored: Is told of a transfer that counts for nothing, and who has the call.
        side_by_side: Whether tools are called while events go on to come (`async_tool_calls` of the run's config).
    """

    def __init__(self, ignored: Callable[[str], None], *, side_by_side: bool = True) -> None:
        self.side_by_side, self._ignored = side_by_side, ignored
        self.transfers: set[str] = set()
        """The names of the tools that hand the call over."""
        self.last = OneReply()
        """The reply that began last."""
        self._made_in: dict[str, OneReply] = {}

    async def on_event(self, event: RealtimeModelEvent) -> None:
        """Take the next event of the transport."""
        if event.type == "turn_started":
            self.last = OneReply()
        elif event.type == "turn_ended":
            self.last.whole.set()
        elif event.type == "raw_server_event" and isinstance(event.data, dict):
            item = event.data.get("item")
            if event.data.get("type") == "response.output_item.done" and isinstance(item, dict):
                self._called(item)

    def answer(self, output: RealtimeModelSendToolOutput) -> RealtimeModelSendToolOutput:
        """Return the output of a tool as it is sent: of several transfers, only the last asks for a reply."""
        reply = self._made_in.get(output.tool_call.call_id)
        if reply is None:
            return output
        reply.answered += 1
        last = reply.answered == len(reply.transfers)
        if output.tool_call.name in reply.failed:
            return replace(output, output=FAILED, start_response=last)
        first, reply.told = not reply.told, True
        if first:
            return replace(output, start_response=last)
        self._ignored(str(getattr(reply.taker, "name", "")))
        return replace(output, output=ONE_AT_A_TIME, start_response=last)

    def _called(self, item: dict[str, Any]) -> None:
        if item.get("type") == "function_call" and item.get("name") in self.transfers:
            call = str(item.get("call_id"))
            self.last.transfers.append(call)
            self._made_in[call] = self.last
            if len(self._made_in) > _REMEMBERED:
                del self._made_in[next(iter(self._made_in))]
