"""The pump from the log to the page: bounded in size, in rate and in what it costs; and what the page is told."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any

import pytest
from panel_stand_in import Line, line, shown
from pydantic_ai import Agent

import handoffkit as hk
from handoffkit.connect import Endpoint
from handoffkit.marks import Turn
from handoffkit.widgets import expiry
from handoffkit.widgets.echo import hears_itself
from handoffkit.widgets.outbox import BACKLOG, BATCH, RATE, ROWS, SOUND, Outbox
from handoffkit.widgets.panel import Panel

__all__ = ["line"]

FIRST = "My laptop does not charge."


class Clock:
    """A clock that stands until it is told to go on."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Post:
    """What an outbox has sent, and when."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.sent: list[tuple[float, dict[str, Any]]] = []
        self.box = Outbox(self._send, lambda values: self._send({"t": "state", **values}), self.clock)

    def _send(self, message: dict[str, Any], buffers: list[bytes] | None = None) -> None:
        self.sent.append((self.clock.now, message))

    def run(self, seconds: float) -> None:
        """Let time pass, with ten looks a second at what waits."""
        for _ in range(round(seconds * 10)):
            self.clock.now += 0.1
            self.box.post()

    def of(self, t: str) -> list[dict[str, Any]]:
        return [message for _, message in self.sent if message["t"] == t]


def busiest(times: Sequence[float]) -> int:
    """Return the most that came in any second."""
    return max((sum(start <= at < start + 1.0 for at in times[n:]) for n, start in enumerate(times)), default=0)


def event(number: int) -> dict[str, Any]:
    return {"q": number}


def row(key: str, text: str = "") -> dict[str, Any]:
    return {"k": key, "text": text}


# The outbox.


def test_ten_thousand_events_are_sent_in_batches_and_the_oldest_go_counted() -> None:
    post = Post()
    post.box.events([event(number) for number in range(10_000)])
    assert post.box.dropped == 10_000 - BACKLOG
    post.run(3)
    batches = [message["list"] for message in post.of("events")]
    assert max(map(len, batches)) <= BATCH
    assert [one["q"] for batch in batches for one in batch] == list(range(10_000 - BACKLOG, 10_000))


def test_never_more_than_thirty_messages_a_second_whatever_happens() -> None:
    post = Post()
    for number in range(600):
        post.box.events([event(number)] * 200)
        post.box.rows([row(str(number))])
        post.box.traits(phase=str(number))
        post.box.totals({"gap_ms": number})
        post.box.answer({"t": "raw", "q": number})
        if number % 5 == 0:
            post.box.sound({"t": "s"})
        post.clock.now += 0.02
        if number % 5 == 0:
            post.box.post()
    assert busiest([at for at, _ in post.sent]) <= RATE
    assert len(post.of("s")) == 120  # sound is never held back


def test_sound_finds_room_while_the_agent_speaks() -> None:
    post = Post()
    post.box.sound({"t": "s"})
    assert post.box.room() == RATE - SOUND - 1
    post.clock.now += 1.0
    assert post.box.room() == RATE


def test_of_a_row_that_changes_often_only_the_newest_words_are_sent() -> None:
    post = Post()
    for number in range(100):
        post.box.rows([row("a", str(number)), row(f"b{number}")])
    post.box.rows([], gone=["b0"], order=["b1", "a"])
    post.run(1)
    messages = post.of("rows")
    rows = [one for message in messages for one in message["rows"]]
    assert [one["text"] for one in rows if one["k"] == "a"] == ["99"]
    assert "b0" not in {one["k"] for one in rows}
    assert messages[0]["gone"] == ["b0"]
    assert messages[-1]["order"] == ["b1", "a"]
    assert max(len(message["rows"]) for message in messages) <= ROWS


def test_a_snapshot_makes_what_waits_superfluous() -> None:
    post = Post()
    post.box.rows([row("a")])
    post.box.events([event(1)])
    post.box.totals({})
    post.box.snapshot({"t": "snapshot"})
    post.run(1)
    assert [message["t"] for _, message in post.sent] == ["snapshot"]
    assert not post.box.waiting


def test_a_page_that_asks_too_much_gets_the_newest_answers() -> None:
    post = Post()
    for number in range(1000):
        post.box.answer({"t": "raw", "q": number})
    post.run(4)
    assert post.of("raw")[-1]["q"] == 999
    assert len(post.of("raw")) + post.box.refused == 1000


# The feed, on a real call.


@pytest.mark.usefixtures("line")
async def test_a_burst_on_the_wire_reaches_the_page_within_its_rate(connected: Endpoint) -> None:
    words = " ".join(f"word{number}" for number in range(4200))
    hk.connect(model=hk.ScriptedModel([words]))
    call = hk.Call(Agent(instructions="You are a phone support agent."))
    panel = Panel(call)
    async with shown(panel) as page:
        await call.start()
        await call.send(FIRST)
        await page.until(lambda: len(page.texts()) == 2 and not list(page.rows.values())[-1]["pending"], 60)
        total = len(call.log)
        assert total >= 10_000
        await page.until(lambda: page.events[-1]["q"] == call.log[-1].seq, 60)
        await page.until(lambda: page.state["counts"]["events"] == total, 60)
        seen = [one["q"] for one in page.events]
        assert seen == sorted(set(seen))
        assert len(seen) + page.state["counts"]["events_dropped"] == total
    times = [at for at, kind, _, _ in page.line.sent if kind == "comm_msg"]
    assert busiest(times) <= RATE
    assert max(len(message["list"]) for message in page.of("events")) <= BATCH
    assert max(len(message["rows"]) for message in page.of("rows")) <= ROWS


@pytest.mark.usefixtures("line")
async def test_nothing_is_sent_while_nothing_changes(connected: Endpoint) -> None:
    hk.connect(model=hk.ScriptedModel(["Is the light on?"]))
    call = hk.Call(Agent(instructions="You are a phone support agent."))
    async with shown(Panel(call)) as page:
        page.send("start")
        await page.phase("on")
        page.send("say", text=FIRST)
        await page.until(lambda: len(page.texts()) == 2 and not page.panel._desk.outbox.waiting)
        before = 0
        while before < len(page.line.sent):  # until what was on its way has come
            before = len(page.line.sent)
            await asyncio.sleep(1)
        cpu = time.process_time()
        await asyncio.sleep(2)
        assert len(page.line.sent) == before
        assert time.process_time() - cpu < 0.5


@pytest.mark.usefixtures("line")
async def test_a_beat_is_answered_so_that_a_page_knows_that_the_kernel_lives(connected: Endpoint) -> None:
    async with shown(Panel(hk.Call(Agent(instructions="You are a phone support agent.")))) as page:
        for _ in range(3):
            page.send("beat", mic=False)
        await page.until(lambda: page.of("beat"))


@pytest.mark.usefixtures("line")
async def test_the_feed_begins_with_the_first_page_only(connected: Endpoint) -> None:
    hk.connect(model=hk.ScriptedModel(["Is the light on?"]))
    call = hk.Call(Agent(instructions="You are a phone support agent."))
    panel = Panel(call)
    assert isinstance(panel.comm, Line)
    await call.start()
    await call.send(FIRST)
    assert not panel._desk.feed.running
    assert [kind for _, kind, _, _ in panel.comm.sent] == ["comm_open"]
    async with shown(panel) as page:
        assert page.texts() == [FIRST, "Is the light on?"]
        assert page.state["phase"] == "on"
    assert not panel._desk.feed.running


# What the panel says by itself.


def caller(text: str, start: float = 10.0, *, spoken: bool = True) -> Turn:
    return Turn("c1", "caller", text, start, start + 1, 1, "i", spoken=spoken)


def agent(text: str, start: float = 5.0, *, generated: str = "") -> Turn:
    return Turn("c1", "agent", text, start, start + 1, 1, "j", spoken=True, generated=generated or text)


@pytest.mark.parametrize(
    ("turns", "echo"),
    [
        ([agent("Have you tried another outlet?"), caller("have you tried another outlet")], True),
        ([agent("Have you tried another outlet?"), caller("tried another outlet, yes")], True),
        ([agent("Have you tried another outlet?"), caller("Yes, I have tried two of them")], False),
        ([agent("Have you tried another outlet?"), caller("another outlet")], False),
        ([agent("Have you tried another outlet?"), caller("have you tried another outlet", spoken=False)], False),
        ([agent("Have you", generated="Have you tried another outlet?"), caller("tried another outlet")], True),
        ([caller("Is the light on today?"), agent("Is the light on today?", 12.0)], False),
        ([agent("One two three."), agent("Four."), agent("Five."), caller("one two three")], False),
        ([agent("the the cat"), caller("the the the the")], False),
        ([], False),
    ],
)
def test_an_agent_that_hears_itself_is_known_by_its_words(turns: list[Turn], echo: bool) -> None:
    assert hears_itself(turns) is echo


@pytest.mark.parametrize(
    ("now", "expires", "fact"),
    [
        (0, None, ""),
        (100, 3600, ""),
        (3479, 3600, ""),
        (3481, 3600, "about 2 min"),
        (3555, 3600, "about 50 s"),
        (3599, 3600, "about 10 s"),
        (10, 30, ""),
        (28, 30, "about 10 s"),
        (31, 30, "about 10 s"),
    ],
)
def test_the_end_of_a_session_is_said_before(now: float, expires: float | None, fact: str) -> None:
    found = expiry.warning(now, 0.0, expires)
    assert (fact in found.fact) if found and fact else (found is None and not fact)


@pytest.mark.parametrize(("ended", "expires", "said"), [(3600, 3600, True), (3597, 3600, True), (100, 3600, False)])
def test_the_end_of_a_session_is_said_after(ended: float, expires: float, said: bool) -> None:
    assert (expiry.verdict(ended, expires) is not None) is said


@pytest.mark.usefixtures("line")
async def test_a_session_that_ends_is_said_before_and_after(connected: Endpoint) -> None:
    seconds = 15  # the last tenth is warned of, and the panel looks at the clock once a second
    hk.connect(model=hk.ScriptedModel(["Is the light on?"]), session_seconds=seconds)
    call = hk.Call(Agent(instructions="You are a phone support agent."))
    async with shown(Panel(call)) as page:
        page.send("start")
        await page.phase("on")
        page.send("say", text=FIRST)
        await page.trouble("The service ends this call in about")
        await page.phase("ended")
        found = await page.trouble("The service ended the call, since its time was over.")
        assert found["tone"] == "bad"
        assert len(page.texts()) == 2
    said = [frame.data["words"] for frame in call.log.filter("panel_trouble")]
    assert len(said) == 2


@pytest.mark.usefixtures("line")
async def test_what_is_over_when_it_is_said_goes_again(connected: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("handoffkit.widgets.desk._PASSES", 0.3)
    async with shown(Panel(hk.Call(Agent(instructions="You are a phone support agent.")))) as page:
        page.send("trouble", kind="late", detail="")
        page.send("trouble", kind="denied", detail="")
        await page.trouble("The browser was not allowed")
        page.send("trouble", kind="late", detail="")
        await page.trouble("allowed only after it was no longer wanted")
        await page.trouble("The browser was not allowed")
