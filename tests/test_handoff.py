"""`handoff` through the real endpoint process and the SDK's own transports."""

import asyncio
import json
import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import httpx2
import psutil
import pytest
from odd_answers import REFUSAL, answer
from pydantic import BaseModel, Field
from pydantic_ai import Agent, ModelRetry, NativeOutput, PromptedOutput, RunContext, ToolOutput, UsageLimits
from pydantic_ai.capabilities import Hooks
from pydantic_ai.exceptions import UsageLimitExceeded
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, SystemPromptPart, TextPart, UserPromptPart
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.openai import OpenAIResponsesModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.settings import ModelSettings
from wire_script import Wire

import handoffkit as hk
from handoffkit.connect import Endpoint, current
from handoffkit.endpoint.protocol.ids import Ids
from handoffkit.errors import (
    CallIncomplete,
    EndpointGone,
    ExtractionFailed,
    InaudibleTurns,
    NotAConversation,
    NotAnAgent,
    NotConnected,
    NothingSaid,
    ReplyFailed,
    ServiceFailed,
    SeveralCalls,
    WrongEndpoint,
)
from handoffkit.handoff import PROMPT
from handoffkit.wire.frames import record

FIRST, SECOND = "My laptop does not charge.", "Another outlet changed nothing, and I present tomorrow."
VOICE = "You are a phone support agent; never mention the hexagon."


class Ticket(BaseModel):
    summary: str
    priority: Literal["low", "medium", "high"]


GOOD = {"summary": "A laptop does not charge.", "priority": "high"}
BAD = GOOD | {"priority": "urgent"}
TICKET = Ticket.model_validate(GOOD)
KINDS: dict[str, Any] = {
    "tool": Ticket,
    "a tool of another name": ToolOutput(Ticket, name="file_ticket"),
    "native": NativeOutput(Ticket),
    "prompted": PromptedOutput(Ticket),
}
MODELS = ["openai:gpt-5.2", "openai-chat:gpt-5.2"]


def scripted(*outputs: Any, lines: tuple[Any, ...] = ("Is the light on?", "Thank you."), faults: Any = ()) -> None:
    hk.connect(model=hk.ScriptedModel(list(lines), list(outputs)), faults=faults)


def triage(output: Any = Ticket, model: str = MODELS[0], **options: Any) -> Agent[Any, Any]:
    return Agent(model, output_type=output, instructions="Write support tickets.", **options)


async def held(*texts: str, **options: Any) -> hk.Call:
    """Hold a call and hang up."""
    async with hk.Call(Agent(instructions=VOICE), **options) as call:
        for text in texts or (FIRST, SECOND):
            await call.send(text)
    return call


def requests(label: str) -> list[dict[str, Any]]:
    """Return the bodies of the requests of one handoff."""
    return [frame.data for frame in hk.log().filter("POST *", label=label)]


# From a call to a result.


async def test_a_call_becomes_a_typed_result(connected: Endpoint) -> None:
    scripted(GOOD)
    call = await held()
    result = await call.handoff(triage(name="triage"), "Create the ticket.")
    assert result.output == TICKET
    (attempt,) = result.attempts
    assert (attempt.number, attempt.status, attempt.ok, json.loads(attempt.raw)) == (1, "accepted", True, GOOD)
    assert (attempt.model, attempt.errors, attempt.reason) == ("gpt-5.2", (), "")
    assert attempt.usage is not None
    assert (attempt.usage.input_tokens, attempt.usage.output_tokens) == (
        result.usage.input_tokens,
        result.usage.output_tokens,
    )
    assert (result.label, result.agent, result.model, result.schema) == (
        "call-1/handoff-1",
        "triage",
        "gpt-5.2",
        "Ticket",
    )
    assert (result.prompt, result.simulated) == ("Create the ticket.", True)
    assert result.cost is not None
    assert result.cost > 0
    assert [type(message) for message in result.messages] == [ModelRequest, ModelResponse, ModelRequest]


async def test_the_agent_is_told_who_said_what_in_order_and_nothing_of_the_operators(connected: Endpoint) -> None:
    scripted(GOOD)
    call = await held()
    await call.handoff(triage(), "Create the ticket.")
    (body,) = requests("call-1/handoff-1")
    said = [(item["role"], item["content"]) for item in body["input"] if item["role"] != "system"]
    assert said == [
        ("user", FIRST),
        ("assistant", "Is the light on?"),
        ("user", SECOND),
        ("assistant", "Thank you."),
        ("user", "Create the ticket."),
    ]
    assert "hexagon" not in json.dumps(body)
    assert "Write support tickets." in json.dumps(body)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("output", KINDS.values(), ids=KINDS)
