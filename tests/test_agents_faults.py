"""What goes wrong around a `Call` on openai-agents: half a call gives no result, and no wait is endless."""

import asyncio
import os
import signal
from typing import Any

import psutil
import pytest
from agents import function_tool
from agents.realtime import RealtimeAgent, realtime_handoff
from pydantic_ai import Agent, Tool
from voice_agents import sdk, voice_agent

import handoffkit as hk
from handoffkit.connect import Endpoint, current
from handoffkit.errors import CallIncomplete, CallOver, EndpointGone, ReplyFailed, ReplyTimeout, SessionRefused

__all__ = ["sdk"]

FIRST, SECOND = "My laptop does not charge.", "Another outlet changed nothing."


@pytest.fixture
def agent(connected: Endpoint) -> RealtimeAgent[Any]:
    return RealtimeAgent(name="Support", instructions="You are a phone support agent.")


async def test_a_call_whose_start_failed_can_be_started_and_its_failures_still_count(agent: RealtimeAgent[Any]) -> None:
    """The SDK gives the session up at a frame that is no JSON, and closes as in peace; so did the first start."""
    slow = hk.Fault("response.output_audio_transcript.delta", "delay", nth=0, seconds=0.5)
    hk.connect(faults=[hk.Fault("session.updated", "abort"), hk.Fault("response.content_part.added", "text"), slow])
    call = hk.Call(agent, reply_timeout=10)
    with pytest.raises(SessionRefused):
        await call.start()
    await call.start()
    with pytest.raises(ReplyFailed, match="gave the session up"):
        await call.send(FIRST)
    await call.hang_up()
    with pytest.raises(CallIncomplete, match=FIRST):
        await call.handoff(Agent("openai:gpt-5.2"))


# Killed, and interrupted, in the middle


class Busy:
    """A call that stays in the middle of something until it is told to go on."""

    def __init__(self, where: str) -> None:
        self.begun, self.goes_on = asyncio.Event(), asyncio.Event()

        @function_tool
        async def look() -> str:
            """Look."""
            await self._stay()
            return "seen"

        async def on_handoff(context: Any) -> None:
            await self._stay()

        billing = RealtimeAgent(name="Billing", instructions="You are billing.")
        handoffs: list[Any] = [realtime_handoff(billing, on_handoff=on_handoff)]
        front = RealtimeAgent(name="Front", instructions="You are the front desk.", tools=[look], handoffs=handoffs)
        calls = {"tool": hk.ToolCall("look", "{}"), "handoff": hk.ToolCall("transfer_to_billing", "{}")}
        lines = [calls[where], "Done."] if where in calls else ["A long answer. " * 20]
        slow = hk.Fault("response.output_audio.delta", "delay", nth=0 if where == "reply" else 99, seconds=0.2)
        hk.connect(model=hk.ScriptedModel([*lines, "Here."]), faults=[slow])
        self.call, self.where = hk.Call(front, reply_timeout=20), where

    async def _stay(self) -> None:
        self.begun.set()
        await self.goes_on.wait()

    async def sending(self) -> "asyncio.Task[Any]":
        """Return the sending of a turn that is in the middle of it."""
        task = asyncio.create_task(self.call.send(FIRST))
        async with asyncio.timeout(30):
            if self.where == "reply":
                async for _ in hk.log().follow("response.output_audio.delta", label=self.call.label):
                    break
            else:
                await self.begun.wait()
        return task


PLACES = ["reply", "tool", "handoff"]


@pytest.mark.parametrize("where", PLACES)
async def test_an_endpoint_that_is_killed_is_named_and_half_the_call_gives_no_ticket(
    where: str, connected: Endpoint
) -> None:
    busy, before = Busy(where), asyncio.all_tasks()
    call, pid = busy.call, current().pid
    await call.start()
    sending = await busy.sending()
    os.kill(pid, signal.SIGKILL)
    async with asyncio.timeout(30):
        with pytest.raises(EndpointGone, match="What was said is kept"):
            await sending
        psutil.wait_procs([each for each in psutil.process_iter() if each.pid == pid], timeout=5)
        for step in (call.send(SECOND), call.interrupt(), call.handoff(Agent("openai:gpt-5.2"))):
            with pytest.raises(EndpointGone):
                await step
        busy.goes_on.set()
        await call.hang_up()
        assert (call.phase, call.turns[0].text) == ("ended", FIRST)
        hk.connect()
        with pytest.raises(CallIncomplete, match=FIRST):
            await call.handoff(Agent("openai:gpt-5.2"), patience=0.5)
    await asyncio.sleep(0)
    assert {task.get_name() for task in asyncio.all_tasks() - before if not task.done()} == set()


