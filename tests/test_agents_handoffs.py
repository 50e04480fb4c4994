"""Live handoffs of a `Call` on openai-agents: who greets, that nobody waits in silence, that no round is endless."""

import asyncio
import random
from typing import Any, Literal

import nbformat
import pytest
from agents import RunContextWrapper, function_tool
from agents.realtime import RealtimeAgent, realtime_handoff
from conftest import ROOT

import handoffkit as hk
from handoffkit.connect import Endpoint
from handoffkit.endpoint.speech.stt import Recogniser
from handoffkit.errors import BadGreeting, BadLimit, GreetingForNobody, HandoffLimit, ReplyFailed

ASKS = "I was charged twice."
GREETING = "Billing desk. What is your invoice number?"
TO_BILLING = hk.ToolCall("transfer_to_billing", "{}")


def desks(*more: RealtimeAgent[Any]) -> RealtimeAgent[Any]:
    """Return a front desk that can hand over to billing, and to whoever else is given."""
    billing = RealtimeAgent(name="Billing", instructions="You are billing.")
    return RealtimeAgent(name="Front", instructions="You are the front desk.", handoffs=[billing, *more])


def scripted(*lines: Any, faults: tuple[hk.Fault, ...] = ()) -> None:
    hk.connect(model=hk.ScriptedModel(list(lines)), faults=faults)


def marks(call: hk.Call, kind: str) -> list[str]:
    return [str(mark) for mark in call.log.marks if getattr(mark, "name", "") == kind or mark.kind == kind]


def asked_for(call: hk.Call) -> int:
    return len(call.log.filter("response.create", dir="client"))


async def test_the_new_agent_begins_with_its_greeting_under_its_own_instructions(connected: Endpoint) -> None:
    front = desks()
    async with hk.Call(front, greetings={"Billing": GREETING}) as call:
        reply = await call.send("Please transfer me to billing.")
    assert reply.text == GREETING
    assert reply.instructions.startswith("You are billing.\n\n")
    assert marks(call, "live_handoff") == ["The call was handed to Billing."]
    assert (asked_for(call), marks(call, "silence")) == (2, [])
    (billing,) = front.handoffs
    assert isinstance(billing, RealtimeAgent)
    assert (billing.instructions, front.handoffs) == ("You are billing.", [billing])


async def test_an_agent_that_has_greeted_in_time_is_not_asked_again(connected: Endpoint) -> None:
    """Also where the SDK tells of the handoff when the reply has begun already."""
    async with hk.Call(desks(), greetings={"Billing": GREETING}, silence_seconds=2) as call:
        await call.send("Please transfer me to billing.")
        await asyncio.sleep(2.5)
    assert (asked_for(call), marks(call, "silence")) == (2, [])


async def test_a_greeting_follows_instructions_that_are_made_anew_for_each_call(connected: Endpoint) -> None:
    async def instructions(ctx: RunContextWrapper[str], agent: RealtimeAgent[Any]) -> str:
        return f"{agent.name} speaks with {ctx.context}."

    billing = RealtimeAgent(name="Billing", instructions=instructions)
    front = RealtimeAgent(name="Front", handoffs=[realtime_handoff(billing)])
    async with hk.Call(front, context="Ann", greetings={"Billing": GREETING}) as call:
        reply = await call.send("Please transfer me to billing.")
    assert reply.text == GREETING
    assert reply.instructions.startswith("Billing speaks with Ann.\n\n")


async def test_the_agent_who_has_the_call_first_may_have_a_greeting_too(connected: Endpoint) -> None:
    async with hk.Call(desks(), speak_first=True, greetings={"Front": "Front desk, good morning."}) as call:
        assert call.turns[0].text == "Front desk, good morning."


async def test_voice_formats_and_turn_detection_survive(connected: Endpoint) -> None:
    scripted(TO_BILLING, "Billing, good morning.")
    detection = {"type": "server_vad", "silence_duration_ms": 700}
    settings: Any = {"audio": {"input": {"turn_detection": detection}, "output": {"speed": 1.2}}}
    async with hk.Call(desks(), voice="marin", model_settings=settings) as call:
        await call.send(ASKS)
    first, *_, last = [f.data["session"] for f in call.log.filter("session.update", dir="client")]
    assert last["instructions"] == "You are billing."
    assert last["audio"] == first["audio"]
    assert first["audio"]["output"] == {"voice": "marin", "speed": 1.2, "format": {"type": "audio/pcm", "rate": 24000}}
    answers = [f.data["session"]["audio"] for f in call.log.filter("session.updated")]
    assert answers[0] == answers[-1]


