"""The panel as a learner has it: in JupyterLab, in Chromium, on a real kernel; typed and spoken calls, two views."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from heard import heard, level
from lab import IN_LAB, SLOW, Notebook, Opener
from panel_page import TICKET, Panel, cells, opened

from handoffkit import audio

pytestmark = IN_LAB

FIRST = "My laptop does not charge, and its light stays off when I plug it in."
SECOND = "I tried another outlet and nothing changed. I have a presentation tomorrow."
REPLIES = [
    "Let me explain that in some detail, since it matters to everybody who owns one of these. The battery talks to the "
    "charger first, and only then does the light come on. Where a cable is worn, both may wait for ever. So look at "
    "its two ends, and tell me whether you see copper, dust, or a pin that is bent.",
    "Thank you. Then we should try another socket, away from the desk, and leave everything else unplugged.",
    "Good to know. Please hold the power button for half a minute, and count aloud if that helps.",
]
"""No two seconds of them sound the same, so what was played is found in one place only."""
HEARD = 0.9
"""Share of what was played that has to be as good as the same: a busy machine puts quiet in between."""
LATE = 1500
"""Milliseconds that a page may play on, on a busy machine, until it has the order to stop; an idle one takes 15."""
TORN = 100
"""Milliseconds at the end of what was played that a busy machine may have torn: one window."""
PLAYS = "() => window.__tapLoud() > 1.5"
PATIENT = "{'turn_detection': {'silence_duration_ms': 700}}"
PRESSES = "() => document.timeline.currentTime - (window.__on ??= document.timeline.currentTime) > 600"
"""Right after Start has become Talk a press is taken for the second one of a double click."""
SPOKEN = f"speech=True, model={{'gpt-realtime': hk.ScriptedModel({REPLIES!r}, repeat=True)}}"


async def said(notebook: Notebook) -> list[dict[str, Any]]:
    """Return the kernel's turns of the call."""
    fields = "dict(speaker=t.speaker, text=t.text, interrupted=t.interrupted, heard=t.heard_ms, ms=t.audio_ms)"
    turns: list[dict[str, Any]] = await notebook.value(f"[{fields} for t in panel.call.turns]")
    return turns


async def sound(notebook: Notebook, turn: int, folder: Path) -> bytes:
    """Return the sound of a turn of the call, by way of a file that the kernel writes."""
    await notebook.python(f"panel.call.sound(panel.call.turns[{turn}]).save({str(folder / 'turn.wav')!r})")
    return audio.load(folder / "turn.wav").pcm


async def captured(notebook: Notebook) -> bytes:
    """Return what left the page for the loudspeaker: of several audio contexts, the one that was heard most."""
    sounds = [tap.inside for tap in await notebook.tapped() if tap.pcm]
    return max(sounds, key=lambda sound: level(sound, 0, len(sound)), default=b"")


async def becomes_a_ticket(notebook: Notebook, panel: Panel) -> dict[str, str]:
    """Press "Hand off"; return the ticket, which the page shows as the kernel has it."""
    await panel.hand_off()
    fields: dict[str, Any] = await notebook.value("panel.ticket.output.model_dump()")
    ticket = await panel.ticket()
    assert ticket["follow_up_questions"].splitlines() == fields["follow_up_questions"]
    assert ticket == fields | {"follow_up_questions": ticket["follow_up_questions"]}
    return ticket


def nothing_broke(notebook: Notebook) -> None:
    """The page has logged no error, and shown no dialog."""
    assert notebook.errors == []
    assert notebook.dialogs == []


async def test_a_typed_call_becomes_a_ticket(notebooks: Opener) -> None:
    notebook = await notebooks(*cells())
    panel = await opened(notebook)
    await panel.start()
    for text in (FIRST, SECOND):
        await panel.say(text)
        await notebook.until(f"[t.speaker for t in call.turns][-1:] == ['agent'] and call.turns[-2].text == {text!r}")
    turns = await said(notebook)
    await panel.row("a1", turns[-1]["text"])
    shown = [row for row in await panel.rows() if row["who"]]
    assert [row["who"] for row in shown] == ["c", "a1", "c", "a1"]
    assert [row["text"] for row in shown] == [turn["text"] for turn in turns]
    await panel.hang_up()
    await becomes_a_ticket(notebook, panel)
    nothing_broke(notebook)


