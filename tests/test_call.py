"""`Call` on pydantic-ai, through the real endpoint process and the SDK's own transport."""

import asyncio
import os
import signal
from typing import Any

import psutil
import pytest
from pydantic_ai import Agent, RunContext
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.realtime.openai import OpenAIRealtimeModel

import handoffkit as hk
from handoffkit.connect import Endpoint, current
from handoffkit.errors import (
    CallBusy,
    CallNotStarted,
    CallOver,
    EmptyTurn,
    EndpointGone,
    NotAVoiceAgent,
    NotConnected,
    ReplyFailed,
    ReplyTimeout,
    ToolRaised,
    WrongEndpoint,
    WrongModel,
)

FIRST, SECOND = "My laptop does not charge.", "Another outlet changed nothing."


@pytest.fixture
def agent(connected: Endpoint) -> Agent[None, str]:
    return Agent(instructions="You are a phone support agent.")


def said(call: hk.Call) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in call.log.turns]


def scripted(*lines: Any, faults: tuple[hk.Fault, ...] = ()) -> None:
    hk.connect(model=hk.ScriptedModel(list(lines)), faults=faults)


def test_a_reason_that_ends_in_a_full_stop_gets_no_second_one() -> None:
    assert "no complete answer: it failed. The turn is kept." in str(ReplyFailed(1, "it failed."))


async def test_two_typed_turns_and_their_replies(agent: Agent[None, str]) -> None:
    scripted("Is the light on?", "Thank you.")
    async with hk.Call(agent) as call:
        first = await call.send(FIRST)
        second = await call.send(SECOND)
    assert (first.speaker, first.text, second.text) == ("agent", "Is the light on?", "Thank you.")
    expected = [("caller", FIRST), ("agent", "Is the light on?"), ("caller", SECOND), ("agent", "Thank you.")]
    assert said(call) == expected
    assert {frame.label for frame in call.log} == {"call-1"}


async def test_across_cells_the_session_is_left_by_the_task_that_entered_it(agent: Agent[None, str]) -> None:
    call = hk.Call(agent)
    for step in (call.start(), call.start(), call.send(FIRST), call.hang_up(), call.hang_up()):
        await asyncio.create_task(step)  # a task of its own each, as cells are
    assert [speaker for speaker, _ in said(call)] == ["caller", "agent"]


async def test_the_agent_can_speak_first(agent: Agent[None, str]) -> None:
    scripted("Support, good morning.", "I see.")
    async with hk.Call(agent, speak_first=True) as call:
        assert said(call) == [("agent", "Support, good morning.")]
        await call.send(FIRST)
    assert said(call)[1:] == [("caller", FIRST), ("agent", "I see.")]


async def test_deps_and_tools_reach_the_agent(connected: Endpoint) -> None:
    scripted(hk.ToolCall("order_status", '{"number": 4711}'), "It is on its way.")
    agent = Agent(instructions="Look orders up.", deps_type=dict[int, str])

    @agent.tool
    def order_status(ctx: RunContext[dict[int, str]], number: int) -> str:
        """Look an order up."""
        return ctx.deps[number]

    async with hk.Call(agent, deps={4711: "shipped"}) as call:
        reply = await call.send("Where is my order 4711?")
    assert reply.text == "It is on its way."
    used = [tool for turn in call.log.turns for tool in turn.tools]
    assert [(tool.name, tool.output) for tool in used] == [("order_status", "shipped")]


async def test_a_tool_that_raises_is_reported_and_the_call_goes_on(connected: Endpoint) -> None:
    calls = [hk.ToolCall("order_status", f'{{"number": {number}}}') for number in (9, 8, 4711)]
    scripted(calls[0], "Nine failed.", calls[1], "Eight failed.", calls[2], "It is on its way.", "Goodbye.")
    agent = Agent(instructions="Look orders up.")

    @agent.tool_plain
    def order_status(number: int) -> str:
        """Look an order up."""
        return {4711: "shipped"}[number]

    async with hk.Call(agent, reply_timeout=10) as call:
        for number in (9, 8):
            with pytest.raises(ToolRaised, match=rf"raised KeyError\({number}\).*the call goes on") as raised:
                await call.send(f"Where is order {number}?")
            assert isinstance(raised.value.__cause__, KeyError)
        assert (await call.send("Where is order 4711?")).text == "It is on its way."
        assert (await call.send("Thank you.")).text == "Goodbye."
    replies = [text for speaker, text in said(call) if speaker == "agent"]
    assert replies == ["Nine failed.", "Eight failed.", "It is on its way.", "Goodbye."]


