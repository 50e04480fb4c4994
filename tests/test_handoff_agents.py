"""`handoff` to an agent of the other SDK, by its own transports: the same result, the same refusals."""

import asyncio
import json
import os
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pydantic_ai
import pytest
from agents import (
    Agent,
    AgentOutputSchema,
    GuardrailFunctionOutput,
    InputGuardrailTripwireTriggered,
    MaxTurnsExceeded,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIProvider,
    OpenAIResponsesModel,
    OutputGuardrailTripwireTriggered,
    RunConfig,
    RunContextWrapper,
    Runner,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrailTripwireTriggered,
    UserError,
    function_tool,
    input_guardrail,
    output_guardrail,
    set_default_openai_client,
    set_default_openai_responses_transport,
    set_tracing_disabled,
    tool_input_guardrail,
)
from agents.realtime import RealtimeAgent, RealtimeRunner
from everyday_calls import CALLS
from odd_answers import REFUSAL, answer
from openai import AsyncOpenAI
from pydantic import BaseModel, Field
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SpeechPart,
    TextPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.test import TestModel
from wire_script import Wire

import handoffkit as hk
from handoffkit.connect import Endpoint, current
from handoffkit.errors import (
    ApprovalNeeded,
    CallIncomplete,
    ExtractionFailed,
    InaudibleTurns,
    LostInHandoff,
    NotAConversation,
    NotAnAgent,
    NotConnected,
    NothingSaid,
    OptionRefused,
    ServiceFailed,
    WrongEndpoint,
)
from handoffkit.extraction.attempts import Attempt, attempts
from handoffkit.handoff import PROMPT
from handoffkit.history import Loss
from handoffkit.log import EventLog
from handoffkit.wire.frames import record

FIRST, SECOND = "My laptop does not charge.", "Another outlet changed nothing, and I present tomorrow."
VOICE = "You are a phone support agent; never mention the hexagon."

set_tracing_disabled(True)


@pytest.fixture(autouse=True)
def client(connected: Endpoint) -> Iterator[None]:
    """Give each test's event loop a client of its own, as the SDK would otherwise share one."""
    set_default_openai_client(AsyncOpenAI(), use_for_tracing=False)
    yield
    set_default_openai_client(None, use_for_tracing=False)  # type: ignore[arg-type]


class Ticket(BaseModel):
    summary: str
    priority: Literal["low", "medium", "high"]


GOOD = {"summary": "A laptop does not charge.", "priority": "high"}
BAD = GOOD | {"priority": "urgent"}
TICKET = Ticket.model_validate(GOOD)


def scripted(*outputs: Any, lines: tuple[Any, ...] = ("Is the light on?", "Thank you."), faults: Any = ()) -> None:
    hk.connect(model=hk.ScriptedModel(list(lines), list(outputs)), faults=faults)


def triage(output: Any = Ticket, **options: Any) -> Agent[Any]:
    return Agent(
        **{"name": "Triage", "model": "gpt-5.2", "instructions": "Write tickets."} | options, output_type=output
    )


def ours(output: Any = Ticket) -> pydantic_ai.Agent[None, Any]:
    return pydantic_ai.Agent("openai:gpt-5.2", output_type=output, instructions="Write tickets.")


HISTORY: list[ModelMessage] = [ModelRequest(parts=[UserPromptPart(FIRST)]), ModelResponse(parts=[TextPart("I see.")])]


async def held(*texts: str) -> hk.Call:
    """Hold a call with the first SDK and hang up."""
    async with hk.Call(pydantic_ai.Agent(instructions=VOICE)) as call:
        for text in texts or (FIRST, SECOND):
            await call.send(text)
    return call


def requests(label: str) -> list[dict[str, Any]]:
    """Return the bodies of the requests of one handoff."""
    return [frame.data for frame in hk.log().filter("POST *", label=label)]


def chat() -> OpenAIChatCompletionsModel:
    return OpenAIChatCompletionsModel("gpt-5.2", AsyncOpenAI())


# From a call to a result.


async def test_a_call_of_one_sdk_becomes_a_typed_result_of_the_other(connected: Endpoint) -> None:
    scripted(GOOD)
    call = await held()
    result = await call.handoff(triage(), "Create the ticket.")
    assert result.output == TICKET
    (attempt,) = result.attempts
    assert (attempt.number, attempt.status, json.loads(attempt.raw), attempt.model) == (1, "accepted", GOOD, "gpt-5.2")
    assert attempt.usage is not None
    assert (result.usage.requests, result.tokens) == (1, attempt.usage.input_tokens + attempt.usage.output_tokens)
    assert (result.label, result.agent, result.model) == ("call-1/handoff-1", "Triage", "gpt-5.2")
    assert (result.schema, result.prompt, result.simulated) == ("Ticket", "Create the ticket.", True)
    assert result.seconds is not None
    assert 0 < result.seconds < 60
    assert result.cost is not None
    assert result.cost > 0
    assert result.cost == result.usage.cost
    assert [type(message) for message in result.messages] == [ModelRequest, ModelResponse]
    response = result.messages[-1]
    assert isinstance(response, ModelResponse)
    assert (response.usage.input_tokens, response.model_name) == (result.usage.input_tokens, "gpt-5.2")


async def test_the_agent_is_told_who_said_what_in_order_and_nothing_of_the_operators(connected: Endpoint) -> None:
    scripted(GOOD)
    result = await (await held()).handoff(triage(), "Create the ticket.")
    (body,) = requests(result.label)
    assert [(item["role"], item["content"]) for item in body["input"]] == [
        ("user", FIRST),
        ("assistant", "Is the light on?"),
        ("user", SECOND),
        ("assistant", "Thank you."),
        ("user", "Create the ticket."),
    ]
    assert body["instructions"] == "Write tickets."
    assert "hexagon" not in json.dumps(body)