DESKS = f"""import agents, handoffkit as hk
from agents.realtime import RealtimeAgent
{TICKET}
hk.connect(speech=False)
billing = RealtimeAgent(name="Billing", handoff_description="Invoices and refunds.", instructions="You are billing.")
front = RealtimeAgent(name="Front", instructions="You are the front desk.", handoffs=[billing])
triage = agents.Agent("Triage", model="gpt-5.2", output_type=SupportTicket)
call = hk.Call(front, greetings={{"Billing": "Billing desk. Which invoice is it?"}})
panel = call.panel(handoff_to=triage)
panel
"""


async def test_a_call_is_handed_on_while_it_goes_on_and_ends_as_a_ticket_of_the_other_sdk(notebooks: Opener) -> None:
    notebook = await notebooks("pass", DESKS)
    panel = await opened(notebook)
    await panel.start()
    await panel.say("My screen is dark.")
    await notebook.until("[t.speaker for t in call.turns][-1:] == ['agent']")
    await panel.say("Please transfer me to billing for the invoice.")
    await panel.row("a2", "Billing desk. Which invoice is it?")
    shown = [(row["who"], row["name"]) for row in await panel.rows() if row["who"] in ("a1", "a2")]
    assert shown == [("a1", "Front"), ("a2", "Billing")]
    assert any("Front → Billing" in row["text"] for row in await panel.rows())
    if folder := os.environ.get("HANDOFFKIT_SHOTS"):
        await panel.el.screenshot(path=Path(folder) / "live-handoff.png")
    await panel.hang_up()
    assert (await becomes_a_ticket(notebook, panel))["category"] == "billing"
    nothing_broke(notebook)


async def test_every_event_has_its_raw_json(notebooks: Opener) -> None:
    notebook = await notebooks(*cells())
    panel = await opened(notebook)
    await panel.start()
    await panel.say(FIRST)
    await notebook.until("call.turns[-1:] and call.turns[-1].speaker == 'agent' and not call.turns[-1].pending")
    await panel.el.get_by_role("tab", name="Events").click()
    event = panel.el.locator(".hk-ev").filter(has_text="response.done").first
    await event.get_by_role("button").first.click()
    block = panel.el.locator(".hk-json pre")
    await block.filter(has_text="response.done").wait_for()
    raw = json.loads(await block.inner_text())
    data = await notebook.value("[f.data for f in call.log if f.event == 'response.done'][0]")
    assert raw == data
    nothing_broke(notebook)


async def test_a_cell_and_the_panel_are_two_hands_on_one_call(notebooks: Opener) -> None:
    notebook = await notebooks(*cells(), "await call.send('My screen is dark.'); None")
    panel = Panel(notebook)
    for cell in (0, 1):
        await notebook.run(cell)
    await panel.start()
    await notebook.run(2)
    await panel.row("c", "My screen is dark.")
    await panel.say("It happened last night.")
    await notebook.until("len(call.turns) == 4")
    await notebook.python("await call.hang_up()")
    await panel.says("Ended")
    nothing_broke(notebook)


async def test_the_cell_run_again_and_a_second_view_show_the_same_call(notebooks: Opener) -> None:
    notebook = await notebooks(*cells(), "panel")
    first = await opened(notebook)
    second = Panel(notebook, 1)
    await second.el.wait_for()
    await second.start()
    await first.says("On call")
    await first.say(FIRST)
    await second.row("c", FIRST)
    await notebook.run(2)
    await Panel(notebook, 1).row("c", FIRST)
    await Panel(notebook, 1).says("On call")
    await notebook.until("len(call.turns) == 2")
    answer = (await said(notebook))[-1]["text"]
    for number in (0, 1):
        await Panel(notebook, number).row("a1", answer)
    await first.hang_up()
    await Panel(notebook, 1).says("Ended")
    nothing_broke(notebook)


