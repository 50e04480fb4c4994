"""How the panel looks in JupyterLab: light and dark, 980 and 360 pixels wide, before, during and after a call.

The pictures go to the folder that HANDOFFKIT_SHOTS names, else to a temporary one. A picture is for eyes; what a
program can see is asserted: nothing overflows, every control has a name, every word can be read.
"""

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, get_args

import pytest
import pytest_asyncio
from lab import IN_LAB, Lab, Notebook, Opener, Theme
from panel_page import Panel, cells, opened

pytestmark = IN_LAB

WIDTHS = (980, 360)
CONTRAST = 4.5
"""The least contrast of words against what is behind them (WCAG 2.2, 1.4.3)."""
TOOL = '''
@voice.tool_plain
def find_known_faults(product: str, symptom: str) -> str:
    """Look for known faults."""
    return "2 articles"
'''
LINES = """[
    "Sorry to hear that. Is it the original charger, and does it work from another socket?",
    hk.ToolCall("find_known_faults", {"product": "laptop", "symptom": "not charging"}),
    "That points to the charging port or the battery board. I'll open a repair ticket. Has any liquid been near it?",
    "Thank you. Somebody will call you back today.",
]"""
BAD = {
    "summary": "Laptop does not charge.",
    "category": "hardware",
    "priority": "urgent",
    "follow_up_questions": [],
}
GOOD = BAD | {"priority": "high", "follow_up_questions": ["How long does it run on its battery?", "Is the port loose?"]}
SAYS = (
    "Hi, my laptop stopped charging last night. The light next to the plug stays off.",
    "Yes, the original one. I tried two sockets. It gets warm, but no light.",
    "No, nothing. I have a presentation tomorrow.",
)
LOOKED_AT = """(panel) => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
  const rgba = (colour, under) => {
    canvas.clearRect(0, 0, 1, 1);
    if (under) { canvas.fillStyle = `rgb(${under})`; canvas.fillRect(0, 0, 1, 1); }
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const behind = (element) => {
    const stack = [];
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      const alpha = rgba(colour)[3];
      if (alpha) stack.unshift(colour);
      if (alpha === 255) break;
    }
    return stack.reduce((under, colour) => rgba(colour, under).slice(0, 3), [255, 255, 255]);
  };
  const light = (colour) => {
    const [r, g, b] = colour.map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const shown = (element) => element.checkVisibility({opacityProperty: true, visibilityProperty: true});
  const read = [];
  const walker = document.createTreeWalker(panel, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent.trim();
    const off = element.closest(":disabled, [aria-disabled=true], option, .hk-sr");
    if (!text || !shown(element) || off) continue;
    const ground = behind(element);
    const ink = rgba(getComputedStyle(element).color, ground).slice(0, 3);
    const [low, high] = [light(ink), light(ground)].sort((a, b) => a - b);
    const ratio = (high + 0.05) / (low + 0.05);
    read.push([Math.round(100 * ratio) / 100, text.slice(0, 40)]);
  }
  const box = panel.getBoundingClientRect();
  const inside = (element) => !element.closest(".hk-tl-scroll, pre, .hk-sr, .hk-log, .hk-events");
  const out = [...panel.querySelectorAll("*")].filter((element) => {
    const {left, right, width} = element.getBoundingClientRect();
    return width && shown(element) && inside(element) && (right > box.right + 1 || left < box.left - 1);
  });
  const nameless = [...panel.querySelectorAll("button, input, select, [role=slider]")].filter((control) =>
    shown(control) && !(control.ariaLabel || control.innerText?.trim() || control.labels?.length || control.title));
  const tight = [...panel.querySelectorAll("button")].filter((control) => {
    const {width, height} = control.getBoundingClientRect();
    return shown(control) && width && (width < 24 || height < 20);
  });
  const words = (elements) => elements.map((each) => {
    const {width, height} = each.getBoundingClientRect();
    return `${Math.round(width)} × ${Math.round(height)} ${each.outerHTML.slice(0, 120)}`;
  });
  return {words: read, out: words(out), nameless: words(nameless), tight: words(tight),
    overflow: panel.scrollWidth - panel.clientWidth};
}"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return where pictures go."""
    named = os.environ.get("HANDOFFKIT_SHOTS")
    place = Path(named) if named else tmp_path
    place.mkdir(parents=True, exist_ok=True)
    return place


