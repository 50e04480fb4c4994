"""The call panel in a real browser and without a kernel: drawn in every state, driven with real clicks and keys."""

import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Generator
from typing import TYPE_CHECKING, Any

import page_states
import pytest
import pytest_asyncio
from lab import FAKE_MICROPHONE, chromium
from page_harness import serving
from playwright.async_api import expect

if TYPE_CHECKING:
    from playwright.async_api import Browser, Locator, Page

pytestmark = pytest.mark.asyncio(loop_scope="module")
expect.set_options(timeout=20_000)
HOSTILE = "</script><img src=x onerror=window.pwned=1><b>bold</b>"
WORDS = {
    "before": "Ready",
    "before-live": "Ready",
    "starting": "Starting",
    "during": "On call",
    "ending": "Hanging up",
    "ended": "Ended",
    "after": "Ended",
    "trouble-mic": "On call, no sound",
    "trouble-ended": "Ended early",
    "approval": "On call",
    "watching": "Watching",
}
COUNTED = """(() => {
  const alive = (window.alive = {timers: new Set(), workers: 0, listeners: 0});
  const {setInterval: every, clearInterval: stop} = window;
  window.setInterval = (...given) => { const id = every(...given); alive.timers.add(id); return id; };
  window.clearInterval = (id) => { alive.timers.delete(id); stop(id); };
  const Real = window.Worker;
  window.Worker = class extends Real {
    constructor(...given) { super(...given); alive.workers++; }
    terminate() { alive.workers--; super.terminate(); }
  };
  for (const target of [window, document]) {
    const {addEventListener: add, removeEventListener: remove} = target;
    const known = (alive.known ??= []);
    const at = (type, fn) => known.findIndex(([a, b]) => a === type && b === fn);
    target.addEventListener = function (type, fn, options) {
      const own = !type.startsWith("__playwright") && !String(fn).includes("_hitTarget");
      if (own && at(type, fn) < 0) { known.push([type, fn]); alive.listeners++; }
      return add.call(target, type, fn, options);
    };
    target.removeEventListener = function (type, fn, options) {
      const n = at(type, fn);
      if (n >= 0) { known.splice(n, 1); alive.listeners--; }
      return remove.call(target, type, fn, options);
    };
  }
})()"""


@pytest.fixture(scope="module")
def address() -> Generator[str]:
    with serving() as url:
        yield url


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> "AsyncIterator[Browser]":
    async with chromium(*FAKE_MICROPHONE) as browser:
        yield browser


class Panel:
    """The panel on the harness page, and what it has sent."""

    def __init__(self, page: "Page") -> None:
        self.page = page
        self.el = page.locator(".hk-panel").first
        self.talk = self.el.locator(".hk-talk:visible").first
        self.box = self.el.get_by_label("Type as the caller")

    def button(self, name: str) -> "Locator":
        return self.el.get_by_role("button", name=name, exact=True)

    async def sent(self, *kinds: str) -> list[dict[str, Any]]:
        """Return what the page has sent, without its id; of *kinds* alone if any are given."""
        found: list[dict[str, Any]] = await self.page.evaluate("hk.frame().then(() => hk.sent)")
        wanted = [message for message in found if not kinds or message["t"] in kinds]
        return [{key: value for key, value in message.items() if key not in {"page", "bytes"}} for message in wanted]

    async def trait(self, name: str, value: Any) -> None:
        """Set a trait, as the kernel does; a dict is merged into what the trait is."""
        verb = "merge" if isinstance(value, dict) and name != "error" else "trait"
        await self.page.evaluate(f"([name, value]) => (hk.{verb}(name, value), hk.frame())", [name, value])

    async def message(self, message: dict[str, Any]) -> None:
        await self.page.evaluate("(message) => (hk.message(message), hk.frame())", message)

    async def looks(self, question: str) -> list[str]:
        """Return what a function of looks.js finds wrong."""
        found: list[str] = await self.page.evaluate("(name) => hk.looks[name]()", question)
        return found

    async def until(self, condition: str, arg: Any = None) -> None:
        """Wait until something is true in the page, bounded."""
        await self.page.wait_for_function(condition, arg=arg, timeout=10_000)

    async def hear(self) -> None:
        """Start the page's microphone, which is the browser's own pretended one."""
        await self.button("Start microphone").click()
        await self.until("document.querySelector('.hk-talk').textContent.startsWith('Talk')")
        await self.until(
            "performance.now() > window.settled", await self.page.evaluate("window.settled = performance.now() + 550")
        )

    async def talks(self, *downs: bool) -> None:
        """Wait until exactly these presses and releases have been sent."""
        await self.until(
            "(downs) => JSON.stringify(hk.said('talk').map(({down}) => down)) === JSON.stringify(downs)", list(downs)
        )

    async def word(self) -> str:
        return (await self.el.locator(".hk-state [role=status]").inner_text()).strip()