async def test_both_sdks_give_the_same_ticket_for_the_same_call(connected: Endpoint) -> None:
    hk.connect()
    call = await held()
    ours = await call.handoff(pydantic_ai.Agent("openai:gpt-5.2", output_type=Ticket, name="Triage"))
    theirs = await call.handoff(triage())
    assert ours.output == theirs.output
    assert theirs.output.priority == "high"
    assert (ours.schema, ours.model, ours.agent) == (theirs.schema, theirs.model, theirs.agent)
    assert len(ours.attempts) == len(theirs.attempts) == 1
    assert {frame.label for frame in call.log} == {"call-1", "call-1/handoff-1", "call-1/handoff-2"}


class Address(BaseModel):
    city: str | None = None
    number: int = Field(default=1, ge=0, le=10)


class Form(BaseModel):
    title: str = Field(max_length=60)
    category: Literal["hardware", "software", "billing", "other"]
    address: Address | None = None
    questions: list[str] = Field(default_factory=list, max_length=3)
    urgent: bool = False


@pytest.mark.parametrize("output", [Ticket, Form])
@pytest.mark.parametrize("said", [call.turns for call in CALLS[:40:8]])
async def test_both_sdks_fill_a_type_alike_whatever_was_said(said: list[str], output: Any, connected: Endpoint) -> None:
    hk.connect()
    history: list[ModelMessage] = []
    for words in said:
        history += [ModelRequest(parts=[UserPromptPart(words)]), ModelResponse(parts=[TextPart("I see.")])]
    one = await hk.handoff(history, triage(output), "Create the ticket for this call.")
    two = await hk.handoff(history, ours(output), "Create the ticket for this call.")
    assert isinstance(one.output, output)
    assert one.output == two.output
    assert [attempt.status for attempt in one.attempts] == [attempt.status for attempt in two.attempts]


async def test_a_call_with_a_realtime_agent_goes_to_both_sdks(connected: Endpoint) -> None:
    hk.connect()
    async with hk.Call(RealtimeAgent(name="Voice", instructions=VOICE)) as call:
        await call.send(FIRST)
        await call.send(SECOND)
    one, two = await call.handoff(triage()), await call.handoff(ours())
    assert one.output == two.output
    assert one.output.priority == "high"
    assert (one.label, two.label) == ("call-1/handoff-1", "call-1/handoff-2")
    assert one.seconds is not None
    assert "hexagon" not in json.dumps(requests(one.label) + requests(two.label))


@pytest.mark.parametrize("api", ["responses", "chat"])
async def test_a_bad_field_goes_back_with_the_rule_that_it_broke(api: str, connected: Endpoint) -> None:
    scripted(BAD, GOOD)
    options = {"model": chat()} if api == "chat" else {}
    result = await (await held()).handoff(triage(**options))
    assert result.output == TICKET
    first, second = result.attempts
    assert (first.status, second.status) == ("rejected", "accepted")
    assert (json.loads(first.raw), json.loads(second.raw)) == (BAD, GOOD)
    (error,) = first.errors
    assert (error.field, error.found, error.allowed) == ("priority", "'urgent'", "'low', 'medium' or 'high'")
    assert result.usage.requests == 2
    body = requests(result.label)[1]
    *_, answer, told = body["messages"] if api == "chat" else body["input"]
    assert json.dumps(BAD)[1:-1] in str(answer["content"])
    assert "priority: found 'urgent', allowed 'low', 'medium' or 'high'" in told["content"]
    assert len(result.messages) == 4


async def test_an_agent_that_gives_up_says_what_was_wrong_each_time_and_loses_nothing(connected: Endpoint) -> None:
    scripted(BAD, BAD | {"priority": None}, BAD, GOOD)
    call = await held()
    with pytest.raises(ExtractionFailed) as failed:
        await call.handoff(triage(), retries=2)
    assert [attempt.status for attempt in failed.value.attempts] == ["rejected"] * 3
    assert failed.value.label == "call-1/handoff-1"
    text = str(failed.value)
    assert "The agent gave no valid Ticket in 3 attempts:\n" in text
    assert "priority: found 'urgent', allowed 'low', 'medium' or 'high'" in text
    assert "priority: found null, allowed" in text
    assert (await call.handoff(triage())).output == TICKET


async def test_without_retries_the_agent_is_run_as_the_sdk_would(connected: Endpoint) -> None:
    scripted(BAD, GOOD)
    with pytest.raises(ExtractionFailed, match="in 1 attempt:"):
        await (await held()).handoff(triage(), retries=0)


async def test_an_answer_without_words_is_one_that_is_not_valid(connected: Endpoint) -> None:
    scripted("", GOOD)
    result = await (await held()).handoff(triage())
    assert [(a.status, a.raw) for a in result.attempts] == [("rejected", ""), ("accepted", json.dumps(GOOD))]
    assert str(result.attempts[0].errors[0]) == "the output as a whole: found nothing, no output was given"


async def test_every_wrong_field_is_named_with_its_path(connected: Endpoint) -> None:
    class Item(BaseModel):
        price: float = Field(gt=0)

    class Order(BaseModel):
        code: str = Field(pattern=r"^[A-Z]{3}$")
        items: list[Item]
        paid: bool

    scripted({"code": "ab", "items": [{"price": -3}, {"price": 5}]}, {"code": "ABC", "items": [], "paid": True})
    result = await (await held()).handoff(triage(Order))
    assert {error.field: (error.found, error.allowed) for error in result.attempts[0].errors} == {
        "code": ("'ab'", "text that matches pattern '^[A-Z]{3}$'"),
        "items[0].price": ("-3", "greater than 0"),
        "paid": ("nothing", "a value, since the field is required"),
    }