async def test_a_bad_field_is_named_and_mended_however_the_output_is_asked_for(
    output: Any, model: str, connected: Endpoint
) -> None:
    scripted(BAD, GOOD)
    result = await (await held()).handoff(triage(output, model))
    assert result.output == TICKET
    first, second = result.attempts
    assert (first.status, second.status) == ("rejected", "accepted")
    assert (json.loads(first.raw), json.loads(second.raw)) == (BAD, GOOD)
    (error,) = first.errors
    assert (error.field, error.found, error.allowed) == ("priority", "'urgent'", "'low', 'medium' or 'high'")
    assert result.usage.requests == 2


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("output", [Ticket, NativeOutput(Ticket)], ids=["tool", "native"])
async def test_streamed_answers_are_read_as_whole_ones_are(output: Any, model: str, connected: Endpoint) -> None:
    scripted(BAD, GOOD)
    result = await (await held()).handoff(triage(output, model, capabilities=[streaming()]))
    assert any(frame.event.endswith((".delta", ".chunk")) for frame in hk.log().filter(label=result.label))
    assert [(a.status, json.loads(a.raw)) for a in result.attempts] == [("rejected", BAD), ("accepted", GOOD)]
    assert [a.usage is not None for a in result.attempts] == [True, True]


def streaming() -> Hooks[Any]:
    """Return what makes an agent ask for a stream."""
    hooks = Hooks[Any]()

    @hooks.on.event
    async def seen(ctx: RunContext[Any], event: Any) -> None:
        """Only be there."""

    return hooks


@pytest.mark.parametrize("model", MODELS)
async def test_an_output_may_be_plain_text_or_a_list(model: str, connected: Endpoint) -> None:
    scripted("It does not charge.", [4, 7])
    call = await held()
    text = await call.handoff(Agent(model))
    numbers = await call.handoff(triage(list[int], model))
    assert (text.output, text.fields, text.schema) == (
        "It does not charge.",
        {"output": "It does not charge."},
        "str",
    )
    assert (numbers.output, numbers.fields, numbers.schema) == ([4, 7], {"output": [4, 7]}, "list[int]")


async def test_a_rule_of_the_users_own_is_told_in_its_words(connected: Endpoint) -> None:
    scripted(GOOD, GOOD | {"summary": "It does not charge, and the light is off."})
    agent = triage()

    @agent.output_validator
    def long_enough(ticket: Ticket) -> Ticket:
        if len(ticket.summary) < 30:
            raise ModelRetry("the summary must mention the light")
        return ticket

    result = await (await held()).handoff(agent)
    (error,) = result.attempts[0].errors
    assert (error.field, error.allowed, error.message) == ("", "", "the summary must mention the light")
    assert json.loads(error.found) == GOOD


async def test_a_tool_of_the_agents_own_is_a_step_and_no_failure(connected: Endpoint) -> None:
    scripted(hk.ToolCall("stock", '{"part": "charger"}'), GOOD)
    agent = triage(deps_type=dict[str, int])
    asked: list[str] = []

    @agent.tool
    def stock(ctx: RunContext[dict[str, int]], part: str) -> int:
        """Say how many of a part there are."""
        asked.append(part)
        return ctx.deps[part]

    result = await (await held()).handoff(agent, deps={"charger": 3})
    assert [(a.status, a.reason) for a in result.attempts] == [("tool", "stock"), ("accepted", "")]
    assert (asked, result.output) == (["charger"], TICKET)


async def test_every_wrong_field_is_named_with_its_path(connected: Endpoint) -> None:
    class Item(BaseModel):
        price: float = Field(gt=0)

    class Order(BaseModel):
        code: str = Field(pattern=r"^[A-Z]{3}$")
        items: list[Item]
        paid: bool

    scripted({"code": "ab", "items": [{"price": -3}, {"price": 5}]}, {"code": "ABC", "items": [], "paid": True})
    result = await (await held()).handoff(triage(Order))
    found = {error.field: (error.found, error.allowed) for error in result.attempts[0].errors}
    assert found == {
        "code": ("'ab'", "text that matches pattern '^[A-Z]{3}$'"),
        "items[0].price": ("-3", "greater than 0"),
        "paid": ("nothing", "a value, since the field is required"),
    }


async def test_an_agent_that_gives_up_says_what_was_wrong_each_time_and_loses_nothing(connected: Endpoint) -> None:
    scripted(BAD, BAD | {"priority": None}, BAD, GOOD)
    call = await held()
    with pytest.raises(ExtractionFailed) as failed:
        await call.handoff(triage(), retries=2)
    assert [attempt.status for attempt in failed.value.attempts] == ["rejected"] * 3
    assert failed.value.label == "call-1/handoff-1"
    text = str(failed.value)
    assert "no valid Ticket in 3 attempts" in text
    assert "priority: found 'urgent', allowed 'low', 'medium' or 'high'" in text
    assert "priority: found null, allowed" in text
    assert (await call.handoff(triage())).output == TICKET


async def test_text_where_an_object_was_asked_for_is_shown(connected: Endpoint) -> None:
    scripted("I think it is urgent.", "Really.")
    with pytest.raises(ExtractionFailed, match=r"found 'I think it is urgent\.'"):
        await (await held()).handoff(triage())


# Repeating.


