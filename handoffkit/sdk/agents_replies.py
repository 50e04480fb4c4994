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
_WHOLE = 1.0  # seconds in which the reply ends that asks for a transfer; by then all that it asks for is known
_REMEMBERED = 64  # calls


class OneReply:
    """A reply, and the transfers that it asks for."""

    def __init__(self) -> None:
        self.transfers: list[str] = []
        """The ids of its calls that hand the call over, in order."""
        self.whole = asyncio.Event()
        self.answered = 0
        self._lock = asyncio.Lock()
        self._agent: Any = None

    @property
    def taker(self) -> str:
        """The name of the agent that it has handed the call to; empty if none."""
        return str(getattr(self._agent, "name", ""))

    async def hand_over(self, carry_out: Callable[[], Awaitable[Any]], *, waits: bool) -> Any:
        """Return the agent that has the call, handing it over if that has not been done.

        Args:
            carry_out: Hands it over, and returns the agent.
            waits: First wait until the reply has ended, so that all its transfers are known.
        """
        if waits:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.whole.wait(), _WHOLE)
        async with self._lock:
            if self._agent is None:
                self._agent = await carry_out()
            return self._agent


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
        if len(reply.transfers) < 2:
            return output
        last = reply.answered == len(reply.transfers)
        if reply.answered == 1:
            return replace(output, start_response=last)
        self._ignored(reply.taker)
        return replace(output, output=ONE_AT_A_TIME, start_response=last)

    def _called(self, item: dict[str, Any]) -> None:
        if item.get("type") == "function_call" and item.get("name") in self.transfers:
            call = str(item.get("call_id"))
            self.last.transfers.append(call)
            self._made_in[call] = self.last
            if len(self._made_in) > _REMEMBERED:
                del self._made_in[next(iter(self._made_in))]