async def test_a_call_can_be_seeded_with_history(agent: Agent[None, str]) -> None:
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


async def test_model_settings_and_a_model_of_ones_own(connected: Endpoint) -> None:
    model = OpenAIRealtimeModel("gpt-realtime-mini", provider=OpenAIProvider(base_url=connected.base_url))
    async with hk.Call(Agent(), model=model, model_settings={"output_modality": "text"}) as call:
        await call.send(FIRST)
    events = {frame.event for frame in call.log}
    assert "response.output_text.done" in events
    assert "response.output_audio.delta" not in events
    opened = next(frame for frame in call.log if frame.event == "open")
    assert opened.data["model"] == "gpt-realtime-mini"


async def test_two_calls_at_once_are_kept_apart(agent: Agent[None, str]) -> None:
    async with hk.Call(agent) as one, hk.Call(agent) as other:
        await asyncio.gather(one.send(FIRST), other.send("I was charged twice."))
    assert said(one)[0] == ("caller", FIRST)
    assert said(other)[0] == ("caller", "I was charged twice.")
    assert len(said(one)) == len(said(other)) == 2


@pytest.mark.parametrize(
    "text", ["노트북이 충전되지 않아요.", "حاسوبي لا يشحن.", "🔌💻❌", "a\u0000b", "<img src=x onerror=alert(1)>"]
)
async def test_any_script_passes_unharmed(text: str, agent: Agent[None, str]) -> None:
    async with hk.Call(agent) as call:
        await call.send(text)
    assert said(call)[0] == ("caller", text)


async def test_a_turn_of_a_hundred_thousand_characters(agent: Agent[None, str]) -> None:
    text = "It does not charge. " * 5000
    async with hk.Call(agent) as call:
        await call.send(text)
        await call.send(SECOND)
    assert said(call)[0] == ("caller", text)
    assert len(said(call)) == 4


@pytest.mark.parametrize("text", ["", "   ", "\n\t", None])
async def test_an_empty_turn_is_refused_and_nothing_is_sent(text: Any, agent: Agent[None, str]) -> None:
    async with hk.Call(agent) as call:
        with pytest.raises(EmptyTurn, match="needs words"):
            await call.send(text)
        await call.send(FIRST)
    asked = ("conversation.item.create", "response.create")
    assert [frame.event for frame in call.log.filter(dir="client") if frame.event in asked] == list(asked)


async def test_a_second_turn_while_a_reply_runs_is_refused(agent: Agent[None, str]) -> None:
    scripted("One.", "Two.", faults=(hk.Fault("response.done", "delay", seconds=3),))
    async with hk.Call(agent) as call:
        first = asyncio.create_task(call.send(FIRST))
        await reached(call, "response.created")
        with pytest.raises(CallBusy, match="was not sent"):
            await call.send(SECOND)
        await first
        await call.send(SECOND)
    assert [text for speaker, text in said(call) if speaker == "caller"] == [FIRST, SECOND]


async def reached(call: hk.Call, event: str, times: int = 1) -> None:
    """Wait until *event* has passed so often in this call."""
    seen = 0
    async for _ in hk.log().follow(event, label=call.label, idle_timeout=10):
        seen += 1
        if seen == times:
            return
    pytest.fail(f"{event} passed {seen} times within 10 s")


async def test_an_interrupted_cell_stops_the_reply_and_the_next_turn_works(agent: Agent[None, str]) -> None:
    slow = hk.Fault("response.output_audio_transcript.delta", "delay", nth=2, seconds=3)
    scripted("This answer is long and slow.", "Go on.", faults=(slow,))
    async with hk.Call(agent) as call:
        cell = asyncio.create_task(call.send(FIRST))
        await reached(call, "response.output_audio_transcript.delta")
        cell.cancel()
        with pytest.raises(asyncio.CancelledError):
            await cell
        reply = await call.send(SECOND)
    assert reply.text == "Go on."
    replies = [turn for turn in call.log.turns if turn.speaker == "agent"]
    assert [turn.interrupted for turn in replies] == [True, False]