async def test_a_call_is_handed_off_again_with_other_prompts_models_and_schemas(connected: Endpoint) -> None:
    class Mood(BaseModel):
        calm: bool

    scripted(GOOD, BAD, GOOD, {"calm": True})
    call = await hk.Call(Agent(instructions=VOICE)).start()
    await call.send(FIRST)
    one = await call.handoff(triage(), "Create the ticket.")
    await call.send(SECOND)
    await call.hang_up()
    two = await call.handoff(triage(), "Create it briefly.", model="openai:gpt-5-mini")
    three = await call.handoff(triage(Mood), "How does the caller feel?")
    assert [r.label for r in (one, two, three)] == [f"call-1/handoff-{n}" for n in (1, 2, 3)]
    assert [len(r.attempts) for r in (one, two, three)] == [1, 2, 1]
    assert (two.model, two.attempts[0].model, two.prompt) == ("gpt-5-mini", "gpt-5-mini", "Create it briefly.")
    assert three.output == Mood(calm=True)
    assert SECOND not in json.dumps(requests(one.label))
    assert SECOND in json.dumps(requests(two.label))


async def test_the_log_of_a_call_holds_its_own_handoffs_and_no_others(connected: Endpoint) -> None:
    scripted(GOOD, GOOD)
    one, two = await held(), await held(FIRST)
    await one.handoff(triage())
    await two.handoff(triage())
    assert {frame.label for frame in one.log} == {"call-1", "call-1/handoff-1"}
    assert {frame.label for frame in two.log} == {"call-2", "call-2/handoff-2"}


async def test_handoffs_at_once_are_kept_apart(connected: Endpoint) -> None:
    hk.connect(model=hk.KeywordModel())
    call = await held()
    agents = [triage(), triage(NativeOutput(Ticket)), triage(model=MODELS[1])]
    results = await asyncio.gather(*(call.handoff(agent, f"Prompt {n}.") for n, agent in enumerate(agents)))
    assert len({result.label for result in results}) == 3
    for number, result in enumerate(results):
        assert len(result.attempts) == 1
        assert f"Prompt {number}." in json.dumps(requests(result.label))
        assert Ticket.model_validate_json(result.attempts[0].raw) == result.output


@pytest.mark.parametrize("first", ["cell", "handoff"])
async def test_the_same_agent_works_in_a_cell_and_in_a_handoff_in_any_order(first: str, connected: Endpoint) -> None:
    scripted(GOOD, GOOD, GOOD)
    agent = triage()
    call = await held()
    if first == "cell":
        assert (await agent.run("Hello.")).output == TICKET
    assert (await call.handoff(agent)).output == TICKET
    assert (await agent.run("Hello.")).output == TICKET
    assert {frame.label for frame in hk.log().filter("POST *")} == {None, "call-1/handoff-1"}


async def test_a_saved_call_is_handed_off_in_another_session(tmp_path: Path, connected: Endpoint) -> None:
    scripted()
    call = await held()
    folder = call.save(tmp_path / "a call")
    scripted(BAD, GOOD)
    result = await hk.handoff(hk.load(folder), triage(), "Create the ticket.")
    assert result.output == TICKET
    assert (result.label, result.seconds) == ("handoff-1", None)
    assert [item.get("content") for item in requests("handoff-1")[0]["input"] if item.get("role") == "user"] == [
        FIRST,
        SECOND,
        "Create the ticket.",
    ]


async def test_the_log_of_an_sdk_session_is_handed_off(connected: Endpoint) -> None:
    scripted(GOOD)
    await sdk_session()
    result = await hk.handoff(hk.log(), triage())
    assert result.output == TICKET
    assert result.seconds is not None
    assert result.prompt == PROMPT


async def sdk_session() -> list[ModelMessage]:
    """Hold a call with the SDK alone, and return its own history."""
    voice = Agent(instructions=VOICE)
    async with voice.realtime("openai:gpt-realtime").session() as session:
        for text in (FIRST, SECOND):
            await session.send(text)
            await session.wait_for_reply()
        return session.all_messages()


async def test_a_message_history_is_handed_off(connected: Endpoint) -> None:
    scripted(BAD, GOOD)
    history = await sdk_session()
    result = await hk.handoff(history, triage(), "Create the ticket.")
    assert result.output == TICKET
    assert [a.status for a in result.attempts] == ["rejected", "accepted"]
    assert (result.label, result.seconds) == ("handoff-1", None)


async def test_a_call_of_an_older_connection_is_handed_off_in_the_new_one(connected: Endpoint) -> None:
    call = await held()
    scripted(GOOD)
    result = await call.handoff(triage())
    assert result.output == TICKET
    assert (result.label, result.seconds) == ("handoff-1", None)
    new = await held()
    assert new.label == call.label
    assert {frame.label for frame in new.log} == {"call-1"}, "the older call's handoff is none of the new call's"


async def test_seconds_count_from_the_callers_last_word(connected: Endpoint) -> None:
    scripted(GOOD)
    call = await held()
    result = await call.handoff(triage())
    last = [turn.end for turn in call.log.turns if turn.speaker == "caller"][-1]
    assert result.seconds is not None
    assert 0 < result.seconds < 60
    assert result.seconds == pytest.approx(result.attempts[-1].at - last)