@pytest.mark.parametrize("times", [1, 2])
async def test_push_to_talk_survives(times: int, connected: Endpoint) -> None:
    scripted(TO_BILLING, "Billing, good morning.")
    async with hk.Call(desks()) as call:
        for on in (True, False)[:times]:
            await call.push_to_talk(on)
        before = call.wire.conversation and call.wire.conversation.detection
        await call.send(ASKS)
        assert call.wire.conversation is not None
        assert call.wire.conversation.detection == before
        assert (before is None) == (times == 1)


LOST = {
    "the SDK's request is lost": hk.Fault("response.create", "drop", nth=2, direction="client"),
    "the end of the last reply never comes, so the SDK waits": hk.Fault("response.done", "drop"),
}


@pytest.mark.parametrize("fault", LOST.values(), ids=list(LOST))
async def test_where_the_new_agent_is_silent_it_is_asked_once_more(fault: hk.Fault, connected: Endpoint) -> None:
    scripted(TO_BILLING, "Billing, good morning.", "Never said.", faults=(fault,))
    async with hk.Call(desks(), silence_seconds=0.5, reply_timeout=3) as call:
        reply = await call.send(ASKS)
    assert (reply.text, reply.instructions) == ("Billing, good morning.", "You are billing.")
    (said,) = marks(call, "silence")
    assert said.startswith("Nothing was heard for 0.5 s: Billing has taken over the call; a reply was asked for once")
    assert [turn.text for turn in call.turns if turn.speaker == "agent" and turn.text] == ["Billing, good morning."]


async def test_where_the_new_agents_reply_fails_it_is_asked_once_more_and_no_more(connected: Endpoint) -> None:
    scripted(TO_BILLING)  # there is no line for the new agent, which fails its reply, and the next one
    async with hk.Call(desks(), silence_seconds=0.5) as call:
        with pytest.raises(ReplyFailed, match="The script has 1 line"):
            await call.send(ASKS)
        await asyncio.sleep(2)
    assert asked_for(call) == 3
    (said,) = marks(call, "silence")
    assert said.endswith("a reply was asked for once more.")


async def test_a_new_agent_that_is_only_slow_is_not_asked_twice(connected: Endpoint) -> None:
    slow = hk.Fault("response.output_item.added", "delay", nth=2, seconds=4.0)
    scripted(TO_BILLING, "Billing, good morning.", "Never said.", faults=(slow,))
    async with hk.Call(desks(), silence_seconds=2) as call:
        assert (await call.send(ASKS)).text == "Billing, good morning."
    assert asked_for(call) == 2
    assert marks(call, "silence") == [
        "Nothing was heard for 2 s: Billing has taken over the call; its reply has begun and nothing of it has come."
    ]


async def test_a_refused_transfer_does_not_leave_the_caller_in_silence(connected: Endpoint) -> None:
    """The SDK answers the call of a tool that is not there, and asks for no reply."""
    scripted(hk.ToolCall("transfer_to_nobody", "{}"), "I cannot transfer you there.")
    async with hk.Call(desks(), silence_seconds=0.3) as call:
        assert (await call.send(ASKS)).text == "I cannot transfer you there."
    (said,) = marks(call, "silence")
    assert "the SDK refused what the agent asked for (Tool transfer_to_nobody not found)" in said


