"""Live handoffs in the views: whose instructions were in force when, who spoke under them, and who spoke late."""

import re
import warnings
from collections.abc import Generator
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from agents.realtime import RealtimeAgent
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from views_samples import BILLING, FRONT, HOSTILE, agent, caller, ended, handed_over, transfer
from wire_script import Wire

import handoffkit as hk
from handoffkit.connect import Endpoint
from handoffkit.marks import LiveHandoff, Mark, OtherMark, Silence, derive
from handoffkit.views import Timeline, timeline, transcript
from handoffkit.views.lanes import score
from handoffkit.views.row import FURTHER, VOICES
from handoffkit.views.voices import cast, told_apart
from handoffkit.wire.conversation import Turn

Call = tuple[list[Turn], list[Mark]]
GREETING = "# System context\nYou are one of several agents. Handoffs are seamless. "


def shown(call: Call, *more: Mark) -> SimpleNamespace:
    turns, marks = call
    return SimpleNamespace(turns=turns, marks=[*marks, *more])


def ring(names: list[str], rounds: int = 2) -> Call:
    """Return a call that is handed on and on: each agent answers once, then the next one has the call."""
    turns: list[Turn] = []
    marks: list[Mark] = []
    for number, name in enumerate(names * rounds):
        at = number * 5.0
        if number:
            before = names[(number - 1) % len(names)]
            marks.append(LiveHandoff(at - 0.3, "c1", name, f"Be {name}.", before, f"Be {before}."))
        turns.append(caller(f"Words to {name}.", at, at + 2, spoken=True, audio_ms=2000))
        told = {"agent": name, "instructions": f"Be {name}.", "spoken": True}
        turns.append(agent(f"{name} speaks.", at + 2.6, at + 3, audio_ms=1500, **told))
    return turns, marks


def texts(call: SimpleNamespace) -> list[Text]:
    found = Timeline(call.turns, call.marks).figure.findobj(Text)
    return [text for text in found if isinstance(text, Text) and text.get_text()]


def words(call: SimpleNamespace) -> list[str]:
    return [text.get_text() for text in texts(call)]


# Who speaks


def test_a_voice_is_an_agent_and_stays_it_when_the_call_comes_back() -> None:
    who = cast(*handed_over())

    assert [(voice.name, voice.instructions) for voice in who.voices] == [("Front", (FRONT,)), ("Billing", (BILLING,))]
    assert [(reign.voice, reign.start, reign.end) for reign in who.reigns] == [
        (0, 0.5, 6.55),
        (1, 6.55, 20.55),
        (0, 20.55, 21.3),
    ]
    assert [bar.voice for bar in score(*handed_over()).bars if bar.lane == "agent"] == [0, 0, 0, 1, 1, 0]


def test_the_wait_goes_from_the_callers_last_word_to_the_new_agents_first() -> None:
    shown_ = score(*handed_over())

    assert [each.wait for each in shown_.takeovers] == [(5.6, 10.4), (20.2, 21.0)]
    assert shown_.gaps == ((5.6, 6.2), (14.8, 15.3), (20.2, 21.0))
    assert shown_.waits == [((5.6, 10.4), 1)]


def test_only_a_reply_after_the_handoff_and_under_the_old_instructions_is_late() -> None:
    turns, marks = handed_over()
    who = cast(turns, marks)

    assert [turn.text for turn in turns if who.is_late(turn)] == ["Goodbye, and have a nice day!"]
    assert [bar.words for bar in score(turns, marks).bars if bar.look == "late"] == ["Goodbye, and have a nice day!"]
    assert not any(map(cast(turns, []).is_late, turns))


def test_a_reply_made_with_instructions_of_its_own_is_not_late() -> None:
    turns, marks = handed_over()
    asked = agent("Are you there?", 16.9, 17.0, instructions="Ask whether they are there.")

    assert not cast([*turns, asked], marks).is_late(asked)


def test_a_new_agent_that_is_never_heard_has_the_call_all_the_same() -> None:
    turns, marks = handed_over()
    who = cast(turns[:4], [*marks[:1], ended(30.0)])

    assert [(who.voices[reign.voice].name, reign.end) for reign in who.reigns] == [("Front", 6.55), ("Billing", 30.0)]
    assert [each.wait for each in who.takeovers] == [None]