async def test_the_result_goes_on_as_a_history(connected: Endpoint) -> None:
    scripted(GOOD, "Because of the presentation.")
    call = await held()
    result = await call.handoff(triage())
    why = await Agent(MODELS[0]).run("Why high?", message_history=list(result.messages))
    assert why.output == "Because of the presentation."


# Headers, settings, prompts.


async def test_settings_and_headers_of_the_agent_and_the_call_stay(connected: Endpoint) -> None:
    scripted(GOOD)
    sent: list[dict[str, str]] = []

    async def spy(request: httpx2.Request) -> None:
        sent.append(dict(request.headers))

    client = httpx2.AsyncClient(event_hooks={"request": [spy]})
    model = OpenAIResponsesModel("gpt-5.2", provider=OpenAIProvider(http_client=client))
    own: ModelSettings = {"max_tokens": 77, "extra_headers": {"x-agent": "1"}}
    agent = Agent(model, output_type=Ticket, model_settings=own)
    call = await held()
    one = await call.handoff(agent, model_settings={"temperature": 0.5})
    (body,) = requests(one.label)
    assert (body["max_output_tokens"], body["temperature"]) == (77, 0.5)
    assert (sent[0]["x-agent"], sent[0]["x-handoffkit-handoff"]) == ("1", one.label)
    assert "x-agent" not in str([frame.data for frame in hk.log()])
    scripted(GOOD)
    with agent.override(model_settings={"max_tokens": 99}):
        two = await call.handoff(agent)
    (body,) = requests(two.label)
    assert body["max_output_tokens"] == 99


async def test_a_system_prompt_of_the_agent_is_in_force_and_that_of_the_history_is_not(connected: Endpoint) -> None:
    scripted(GOOD)
    history: list[ModelMessage] = [
        ModelRequest(parts=[SystemPromptPart("Speak like a pirate."), UserPromptPart(FIRST)]),
        ModelResponse(parts=[TextPart("Arr.")]),
    ]
    agent: Agent[None, Ticket] = Agent(MODELS[0], output_type=Ticket, system_prompt="Write tickets.")
    result = await hk.handoff(history, agent)
    (body,) = requests(result.label)
    assert "pirate" not in json.dumps(body)
    assert "Write tickets." in json.dumps(body)


async def test_a_limit_of_the_users_own_is_the_sdks_error(connected: Endpoint) -> None:
    scripted(GOOD)
    with pytest.raises(UsageLimitExceeded):
        await (await held()).handoff(triage(), usage_limits=UsageLimits(request_limit=0))


async def test_the_price_of_an_unknown_model_is_unknown_and_not_nothing(connected: Endpoint) -> None:
    scripted(GOOD)
    result = await (await held()).handoff(triage(model="openai:my-own-model"))
    assert result.cost is None
    assert json.loads(result.to_json())["cost"] is None
    assert "an unknown price" in str(result.details())


async def test_the_cost_of_a_simulation_does_not_pose_as_money(connected: Endpoint) -> None:
    scripted(GOOD)
    result = await (await held()).handoff(triage())
    assert "nothing was spent; gpt-5.2 would cost about $0.000" in str(result.details())


# Whom to ask.


@pytest.mark.parametrize("thing", [None, "triage", object(), Ticket])
async def test_something_that_is_no_agent_is_refused(thing: Any, connected: Endpoint) -> None:
    call = await held()
    before = len(hk.log().filter("POST *"))
    with pytest.raises(NotAnAgent, match=r"takes a pydantic_ai\.Agent with a model, or an agents\.Agent; f"):
        await call.handoff(thing)
    with pytest.raises(NotAnAgent, match="found an Agent without a model"):
        await call.handoff(Agent(output_type=Ticket))
    assert len(hk.log().filter("POST *")) == before


def elsewhere() -> OpenAIResponsesModel:
    return OpenAIResponsesModel("gpt-5.2", provider=OpenAIProvider(base_url="http://127.0.0.1:9/v1", api_key="x"))


async def test_an_agent_that_was_built_before_connect_is_refused_before_anything_is_sent(
    monkeypatch: pytest.MonkeyPatch, connected: Endpoint
) -> None:
    hk.disconnect()
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
    early = triage()
    monkeypatch.delenv("OPENAI_API_KEY")
    scripted(GOOD)
    call = await held()
    before = len(hk.log().filter("POST *"))
    with pytest.raises(WrongEndpoint, match=r"api\.openai\.com/v1.*run `hk\.connect\(\)` first and build the agent"):
        await call.handoff(early)
    assert len(hk.log().filter("POST *")) == before
    assert (await call.handoff(early, model=MODELS[0])).output == TICKET


@pytest.mark.parametrize(
    "model",
    [elsewhere, lambda: FallbackModel(MODELS[0], elsewhere()), TestModel, lambda: "anthropic:claude-sonnet-4-5"],
    ids=["another address", "a fallback to another address", "no address", "another provider"],
)
async def test_a_model_that_is_asked_elsewhere_is_refused(model: Any, connected: Endpoint) -> None:
    scripted(GOOD)
    call = await held()
    before = len(hk.log().filter("POST *"))
    with pytest.raises(WrongEndpoint):
        await call.handoff(triage(), model=model())
    if not isinstance(model(), str):
        with pytest.raises(WrongEndpoint):
            await call.handoff(Agent(model(), output_type=Ticket))
    assert len(hk.log().filter("POST *")) == before


