"""`Panel`: traits, messages, and what a saved notebook keeps of it, with a stand-in for the page."""

import asyncio
import json
from typing import Any

import pytest
from panel_stand_in import Line, Page, line, quiet, shown
from pydantic_ai import Agent
from voice_agents import sdk, voice_agent

import handoffkit as hk
from handoffkit.connect import Endpoint
from handoffkit.widgets.panel import Panel
from handoffkit.widgets.presence import page_sound

__all__ = ["line", "quiet", "sdk"]

FIRST = "My laptop does not charge."

pytestmark = pytest.mark.usefixtures("line", "sdk")


def new_call(*lines: Any, **options: Any) -> hk.Call:
    hk.connect(model=hk.ScriptedModel(list(lines)) if lines else None)
    return hk.Call(voice_agent(), **options)


async def test_a_call_from_start_to_hang_up(connected: Endpoint) -> None:
    call = new_call("Is the light on?")
    async with shown(Panel(call)) as page:
        page.send("start")
        await page.phase("on")
        page.send("say", text=FIRST)
        await page.until(lambda: page.texts() == [FIRST, "Is the light on?"])
        page.send("hangup")
        await page.phase("ended")
        await page.until(lambda: page.state["clock"]["ended"])
        assert page.state["error"] == {}
        assert page.state["clock"]["began"] < page.state["clock"]["ended"]
    assert [turn.text for turn in call.turns] == [FIRST, "Is the light on?"]


async def test_a_cell_and_the_panel_are_two_hands_on_one_call(connected: Endpoint) -> None:
    call = new_call("Is the light on?", "Thank you.")
    async with shown(Panel(call)) as page:
        await call.start()
        await page.phase("on")
        await call.send(FIRST)
        page.send("say", text="It is.")
        await page.until(lambda: page.texts() == [FIRST, "Is the light on?", "It is.", "Thank you."])
        await call.hang_up()
        await page.phase("ended")


async def test_a_page_that_is_loaded_again_gets_the_whole_picture(connected: Endpoint) -> None:
    async with shown(Panel(new_call("Is the light on?"))) as page:
        page.send("start")
        await page.phase("on")
        page.send("say", text=FIRST)
        await page.until(lambda: page.texts() == [FIRST, "Is the light on?"])
        page.send("bye")
        again = Page(page.panel, "page-2")
        again.send("hello")
        await again.until(lambda: [one for one in again.of("snapshot") if one["for"] == "page-2"])
        assert again.texts() == [FIRST, "Is the light on?"]
        assert again.state["phase"] == "on"
        assert [event["q"] for event in again.events] == sorted(event["q"] for event in again.events)


async def test_two_pages_see_the_same_and_one_of_them_plays(connected: Endpoint) -> None:
    async with shown(Panel(new_call("Is the light on?"))) as page:
        other = Page(page.panel, "page-2")
        other.send("hello")
        other.send("start")
        await page.phase("on")
        await page.until(lambda: page.state["controls"]["owner"] == "page-2")
        page.send("beat", mic=True)
        await page.until(lambda: page.state["controls"]["owner"] == "page-1")
        page.send("say", text=FIRST)
        await other.until(lambda: len(other.texts()) == 2)
        await page.until(lambda: page.texts() == other.texts())


async def test_a_new_call_has_the_agent_and_the_options_of_the_one_before(connected: Endpoint) -> None:
    call = new_call("Good morning.", speak_first=True, reply_timeout=7)
    panel = Panel(call)
    async with shown(panel) as page:
        page.send("start")
        await page.until(lambda: page.texts() == ["Good morning."])
        page.send("hangup")
        await page.phase("ended")
        page.send("new")
        await page.until(lambda: page.state["phase"] == "ready" and panel.call is not call)
        fresh = panel.call
        assert fresh is not None
        assert (fresh.agent, fresh.speak_first, fresh.reply_timeout) == (call.agent, True, 7)
        await page.until(lambda: page.rows == {})
        page.send("start")
        await page.until(lambda: page.texts() == ["Good morning."])
        assert {turn.label for turn in fresh.turns} == {"call-2"}
    assert [turn.label for turn in call.turns] == ["call-1"]


async def test_a_new_call_starts_also_while_the_start_of_the_one_before_is_under_way(connected: Endpoint) -> None:
    """Whoever hangs up during the greeting need not wait until an SDK has seen that it ends."""
    slow = [hk.Fault(event, "delay", nth=0, seconds=0.7) for event in ("session.updated", "response.output_item.added")]
    hk.connect(model=hk.ScriptedModel(["Good morning."]), faults=slow)
    panel = Panel(hk.Call(voice_agent(), speak_first=True))
    async with shown(panel) as page:
        page.send("start")
        await page.phase("on")
        for ask, then in (("hangup", "ended"), ("new", "ready"), ("start", "on")):
            page.send(ask)
            await page.phase(then)
        await page.until(lambda: page.texts() == ["Good morning."])