@contextlib.asynccontextmanager
async def opened(
    browser: "Browser",
    address: str,
    state: str,
    theme: str = "light",
    width: str = "980",
    more: str = "",
    init: str = "",
) -> "AsyncGenerator[Panel]":
    """Open the harness in a state; whatever the page raises meanwhile fails the test."""
    context = await browser.new_context(viewport={"width": int(width.split(",")[0]) + 16, "height": 900})
    page = await context.new_page()
    raised: list[str] = []
    page.on("pageerror", lambda error: raised.append(str(error)))
    if init:
        await page.add_init_script(init)
    try:
        await page.goto(f"{address}/?state={state}&theme={theme}&width={width}{more}")
        await page.wait_for_selector("body[data-ready]", timeout=20_000)
        yield Panel(page)
        assert raised == []
    finally:
        await context.close()


# How it looks.


@pytest.mark.parametrize("state", list(page_states.states()))
async def test_every_state_is_drawn_whole_named_and_readable(browser: "Browser", address: str, state: str) -> None:
    async with opened(browser, address, state) as panel:
        for width in (980, 600, 360):
            await panel.page.evaluate("(width) => (hk.width(width), hk.frame())", width)
            word = await panel.word()
            assert word == WORDS[state] or (width == 360 and word.lower() in WORDS[state].lower())
            for theme in ("light", "dark"):
                await panel.page.evaluate("(name) => hk.theme(name).then(() => hk.frame())", theme)
                assert await panel.looks("faint") == [], (theme, width)
            assert await panel.looks("nameless") == []
            assert await panel.looks("spilling") == []
            assert await panel.el.get_by_role("alert").count() == 1


async def test_a_call_that_is_ready_shows_who_answers_and_asks_for_one_thing(browser: "Browser", address: str) -> None:
    async with opened(browser, address, "before") as panel:
        words = await panel.el.inner_text()
        for part in ("Simulated on this machine", "Nothing leaves this machine", "Support agent", "Ticket, 4 fields"):
            assert part in words
        assert await panel.el.locator(".hk-btn--primary:visible").count() == 1
        assert await panel.box.is_disabled()
        options = await panel.el.get_by_label("Microphone", exact=True).locator("option").all_inner_texts()
        assert options[-1] == "No microphone, typing only"
        assert "USB headset (kernel's sound card)" in options


async def test_the_clock_runs_in_the_page(browser: "Browser", address: str) -> None:
    async with opened(browser, address, "during") as panel:
        clock = panel.el.locator(".hk-clock")
        first = await clock.inner_text()
        assert "0:47" <= first <= "0:59"
        await panel.until("(first) => document.querySelector('.hk-clock').textContent > first", first)
        await panel.trait("clock", {"ended": 51.2})
        await panel.trait("phase", "ended")
        await panel.until("document.querySelector('.hk-clock').textContent === '0:51'")


async def test_while_nobody_speaks_a_call_is_drawn_once_a_second(browser: "Browser", address: str) -> None:
    async with opened(browser, address, "watching") as panel:
        await panel.trait("clock", {"now": 100})
        await panel.message(page_states.snapshot([page_states.row("x0", "c", 40, 42, "Hello.")]))
        await panel.page.evaluate("""() => {
          const clock = document.querySelector(".hk-clock");
          const look = () => window.draws.push(clock.textContent);
          window.draws = [];
          new MutationObserver(look).observe(document.querySelector(".hk-now"), {attributeFilter: ["style"]});
        }""")
        await panel.until("window.draws.length >= 4")
        draws = await panel.page.evaluate("window.draws")
        assert len(set(draws)) == len(draws), draws
        row = page_states.row("x1", "c", 101, 101, "I have", pending=True)
        await panel.message({"t": "rows", "rows": [row]})
        await panel.until("new Set(window.draws).size < window.draws.length")