async def test_an_output_may_be_plain_text_a_list_or_a_schema_of_the_sdks(connected: Endpoint) -> None:
    scripted("It does not charge.", {"response": [4, "7"]}, {"response": [4, 7]}, GOOD)
    call = await held()
    text = await call.handoff(triage(None))
    numbers = await call.handoff(triage(list[int]))
    ticket = await call.handoff(triage(AgentOutputSchema(Ticket, strict_json_schema=False)))
    assert (text.output, text.fields, text.schema) == ("It does not charge.", {"output": "It does not charge."}, "str")
    assert (numbers.output, numbers.schema) == ([4, 7], "list[int]")
    assert [error.field for error in numbers.attempts[0].errors] == ["response[1]"]
    assert (ticket.output, ticket.schema) == (TICKET, "Ticket")


# The agent's own things are in force.


@function_tool
def stock(context: RunContextWrapper[dict[str, int]], part: str) -> int:
    """Say how many of a part there are."""
    return context.context[part]


async def test_a_tool_of_the_agents_own_is_a_step_and_no_failure(connected: Endpoint) -> None:
    scripted(hk.ToolCall("stock", '{"part": "charger"}'), GOOD)
    result = await (await held()).handoff(triage(tools=[stock]), context={"charger": 3})
    assert [(a.status, a.reason) for a in result.attempts] == [("tool", "stock"), ("accepted", "")]
    assert (result.output, result.usage.tool_calls) == (TICKET, 1)
    assert requests(result.label)[1]["input"][-1]["output"] == "3"
    assert [part.part_kind for message in result.messages for part in message.parts] == [
        "user-prompt",
        "tool-call",
        "tool-return",
        "text",
    ]


async def test_a_tool_may_give_the_output(connected: Endpoint) -> None:
    scripted(hk.ToolCall("stock", '{"part": "charger"}'))
    agent = triage(None, tools=[stock], tool_use_behavior="stop_on_first_tool")
    result = await (await held()).handoff(agent, context={"charger": 3})
    assert result.output == "3"
    assert [(a.status, a.raw) for a in result.attempts] == [("accepted", '{"part": "charger"}')]


async def test_an_agent_may_hand_over_to_another_that_fills_the_type(connected: Endpoint) -> None:
    scripted(hk.ToolCall("transfer_to_hardware", "{}"), BAD, GOOD)
    own = ModelSettings(extra_headers={"x-hardware": "1"}, temperature=0.25)
    hardware = triage(name="Hardware", instructions="You know hardware.", model="gpt-5-mini", model_settings=own)
    result = await (await held()).handoff(triage(None, name="Front", handoffs=[hardware]))
    assert (result.output, result.schema, result.agent) == (TICKET, "Ticket", "Front")
    assert [(a.status, a.reason) for a in result.attempts] == [
        ("tool", "transfer_to_hardware"),
        ("rejected", ""),
        ("accepted", ""),
    ]
    bodies = requests(result.label)
    assert [body["model"] for body in bodies] == ["gpt-5.2", "gpt-5-mini", "gpt-5-mini"]
    assert [body.get("temperature") for body in bodies] == [None, 0.25, 0.25]
    assert [body["instructions"] for body in bodies[1:]] == ["You know hardware."] * 2


async def test_an_agent_used_as_a_tool_is_a_run_of_its_own(connected: Endpoint) -> None:
    scripted(hk.ToolCall("ask_stock", '{"input": "How many?"}'), "Three.", GOOD)
    helper = Agent(name="Stock", model="gpt-5-mini").as_tool("ask_stock", "Ask about the stock.")
    result = await (await held()).handoff(triage(tools=[helper]))
    assert [(a.status, a.reason) for a in result.attempts] == [("tool", "ask_stock"), ("accepted", "")]
    assert [(f.data["model"], f.label) for f in hk.log().filter("POST *")] == [
        ("gpt-5.2", result.label),
        ("gpt-5-mini", None),
        ("gpt-5.2", result.label),
    ]


async def test_settings_headers_and_filters_of_the_agent_the_config_and_the_call_stay(connected: Endpoint) -> None:
    scripted(GOOD, GOOD)
    sent: list[dict[str, str]] = []

    async def spy(request: Any) -> None:
        sent.append(dict(request.headers))

    client = AsyncOpenAI()
    client._client.event_hooks["request"].append(spy)
    seen: list[str] = []

    async def shorten(data: Any) -> Any:
        seen.append(data.agent.name)
        data.model_data.input = data.model_data.input[-1:]
        return data.model_data

    agent = triage(
        model=OpenAIResponsesModel("gpt-5.2", client),
        model_settings=ModelSettings(max_tokens=77, extra_headers={"x-agent": "1"}),
    )
    config = RunConfig(model_settings=ModelSettings(top_p=0.5), call_model_input_filter=shorten)
    call = await held()
    one = await call.handoff(agent, "Go.", run_config=config, model_settings={"temperature": 0.25})
    (body,) = requests(one.label)
    assert (body["max_output_tokens"], body["top_p"], body["temperature"]) == (77, 0.5, 0.25)
    assert [item["content"] for item in body["input"]] == ["Go."]
    assert (sent[0]["x-agent"], sent[0]["x-handoffkit-handoff"], seen) == ("1", one.label, ["Triage"])
    settings = ModelSettings(extra_headers={"x-call": "2"})
    two = await call.handoff(agent, model="gpt-5-mini", model_settings=settings, run_config={"tracing_disabled": True})
    assert (two.model, requests(two.label)[0]["model"]) == ("gpt-5-mini", "gpt-5-mini")
    assert config == RunConfig(
        model_provider=config.model_provider, model_settings=ModelSettings(top_p=0.5), call_model_input_filter=shorten
    ), "the user's config stays as it was"


async def test_instructions_may_be_a_function(connected: Endpoint) -> None:
    scripted(GOOD)

    def words(context: RunContextWrapper[str], agent: Agent[str]) -> str:
        return f"Write tickets for {context.context}."

    result = await (await held()).handoff(triage(instructions=words), context="Ada")
    assert requests(result.label)[0]["instructions"] == "Write tickets for Ada."


@input_guardrail
async def no_laptops(context: Any, agent: Any, given: Any) -> GuardrailFunctionOutput:
    return GuardrailFunctionOutput("seen", tripwire_triggered="laptop" in json.dumps(given))


