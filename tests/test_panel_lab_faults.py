"""Trouble around the panel in JupyterLab: pages that reload or go, kernels that block or restart, no microphone."""

import json
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio
from lab import IN_LAB, SLOW, Lab, Opener, chromium
from panel_page import Panel, cells, opened

if TYPE_CHECKING:
    from playwright.async_api import Browser
pytestmark = IN_LAB

FIRST = "My laptop does not charge, and its light stays off when I plug it in."
HOSTILE = "</script><img src=x onerror=alert(1)>"
ELSEWHERE = "lab.example"
"""A name for this machine that no browser takes for localhost."""


async def test_a_reload_in_mid_call_shows_the_call_and_says_that_the_microphone_stopped(notebooks: Opener) -> None:
    notebook = await notebooks(*cells("speech=True"), permissions=["microphone"])
    panel = await opened(notebook)
    await panel.start()
    await panel.say(FIRST)
    await notebook.save()
    await notebook.reload()
    await panel.says("On call")
    await panel.row("c", FIRST)
    said = await panel.trouble("microphone stopped")
    assert "choose" in said.lower() or "start" in said.lower()
    assert await notebook.value("call.log[-1].seq > 0 and not call._over")
    await panel.say("It happened last night.")
    await panel.hang_up()


async def test_a_page_that_is_closed_hangs_up_after_the_stated_time(notebooks: Opener, lab: Lab) -> None:
    notebook = await notebooks(*cells(panel="handoff_to=triage, gone=3.0, bye=2.0"))
    panel = await opened(notebook)
    await panel.start()
    await panel.say(FIRST)
    await notebook.save()
    await notebook.page.goto("about:blank")
    watcher = await notebooks("1")
    await watcher.attach(notebook.path)
    await watcher.until("'hung up' in repr(call)")
    assert await watcher.value("[frame.event for frame in panel.log if frame.event.endswith('page_gone')]")
    again = await notebooks(path=notebook.path)
    await Panel(again).says("Ended")
    await Panel(again).row("c", FIRST)


async def test_a_kernel_that_restarts_under_an_open_panel_is_told(notebooks: Opener) -> None:
    notebook = await notebooks(*cells())
    panel = await opened(notebook)
    await panel.start()
    await panel.say(FIRST)
    await notebook.restart()
    said = await panel.trouble("kernel")
    assert "run" in said
    await panel.row("c", FIRST)
    await notebook.run(0)
    await notebook.run(1)
    await panel.start()


@pytest.mark.usefixtures("speech")
async def test_a_kernel_that_was_blocked_goes_on_and_names_the_sound_it_dropped(notebooks: Opener) -> None:
    notebook = await notebooks(*cells("speech=True"), "import time; time.sleep(10)", permissions=["microphone"])
    for cell in (0, 1):
        await notebook.run(cell)
    panel = Panel(notebook)
    await panel.start()
    await panel.el.get_by_role("switch", name="Hands-free").click()
    await notebook.until("len(call.log.filter('input_audio_buffer.append'))")
    await notebook.run(2)
    said = await panel.trouble("kernel was busy")
    assert "dropped" in said
    assert await notebook.value("'dropped' in str([f.data for f in call.log])")
    await panel.say("Are you still there?")
    asked = "min((t.start for t in call.turns if t.text == 'Are you still there?'), default=1e9)"
    after = f"t.speaker == 'agent' and not t.pending and t.start > {asked}"
    await notebook.until(f"any({after} for t in call.turns)")  # the microphone's caller goes on speaking meanwhile
    await panel.hang_up()
    assert notebook.errors == []


async def test_hostile_words_stay_words(notebooks: Opener) -> None:
    model = f"hk.ScriptedModel([{HOSTILE!r}] * 3, outputs=[{{'summary': {HOSTILE!r}, 'category': 'other', "
    model += f"'priority': 'low', 'follow_up_questions': [{HOSTILE!r}]}}])"
    notebook = await notebooks(*cells(f"speech=False, model={{'gpt-realtime': {model}, 'gpt-5.2': {model}}}"))
    panel = await opened(notebook)
    await panel.start()
    await panel.say(HOSTILE)
    await panel.row("a1", HOSTILE)
    await panel.el.get_by_role("tab", name="Events").click()
    await panel.el.locator(".hk-ev").filter(has_text="onerror").first.get_by_role("button").first.click()
    await panel.el.locator(".hk-json pre").filter(has_text="onerror").first.wait_for()
    await panel.hang_up()
    await panel.hand_off()
    assert (await panel.ticket())["summary"] == HOSTILE
    assert await panel.el.locator("img, script").count() == 0
    assert notebook.dialogs == []
    assert notebook.errors == []


async def test_a_saved_notebook_that_nobody_trusts_shows_the_call_in_words(notebooks: Opener, lab: Lab) -> None:
    notebook = await notebooks(*cells(), "panel")
    panel = await opened(notebook)
    await panel.start()
    await panel.say(FIRST)
    await notebook.until("call.turns[-1].speaker == 'agent' and not call.turns[-1].pending")
    await panel.hang_up()
    await notebook.run(2)
    saved = await notebook.save()
    saved["metadata"].pop("signature", None)
    saved["cells"][0]["source"] = "# came from somebody else\n" + "".join(saved["cells"][0]["source"])
    (lab.root / "foreign.ipynb").write_text(json.dumps(saved))
    foreign = await notebooks(path="foreign.ipynb")
    twin = foreign.page.locator(".jp-OutputArea-output").last
    await twin.get_by_text(FIRST).first.wait_for(timeout=1e3 * SLOW)
    assert await foreign.page.locator(".hk-panel").count() == 0
    assert await foreign.page.locator(".jp-OutputArea-output script").count() == 0


# Microphones that cannot be had


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def bare() -> "AsyncIterator[Browser]":
    """Run a Chromium that has no microphone, and another name for this machine."""
    async with chromium(f"--host-resolver-rules=MAP {ELSEWHERE} 127.0.0.1") as browser:
        yield browser


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def refusing() -> "AsyncIterator[Browser]":
    """Run a Chromium that has a microphone, and lets no page use it."""
    async with chromium("--use-fake-device-for-media-stream") as browser:
        yield browser


async def typing_goes_on(opener: Opener, words: str, permissions: tuple[str, ...] = ()) -> None:
    """Hold a typed call where no microphone can be had, which the panel says in *words*."""
    try:
        panel = await opened(await opener(*cells("speech=True"), permissions=list(permissions)))
        await panel.start()
        await panel.trouble(words)
        await panel.say(FIRST)
        await panel.row("a1")
    finally:
        await opener.close()


async def test_a_refused_microphone_is_said_and_typing_goes_on(lab: Lab, refusing: "Browser") -> None:
    await typing_goes_on(Opener(lab, refusing), "not allow")


async def test_a_machine_without_a_microphone_is_told_and_typing_goes_on(lab: Lab, bare: "Browser") -> None:
    await typing_goes_on(Opener(lab, bare), "no microphone", ("microphone",))


async def test_plain_http_that_is_not_localhost_is_said_and_typing_goes_on(lab: Lab, bare: "Browser") -> None:
    await typing_goes_on(Opener(lab, bare, host=ELSEWHERE), "may not use a microphone")
