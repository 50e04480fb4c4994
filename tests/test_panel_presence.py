"""Who is there: pages that go, come back, stay away; a kernel that is blocked; and the sound between page and call."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator

import pytest
from conftest import ROOT
from panel_stand_in import Page, line, shown
from pydantic_ai import Agent

import handoffkit as hk
from handoffkit import audio
from handoffkit.connect import Endpoint
from handoffkit.widgets.panel import Panel
from handoffkit.widgets.presence import BYE, GONE, Presence, lag
from handoffkit.widgets.source import Source

__all__ = ["line"]

FIRST = "My laptop does not charge."
LAPTOP = ROOT / "audio" / "laptop-will-not-charge"
BLOCK = 1920

pytestmark = pytest.mark.usefixtures("line")


def new_call(*lines: str) -> hk.Call:
    hk.connect(model={"gpt-realtime": hk.ScriptedModel(list(lines))} if lines else None)
    return hk.Call(Agent(instructions="You are a phone support agent."))


def block(seconds: float) -> None:
    """Do what a cell does that does not await."""
    time.sleep(seconds)


def troubles(call: hk.Call) -> list[str]:
    return [frame.data["trouble"] for frame in call.log.filter("panel_trouble")]


class Clock:
    """A clock that stands until it is told to go on."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


# Presence, pure.


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def presence(clock: Clock) -> Presence:
    return Presence(clock)


def test_before_the_first_page_nobody_is_missed(presence: Presence, clock: Clock) -> None:
    clock.now += 10 * GONE
    assert not presence.nobody()
    assert presence.away() == 0


def test_a_page_that_beats_is_there_and_one_that_does_not_is_gone(presence: Presence, clock: Clock) -> None:
    presence.hello("a")
    for _ in range(100):
        clock.now += 2
        presence.beat("a", False)
    clock.now += GONE - 1
    assert not presence.nobody()
    clock.now += 2
    assert presence.nobody()
    assert presence.here == []
    presence.beat("a", False)
    assert presence.here == ["a"]


def test_a_good_bye_shortens_the_wait_and_a_reload_ends_it(presence: Presence, clock: Clock) -> None:
    presence.hello("a")
    presence.leave("a")
    clock.now += BYE - 1
    assert not presence.nobody()
    presence.hello("b")
    clock.now += BYE + 1
    assert not presence.nobody()
    presence.leave("b")
    presence.leave("c")
    assert presence.nobody()


def test_one_page_of_two_is_enough(presence: Presence, clock: Clock) -> None:
    presence.hello("a")
    presence.hello("b")
    presence.leave("a")
    clock.now += BYE + 1
    presence.beat("b", False)
    assert not presence.nobody()


def test_time_in_which_the_kernel_could_not_listen_does_not_count(presence: Presence, clock: Clock) -> None:
    presence.hello("a")
    clock.now += 5 * GONE
    presence.lagged(5 * GONE)
    assert not presence.nobody()


def test_the_page_with_the_microphone_plays_the_sound(presence: Presence) -> None:
    presence.hello("a")
    assert presence.owner == "a"
    presence.hello("b")
    assert presence.owner == "a"
    presence.beat("b", True)
    assert presence.owner == "b"
    presence.owns("a")
    assert presence.owner == "a"


def test_pages_that_make_up_names_are_kept_in_small_numbers(presence: Presence) -> None:
    for number in range(10_000):
        presence.hello(str(number))
    assert len(presence.here) <= 50


@pytest.mark.parametrize(("slept", "late"), [(1.0, 0), (1.5, 0), (2.9, 0), (3.0, 2.0), (11.0, 10.0)])
def test_a_loop_that_is_late_by_two_seconds_was_blocked(slept: float, late: float) -> None:
    assert lag(slept, 1.0) == late


async def test_what_waits_for_the_call_is_bounded() -> None:
    source = Source()
    for number in range(300):
        source.put(bytes([number % 256]) * BLOCK)
    source.end()
    source.put(b"late")
    blocks = [block async for block in source]
    assert len(blocks) == 250
    assert blocks[-1] == bytes([299 % 256]) * BLOCK
    assert source.dropped_ms == 50 * 40
    assert source.over


# Pages and calls.


@contextlib.asynccontextmanager
async def beating(page: Page) -> AsyncIterator[None]:
    """Have a page say that it is there while the block runs, however long a slow machine takes for that."""

    async def beat() -> None:
        while True:
            page.send("beat", mic=False)
            await asyncio.sleep(0.1)

    beats = asyncio.create_task(beat())
    try:
        yield
    finally:
        beats.cancel()