@output_guardrail
async def never_high(context: Any, agent: Any, output: Ticket) -> GuardrailFunctionOutput:
    return GuardrailFunctionOutput("seen", tripwire_triggered=output.priority == "high")


@pytest.mark.parametrize(
    ("options", "error", "name"),
    [
        ({"input_guardrails": [no_laptops]}, InputGuardrailTripwireTriggered, "no_laptops"),
        ({"output_guardrails": [never_high]}, OutputGuardrailTripwireTriggered, "never_high"),
    ],
    ids=["input", "output"],
)
async def test_a_guardrail_is_the_sdks_error_with_its_name(
    options: Any, error: type[Exception], name: str, connected: Endpoint
) -> None:
    scripted(GOOD, GOOD)
    with pytest.raises(error) as stopped:
        await (await held()).handoff(triage(**options))
    assert stopped.value.__notes__ == [f"It was the guardrail {name!r}."]


async def test_a_guardrail_of_a_tool_is_the_sdks_error_with_its_name(connected: Endpoint) -> None:
    @tool_input_guardrail
    def no_chargers(data: Any) -> ToolGuardrailFunctionOutput:
        return ToolGuardrailFunctionOutput.raise_exception("seen")

    @function_tool(tool_input_guardrails=[no_chargers])
    def count(part: str) -> str:
        """Say how many of a part there are."""
        raise AssertionError("the guardrail lets nothing pass")

    scripted(hk.ToolCall("count", '{"part": "charger"}'), GOOD)
    with pytest.raises(ToolInputGuardrailTripwireTriggered) as stopped:
        await (await held()).handoff(triage(tools=[count]))
    assert stopped.value.__notes__ == ["It was the guardrail 'no_chargers'."]


async def test_a_limit_of_the_users_own_is_the_sdks_error(connected: Endpoint) -> None:
    scripted(hk.ToolCall("stock", '{"part": "charger"}'), GOOD)
    with pytest.raises(MaxTurnsExceeded, match=r"Max turns \(1\) exceeded"):
        await (await held()).handoff(triage(tools=[stock]), context={"charger": 3}, max_turns=1)


async def test_an_error_of_a_tool_of_the_users_own_is_theirs(connected: Endpoint) -> None:
    @function_tool(failure_error_function=None)
    def broken() -> str:
        """Break."""
        raise ZeroDivisionError("by zero")

    scripted(hk.ToolCall("broken", "{}"), GOOD)
    with pytest.raises((UserError, ZeroDivisionError)) as raised:
        await (await held()).handoff(triage(tools=[broken]))
    assert not isinstance(raised.value, hk.errors.HandoffkitError)


async def test_a_tool_that_needs_approval_has_nobody_to_ask(connected: Endpoint) -> None:
    @function_tool(needs_approval=True)
    def refund() -> str:
        """Pay."""
        raise AssertionError("nobody has approved this")

    scripted(hk.ToolCall("refund", "{}"), GOOD)
    with pytest.raises(ApprovalNeeded, match=r"'Triage' called refund, which needs approval.*result\.interruptions"):
        await (await held()).handoff(triage(tools=[refund]))


async def test_a_tool_that_is_not_there_is_named(connected: Endpoint) -> None:
    scripted(hk.ToolCall("nowhere", "{}"), GOOD)
    with pytest.raises(ExtractionFailed, match="nowhere"):
        await (await held()).handoff(triage())


# Repeating.


async def test_handoffs_at_once_are_kept_apart(connected: Endpoint) -> None:
    hk.connect()
    call = await held()
    agent, theirs = triage(), pydantic_ai.Agent("openai:gpt-5.2", output_type=Ticket)
    asked = [agent, theirs, agent, triage(model=chat())]
    results = await asyncio.gather(*(call.handoff(each, f"Prompt {n}.") for n, each in enumerate(asked)))
    assert len({result.label for result in results}) == 4
    for number, result in enumerate(results):
        assert len(result.attempts) == 1
        assert f"Prompt {number}." in json.dumps(requests(result.label))
        assert Ticket.model_validate_json(result.attempts[0].raw) == result.output


async def test_the_same_agent_works_in_a_cell_and_in_a_handoff(connected: Endpoint) -> None:
    scripted(GOOD, GOOD, GOOD)
    agent, call = triage(), await held()
    assert (await Runner.run(agent, "Hello.")).final_output == TICKET
    assert (await call.handoff(agent)).output == TICKET
    assert (await Runner.run(agent, "Hello.")).final_output == TICKET
    assert [frame.label for frame in hk.log().filter("POST *")] == [None, "call-1/handoff-1", None]


async def test_the_result_goes_on_as_a_history_of_the_first_sdk(connected: Endpoint) -> None:
    scripted(GOOD, "Because of the presentation.")
    result = await (await held()).handoff(triage())
    why = await pydantic_ai.Agent("openai:gpt-5.2").run("Why high?", message_history=list(result.messages))
    assert why.output == "Because of the presentation."


async def test_a_cancelled_handoff_is_cancelled_and_can_be_repeated(connected: Endpoint) -> None:
    scripted(GOOD, GOOD, faults=[hk.Fault("POST *", "delay", seconds=20)])
    call = await held()
    handing = asyncio.create_task(call.handoff(triage()))
    async with asyncio.timeout(10):
        async for _ in hk.log().follow("POST *"):
            break
    handing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await handing
    assert (await call.handoff(triage())).output == TICKET


async def test_the_price_of_an_unknown_model_is_unknown_and_not_nothing(connected: Endpoint) -> None:
    scripted(GOOD)
    result = await (await held()).handoff(triage(model="my-own-model"))
    assert (result.cost, result.usage.cost) == (None, None)
    assert json.loads(result.to_json())["cost"] is None


# Whom to ask, and how.


