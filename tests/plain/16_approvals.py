"""A run stops for a yes, is saved, and goes on in another process; a no has words; tools change meanwhile."""

import asyncio
import os
import subprocess
import sys

from agents import Agent, ModelBehaviorError, RunConfig, Runner, RunState, UserError, function_tool


@function_tool(needs_approval=True)
def cancel_order(order_number: int) -> str:
    """Cancel an order by its number."""
    return f"order {order_number} is cancelled"


shop = Agent(name="Shop", instructions="You are a small shop.", model="gpt-5.2", tools=[cancel_order])


async def resume(saved):
    state = await RunState.from_string(shop, saved)
    state.approve(state.get_interruptions()[0])
    print((await Runner.run(shop, state)).final_output)


async def rejected(saved, config=None, **how):
    state = await RunState.from_string(shop, saved)
    state.reject(state.get_interruptions()[0], **how)
    result = await Runner.run(shop, state, run_config=config)
    return [item.output for item in result.new_items if item.type == "tool_call_output_item"]


async def main():
    paused = await Runner.run(shop, "Please cancel order 1042.")
    assert paused.final_output is None
    assert [item.name for item in paused.interruptions] == ["cancel_order"]
    saved = paused.to_state().to_string()
    assert os.environ["OPENAI_API_KEY"] not in saved

    command = [sys.executable, __file__, "resume"]
    options = {"input": saved, "capture_output": True, "text": True, "timeout": 60}
    done = await asyncio.to_thread(subprocess.run, command, **options)
    assert done.returncode == 0, done.stderr
    assert "order 1042 is cancelled" in done.stdout

    assert await rejected(saved) == ["Tool execution was not approved."]
    assert await rejected(saved, rejection_message="Too late.") == ["Too late."]
    config = RunConfig(tool_error_formatter=lambda failed: f"{failed.tool_name}: ask a person")
    assert await rejected(saved, config) == ["cancel_order: ask a person"]

    without = shop.clone(tools=[])
    state = await RunState.from_string(without, saved)
    state.approve(state.get_interruptions()[0])
    try:
        await Runner.run(without, state)
    except ModelBehaviorError as error:
        assert "cancel_order" in str(error)
    else:
        raise AssertionError("a tool ran that is not there")
    state = await RunState.from_string(without, saved)
    state.reject(state.get_interruptions()[0], rejection_message="The shop no longer does that.")
    assert "no longer" in (await Runner.run(without, state)).final_output

    try:
        await RunState.from_string(shop.clone(name="Store"), saved)
    except UserError as error:
        assert "agent" in str(error)
    else:
        raise AssertionError("an agent of another name took the state")


asyncio.run(resume(sys.stdin.read()) if sys.argv[1:] else main())
