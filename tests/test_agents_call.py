"""`Call` on openai-agents: the same verbs, log and rules, through the SDK's own transport."""

import asyncio
import json
from typing import Any

import pytest
from agents import (
    GuardrailFunctionOutput,
    RunConfig,
    RunContextWrapper,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrailTripwireTriggered,
    function_tool,
    output_guardrail,
    tool_input_guardrail,
)
from agents.realtime import RealtimeAgent, RealtimeSession
from pydantic_ai import Agent
from pydantic_ai.messages import ModelRequest, ModelResponse, SystemPromptPart, TextPart, UserPromptPart, VideoUrl
from websockets.exceptions import InvalidStatus

import handoffkit as hk
from handoffkit.connect import Endpoint
from handoffkit.errors import (
    CallBusy,
    CallIncomplete,
    CallNotStarted,
    CallOver,
    LostInHandoff,
    NothingSaid,
    ReplyFailed,
    ReplyTimeout,
    SessionRefused,
    ToolRaised,
    WrongModel,
    WrongOption,
    WrongValue,
)

FIRST, SECOND = "My laptop does not charge.", "Another outlet changed nothing."


@pytest.fixture
def agent(connected: Endpoint) -> RealtimeAgent[Any]:
    return RealtimeAgent(name="Support", instructions="You are a phone support agent.")


def said(call: hk.Call) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in call.log.turns]


def scripted(*lines: Any, faults: tuple[hk.Fault, ...] = ()) -> None:
    hk.connect(model=hk.ScriptedModel(list(lines)), faults=faults)


def sessions(call: hk.Call) -> list[dict[str, Any]]:
    """Return what the client has asked of its session, one after the other."""
    return [frame.data["session"] for frame in call.log.filter("session.update", dir="client")]


async def test_two_typed_turns_and_their_replies(agent: RealtimeAgent[Any]) -> None:
    scripted("Is the light on?", "Thank you.")
    async with hk.Call(agent) as call:
        assert isinstance(call.session, RealtimeSession)
        first, second = await call.send(FIRST), await call.send(SECOND)
    assert (first.speaker, first.text, second.text) == ("agent", "Is the light on?", "Thank you.")
    assert said(call) == [("caller", FIRST), ("agent", "Is the light on?"), ("caller", SECOND), ("agent", "Thank you.")]
    assert {frame.label for frame in call.log} == {"call-1"}
    assert [(end.verdict, end.caller) for end in call.log.ends] == [("complete", True)] * 2
    assert (call.phase, call.state) == ("ended", "hung up")
    assert "error" not in {frame.event for frame in call.log}


async def test_it_is_held_across_tasks_and_hung_up_once(agent: RealtimeAgent[Any]) -> None:
    call = hk.Call(agent)
    with pytest.raises(CallNotStarted):
        await call.send(FIRST)
    for step in (call.start(), call.start(), call.send(FIRST), call.hang_up(), call.hang_up()):
        await asyncio.create_task(step)
    assert [speaker for speaker, _ in said(call)] == ["caller", "agent"]
    with pytest.raises(CallOver):
        await call.send(SECOND)


async def test_the_agent_can_speak_first(agent: RealtimeAgent[Any]) -> None:
    scripted("Support, good morning.", "I see.")
    async with hk.Call(agent, speak_first=True) as call:
        assert said(call) == [("agent", "Support, good morning.")]
        await call.send(FIRST)
    assert said(call)[1:] == [("caller", FIRST), ("agent", "I see.")]
    assert [end.caller for end in call.log.ends] == [False, True]


async def test_context_tools_and_dynamic_instructions_reach_the_agent(connected: Endpoint) -> None:
    scripted(hk.ToolCall("order_status", '{"number": 4711}'), "It is on its way.")

    @function_tool
    def order_status(ctx: RunContextWrapper[dict[int, str]], number: int) -> str:
        """Look an order up."""
        return ctx.context[number]

    def instructions(ctx: RunContextWrapper[dict[int, str]], agent: RealtimeAgent[Any]) -> str:
        return f"{agent.name} knows {len(ctx.context)} order."

    agent = RealtimeAgent(name="Orders", instructions=instructions, tools=[order_status])
    async with hk.Call(agent, context={4711: "shipped"}) as call:
        reply = await call.send("Where is my order 4711?")
    assert reply.text == "It is on its way."
    assert [(tool.name, tool.output) for turn in call.turns for tool in turn.tools] == [("order_status", "shipped")]
    assert reply.instructions == "Orders knows 1 order."