async def test_a_voice_agent_of_this_sdk_fills_no_type(connected: Endpoint) -> None:
    call = await held()
    with pytest.raises(NotAnAgent, match="found a RealtimeAgent, which talks to a caller"):
        await call.handoff(RealtimeAgent(name="Support"))


ELSEWHERE = "http://127.0.0.1:9/v1"


def elsewhere() -> AsyncOpenAI:
    return AsyncOpenAI(base_url=ELSEWHERE, api_key="x")


WRONG: dict[str, Any] = {
    "the agent's model": lambda: (triage(model=OpenAIResponsesModel("gpt-5.2", elsewhere())), {}),
    "a chat model": lambda: (triage(model=OpenAIChatCompletionsModel("gpt-5.2", elsewhere())), {}),
    "the model of this handoff": lambda: (triage(), {"model": OpenAIResponsesModel("gpt-5.2", elsewhere())}),
    "the model of the config": lambda: (
        triage(),
        {"run_config": RunConfig(model=OpenAIResponsesModel("gpt-5.2", elsewhere()))},
    ),
    "the provider of the config": lambda: (
        triage(),
        {"run_config": RunConfig(model_provider=OpenAIProvider(openai_client=elsewhere()))},
    ),
    "over a WebSocket": lambda: (
        triage(),
        {"run_config": RunConfig(model_provider=OpenAIProvider(base_url=ELSEWHERE, use_responses_websocket=True))},
    ),
}


@pytest.mark.parametrize("made", WRONG.values(), ids=WRONG)
async def test_an_agent_whose_model_is_asked_elsewhere_is_refused(made: Any, connected: Endpoint) -> None:
    scripted(GOOD)
    call = await held()
    agent, options = made()
    with pytest.raises(WrongEndpoint, match=r"127\.0\.0\.1:9.*RunConfig.*`hk\.connect\(\)` first"):
        await call.handoff(agent, **options)
    assert not hk.log().filter("POST *")


async def test_a_default_client_that_points_elsewhere_is_refused(connected: Endpoint) -> None:
    scripted(GOOD)
    call = await held()
    set_default_openai_client(elsewhere(), use_for_tracing=False)
    with pytest.raises(WrongEndpoint, match=r"'Triage' \(gpt-5\.2\) points to http://127\.0\.0\.1:9/v1/"):
        await call.handoff(triage())
    assert not hk.log().filter("POST *")


@pytest.mark.parametrize("name", ["litellm/anthropic/claude", "anthropic/claude"])
async def test_a_model_of_another_provider_is_refused(name: str, connected: Endpoint) -> None:
    call = await held()
    with pytest.raises(WrongEndpoint, match="no address that can be read"):
        await call.handoff(triage(model=name))


@pytest.mark.parametrize("way", ["by transfer", "as a tool"])
async def test_an_agent_behind_the_agent_is_checked_before_it_is_asked(way: str, connected: Endpoint) -> None:
    other = Agent(name="Other", model=OpenAIResponsesModel("gpt-5.2", elsewhere()))
    name = "transfer_to_other" if way == "by transfer" else "ask_other"
    scripted(hk.ToolCall(name, "{}" if way == "by transfer" else '{"input": "Hm?"}'), GOOD)
    tools: dict[str, Any] = {"handoffs": [other]} if way == "by transfer" else {"tools": [other.as_tool(name, "Ask.")]}
    call = await held()
    with pytest.raises(WrongEndpoint, match=r"'Other'.*127\.0\.0\.1:9"):
        await call.handoff(triage(**tools))


async def test_an_agent_that_was_built_before_connect_is_asked_here(
    monkeypatch: pytest.MonkeyPatch, connected: Endpoint
) -> None:
    set_default_openai_client(None, use_for_tracing=False)  # type: ignore[arg-type]
    hk.disconnect()
    early = triage()
    scripted(GOOD)
    assert (await (await held()).handoff(early)).output == TICKET


async def test_before_connect_there_is_nobody_to_ask(connected: Endpoint) -> None:
    call = await held()
    hk.disconnect()
    with pytest.raises(NotConnected):
        await call.handoff(triage())


FOREIGN: dict[str, Any] = {
    "deps": (True, {"deps": 1}, "openai-agents gives its tools and instructions a `context=`"),
    "usage_limits": (True, {"usage_limits": 1}, "`max_turns=`"),
    "a model's name": (True, {"model": "openai:gpt-5.2"}, "openai-agents calls it 'gpt-5.2'"),
    "a model": (True, {"model": TestModel()}, "found TestModel"),
    "settings": (True, {"model_settings": 7}, "found int"),
    "config": (True, {"run_config": 7}, "found int"),
    "retries": (True, {"retries": {"output": 2}}, "a number, 0 or more"),
    "fewer retries than none": (True, {"retries": -1}, "a number, 0 or more"),
    "context": (False, {"context": 1}, "pydantic-ai gives its tools and instructions their `deps=`"),
    "run_config": (False, {"run_config": RunConfig()}, "pydantic-ai takes `model=`"),
    "max_turns": (False, {"max_turns": 3}, "request_limit"),
    "their model": (False, {"model": chat}, "found OpenAIChatCompletionsModel"),
    "their settings": (False, {"model_settings": ModelSettings()}, "found ModelSettings"),
}


@pytest.mark.parametrize(("theirs", "options", "words"), FOREIGN.values(), ids=FOREIGN)
async def test_an_option_of_the_other_sdk_is_refused_in_words(
    theirs: bool, options: Any, words: str, connected: Endpoint
) -> None:
    scripted(GOOD)
    call = await held()
    agent = triage() if theirs else pydantic_ai.Agent("openai:gpt-5.2", output_type=Ticket)
    (name,) = options
    given = {name: chat()} if options[name] is chat else options
    with pytest.raises(OptionRefused, match=f"`{name}=`") as refused:
        await call.handoff(agent, **given)
    assert words in str(refused.value)
    assert not hk.log().filter("POST *")


# The service fails.