def test_the_first_agent_has_its_name_from_a_mark_also_where_it_says_nothing() -> None:
    billing = agent(
        "Billing here.", 2.0, 3.0, agent="Billing", instructions=BILLING, tools=(transfer("Billing", 1, 1),)
    )
    handoff = LiveHandoff(1.0, "c1", "Billing", BILLING, "", FRONT)
    turns = [caller("I was charged twice.", 0.5), billing]

    assert [voice.name for voice in cast(turns, [handoff]).voices] == ["", "Billing"]
    named = cast(turns, [OtherMark(0.0, "kernel", "agent", {"name": "Front"}), handoff])
    assert [(voice.name, voice.instructions) for voice in named.voices] == [
        ("Front", (FRONT,)),
        ("Billing", (BILLING,)),
    ]


def test_of_long_instructions_that_begin_alike_the_rest_is_told() -> None:
    turns = [replace(turn, instructions=GREETING + turn.instructions) for turn in handed_over()[0]]

    assert told_apart(cast(turns, []).voices) == [[f"… {FRONT}"], [f"… {BILLING}"]]
    assert told_apart(cast(handed_over()[0], []).voices) == [[FRONT], [BILLING]]


def test_a_goodbye_that_began_before_the_new_instructions_is_late_on_the_wire_too() -> None:
    wire = Wire().session(FRONT).typed("My bill is wrong.", "u1").ask().begin("r1")
    wire.call("k1", "r1", name="transfer_to_billing").done("r1").begin("late")
    wire.client("session.update", session={"instructions": BILLING}).session(BILLING)
    wire.output("k1", '{"assistant": "Billing"}').words("Goodbye!", "late", "a1").done("late")
    wire.ask().replied("Billing here.", "r2", "a2").close()
    log = derive(wire.frames)

    assert str(transcript(log)).splitlines() == [
        "Caller    My bill is wrong.",
        'Tool      transfer_to_billing() → {"assistant": "Billing"}',
        "— handed to Billing —",
        "Agent     Goodbye! [under the instructions before the handoff]",
        "Billing   Billing here.",
    ]
    assert "1 live handoff, 1 reply under the instructions before the handoff" in str(timeline(log))


# The picture


def test_the_picture_tells_who_had_the_call_and_how_long_the_caller_waited() -> None:
    found = words(shown(handed_over(), Silence(9.5, "c1", 2.9, "no greeting")))

    assert found.count("1 Front") == 2
    assert found.count("2 Billing") == 1
    assert {"Instructions", "→ Billing", "→ Front", "silence, 2.9 s"} <= set(found)
    assert found[found.index("4,800 ms") + 1] == "to Billing"
    assert found[found.index("800 ms") + 1] == "to Front"
    assert f"1 Front, under the instructions “{FRONT}”" in found
    assert f"2 Billing, under the instructions “{BILLING}”" in found
    assert "In outline: said after a handoff, under the instructions before it." in found


def test_an_agent_without_a_name_goes_by_its_instructions() -> None:
    turns, marks = handed_over()
    nameless = [replace(turn, agent="") if turn.agent == "Front" else turn for turn in turns[:7]]
    found = words(shown((nameless, [LiveHandoff(marks[0].at, "c1", "Billing", BILLING, "", FRONT)])))

    assert {f"1 “{FRONT}”", f"1 under the instructions “{FRONT}”", "2 Billing"} <= set(found)


def test_a_late_reply_is_an_outline_in_the_colour_of_the_agent_that_made_it() -> None:
    turns, marks = handed_over()
    boxes = [box for box in Timeline(turns, marks).figure.findobj(Rectangle) if isinstance(box, Rectangle)]
    outlines = [to_hex(box.get_edgecolor()) for box in boxes if box.get_linewidth() == 1.8]

    assert outlines == [VOICES[0]]


def test_one_agent_alone_is_drawn_without_any_of_it() -> None:
    turns, _ = handed_over()
    alone = [turn for turn in turns if turn.agent in ("", "Front")]
    found = words(shown((alone, [])))

    assert not any(re.search("Instructions|instructions|Front$|outline", each) for each in found)
    bare = [replace(turn, agent="") for turn in alone]
    assert Timeline(alone, [OtherMark(0.0, "c1", "agent", {"name": "Front"})]).png == Timeline(bare, []).png