async def shoot(panel: Panel, name: str, folder: Path) -> list[str]:
    """Take pictures of the panel in both themes and widths; return what a program can see that is wrong."""
    wrong = []
    for theme in get_args(Theme):
        await panel.notebook.theme(theme)
        for width in WIDTHS:
            await panel.notebook.width(width, panel.el)
            await panel.notebook.settled()
            await panel.el.screenshot(path=folder / f"{name}-{width}-{theme}.png")
            wrong += [f"{name}-{width}-{theme}: {each}" for each in faults(await panel.el.evaluate(LOOKED_AT))]
    await panel.notebook.width(WIDTHS[0], panel.el)
    return wrong


def faults(found: dict[str, Any]) -> list[str]:
    """Return what does not fit, has no name, is too small to be hit, or cannot be read."""
    wrong = [f"{found['overflow']} px too wide"] if found["overflow"] > 0 else []
    for kind in ("out", "nameless", "tight"):
        wrong += [f"{kind}: {each}" for each in found[kind]]
    assert found["words"], "no words were found"
    return wrong + [f"contrast {ratio}: {words}" for ratio, words in found["words"] if ratio < CONTRAST]


def both(*given: str, lines: str = LINES) -> list[str]:
    """Return the cells of the call that is shown."""
    outputs = f"[{BAD}, {GOOD}]"
    model = f"{{'gpt-realtime': hk.ScriptedModel({lines}), 'gpt-5.2': hk.ScriptedModel(outputs={outputs})}}"
    first, second = cells(f"speech=False, model={model}")
    agents, rest = second.split("triage =", 1)
    return [first, agents + TOOL + "triage =" + rest, *given]


async def answered(notebook: Notebook, turns: int) -> None:
    """Wait until so many turns stand in the call, the last one complete and the agent's."""
    done = "call.turns[-1].speaker == 'agent' and not call.turns[-1].pending"
    await notebook.until(f"len(call.turns) >= {turns} and {done}")


@pytest_asyncio.fixture(loop_scope="session")
async def light_again(notebooks: Opener) -> AsyncIterator[Opener]:
    """Leave Lab as it was found: the theme is a setting of the server's."""
    yield notebooks
    for notebook in notebooks.opened[:1]:
        await notebook.theme("light")


async def test_a_call_from_before_to_after(light_again: Opener, folder: Path, lab: Lab) -> None:
    notebook = await light_again(*both())
    panel = await opened(notebook)
    wrong = await shoot(panel, "1-before", folder)
    await panel.start()
    for number, text in enumerate(SAYS, 1):
        await panel.say(text)
        await answered(notebook, 2 * number)
    wrong += await shoot(panel, "2-during", folder)
    await panel.el.get_by_role("tab", name="Events").click()
    await panel.el.locator(".hk-ev").filter(has_text="response.done").last.get_by_role("button").first.click()
    await panel.el.locator(".hk-json pre").first.wait_for()
    wrong += await shoot(panel, "4-events", folder)
    await panel.el.get_by_role("tab", name="Transcript").click()
    await panel.hang_up()
    await panel.hand_off()
    assert (await panel.ticket())["priority"] == "high"
    wrong += await shoot(panel, "5-after", folder)
    assert not wrong, "\n".join(wrong)
    assert notebook.errors == []


async def test_a_call_that_ended_early(light_again: Opener, folder: Path) -> None:
    notebook = await light_again(*cells("speech=False, faults=[hk.Fault('response.done', 'abort', nth=2)]"))
    panel = await opened(notebook)
    await panel.start()
    await panel.say(SAYS[0])
    await answered(notebook, 2)
    await panel.say(SAYS[1])
    await panel.says("Ended early")
    assert "ended early" in (await panel.trouble("ended early"))
    wrong = await shoot(panel, "6b-ended-early", folder)
    assert not wrong, "\n".join(wrong)


async def test_a_microphone_that_gives_no_sound(light_again: Opener, folder: Path) -> None:
    notebook = await light_again(*cells("speech=True"), permissions=[])
    panel = await opened(notebook)
    await panel.start()
    await panel.say(SAYS[0])
    await answered(notebook, 2)
    await notebook.python(
        "from handoffkit.widgets.troubles import TROUBLES\nawait panel._desk.trouble(TROUBLES['zeros'])"
    )
    await panel.trouble("No sound is arriving")
    wrong = await shoot(panel, "6a-no-sound", folder)
    assert not wrong, "\n".join(wrong)
