"""Where a conversation is kept: what each way gives the model to read, what does not mix, what a failed turn leaves."""

import asyncio

from agents import (
    Agent,
    GuardrailFunctionOutput,
    OpenAIConversationsSession,
    OpenAIProvider,
    OutputGuardrail,
    RunConfig,
    Runner,
    SQLiteSession,
    UserError,
    function_tool,
)
from openai import APIConnectionError, AsyncOpenAI, BadRequestError

TURNS = ["My laptop does not charge.", "Another outlet changed nothing.", "It is two years old."]
support = Agent(name="Support", instructions="You are a friendly support agent.", model="gpt-5.2")


@function_tool
def look_up_order(order_number: int) -> str:
    """Look up the status of an order by its number."""
    return "packed, leaves the warehouse today"


async def turns(**memory):
    for words in TURNS:
        result = await Runner.run(support, words, **memory)
    return result


async def kept_by_me():
    items = []
    for words in TURNS:
        result = await Runner.run(support, [*items, {"role": "user", "content": words}])
        items = result.to_input_list()
    assert len(items) == 6
    return result.final_output


async def kept_by_a_session():
    anna = SQLiteSession("anna")
    result = await turns(session=anna)
    assert [item["role"] for item in await anna.get_items()] == ["user", "assistant"] * 3
    for _ in range(2):
        await anna.pop_item()
    await Runner.run(support, "It is three years old.", session=anna)
    assert len(await anna.get_items()) == 6
    kept = OpenAIConversationsSession()
    assert (await turns(session=kept)).final_output == result.final_output
    assert kept.session_id.startswith("conv_")
    assert len(await kept.get_items()) == 6
    await kept.clear_session()
    return result.final_output


async def kept_by_the_service():
    client = AsyncOpenAI()
    conversation = await client.conversations.create()
    result = await turns(conversation_id=conversation.id)
    assert len([item async for item in client.conversations.items.list(conversation.id)]) == 6
    last = None
    for words in TURNS:
        chained = await Runner.run(support, words, previous_response_id=last)
        last = chained.last_response_id
    assert len([item async for item in client.responses.input_items.list(last)]) == 5
    assert chained.final_output == result.final_output
    shop = support.clone(tools=[look_up_order])
    found = await Runner.run(shop, "Where is my order 1042?", auto_previous_response_id=True)
    assert "packed" in found.final_output
    assert len(found.raw_responses) == 2
    return result.final_output


async def not_mixed():
    chain = {"auto_previous_response_id": True}
    guard = OutputGuardrail(lambda context, agent, said: GuardrailFunctionOutput(None, False), name="nothing")
    billing = Agent(name="Billing", handoff_description="Knows about invoices.", model="gpt-5.2")
    front = support.clone(handoffs=[billing])
    for words, error, mixture in (
        ("Session persistence cannot be combined", UserError, chain | {"session": SQLiteSession("x")}),
        ("Mutually exclusive", BadRequestError, {"conversation_id": "conv_1", "previous_response_id": "resp_1"}),
        ("Output guardrails cannot be combined", UserError, chain | {"run_config": {"output_guardrails": [guard]}}),
        ("do not support handoff", UserError, chain | {"run_config": {"handoff_input_filter": lambda data: data}}),
    ):
        try:
            await Runner.run(front, "I want a refund for an invoice.", **mixture)
            raise SystemExit(f"taken: {sorted(mixture)}")
        except error as refusal:
            assert words in str(refusal), refusal
    nested = RunConfig(nest_handoff_history=True)
    moved = await Runner.run(front, "I want a refund for an invoice.", run_config=nested, **chain)
    assert moved.last_agent is billing


async def after_a_failure():
    cleo = SQLiteSession("cleo")
    await Runner.run(support, TURNS[0], session=cleo)
    nobody = OpenAIProvider(openai_client=AsyncOpenAI(base_url="http://127.0.0.1:9/v1", max_retries=0))
    try:
        await Runner.run(support, TURNS[1], session=cleo, run_config=RunConfig(model_provider=nobody))
        raise SystemExit("somebody answered at port 9")
    except APIConnectionError:
        assert len(await cleo.get_items()) == 3  # her words are kept, so they are not said again
    await Runner.run(support, [], session=cleo)
    said = [item["content"] for item in await cleo.get_items() if item["role"] == "user"]
    assert said == TURNS[:2]


async def main():
    answers = {await kept_by_me(), await kept_by_a_session(), await kept_by_the_service()}
    assert len(answers) == 1
    await not_mixed()
    await after_a_failure()


asyncio.run(main())