@pytest.mark.parametrize("api", ["responses", "chat"])
@pytest.mark.parametrize(
    ("status", "words", "tries"),
    [
        (429, "no more requests", 3),
        (500, "could not answer", 3),
        (401, "refused the key", 1),
        (400, "refused the req", 1),
    ],
)
async def test_a_service_that_refuses_is_told_apart_from_a_wrong_output(
    status: int, words: str, tries: int, api: str, connected: Endpoint
) -> None:
    scripted(GOOD, faults=[hk.Fault("POST *", "status", status=status, nth=0)])
    options = {"model": chat()} if api == "chat" else {}
    call = await held()
    with pytest.raises(ServiceFailed, match=words) as failed:
        await call.handoff(triage(**options))
    assert failed.value.status == status
    assert [attempt.status for attempt in failed.value.attempts] == ["failed"] * tries
    assert f"HTTP {status}: A fault was asked for." in str(failed.value)
    scripted(GOOD)
    assert (await call.handoff(triage(**options))).output == TICKET


async def test_what_the_client_tries_again_is_in_the_attempts(connected: Endpoint) -> None:
    scripted(GOOD, faults=[hk.Fault("POST *", "abort")])
    result = await (await held()).handoff(triage())
    assert [attempt.status for attempt in result.attempts] == ["failed", "accepted"]
    assert result.attempts[0].reason.startswith("the connection broke off")
    assert result.usage.requests == 1


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (answer(output=REFUSAL), r"the model refused \(I cannot help with that.\)"),
        (answer(status="incomplete", incomplete_details={"reason": "max_output_tokens"}), "incomplete"),
        (answer(status="failed", error={"code": "server_error", "message": "Boom."}, output=[]), "Boom"),
        ({"nonsense": True}, "HTTP 200, but no answer in it"),
    ],
    ids=["a refusal", "an answer that was cut", "a failed answer", "no answer"],
)
@pytest.mark.parametrize("output", [Ticket, None])
async def test_an_answer_that_is_none_gives_no_result(body: Any, words: str, output: Any, connected: Endpoint) -> None:
    scripted(faults=[hk.Fault("POST *", "status", status=200, data=body, nth=0)])
    with pytest.raises(ExtractionFailed, match=words):
        await (await held()).handoff(triage(output))


async def test_a_schema_that_cannot_be_filled_is_told_by_its_field(connected: Endpoint) -> None:
    class Impossible(BaseModel):
        count: int = Field(ge=5, le=3)

    hk.connect()
    with pytest.raises(ServiceFailed, match="count") as failed:
        await (await held()).handoff(triage(Impossible))
    assert failed.value.status == 400


# Lists: of messages, of items, of what a realtime session has heard.


async def test_a_message_history_of_the_first_sdk_is_handed_to_the_other(connected: Endpoint) -> None:
    scripted(GOOD)
    history: list[ModelMessage] = [
        ModelRequest(parts=[UserPromptPart(FIRST)], instructions="Speak like a pirate."),
        ModelResponse(parts=[TextPart("Arr.")]),
    ]
    result = await hk.handoff(history, triage())
    assert (result.output, result.label, result.seconds, result.prompt) == (TICKET, "handoff-1", None, PROMPT)
    assert "pirate" not in json.dumps(requests("handoff-1"))
    assert current().mode == "simulated"


@function_tool
def parts(part: str) -> str:
    """Say how many of a part there are."""
    return "3"


async def talk() -> list[Any]:
    """Have a talk with a text agent that thinks and looks something up, and return its items."""
    thinks = [hk.Reasoning("Look it up."), hk.ToolCall("parts", '{"part": "charger"}')]
    scripted(thinks, [hk.Reasoning("Three."), "We have three chargers."], GOOD, GOOD)
    desk = Agent(name="Desk", model="gpt-5.2", instructions="You are the desk.", tools=[parts])
    return (await Runner.run(desk, "Do you have a charger?")).to_input_list()


def said(label: str) -> list[Any]:
    """Return what stands in a request: words with their role, calls, results."""
    found = []
    for item in requests(label)[-1]["input"]:
        content = item.get("content")
        words = content if isinstance(content, str) or content is None else content[0]["text"]
        found.append((item.get("role") or item["type"], words or item.get("output") or json.loads(item["arguments"])))
    return found


@pytest.mark.parametrize("agent", [triage, ours])
async def test_items_of_a_run_are_handed_on_without_its_thoughts(agent: Any, connected: Endpoint) -> None:
    items = await talk()
    assert "reasoning" in [item.get("type") for item in items]
    with warnings.catch_warnings():
        warnings.simplefilter("error", LostInHandoff)
        result = await hk.handoff(items, agent(), "Go.")
    assert result.output == TICKET
    assert [each for each in said(result.label) if each[0] != "system"] == [
        ("user", "Do you have a charger?"),
        ("function_call", {"part": "charger"}),
        ("function_call_output", "3"),
        ("assistant", "We have three chargers."),
        ("user", "Go."),
    ]
    sent = json.dumps(requests(result.label)[-1]["input"])
    assert "Look it up" not in sent
    assert all(f'"{prefix}_' not in sent for prefix in ("rs", "fc", "msg")), "no id that a service would look up"


@pytest.mark.parametrize("agent", [triage, ours])
async def test_a_result_without_its_call_and_the_reverse_are_mended_and_told(agent: Any, connected: Endpoint) -> None:
    first, *_, last = await talk()
    alone = {"type": "function_call_output", "call_id": "call_a", "output": "7"}
    hanging = {"type": "function_call", "call_id": "call_b", "name": "parts", "arguments": "{}"}
    with pytest.warns(LostInHandoff) as warned:
        result = await hk.handoff([alone, first, hanging, last], agent(), "Go.")
    told = warned.pop(LostInHandoff).message  # a socket that a neighbour forgot may be warned of as well
    assert str(told).splitlines() == [
        "Not all of the conversation went over as it was:",
        "  In item 1: a result without a call before it is left out.",
        "  In item 3: parts was called and never returned; its result now says so.",
    ]
    assert result.output == TICKET
    kinds = [kind for kind, _ in said(result.label)]
    assert kinds[-5:] == ["user", "function_call", "assistant", "function_call_output", "user"]


