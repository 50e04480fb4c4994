"""The check of live handoffs: who took over, that each really spoke, and the one sentence for whatever is given."""

from typing import Any

import pytest
from agents.realtime import RealtimeAgent

import handoffkit as hk
from handoffkit import checks

TO_BILLING = hk.ToolCall("transfer_to_billing", "{}")


@pytest.mark.parametrize("found", [..., None, "a call", 7, int], ids=str)
def test_whatever_is_given_gets_a_sentence(found: Any) -> None:
    verdict = checks.handed_on(found)
    assert not verdict
    assert str(verdict).startswith("Not yet: the call is missing, because ")


async def held(*lines: Any, **options: Any) -> hk.Call:
    hk.connect(model=hk.ScriptedModel(list(lines)))
    billing = RealtimeAgent(name="Billing", instructions="You are billing.")
    front = RealtimeAgent(name="Front", instructions="You are the front desk.", handoffs=[billing])
    async with hk.Call(front, **options) as call:
        await call.send("I was charged twice.")
    return call


async def test_a_call_that_was_handed_on() -> None:
    call = await held(TO_BILLING, "Billing, good morning.")
    praise = "✓ The call was handed on 1 time, and each new agent spoke by instructions of its own."
    for found in (call, call.log):
        assert str(checks.handed_on(found, "Billing", greeted=True)) == praise
    assert "because it went to Billing, and not to Sales." in str(checks.handed_on(call, "Sales"))
    assert "and not to Billing, then Front." in str(checks.handed_on(call, "Billing", "Front"))


async def test_a_call_that_stayed_where_it_was() -> None:
    said = str(checks.handed_on(await held("I see.")))
    assert said == "Not yet: the call was not handed on, because no transfer was made in it; the caller's words decide."


async def test_a_call_in_which_a_turn_was_not_awaited() -> None:
    hk.connect(model=hk.ScriptedModel(["I see."]))
    with pytest.warns(RuntimeWarning, match="never awaited"):
        async with hk.Call(RealtimeAgent(name="Front")) as call:
            call.send("I was charged twice.")  # type: ignore[unused-coroutine]
    assert "because nobody spoke in it; `await my_call.send('...')` says something." in str(checks.handed_on(call))


async def test_an_agent_that_never_spoke() -> None:
    call = await held(TO_BILLING, hk.ToolCall("nothing_to_say", "{}"), "", silence_seconds=0.2)
    assert "Billing was not heard, because nothing was said after it took over" in str(checks.handed_on(call))