async def test_words_of_others_are_never_markup(browser: "Browser", address: str) -> None:
    async with opened(browser, address, "approval") as panel:
        row = page_states.row("x1", "c", 48, 49, HOSTILE, tail=HOSTILE, name=HOSTILE, note=HOSTILE)
        tool = page_states.row("x2", "t", 49, 50, kind="tool", call=HOSTILE, output=HOSTILE, ms=3)
        over = page_states.row("x3", "a2", 50, 50, HOSTILE, kind="over", note=HOSTILE)
        await panel.message({"t": "rows", "rows": [row, tool, over]})
        await panel.message({"t": "events", "list": [page_states.event(900, 50, HOSTILE, "words", "c", HOSTILE)]})
        await panel.trait("facts", {"title": HOSTILE, "agent": HOSTILE, "hands_to": HOSTILE, "who": {"short": HOSTILE}})
        await panel.trait("error", {"id": "x", "tone": "warn", "fact": HOSTILE, "advice": HOSTILE, "action": None})
        await panel.trait("approvals", [{"id": HOSTILE, "name": HOSTILE, "arguments": HOSTILE}])
        await panel.el.get_by_role("tab", name="Events").click()
        ticket = page_states.TICKET | {"title": HOSTILE, "valid": HOSTILE, "error": HOSTILE}
        field = {"name": HOSTILE, "type": HOSTILE, "kind": "text", "value": HOSTILE}
        await panel.page.evaluate("(ticket) => hk.trait('ticket', ticket)", ticket | {"fields": [field]})
        await panel.trait("phase", "ended")
        await panel.el.get_by_role("tab", name="Transcript").click()
        assert await panel.page.evaluate(
            "[window.pwned, document.querySelectorAll('.hk-panel :is(img, script)').length]"
        ) == [None, 0]
        assert HOSTILE in await panel.el.inner_text()


async def test_ten_thousand_events_and_rows_stay_bounded_and_the_page_alive(browser: "Browser", address: str) -> None:
    async with opened(browser, address, "during") as panel:
        await panel.page.evaluate(
            """async ([row, event]) => {
              for (let n = 0; n < 10000; n += 250) {
                const list = Array.from({length: 250}, (_, m) => ({...event, q: 1000 + n + m, at: 60 + n / 100}));
                hk.message({t: "events", list});
                hk.message({t: "rows", rows: list.slice(0, 50).map(({q, at}) => ({...row, k: `m${q}`, at, end: at}))});
              }
              await hk.frame();
            }""",
            [page_states.row("m", "c", 0, 1, "words"), page_states.event(0, 0, "words", "words", "c", "words")],
        )
        assert await panel.page.evaluate("document.querySelectorAll('.hk-panel li').length") < 200
        await panel.el.get_by_role("tab", name="Events").click()
        await panel.page.evaluate("hk.frame()")
        assert await panel.page.evaluate("document.querySelectorAll('.hk-panel .hk-ev').length") in range(1, 200)
        assert await panel.page.evaluate("document.querySelectorAll('.hk-panel *').length") < 4000


# What it does.


async def test_start_is_said_once_and_a_double_click_neither_hangs_up_nor_talks(
    browser: "Browser", address: str
) -> None:
    async with opened(browser, address, "before") as panel:
        await panel.page.evaluate(
            """() => {
              const begin = () => (hk.merge("clock", {began: 0, now: 0}), hk.trait("phase", "on"));
              hk.answer = ({t}) => t === "start" && begin();
            }"""
        )
        box = await panel.talk.bounding_box()
        assert box
        await panel.page.mouse.dblclick(box["x"] + 60, box["y"] + 15)
        await panel.until("hk.model.get('phase') === 'on'")
        assert [message["t"] for message in await panel.sent("start", "hangup", "talk")] == ["start"]
        now = await panel.talk.bounding_box()
        assert now
        assert now["width"] == pytest.approx(box["width"], abs=1)
        assert now["x"] == pytest.approx(box["x"], abs=1)