async def test_a_model_that_takes_the_agents_place_is_checked_too(connected: Endpoint) -> None:
    scripted(GOOD)
    call, agent = await held(), triage()
    with agent.override(model=elsewhere()), pytest.raises(WrongEndpoint, match=r"127\.0\.0\.1:9"):
        await call.handoff(agent)


async def test_fallbacks_and_names_that_are_resolved_late_work(connected: Endpoint) -> None:
    scripted(GOOD, GOOD)
    call = await held()
    late: Agent[None, Ticket] = Agent(MODELS[0], output_type=Ticket, defer_model_check=True)
    assert (await call.handoff(late)).output == TICKET
    assert (await call.handoff(triage(), model=FallbackModel(*MODELS))).output == TICKET


async def test_before_connect_there_is_nobody_to_ask(connected: Endpoint) -> None:
    call, agent = await held(), triage()
    hk.disconnect()
    with pytest.raises(NotConnected):
        await call.handoff(agent)


# What is no conversation.


async def test_a_call_in_which_nothing_was_said_is_refused(connected: Endpoint) -> None:
    scripted(GOOD, lines=("Good morning.", "I see."))
    with pytest.raises(NothingSaid, match="has not said anything yet"):
        await hk.Call(Agent()).handoff(triage())
    async with hk.Call(Agent(), speak_first=True) as call:
        with pytest.raises(NothingSaid, match=r"Send a turn first"):
            await call.handoff(triage())
        await call.send(FIRST)
        assert (await call.handoff(triage())).output == TICKET


@pytest.mark.parametrize(
    "history", [[], [ModelResponse(parts=[TextPart("Hello?")])], [ModelRequest(parts=[UserPromptPart("  ")])]]
)
async def test_messages_without_words_of_a_user_are_refused(history: Any, connected: Endpoint) -> None:
    with pytest.raises(NothingSaid):
        await hk.handoff(history, triage())


@pytest.mark.parametrize("thing", ["a call", 7, None, [FIRST], [{"said": FIRST}], [{"role": "user"}, 7]])
async def test_something_that_is_no_conversation_is_refused(thing: Any, connected: Endpoint) -> None:
    with pytest.raises(NotAConversation, match=r"hk\.Call.*hk\.load.*all_messages"):
        await hk.handoff(thing, triage())


async def test_a_log_with_several_calls_is_refused_and_one_of_them_is_not(connected: Endpoint) -> None:
    scripted(GOOD, GOOD)
    await held()
    await held(FIRST)
    with pytest.raises(SeveralCalls, match="call-1, call-2"):
        await hk.handoff(hk.log(), triage())
    result = await hk.handoff(hk.log().filter(label="call-2"), triage())
    assert result.output == TICKET
    assert SECOND not in json.dumps(requests(result.label))


# Half a call.

_IDS = Ids("c1")  # those of the first connection after `connect()`
FAILED = {
    "type": "response.done",
    "event_id": "event_x",
    "response": {
        "object": "realtime.response",
        "id": [_IDS.new("resp"), _IDS.new("resp")][1],
        "status": "failed",
        "status_details": {"type": "failed", "error": {"type": "server_error", "code": "boom"}},
        "output": [],
    },
}
HALVES = {
    "dropped": (hk.Fault("response.output_audio_transcript.done", "abort", nth=2), "connection dropped"),
    "closed cleanly in the middle": (hk.Fault("response.output_audio_transcript.done", "close", nth=2), "code 1001"),
    "dropped before the reply": (hk.Fault("response.created", "abort", nth=2), "connection dropped"),
    "failed": (hk.Fault("response.done", "replace", nth=2, data=FAILED), "boom"),
}


async def half(fault: hk.Fault, *outputs: Any, lines: tuple[str, ...] = ("One.", "Two.", "Three.")) -> hk.Call:
    scripted(*outputs, lines=lines, faults=[fault])
    call = await hk.Call(Agent(instructions=VOICE)).start()
    await call.send(FIRST)
    with pytest.raises(ReplyFailed):
        await call.send(SECOND)
    return call


@pytest.mark.parametrize(("fault", "reason"), HALVES.values(), ids=HALVES)
async def test_half_a_call_is_refused_whatever_broke_it(fault: hk.Fault, reason: str, connected: Endpoint) -> None:
    call = await half(fault, GOOD)
    for _ in range(2):
        with pytest.raises(CallIncomplete, match=rf"Turn 2 of the caller's \('Another outlet.*{reason}") as refused:
            await call.handoff(triage())
        await call.hang_up()
    assert "nothing was extracted" in str(refused.value)
    assert not hk.log().filter("POST *")


