"""Live handoffs in the panel: who had the call, what was said late, how long the caller waited, told bit by bit."""

import json
from pathlib import Path
from typing import Any

import pytest
from page_rows import Growing, Page, brief, grown
from views_samples import HOSTILE
from wire_script import Wire

from handoffkit.widgets.state.rows import Rows
from handoffkit.widgets.state.totals import Totals
from handoffkit.widgets.twin import plain, twin
from handoffkit.wire.frames import Frame

FRONT, BILLING = "You are the front desk.", "You are billing."
FACTS = {"agent": "Front", "who": {"head": "Simulated", "says": "", "cost": ""}}


def transfer(wire: Wire, call: str, response: str, to: str, instructions: str) -> Wire:
    """End a reply with a transfer, as openai-agents carries it out."""
    wire.call(call, response, name=f"transfer_to_{to.lower()}").done(response)
    wire.client("session.update", session={"instructions": instructions}).session(instructions)
    return wire.output(call, f'{{"assistant": "{to}"}}')


def handed_over(label: str | None = None) -> Wire:
    """Return a call that goes to billing, where the front desk says goodbye first, and back."""
    wire = Wire(label=label).session(FRONT).begin("r0").words("Front desk.", "r0", "a0", ms=800).done("r0").wait(1)
    wire.append(1000).speech("u1", 0, 1000).transcript("I was charged twice.", "u1")
    wire.begin("r1").words("I'll pass you on.", "r1", "a1", ms=700)
    wire.begin("late")
    transfer(wire, "k1", "r1", "Billing", BILLING)
    wire.wait(0.5).words("Goodbye!", "late", "a2", ms=600).done("late").wait(1)
    wire.typed("Hello?", "u2").wait(1).ask().begin("r2").words("Billing here.", "r2", "a3", ms=900).done("r2").wait(1)
    wire.append(500).speech("u3", 1000, 1500).transcript("Back, please.", "u3").begin("r3")
    transfer(wire, "k2", "r3", "Front", FRONT)
    return wire.ask().begin("r4").words("Front again.", "r4", "a4", ms=500).done("r4").wait(1).close()


def named(name: str, label: str) -> Frame:
    return Frame(0, 0.0, "kernel", "mark", "client", "agent", {"name": name}, label)


def test_each_reply_is_its_agents_and_a_late_one_says_so(tmp_path: Path) -> None:
    rows = Rows(grown(tmp_path / "log", handed_over().frames), agent="Front").all()
    said = [row for row in rows if row["kind"] == "turn" and row["who"] != "c"]

    assert brief(said, "who", "name", "text", "look", "note") == [
        ("a1", "Front", "Front desk.", "plain", ""),
        ("a1", "Front", "I'll pass you on.", "plain", ""),
        ("a1", "Front", "Goodbye!", "late", "under the instructions before the handoff"),
        ("a2", "Billing", "Billing here.", "plain", ""),
        ("a1", "Front", "Front again.", "plain", ""),
    ]