async def test_a_page_that_is_gone_hangs_up_the_call_that_it_drove(connected: Endpoint) -> None:
    call = new_call("Is the light on?")
    async with shown(Panel(call, gone=1.0, bye=0.5)) as page:
        async with beating(page):
            page.send("start")
            await page.phase("on")
            page.send("say", text=FIRST)
            await page.until(lambda: page.texts() == [FIRST, "Is the light on?"])
        await page.until(lambda: call.state == "hung up")
        await page.until(lambda: not page.panel._desk.feed.running)
        page.send("hello")
        await page.phase("ended")
        await page.trouble("The call was hung up: its page was gone")
        assert page.texts() == [FIRST, "Is the light on?"]
    assert call.log.filter("page_gone")


async def test_a_call_that_only_cells_drive_outlives_its_page(connected: Endpoint) -> None:
    call = new_call("Is the light on?")
    panel = Panel(call, gone=0.5)
    async with shown(panel) as page:
        async with beating(page):
            await call.start()
            await page.phase("on")
        await page.until(lambda: not panel._desk.feed.running)
        assert call.state == "open"
        assert (await call.send(FIRST)).text == "Is the light on?"
        page.send("hello")
        async with beating(page):
            await page.until(lambda: page.texts() == [FIRST, "Is the light on?"])


async def test_a_beat_after_a_long_absence_brings_the_panel_back(connected: Endpoint) -> None:
    panel = Panel(new_call("Is the light on?"), gone=0.5)
    async with shown(panel) as page:
        await page.until(lambda: not panel._desk.feed.running)
        async with beating(page):
            page.send("start")
            await page.phase("on")


async def test_a_blocked_kernel_is_said_and_is_no_absence(connected: Endpoint) -> None:
    call = new_call("Is the light on?")
    async with shown(Panel(call, gone=2.0)) as page:
        async with beating(page):
            page.send("start")
            await page.phase("on")
        block(3.5)
        await page.trouble("The kernel was busy for")
        assert call.state == "open"
        page.send("beat", mic=False)
        page.send("say", text=FIRST)
        await page.until(lambda: len(page.texts()) == 2)
        (mark,) = call.log.filter("kernel_blocked")
        assert mark.data["seconds"] >= 2


# Sound.