async def test_a_typed_turn_stays_until_the_kernel_has_it(browser: "Browser", address: str) -> None:
    async with opened(browser, address, "during") as panel:
        await panel.box.fill("  It is  order A-17 ")
        await panel.box.press("Enter")
        await panel.box.press("Enter")
        assert await panel.sent("say") == [{"t": "say", "text": "It is  order A-17"}]
        assert await panel.box.input_value() != ""
        await panel.message({"t": "rows", "rows": [page_states.row("n1", "c", 50, 50, "It is order A-17", typed=True)]})
        assert await panel.box.input_value() == ""


async def test_words_typed_ahead_are_kept_when_the_turn_before_is_taken(browser: "Browser", address: str) -> None:
    async with opened(browser, address, "during") as panel:
        await panel.box.fill("First.")
        await panel.box.press("Enter")
        await panel.box.press_sequentially(" Second.")
        await panel.message({"t": "rows", "rows": [page_states.row("n1", "c", 50, 50, "First.", typed=True)]})
        assert await panel.box.input_value() == "Second."


@pytest.mark.parametrize("how", ["error", "closed", "ended"])
async def test_a_typed_turn_that_fails_is_kept(browser: "Browser", address: str, how: str) -> None:
    async with opened(browser, address, "during") as panel:
        if how == "closed":
            await panel.page.evaluate("hk.closed = true")
        await panel.box.fill("It is order A-17")
        await panel.box.press("Enter")
        if how == "error":
            await panel.trait(
                "error", {"id": "verb-1", "tone": "warn", "fact": "Not sent.", "advice": "", "action": None}
            )
        if how == "ended":
            await panel.trait("phase", "ended")
            await panel.trait("phase", "on")
        assert await panel.box.input_value() == "It is order A-17"
        if how != "closed":
            await panel.box.press("Enter")
            assert len(await panel.sent("say")) == 2
        else:
            assert "Not sent" in await panel.el.inner_text()


async def test_space_talks_while_the_panel_has_the_focus(browser: "Browser", address: str) -> None:
    async with opened(browser, address, "during") as panel:
        await panel.hear()
        await panel.page.evaluate("window.leaked = 0; document.addEventListener('keydown', () => leaked++)")
        await panel.el.focus()
        for _ in range(5):
            await panel.page.keyboard.down(" ")
        await panel.talks(True)
        await expect(panel.talk).to_have_attribute("aria-pressed", "true")
        await panel.page.keyboard.up(" ")
        await panel.talks(True, False)
        assert await panel.page.evaluate("leaked") == 0


async def test_space_is_left_to_fields_buttons_and_tabs(browser: "Browser", address: str) -> None:
    async with opened(browser, address, "during") as panel:
        await panel.hear()
        await panel.box.focus()
        await panel.page.keyboard.type("a b")
        assert await panel.box.input_value() == "a b"
        await panel.button("Mute").focus()
        await panel.page.keyboard.press(" ")
        await panel.el.get_by_role("tab", name="Transcript").focus()
        await panel.page.keyboard.press(" ")
        assert await panel.sent("talk") == []
        assert await panel.sent("mute") == [{"t": "mute", "on": True}]


@pytest.mark.parametrize("how", ["blur", "hidden", "focus elsewhere", "hung up"])
async def test_talk_is_let_go_when_the_hold_is_lost(browser: "Browser", address: str, how: str) -> None:
    async with opened(browser, address, "during") as panel:
        await panel.hear()
        await panel.el.focus()
        await panel.page.keyboard.down(" ")
        if how == "blur":
            await panel.page.evaluate("window.dispatchEvent(new Event('blur'))")
        elif how == "hidden":
            await panel.page.evaluate(
                "Object.defineProperty(document, 'hidden', {value: true});"
                "document.dispatchEvent(new Event('visibilitychange'))"
            )
        elif how == "focus elsewhere":
            await panel.page.evaluate("document.activeElement.blur()")
        else:
            await panel.trait("phase", "ending")
        await panel.talks(True, False)


