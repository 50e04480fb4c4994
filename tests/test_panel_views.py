"""Transcript, timeline, events, ticket and playback of the panel in Chromium; no kernel stands behind the model."""

import base64
import io
import json
import re
import shutil
import wave
from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np
import page_harness
import pytest
from page_states import event, row
from playwright.sync_api import Browser, Page, expect, sync_playwright

Json = dict[str, Any]

HOSTILE = '</script><img src=x onerror="window.broken=1"><b>bold</b>&amp;\u202e'
RATE = 24_000
WAIT = 20_000
"""How long a picture may take to be as expected on a machine that is busy (ms)."""
expect.set_options(timeout=WAIT)

TAP = """
  // Everything that goes to a speaker is written down as well, on the audio thread, which a busy page does not delay.
  const SOURCE = `registerProcessor("tap", class extends AudioWorkletProcessor {
    process([[block]]) { if (block) this.port.postMessage(block.slice()); return true; }
  });`;
  window.tap = {rate: 0, blocks: [], ready: false};
  const connect = AudioNode.prototype.connect;
  const inlets = new WeakMap();
  const inlet = (context) => {
    if (inlets.has(context)) return inlets.get(context);
    const gain = new GainNode(context);
    inlets.set(context, gain);
    window.tap.rate = context.sampleRate;
    context.audioWorklet.addModule(URL.createObjectURL(new Blob([SOURCE], {type: "text/javascript"}))).then(() => {
      const node = new AudioWorkletNode(context, "tap");
      node.port.onmessage = ({data}) => window.tap.blocks.push(Int16Array.from(data, (x) => x * 32767));
      connect.call(gain, node);
      connect.call(node, context.destination);
      window.tap.ready = true;
    });
    return gain;
  };
  AudioNode.prototype.connect = function (target, ...more) {
    if (target instanceof AudioDestinationNode) connect.call(this, inlet(this.context));
    return connect.call(this, target, ...more);
  };
"""


@pytest.fixture(scope="module")
def address() -> Generator[str]:
    with page_harness.serving() as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("`chromium` is not installed. On Debian: apt-get install chromium (apt.txt lists such packages).")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield found
        found.close()