async def test_interrupt_keeps_what_was_heard(agent: Agent[None, str]) -> None:
    hold = hk.Fault("response.output_audio.done", "delay", seconds=3)
    scripted("First check the cable, then the outlet, then the battery.", "Yes?", faults=(hold,))
    async with hk.Call(agent) as call:
        turn = asyncio.create_task(call.send(FIRST))
        await reached(call, "response.output_audio.delta", times=8)
        await call.interrupt(played_ms=1000)
        cut = await turn
        await call.send(SECOND)
    assert cut.interrupted
    assert cut.heard_ms == 1000
    assert cut.generated.startswith(cut.text)
    assert 0 < len(cut.text) < len(cut.generated)
    assert [text for _, text in said(call)][-1] == "Yes?"


async def test_interrupting_before_any_sound_cuts_nothing_and_the_next_turn_works(agent: Agent[None, str]) -> None:
    hold = hk.Fault("response.output_item.added", "delay", seconds=3)
    scripted("Never heard.", "Yes?", faults=(hold,))
    async with hk.Call(agent) as call:
        turn = asyncio.create_task(call.send(FIRST))
        await reached(call, "response.created")
        await call.interrupt(played_ms=0)
        await turn
        await call.send(SECOND)
    assert not any(frame.event in ("conversation.item.truncate", "error") for frame in call.log)
    assert said(call)[-1] == ("agent", "Yes?")


async def test_truncation_never_goes_beyond_what_was_received(agent: Agent[None, str]) -> None:
    hold = hk.Fault("response.output_audio.done", "delay", seconds=3)
    scripted("Short.", "Yes?", faults=(hold,))
    async with hk.Call(agent) as call:
        turn = asyncio.create_task(call.send(FIRST))
        await reached(call, "response.output_audio.delta")
        await call.interrupt(played_ms=3_600_000)
        await turn
        await call.send(SECOND)
    assert "error" not in {frame.event for frame in call.log}
    assert said(call)[-1] == ("agent", "Yes?")


async def test_interrupting_nothing_does_nothing(agent: Agent[None, str]) -> None:
    async with hk.Call(agent) as call:
        await call.interrupt()
        await call.send(FIRST)
        await call.interrupt(played_ms=5)
    sent = [frame.event for frame in call.log.filter(channel="realtime", dir="client")]
    assert sent == ["open", "session.update", "conversation.item.create", "response.create", "close"]


FAILED = {
    "status": "failed",
    "status_details": {"type": "failed", "error": {"type": "server_error", "code": "boom", "message": "Out of order."}},
}
INCOMPLETE = {"status": "incomplete", "status_details": {"type": "incomplete", "reason": "max_output_tokens"}}
BROKEN = {
    "a dropped connection": hk.Fault("response.output_audio_transcript.done", "abort"),
    "a clean close in the middle": hk.Fault("response.output_audio_transcript.done", "close"),
    "a failed response": hk.Fault("response.done", "patch", data={"response": FAILED}),
    "a response that ended early": hk.Fault("response.done", "patch", data={"response": INCOMPLETE}),
}


@pytest.mark.parametrize("fault", BROKEN.values(), ids=BROKEN)
async def test_a_turn_without_a_complete_answer_says_so(fault: hk.Fault, agent: Agent[None, str]) -> None:
    scripted("Half an answer.", faults=(fault,))
    async with hk.Call(agent) as call:
        with pytest.raises(ReplyFailed, match="Turn 1 got no complete answer"):
            await call.send(FIRST)
    assert said(call)[0] == ("caller", FIRST)


async def test_a_reply_that_stops_coming_is_not_waited_for_for_ever(agent: Agent[None, str]) -> None:
    scripted("Never finished.", faults=(hk.Fault("response.done", "drop"),))
    async with hk.Call(agent, reply_timeout=0.3) as call:
        with pytest.raises(ReplyTimeout, match=r"Nothing has arrived for 0\.3 s"):
            await call.send(FIRST)


async def test_a_call_that_was_cut_off_says_so_at_the_next_turn(agent: Agent[None, str]) -> None:
    scripted("Bye.", "Never.", faults=(hk.Fault("conversation.item.added", "close", nth=3),))
    async with hk.Call(agent) as call:
        await call.send(FIRST)
        with pytest.raises(ReplyFailed):
            await call.send(SECOND)
        with pytest.raises(CallOver, match=r"closed the connection.*message_history"):
            await call.send(SECOND)