async def test_a_panel_that_is_made_again_for_the_same_call_shows_it(notebooks: Opener) -> None:
    notebook = await notebooks(*cells(), "panel = call.panel(handoff_to=triage)\npanel")
    await notebook.run(0)
    await notebook.run(1)
    panel = Panel(notebook)
    await panel.start()
    await panel.say(FIRST)
    await notebook.run(2)
    again = Panel(notebook, 1)
    await again.row("c", FIRST)
    await again.say(SECOND)
    await panel.row("c", SECOND)
    nothing_broke(notebook)


@pytest.mark.usefixtures("speech")
async def test_a_spoken_call_is_heard_answered_interrupted_and_becomes_a_ticket(
    notebooks: Opener, tmp_path: Path
) -> None:
    notebook = await notebooks(*cells(SPOKEN, model_settings=PATIENT), permissions=["microphone"])
    panel = await opened(notebook)
    await panel.watch()
    await panel.start()
    await panel.el.get_by_role("switch", name="Hands-free").click()
    await panel.row("c", "charge")
    await notebook.until("[t.speaker for t in call.turns if not t.pending][:3] == ['caller', 'agent', 'caller']", 60)
    first, reply, second = (await said(notebook))[:3]
    assert "charge" in first["text"].lower()
    assert second["text"]
    partial = [each["text"] for each in await panel.seen() if each["partial"] and each["text"]]
    assert len(partial) >= 2, "no partial words came before the final ones"
    assert reply["interrupted"]
    assert 0 < reply["heard"] < reply["ms"]
    await panel.row("a1", "Interrupted: heard")
    await notebook.python("await call.interrupt()")
    await panel.hang_up()
    played = heard(await captured(notebook), await sound(notebook, 1, tmp_path))
    assert played.share > HEARD
    assert 1000 * played.ends - LATE < reply["heard"] < 1000 * played.missed + TORN, (played, reply)
    assert (await becomes_a_ticket(notebook, panel))["category"] == "hardware"
    nothing_broke(notebook)


@pytest.mark.usefixtures("speech")
async def test_stop_cuts_the_reply_to_what_was_heard(notebooks: Opener, tmp_path: Path) -> None:
    notebook = await notebooks(*cells(SPOKEN), permissions=["microphone"])
    panel = await opened(notebook)
    await panel.start()
    await panel.say(FIRST)
    await notebook.page.wait_for_function(PLAYS, timeout=1e3 * SLOW)
    await panel.press("Stop")
    row = await panel.row("a1", "Interrupted: heard")
    await notebook.until("call.turns[-1].interrupted")
    reply = (await said(notebook))[-1]
    assert 0 < reply["heard"] < reply["ms"]
    unheard = await row.locator(".hk-unheard").inner_text()
    assert unheard
    assert reply["text"] + unheard != reply["text"]
    await panel.hang_up()
    capture = await captured(notebook)
    played = heard(capture, await sound(notebook, 1, tmp_path))
    assert played.share > HEARD
    assert 1000 * played.ends - LATE < reply["heard"] < 1000 * played.missed + TORN, (played, reply)
    assert level(capture, played.begins + played.ends + 0.3, len(capture) / 48_000) < 0.002
    nothing_broke(notebook)


@pytest.mark.usefixtures("speech")
async def test_the_space_bar_talks_while_it_is_held(notebooks: Opener) -> None:
    notebook = await notebooks(*cells(SPOKEN), permissions=["microphone"])
    panel = await opened(notebook)
    await panel.start()
    await panel.el.focus()
    talking = panel.el.locator(".hk-talk[aria-pressed=true]")
    await notebook.page.wait_for_function(PRESSES, timeout=1e3 * SLOW)
    await notebook.page.keyboard.down(" ")
    await talking.wait_for(timeout=1e3 * SLOW)
    await notebook.until("len(call.log.filter('input_audio_buffer.append')) > 200")  # eight seconds of the caller
    await notebook.page.keyboard.up(" ")
    await panel.row("a1")
    turns = await said(notebook)
    assert turns[0]["speaker"] == "caller"
    assert turns[0]["ms"] > 3000
    nothing_broke(notebook)
