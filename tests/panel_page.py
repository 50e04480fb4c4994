"""The call panel in a real page, handled as a learner handles it: by what stands on its controls."""

import contextlib
import re
from typing import TYPE_CHECKING, Any

from lab import SLOW, Notebook

if TYPE_CHECKING:
    from playwright.async_api import Locator

TICKET = """
from typing import Literal
from pydantic import BaseModel

class SupportTicket(BaseModel):
    summary: str
    category: Literal["hardware", "software", "billing", "other"]
    priority: Literal["low", "medium", "high"]
    follow_up_questions: list[str]
"""
ROWS = """(panel) => [...panel.querySelectorAll(".hk-log li")].map((row) => ({
  who: row.dataset.who ?? "",
  name: row.querySelector(".hk-who")?.textContent.trim() ?? "",
  text: row.querySelector(".hk-say")?.innerText.trim() ?? row.innerText.trim(),
}))"""
WATCH = """(panel) => {
  const seen = (panel.__seen = []);
  const note = () => {
    for (const row of panel.querySelectorAll('.hk-log li[data-who="c"]')) {
      const text = row.querySelector(".hk-say")?.textContent ?? "";
      const last = seen.findLast((each) => each.id === row.dataset.id);
      if (text && last?.text !== text) seen.push({id: row.dataset.id, text, partial: !!row.querySelector(".hk-caret")});
    }
  };
  new MutationObserver(note).observe(panel, {subtree: true, childList: true, characterData: true});
}"""


def cells(connect: str = "speech=False", *, panel: str = "handoff_to=triage", **options: str) -> list[str]:
    """Return the cells of a notebook with a call and its panel; *options* are `Call`'s, as code."""
    given = "".join(f", {name}={value}" for name, value in options.items())
    agents = 'voice = Agent(name="support", instructions="You are a phone support agent.")'
    triage = 'triage = Agent("openai:gpt-5.2", name="triage", output_type=SupportTicket)'
    first = f"import handoffkit as hk\nfrom pydantic_ai import Agent\n{TICKET}\nhk.connect({connect})"
    return [first, f"{agents}\n{triage}\ncall = hk.Call(voice{given})\npanel = call.panel({panel})\npanel"]


class Panel:
    """One panel in a notebook's page."""

    def __init__(self, notebook: Notebook, number: int = 0) -> None:
        self.notebook, self.page = notebook, notebook.page
        self.el = notebook.page.locator(".hk-panel").nth(number)
        self.main = self.el.locator(".hk-talk:visible")
        self.box = self.el.locator(".hk-typed input")
        self.strip = self.el.locator(".hk-strip")

    def button(self, name: str) -> "Locator":
        """Return the control that is called so."""
        return self.el.get_by_role("button", name=name, exact=True)

    async def press(self, name: str) -> None:
        """Click on the control that is called so."""
        await self.button(name).click(timeout=1e3 * SLOW)

    async def start(self) -> None:
        """Start the call and wait until it is on."""
        await self.press("Start call")
        await self.says("On call")

    async def says(self, word: str, timeout: float = SLOW) -> None:
        """Wait until the header begins with *word*."""
        state = self.el.locator(".hk-state").filter(has_text=re.compile(f"^{re.escape(word)}"))
        await state.wait_for(timeout=1e3 * timeout)

    async def say(self, text: str) -> None:
        """Type a turn, and wait until it stands in the transcript."""
        await self.box.fill(text)
        await self.box.press("Enter")
        await self.row("c", text)

    async def row(self, who: str, text: str = "", timeout: float = SLOW) -> "Locator":
        """Wait for a turn of *who* with *text* in it; return the newest one."""
        row = self.el.locator(f'.hk-log li[data-who="{who}"]').filter(has_text=text).last
        await row.wait_for(timeout=1e3 * timeout)
        return row

    async def rows(self) -> list[dict[str, str]]:
        """Return what stands in the transcript."""
        found: list[dict[str, str]] = await self.el.evaluate(ROWS)
        return found

    async def trouble(self, words: str, timeout: float = SLOW) -> str:
        """Wait until the strip has *words*; return all that it says."""
        strip = self.strip.filter(has_text=words).first
        await strip.wait_for(timeout=1e3 * timeout)
        return await strip.inner_text()

    async def watch(self) -> None:
        """Begin to note every change of the caller's words, for `seen`."""
        await self.el.evaluate(WATCH)

    async def seen(self) -> list[dict[str, Any]]:
        """Return the caller's words as they changed: `{id, text, partial}`."""
        found: list[dict[str, Any]] = await self.el.evaluate("(panel) => panel.__seen")
        return found

    async def hang_up(self) -> None:
        """Hang up and wait until the call has ended."""
        await self.press("Hang up")
        await self.says("Ended")

    async def hand_off(self) -> None:
        """Press the dock's Hand off once it is the main act, and wait for the ticket."""
        await self.main.filter(has_text="Hand off").click(timeout=1e3 * SLOW)
        under_way = self.el.locator(".hk-ticket:visible, .hk-talk[aria-busy=true]").first
        while not await under_way.count():
            # A click right after the control has changed is taken for the second one of a double click.
            with contextlib.suppress(Exception):
                await self.main.filter(has_text=re.compile("^Hand off$")).click(timeout=500)
            with contextlib.suppress(Exception):
                await under_way.wait_for(timeout=500)
        await self.el.locator(".hk-ticket:visible .hk-nums").wait_for(timeout=2e3 * SLOW)

    async def ticket(self) -> dict[str, str]:
        """Return the ticket as it stands in the page: fields and their words; a chosen value alone."""
        found: dict[str, str] = await self.el.evaluate(
            """(panel) => Object.fromEntries([...panel.querySelectorAll(".hk-fields tr")].map((row) => [
              [...row.querySelector("th").childNodes].filter((part) => part.tagName !== "SMALL")
                .map((part) => part.textContent).join("").replaceAll("\\u200b", "").trim(),
              (row.querySelector(".hk-opt b") ?? row.querySelector("td")).innerText.trim()]))"""
        )
        return found


async def opened(notebook: Notebook, *, number: int = 0) -> Panel:
    """Run the notebook's cells and wait for the panel."""
    count = await notebook.page.evaluate("() => window.jupyterapp.shell.currentWidget.content.model.cells.length")
    for cell in range(count):
        await notebook.run(cell)
    panel = Panel(notebook, number)
    await panel.el.wait_for(timeout=1e3 * SLOW)
    return panel