async def test_talk_is_held_with_the_pointer(browser: "Browser", address: str) -> None:
    async with opened(browser, address, "during") as panel:
        await panel.hear()
        await panel.talk.hover()
        await panel.page.mouse.down()
        await panel.talks(True)
        await panel.page.mouse.move(500, 20)
        await panel.page.mouse.up()
        await panel.talks(True, False)


async def test_every_control_says_what_it_does_to_the_kernel(browser: "Browser", address: str) -> None:
    async with opened(browser, address, "approval") as panel:
        await panel.button("Approve").click()
        await panel.button("Mute").click()
        await panel.button("Mute").click()
        await panel.el.get_by_role("switch", name="Hands-free").click()
        await panel.message({"t": "rows", "rows": [page_states.row("s1", "a2", 48, 49, "Well", pending=True)]})
        await panel.button("Stop").click()
        await panel.button("Hand off").click()
        await panel.button("Hang up").click()
        kinds = ("approve", "mute", "hands_free", "interrupt", "handoff", "hangup")
        assert await panel.sent(*kinds) == [
            {"t": "approve", "id": "call_1", "yes": True},
            {"t": "mute", "on": True},
            {"t": "mute", "on": False},
            {"t": "hands_free", "on": True},
            {"t": "interrupt"},
            {"t": "handoff"},
            {"t": "hangup"},
        ]
        await expect(panel.button("Approve")).to_be_disabled()
        await panel.trait("approvals", [])
        await expect(panel.button("Approve")).to_have_count(0)


async def test_after_the_call_the_main_act_is_to_hand_off_and_then_to_play(browser: "Browser", address: str) -> None:
    async with opened(browser, address, "ended") as panel:
        assert (await panel.talk.inner_text()).strip() == "Hand off"
        await panel.talk.click()
        await panel.talk.filter(has_text="Handing off").wait_for()  # drawn with the next frame
        await panel.talk.click(force=True)
        assert await panel.sent("handoff") == [{"t": "handoff"}]
        await panel.page.evaluate("(ticket) => hk.trait('ticket', ticket)", page_states.TICKET)
        await panel.trait("controls", {"handing_off": False})
        await expect(panel.talk).to_have_text("Play")
        assert "valid on attempt 2" in await panel.el.inner_text()
        await panel.button("Hand off again").click()
        await panel.button("New call").click()
        assert [message["t"] for message in await panel.sent("handoff", "new")] == ["handoff", "handoff", "new"]


async def test_with_nobody_to_hand_over_to_the_reason_is_said(browser: "Browser", address: str) -> None:
    async with opened(browser, address, "trouble-ended") as panel:
        assert (await panel.talk.inner_text()).strip() == "Play"
        off = panel.button("Hand off")
        assert "call.panel(handoff_to=agent)" in (await off.get_attribute("title") or "")
        await off.click(force=True)
        assert await panel.sent("handoff") == []


async def test_a_panel_that_watches_has_no_verbs(browser: "Browser", address: str) -> None:
    async with opened(browser, address, "watching") as panel:
        for name in ("Start call", "Hang up", "Mute", "Hand off", "Send", "Stop"):
            assert await panel.button(name).count() == 0, name
        await panel.el.focus()
        await panel.page.keyboard.press(" ")
        assert [message["t"] for message in await panel.sent() if message["t"] not in {"hello", "beat"}] == []


async def test_the_tabs_move_with_the_arrow_keys(browser: "Browser", address: str) -> None:
    async with opened(browser, address, "during") as panel:
        await panel.el.get_by_role("tab", name="Transcript").focus()
        await panel.page.keyboard.press("ArrowRight")
        tab = panel.el.get_by_role("tab", name="Events")
        await panel.until("document.querySelector('[role=tab][aria-selected=true]').textContent.startsWith('Events')")
        assert await panel.el.get_by_role("tabpanel").count() == 1
        assert await tab.evaluate("(el) => el === document.activeElement")


async def test_the_microphone_can_be_changed_during_the_call(browser: "Browser", address: str) -> None:
    async with opened(browser, address, "trouble-mic") as panel:
        await panel.el.get_by_role("alert").get_by_role("button", name="Change microphone").click()
        select = panel.el.get_by_label("Microphone", exact=True)
        await panel.until("document.activeElement?.matches('.hk-setup select')")
        await select.select_option("card:0")
        assert {"t": "microphone", "id": "card:0"} in await panel.sent("microphone")
        await panel.button("Done").click()
        await select.wait_for(state="hidden", timeout=10_000)


