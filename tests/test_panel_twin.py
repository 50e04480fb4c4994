"""What a saved notebook shows of a panel: safe, small, and the same on every run."""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from page_rows import grown
from pydantic import BaseModel
from pydantic_ai import Agent
from test_panel_state import everything
from views_samples import HOSTILE
from wire_script import Wire

import handoffkit as hk
from handoffkit.widgets.state.facts import facts, who_answers
from handoffkit.widgets.state.rows import Rows
from handoffkit.widgets.state.ticket import ticket, ticket_error
from handoffkit.widgets.state.totals import Totals
from handoffkit.widgets.twin import READY, plain, twin

FACTS: dict[str, Any] = {"agent": "Support agent", "who": who_answers("simulated")}
ALLOWED = {"p", "strong", "em", "table", "thead", "tbody", "tr", "th", "td", "bdi", "br", "del", "code", "span"}


class Tags(HTMLParser):
    """Notes the elements and attributes of a page, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {f"{name}={value}" for name, value in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


class Ticket(BaseModel):
    title: str
    steps: list[str]


def told(tmp_path: Path, wire: Wire, mode: str = "simulated") -> tuple[Any, ...]:
    log = grown(tmp_path / f"log{len(list(tmp_path.iterdir()))}", wire.frames, mode)
    rows = Rows(log, agent="Support agent")
    rows.look()
    return rows.all(), Totals(log).now(rows.all()), None, FACTS


def test_before_a_call_the_twin_is_fixed_words() -> None:
    text = plain([], None, None, FACTS)
    assert text == (
        "Support agent: Simulated on this machine. Follows a script of rules, not your instructions. "
        f"Nothing leaves this machine. No cost.\n{READY}"
    )
    assert Tags(twin([], None, {}, FACTS)).text == text.replace("\n", "")


def test_the_text_twin_is_the_transcript_in_words(tmp_path: Path) -> None:
    lines = plain(*told(tmp_path, everything())).split("\n")
    assert lines[2:5] == [
        "Caller         Hello, earlier. [typed] [seeded]",
        "Support agent  Yes? [seeded]",
        "Support agent  Support desk. What is it?",
    ]
    assert "Support agent  Is it the [interrupted]" in lines
    assert "Caller          [inaudible]" in lines
    assert 'Tool           find(product="laptop") → ["a", "b"]' in lines
    assert "—              handed over: Support agent → Forms" in lines
    assert "—              the connection dropped [0.1 s of the reply had arrived and is kept]" in lines
    assert (
        lines[-1] == "4 caller turns, 5 replies, 2 tool calls, 2 interruptions, 1 inaudible turn, 1 handoff, no cost."
    )


def test_the_page_needs_no_style_no_script_no_class(tmp_path: Path) -> None:
    page = Tags(twin(*told(tmp_path, everything())))
    assert page.tags <= ALLOWED
    assert {attribute.partition("=")[0] for attribute in page.attributes} == {"scope", "style", "dir"}
    assert {a for a in page.attributes if a.startswith("style")} == {"style=text-align: left"}
    assert "Is it the" in page.text
    assert "original charger, and do" in page.text


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_words_stay_words(words: str, tmp_path: Path) -> None:
    wire = Wire().typed(words, "u1").ask().begin("r1").words(words, "r1", "a1")
    wire.call("k1", "r1", "look", words).done("r1")
    rows, totals, _, _ = told(tmp_path, wire.output("k1", words).close("server", 1011, words))
    error = ticket_error(ValueError(words), title=words)
    given = {"agent": words, "who": {"head": words, "says": words, "cost": words}}
    page = twin(rows, totals, error, given)
    assert Tags(page).tags <= ALLOWED
    page.encode("utf-8")
    text = plain(rows, totals, error, given)
    text.encode("utf-8")
    assert not any(line.startswith("Caller    two") for line in text.split("\n"))
    assert not {"\u202e", "\x1b", "\x00"} & set(page + text)


def test_a_long_call_is_cut_to_what_a_notebook_can_carry(tmp_path: Path) -> None:
    wire = Wire()
    for number in range(600):
        wire.typed("word " * 300, f"u{number}")
    page, text = twin(*told(tmp_path, wire)), plain(*told(tmp_path, wire))
    assert len(page) < 200_000
    assert len(text) < 200_000
    found = re.search(r"(\d+) earlier rows not shown", text)
    assert found is not None
    assert int(found[1]) > 400
    assert found[0] in Tags(page).text


def test_a_saved_call_that_was_played_twice_reads_the_same(tmp_path: Path) -> None:
    slow = everything()
    quick = everything()
    quick.frames = [type(f)(f.seq, f.at * 1.7, *_rest(f)) for f in quick.frames]
    assert twin(*told(tmp_path, slow)) == twin(*told(tmp_path, quick))


def _rest(frame: Any) -> list[Any]:
    return [getattr(frame, name) for name in ("conn", "channel", "dir", "event", "data", "label", "audio")]


async def test_a_simulated_typed_call_has_the_same_twin_each_time(connected: Any) -> None:
    seen = set()
    for _ in range(2):
        hk.connect()
        agent = Agent("openai:gpt-5.2", output_type=Ticket, name="Forms")
        async with hk.Call(Agent(instructions="Be kind.", name="Support agent")) as call:
            await call.send("My laptop does not charge.")
            await call.send("I tried another outlet.")
        made = ticket(await call.handoff(agent))
        rows = Rows(call.wire, agent="Support agent")
        rows.look()
        given = rows.all(), Totals(call.wire).now(rows.all()), made, facts(call, agent, connected)
        seen.add((twin(*given), plain(*given)))
    assert len(seen) == 1
    ((page, text),) = seen
    assert "Ticket, valid" in text
    assert "My laptop does not charge." in text
    assert Tags(page).tags <= ALLOWED
    json.dumps(page)
