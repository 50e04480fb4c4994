"""Tool calls that wait for a person's yes, and sessions that the service ends."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic_ai import Agent

import handoffkit as hk
from handoffkit.approvals import Approvals
from handoffkit.errors import CallOver, ConnectError, NoSuchApproval, ReplyFailed
from handoffkit.marks import CallEnded


def refunding(paid: list[str]) -> Agent[None, str]:
    agent = Agent(instructions="You refund orders.")

    @agent.tool_plain(requires_approval=True)
    def refund(order: str) -> str:
        """Refund an order."""
        paid.append(order)
        return f"refunded {order}"

    return agent


def script() -> hk.ScriptedModel:
    return hk.ScriptedModel([hk.ToolCall("refund", '{"order": "A-17"}'), "Done.", "Anything else?"])


async def shown(approvals: Approvals) -> Any:
    """Return the first tool call that waits, as soon as it does."""
    async with asyncio.timeout(10):
        while not approvals.pending:  # noqa: ASYNC110  the SDK asks in a task of its own
            await asyncio.sleep(0.01)
    return approvals.pending[0]


@contextlib.asynccontextmanager
async def sending(call: hk.Call, text: str) -> AsyncIterator[None]:
    task: Any = asyncio.create_task(call.send(text))
    try:
        yield
    finally:
        await asyncio.wait_for(task, 20)


async def test_a_tool_call_waits_for_a_yes_and_runs() -> None:
    hk.connect(model=script())
    paid: list[str] = []
    changes: list[int] = []
    async with hk.Call(refunding(paid)) as call:
        with call.approvals.watch(lambda: changes.append(len(call.approvals.pending))):
            async with sending(call, "Refund order A-17."):
                waiting = await shown(call.approvals)
                assert (waiting.name, json.loads(waiting.arguments)) == ("refund", {"order": "A-17"})
                assert paid == []
                call.approvals.approve(waiting.id)
        assert (paid, changes) == (["A-17"], [1, 0])
        assert [tool.output for turn in call.turns for tool in turn.tools] == ["refunded A-17"]


async def test_a_tool_call_that_is_refused_does_not_run_and_the_agent_hears_why() -> None:
    hk.connect(model=script())
    paid: list[str] = []
    async with hk.Call(refunding(paid)) as call:
        with call.approvals.watch(lambda: None):
            async with sending(call, "Refund order A-17."):
                call.approvals.reject((await shown(call.approvals)).id, "Only a manager may.")
        assert paid == []
        assert "Only a manager may." in str([tool.output for turn in call.turns for tool in turn.tools])


async def test_a_tool_call_that_nobody_decides_is_refused_after_a_while() -> None:
    hk.connect(model=script())
    paid: list[str] = []
    async with hk.Call(refunding(paid)) as call:
        call.approvals.patience = 0.2
        with call.approvals.watch(lambda: None):
            await asyncio.wait_for(call.send("Refund order A-17."), 20)
        assert (paid, call.approvals.pending) == ([], [])
        assert "Nobody approved" in str([tool.output for turn in call.turns for tool in turn.tools])


async def test_where_nobody_is_there_to_decide_the_call_is_refused_at_once() -> None:
    hk.connect(model=script())
    paid: list[str] = []
    async with hk.Call(refunding(paid)) as call:
        await asyncio.wait_for(call.send("Refund order A-17."), 20)
        assert (paid, call.approvals.watched) == ([], False)


def test_deciding_what_does_not_wait_says_what_does() -> None:
    with pytest.raises(NoSuchApproval, match="No tool call 'call_1' waits for approval; none waits"):
        Approvals().approve("call_1")


# The end of a session by the service


async def test_the_service_ends_a_session_in_its_time_and_what_was_said_stays() -> None:
    hk.connect(session_seconds=4.5)
    call = await hk.Call(Agent(instructions="Help.")).start()
    await call.send("My laptop does not charge.")
    expires = call.expires_at
    assert expires is not None
    assert 0 < expires < 9
    async with asyncio.timeout(20):
        while call.state == "open":  # noqa: ASYNC110  the log tells nobody
            await asyncio.sleep(0.02)
    (ended,) = [mark for mark in call.log.marks if isinstance(mark, CallEnded)]
    assert not ended.clean
    assert "maximum duration of 0.075 minutes" in ended.how
    assert [error.data["error"]["code"] for error in call.log.filter("error")] == ["session_expired"]
    with pytest.raises((CallOver, ReplyFailed)):
        await call.send("Hello?")
    assert [turn.speaker for turn in call.turns] == ["caller", "agent"]
    await call.hang_up()


async def test_a_session_lives_for_an_hour_unless_told_otherwise(connected: Any) -> None:
    async with hk.Call(Agent(instructions="Help.")) as call:
        assert call.expires_at is not None
        assert 3590 < call.expires_at < 3610


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), 1e9])
def test_a_session_without_time_is_refused(seconds: float) -> None:
    with pytest.raises(ConnectError, match="a session lives for more than 0"):
        hk.connect(session_seconds=seconds)


# Marks of one's own, and calls again


async def test_a_mark_of_ones_own_stands_in_the_call_s_log(connected: Any) -> None:
    async with hk.Call(Agent(instructions="Help.")) as call:
        await call.mark("coffee_break", minutes=5)
        assert [str(mark) for mark in call.log.marks] == ["Coffee break: minutes 5."]


async def test_a_call_again_has_the_same_settings_and_a_log_of_its_own(connected: Any) -> None:
    async with hk.Call(Agent(instructions="Help."), instructions="Be brief.") as call:
        await call.send("My laptop does not charge.")
    async with call.again() as other:
        await other.send("My phone does not ring.")
        assert other.label != call.label
        assert [turn.text for turn in other.turns if turn.speaker == "caller"] == ["My phone does not ring."]
        assert "Be brief." in str(other.log.filter("session.update")[0].data)