def test_a_handoff_is_a_row_with_both_names_and_the_wait(tmp_path: Path) -> None:
    log = grown(tmp_path / "log", handed_over().frames)
    rows = Rows(log, agent="Front").all()
    over = [row for row in rows if row["kind"] == "over" and row["look"] == "flag"]

    assert brief(over, "who", "name", "text") == [
        ("a2", "Billing", "handed over: Front → Billing"),
        ("a1", "Front", "handed over: Billing → Front"),
    ]
    turns = {turn.text: turn for turn in log.turns}
    waits = [
        turns["Billing here."].start - turns["Hello?"].end,
        turns["Front again."].start - turns["Back, please."].end,
    ]
    assert [row["gap_ms"] for row in over] == [round(wait * 1000) for wait in waits]
    replies = [row["gap_ms"] for row in rows if row["kind"] == "turn" and row["gap_ms"] is not None]
    assert Totals(log).now(rows)["gap_ms"] == sorted(replies)[len(replies) // 2]


def test_told_bit_by_bit_the_rows_are_those_of_the_whole(tmp_path: Path) -> None:
    growing, page = Growing(tmp_path / "log"), Page()
    rows = Rows(growing.log, agent="Front")
    for number, frame in enumerate(handed_over().frames):
        growing.write([frame])
        page.take(rows.changed())
        if number % 7 == 0:
            whole = grown(tmp_path / f"whole-{number}", handed_over().frames[: number + 1])
            assert list(page.rows.values()) == Rows(whole, agent="Front").all()

    assert list(page.rows.values()) == Rows(growing.log, agent="Front").all()


def test_an_agent_that_says_no_word_hands_on_under_its_own_name(tmp_path: Path) -> None:
    wire = Wire().session(FRONT).typed("I was charged twice.", "u1").ask().begin("r1")
    transfer(wire, "k1", "r1", "Billing", BILLING).ask().begin("r2")
    transfer(wire, "k2", "r2", "Orders", "You look up orders.").ask().replied("Orders here.", "r3", "a1")
    rows = Rows(grown(tmp_path / "log", wire.frames), agent="Front").all()

    assert [row["text"] for row in rows if row["kind"] == "over"] == [
        "handed over: Front → Billing",
        "handed over: Billing → Orders",
    ]
    assert brief([row for row in rows if row["text"] == "Orders here."], "who", "name") == [("a3", "Orders")]


def test_the_mark_that_names_the_first_agent_is_used_and_no_row(tmp_path: Path) -> None:
    frames = [named("Front", "call-1"), *handed_over("call-1").frames]
    rows = Rows(grown(tmp_path / "log", frames)).all()

    assert next(row["name"] for row in rows if row["who"] == "a1") == "Front"
    assert not [row for row in rows if row["kind"] == "mark"]


def test_transfers_that_come_to_nothing_are_said_in_words(tmp_path: Path) -> None:
    frames = handed_over().frames
    posted: dict[str, dict[str, Any]] = {
        "handoff_limit": {"names": ["Billing", "Front"]},
        "handoff_ignored": {"kept": "Billing\n"},
    }
    for kind, data in posted.items():
        frames.append(Frame(900, frames[-1].at, "c1", "mark", "client", kind, data))
    rows = Rows(grown(tmp_path / "log", frames)).all()

    assert [row["text"] for row in rows if row["kind"] == "mark"] == [
        "Handed on 2 times in one turn (Billing → Front): no transfer is offered until the caller's next turn.",
        "A second transfer in one reply was left out: Billing has the call.",
    ]


def test_five_agents_keep_their_numbers(tmp_path: Path) -> None:
    wire = Wire().session("Be 0.")
    for number in range(1, 11):
        wire.typed("Go on.", f"u{number}").ask().begin(f"r{number}")
        transfer(wire, f"k{number}", f"r{number}", f"A{number % 5}", f"Be {number % 5}.").ask()
        wire.replied(f"A{number % 5} here.", f"s{number}", f"a{number}")
    rows = Rows(grown(tmp_path / "log", wire.frames)).all()

    assert [row["who"] for row in rows if row["kind"] == "turn" and row["who"] != "c"] == [
        *(f"a{number % 5 + 1}" for number in range(1, 11))
    ]


def test_a_saved_notebook_tells_the_same_without_times(tmp_path: Path) -> None:
    rows = Rows(grown(tmp_path / "log", handed_over().frames), agent="Front").all()
    page, text = twin(rows, None, None, FACTS), plain(rows, None, None, FACTS)

    for shown in (page, text):
        assert "handed over: Front → Billing" in shown
        assert "[under the instructions before the handoff]" in shown
        assert "ms" not in shown.replace("transfers", "")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_one_line_of_text(tmp_path: Path, name: str) -> None:
    wire = Wire().session(FRONT).typed("Hello.", "u1").ask().begin("r1")
    wire.call("k1", "r1", name="transfer_to_x").done("r1")
    wire.client("session.update", session={"instructions": BILLING}).session(BILLING)
    wire.output("k1", json.dumps({"assistant": name})).ask().replied("Hi.", "r2", "a1")
    rows = Rows(grown(tmp_path / "log", wire.frames)).all()
    (over,) = [row for row in rows if row["kind"] == "over"]

    assert over["name"]
    assert not set("\n\r\x1b\u202e\u2028") & set(over["text"] + over["name"])
    assert "<img" not in twin(rows, None, None, FACTS)
    assert "<script" not in twin(rows, None, None, FACTS)