async def test_a_tool_that_raises_is_reported_and_the_call_goes_on(connected: Endpoint) -> None:
    calls = [hk.ToolCall("order_status", f'{{"number": {number}}}') for number in (9, 8, 4711)]
    scripted(calls[0], "Nine failed.", calls[1], "Eight failed.", calls[2], "It is on its way.", "Goodbye.")

    @function_tool(failure_error_function=None)
    def order_status(number: int) -> str:
        """Look an order up."""
        return {4711: "shipped"}[number]

    agent = RealtimeAgent(name="Orders", instructions="Look orders up.", tools=[order_status])
    async with hk.Call(agent, reply_timeout=10) as call:
        for number in (9, 8):
            with pytest.raises(ToolRaised, match=rf"raised KeyError\({number}\).*the call goes on") as raised:
                await call.send(f"Where is order {number}?")
            assert isinstance(raised.value.__cause__, KeyError)
        assert (await call.send("Where is order 4711?")).text == "It is on its way."
        assert (await call.send("Thank you.")).text == "Goodbye."
    assert agent.tools == [order_status]
    outputs = [tool.output for turn in call.turns for tool in turn.tools]
    assert outputs == ["The tool failed.", "The tool failed.", "shipped"]


async def test_a_tool_that_answers_for_its_own_failure_is_no_error_of_the_call(connected: Endpoint) -> None:
    scripted(hk.ToolCall("order_status", "{}"), "I could not find it.")

    @function_tool
    def order_status() -> str:
        """Look an order up."""
        raise KeyError("no order")

    async with hk.Call(RealtimeAgent(name="Orders", tools=[order_status])) as call:
        assert (await call.send("Where is it?")).text == "I could not find it."
    (tool,) = [tool for turn in call.turns for tool in turn.tools]
    assert tool.output == "An error occurred while running the tool. Please try again."  # the SDK's own words


async def test_a_tool_that_takes_too_long_and_may_raise_is_reported(connected: Endpoint) -> None:
    scripted(hk.ToolCall("slow", "{}"), "That took too long.", "Goodbye.")

    @function_tool(timeout=0.05, timeout_behavior="raise_exception")
    async def slow() -> str:
        """Think."""
        await asyncio.sleep(30)
        return "never"

    async with hk.Call(RealtimeAgent(name="Slow", tools=[slow]), reply_timeout=10) as call:
        with pytest.raises(ToolRaised, match="slow"):
            await call.send("Think.")
        assert (await call.send("Thank you.")).text == "Goodbye."


def refunding(paid: list[str]) -> RealtimeAgent[Any]:
    @function_tool(needs_approval=True)
    def refund(order: str) -> str:
        """Refund an order."""
        paid.append(order)
        return f"refunded {order}"

    return RealtimeAgent(name="Refunds", instructions="You refund orders.", tools=[refund])


async def waiting(call: hk.Call) -> Any:
    async with asyncio.timeout(10):
        while not call.approvals.pending:  # noqa: ASYNC110  the SDK asks in a task of its own
            await asyncio.sleep(0.01)
    return call.approvals.pending[0]


@pytest.mark.parametrize("yes", [True, False])
async def test_a_tool_call_waits_for_a_person(yes: bool, connected: Endpoint) -> None:
    scripted(hk.ToolCall("refund", '{"order": "A-17"}'), "Done.")
    paid: list[str] = []
    async with hk.Call(refunding(paid)) as call:
        with call.approvals.watch(lambda: None):
            sending = asyncio.create_task(call.send("Refund order A-17."))
            asked = await waiting(call)
            assert (asked.name, json.loads(asked.arguments), paid) == ("refund", {"order": "A-17"}, [])
            if yes:
                call.approvals.approve(asked.id)
            else:
                call.approvals.reject(asked.id, "Only a manager may.")
            assert (await asyncio.wait_for(sending, 20)).text == "Done."
    assert paid == (["A-17"] if yes else [])
    outputs = [tool.output for turn in call.turns for tool in turn.tools]
    assert outputs == ["refunded A-17" if yes else "Only a manager may."]


