"""The check of a run: what it takes, what it asks, and the one sentence for whatever is given."""

from typing import Any

import agents
import pytest
from openai import AsyncOpenAI

import handoffkit as hk
from handoffkit import checks

FIRST = "My laptop does not charge."


@pytest.mark.parametrize("found", [..., None, "a run", 7, int], ids=str)
def test_whatever_is_given_gets_a_sentence(found: Any) -> None:
    verdict = checks.run(found)
    assert not verdict
    assert str(verdict).startswith("Not yet: the result of a run is missing, because ")


@agents.function_tool
def look_up(number: int) -> str:
    """Look an order up."""
    return "packed"


@agents.function_tool(needs_approval=True)
def cancel(number: int) -> str:
    """Cancel an order."""
    return "cancelled"


async def ran(*outputs: Any, streamed: bool = False, **options: Any) -> Any:
    """Return what a run gave with this script behind it, one entry a request."""
    hk.connect(model=hk.ScriptedModel(outputs=outputs))
    agents.set_default_openai_client(AsyncOpenAI(), use_for_tracing=False)  # one for each test's event loop
    billing = agents.Agent(name="Billing", model="gpt-5.2")
    shop = agents.Agent(name="Shop", model="gpt-5.2", tools=[look_up, cancel], handoffs=[billing])
    options["run_config"] = agents.RunConfig(tracing_disabled=True)
    if streamed:
        return agents.Runner.run_streamed(shop, FIRST, **options)
    return await agents.Runner.run(shop, FIRST, **options)


LOOK = hk.ToolCall("look_up", '{"number": 7}')


async def test_a_run_its_requests_its_tools_and_its_handoffs() -> None:
    run = await ran(LOOK, hk.ToolCall("transfer_to_billing", "{}"), "Billing here.")
    praise = "✓ The run came to its end in 3 requests, with 1 call of a tool and 1 handoff."
    assert str(checks.run(run, requests=3, tools=1, handoffs=1, gave="packed", in_history=True)) == praise
    assert "did not take 2 requests, because it took 3, with 1 call of a tool and 1 handoff." in str(
        checks.run(run, requests=2)
    )
    assert "too few tools were called (1 of 2)" in str(checks.run(run, tools=2))
    assert "too few handoffs happened (1 of 2)" in str(checks.run(run, handoffs=2))
    assert "because it got 'packed'" in str(checks.run(run, gave="sent"))
    assert "the final output is in the history" in str(checks.run(run, in_history=False))
    plain = await ran("Hello.")
    assert str(checks.run(plain)) == "✓ The run came to its end in 1 request."
    assert "because no tool gave anything" in str(checks.run(plain, gave="packed"))


async def test_a_run_that_was_ended_by_a_handler_and_what_it_keeps() -> None:
    for kept in (True, False):
        answer = agents.RunErrorHandlerResult(final_output="I need more time.", include_in_history=kept)
        run = await ran(LOOK, max_turns=1, error_handlers={"max_turns": lambda given, answer=answer: answer})
        assert checks.run(run, in_history=kept)
        assert not checks.run(run, in_history=not kept)


async def test_a_run_that_is_not_at_its_end() -> None:
    waiting = str(checks.run(await ran(hk.ToolCall("cancel", '{"number": 7}'))))
    assert waiting == "Not yet: the run is not at its end, because `cancel` waits for an approval."
    streamed = await ran("Hello.", streamed=True)
    assert "because its stream was not read to the end" in str(checks.run(streamed))
    assert [event async for event in streamed.stream_events()]
    assert checks.run(streamed, requests=1)
