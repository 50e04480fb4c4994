"""The loop of a run: tools, a handoff, a list of items, a pause, a stream, and the limit of turns."""

import asyncio

from agents import Agent, MaxTurnsExceeded, RunErrorHandlerResult, Runner, function_tool


@function_tool
def look_up_order(order_number: int) -> str:
    """Look up the status of an order by its number."""
    return "packed, leaves the warehouse today"


@function_tool(needs_approval=True)
def cancel_order(order_number: int) -> str:
    """Cancel an order by its number."""
    return f"order {order_number} is cancelled"


billing = Agent(
    name="Billing",
    instructions="You know all about invoices.",
    handoff_description="Knows about invoices and refunds.",
    model="gpt-5.2",
)
shop = Agent(
    name="Shop",
    instructions="You are a friendly agent of a small shop.",
    tools=[look_up_order, cancel_order],
    handoffs=[billing],
    model="gpt-5.2",
)


def give_up(failed):
    return RunErrorHandlerResult("We will write to you.", include_in_history=False)


async def main():
    found = await Runner.run(shop, "Where is my order 1042?")
    assert "packed" in found.final_output
    assert len(found.raw_responses) == 2
    assert [item.type for item in found.new_items] == [
        "tool_call_item",
        "tool_call_output_item",
        "message_output_item",
    ]

    more = await Runner.run(shop, [*found.to_input_list(), {"role": "user", "content": "And where is order 1043?"}])
    assert len(more.to_input_list()) == 8

    refund = await Runner.run(shop, "I want a refund for an invoice.")
    assert refund.last_agent is billing

    paused = await Runner.run(shop, "Please cancel order 1042.")
    assert paused.final_output is None
    state = paused.to_state()
    state.approve(paused.interruptions[0])
    resumed = await Runner.run(shop, state)
    assert "order 1042 is cancelled" in resumed.final_output

    streamed = Runner.run_streamed(shop, "Where is my order 1042?")
    events = [event async for event in streamed.stream_events()]
    assert {event.type for event in events} == {
        "raw_response_event",
        "run_item_stream_event",
        "agent_updated_stream_event",
    }
    names = [event.name for event in events if event.type == "run_item_stream_event"]
    assert names == ["tool_called", "tool_output", "message_output_created"]
    assert "packed" in streamed.final_output

    try:
        await Runner.run(shop, "Where is my order 1042?", max_turns=1)
    except MaxTurnsExceeded as error:
        assert error.run_data.last_agent is shop
    else:
        raise AssertionError("two turns fitted into one")
    ended = await Runner.run(shop, "Where is my order 1042?", max_turns=1, error_handlers={"max_turns": give_up})
    assert ended.final_output == "We will write to you."
    assert ended.to_input_list()[-1]["type"] == "function_call_output"

    try:
        Runner.run_sync(shop, "Where is my order 1042?")
    except RuntimeError as error:
        assert "an event loop is already running" in str(error)
    else:
        raise AssertionError("run_sync ran on a loop that was running")


asyncio.run(main())