async def test_where_nobody_is_there_a_tool_call_that_needs_a_yes_is_refused(connected: Endpoint) -> None:
    scripted(hk.ToolCall("refund", '{"order": "A-17"}'), "I may not.")
    paid: list[str] = []
    async with hk.Call(refunding(paid)) as call:
        assert (await call.send("Refund order A-17.")).text == "I may not."
    assert paid == []
    assert [tool.output for turn in call.turns for tool in turn.tools] == ["Nobody is there to approve the call."]


async def test_voice_model_and_settings_are_what_the_call_says(agent: RealtimeAgent[Any]) -> None:
    detection = {"type": "server_vad", "silence_duration_ms": 700}
    settings = {"turn_detection": detection, "max_output_tokens": 900}
    async with hk.Call(agent, model="openai:gpt-realtime-mini", voice="marin", model_settings=settings) as call:
        await call.send(FIRST)
    first = sessions(call)[0]
    assert first["audio"]["output"]["voice"] == "marin"
    assert (first["audio"]["input"]["turn_detection"], first["max_output_tokens"]) == (detection, 900)
    opened = next(frame for frame in call.log if frame.event == "open")
    assert (opened.data["model"], first["model"]) == ("gpt-realtime-mini",) * 2


async def test_text_only_replies(agent: RealtimeAgent[Any]) -> None:
    async with hk.Call(agent, model_settings={"output_modalities": ["text"]}) as call:
        assert (await call.send(FIRST)).text
    assert "response.output_audio.delta" not in {frame.event for frame in call.log}


async def test_an_output_guardrail_stops_a_reply_and_the_reply_after_it_is_heard(connected: Endpoint) -> None:
    """The SDK cancels the reply and tells the model why, as a user's message: the log shows both."""
    late = hk.Fault("response.output_audio_transcript.done", "delay", seconds=2)  # else it may be over by then
    scripted("The secret is out, " * 20, "Sorry, I may not say that.", faults=(late,))

    @output_guardrail
    def no_secrets(context: Any, agent: Any, output: Any) -> GuardrailFunctionOutput:
        return GuardrailFunctionOutput(None, tripwire_triggered="secret" in output)

    agent = RealtimeAgent(name="Support", output_guardrails=[no_secrets])
    async with hk.Call(agent, run_config={"guardrails_settings": {"debounce_text_length": 10}}) as call:
        reply = await call.send(FIRST)
    assert reply.text == "Sorry, I may not say that."
    told = [frame.data["item"] for frame in call.log.filter("conversation.item.create", dir="client")][-1]
    assert told["content"][0]["text"] == "guardrail triggered: no_secrets"


async def test_a_call_can_be_seeded_with_history(agent: RealtimeAgent[Any]) -> None:
    scripted("And today?")
    history = [
        ModelRequest(parts=[UserPromptPart("It broke last week.")]),
        ModelResponse(parts=[TextPart("We replaced the cable.")]),
    ]
    async with hk.Call(agent, message_history=history) as call:
        await call.send(FIRST)
    assert [(turn.text, turn.seeded) for turn in call.log.turns] == [
        ("It broke last week.", True),
        ("We replaced the cable.", True),
        (FIRST, False),
        ("And today?", False),
    ]


async def test_what_a_session_cannot_be_seeded_with_is_said(agent: RealtimeAgent[Any]) -> None:
    film = UserPromptPart(["It blinks like this:", VideoUrl("https://example.com/light.mp4")])
    history = [ModelRequest(parts=[SystemPromptPart("Be rude."), film])]
    with pytest.warns(LostInHandoff, match="VideoUrl"):
        call = await hk.Call(agent, message_history=history).start()
    await call.hang_up()
    (seeded,) = [frame.data["item"] for frame in call.log.filter("conversation.item.create", dir="client")]
    assert [part["text"] for part in seeded["content"]] == ["It blinks like this:"]
    assert "Be rude." not in str([frame.data for frame in call.log])