async def test_agents_that_hand_on_and_on_are_stopped_and_named(connected: Endpoint) -> None:
    front = desks()
    (billing,) = front.handoffs
    assert isinstance(billing, RealtimeAgent)
    billing.handoffs.append(front)
    lines = [TO_BILLING, hk.ToolCall("transfer_to_front", "{}")] * 2
    scripted(*lines, "I do not know either.", TO_BILLING, "Billing, once more.")
    async with hk.Call(front, max_handoffs=3, silence_seconds=1.5) as call:
        with pytest.warns(HandoffLimit, match=r"handed on 3 times \(Billing → Front → Billing\)"):
            reply = await call.send(ASKS)
        assert reply.text == "I do not know either."
        offered = [
            f.data["session"]["tools"] for f in call.log.filter("session.update") if "tools" in f.data["session"]
        ]
        assert [len(tools) for tools in offered] == [1, 1, 1, 0]
        assert (await call.send("Billing, please.")).text  # the next turn may be handed on again
    assert marks(call, "handoff_limit") == ["Handoff limit: names ['Billing', 'Front', 'Billing']."]


@pytest.mark.parametrize("side_by_side", [True, False])
async def test_of_two_handoffs_in_one_reply_the_first_counts(side_by_side: bool, connected: Endpoint) -> None:
    sales = RealtimeAgent(name="Sales", instructions="You are sales.")
    scripted([TO_BILLING, hk.ToolCall("transfer_to_sales", "{}")], "Billing, good morning.")
    async with hk.Call(desks(sales), run_config={"async_tool_calls": side_by_side}) as call:
        reply = await call.send(ASKS)
    assert (reply.text, reply.instructions) == ("Billing, good morning.", "You are billing.")
    assert marks(call, "handoff_ignored") == ["Handoff ignored: kept Billing."]
    assert asked_for(call) == 2
    outputs = [tool.output for turn in call.turns for tool in turn.tools]
    assert sorted(map(str, outputs)) == [
        "The call was handed over already: one transfer at a time.",
        '{"assistant": "Billing"}',
    ]
    assert marks(call, "live_handoff") == ["The call was handed to Billing."]


async def test_three_agents_and_back(connected: Endpoint) -> None:
    order = ["Front", "Billing", "Sales"]
    made = {name: RealtimeAgent(name=name, instructions=f"You are {name}.") for name in order}
    for name, to in zip(order, [*order[1:], order[0]], strict=True):
        made[name].handoffs.append(made[to])
    lines = [
        part for to in ["billing", "sales", "front"] for part in (hk.ToolCall(f"transfer_to_{to}", "{}"), f"{to}!")
    ]
    scripted(*lines)
    async with hk.Call(made["Front"]) as call:
        replies = [await call.send(text) for text in ("One.", "Two.", "Three.")]
    assert [(reply.text, reply.instructions) for reply in replies] == [
        ("billing!", "You are Billing."),
        ("sales!", "You are Sales."),
        ("front!", "You are Front."),
    ]
    assert [str(mark) for mark in call.log.marks if mark.kind == "live_handoff"] == [
        "The call was handed to Billing.",
        "The call was handed to Sales.",
        "The call was handed to Front.",
    ]


async def test_the_new_agent_fills_its_form_by_tool_during_the_call(connected: Endpoint) -> None:
    form: dict[str, str] = {}

    @function_tool
    def save_delivery(street: str, city: str, day: str) -> str:
        """Save where and when to deliver the order."""
        form.update(street=street, city=city, day=day)
        return "saved"

    delivery = RealtimeAgent(
        name="DeliveryForm",
        handoff_description="Takes the address and the day of a delivery.",
        instructions="Fill in the form.",
        tools=[save_delivery],
    )
    service = RealtimeAgent(name="Service", instructions="You are customer service.", handoffs=[delivery])
    first = "Delivery desk. What street should we deliver to?"
    async with hk.Call(service, greetings={"DeliveryForm": first}) as call:
        await call.send("Hello, my laptop was repaired.")
        assert (await call.send("I want to arrange the delivery, please.")).text == first
        for text in ("12 Main Street.", "Springfield.", "Friday."):
            await call.send(text)
    assert form == {"street": "12 Main Street", "city": "Springfield", "day": "Friday"}