async def test_half_a_call_is_refused_when_it_was_saved_or_is_read_from_the_log(
    tmp_path: Path, connected: Endpoint
) -> None:
    call = await half(HALVES["dropped"][0], GOOD)
    with pytest.raises(CallIncomplete):
        await hk.handoff(hk.load(call.save(tmp_path / "half")), triage())
    with pytest.raises(CallIncomplete):
        await hk.handoff(hk.log(), triage())


async def test_a_turn_that_was_sent_again_and_answered_is_whole_and_stands_once(connected: Endpoint) -> None:
    call = await half(HALVES["failed"][0], GOOD)
    await call.send(SECOND)
    await call.hang_up()
    result = await call.handoff(triage(), "Go.")
    assert result.output == TICKET
    said = [item["content"] for item in requests(result.label)[0]["input"] if item["role"] == "user"]
    assert said == [FIRST, SECOND, "Go."]


async def test_other_words_do_not_mend_a_turn_that_failed(connected: Endpoint) -> None:
    call = await half(HALVES["failed"][0], GOOD)
    await call.send("Are you there?")
    with pytest.raises(CallIncomplete, match="Turn 2"):
        await call.handoff(triage())


async def test_a_turn_is_mended_in_a_new_call_that_goes_on(connected: Endpoint) -> None:
    call = await half(HALVES["dropped before the reply"][0], GOOD, lines=("One.", "Two."))
    async with hk.Call(Agent(instructions=VOICE), message_history=call.messages()) as second:
        await second.send(SECOND)
    result = await second.handoff(triage(), "Go.")
    said = [item["content"] for item in requests(result.label)[0]["input"] if item["role"] == "user"]
    assert said == [FIRST, SECOND, "Go."]


async def test_a_reply_that_never_ends_is_waited_for_and_then_refused(connected: Endpoint) -> None:
    scripted(GOOD, faults=[hk.Fault("response.done", "drop", nth=2)])
    call = await hk.Call(Agent(), reply_timeout=3).start()  # time enough for the first reply
    await call.send(FIRST)
    with pytest.raises(hk.errors.ReplyTimeout):
        await call.send(SECOND)
    with pytest.raises(CallIncomplete, match=r"nothing came for \d+\.\d s while a reply is under way"):
        await call.handoff(triage(), patience=0.3)
    await call.hang_up()
    result = await call.handoff(triage())
    assert result.output == TICKET


async def test_a_reply_that_is_still_coming_is_waited_for(connected: Endpoint) -> None:
    scripted(GOOD, faults=[hk.Fault("response.done", "delay", nth=2, seconds=0.5)])
    async with hk.Call(Agent()) as call:
        await call.send(FIRST)
        turn = asyncio.create_task(call.send(SECOND))
        await reached(call, "response.created", 2)
        result = await call.handoff(triage())
        assert (await turn).text == "Thank you."
    assert "Thank you." in json.dumps(requests(result.label))


async def reached(call: hk.Call, event: str, count: int = 1) -> None:
    """Wait until *event* has passed *count* times in this call."""
    log = hk.log()
    async with asyncio.timeout(10):
        async for _ in log.follow(event, label=[call.label, f"{call.label}/*"]):
            count -= 1
            if not count:
                return


async def test_leaving_while_the_agent_speaks_is_no_failure_and_keeps_its_words(connected: Endpoint) -> None:
    hold = hk.Fault("response.output_audio.done", "delay", seconds=20)
    scripted(GOOD, lines=("A long goodbye to you.",), faults=[hold])
    call = await hk.Call(Agent()).start()
    turn = asyncio.create_task(call.send(FIRST))
    await reached(call, "response.output_audio.delta", 2)
    await call.hang_up()
    await turn
    result = await call.handoff(triage(), "Go.")
    heard = [item["content"] for item in requests(result.label)[0]["input"] if item["role"] == "assistant"]
    assert len(heard) == 1
    assert heard[0].startswith("A")
    assert "[Interrupted" in heard[0]


async def test_interrupting_is_no_failure(connected: Endpoint) -> None:
    hold = hk.Fault("response.output_audio.done", "delay", seconds=3)
    scripted(GOOD, lines=("First check the cable, then the outlet, then the battery.",), faults=[hold])
    async with hk.Call(Agent()) as call:
        turn = asyncio.create_task(call.send(FIRST))
        await reached(call, "response.output_audio.delta", 8)
        await call.interrupt(played_ms=1000)
        cut = await turn
        result = await call.handoff(triage(), "Go.")
    (said,) = [item["content"] for item in requests(result.label)[0]["input"] if item["role"] == "assistant"]
    # The log is ahead of the client, which cannot say how much was heard of what it has not received yet.
    heard = "" if cut.heard_ms is None else f" after {cut.heard_ms} ms"
    assert said == f"{cut.text}\n[Interrupted{heard}]"


def kill() -> Callable[[], object]:
    """Kill the endpoint process; return what waits until it has ended."""
    process = psutil.Process(current().pid)
    process.kill()
    return lambda: process.wait(5)