async def test_a_reply_that_is_interrupted_keeps_what_was_heard(agent: RealtimeAgent[Any]) -> None:
    slow = hk.Fault("response.output_audio.delta", "delay", nth=0, seconds=0.2)
    scripted("This is a long explanation. " * 20, "Thank you.", faults=(slow,))
    async with hk.Call(agent) as call:
        sending = asyncio.create_task(call.send(FIRST))
        async with asyncio.timeout(20):
            while sum(turn.audio_ms for turn in call.turns if turn.speaker == "agent") < 400:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        await call.interrupt(played_ms=300)
        reply = await asyncio.wait_for(sending, 20)
        assert (reply.interrupted, reply.heard_ms) == (True, 300)
        assert reply.text.startswith("This")
        assert (await call.send(SECOND)).text == "Thank you."
    assert [end.verdict for end in call.log.ends] == ["interrupted", "complete"]


async def test_a_second_turn_while_a_reply_is_made_is_refused(agent: RealtimeAgent[Any]) -> None:
    slow = hk.Fault("response.output_audio.delta", "delay", nth=1, seconds=3)
    scripted("One.", "Two.", faults=(slow,))
    async with hk.Call(agent) as call:
        sending = asyncio.create_task(call.send(FIRST))
        await anext(hk.log().follow("response.created", label=call.label))
        with pytest.raises(CallBusy):
            await call.send(SECOND)
        assert (await sending).text == "One."
        assert (await call.send(SECOND)).text == "Two."


FAILURES = {
    "a clean close in the middle, at which the SDK's iteration just ends": hk.Fault(
        "response.content_part.added", "close"
    ),
    "a dropped connection": hk.Fault("response.content_part.added", "abort"),
    "a failed response, of which the SDK tells nothing": hk.Fault(
        "response.done",
        "patch",
        data={
            "response": {
                "status": "failed",
                "status_details": {"type": "failed", "error": {"code": "server_error", "message": "It broke."}},
                "output": [],
            }
        },
    ),
    "a refused response, at which the SDK waits for ever": hk.Fault(
        "response.create", "patch", direction="client", data={"response": {"max_output_tokens": -1}}
    ),
}


@pytest.mark.parametrize("fault", FAILURES.values(), ids=list(FAILURES))
async def test_what_the_sdk_hides_is_seen_on_the_wire_and_named(fault: hk.Fault, agent: RealtimeAgent[Any]) -> None:
    hk.connect(faults=[fault])
    ticket = Agent("openai:gpt-5.2")
    call = await hk.Call(agent, reply_timeout=2).start()
    with pytest.raises((ReplyFailed, ReplyTimeout), match=r"Turn 1 got no complete answer|Nothing has arrived"):
        await call.send(FIRST)
    await call.hang_up()
    with pytest.raises(CallIncomplete, match=FIRST):
        await call.handoff(ticket)


async def test_settings_that_the_service_refuses_are_said_at_the_start(agent: RealtimeAgent[Any]) -> None:
    call = hk.Call(agent, model_settings={"max_output_tokens": -5})
    with pytest.raises(SessionRefused, match=r"did not open the session: .*max_output_tokens"):
        await call.start()
    assert call.wire.closed
    with pytest.raises(CallNotStarted):
        await call.send(FIRST)


async def test_a_session_that_ends_before_it_is_open_is_refused(agent: RealtimeAgent[Any]) -> None:
    hk.connect(faults=[hk.Fault("session.updated", "abort")])
    with pytest.raises(SessionRefused, match="the connection was closed"):
        await hk.Call(agent).start()


async def test_a_session_that_the_sdk_gives_up_is_no_call_that_was_hung_up(agent: RealtimeAgent[Any]) -> None:
    """At a frame that is no JSON the SDK closes as in peace, and raises where its events are read."""
    slow = hk.Fault("response.output_audio_transcript.delta", "delay", nth=0, seconds=0.5)
    hk.connect(faults=[hk.Fault("response.content_part.added", "text"), slow])
    call = await hk.Call(agent, reply_timeout=5).start()
    with pytest.raises(ReplyFailed, match="openai-agents gave the session up") as raised:
        await call.send(FIRST)
    assert isinstance(raised.value.__cause__, json.JSONDecodeError)
    with pytest.raises(CallOver, match="gave the session up"):
        await call.send(SECOND)
    await call.hang_up()
    with pytest.raises(CallIncomplete, match=FIRST):
        await call.handoff(Agent("openai:gpt-5.2"))


