"""The panel's rows, events and totals: any log, cut anywhere, is JSON that a page can follow by changes alone."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from agents import AgentOutputSchema
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from page_rows import Growing, Page, brief, grown
from pydantic_ai import Agent
from views_samples import HOSTILE
from wire_script import Wire, recorded

import handoffkit as hk
from handoffkit.connect import current
from handoffkit.log import EventLog, load
from handoffkit.widgets.state.events import RAW_LIMIT, Events, category
from handoffkit.widgets.state.facts import facts, result_words, who_answers
from handoffkit.widgets.state.rows import Rows
from handoffkit.widgets.state.safe import TEXT_LIMIT
from handoffkit.widgets.state.totals import Totals
from handoffkit.wire.call_log import CallLog
from handoffkit.wire.frames import Frame

SAVED = Path(__file__).resolve().parent.parent / "notebooks" / "saved"


def mark(wire: Wire, kind: str, conn: str | None = None, **data: Any) -> Wire:
    """Have the kernel post a mark."""
    wire.client(kind)
    last = wire.frames.pop()
    wire.frames.append(replace(last, channel="mark", event=kind, data=data, conn=conn or wire.conn))
    return wire


def extraction(wire: Wire, label: str, *, ok: bool = True) -> Wire:
    """Let a handoff ask once over HTTP."""
    for direction, event in (("client", "POST /v1/responses"), ("server", "200" if ok else "500")):
        wire.frame(direction, event, {})
        wire.frames.append(replace(wire.frames.pop(), conn="c9", channel="responses", label=label))
    return wire


def everything(label: str | None = "call-1") -> Wire:
    """Return a call in which about everything happens that a row can show."""
    wire = Wire(label=label).session("Support.").typed("Hello, earlier.", "h1").typed("Yes?", "h2", role="assistant")
    wire.begin("r0").words("Support desk. ", "r0", "a0", ms=400).words("What is it?", "r0", "a0", ms=300).done("r0")
    wire.append(500)
    wire.server("input_audio_buffer.speech_started", item_id="u1", audio_start_ms=0)
    delta = "conversation.item.input_audio_transcription.delta"
    wire.server(delta, item_id="u1", content_index=0, delta="My lap")
    wire.server(delta, item_id="u1", content_index=0, delta="top does")
    wire.server("input_audio_buffer.speech_stopped", item_id="u1", audio_end_ms=400).committed("u1")
    wire.begin("r1").words("Is it the original", "r1", "a1", ms=1000).words(" charger, and do", "r1", "a1", ms=1500)
    wire.transcript("My laptop does not charge.", "u1")
    wire.truncate("a1", 800).done("r1", "cancelled", reason="turn_detected")
    wire.append(400).speech("u2", 600, 900).begin("r2").call("k1", "r2", "find", '{"product": "laptop"}')
    wire.done("r2", tokens=90).output("k1", '["a", "b"]')
    wire.ask().begin("r3").words("That is the port.", "r3", "a3", ms=200).done("r3", tokens=60)
    wire.server("conversation.item.input_audio_transcription.failed", item_id="u2", content_index=0, error={})
    mark(wire, "panel_trouble", trouble="zeros", words="No sound is arriving.")
    wire.typed("Take the desk, too.", "u3").ask().begin("r4").call("k2", "r4", "transfer_to_forms").done("r4")
    wire.client("session.update", session={"instructions": "Delivery form."})
    wire.output("k2", '{"assistant": "Forms"}').session("Delivery form.").ask()
    wire.begin("r5").words("Two items. Which day?", "r5", "a5", ms=900).done("r5", tokens=10)
    wire.typed("Friday.", "u4").ask().begin("r6").words("Fine, Fri", "r6", "a6", ms=120)
    mark(wire, "silence", seconds=5.0, reason="the agent should have spoken")
    wire.close("drop", None)
    if label:
        extraction(extraction(wire, f"{label}/handoff-1", ok=False), f"{label}/handoff-1")
    return wire


def two_calls() -> list[Frame]:
    first = everything()
    second = Wire("c2", "call-2", first=len(first.frames) + 1, began=first.now).session("Delivery form.")
    second.typed("Hello?", "v1").ask().replied("Yes.", "s1", "b1").close()
    return [*first.frames, *second.frames]


def logs(recordings: Path) -> Iterator[tuple[str, list[Frame]]]:
    yield "everything", everything().frames
    yield "without a label", everything(None).frames
    yield "two calls", two_calls()
    yield "two at once", sorted(two_at_once(), key=lambda frame: frame.seq)
    for folder in sorted(SAVED.iterdir()):
        yield folder.name, load(folder).frames
    for path in sorted(recordings.glob("*.yaml")):
        yield path.stem, recorded(path)


def two_at_once() -> Iterator[Frame]:
    """Yield two calls whose frames alternate."""
    for start, conn in enumerate(("c1", "c2"), 1):
        wire = everything(f"call-{start}")
        for number, frame in enumerate(wire.frames):
            known = conn if frame.conn == "c1" else f"{conn}9"
            yield replace(frame, seq=2 * number + start, at=frame.at + start / 100, conn=known)


def check(page: Page, log: EventLog) -> None:
    """Hold what a page has by changes alone to what the whole log gives."""
    fresh = Rows(EventLog(log.folder))
    assert list(page.rows.values()) == json.loads(json.dumps(fresh.all(), allow_nan=False))
    assert len({row["k"] for row in fresh.all()}) == len(fresh)


def test_a_page_that_is_told_changes_has_the_rows_of_the_whole_log(recordings: Path, tmp_path: Path) -> None:
    for name, frames in logs(recordings):
        growing, page = Growing(tmp_path / name), Page()
        rows = Rows(growing.log)
        step = 1 if len(frames) < 130 else 25
        for start in range(0, len(frames), step):
            growing.write(frames[start : start + step])
            page.take(rows.changed())
            check(page, growing.log)
        assert rows.changed() == ([], [], None)


frame_cuts = st.lists(st.integers(0, 10_000), max_size=6)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=frame_cuts, drop=st.sets(st.integers(0, 120), max_size=12), swap=st.integers(0, 120))
def test_damaged_and_reordered_logs_are_followed_too(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int], drop: set[int], swap: int
) -> None:
    frames = [frame for number, frame in enumerate(two_calls()) if number not in drop]
    frames[swap : swap + 2] = frames[swap : swap + 2][::-1]
    growing, page = Growing(tmp_path_factory.mktemp("log") / "one"), Page()
    rows = Rows(growing.log)
    ends = sorted(cut % len(frames) for cut in cuts)
    for start, end in pairwise([0, *ends, len(frames)]):
        growing.write(frames[start:end])
        page.take(rows.changed())
        check(page, growing.log)


def test_a_snapshot_does_not_take_away_what_changes_tell(tmp_path: Path) -> None:
    growing, page = Growing(tmp_path / "log"), Page()
    rows = Rows(growing.log)
    for frame in everything().frames:
        growing.write([frame])
        if frame.seq % 5 == 0:
            assert rows.all(last=3) == rows.all()[-3:]
        if frame.seq % 7 == 0:
            page.take(rows.changed())
    page.take(rows.changed())
    check(page, growing.log)
    keys = [row["k"] for row in rows.all()]
    assert [row["k"] for row in rows.before(keys[6], 4)] == keys[2:6]
    assert rows.before("nobody") == []
    assert rows.all(last=0) == []


def test_rows_say_what_happened(tmp_path: Path) -> None:
    rows = Rows(grown(tmp_path / "log", everything().frames), agent="Support")
    shown = rows.changed().rows
    assert brief(shown, "kind", "who", "name", "text", "look") == [
        ("turn", "c", "Caller", "Hello, earlier.", "plain"),
        ("turn", "a1", "Support", "Yes?", "plain"),
        ("turn", "a1", "Support", "Support desk. What is it?", "plain"),
        ("turn", "c", "Caller", "My laptop does not charge.", "plain"),
        ("turn", "a1", "Support", "Is it the", "cut"),
        ("turn", "c", "Caller", "", "inaudible"),
        ("tool", "t", "Tool", "", "tool"),
        ("turn", "a1", "Support", "That is the port.", "plain"),
        ("mark", "o", "", "No sound is arriving.", "plain"),
        ("turn", "c", "Caller", "Take the desk, too.", "plain"),
        ("tool", "t", "Tool", "", "tool"),
        ("over", "a2", "Forms", "handed over: Support → Forms", "flag"),
        ("turn", "a2", "Forms", "Two items. Which day?", "plain"),
        ("turn", "c", "Caller", "Friday.", "plain"),
        ("turn", "a2", "Forms", "Fine, Fri", "cut"),
        ("mark", "o", "", "Nothing was heard for 5.0 s: the agent should have spoken", "bad"),
        ("over", "o", "", "the connection dropped", "bad"),
        ("mark", "t", "Handoff", "handoff-1, attempt 1", "fail"),
        ("mark", "t", "Handoff", "handoff-1, attempt 2", "ok"),
    ]


def test_a_row_has_the_figures_of_its_turn(tmp_path: Path) -> None:
    rows = Rows(grown(tmp_path / "log", everything().frames)).all()
    cut = next(row for row in rows if row["interrupted"])
    assert (cut["heard_ms"], cut["total_ms"], cut["unheard"]) == (800, 2500, "original charger, and do")
    inaudible = next(row for row in rows if row["inaudible"])
    assert (inaudible["note"], inaudible["total_ms"]) == ("0.3 s of speech, no words recognised", 300)
    tool = next(row for row in rows if row["kind"] == "tool")
    assert (tool["call"], tool["output"], tool["lane"]) == ('find(product="laptop")', '["a", "b"]', "tools")
    assert tool["ms"] == 300
    assert not tool["pending"]
    answer = next(row for row in rows if row["text"] == "That is the port.")
    assert (answer["tokens"], answer["clip"], answer["lane"]) == (225, True, "agent")
    assert answer["gap_ms"] is not None
    ended = next(row for row in rows if row["text"] == "the connection dropped")
    assert ended["note"] == "0.1 s of the reply had arrived and is kept"
    assert [row["seeded"] for row in rows[:3]] == [True, True, False]
    assert [row["typed"] for row in rows if row["who"] == "c"] == [True, False, False, True, True]


def test_the_bars_of_rows_are_as_long_as_the_timeline_draws_them(tmp_path: Path) -> None:
    from handoffkit.views.lanes import score

    log = grown(tmp_path / "log", everything().frames)
    drawn = score(log.turns, log.marks)
    bars = [(round(bar.start, 3), round(bar.end, 3)) for bar in drawn.bars if bar.lane in ("caller", "agent")]
    rows = [row for row in Rows(log).all() if row["kind"] == "turn" and not row["seeded"]]
    assert [(row["at"], row["end"]) for row in rows] == bars[: len(rows)]
    gaps = [round((end - start) * 1000) for start, end in drawn.gaps]
    assert [row["gap_ms"] for row in rows if row["gap_ms"] is not None] == gaps


def test_a_turn_keeps_its_key_from_the_first_sign_of_it_to_its_last_word(tmp_path: Path) -> None:
    growing = Growing(tmp_path / "log")
    rows = Rows(growing.log)
    seen: dict[str, list[tuple[str, str, bool]]] = {}
    for frame in everything().frames:
        growing.write([frame])
        for row in rows.changed().rows:
            if row["who"] == "c":
                seen.setdefault(row["k"], []).append((row["text"], row["tail"], row["pending"]))
    spoken = next(states for states in seen.values() if states[-1][0].startswith("My laptop"))
    words = list(dict.fromkeys(spoken))
    assert words[0] == ("", "", True)
    assert ("My", "lap", True) in words
    assert ("My laptop", "does", True) in words
    assert words[-1] == ("My laptop does not charge.", "", False)
    assert len(seen) == 5


def test_a_typed_turn_keeps_its_key_when_the_service_names_it(tmp_path: Path) -> None:
    growing = Growing(tmp_path / "log")
    rows = Rows(growing.log)
    wire = Wire().typed("Hello.", "u1", confirm=False)
    growing.write(wire.frames)
    (first,) = rows.changed().rows
    count = len(wire.frames)
    growing.write(wire.added("u1", "user", content=[{"type": "input_text", "text": "Hello."}]).frames[count:])
    assert rows.changed().gone == []
    assert [row["k"] for row in rows.all()] == [first["k"]]
    assert rows.turn(first["k"]) == growing.log.turns[0]


def test_late_words_stand_where_they_were_spoken(tmp_path: Path) -> None:
    growing, page = Growing(tmp_path / "log"), Page()
    rows = Rows(growing.log)
    wire = Wire().session().append(300).speech("u1").replied("Is it on?", "r1", "a1", ms=100)
    growing.write(wire.frames)
    page.take(rows.changed())
    count = len(wire.frames)
    growing.write(wire.transcript("It is off.", "u1").frames[count:])
    changes = rows.changed()
    page.take(changes)
    assert changes.order is None
    assert brief(changes.rows, "text") == [("It is off.",)]
    assert brief(list(page.rows.values()), "text") == [("It is off.",), ("Is it on?",)]


def test_a_tool_that_has_not_returned_is_running_until_the_call_ends(tmp_path: Path) -> None:
    growing = Growing(tmp_path / "log")
    rows = Rows(growing.log)
    wire = Wire().typed("Look it up.", "u1").ask().begin("r1").call("k1", "r1").done("r1")
    growing.write(wire.frames)
    (tool,) = [row for row in rows.all() if row["kind"] == "tool"]
    assert (tool["pending"], tool["output"], tool["ms"]) == (True, None, None)
    count = len(wire.frames)
    growing.write(wire.close("drop", None).frames[count:])
    (tool,) = [row for row in rows.changed().rows if row["kind"] == "tool"]
    assert (tool["pending"], tool["note"]) == (False, "no output came")


def test_a_turn_without_a_reply_is_said_so(tmp_path: Path) -> None:
    wire = Wire().typed("Hello?", "u1").ask().begin("r1").done("r1", "failed", error={"message": "too much at once"})
    rows = Rows(grown(tmp_path / "log", wire.frames)).all()
    (failed,) = [row for row in rows if row["kind"] == "mark"]
    assert failed["text"] == "No reply: the response failed: too much at once"
    assert failed["bad"]


def test_several_calls_stand_one_after_the_other_under_their_names(tmp_path: Path) -> None:
    log = grown(tmp_path / "log", two_calls())
    rows = Rows(log).all()
    heads = [row for row in rows if row["k"].endswith(".call")]
    assert brief(heads, "kind", "text") == [("over", "call-1 (c1)"), ("over", "call-2 (c2)")]
    assert rows[-4]["k"] == heads[1]["k"]
    assert brief(rows[-2:-1], "who", "text") == [("a2", "Yes.")]  # the same instructions as in the first call
    one = Rows(CallLog(log, "call-2")).all()
    assert brief(one, "text", "who") == [("Hello?", "c"), ("Yes.", "a1"), ("call ended", "o")]
    assert not {row["text"] for row in Rows(CallLog(log, "call-1")).all()} & {"Hello?", "Yes."}


def test_what_a_validator_refused_is_a_failed_attempt(tmp_path: Path) -> None:
    log = grown(tmp_path / "log", everything().frames)
    rows = Rows(log)
    rows.changed()
    rows.judge("call-1/handoff-1", [False, False])
    changed = rows.changed().rows
    assert brief(changed, "text", "look", "note") == [("handoff-1, attempt 2", "fail", "the output was not valid")]


def test_a_simulation_has_no_tokens_and_no_cost(tmp_path: Path) -> None:
    log = grown(tmp_path / "log", everything().frames, "simulated")
    rows = Rows(log)
    assert {row["tokens"] for row in rows.all()} == {None}
    totals = Totals(log).now(rows.all())
    assert (totals["tokens"], totals["cost"], totals["simulated"]) == (None, "no cost", True)


def test_totals_of_a_live_call_are_tokens_and_what_they_cost(tmp_path: Path) -> None:
    wire = Wire(label="call-1").server("session.created", session={"model": "gpt-realtime"})
    growing = Growing(tmp_path / "log")
    rows = Rows(growing.log)
    totals = Totals(growing.log)
    growing.write(wire.frames)
    assert totals.now(rows.all()) == {"gap_ms": None, "tokens": None, "cost": "", "simulated": False}
    count = len(wire.frames)
    wire.typed("Hi.", "u1").ask().begin("r1").words("Yes?", "r1", "a1").done("r1", tokens=1000)
    growing.write(wire.frames[count:])
    found = totals.now(rows.all())
    assert found["tokens"] == 1500
    assert found["cost"] == "$0.012"  # 1000 at 4 and 500 at 16 dollars a million
    assert found["gap_ms"] == 600
    other = Wire("c2").server("session.created", session={"model": "llama3.2"}).typed("Hi.", "u1").ask()
    log = grown(tmp_path / "other", other.begin("r1").words("Yes?", "r1", "a1").done("r1", tokens=10).frames)
    assert Totals(log).now([])["cost"] == "price unknown"


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_words_reach_the_page_as_whole_characters(words: str, tmp_path: Path) -> None:
    wire = Wire(label="call-1").session(words).typed(words, "u1").ask().begin("r1").words(words, "r1", words, ms=100)
    wire.call(words, "r1", words, json.dumps({"a": words})).done("r1").output(words, words)
    mark(wire, "panel_trouble", words=words)
    wire.close("server", 1011, words)
    log = grown(tmp_path / "log", wire.frames)
    rows = Rows(log, agent=words).changed()
    events, _ = Events(log).new()
    sent = json.dumps([rows._asdict(), events], ensure_ascii=False, allow_nan=False).encode("utf-8").decode()
    assert not {"\u202e", "\u2066", "\x1b", "\x00"} & set(sent)
    for event in events:
        Events(log).raw(event["q"]).encode("utf-8")


def test_a_megabyte_of_words_is_cut_and_that_is_said(tmp_path: Path) -> None:
    wire = Wire().typed("word " * 200_000, "u1").ask().begin("r1").call("k1", "r1", "look", json.dumps("x" * 1_000_000))
    log = grown(tmp_path / "log", wire.output("k1", "y" * 1_000_000).frames)
    rows = Rows(log).all()
    assert len(rows[0]["text"]) <= TEXT_LIMIT
    assert rows[0]["note"] == "992,000 more characters are in the log"
    assert len(json.dumps(rows)) < 2 * TEXT_LIMIT
    events = Events(log)
    shown, _ = events.new()
    assert len(json.dumps(shown)) < 10_000
    assert "bytes" in shown[0]["x"]
    raw = events.raw(1)
    assert len(raw) < RAW_LIMIT + 100
    assert raw.endswith("more characters are in the log")


# Events.


def test_events_are_told_once_and_in_their_categories(tmp_path: Path) -> None:
    log = grown(tmp_path / "log", everything().frames)
    rows = Rows(log)
    rows.look()
    events = Events(log, rows.agent_of)
    shown, left_out = events.new(limit=None)
    assert (len(shown), left_out) == (len(log), 0)
    assert events.new() == ([], 0)
    found = {event["c"] for event in shown}
    assert found == {"speech", "words", "tools", "handoff", "usage", "session", "audio", "marks"}
    assert events.counts["audio"] == sum(frame.audio is not None for frame in log)
    assert events.total == len(log)
    assert {event["w"] for event in shown if event["e"] == "response.output_audio_transcript.delta"} == {"a1", "a2"}
    assert all(len(event["x"]) <= 161 for event in shown)
    assert [event["e"] for event in shown if event["bad"]] == ["silence", "close", "500"]


def test_of_a_burst_the_page_gets_the_newest_and_the_rest_is_never_read(tmp_path: Path) -> None:
    class Unread(Frame):
        @property
        def data(self) -> dict[str, Any]:
            raise AssertionError("the JSON of an event was read that nobody is shown")

    wire = Wire()
    for number in range(500):
        wire.server("rate_limits.updated", rate_limits=[{"name": f"requests {number}"}])
    log = grown(tmp_path / "log", wire.frames)
    assert len(log) == 500
    for number, frame in enumerate(log._frames[:200]):
        hidden = Unread.__new__(Unread)
        for name in ("seq", "at", "conn", "channel", "dir", "event", "label", "audio"):
            object.__setattr__(hidden, name, getattr(frame, name))
        log._frames[number] = hidden
    events = Events(log)
    shown, left_out = events.new(limit=300)
    assert (left_out, shown[0]["q"], shown[-1]["q"]) == (200, 201, 500)
    assert events.counts == {"usage": 500}


def test_sound_gives_way_to_words(tmp_path: Path) -> None:
    wire = Wire().append(40).typed("Hi.", "u1")
    for _ in range(400):
        wire.append(40)
    events = Events(grown(tmp_path / "log", wire.frames))
    shown, left_out = events.new(limit=100)
    assert [event["c"] for event in shown[:2]] == ["words", "words"]
    assert (len(shown), left_out) == (100, len(wire.frames) - 100)
    assert [event["e"] for event in events.last(100)][:2] == ["conversation.item.create", "conversation.item.added"]


def test_raw_json_says_how_much_sound_was_left_out(tmp_path: Path) -> None:
    events = Events(grown(tmp_path / "log", Wire().append(250).frames))
    assert json.loads(events.raw(1))["audio"] == "(12,000 bytes of sound left out)"
    assert events.raw(99) == ""


def test_a_call_has_its_own_events_and_those_of_its_handoffs(tmp_path: Path) -> None:
    log = grown(tmp_path / "log", two_calls())
    one, _ = Events(CallLog(log, "call-1")).new(limit=None)
    two, _ = Events(CallLog(log, "call-2")).new(limit=None)
    assert len(one) + len(two) == len(log)
    assert any(event["c"] == "handoff" for event in one)
    assert Events(CallLog(log, "call-2")).raw(one[0]["q"]) == ""
    assert category(log[0]) == "session"


# Facts.


def test_who_answers_is_said_as_it_is() -> None:
    plain = who_answers("simulated")
    assert plain["head"] == "Simulated on this machine"
    assert plain["says"] == "Follows a script of rules, not your instructions."
    assert plain["cost"] == "Nothing leaves this machine. No cost."
    live = who_answers("live", "openai:gpt-realtime")
    assert live["head"] == "Live: openai:gpt-realtime"
    assert live["cost"] == "Your voice is sent to the provider, who charges for it."
    assert "gateway.example" in who_answers("live", "m", upstream="https://gateway.example/v1")["cost"]
    text = who_answers("simulated", described=hk.TextModel("llama3.2", "https://api.example/v1").describe())
    assert "llama3.2" in text["head"]
    assert "api.example" in text["cost"]
    assert (
        "on this machine"
        in who_answers("simulated", described=hk.TextModel("llama3.2", "http://localhost:11434/v1").describe())["cost"]
    )


def test_facts_name_the_agent_and_what_comes_of_the_call(connected: Any) -> None:
    from pydantic import BaseModel

    class SupportTicket(BaseModel):
        title: str
        priority: int

    forms = Agent("openai:gpt-5.2", output_type=SupportTicket, name="Forms")
    found = facts(hk.Call(Agent(name="Support agent")), forms, connected, hears=(False, "Install it."))
    assert (found["agent"], found["hands_to"], found["result"]) == ("Support agent", "Forms", "SupportTicket, 2 fields")
    assert found["hears"] == {"ok": False, "words": "Install it."}
    assert not found["watching"]
    assert facts(hk.Call(Agent()), None, connected)["agent"] == "Voice agent"
    assert facts(None, None, connected)["watching"]
    assert result_words(str) == result_words(None) == "Text"
    assert result_words(AgentOutputSchema(SupportTicket)) == result_words(SupportTicket)
    json.dumps(found)


def test_facts_tell_of_the_model_that_connect_was_given(connected: Any) -> None:
    writer = hk.TextModel("llama3.2", "http://localhost:1/v1")
    hk.connect(model={"gpt-realtime": hk.ScriptedModel(["Hello."]), "*": writer})
    scripted, written = hk.Call(Agent()), hk.Call(Agent(), model="openai:gpt-realtime-mini")
    assert facts(scripted, None, current())["who"]["says"] == "Says the lines that it was given, whatever you say."
    assert facts(written, None, current())["who"]["head"] == "Simulated voice, llama3.2 writes"


async def test_rows_follow_a_call_as_it_goes(connected: Any) -> None:
    page = Page()
    async with hk.Call(Agent(instructions="Be kind.")) as call:
        rows = Rows(call.wire)
        sending = asyncio.create_task(call.send("My laptop does not charge."))
        async for _ in call.wire.log.follow(label=call.label, idle_timeout=10):
            page.take(rows.changed())
            if sending.done():
                break
            if call.wire.outstanding is None and call.turns and not call.turns[-1].pending:
                await sending
                break
        await sending
    page.take(rows.changed())
    assert brief(list(page.rows.values()), "who", "pending") == [("c", False), ("a1", False), ("o", False)]
    assert page.rows == {row["k"]: row for row in rows.all()}


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ({"trouble": "zeros", "words": "No sound is arriving."}, ["No sound is arriving."]),
        ({"trouble": "underrun", "detail": "The agent's sound came 66 ms late."}, []),
        ({"trouble": "asked", "words": "A typed turn needs words.", "asked": "say"}, []),
        ({"trouble": "early", "words": "The call ended early."}, []),
    ],
)
def test_of_a_panel_s_troubles_the_transcript_has_those_that_explain_it(
    data: Any, shown: list[str], tmp_path: Path
) -> None:
    wire = mark(Wire(label="call-1").session("Support."), "panel_trouble", **data)
    rows = Rows(grown(tmp_path / "log", wire.frames))
    rows.changed()
    assert [row["text"] for row in rows.all() if row["kind"] == "mark"] == shown