async def speak(page: Page, pcm: bytes, stream: str = "s1", first: int = 0, *, pace: float = 0.04) -> int:
    """Send sound as the page's microphone does; return the number of the next block."""
    blocks = [pcm[at : at + BLOCK].ljust(BLOCK, b"\0") for at in range(0, len(pcm), BLOCK)]
    for number, block in enumerate(blocks, first):
        page.send("a", [block], s=stream, q=number, n=BLOCK // 2)
        await asyncio.sleep(pace)
    return first + len(blocks)


@pytest.fixture
async def hearing(connected: Endpoint, speech: None) -> hk.Call:
    """A call on an endpoint that hears and speaks."""
    hk.connect(model={"gpt-realtime": hk.ScriptedModel(["Is the light on?", "Thank you. Good bye."])})
    call = hk.Call(
        Agent(instructions="You are a phone support agent."),
        model_settings={"turn_detection": {"silence_duration_ms": 700}},
    )
    await call._spoken.check()  # the models are loaded
    return call


async def test_a_held_key_makes_one_turn_of_what_is_said_meanwhile(hearing: hk.Call) -> None:
    pcm = audio.load(LAPTOP / "turn-1.wav").pcm
    async with shown(Panel(hearing)) as page:
        assert page.state["controls"]["microphone"] == "page"
        page.send("start")
        page.send("mic", s="s1", rate=48000, name="default", label="Headset")
        await page.phase("on")
        after = await speak(page, bytes(20 * BLOCK))  # nobody holds the key
        page.send("talk", down=True)
        await page.until(lambda: page.state["controls"]["talking"])
        after = await speak(page, pcm, first=after)
        page.send("talk", down=False)
        await page.until(lambda: "Is the light on?" in page.texts(), 60)
        await page.until(lambda: not page.state["controls"]["talking"])
        rows = list(page.rows.values())
        assert "laptop" in rows[0]["text"].lower()
        assert [row["who"] for row in rows] == ["c", "a1"]
        sound = await page.until(lambda: page.of("s"))
        assert sound[0]["g"] == 0
        page.send("clip", k=rows[0]["k"])
        (answer,) = await page.until(lambda: page.of("clip"))
        assert abs(answer["ms"] - len(pcm) / 48) <= 200
        assert page.buffers[page.messages.index(answer)]


async def test_hands_free_hears_turns_by_their_pauses_until_it_is_switched_off(hearing: hk.Call) -> None:
    pcm = audio.load(LAPTOP / "turn-1.wav").pcm + bytes(30 * BLOCK)
    async with shown(Panel(hearing)) as page:
        page.send("start")
        page.send("hands_free", on=True)
        page.send("mic", s="s1", rate=48000, name="default", label="Headset")
        await page.phase("on")
        await speak(page, pcm)
        await page.until(lambda: "Is the light on?" in page.texts(), 60)
        page.send("hands_free", on=False)
        await page.until(lambda: not page.panel._desk.ear.listening)
        assert page.state["phase"] == "on"
        assert page.state["error"] == {}


async def test_who_mutes_the_microphone_has_finished_speaking(hearing: hk.Call) -> None:
    """A muted page sends nothing, and turn detection waits for silence."""
    async with shown(Panel(hearing)) as page:
        page.send("start")
        page.send("hands_free", on=True)
        page.send("mic", s="s1", rate=48000, name="default", label="Headset")
        await page.phase("on")
        await speak(page, audio.load(LAPTOP / "turn-1.wav").pcm.rstrip(b"\0"))
        page.send("mute", on=True)
        await page.until(lambda: "Is the light on?" in page.texts(), 60)
        assert [row["who"] for row in page.rows.values()] == ["c", "a1"]


async def test_a_cell_listens_to_the_page_s_microphone_while_it_is_open(hearing: hk.Call) -> None:
    pcm = audio.load(LAPTOP / "turn-2.wav").pcm
    async with shown(hearing.panel()) as page:
        page.send("start")
        await page.phase("on")
        with pytest.raises(hk.errors.PageMicrophoneOff, match="Start microphone"):
            await hearing.listen(source="page")
        page.send("mic", s="s1", rate=48000, name="default", label="Headset")
        await page.until(lambda: page.panel.hears)
        listening = asyncio.create_task(hearing.listen(seconds=6))
        await page.until(lambda: page.panel._desk.ear._source)
        after = await speak(page, pcm + bytes(20 * BLOCK))
        (caller, agent) = await asyncio.wait_for(listening, 60)
        assert (caller.speaker, agent.text) == ("caller", "Is the light on?")
        assert "outlet" in caller.text.lower()
        await speak(page, pcm, first=after, pace=0)
        await page.until(lambda: page.panel._desk.ear._source is None)
        assert len(hearing.turns) == 2, "what is said when no cell listens goes nowhere"


async def test_where_no_page_shows_the_panel_a_recording_is_listened_to_all_the_same(hearing: hk.Call) -> None:
    panel = hearing.panel()
    async with hearing as call:
        assert not panel.hears
        with pytest.raises(hk.errors.NoPanel):
            await call.listen(source="page")
        await call.listen(source=LAPTOP / "turn-2.wav")
        assert [turn.speaker for turn in call.turns] == ["caller", "agent"]


async def test_a_key_that_is_held_for_nothing_makes_no_turn(hearing: hk.Call) -> None:
    async with shown(Panel(hearing)) as page:
        page.send("start")
        await page.phase("on")
        for _ in range(3):
            page.send("talk", down=True)
            page.send("talk", down=False)
        await page.until(lambda: not page.panel._desk.ear.listening)
        page.send("say", text=FIRST)
        await page.until(lambda: page.texts() == [FIRST, "Is the light on?"])


async def test_a_muted_microphone_sends_nothing(hearing: hk.Call) -> None:
    async with shown(Panel(hearing)) as page:
        page.send("start")
        page.send("mic", s="s1", rate=48000, name="default", label="Headset")
        await page.phase("on")
        page.send("mute", on=True)
        page.send("talk", down=True)
        await page.trouble("The microphone is muted.")
        page.send("mute", on=False)
        page.send("microphone", id="none")
        page.send("talk", down=True)
        await page.trouble("No microphone is on.")
        assert not page.panel._desk.ear.listening


async def test_speaking_where_nothing_hears_says_what_to_do(connected: Endpoint) -> None:
    call = new_call("Is the light on?")
    panel = Panel(call)
    assert panel.facts["hears"]["ok"] is False
    assert "hk.connect(speech=True)" in panel.facts["hears"]["words"]
    async with shown(panel) as page:
        page.send("start")
        await page.phase("on")
        page.send("microphone", id="page")
        page.send("talk", down=True)
        found = await page.trouble("This call cannot hear.")
        assert "typed turns work" in found["advice"]
        page.send("say", text=FIRST)
        await page.until(lambda: len(page.texts()) == 2)


async def test_a_reload_stops_the_microphone_and_says_so(connected: Endpoint) -> None:
    call = new_call("Is the light on?")
    async with shown(Panel(call)) as page:
        page.send("start")
        await page.phase("on")
        page.send("microphone", id="page")
        page.send("mic", s="s1", rate=48000, name="default", label="Headset")
        await speak(page, bytes(5 * BLOCK))
        await page.trouble("The microphone's sound no longer reaches the kernel.")
        page.send("mic", s="s2", rate=48000, name="default", label="Headset")
        await page.until(lambda: page.state["error"] == {})
        assert call.state == "open"


async def test_no_sound_card_is_said_and_the_call_goes_on(connected: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    call = new_call("Is the light on?")
    async with shown(Panel(call)) as page:
        page.send("start")
        await page.phase("on")
        page.send("microphone", id="card:4711")
        await page.until(lambda: page.state["error"])
        assert page.state["controls"]["microphone"] == "none"
        page.send("say", text=FIRST)
        await page.until(lambda: len(page.texts()) == 2)
    assert troubles(call)[0] == "verb"