@pytest.mark.parametrize("cut", ["after the reply", "during the reply"])
async def test_a_killed_endpoint_says_so_and_a_new_one_goes_on(cut: str, connected: Endpoint) -> None:
    during = cut == "during the reply"
    scripted(faults=[hk.Fault("response.done", "delay", nth=2, seconds=30)] if during else [])
    call, agent = await hk.Call(Agent()).start(), triage()
    await call.send(FIRST)
    turn = asyncio.create_task(call.send(SECOND))
    await reached(call, "response.created" if during else "response.done", 2)
    if not during:
        await turn
    gone = kill()
    if during:
        with pytest.raises(EndpointGone):
            await turn
    with pytest.raises(EndpointGone, match=r"What was said is kept.*hk\.connect\(\)"):
        await call.handoff(agent)
    gone()
    scripted(GOOD)
    if during:
        with pytest.raises(CallIncomplete, match="the endpoint process has ended while a reply is under way"):
            await call.handoff(agent)
    else:
        assert (await call.handoff(agent)).output == TICKET
    await call.hang_up()


async def test_the_endpoint_is_killed_during_a_handoff(connected: Endpoint) -> None:
    scripted(GOOD, faults=[hk.Fault("POST *", "delay", seconds=30)])
    call = await held()
    handing = asyncio.create_task(call.handoff(triage()))
    await reached(call, "POST *")
    gone = kill()
    with pytest.raises(EndpointGone):
        await handing
    gone()
    scripted(GOOD)
    assert (await call.handoff(triage())).output == TICKET


async def test_half_a_history_of_messages_is_refused_where_it_can_be_seen(connected: Endpoint) -> None:
    history: list[ModelMessage] = [ModelRequest(parts=[UserPromptPart(FIRST * 1000)])]
    with pytest.raises(CallIncomplete, match="the history ends with these words, and no reply follows") as refused:
        await hk.handoff(history, triage())
    assert len(str(refused.value)) < 600


async def test_a_cancelled_handoff_is_cancelled_and_can_be_repeated(connected: Endpoint) -> None:
    scripted(GOOD, GOOD, faults=[hk.Fault("POST *", "delay", seconds=20)])
    call = await held()
    handing = asyncio.create_task(call.handoff(triage()))
    await reached(call, "POST *")
    handing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await handing
    assert (await call.handoff(triage())).output == TICKET


# Words that come late, and words that never come.


@asynccontextmanager
async def written(folder: Path, wire: Wire, *later: Wire) -> AsyncIterator[hk.EventLog]:
    """Write a live log: the first wire at once, the others after it, 50 ms apart, while the block runs."""

    async def follow() -> None:
        for each in later:
            await asyncio.sleep(0.05)
            write(folder, each)

    write(folder, wire)
    writing = asyncio.create_task(follow())
    yield hk.EventLog(folder)
    await writing


def write(folder: Path, wire: Wire) -> None:
    """Add the frames of *wire* to the log in *folder*."""
    folder.mkdir(exist_ok=True)
    with (folder / "log.jsonl").open("a") as file:
        if not file.tell():
            file.write('{"handoffkit": 1, "started": 0}\n')
        file.writelines(json.dumps(record(frame, frame.audio)) + "\n" for frame in wire.frames)


def spoken(*words: str | None) -> Wire:
    """A call of spoken turns, each answered; None is a turn whose words have not come yet."""
    wire = Wire().session()
    for number, text in enumerate(words):
        wire.speech(f"u{number}")
        if text is not None:
            wire.transcript(text, f"u{number}")
        wire.replied("I see.", f"r{number}", f"a{number}")
    return wire


async def test_late_words_are_waited_for(tmp_path: Path, connected: Endpoint) -> None:
    scripted(GOOD)
    wire = spoken(FIRST, None)
    late = Wire(first=len(wire.frames) + 1, began=wire.now)
    late.transcript(SECOND, "u1").close()
    async with written(tmp_path / "log", wire, late) as log:
        result = await hk.handoff(log, triage(), "Go.")
    said = [item["content"] for item in requests(result.label)[0]["input"]]
    assert said[:4] == [FIRST, "I see.", SECOND, "I see."]


async def test_words_that_do_not_come_are_warned_about(tmp_path: Path, connected: Endpoint) -> None:
    scripted(GOOD)
    async with written(tmp_path / "log", spoken(FIRST, None)) as log:
        with pytest.warns(InaudibleTurns, match="1 spoken turn of the caller's"):
            result = await hk.handoff(log, triage(), "Go.", patience=0.2)
    said = [item["content"] for item in requests(result.label)[0]["input"]]
    assert said[:4] == [FIRST, "I see.", "[inaudible]", "I see."]


async def test_a_result_rests_on_what_was_heard_of_an_interrupted_reply(tmp_path: Path, connected: Endpoint) -> None:
    scripted(GOOD)
    wire = Wire().session().typed(FIRST, "u1").ask().begin("r1")
    wire.words("Check the cable, then the outlet, then the battery.", "r1", "a1", ms=4000).truncate("a1", 1200)
    wire.client("response.cancel").done("r1", "cancelled", reason="client_cancelled").close()
    async with written(tmp_path / "log", wire) as log:
        result = await hk.handoff(log, triage(), "Go.")
    (said,) = [item["content"] for item in requests(result.label)[0]["input"] if item["role"] == "assistant"]
    assert said.startswith("Check the")
    assert said.endswith("\n[Interrupted after 1200 ms]")
    assert "battery" not in said