# When something is not there.


async def test_a_kernel_that_answers_no_beat_is_said_and_nothing_typed_is_lost(
    browser: "Browser", address: str
) -> None:
    async with opened(browser, address, "during", more="&mute=1&beat=50") as panel:
        await panel.box.fill("Not lost")
        alert = panel.el.get_by_role("alert")
        await panel.until("document.querySelector('.hk-panel [role=alert]').textContent.includes('does not answer')")
        assert "What you have typed is kept" in await alert.inner_text()
        assert await panel.word() == "On call, no answer"
        assert await panel.box.input_value() == "Not lost"
        await panel.page.evaluate("hk.mute = false")
        await panel.until("document.querySelector('.hk-panel [role=alert]').textContent === ''")
        assert await panel.box.input_value() == "Not lost"


async def test_a_panel_whose_parts_are_missing_says_so(browser: "Browser", address: str) -> None:
    async with browser_page(browser, f"{address}/?state=during&broken=1") as page:
        words = await page.get_by_role("alert").inner_text()
        assert "app.js is missing" in words
        assert "Run the cell again" in words


@contextlib.asynccontextmanager
async def browser_page(browser: "Browser", url: str) -> "AsyncGenerator[Page]":
    context = await browser.new_context()
    page = await context.new_page()
    try:
        await page.goto(url)
        await page.wait_for_selector("body[data-ready]", timeout=20_000)
        yield page
    finally:
        await context.close()


async def test_after_a_reload_the_panel_says_that_the_microphone_stopped(browser: "Browser", address: str) -> None:
    mark = "sessionStorage.setItem('handoffkit.microphone', 'open')"
    async with opened(browser, address, "during", init=mark) as panel:
        alert = panel.el.get_by_role("alert")
        assert "loaded again, so the microphone stopped" in await alert.inner_text()
        await alert.get_by_role("button", name="Start it again").click()
        await panel.until("document.querySelector('.hk-panel [role=alert]').textContent === ''")
        assert [message["name"] for message in await panel.sent("mic")] != []
        await panel.page.reload()
        await panel.page.wait_for_selector("body[data-ready]")
        assert "loaded again" in await alert.inner_text()
    async with opened(browser, address, "during") as panel:
        assert await panel.el.get_by_role("alert").inner_text() == ""


# Two views, and no views.


async def test_two_views_show_the_same_call_and_one_may_go(browser: "Browser", address: str) -> None:
    async with opened(browser, address, "during", width="980,600") as panel:
        panels = panel.page.locator(".hk-panel")
        assert await panels.count() == 2
        assert len(await panel.sent("hello")) == 1
        await panels.nth(1).get_by_role("button", name="Mute", exact=True).click()
        mute = panels.nth(0).get_by_role("button", name="Mute", exact=True)
        await expect(mute).to_have_attribute("aria-pressed", "true")
        await panels.nth(0).get_by_role("tab", name="Events").click()
        assert await panels.nth(1).get_by_role("tab", name="Events").get_attribute("aria-selected") == "false"
        await panel.page.evaluate("hk.ends[0](), hk.frame()")
        assert await panels.count() == 1
        await panel.trait("phase", "ending")
        assert await panel.word() == "Hanging up"


async def test_nothing_is_left_when_the_last_view_is_gone(browser: "Browser", address: str) -> None:
    async with opened(browser, address, "during", width="980,360", init=COUNTED) as panel:
        before = await panel.page.evaluate("[hk.model.count(), alive.workers, alive.listeners, alive.timers.size]")
        assert min(before[:3]) > 0
        await panel.page.evaluate("hk.ends.forEach((end) => end()); hk.end(); hk.frame()")
        await panel.until("hk.model.count() === 0")
        after = await panel.page.evaluate("[hk.model.count(), alive.workers, alive.listeners, alive.timers.size]")
        assert after == [0, 0, 0, 0]
        assert await panel.page.evaluate("document.querySelectorAll('.hk-panel').length") == 0