async def test_a_tools_guardrail_that_raises_ends_the_session_by_name(connected: Endpoint) -> None:
    scripted(hk.ToolCall("order_status", "{}"), "Never said.")

    @tool_input_guardrail
    def never(data: Any) -> ToolGuardrailFunctionOutput:
        return ToolGuardrailFunctionOutput.raise_exception()

    @function_tool(tool_input_guardrails=[never])
    def order_status() -> str:
        """Look an order up."""
        return "shipped"

    async with hk.Call(RealtimeAgent(name="Orders", tools=[order_status]), reply_timeout=5) as call:
        with pytest.raises(ReplyFailed, match="gave the session up") as raised:
            await call.send(FIRST)
    assert isinstance(raised.value.__cause__, ToolInputGuardrailTripwireTriggered)


async def test_a_handshake_that_is_refused_leaves_nothing_behind(agent: RealtimeAgent[Any]) -> None:
    stalled = hk.Fault("open", "status", status=429)
    hk.connect(faults=[stalled])
    with pytest.raises(InvalidStatus):
        await hk.Call(agent).start()
    call = hk.Call(agent)
    assert (await call.start()).phase == "on"
    await call.hang_up()


async def test_two_quick_messages_of_plain_code_are_one_reply_and_the_log_says_so(agent: RealtimeAgent[Any]) -> None:
    async with hk.Call(agent) as call:
        await call.session.send_message(FIRST)
        await call.session.send_message(SECOND)
        async with asyncio.timeout(10):
            while not call.log.ends:  # noqa: ASYNC110  plain code has no verb that waits for the end of a reply
                await asyncio.sleep(0.02)
    assert [(end.verdict, len(end.items), len(end.responses)) for end in call.log.ends] == [("complete", 2, 1)]
    (said,) = [str(mark) for mark in call.log.marks if mark.kind == "turn_complete"]
    assert said.startswith("Turn 1 is complete: the one reply to 2 messages took ")


async def test_a_finished_call_gives_a_ticket_of_the_other_sdk(agent: RealtimeAgent[Any]) -> None:
    async with hk.Call(agent) as call:
        await call.send(FIRST)
    result = await call.handoff(Agent("openai:gpt-5.2"), "Sum the call up.")
    assert "laptop" in str(result.output)


async def test_a_call_without_words_is_not_handed_off(agent: RealtimeAgent[Any]) -> None:
    async with hk.Call(agent, speak_first=True) as call:
        pass
    with pytest.raises(NothingSaid):
        await call.handoff(Agent("openai:gpt-5.2"))


@pytest.mark.parametrize(
    ("history", "found"),
    [
        ([{"role": "user", "content": "Hello."}], "builtins.list of builtins.dict"),
        ("My laptop does not charge.", "builtins.str"),
        (list, "builtins.type"),
    ],
)
@pytest.mark.parametrize("voice_agent", [RealtimeAgent(name="Front"), Agent()], ids=["openai", "pydantic"])
def test_a_history_that_is_none_is_refused(history: Any, found: str, voice_agent: Any, connected: Endpoint) -> None:
    message = rf"a list of pydantic-ai messages; found {found}\. Pass `call\.messages\(\)`.*`history\.from_items\(items"
    with pytest.raises(WrongValue, match=message):
        hk.Call(voice_agent, message_history=history)


def test_a_config_of_text_runs_is_refused(agent: RealtimeAgent[Any]) -> None:
    with pytest.raises(WrongValue, match=r"`run_config` of a call is a dict.*found agents\.run_config\.RunConfig\. A"):
        hk.Call(agent, run_config=RunConfig())


@pytest.mark.parametrize("option", ["deps", "toolsets", "nonsense"])
def test_an_option_of_the_other_sdk_is_refused(option: str, agent: RealtimeAgent[Any]) -> None:
    with pytest.raises(WrongOption, match=rf"RealtimeAgent takes `model`, `context`.*found `{option}`"):
        hk.Call(agent, **{option: None})  # type: ignore[arg-type]
    with pytest.raises(WrongOption, match=r"pydantic_ai\.Agent takes.*found `context`"):
        hk.Call(Agent(), context=1)


@pytest.mark.parametrize("model", ["google:gemini-live", object()])
def test_a_model_that_the_endpoint_does_not_speak_for_is_refused(model: object, agent: RealtimeAgent[Any]) -> None:
    with pytest.raises(WrongModel):
        hk.Call(agent, model=model)