async def test_a_cell_that_is_run_again_shows_the_same_call(connected: Endpoint) -> None:
    call = new_call("Is the light on?")
    panel = call.panel()
    assert call.panel() is panel
    async with shown(panel) as page:
        page.send("start")
        await page.phase("on")
        page.send("hangup")
        await page.phase("ended")
        page.send("new")
        await page.until(lambda: panel.call is not call)
    assert panel.call is not None
    assert panel.call.panel() is panel
    assert call.panel() is panel


async def test_hk_panel_watches_plain_sdk_code(connected: Endpoint) -> None:
    agent = Agent("openai:gpt-5.2")
    panel = hk.panel()
    assert panel.facts["watching"]
    async with shown(panel) as page:
        await agent.run("Hello?")
        await page.until(lambda: any(event["e"].startswith("POST") for event in page.events))
        page.send("start")
        page.send("say", text=FIRST)
        page.send("hangup")
        page.send("raw", q=1)
        await page.until(lambda: page.of("raw"))
        assert page.state["phase"] == "on"


def test_a_panel_that_nobody_opens_reads_the_same_on_each_run(connected: Endpoint) -> None:
    bundles = [Panel(new_call())._repr_mimebundle_()[0] for _ in range(2)]
    plain, twin = ({bundle[kind] for bundle in bundles} for kind in ("text/plain", "text/html"))
    assert len(plain) == len(twin) == 1
    assert "application/vnd.jupyter.widget-view+json" in bundles[0]
    assert "Ready." in plain.pop()


async def test_after_a_call_the_twin_has_its_words_and_no_times(connected: Endpoint) -> None:
    found = []
    for _ in range(2):
        async with new_call("Is the light on?") as call:
            await call.send(FIRST)
        found.append(Panel(call)._repr_mimebundle_()[0])
    for kind in ("text/plain", "text/html"):
        assert FIRST in found[0][kind]
        assert found[0][kind] == found[1][kind]


async def test_a_panel_without_a_page_starts_nothing(connected: Endpoint, capfd: pytest.CaptureFixture[str]) -> None:
    call = new_call()
    capfd.readouterr()
    panel = Panel(call)
    await asyncio.sleep(0)
    assert [task for task in asyncio.all_tasks() if task.get_name().startswith("handoffkit panel")] == []
    panel.close()
    assert capfd.readouterr() == ("", "")


async def test_a_page_sets_no_trait(connected: Endpoint) -> None:
    panel = Panel(new_call())
    before = json.dumps(panel.get_state(), default=str)
    data = {"method": "update", "state": {"phase": "on", "facts": {}, "_esm": "alert(1)", "ticket": 1}}
    panel._handle_msg({"content": {"data": data}, "buffers": []})
    assert json.dumps(panel.get_state(), default=str) == before


async def test_raw_json_clips_and_earlier_rows_are_answered(connected: Endpoint) -> None:
    async with shown(Panel(new_call("Is the light on?"))) as page:
        page.send("start")
        await page.phase("on")
        page.send("say", text=FIRST)
        await page.until(lambda: len(page.texts()) == 2)
        page.send("raw", q=1)
        answer = (await page.until(lambda: page.of("raw")))[0]
        assert json.loads(answer["text"])["path"].startswith("/v1/realtime")
        page.send("raw", q=10**9)
        assert (await page.until(lambda: len(page.of("raw")) == 2 and page.of("raw")))[1]["text"] == ""
        last = list(page.rows)[-1]
        page.send("earlier", before=last)
        older = await page.until(lambda: [one for one in page.of("rows") if one.get("older")])
        assert [row["k"] for row in older[0]["rows"]] == list(page.rows)[:-1]
        page.send("clip", k="nowhere")
        assert (await page.until(lambda: page.of("clip")))[0]["ok"] is False


@pytest.mark.parametrize(
    ("version", "works"), [(None, True), ((7, 4, 0), True), ((8, 0, 1), True), ((7, 3, 9), False), ((6, 31), False)]
)
def test_sound_of_the_page_needs_a_kernel_that_takes_it(version: tuple[int, ...] | None, works: bool) -> None:
    ok, words = page_sound(version)
    assert ok is works
    assert ok or ("7.4" in words and "Typed turns work" in words)


async def test_the_line_is_closed_with_the_panel(connected: Endpoint) -> None:
    panel = Panel(new_call())
    async with shown(panel) as page:
        kept: Line = page.line
        panel.close()
        await page.until(lambda: any(kind == "comm_close" for _, kind, _, _ in kept.sent))