class Panel:
    """A page with one panel."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.log = page.locator(".hk-log")
        self.rows = page.locator(".hk-log li")
        self.events = page.locator(".hk-evs li")

    def message(self, message: Json) -> None:
        self.page.evaluate("(m) => { hk.message(m); return hk.frame(); }", message)

    def trait(self, name: str, value: Any) -> None:
        self.page.evaluate("([n, v]) => { hk.trait(n, v); return hk.frame(); }", [name, value])

    def show(self, rows: list[Json], events: list[Json] | None = None, **more: Any) -> None:
        totals = {"gap_ms": None, "tokens": 0, "cost": "", "simulated": False}
        counts = {"rows": len(rows), "events": len(events or []), "rows_dropped": 0, "events_dropped": 0}
        parts = {"rows": rows, "events": events or [], "totals": totals, "counts": counts}
        self.message({"t": "snapshot", "for": ""} | parts | more)

    def said(self, kind: str) -> list[Json]:
        found: list[Json] = self.page.evaluate("(t) => hk.said(t)", kind)
        return found

    def answer_clips(self, clips: dict[str, "np.ndarray[Any, np.dtype[np.int16]]"]) -> None:
        given = {k: base64.b64encode(sound.astype("<i2").tobytes()).decode() for k, sound in clips.items()}
        self.page.evaluate(
            """(clips) => { hk.answer = (m) => {
              if (m.t !== "clip") return;
              const bytes = Uint8Array.from(atob(clips[m.k] ?? ""), (c) => c.charCodeAt(0));
              const answer = {t: "clip", k: m.k, ms: bytes.length / 48, ok: bytes.length > 0};
              setTimeout(() => hk.message(answer, [new DataView(bytes.buffer)]), 20);
            }; }""",
            given,
        )

    def at_end(self) -> bool:
        found: bool = self.log.evaluate("(el) => el.scrollTop + el.clientHeight >= el.scrollHeight - 2")
        return found


Open = Any


@pytest.fixture
def opened(browser: Browser, address: str) -> Generator[Open]:
    pages: list[Page] = []
    faults: list[str] = []

    def open_page(state: str, width: int = 980) -> Panel:
        page = browser.new_page(viewport={"width": width + 16, "height": 900})
        pages.append(page)
        page.set_default_timeout(WAIT)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.add_init_script(TAP)
        page.goto(f"{address}/?state={state}&width={width}")
        page.wait_for_selector("body[data-ready]")
        return Panel(page)

    yield open_page
    for page in pages:
        page.close()
    assert faults == []


def lines(count: int, start: int = 0) -> list[Json]:
    return [
        row(f"n{n}", "c" if n % 2 else "a1", n * 2.0, n * 2.0 + 1.5, f"Words of row {n}.") for n in range(start, count)
    ]


# ------------------------------------------------------------------------------------------------ transcript


def test_final_words_take_the_place_of_partial_ones_in_the_same_row(opened: Open) -> None:
    panel = opened("during")
    last = panel.rows.last
    expect(last.locator(".hk-prov")).to_have_text("The lift is out of order on")
    expect(last.locator(".hk-caret")).to_have_count(1)
    last.evaluate("(el) => { window.kept = el; window.say = el.querySelector('.hk-say'); }")
    count = panel.rows.count()
    panel.message({"t": "rows", "rows": [row("r12", "c", 43.9, 48.0, "Friday would", tail="be", pending=True)]})
    expect(last.locator(".hk-say")).to_have_text("Friday would be")
    panel.message({"t": "rows", "rows": [row("r12", "c", 43.9, 49.8, "Friday would be best.")]})
    expect(last.locator(".hk-say")).to_have_text("Friday would be best.")
    expect(last.locator(".hk-prov, .hk-caret")).to_have_count(0)
    assert panel.rows.count() == count
    assert last.evaluate("(el) => el === window.kept && el.querySelector('.hk-say') === window.say")


def test_an_interrupted_reply_shows_what_was_heard_and_what_was_not(opened: Open) -> None:
    panel = opened("during")
    cut = panel.rows.nth(1)
    expect(cut.locator(".hk-unheard")).to_have_text("charger, and does it work from another socket?")
    expect(cut.locator(".hk-note")).to_have_text("Interrupted: heard 1.8 s of 4.2 s")
    share = cut.locator(".hk-heard i").evaluate(
        "(el) => el.getBoundingClientRect().width / el.parentElement.clientWidth"
    )
    assert abs(share - 1.8 / 4.2) < 0.02
    expect(panel.page.locator(".hk-bar--cut, .hk-bar--unheard")).to_have_count(2)


def test_the_newest_is_followed_only_while_the_reader_is_there(opened: Open) -> None:
    panel = opened("during")
    panel.show(lines(60))
    assert panel.at_end()
    panel.message({"t": "rows", "rows": lines(70, 60)})
    assert panel.at_end()
    newest = panel.page.get_by_role("button", name="newest")
    expect(newest).to_be_hidden()
    panel.log.evaluate("(el) => { el.scrollTop = 300; return hk.frame(); }")
    where = """(el) => {
      const at = document.elementFromPoint(300, el.getBoundingClientRect().top + 100);
      return [el.scrollTop, at.closest("li").dataset.id];
    }"""
    before = panel.log.evaluate(where)
    panel.message({"t": "rows", "rows": lines(80, 70)})
    assert panel.log.evaluate(where) == before
    newest.click()
    assert panel.at_end()
    expect(panel.rows.last).to_contain_text("Words of row 79.")
    expect(newest).to_be_hidden()


def test_earlier_rows_are_asked_for_at_the_top_and_nothing_jumps(opened: Open) -> None:
    panel = opened("during")
    panel.show(lines(200, 100), counts={"rows": 200, "events": 0, "rows_dropped": 0, "events_dropped": 0})
    assert panel.said("earlier") == []
    panel.log.evaluate("(el) => { el.scrollTop = 0; return hk.frame(); }")
    assert [message["before"] for message in panel.said("earlier")] == ["n100"]
    top = panel.rows.filter(has_text="Words of row 100.")
    before = top.evaluate("(el) => el.getBoundingClientRect().top")
    panel.message({"t": "rows", "rows": lines(100, 0), "older": True})
    assert (
        abs(top.evaluate("(el) => el.getBoundingClientRect().top") - before) <= 30
    )  # the line that asked for more is gone
    panel.log.evaluate("(el) => { el.scrollTop = 0; return hk.frame(); }")
    expect(panel.rows.first).to_contain_text("Words of row 0.")
    assert len(panel.said("earlier")) == 1


def test_turns_are_selected_in_transcript_and_timeline_alike(opened: Open) -> None:
    panel = opened("during")
    bar = panel.page.locator(".hk-bar[data-k=r5]")
    tool = panel.rows.filter(has_text="That points to the charging port")
    tool.locator(".hk-say").click()
    expect(bar).to_have_class("hk-bar is-sel")
    expect(tool).to_have_attribute("aria-current", "true")
    bar.click()
    panel.page.mouse.move(1, 1)
    expect(bar).to_have_class("hk-bar")
    expect(tool).not_to_have_attribute("aria-current", "true")
    panel.rows.first.hover()
    expect(panel.page.locator(".hk-bar[data-k=r1]")).to_have_class("hk-bar is-sel")
    panel.page.locator(".hk-bar[data-k=r9]").hover()
    expect(panel.rows.filter(has_text="I'll pass you")).to_have_class("hk-turn is-hover")


def test_a_turn_selected_in_the_timeline_is_scrolled_to(opened: Open) -> None:
    panel = opened("during")
    panel.show(lines(80))
    panel.page.locator(".hk-bar[data-k=n3]").evaluate("(el) => el.click()")
    expect(panel.rows.filter(has_text="Words of row 3.")).to_be_in_viewport()
    assert not panel.at_end()


def test_the_arrow_keys_move_the_selection(opened: Open) -> None:
    panel = opened("during")
    panel.log.focus()
    panel.page.keyboard.press("ArrowUp")
    expect(panel.rows.last).to_have_class("hk-turn is-sel")
    panel.page.keyboard.press("ArrowUp")
    expect(panel.page.locator(".hk-turn.is-sel")).to_contain_text("Two items, a desk and a monitor.")
    panel.page.keyboard.press("Escape")
    expect(panel.page.locator(".hk-turn.is-sel")).to_have_count(0)


def test_only_finals_are_announced(opened: Open) -> None:
    panel = opened("during")
    live = panel.log.locator("[role=log][aria-live=polite]")
    expect(live).to_have_text("")
    panel.message({"t": "rows", "rows": [row("z1", "c", 50, 51, "My name", tail="is", pending=True)]})
    expect(panel.rows.last).to_contain_text("My name is")
    expect(live).to_have_text("")
    panel.message({"t": "rows", "rows": [row("z1", "c", 50, 52, "My name is Ada.")]})
    expect(live).to_have_text("Caller: My name is Ada.")
    assert panel.log.locator("[aria-live]").count() == 1


def test_the_transcript_is_copied_as_text(opened: Open) -> None:
    panel = opened("during")
    panel.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    panel.page.locator(".hk-tabs > .hk-btn").click()
    expect(panel.page.locator(".hk-tabs > .hk-btn")).to_contain_text("Copied")
    text = panel.page.evaluate("navigator.clipboard.readText()")
    assert (
        text.splitlines()[0]
        == "0:01.2  Caller: Hi, my laptop stopped charging last night. The light next to the plug stays off."
    )
    assert "[inaudible]" in text


# ---------------------------------------------------------------------------------------------------- events


def test_chips_words_and_a_pause_decide_what_the_list_shows(opened: Open) -> None:
    panel = opened("during")
    panel.show(
        [],
        [
            event(n, n * 0.1, *kind)
            for n, kind in enumerate(
                [
                    ("response.done", "usage", "a1", "10 in"),
                    ("a.delta", "audio", "a1", "200 ms"),
                    ("error", "errors", "", "Something failed"),
                ]
            )
        ],
    )
    panel.page.get_by_role("tab", name="Events").click()
    expect(panel.events).to_have_count(2)
    panel.page.get_by_role("button", name="Audio 1").click()
    expect(panel.events).to_have_count(3)
    panel.page.get_by_role("button", name="Usage 1").click()
    expect(panel.events).to_have_count(2)
    panel.page.get_by_label("Show events with these words").fill("FAILED")
    expect(panel.events).to_have_count(1)
    panel.page.get_by_label("Show events with these words").fill("")
    panel.page.get_by_role("button", name="Pause").click()
    panel.message(
        {"t": "events", "list": [event(n, 1.0, "input.speech_started", "speech", "c", "Caller") for n in range(10, 22)]}
    )
    expect(panel.events).to_have_count(2)
    panel.page.get_by_role("button", name="Resume, 12 newer").click()
    expect(panel.events).to_have_count(14)


def test_one_event_is_open_at_a_time_with_its_raw_json(opened: Open) -> None:
    panel = opened("during")
    panel.page.evaluate(
        """() => { hk.answer = (m) => {
          const text = JSON.stringify({seq: m.q}, null, 2);
          if (m.t === "raw") setTimeout(() => hk.message({t: "raw", q: m.q, text}), 10);
        }; }"""
    )
    panel.page.get_by_role("tab", name="Events").click()
    panel.events.last.locator("button").first.click()
    expect(panel.page.locator(".hk-json pre")).to_have_text('{\n  "seq": 200\n}')
    expect(panel.page.locator(".hk-json pre i")).to_have_text('"seq":')
    panel.page.keyboard.press("ArrowUp")
    panel.page.keyboard.press("Enter")
    expect(panel.page.locator(".hk-json pre")).to_have_text('{\n  "seq": 95\n}')
    expect(panel.page.locator(".hk-json")).to_have_count(1)
    panel.page.keyboard.press("Escape")
    expect(panel.page.locator(".hk-json")).to_have_count(0)
    assert [message["q"] for message in panel.said("raw")] == [200, 95]


def test_the_arrow_keys_reach_every_event_of_a_long_list(opened: Open) -> None:
    panel = opened("during")
    panel.show([], [event(n, n * 0.1, "response.done", "usage", "a1", f"number {n}") for n in range(400)])
    panel.page.get_by_role("tab", name="Events").click()
    panel.events.last.locator("button").first.focus()
    panel.page.keyboard.press("Home")
    focused = panel.page.locator(":focus")
    expect(focused).to_contain_text("number 0")
    for _ in range(40):
        panel.page.keyboard.press("ArrowDown")
    expect(focused).to_contain_text("number 40")
    expect(focused).to_be_in_viewport()


def test_shown_events_are_copied_as_json_lines(opened: Open) -> None:
    panel = opened("during")
    panel.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    panel.page.get_by_role("tab", name="Events").click()
    panel.page.get_by_label("Show events with these words").fill("late audio")
    panel.page.get_by_role("button", name="Copy shown").click()
    expect(panel.page.get_by_role("button", name="Copied")).to_be_visible()
    text = panel.page.evaluate("navigator.clipboard.readText()")
    late = {"seq": 200, "at": 70, "from": "server", "event": "error", "summary": "One late audio packet dropped, 20 ms"}
    assert [json.loads(line) for line in text.splitlines()] == [late | {"bad": True}]


def test_a_list_that_lost_its_oldest_says_so(opened: Open) -> None:
    panel = opened("during")
    panel.trait("counts", {"rows": 0, "events": 900, "rows_dropped": 0, "events_dropped": 700})
    panel.page.get_by_role("tab", name="Events").click()
    expect(panel.page.locator(".hk-ev-older")).to_have_text("700 older events are not kept here; call.log has them.")


# ---------------------------------------------------------------------------------------- untrusted, and much


def hostile_rows() -> list[Json]:
    bad: Json = {
        "name": HOSTILE,
        "text": HOSTILE,
        "tail": HOSTILE,
        "unheard": HOSTILE,
        "note": HOSTILE,
        "call": HOSTILE,
    }
    bad |= {"output": HOSTILE, "gap_ms": 900}
    return [
        row("<img src=x>", "a1", 1, 2, **bad),
        row("h2", "c", 3, 4, **bad | {"pending": True}),
        row("h3", "a1", 5, 6, **bad | {"interrupted": True, "heard_ms": 10}),
        row("h4", "c", 7, 8, **bad | {"inaudible": True}),
        row("h5", "t", 9, 10, **bad | {"kind": "tool"}),
        row("h6", "a2", 11, 11, **bad | {"kind": "over", "look": "flag", "lane": None}),
        row("h7", HOSTILE, 12, 12, **bad | {"kind": "mark", "look": "bad", "lane": None, "bad": True}),
    ]


def hostile_ticket() -> Json:
    fields = [
        {"name": HOSTILE, "type": HOSTILE, "kind": "text", "value": HOSTILE},
        {"name": "b", "type": "x", "kind": "choice", "value": HOSTILE, "options": [HOSTILE, "other"]},
        {"name": "c", "type": "x", "kind": "list", "value": [HOSTILE, {"k": HOSTILE}]},
        {"name": "d", "type": "x", "kind": "json", "value": {HOSTILE: HOSTILE}},
    ]
    attempts = [{"n": 1, "ok": False, "words": HOSTILE, "seconds": 1.0, "tokens": 5}]
    more = {"from_last_word": 1.0, "tokens": 5, "cost": HOSTILE, "error": HOSTILE, "json": HOSTILE}
    return {"ok": True, "title": HOSTILE, "valid": HOSTILE, "fields": fields, "attempts": attempts} | more


def test_whatever_is_said_stays_text(opened: Open) -> None:
    panel = opened("after")
    events = [event(n, n, HOSTILE, "words", HOSTILE, HOSTILE, dir=HOSTILE) for n in range(3)]
    panel.show(hostile_rows(), events)
    for ticket in (hostile_ticket(), hostile_ticket() | {"ok": False}):
        panel.trait("ticket", ticket)
        expect(panel.page.locator(".hk-ticket h3")).to_have_text(HOSTILE)
        expect(panel.page.locator(".hk-try p")).to_have_text(HOSTILE)
    expect(panel.rows.first.locator(".hk-say")).to_contain_text(HOSTILE)
    expect(panel.rows).to_have_count(7)
    panel.page.get_by_role("tab", name="Events").click()
    panel.page.evaluate(
        "(text) => { hk.answer = (m) => m.t === 'raw' && hk.message({t: 'raw', q: m.q, text}); }",
        f'{{\n  "{HOSTILE}": "{HOSTILE}"\n}}',
    )
    panel.events.first.locator("button").first.click()
    expect(panel.page.locator(".hk-json pre")).to_contain_text(HOSTILE)
    made = panel.page.evaluate(
        "() => [document.querySelectorAll('.hk img, .hk script, .hk iframe').length, window.broken ?? 0]"
    )
    assert made == [0, 0]


def test_five_thousand_rows_and_events_do_not_grow_the_page(opened: Open) -> None:
    panel = opened("during")
    for start in range(0, 5000, 500):
        panel.message({"t": "rows", "rows": lines(start + 500, start)})
        panel.message(
            {
                "t": "events",
                "list": [
                    event(n, n / 50, "response.done", "usage", "a1", f"number {n}")
                    for n in range(start + 1000, start + 1500)
                ],
            }
        )
    assert panel.rows.count() <= 80
    assert panel.page.locator(".hk-tl-track > *").count() <= 800
    expect(panel.rows.last).to_contain_text("Words of row 4999.")
    panel.log.evaluate("(el) => { el.scrollTop = el.scrollHeight / 2; return hk.frame(); }")
    assert 0 < panel.rows.count() <= 80
    panel.page.get_by_role("tab", name="Events").click()
    expect(panel.events.last).to_contain_text("number 5999")
    assert panel.events.count() <= 80
    assert panel.page.evaluate("document.querySelectorAll('.hk *').length") < 3000


# -------------------------------------------------------------------------------------------------- timeline


def test_the_timeline_says_what_it_shows_and_then_becomes_a_slider(opened: Open) -> None:
    panel = opened("during")
    words = "5 caller turns, 5 agent turns, 1 tool call, 1 handoff. Longest wait 1820 ms."
    label = panel.page.locator(".hk-tl [role=img]").get_attribute("aria-label") or ""
    assert re.fullmatch(rf"Timeline, \d+ seconds: {words}", label)
    panel.trait("clock", {"began": 0.0, "ended": 60.0, "now": 60.0, "expires": None})
    panel.trait("phase", "ended")
    slider = panel.page.get_by_role("slider", name="Playback position")
    slider.focus()
    for key, value in (("ArrowRight", "1"), ("PageUp", "11"), ("ArrowLeft", "10"), ("End", "60"), ("Home", "0")):
        panel.page.keyboard.press(key)
        expect(slider).to_have_attribute("aria-valuenow", value)
    expect(panel.page.locator(".hk-tl [role=img]")).to_have_count(0)


def handed_over(name: str = "Billing") -> list[Json]:
    return [
        row("g1", "a1", 1.0, 3.0, "Front desk."),
        row("g2", "c", 4.0, 6.0, "I was charged twice."),
        row("g3", "a1", 6.6, 8.0, "I'll pass you on.", gap_ms=600),
        row(
            "g4", "a2", 8.2, 8.2, f"handed over: Support agent → {name}", kind="over", lane=None, look="flag", name=name
        )
        | {"gap_ms": 4800},
        row("g5", "a1", 8.9, 10.0, "Goodbye!", look="late", note="under the instructions before the handoff"),
        row("g6", "a2", 10.8, 13.0, "Billing here.", name=name),
    ]


@pytest.mark.parametrize("width", [980, 360])
def test_a_handoff_shows_who_has_the_call_what_was_said_late_and_how_long_the_caller_waited(
    opened: Open, width: int
) -> None:
    panel = opened("ended", width)
    panel.trait("clock", {"began": 0.0, "ended": 14.0, "now": 14.0, "expires": None})
    panel.show(handed_over())
    line = panel.page.locator(".hk-over")
    expect(line).to_contain_text("handed over: Support agent → Billing")
    expect(line.locator(".is-long")).to_have_text("4800 ms from the caller's last word to the new agent's first")
    expect(panel.rows.nth(4).locator(".hk-note")).to_have_text("under the instructions before the handoff")
    mark = panel.page.locator(".hk-mark[data-who=a2]")
    expect(mark).to_have_text("Billing")
    colour = "(el, name) => getComputedStyle(el)[name]"
    billing, front = (
        panel.page.locator(f".hk-bar[data-k={k}]").evaluate(colour, "backgroundColor") for k in ("g6", "g1")
    )
    late = panel.page.locator(".hk-bar--late")
    assert late.evaluate(colour, "borderTopColor") == front != billing
    assert late.evaluate(colour, "backgroundColor") != front
    assert mark.evaluate(colour, "borderLeftColor") == billing
    reigns = panel.page.locator(".hk-reign")
    expect(reigns).to_have_count(2)
    assert reigns.evaluate_all("(all) => all.map((el) => getComputedStyle(el).backgroundColor)") == [front, billing]
    ends = reigns.evaluate_all(
        "(all) => all.map((el) => el.getBoundingClientRect()).map((box) => [box.left, box.right])"
    )
    assert abs(ends[0][1] - ends[1][0]) < 2
    assert panel.page.locator(".hk-panel").evaluate("(el) => el.scrollWidth - el.clientWidth") == 0


def test_six_agents_have_six_colours_and_a_long_name_stays_inside(opened: Open) -> None:
    panel = opened("ended", 360)
    name = HOSTILE * 3
    rows = [row(f"s{n}", f"a{n}", n * 2.0, n * 2.0 + 1.5, f"Agent {n}.", name=name) for n in range(1, 7)]
    panel.show([*rows, *handed_over(name)[3:4]])
    colours = panel.page.locator(".hk-turn .hk-sw").evaluate_all(
        "(all) => all.map((el) => getComputedStyle(el).backgroundColor)"
    )
    assert len(set(colours)) == 6
    expect(panel.page.locator(".hk-over b")).to_contain_text(HOSTILE)
    assert panel.page.locator(".hk-panel").evaluate("(el) => el.scrollWidth - el.clientWidth") == 0
    assert panel.page.evaluate("window.broken ?? 0") == 0


def test_in_a_narrow_panel_the_strip_stays_at_now_until_it_is_moved(opened: Open) -> None:
    panel = opened("during", 360)
    strip = panel.page.locator(".hk-tl-scroll")
    right = "(el) => el.scrollWidth - el.clientWidth - el.scrollLeft"
    assert strip.evaluate(right) < 2
    assert strip.evaluate(
        "(el) => el.querySelector('.hk-now').getBoundingClientRect().left < el.getBoundingClientRect().right"
    )
    panel.trait("clock", {"began": 0.0, "ended": None, "now": 90.0, "expires": None})
    assert strip.evaluate(right) < 2
    strip.evaluate("(el) => { el.scrollLeft = 10; return hk.frame(); }")
    panel.trait("clock", {"began": 0.0, "ended": None, "now": 120.0, "expires": None})
    assert strip.evaluate("(el) => el.scrollLeft") == 10


# ---------------------------------------------------------------------------------------------------- ticket


def test_a_ticket_shows_choices_lists_and_every_attempt(opened: Open) -> None:
    panel = opened("after")
    expect(panel.page.locator(".hk-opt").nth(1)).to_have_text("lowmediumhigh")
    expect(panel.page.locator(".hk-opt b").nth(1)).to_have_text("high")
    expect(panel.page.locator(".hk-fields ol li")).to_have_count(2)
    expect(panel.page.locator(".hk-try--bad p")).to_have_text("priority: 'urgent' is not one of low, medium, high")


def test_a_handoff_that_failed_says_why_with_its_attempts(opened: Open) -> None:
    panel = opened("after")
    attempts = [{"n": 1, "ok": False, "words": "priority: missing", "seconds": 1.0, "tokens": 0}]
    panel.trait(
        "ticket",
        {
            "ok": False,
            "title": "Ticket",
            "error": "No valid ticket after 3 attempts.",
            "attempts": attempts,
            "fields": [],
            "tokens": 0,
            "cost": "no cost",
        },
    )
    expect(panel.page.locator(".hk-why")).to_have_text("No valid ticket after 3 attempts.")
    expect(panel.page.locator(".hk-try p")).to_have_text("priority: missing")
    expect(panel.page.get_by_role("button", name="Copy JSON")).to_have_count(0)
    expect(panel.page.locator(".hk-nums")).to_have_text("Costno cost")


# --------------------------------------------------------------------------------------- sound: files, playback


def speech_like(seconds: float, pitch: float) -> "np.ndarray[Any, np.dtype[np.int16]]":
    t = np.arange(int(seconds * RATE)) / RATE
    loud = 0.5 + 0.5 * np.sin(2 * np.pi * 3 * t + pitch)
    return (9000 * loud * np.sin(2 * np.pi * pitch * t * (1 + 0.1 * t))).astype(np.int16)


def spoken(panel: Panel) -> dict[str, "np.ndarray[Any, np.dtype[np.int16]]"]:
    """Show a call of 3.4 s: a turn, a reply that was cut at 0.7 s, and the turn that cut it."""
    clips = {"c1": speech_like(0.8, 300), "a1": speech_like(0.7, 500), "c2": speech_like(0.6, 800)}
    rows = [
        row("c1", "c", 0.2, 1.0, "One."),
        row("a1", "a1", 1.3, 3.3, "Two", interrupted=True, heard_ms=700, total_ms=2000, unheard="and more"),
        row("c2", "c", 1.8, 2.4, "Three."),
    ]
    panel.trait("clock", {"began": 0.0, "ended": 3.0, "now": 3.0, "expires": None})
    panel.show(rows)
    panel.answer_clips(clips)
    return clips


def test_a_turn_is_saved_as_a_wav_file(opened: Open, tmp_path: Path) -> None:
    panel = opened("after")
    clips = spoken(panel)
    panel.rows.nth(2).hover()
    with panel.page.expect_download() as download:
        panel.rows.nth(2).get_by_role("button", name="Save this turn as WAV").click()
    assert download.value.suggested_filename == "turn-2.wav"
    download.value.save_as(tmp_path / "turn-2.wav")
    with wave.open(io.BytesIO((tmp_path / "turn-2.wav").read_bytes())) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (RATE, 1, 2)
        assert file.readframes(file.getnframes()) == clips["c2"].astype("<i2").tobytes()


def test_a_turn_without_sound_says_so_on_its_button(opened: Open) -> None:
    panel = opened("after")
    panel.answer_clips({})
    panel.rows.first.hover()
    panel.rows.first.get_by_role("button", name="Save this turn as WAV").click()
    expect(
        panel.rows.first.get_by_role("button", name="The kernel keeps no sound of this turn any more.")
    ).to_be_visible()


def test_playback_sounds_as_the_call_did_and_the_cursor_runs_with_it(opened: Open) -> None:
    panel = opened("after")
    clips = spoken(panel)
    play, pause = (panel.page.get_by_role("button", name=name, exact=True) for name in ("Play", "Pause"))
    play.click()
    panel.page.wait_for_function("tap.ready")
    pause.click()
    panel.page.get_by_role("slider").press("Home")
    watch(panel)
    panel.page.evaluate("tap.blocks.length = 0")
    play.click()
    expect(pause).to_be_visible()
    expect(play).to_be_visible()
    marked, cursor = panel.page.evaluate("[watched.marked, watched.cursor]")
    assert marked == ["c1", "a1", "c2"]
    assert cursor == sorted(cursor)
    assert len(cursor) > 10
    assert cursor[-1] >= 2.3
    heard, rate = recorded(panel)
    alone = {"c1": 0.0, "a1": 0.0, "c2": 0.25}  # from here on 0.3 s of each sound while no other does
    begins = {k: found_at(heard, clips[k], rate, start) for k, start in alone.items()}
    for k, (_, likeness) in begins.items():
        assert likeness > 0.9, (k, begins)
    assert abs(begins["a1"][0] - begins["c1"][0] - 1.1) < 0.05
    assert abs(begins["c2"][0] - begins["a1"][0] - 0.5) < 0.05
    assert [message["k"] for message in panel.said("clip")] == ["c1", "a1", "c2"]


def watch(panel: Panel) -> None:
    """Write down which rows are marked as heard, in order, and where the cursor of the playback stands."""
    panel.page.evaluate(
        """() => {
          const {marked, cursor} = (window.watched = {marked: [], cursor: []});
          const look = () => {
            for (const el of document.querySelectorAll(".hk-log li[aria-current]")) {
              if (!marked.includes(el.dataset.id)) marked.push(el.dataset.id);
            }
            const now = document.querySelector(".hk-now--play");
            if (now) cursor.push(Number(now.style.getPropertyValue("--s")));
          };
          const options = {attributes: true, subtree: true, childList: true};
          new MutationObserver(look).observe(document.querySelector(".hk-panel"), options);
        }"""
    )


def recorded(panel: Panel) -> tuple["np.ndarray[Any, np.dtype[np.float64]]", float]:
    rate, text = panel.page.evaluate(
        """async () => {
          const reader = new FileReader();
          const read = new Promise((done) => (reader.onload = done));
          reader.readAsDataURL(new Blob(tap.blocks));
          await read;
          return [tap.rate, reader.result.split(",")[1]];
        }"""
    )
    return np.frombuffer(base64.b64decode(text), "<i2") / 32767, rate


def found_at(heard: Any, clip: Any, rate: float, start: float) -> tuple[float, float]:
    """Return when a clip begins to sound (s) and how like it is, by the 0.3 s of it from *start*."""
    part = clip[int(start * RATE) : int((start + 0.3) * RATE)] / 32768
    wanted = np.interp(np.arange(int(0.3 * rate)) / rate, np.arange(len(part)) / RATE, part)
    size = 1 << (len(heard) + len(wanted)).bit_length()
    products = np.fft.irfft(np.fft.rfft(heard, size) * np.conj(np.fft.rfft(wanted, size)), size)
    at = int(np.argmax(products[: len(heard) - len(wanted)]))
    piece = heard[at : at + len(wanted)]
    return at / rate - start, float(np.dot(piece, wanted) / (np.linalg.norm(piece) * np.linalg.norm(wanted) + 1e-9))


def test_a_typed_call_has_nothing_to_play(opened: Open) -> None:
    panel = opened("after")
    panel.show(
        [row("t1", "c", 1, 1, "Hello", typed=True, clip=False, total_ms=0), row("t2", "a1", 2, 2, "Hi", clip=False)]
    )
    panel.page.get_by_role("button", name="Play", exact=True).click()
    expect(panel.page.locator(".hk-dock--play")).to_contain_text("Typed call: nothing to play")


def test_one_turn_is_played_alone(opened: Open) -> None:
    panel = opened("after")
    spoken(panel)
    panel.rows.nth(1).hover()
    watch(panel)
    panel.rows.nth(1).get_by_role("button", name="Play this turn").click()
    expect(panel.page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    expect(panel.page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    marked, cursor = panel.page.evaluate("[watched.marked, watched.cursor]")
    assert marked == ["a1"]
    assert 1.25 <= cursor[0] < cursor[-1] <= 2.1
    assert [message["k"] for message in panel.said("clip")] == ["a1"]
