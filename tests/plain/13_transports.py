"""How requests travel: over HTTP, over a line of each run, over one line for many runs; and how a stream is left."""

import asyncio
import dataclasses

from agents import (
    Agent,
    RunConfig,
    Runner,
    function_tool,
    responses_websocket_session,
    set_default_openai_responses_transport,
)

ORDER = "Where is my order 1042?"
looked_up = []


@function_tool
def look_up_order(order_number: int) -> str:
    """Look up the status of an order by its number."""
    looked_up.append(order_number)
    return "packed, leaves the warehouse today"


shop = Agent(
    name="Shop", instructions="You are a friendly agent of a small shop.", model="gpt-5.2", tools=[look_up_order]
)


async def first_event(run, kind):
    """Leave a stream at the first raw event of a kind."""
    result = run(shop, ORDER)
    async for event in result.stream_events():
        if event.type == "raw_response_event" and event.data.type == kind:
            return result
    raise SystemExit(f"no {kind} came")


async def same_answers():
    over_http = await Runner.run(shop, ORDER)
    set_default_openai_responses_transport("websocket")
    over_socket = await Runner.run(shop, ORDER)
    set_default_openai_responses_transport("http")
    assert over_socket.final_output == over_http.final_output
    assert "packed" in over_http.final_output
    try:
        set_default_openai_responses_transport("pigeon")
        raise SystemExit("pigeons were taken")
    except ValueError as error:
        assert "'http', 'websocket'" in str(error)


async def one_line():
    clerk = Agent(name="Clerk", instructions="Sum up.", model="gpt-5.2")
    front = shop.clone(tools=[clerk.as_tool("sum_up", "Sum up what was said.")])
    async with responses_websocket_session() as line:
        first = await line.run(shop, ORDER)
        chained = await line.run(shop, "And order 1043?", previous_response_id=first.last_response_id)
        assert looked_up[-1] == 1043
        assert chained.final_output
        assert (await line.run(front, "Please sum up what was said.")).final_output
        streamed = line.run_streamed(shop, ORDER)
        assert [event async for event in streamed.stream_events()]
        assert "packed" in streamed.final_output
        answers = await asyncio.gather(*(line.run(shop, ORDER) for _ in range(3)))
        assert {answer.final_output for answer in answers} == {first.final_output}
        named = dataclasses.replace(line.run_config, workflow_name="Night shift")
        assert (await Runner.run(shop, ORDER, run_config=named)).final_output == first.final_output
        try:
            await line.run(shop, ORDER, run_config=RunConfig())
            raise SystemExit("another config was taken")
        except ValueError as error:
            assert "Do not pass `run_config`" in str(error)


async def leaving():
    looked_up.clear()
    left = await first_event(Runner.run_streamed, "response.created")
    await asyncio.wait([left.run_loop_task], timeout=30)
    assert "packed" in left.final_output  # the run went on
    assert looked_up == [1042]
    for run in (Runner.run_streamed, None):
        async with responses_websocket_session() as line:
            polite = await first_event(run or line.run_streamed, "response.created")
            polite.cancel(mode="after_turn")
            await asyncio.wait([polite.run_loop_task], timeout=30)
            assert polite.final_output is None
            assert [item.type for item in polite.new_items] == ["tool_call_item", "tool_call_output_item"]
            cut = await first_event(run or line.run_streamed, "response.created")
            cut.cancel()
            assert cut.is_complete
            assert cut.final_output is None
            await asyncio.wait([cut.run_loop_task], timeout=30)
            assert "packed" in (await line.run(shop, ORDER)).final_output


async def main():
    await same_answers()
    await one_line()
    await leaving()


asyncio.run(main())