@pytest.mark.parametrize("agent", [triage, ours])
async def test_a_result_without_its_call_in_messages_is_left_out_and_told(agent: Any, connected: Endpoint) -> None:
    scripted(GOOD)
    history: list[ModelMessage] = [
        ModelRequest(parts=[UserPromptPart(FIRST), ToolReturnPart("stock", "7", "call_a")]),
        ModelRequest(parts=[ToolReturnPart("stock", "Try again.", "call_b", outcome="retried")]),
        ModelResponse(parts=[TextPart("I see.")]),
    ]
    with pytest.warns(LostInHandoff, match="In message 1: a result of stock without a call before it is left out"):
        result = await hk.handoff(history, agent(), "Go.")
    assert [each for each in said(result.label) if each[0] != "system"] == [
        ("user", FIRST),
        ("assistant", "I see."),
        ("user", "Go."),
    ]


@pytest.mark.parametrize("agent", [triage, ours])
@pytest.mark.parametrize(
    ("items", "error", "words"),
    [
        ([], NothingSaid, "there are no messages"),
        ([{"role": "system", "content": "Be kind."}], NothingSaid, "no words of a user's"),
        ([{"role": "user", "content": FIRST}], CallIncomplete, "the history ends with these words"),
        ([{"role": "user", "content": FIRST}, 7], NotAConversation, r"result\.to_input_list.* of builtins\.dict"),
    ],
    ids=["empty", "an operator's", "half", "mixed"],
)
async def test_items_that_are_no_whole_talk_are_refused(
    items: Any, error: type[Exception], words: str, agent: Any, connected: Endpoint
) -> None:
    with pytest.raises(error, match=words):
        await hk.handoff(items, agent())
    assert not hk.log().filter("POST *")


async def test_what_was_lost_is_not_told_without_end() -> None:
    warning = LostInHandoff([Loss("unknown", f"item {n}", "an item is left out") for n in range(1, 101)])
    lines = str(warning).splitlines()
    assert (len(lines), len(warning.losses)) == (12, 100)
    assert lines[-1] == "  … and 90 more (`losses` of this warning has them all)."


async def realtime(*texts: str) -> list[Any]:
    """Hold a call with this SDK's own session, and return the history that it keeps."""
    url = f"{current().base_url.replace('http', 'ws', 1)}/realtime?model=gpt-realtime"
    config: Any = {"url": url, "api_key": os.environ["OPENAI_API_KEY"]}
    history: list[Any] = []
    async with await RealtimeRunner(RealtimeAgent(name="Voice", instructions=VOICE)).run(
        model_config=config
    ) as session:
        for turn, text in enumerate(texts, 1):
            await session.send_message(text)
            async for event in session:
                if event.type == "history_updated":
                    history = event.history
                last = history[-1] if len(history) == 2 * turn else None
                if last and last.status == "completed" and last.content and len(hk.log().ends) >= turn:
                    break
    return history


@pytest.mark.parametrize("agent", [triage, ours])
@pytest.mark.parametrize("form", ["items", "dicts", "log"])
async def test_a_call_of_a_realtime_agent_goes_to_an_agent_of_either_sdk(
    form: str, agent: Any, connected: Endpoint
) -> None:
    scripted(GOOD)
    history = await realtime(FIRST, SECOND)
    forms = {"items": history, "dicts": [item.model_dump() for item in history], "log": hk.log()}
    with warnings.catch_warnings():
        warnings.simplefilter("error", LostInHandoff)
        result = await hk.handoff(forms[form], agent(), "Go.")
    assert result.output == TICKET
    assert [each for each in said(result.label) if each[0] != "system"] == [
        ("user", FIRST),
        ("assistant", "Is the light on?"),
        ("user", SECOND),
        ("assistant", "Thank you."),
        ("user", "Go."),
    ]
    assert "hexagon" not in json.dumps(requests(result.label))


async def test_a_saved_call_is_handed_to_the_other_sdk(tmp_path: Path, connected: Endpoint) -> None:
    hk.connect()
    call = await held()
    folder = call.save(tmp_path / "call")
    hk.connect()
    one, two = [await hk.handoff(hk.load(folder), agent) for agent in (triage(), ours())]
    assert one.output == two.output
    assert one.output.priority == "high"


# Words that never came.


def unheard(kind: str) -> Any:
    """Return a talk in which all that the caller says is sound, in one of three forms."""
    sound = {"type": "input_audio", "audio": None, "transcript": None}
    reply = {"type": "audio", "audio": None, "transcript": "I see."}
    match kind:
        case "messages":
            return [
                ModelRequest(parts=[SpeechPart(speaker="user")]),
                ModelResponse(parts=[SpeechPart(speaker="assistant", transcript="I see.")]),
            ]
        case "session history":
            return [
                {"item_id": "i1", "type": "message", "role": "user", "content": [sound]},
                {"item_id": "i2", "type": "message", "role": "assistant", "status": "completed", "content": [reply]},
            ]
    audio = {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}
    return [{"role": "user", "content": [audio]}, {"role": "assistant", "content": "I see."}]


@pytest.mark.parametrize("agent", [triage, ours])
@pytest.mark.parametrize("kind", ["messages", "session history", "items"])
async def test_a_talk_without_transcription_gives_no_empty_ticket(kind: str, agent: Any, connected: Endpoint) -> None:
    with pytest.raises(NothingSaid, match="all that the caller has said is inaudible"):
        await hk.handoff(unheard(kind), agent())
    assert not hk.log().filter("POST *")


