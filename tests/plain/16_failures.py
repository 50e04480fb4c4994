"""What a run can end with, and what the exception tells; then a session's database that is damaged, or locked."""

import asyncio
import sqlite3
import tempfile
from dataclasses import replace
from pathlib import Path

from agents import (
    Agent,
    AgentsException,
    GuardrailFunctionOutput,
    InputGuardrail,
    ModelSettings,
    OutputGuardrail,
    RunConfig,
    Runner,
    SQLiteSession,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrail,
    ToolOutputGuardrail,
    function_tool,
)

QUESTION = "Where is my order 7?"


@function_tool
async def look_up_order(order_number: int) -> str:
    """Look up the status of an order by its number."""
    await asyncio.sleep(0.5)
    return "packed, leaves the warehouse today"


shop = Agent(name="Shop", instructions="You are a small shop.", model="gpt-5.2", tools=[look_up_order])
no = GuardrailFunctionOutput("not here", tripwire_triggered=True)
stop = ToolGuardrailFunctionOutput.raise_exception("not here")


async def raised(agent, **options):
    try:
        await Runner.run(agent, QUESTION, **options)
    except AgentsException as error:
        return error
    raise AssertionError("nothing was raised")


def with_tool(**changes):
    return shop.clone(tools=[replace(look_up_order, **changes)])


async def exceptions():
    late = await raised(with_tool(timeout_seconds=0.05, timeout_behavior="raise_exception"))
    errors = [
        late,
        await raised(shop.clone(input_guardrails=[InputGuardrail(lambda *given: no)])),
        await raised(shop.clone(output_guardrails=[OutputGuardrail(lambda *given: no)])),
        await raised(with_tool(tool_input_guardrails=[ToolInputGuardrail(lambda data: stop)])),
        await raised(with_tool(tool_output_guardrails=[ToolOutputGuardrail(lambda data: stop)])),
        await raised(shop, run_config=RunConfig(model_settings=ModelSettings(timeout=1e-6))),
        await raised(shop, max_turns=1),
        await raised(shop, session=SQLiteSession("customer-7"), conversation_id="conv_7"),
    ]
    assert [type(error).__name__ for error in errors] == [
        "ToolTimeoutError",
        "InputGuardrailTripwireTriggered",
        "OutputGuardrailTripwireTriggered",
        "ToolInputGuardrailTripwireTriggered",
        "ToolOutputGuardrailTripwireTriggered",
        "ModelTimeoutError",
        "MaxTurnsExceeded",
        "UserError",
    ]
    assert (late.tool_name, late.timeout_seconds) == ("look_up_order", 0.05)
    assert all(error.run_data.last_agent for error in errors[:-1])
    assert errors[-1].run_data is None

    goes_on = await Runner.run(with_tool(timeout_seconds=0.05), QUESTION)
    assert "timed out" in goes_on.new_items[1].output
    assert goes_on.final_output


async def sessions(folder):
    (folder / "damaged.db").write_bytes(b"This is no database." * 100)
    try:
        SQLiteSession("customer-7", folder / "damaged.db")
    except sqlite3.DatabaseError as error:
        assert "not a database" in str(error)
    else:
        raise AssertionError("a damaged file was taken for a database")

    session = SQLiteSession("customer-7", folder / "calls.db")
    lock = sqlite3.connect(folder / "calls.db")
    lock.execute("BEGIN EXCLUSIVE")
    try:
        await asyncio.wait_for(Runner.run(shop, QUESTION, session=session), 30)
    except sqlite3.OperationalError as error:
        assert "locked" in str(error)
    else:
        raise AssertionError("a locked database was written to")
    lock.close()
    assert await session.get_items() == []
    assert "packed" in (await Runner.run(shop, QUESTION, session=session)).final_output
    session.close()


async def main():
    await exceptions()
    with tempfile.TemporaryDirectory() as folder:
        await sessions(Path(folder))


asyncio.run(main())
