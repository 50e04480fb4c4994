"""What a page asks for becomes verbs of the call: typed turns, interruptions, handoffs, approvals, and nonsense."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any, Literal

import agents
import pytest
from panel_stand_in import Page, line, quiet, shown
from pydantic import BaseModel
from pydantic_ai import Agent
from voice_agents import sdk, voice_agent

import handoffkit as hk
from handoffkit.connect import Endpoint
from handoffkit.widgets.panel import Panel
from handoffkit.widgets.requests import SOUND, TEXT, read
from handoffkit.widgets.strip import Strip
from handoffkit.widgets.troubles import TROUBLES, Trouble, of_error

__all__ = ["line", "quiet", "sdk"]

FIRST = "My laptop does not charge."
LONG = "Let me explain that in some detail, since it matters."

pytestmark = pytest.mark.usefixtures("line", "sdk")


class Ticket(BaseModel):
    """What the tests ask for."""

    summary: str
    priority: Literal["low", "high"]


def new_call(*lines: Any, faults: tuple[hk.Fault, ...] = (), **options: Any) -> hk.Call:
    model = {"gpt-realtime": hk.ScriptedModel(list(lines))} if lines else None
    hk.connect(model=model, faults=faults)
    return hk.Call(voice_agent(), **options)


def troubles(call: hk.Call) -> list[str]:
    """Return the kinds of the troubles that the log has."""
    return [frame.data["trouble"] for frame in call.log.filter("panel_trouble")]


async def logged(page: Page, call: hk.Call, kind: str) -> None:
    await page.until(lambda: kind in troubles(call))


async def test_starting_and_hanging_up_twice_is_harmless(connected: Endpoint) -> None:
    call = new_call("Is the light on?")
    async with shown(Panel(call)) as page:
        for _ in range(3):
            page.send("start")
        await page.phase("on")
        page.send("start")
        for _ in range(3):
            page.send("hangup")
        await page.phase("ended")
        page.send("start")
        page.send("hangup")
        page.send("say", text=FIRST)
        await page.trouble("This call is over")
    assert len(call.log.filter("open")) == len(call.log.filter("close")) == 1


async def test_typing_while_the_agent_speaks_interrupts_it(connected: Endpoint) -> None:
    slow = hk.Fault("response.output_audio.done", "delay", seconds=3)
    call = new_call(LONG, "Good.", faults=(slow,))
    async with shown(Panel(call)) as page:
        page.send("start")
        await page.phase("on")
        page.send("say", text=FIRST)
        await page.until(lambda: len(page.texts()) == 2 and page.texts()[1])
        page.send("say", text="Wait, it does charge.")
        await page.until(lambda: page.texts()[2:] == ["Wait, it does charge.", "Good."])
        rows = list(page.rows.values())
        assert rows[1]["interrupted"]
        assert page.state["error"] == {}


async def test_typing_interrupts_what_a_cell_waits_for(connected: Endpoint) -> None:
    slow = hk.Fault("response.output_audio.done", "delay", seconds=3)
    call = new_call(LONG, "Good.", faults=(slow,))
    async with shown(Panel(call)) as page:
        await call.start()
        cell = asyncio.create_task(call.send(FIRST))
        await page.until(lambda: len(page.texts()) == 2 and page.texts()[1])
        page.send("say", text="Wait.")
        assert (await asyncio.wait_for(cell, 20)).interrupted
        await page.until(lambda: page.texts()[2:] == ["Wait.", "Good."])


async def test_stop_ends_the_reply_and_nothing_else(connected: Endpoint) -> None:
    slow = hk.Fault("response.output_audio.done", "delay", seconds=3)
    call = new_call(LONG, faults=(slow,))
    async with shown(Panel(call)) as page:
        page.send("start")
        await page.phase("on")
        page.send("interrupt")
        page.send("say", text=FIRST)
        await page.until(lambda: len(page.texts()) == 2 and page.texts()[1])
        page.send("interrupt")
        await page.until(lambda: [row for row in page.rows.values() if row["interrupted"]])
        assert page.state["phase"] == "on"


async def test_a_few_typed_turns_wait_and_more_are_refused(connected: Endpoint) -> None:
    call = new_call(*(f"Reply {n}." for n in range(20)))
    async with shown(Panel(call)) as page:
        page.send("start")
        await page.phase("on")
        for number in range(12):
            page.send("say", text=f"Turn {number}.")
        await page.trouble("Too much was asked at once")
        await page.until(lambda: "Turn 4." in page.texts())
        said = [text for text in page.texts() if text.startswith("Turn")]
        assert said == [f"Turn {n}." for n in range(len(said))]


async def test_a_reply_that_fails_is_said_and_the_call_goes_on(connected: Endpoint) -> None:
    call = new_call(
        "Is the light on?",
        "Good.",
        faults=(hk.Fault("response.done", "patch", data={"response": {"status": "failed"}}),),
    )
    async with shown(Panel(call)) as page:
        page.send("start")
        await page.phase("on")
        page.send("say", text=FIRST)
        shown_trouble = await page.trouble("got no complete answer")
        assert shown_trouble["tone"] == "warn"
        assert "send it again" in shown_trouble["advice"]
        page.send("say", text="Again.")
        await page.until(lambda: page.state["error"] == {} and page.texts()[-1])
    assert "verb" in troubles(call)


async def test_a_line_that_drops_is_said_in_red(connected: Endpoint) -> None:
    call = new_call("Is the light on?", faults=(hk.Fault("response.output_audio_transcript.done", "abort"),))
    async with shown(Panel(call)) as page:
        page.send("start")
        await page.phase("on")
        page.send("say", text=FIRST)
        await page.phase("ended")
        assert (await page.trouble("The call ended early"))["tone"] == "bad"
        assert page.state["error"]["action"] == "details"
    assert call.turns[0].text == FIRST


async def test_an_endpoint_that_is_gone_is_said(connected: Endpoint) -> None:
    import os
    import signal

    call = new_call("Is the light on?")
    async with shown(Panel(call)) as page:
        page.send("start")
        await page.phase("on")
        os.kill(call.endpoint.pid, signal.SIGKILL)
        page.send("say", text=FIRST)
        await page.phase("ended")
        await page.until(lambda: page.state["error"].get("tone") == "bad")
    hk.disconnect()


TAKERS: dict[str, Callable[[], Any]] = {
    "to pydantic-ai": lambda: Agent("openai:gpt-5.2", output_type=Ticket, name="triage"),
    "to openai-agents": lambda: agents.Agent("triage", model="gpt-5.2", output_type=Ticket),
}


@pytest.mark.parametrize("taker", TAKERS)
async def test_hand_off_makes_a_ticket_for_the_page_and_for_python(taker: str, connected: Endpoint) -> None:
    call = new_call("Is the light on?")
    panel = Panel(call, handoff_to=TAKERS[taker]())
    assert (panel.facts["hands_to"], panel.facts["result"]) == ("triage", "Ticket, 2 fields")
    async with shown(panel) as page:
        page.send("start")
        await page.phase("on")
        page.send("say", text=FIRST)
        await page.until(lambda: len(page.texts()) == 2)
        page.send("handoff")
        await page.until(lambda: page.state["ticket"])
        await page.until(lambda: not page.state["controls"]["handing_off"])
        assert page.state["phase"] == "on"  # handing off ends nothing
        made = page.state["ticket"]
        assert made["ok"]
        assert {each["name"] for each in made["fields"]} == {"summary", "priority"}
        assert isinstance(panel.ticket.output, Ticket)
        page.send("hangup")
        await page.phase("ended")
        page.send("handoff")
        await page.until(lambda: panel.ticket is not None and panel.ticket.label.endswith("handoff-2"))


async def test_the_ticket_of_a_handoff_in_a_cell_stands_in_the_panel(connected: Endpoint) -> None:
    call = hk.Call(Agent(instructions="Help."))
    panel = call.panel()
    async with shown(panel) as page:
        await call.start()
        await call.send("My laptop does not charge, and I have a presentation tomorrow.")
        await call.hang_up()
        result = await call.handoff(Agent("openai:gpt-5.2", output_type=Ticket))
        assert panel.ticket is result
        await page.until(lambda: page.state["ticket"].get("ok"))
        assert page.state["ticket"]["title"] == "Ticket"


async def test_a_handoff_that_fails_shows_every_attempt(connected: Endpoint) -> None:
    wrong = '{"summary": "A laptop", "priority": "urgent"}'
    hk.connect(model={"gpt-5.2": hk.ScriptedModel([], [wrong, wrong])})
    call = hk.Call(Agent(instructions="You are a phone support agent."))
    panel = Panel(call, handoff_to=Agent("openai:gpt-5.2", output_type=Ticket, retries=1))
    async with shown(panel) as page:
        page.send("start")
        await page.phase("on")
        page.send("say", text=FIRST)
        await page.until(lambda: len(page.texts()) == 2)
        page.send("handoff")
        made = await page.until(lambda: page.state["ticket"])
        assert (made["ok"], len(made["attempts"])) == (False, 2)
        assert "urgent" in made["attempts"][0]["words"]
        assert panel.ticket is None
        assert page.state["error"] == {}


async def test_handing_off_nothing_and_to_nobody_is_said_on_the_ticket(connected: Endpoint) -> None:
    call = new_call("Is the light on?")
    panel = Panel(call)
    async with shown(panel) as page:
        page.send("handoff")
        await page.until(lambda: "nobody to hand" in page.state["ticket"].get("error", ""))
        panel.hand_off_to(Agent("openai:gpt-5.2", output_type=Ticket))
        await page.until(lambda: page.state["facts"]["result"] == "Ticket, 2 fields")
        page.send("handoff")
        await page.until(lambda: "nothing to hand off" in page.state["ticket"].get("error", ""))


@pytest.mark.parametrize(("yes", "output"), [(True, "It is on its way."), (False, "Not today.")])
async def test_a_tool_waits_for_a_yes(connected: Endpoint, yes: bool, output: str) -> None:
    hk.connect(model=hk.ScriptedModel([hk.ToolCall("order_status", '{"number": 4711}'), "I see."]))
    agent = Agent(instructions="Look orders up.")

    @agent.tool_plain(requires_approval=True)
    def order_status(number: int) -> str:
        """Look an order up."""
        return "It is on its way."

    call = hk.Call(agent)
    async with shown(Panel(call)) as page:
        page.send("start")
        await page.phase("on")
        page.send("say", text="Where is my order?")
        (asked,) = await page.until(lambda: page.state["approvals"])
        assert (asked["name"], asked["arguments"]) == ("order_status", '{"number":4711}')
        page.send("approve", id="nothing", yes=True)
        await page.trouble("nothing")
        page.send("approve", id=asked["id"], yes=yes, words="Not today.")
        await page.until(lambda: page.texts()[-1] == "I see." and page.state["approvals"] == [])
        (row,) = [row for row in page.rows.values() if row["kind"] == "tool"]
        assert output in row["output"]


async def test_the_pages_own_troubles_are_said_and_stand_in_the_log(connected: Endpoint) -> None:
    call = new_call("Is the light on?")
    async with shown(Panel(call)) as page:
        page.send("start")
        await page.phase("on")
        for kind in ("insecure", "denied", "no-device", "in-use", "ended", "zeros", "no-worklet", "late"):
            page.send("trouble", kind=kind, detail="NotAllowedError")
            found = await page.trouble(TROUBLES[kind].fact)
            assert found["advice"] == TROUBLES[kind].advice
            await logged(page, call, kind)
        page.send("trouble", kind="sound-again", detail="")
        page.send("trouble", kind="nonsense", detail="")
        await page.until(lambda: "sound-again" in troubles(call))
        await page.until(lambda: page.state["error"].get("fact") == TROUBLES["late"].fact)
        assert "nonsense" not in troubles(call)


HOSTILE: list[Any] = [
    None,
    7,
    "start",
    [],
    {},
    {"t": None},
    {"t": ["start"]},
    {"t": "eval", "code": "1"},
    {"t": "say"},
    {"t": "say", "text": None},
    {"t": "say", "text": {"a": 1}},
    {"t": "say", "text": "   "},
    {"t": "beat", "page": 1, "mic": "yes"},
    {"t": "hello", "page": "x" * 1000},
    {"t": "talk", "down": 1},
    {"t": "raw", "q": -1},
    {"t": "raw", "q": 1e300},
    {"t": "raw", "q": True},
    {"t": "clip", "k": None},
    {"t": "microphone", "id": 3},
    {"t": "microphone", "id": "/etc/passwd.wav"},
    {"t": "microphone", "id": "card:1;"},
    {"t": "a", "s": "x", "q": 0, "n": 960},
    {"t": "a", "s": "x", "q": 2**70, "n": 0},
    {"t": "mic", "s": "x", "rate": float("nan")},
    {"t": "played", "g": -1, "n": 0},
    {"t": "approve", "id": [], "yes": True},
    {"t": "earlier", "before": 4},
]


@pytest.mark.parametrize("content", HOSTILE, ids=str)
def test_what_is_no_request_is_refused(content: Any) -> None:
    found = read(content, [])
    assert found is None or (found.name == "say" and not found["text"].strip())


@pytest.mark.parametrize("buffers", [[b"\0"], [b"\0" * (SOUND + 2)], [b"", b""], [None], ["text"], [b"\0" * 1918]])
def test_sound_of_another_size_than_it_says_is_refused(buffers: list[Any]) -> None:
    assert read({"t": "a", "s": "x", "q": 0, "n": 960}, buffers) is None


def test_sound_is_copied_since_the_kernel_uses_its_memory_again() -> None:
    memory = bytearray(b"\1" * 1920)
    request = read({"t": "a", "s": "x", "q": 0, "n": 960}, [memoryview(memory)])
    memory[:] = bytes(1920)
    assert request is not None
    assert request.sound == b"\1" * 1920


async def test_a_hostile_page_does_no_harm(connected: Endpoint) -> None:
    call = new_call("Is the light on?")
    async with shown(Panel(call)) as page:
        page.send("start")
        await page.phase("on")
        for content in HOSTILE:
            page.raw(content, [object()])
        page.raw({"t": "say", "text": "x" * 10_000_000})
        await page.trouble(f"A typed turn has {TEXT:,} characters at most")
        page.raw({"t": "microphone", "id": "card:99999"})
        await page.until(lambda: page.state["controls"]["microphone"] == "none")
        page.send("say", text=FIRST)
        await page.until(lambda: page.texts() == [FIRST, "Is the light on?"])


async def test_markup_passes_as_text(connected: Endpoint) -> None:
    evil = "</script><img src=x onerror=alert(1)>"
    call = new_call(evil)
    panel = Panel(call)
    async with shown(panel) as page:
        page.send("start")
        await page.phase("on")
        page.send("say", text=evil)
        await page.until(lambda: page.texts() == [evil, evil])
    assert evil not in panel._repr_mimebundle_()[0]["text/html"]


async def test_messages_may_come_on_any_thread(connected: Endpoint) -> None:
    call = new_call("Is the light on?")
    async with shown(Panel(call)) as page:
        for name, more in (("start", {}), ("say", {"text": FIRST})):
            thread = threading.Thread(target=page.send, args=(name,), kwargs=more)
            thread.start()
            await asyncio.to_thread(thread.join)
            await page.phase("on")
        await page.until(lambda: page.texts() == [FIRST, "Is the light on?"])


async def test_a_switch_that_is_pressed_a_thousand_times_sends_thirty_messages_a_second(connected: Endpoint) -> None:
    async with shown(Panel(new_call("Is the light on?"))) as page:
        before = len(page.line.sent)
        for number in range(1001):
            page.send("mute", on=number % 2 == 0)
        await page.until(lambda: page.state["controls"]["muted"])
        assert len(page.line.sent) - before <= 30


def test_the_strip_shows_the_most_severe_and_of_those_the_newest() -> None:
    strip = Strip()
    strip.put(Trouble("a", "warn", "A.", ""))
    strip.put(Trouble("b", "bad", "B.", ""))
    strip.put(Trouble("c", "warn", "C.", ""))
    assert strip.shown["fact"] == "B."
    strip.clear(["b"])
    assert strip.shown["fact"] == "C."
    before = strip.shown["id"]
    strip.put(Trouble("c", "warn", "C again.", ""))
    assert strip.shown["id"] == before
    strip.again(Trouble("a", "warn", "A.", ""))
    assert strip.shown["fact"] == "A."
    strip.clear()
    assert strip.shown == {}


@pytest.mark.parametrize(
    ("words", "fact", "advice"),
    [
        ("It failed. Do this.", "It failed.", "Do this."),
        ("After 45.5 s it failed. Do this. Then that.", "After 45.5 s it failed.", "Do this. Then that."),
        ("It failed:\n  one.", "It failed:", "one."),
        ("", "Something raised ValueError.", "Try again"),
    ],
)
def test_the_first_sentence_of_an_error_is_the_fact(words: str, fact: str, advice: str) -> None:
    found = of_error(ValueError(words))
    assert found.fact == fact
    assert found.advice.strip().startswith(advice)