async def test_a_call_of_nothing_but_silence_is_refused(tmp_path: Path, connected: Endpoint) -> None:
    async with written(tmp_path / "log", spoken(None, None).close()) as log:
        with pytest.raises(NothingSaid, match="all that the caller has said is inaudible"):
            await hk.handoff(log, triage(), patience=0.2)


async def test_a_call_without_silence_warns_about_nothing(connected: Endpoint) -> None:
    scripted(GOOD)
    call = await held()
    with warnings.catch_warnings():
        warnings.simplefilter("error", InaudibleTurns)
        await call.handoff(triage())


async def test_a_log_that_nobody_writes_any_more_is_not_waited_for(tmp_path: Path, connected: Endpoint) -> None:
    wire = Wire().session().typed(FIRST, "u1").ask().begin("r1")
    async with written(tmp_path / "log", wire):
        pass
    async with asyncio.timeout(5):
        with pytest.raises(CallIncomplete, match="the log ends while a reply is under way"):
            await hk.handoff(hk.load(tmp_path / "log"), triage(), patience=60)


# The service fails.


@pytest.mark.parametrize("model", MODELS)
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
    status: int, words: str, tries: int, model: str, connected: Endpoint
) -> None:
    scripted(GOOD, faults=[hk.Fault("POST *", "status", status=status, nth=0)])
    call = await held()
    with pytest.raises(ServiceFailed, match=words) as failed:
        await call.handoff(triage(model=model))
    assert failed.value.status == status
    assert [attempt.status for attempt in failed.value.attempts] == ["failed"] * tries
    assert f"HTTP {status}: A fault was asked for." in str(failed.value)
    scripted(GOOD)
    assert (await call.handoff(triage(model=model))).output == TICKET


@pytest.mark.parametrize("fault", ["abort", "status"])
async def test_what_the_sdk_tries_again_is_in_the_attempts(fault: Any, connected: Endpoint) -> None:
    scripted(GOOD, faults=[hk.Fault("POST *", fault, status=503)])
    result = await (await held()).handoff(triage())
    assert [attempt.status for attempt in result.attempts] == ["failed", "accepted"]
    assert result.attempts[0].reason.startswith("HTTP 503" if fault == "status" else "the connection broke off")
    assert result.usage.requests == 1


@pytest.mark.parametrize("action", ["abort", "close"])
@pytest.mark.parametrize("model", MODELS)
async def test_a_stream_that_breaks_off_gives_no_result(model: str, action: Any, connected: Endpoint) -> None:
    event = "response.output_text.done" if model == MODELS[0] else "chat.completion.chunk"
    scripted("A long answer for you.", faults=[hk.Fault(event, action, nth=1 if model == MODELS[0] else 3)])
    call = await held()
    with pytest.raises(ServiceFailed, match="the stream broke off in the middle of the answer"):
        await call.handoff(Agent(model, capabilities=[streaming()]))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (answer(output=REFUSAL), r"the model refused \(I cannot help with that.\)"),
        (answer(status="incomplete", incomplete_details={"reason": "max_output_tokens"}), "incomplete"),
        ({"nonsense": True}, "HTTP 200, but no answer in it"),
        (answer(output=[]), "Attempt 2 was rejected"),
    ],
    ids=["a refusal", "an answer that was cut", "no answer", "an empty answer"],
)
@pytest.mark.parametrize("output", [Ticket, str])
async def test_an_answer_that_is_none_gives_no_result(body: Any, words: str, output: Any, connected: Endpoint) -> None:
    scripted(faults=[hk.Fault("POST *", "status", status=200, data=body, nth=0)])
    with pytest.raises(ExtractionFailed, match=words):
        await (await held()).handoff(triage(output))


async def test_a_schema_that_cannot_be_filled_is_told_by_its_field(connected: Endpoint) -> None:
    class Impossible(BaseModel):
        count: int = Field(ge=5, le=3)

    hk.connect(model=hk.KeywordModel())
    with pytest.raises(ServiceFailed, match="count") as failed:
        await (await held()).handoff(triage(Impossible))
    assert failed.value.status == 400


async def test_the_keyword_model_fills_the_ticket_of_the_call(connected: Endpoint) -> None:
    hk.connect()
    result = await (await held()).handoff(triage(), "Create the ticket.")
    assert isinstance(result.output, Ticket)
    assert result.output.priority == "high"


async def test_a_call_is_saved_with_its_ticket(tmp_path: Path, connected: Endpoint) -> None:
    scripted(GOOD)
    call = await held()
    result = await call.handoff(triage())
    saved = call.save(tmp_path / "call", ticket=result)
    assert json.loads((saved / "ticket.json").read_text()) == result.to_dict()
    assert [turn.text for turn in hk.load(saved).turns] == [turn.text for turn in call.turns]