@pytest.mark.parametrize("agent", [triage, ours])
async def test_a_call_without_transcription_gives_no_empty_ticket(
    agent: Any, tmp_path: Path, connected: Endpoint
) -> None:
    wire = Wire().session()
    for number in range(2):
        wire.speech(f"u{number}").replied("I see.", f"r{number}", f"a{number}")
    wire.close()
    lines = [json.dumps({"handoffkit": 1, "started": 0}), *(json.dumps(record(f, f.audio)) for f in wire.frames)]
    (tmp_path / "log.jsonl").write_text("\n".join(lines) + "\n")
    with pytest.raises(NothingSaid, match="all that the caller has said is inaudible"):
        await hk.handoff(hk.EventLog(tmp_path), agent(), patience=0.2)
    assert not hk.log().filter("POST *")


@pytest.mark.parametrize("agent", [triage, ours])
async def test_a_turn_that_nobody_understood_is_marked_and_warned_about(agent: Any, connected: Endpoint) -> None:
    scripted(GOOD)
    typed = [ModelRequest(parts=[UserPromptPart(FIRST)]), ModelResponse(parts=[TextPart("I see.")])]
    with pytest.warns(InaudibleTurns, match="1 spoken turn of the caller's"):
        result = await hk.handoff([*unheard("messages"), *typed], agent(), "Go.")
    assert [words for role, words in said(result.label) if role == "user"] == ["[inaudible]", FIRST, "Go."]


# Transports and event loops.


@pytest.fixture
def sockets() -> Iterator[None]:
    """Have the SDK ask over WebSockets."""
    set_default_openai_responses_transport("websocket")
    yield
    set_default_openai_responses_transport("http")


def asked() -> list[tuple[str, str, str | None]]:
    """Return what clients have opened and asked for over WebSockets, each with its connection and label."""
    wanted = ("open", "response.create")
    return [(f.event, f.conn, f.label) for f in hk.log().filter(channel="responses") if f.event in wanted]


@pytest.mark.usefixtures("sockets")
async def test_over_a_websocket_the_handshake_bears_the_label(connected: Endpoint) -> None:
    scripted(BAD, GOOD)
    result = await hk.handoff(HISTORY, triage())
    assert result.output == TICKET
    assert [(a.status, a.model) for a in result.attempts] == [("rejected", "gpt-5.2"), ("accepted", "gpt-5.2")]
    assert [error.field for error in result.attempts[0].errors] == ["priority"]
    assert result.cost is not None
    assert asked() == [
        ("open", "c1", "handoff-1"),
        ("response.create", "c1", "handoff-1"),
        ("response.create", "c1", "handoff-1"),
    ]


async def test_handoffs_at_once_that_share_a_provider_over_websockets_are_kept_apart(connected: Endpoint) -> None:
    hk.connect()
    config = RunConfig(model_provider=OpenAIProvider(use_responses_websocket=True))
    results = await asyncio.gather(
        *(hk.handoff(HISTORY, triage(), f"Prompt {n}.", run_config=config) for n in range(3))
    )
    assert [len(result.attempts) for result in results] == [1, 1, 1]
    by_label = {frame.label: json.dumps(frame.data) for frame in hk.log().filter("response.create")}
    assert all(f"Prompt {n}." in by_label[result.label] for n, result in enumerate(results))
    await config.model_provider.aclose()


@pytest.mark.usefixtures("sockets")
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (
            hk.Fault("open", "status", status=429),
            "no more requests for now:\n  Attempt 1 failed: HTTP 429: A fault was",
        ),
        (hk.Fault("response.completed", "abort"), "the stream broke off in the middle of the answer"),
        (hk.Fault("response.completed", "close"), "the stream broke off in the middle of the answer"),
    ],
    ids=["a refused handshake", "a dropped connection", "a clean close"],
)
async def test_what_fails_over_a_websocket_is_the_services(fault: hk.Fault, words: str, connected: Endpoint) -> None:
    scripted(GOOD, faults=[fault])
    with pytest.raises(ServiceFailed, match=words) as failed:
        await hk.handoff(HISTORY, triage())
    assert failed.value.status == (429 if fault.status == 429 else None)
    scripted(GOOD)
    assert (await hk.handoff(HISTORY, triage())).output == TICKET


@pytest.mark.usefixtures("sockets")
async def test_a_request_that_is_refused_over_a_websocket_has_its_status(connected: Endpoint) -> None:
    scripted()
    with pytest.raises(ServiceFailed, match=r"Attempt 1 failed: HTTP 400: The script has 0 outputs") as failed:
        await hk.handoff(HISTORY, triage())
    assert failed.value.status == 400


def test_one_agent_is_handed_to_in_one_event_loop_after_another(connected: Endpoint) -> None:
    set_default_openai_client(None, use_for_tracing=False)  # type: ignore[arg-type]
    scripted(GOOD, GOOD, GOOD, GOOD)
    agent = triage()

    async def twice() -> list[int]:
        return [len((await hk.handoff(HISTORY, agent)).attempts) for _ in range(2)]

    assert [asyncio.run(twice()) for _ in range(2)] == [[1, 1], [1, 1]]


def test_a_client_of_a_loop_that_has_ended_is_named(connected: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(GOOD, GOOD, faults=[hk.Fault("POST /v1/responses", "delay", seconds=60.0, nth=2)])
    agent = triage()
    asyncio.run(hk.handoff(HISTORY, agent))
    before, broken = current().log()[-1].seq, list[str]()

    def late(log: EventLog, *facts: Any) -> list[Attempt]:
        """Read the log again until it tells of the request that was begun on the old connection."""
        for _ in range(50):
            if not (found := attempts(log, *facts)):
                time.sleep(0.1)
                log = current().log().filter(after_seq=before)
        broken.extend(each.status for each in found)
        return found

    monkeypatch.setattr(sys.modules["handoffkit.handoff"], "attempts", late)
    with pytest.raises(RuntimeError, match="Event loop is closed") as closed:
        asyncio.run(hk.handoff(HISTORY, agent))
    assert broken == ["failed"]
    (note,) = closed.value.__notes__
    assert "Give each loop a client of its own: `set_default_openai_client(AsyncOpenAI())`" in note