@pytest.fixture(autouse=True)
def no_missing_glyphs() -> Generator[None]:
    """Turn matplotlib's warnings about glyphs into failures."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        yield


@pytest.mark.parametrize("count", [2, 3, 5, 7])
def test_agents_keep_their_colour_and_number(count: int) -> None:
    names = [f"Agent {letter}" for letter in "ABCDEFG"[:count]]
    turns, marks = ring(names)
    bars = [bar for bar in score(turns, marks).bars if bar.lane == "agent"]

    assert [bar.voice for bar in bars] == list(range(count)) * 2
    assert set(words(shown((turns, marks)))) >= {f"{n} {name}" for n, name in enumerate(names, 1)}
    assert len({*VOICES, *FURTHER}) == 6
    assert Timeline(turns, marks).png.startswith(b"\x89PNG")


def test_a_limit_that_is_reached_is_trouble() -> None:
    flags = score(*handed_over()).flags + score([], [OtherMark(9.0, "c1", "handoff_limit", {"names": ["A"]})]).flags

    assert [(flag.words, flag.bad) for flag in flags] == [
        ("→ Billing", False),
        ("→ Front", False),
        ("✕ handed on too often", True),
    ]


def overlapping(found: list[Text]) -> list[tuple[str, str]]:
    """Return which texts of a picture stand on each other."""
    boxes: list[tuple[str, Bbox]] = [(text.get_text(), text.get_window_extent()) for text in found]
    return [
        (one, other)
        for index, (one, box) in enumerate(boxes)
        for other, second in boxes[index + 1 :]
        if Bbox.intersection(box.padded(-2), second.padded(-2)) is not None
    ]


LONG = "The agent for deliveries of big and heavy things to people who live high up"


@pytest.mark.parametrize(
    "call",
    [
        handed_over(),
        handed_over(LONG, LONG.replace(" ", "")),
        ring(["Front", "Billing", "Orders", "Delivery form", "Complaints"]),
        ring([f"{LONG} {number}" for number in range(5)]),
        ring(["运送表单代理", "Rechnungsstelle", "מחלקת חיובים"]),
    ],
    ids=["two", "long", "five", "long five", "scripts"],
)
def test_no_words_stand_on_others(call: Call) -> None:
    assert overlapping(texts(shown(call, Silence(9.5, "c1", 2.5), ended(call[0][-1].end + 2)))) == []


# The words


def test_the_picture_in_words_tells_the_handoffs_too() -> None:
    call = shown(handed_over(), Silence(9.5, "c1", 2.9))

    assert str(timeline(call)) == (
        "Timeline: 3 caller turns, 6 replies, 2 tool calls, 2 live handoffs, "
        "1 reply under the instructions before the handoff, 1 silence"
    )
    assert timeline(call).alt.split("\n")[3:7] == [
        "Front: I'll pass you to billing.",
        "→ handed to Billing",
        "Front: Goodbye, and have a nice day! [under the instructions before the handoff]",
        "Billing: Billing here. Which order is it?",
    ]


def test_the_transcript_names_agents_and_says_where_the_call_changed_hands() -> None:
    lines = str(transcript(shown(handed_over()))).splitlines()

    assert lines[2:7] == [
        'Tool      transfer_to_billing() → {"assistant": "Billing"}',
        "Front     I'll pass you to billing.",
        "— handed to Billing —",
        "Front     Goodbye, and have a nice day! [under the instructions before the handoff]",
        "Billing   Billing here. Which order is it?",
    ]
    assert lines.count("— handed to Front —") == 1
    page = transcript(shown(handed_over()))._repr_html_()
    assert "<em><bdi>handed to Billing</bdi></em>" in page
    assert page.index("handed to Billing") < page.index("Goodbye") < page.index("Billing here.")


def test_with_times_the_transcript_says_how_long_the_caller_waited() -> None:
    lines = str(transcript(shown(handed_over()), times=True, numbers=True)).splitlines()

    assert "   0:06.6  — handed to Billing, 4,800 ms from the caller's last word to the new agent's first —" in lines


def test_turns_alone_show_the_names_and_one_agent_is_called_agent() -> None:
    turns, _ = handed_over()

    assert "handed" not in str(transcript(turns))
    assert str(transcript(turns)).startswith("Front     Front desk")
    assert str(transcript(turns[:3])).startswith("Agent     Front desk")


def test_a_handoff_after_the_last_words_is_told_at_the_end() -> None:
    turns, marks = handed_over()

    assert str(transcript(shown((turns[:3], marks[:1])))).splitlines()[-1] == "— handed to Billing —"


@pytest.mark.parametrize("name", ["Caller", "TOOL", "Operator", "—"])
def test_no_agent_passes_for_somebody_else(name: str) -> None:
    turns, marks = handed_over(second=name)
    lines = str(transcript(shown((turns, marks)))).splitlines()

    assert any(line.startswith(f"{name} (agent)  Billing here.") for line in lines)


@pytest.mark.parametrize("name", [*HOSTILE, "Billing —\nCaller    I agree", "\u202egnilliB"])
def test_a_name_is_text_in_one_line(name: str) -> None:
    call = shown(handed_over(second=name), ended(23.0))
    plain, page = str(transcript(call)), transcript(call)._repr_html_()

    assert len(plain.splitlines()) == len(str(transcript(shown(handed_over()))).splitlines())
    assert not re.search("\x1b|\u202e", plain + page)
    assert not re.search("<(script|img|h1)", page)
    assert timeline(call).png
    assert len(timeline(call).alt.split("\n")) == 12


def test_several_calls_have_their_own_handoffs() -> None:
    turns, marks = handed_over()
    more: list[Any] = [replace(turn, conn="c2", start=turn.start + 60, end=turn.end + 60) for turn in turns]
    moved = [replace(mark, conn="c2", at=mark.at + 60) for mark in marks]
    shown_ = score([*turns, *more], [*marks, *moved])

    assert [(reign.conn, reign.voice) for reign in shown_.reigns] == [(c, v) for c in ("c1", "c2") for v in (0, 1, 0)]
    assert str(transcript(shown(([*turns, *more], [*marks, *moved])))).count("— handed to Billing —") == 2


async def test_a_call_that_goes_through_three_agents_and_back(connected: Endpoint) -> None:
    billing = RealtimeAgent(name="Billing", instructions=BILLING)
    orders = RealtimeAgent(name="Orders", instructions="You look up orders.")
    front = RealtimeAgent(name="Front", instructions=FRONT, handoffs=[billing])
    billing.handoffs.append(orders)
    orders.handoffs.append(front)
    moves = [hk.ToolCall(f"transfer_to_{name}", "{}") for name in ("billing", "orders", "front")]
    lines = ["Front here.", moves[0], "Billing here.", moves[1], "Orders here.", moves[2], "Front again."]
    hk.connect(model=hk.ScriptedModel(lines))
    async with hk.Call(front) as call:
        for words in ("Hello.", "I was charged twice.", "For order 7.", "Back, please."):
            await call.send(words)

    assert str(call.transcript).splitlines() == [
        "Caller    Hello.",
        "Front     Front here.",
        "Caller    I was charged twice.",
        'Tool      transfer_to_billing() → {"assistant": "Billing"}',
        "— handed to Billing —",
        "Billing   Billing here.",
        "Caller    For order 7.",
        'Tool      transfer_to_orders() → {"assistant": "Orders"}',
        "— handed to Orders —",
        "Orders    Orders here.",
        "Caller    Back, please.",
        'Tool      transfer_to_front() → {"assistant": "Front"}',
        "— handed to Front —",
        "Front     Front again.",
    ]
    assert str(call.timeline()).endswith("4 replies, 3 tool calls, 3 live handoffs, call ended")
    drawn = score(call.log.turns, call.log.marks)
    assert [bar.voice for bar in drawn.bars if bar.lane == "agent"] == [0, 1, 2, 0]
    assert [voice.name for voice in drawn.voices] == ["Front", "Billing", "Orders"]
    assert [reign.voice for reign in drawn.reigns] == [0, 1, 2, 0]