@pytest.mark.parametrize("where", PLACES)
async def test_an_interrupted_cell_leaves_the_call_usable(where: str, connected: Endpoint) -> None:
    busy = Busy(where)
    async with busy.call as call, asyncio.timeout(60):
        sending = await busy.sending()
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        busy.goes_on.set()
        reply = await call.send(SECOND)
    assert reply.text == "Here."
    assert reply.instructions == ("You are billing." if where == "handoff" else "You are the front desk.")
    first, second = [end.verdict for end in call.log.ends]
    assert (
        first == "interrupted" if where == "reply" else first != "failed"
    )  # what a tool leads to may still be stopped
    assert second == "complete"


async def test_of_two_calls_at_once_one_that_fails_leaves_the_other_alone(agent: RealtimeAgent[Any]) -> None:
    """Both have the same agent, which can hand over to another."""
    agent.handoffs.append(RealtimeAgent(name="Billing", instructions="You are billing."))
    hk.connect(faults=[hk.Fault("response.content_part.added", "abort")])
    first, second = hk.Call(agent), hk.Call(agent)
    async with first, second:
        with pytest.raises(ReplyFailed):
            await first.send(FIRST)
        replies = [await second.send(text) for text in (FIRST, "Billing, please: a refund.")]
    assert [reply.instructions for reply in replies] == ["You are a phone support agent.", "You are billing."]
    assert [end.verdict for end in second.log.ends] == ["complete"] * 2
    assert [turn.text for turn in first.turns if turn.speaker == "caller"] == [FIRST]


# A call that is left


@pytest.mark.usefixtures("sdk")
@pytest.mark.parametrize("when", ["after a reply", "in the middle of one", "by an error"])
def test_a_call_ends_with_the_event_loop_that_it_was_started_in(when: str, connected: Endpoint) -> None:
    """As in a script that runs `asyncio.run` for each step, or leaves its call without a word."""
    slow = hk.Fault("response.output_audio.delta", "delay", nth=4, seconds=30)
    hk.connect(faults=[slow] if when == "in the middle of one" else [])
    call = hk.Call(voice_agent())

    async def leave() -> None:
        await call.start()
        sending = asyncio.create_task(call.send(FIRST))
        if when == "in the middle of one":
            async for _ in hk.log().follow("response.output_audio.delta", label=call.label):
                return
        await sending
        if when == "by an error":
            raise LookupError

    try:
        asyncio.run(leave())
    except LookupError:
        assert when == "by an error"
    assert call.phase == "ended"
    for step in (call.send(SECOND), call.start(), call.interrupt()):
        with pytest.raises(CallOver, match="the event loop that it was started in has ended"):
            asyncio.run(step)
    asyncio.run(call.hang_up())
    asyncio.run(call.hang_up())
    assert call.state == "the client hung up"
    assert [end.verdict for end in call.log.ends] == ["interrupted" if when == "in the middle of one" else "complete"]
    assert FIRST in str(asyncio.run(call.handoff(Agent("openai:gpt-5.2"))).output)


# Waits


def refunding(sdk: str, returns: asyncio.Event) -> Any:
    """Return an agent of an SDK with a tool that needs a yes, and returns when it is told to."""

    async def refund() -> str:
        """Refund the order."""
        await returns.wait()
        return "refunded"

    if sdk == "pydantic-ai":
        return Agent(tools=[Tool(refund, requires_approval=True)])
    return RealtimeAgent(name="Refunds", tools=[function_tool(refund, needs_approval=True)])


@pytest.mark.parametrize("returned", [True, False])
async def test_while_a_person_is_asked_nothing_has_to_come_and_after_that_it_has(
    returned: bool, sdk: str, connected: Endpoint
) -> None:
    hk.connect(model=hk.ScriptedModel([hk.ToolCall("refund", "{}"), "Done."]))
    returns = asyncio.Event()
    async with hk.Call(refunding(sdk, returns), reply_timeout=2) as call:
        with call.approvals.watch(lambda: None):
            sending = asyncio.create_task(call.send("Refund my order."))
            await asyncio.wait([sending], timeout=4)
            (asked,) = call.approvals.pending
            call.approvals.approve(asked.id)
            async with asyncio.timeout(20):
                if returned:
                    returns.set()
                    assert (await sending).text == "Done."
                else:
                    with pytest.raises(ReplyTimeout, match="the tool refund has not returned anything"):
                        await sending