@pytest.mark.usefixtures("speech")
async def test_a_spoken_turn_is_handed_on_and_the_new_agent_is_heard_and_hears(connected: Endpoint) -> None:
    """Other instructions come with the settings of the whole session: a voice still speaks, and turns are still cut."""
    lines = [TO_BILLING, GREETING, "Thank you, I have it."]
    hk.connect(model={"gpt-realtime": hk.ScriptedModel(lines)})
    laptop = ROOT / "audio" / "laptop-will-not-charge"
    patient = {"type": "server_vad", "silence_duration_ms": 700, "interrupt_response": True}
    async with hk.Call(desks(), model_settings={"turn_detection": patient}) as call:
        greeted = await call.send_audio(laptop / "turn-1.wav", realtime=False)
        answered = await call.send_audio(laptop / "turn-3.wav", realtime=False)
    assert (greeted.text, answered.text) == (GREETING, lines[-1])
    assert greeted.instructions == answered.instructions == "You are billing."
    heard = await asyncio.to_thread(Recogniser().words, call.sound(greeted).pcm)
    assert "invoice number" in heard.lower()  # as a recogniser hears it: a voice that says so, and no noise
    assert [turn.speaker for turn in call.turns if turn.text] == ["caller", "agent", "caller", "agent"]
    assert marks(call, "silence") == []


@pytest.mark.parametrize("words", ["", "  ", None, 7])
def test_a_greeting_without_words_is_refused(words: Any, connected: Endpoint) -> None:
    with pytest.raises(BadGreeting, match="for 'Billing'"):
        hk.Call(desks(), greetings={"Billing": words})


def test_a_greeting_for_an_agent_that_is_not_there_is_refused(connected: Endpoint) -> None:
    with pytest.raises(GreetingForNobody, match=r"'Bilking'.*it can reach Billing, Front"):
        hk.Call(desks(), greetings={"Bilking": GREETING})


@pytest.mark.parametrize("options", [{"max_handoffs": 0}, {"max_handoffs": "5"}, {"silence_seconds": 0}])
def test_a_limit_that_is_none_is_refused(options: dict[str, Any], connected: Endpoint) -> None:
    with pytest.raises(BadLimit, match=next(iter(options))):
        hk.Call(desks(), **options)


EVENTS = (
    "response.done",
    "response.created",
    "session.updated",
    "conversation.item.added",
    "response.output_item.done",
)
REQUESTS = ("session.update", "conversation.item.create", "response.create")


def any_timing(seed: int) -> tuple[hk.Fault, ...]:
    """Return delays of any length up to 40 ms for some events of both sides, drawn by *seed*."""
    chance = random.Random(seed)
    sides: list[tuple[str, Literal["server", "client"]]] = [(event, "server") for event in EVENTS]
    sides += [(event, "client") for event in REQUESTS]
    return tuple(
        hk.Fault(event, "delay", nth=chance.choice([0, 1, 2, 3]), direction=direction, seconds=chance.uniform(0, 0.04))
        for event, direction in sides
        if chance.random() < 0.7
    )


@pytest.fixture(scope="module")
def lesson() -> dict[str, Any]:
    """Return what the first cells of the notebook about live handoffs define: its agents and their greetings."""
    notebook: Any = nbformat.read(ROOT / "notebooks" / "10_live_handoff.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    cells = {cell.id: cell for cell in notebook.cells}
    defined: dict[str, Any] = {}
    for name in ("connect", "tool", "agents"):
        exec(cells[name].source, defined)
    exec(cells["call"].source.splitlines()[0], defined)
    return defined


@pytest.mark.parametrize("block", range(10))
async def test_in_any_timing_the_caller_hears_the_new_agents_own_first_question(
    block: int, lesson: dict[str, Any], connected: Endpoint
) -> None:
    """Two hundred runs, twenty a test: what is heard is the question, once, and under the new agent's instructions."""
    service, greetings = lesson["service"], lesson["GREETINGS"]
    (delivery,) = service.handoffs
    for seed in range(20 * block, 20 * block + 20):
        hk.connect(faults=any_timing(seed))
        async with hk.Call(service, greetings=greetings) as call:
            reply = await call.send("Please arrange the delivery.")
            question = greetings[delivery.name]
            assert (reply.text, reply.heard_ms) == (question, None), f"seed {seed}: {call.transcript}"
            assert reply.instructions.startswith(delivery.instructions), f"seed {seed}"
            answered = await call.send("12 Main Street.")
        assert answered.text, f"seed {seed}"
        heard = [turn.text for turn in call.turns if turn.speaker == "agent" and turn.text]
        assert heard == [question, answered.text], f"seed {seed}"
        assert marks(call, "silence") == [], f"seed {seed}"