async def test_the_endpoint_is_killed_during_a_reply(agent: Agent[None, str]) -> None:
    scripted("Never.", faults=(hk.Fault("response.done", "delay", seconds=30),))
    pid = current().pid
    async with hk.Call(agent) as call:
        turn = asyncio.create_task(call.send(FIRST))
        await reached(call, "response.created")
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(EndpointGone, match="What was said is kept"):
            await turn
    psutil.wait_procs([p for p in psutil.process_iter() if p.pid == pid], timeout=5)
    assert said(call)[0] == ("caller", FIRST)
    history = call.messages()
    hk.connect()
    async with hk.Call(agent, message_history=history[:1]) as second:
        await second.send(SECOND)


async def test_a_call_that_has_not_started_or_is_over_says_so(agent: Agent[None, str]) -> None:
    call = hk.Call(agent)
    with pytest.raises(CallNotStarted, match=r"await call\.start\(\)"):
        await call.send(FIRST)
    await call.start()
    await call.hang_up()
    with pytest.raises(CallOver, match="hung up"):
        await call.send(FIRST)
    with pytest.raises(CallOver):
        await call.start()


async def test_hanging_up_while_the_agent_speaks_is_no_failure(agent: Agent[None, str]) -> None:
    scripted("A long goodbye.", faults=(hk.Fault("response.output_audio.done", "delay", seconds=5),))
    call = await hk.Call(agent).start()
    turn = asyncio.create_task(call.send(FIRST))
    await reached(call, "response.output_audio.delta")
    await call.hang_up()
    cut = await turn
    assert cut.interrupted
    assert cut.text.startswith("A long")


@pytest.mark.parametrize("thing", ["an agent", None, object()])
def test_something_that_is_no_agent_is_refused(thing: object, connected: Endpoint) -> None:
    with pytest.raises(NotAVoiceAgent, match=r"RealtimeAgent; found"):
        hk.Call(thing)


def test_a_model_that_points_elsewhere_is_refused(connected: Endpoint) -> None:
    elsewhere = OpenAIRealtimeModel("gpt-realtime", provider=OpenAIProvider(base_url="http://127.0.0.1:9/v1"))
    with pytest.raises(WrongEndpoint, match=r"http://127\.0\.0\.1:9/v1.*run `hk\.connect\(\)` first"):
        hk.Call(Agent(), model=elsewhere)
    with pytest.raises(WrongModel, match="google-gla"):
        hk.Call(Agent(), model="google-gla:gemini-live")


def test_a_call_before_connect_is_refused(connected: Endpoint) -> None:
    hk.disconnect()
    with pytest.raises(NotConnected):
        hk.Call(Agent())


async def test_an_exception_in_the_block_hangs_up_and_keeps_what_was_said(agent: Agent[None, str]) -> None:
    calls = []

    async def cell() -> None:
        async with hk.Call(agent) as call:
            calls.append(call)
            await call.send(FIRST)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await cell()
    (call,) = calls
    assert repr(call) == "<Call call-1, hung up>"
    assert said(call)[0] == ("caller", FIRST)


async def test_who_hangs_up_while_somebody_else_does_waits_for_the_end(agent: Agent[None, str]) -> None:
    """As a cell does whose panel is hanging up already."""
    call = await hk.Call(agent).start()
    await call.send(FIRST)
    first = asyncio.create_task(call.hang_up())
    await asyncio.sleep(0)  # it has begun
    await call.hang_up()
    assert call.log[-1].event == "close"
    await first


async def test_a_call_ends_though_whoever_hangs_up_is_interrupted(agent: Agent[None, str]) -> None:
    for turns in range(20):  # of the event loop, after which it is interrupted
        call = await hk.Call(agent).start()
        hanging_up = asyncio.create_task(call.hang_up())
        for _ in range(turns):
            await asyncio.sleep(0)
        hanging_up.cancel()
        await asyncio.gather(hanging_up, return_exceptions=True)
        await call.hang_up()
        assert call.log[-1].event == "close"


async def test_the_end_of_a_call_is_in_its_log_as_soon_as_it_is_hung_up(agent: Agent[None, str]) -> None:
    for _ in range(20):
        async with hk.Call(agent) as call:
            await call.send(FIRST)
        assert call.log[-1].event == "close"
