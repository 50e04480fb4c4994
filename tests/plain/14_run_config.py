"""What one run may change: model, settings, history, guards, the last look, the handoff, the words of an error."""

import asyncio

from agents import (
    Agent,
    GuardrailFunctionOutput,
    InputGuardrail,
    InputGuardrailTripwireTriggered,
    OutputGuardrail,
    OutputGuardrailTripwireTriggered,
    RunConfig,
    Runner,
    SQLiteSession,
    UserError,
    function_tool,
    trace,
)
from agents.extensions.handoff_filters import remove_all_tools
from agents.run import ModelInputData

LAPTOP, OUTLET = "My laptop does not charge.", "Another outlet changed nothing."


@function_tool
def look_up_order(order_number: int) -> str:
    """Look up the status of an order by its number."""
    raise RuntimeError("database db-3 refused user admin")


billing = Agent(
    name="Billing", instructions="You do the bills.", handoff_description="Knows about invoices.", model="gpt-5.2"
)
support = Agent(name="Support", instructions="Help.", model="gpt-5.2", tools=[look_up_order], handoffs=[billing])


class Seen:
    """Keeps what each request of a run gives the model to read."""

    def __init__(self):
        self.inputs = []

    def __call__(self, data):
        self.inputs.append(data.model_data.input)
        return data.model_data


def card(context, agent, words):
    return GuardrailFunctionOutput(None, tripwire_triggered="4111" in str(words))


async def sessions():
    session, seen = SQLiteSession("call"), Seen()
    for words in (LAPTOP, OUTLET):
        await Runner.run(support, words, session=session)
    await Runner.run(
        support,
        "Hello?",
        session=session,
        run_config=RunConfig(session_settings={"limit": 2}, call_model_input_filter=seen),
    )
    assert [item["role"] for item in seen.inputs[-1]] == ["user", "assistant", "user"]
    await Runner.run(
        support,
        "Are you there?",
        session=session,
        run_config=RunConfig(
            session_input_callback=lambda history, new: history[:1] + new, call_model_input_filter=seen
        ),
    )
    assert [item["content"] for item in seen.inputs[-1]] == [LAPTOP, "Are you there?"]
    assert len(await session.get_items()) == 8


async def guards():
    for parallel in (True, False):
        try:
            guard = InputGuardrail(card, run_in_parallel=parallel)
            await Runner.run(support, "My card: 4111", run_config={"input_guardrails": [guard]})
            raise SystemExit("the guard let it pass")
        except InputGuardrailTripwireTriggered as error:
            assert error.guardrail_result.guardrail.get_name() == "card"
    try:
        guard = OutputGuardrail(lambda context, agent, said: GuardrailFunctionOutput(None, True), name="nothing")
        await Runner.run(support, LAPTOP, run_config={"output_guardrails": [guard]})
        raise SystemExit("the guard let it pass")
    except OutputGuardrailTripwireTriggered as error:
        assert error.guardrail_result.agent_output


async def last_look():
    def monday(data):
        return ModelInputData(data.model_data.input[-1:], "It is Monday.")

    past = [{"role": "user", "content": LAPTOP}, {"role": "assistant", "content": "Yes?"}]
    run = await Runner.run(
        support, [*past, {"role": "user", "content": OUTLET}], run_config={"call_model_input_filter": monday}
    )
    assert len(run.to_input_list()) == 4
    try:
        await Runner.run(support, LAPTOP, run_config={"call_model_input_filter": lambda data: data.model_data.input})
        raise SystemExit("a list was taken")
    except UserError as error:
        assert "must return a ModelInputData instance" in str(error)


async def handoffs():
    seen, words = Seen(), "I want a refund for an invoice."
    for config in ({}, {"handoff_input_filter": remove_all_tools}, {"nest_handoff_history": True}):
        run = await Runner.run(support, words, run_config={"call_model_input_filter": seen, **config})
        assert run.last_agent is billing
    whole, filtered, nested = seen.inputs[1::2]
    assert {item.get("type") for item in whole} >= {"function_call", "function_call_output"}
    assert [item["content"] for item in filtered] == [words]
    assert "<CONVERSATION HISTORY>" in nested[0]["content"]


async def tool_errors():
    seen, kinds = Seen(), []

    def say(failed):
        kinds.append((failed.kind, str(failed.error)))
        return "There is no such order."

    for formatter in (None, say):
        config = RunConfig(call_model_input_filter=seen, tool_error_formatter=formatter)
        await Runner.run(support, "Where is my order 1042?", run_config=config)
    outputs = [items[-1]["output"] for items in seen.inputs if items[-1].get("type") == "function_call_output"]
    assert outputs == ["An error occurred while running the tool. Please try again.", "There is no such order."]
    assert kinds == [("tool_exception", "database db-3 refused user admin")]


async def main():
    run = await Runner.run(support, LAPTOP, run_config=RunConfig(model="gpt-4.1", model_settings={"temperature": 0.2}))
    assert run.final_output
    await sessions()
    await guards()
    await last_look()
    await handoffs()
    await tool_errors()
    with trace("Call 7", group_id="anna", metadata={"shop": "north"}):
        await Runner.run(support, LAPTOP, run_config=RunConfig(trace_include_sensitive_data=False))


asyncio.run(main())
