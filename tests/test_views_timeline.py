"""The timeline: what is laid out where, and that it can be drawn, in every script and at every length."""

import logging
import warnings
from collections.abc import Generator
from io import BytesIO
from itertools import pairwise
from types import SimpleNamespace

import pytest
from matplotlib.text import Text
from PIL import Image
from views_samples import HOSTILE, agent, caller, ended, extraction, lookup, spoken_call, typed_call

from handoffkit.marks import LiveHandoff, Mark, Silence, TurnFailed
from handoffkit.views import Timeline, timeline
from handoffkit.views.lanes import Bar, Flag, score
from handoffkit.views.scale import clock, duration, merged, rows, scale, step
from handoffkit.wire.conversation import Turn


@pytest.fixture(autouse=True)
def no_missing_glyphs(caplog: pytest.LogCaptureFixture) -> Generator[None]:
    """Turn matplotlib's warnings about glyphs and fonts into failures."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        yield
    assert not [record for record in caplog.get_records("call") if record.levelno >= logging.WARNING]


def drawn(turns: list[Turn], marks: list[Mark] | None = None) -> list[str]:
    """Draw, and return every text in the picture."""
    made = Timeline(turns, marks or [])
    with Image.open(BytesIO(made.png)) as picture:
        assert picture.format == "PNG"
    return [text.get_text() for text in made.figure.findobj(Text) if text.get_text()]


# What is laid out


def test_a_typed_call_is_laid_out_as_it_passed() -> None:
    shown = score(typed_call(), [extraction(20.47, 0.03), ended(21.0)])

    assert [(bar.lane, bar.start, bar.end, bar.number) for bar in shown.bars] == [
        ("caller", 0.012, 0.012, 1),
        ("agent", 0.016, 0.048, 2),
        ("caller", 8.412, 8.412, 3),
        ("agent", 8.415, 8.44, 4),
        ("tools", 8.42, 8.43, 0),
        ("extraction", 20.47, 20.5, 0),
    ]
    assert shown.gaps == ((0.012, 0.016), (8.412, 8.415))
    assert shown.flags == (Flag(21.0, "call ended"),)
    assert shown.bars[-1].words == "handoff-1"


def test_a_spoken_reply_lasts_as_long_as_its_sound_but_not_into_the_next_turn() -> None:
    turns = [
        caller("One.", 0.0, 2.0, spoken=True),
        agent("Two.", 2.5, 2.9, audio_ms=4000),
        caller("Three.", 5.0, 6.0, spoken=True),
        agent("Four.", 6.5, 6.9, audio_ms=4000),
    ]

    assert [bar.end for bar in score(turns, []).bars] == [2.0, 5.0, 6.0, 10.5]


def test_an_interrupted_reply_is_cut_where_it_was_last_heard() -> None:
    turns = [
        caller("One.", 0.0, 2.0, spoken=True),
        agent("Two", 2.5, 2.9, audio_ms=4000, interrupted=True, heard_ms=1200, generated="Two and more."),
        caller("Three.", 3.7, 6.0, spoken=True),
    ]

    bar = score(turns, []).bars[1]
    assert [bar.cut, bar.end] == pytest.approx([3.7, 6.5])
    assert bar.words == "Two and more."


def test_marks_become_flags_and_attempts() -> None:
    marks = [
        LiveHandoff(3.0, "c1", to="Billing"),
        Silence(4.0, "c1", seconds=2.5),
        TurnFailed(5.0, "c1", reason="the connection dropped"),
        extraction(6.0, 1.0, status="priority: 'urgent' is not allowed"),
        extraction(7.0, 1.0, attempt=2),
        ended(9.0, clean=False),
    ]
    shown = score(typed_call(), marks)

    assert [(flag.words, flag.bad) for flag in shown.flags] == [
        ("→ Billing", False),
        ("silence, 2.5 s", True),
        ("✕ no reply: the connection dropped", True),
        ("✕ the connection dropped", True),
    ]
    assert [(bar.words, bar.look) for bar in shown.bars if bar.lane == "extraction"] == [
        ("✕ handoff-1: priority: 'urgent' is not allowed", "failed"),
        ("handoff-1, attempt 2", "plain"),
    ]


def test_seeded_turns_have_no_place_in_time_but_keep_their_number() -> None:
    shown = score([caller("Earlier.", 0.0, seeded=True), *typed_call()], [])

    assert shown.seeded == 1
    assert [bar.number for bar in shown.bars if bar.number] == [2, 3, 4, 5]


# Time


def test_time_runs_evenly_where_nobody_pauses_for_long() -> None:
    even = scale([(1.0, 3.0), (4.0, 6.0)])

    assert not even.breaks
    assert [even.place(moment) for moment in (0.0, 1.0, 3.5, 6.0, 9.0)] == pytest.approx([0.0, 0.0, 2.5, 5.0, 5.0])


def test_a_long_pause_is_cut_short_and_nothing_else() -> None:
    cut = scale([(0.0, 0.03), (60.0, 60.04)])

    assert cut.breaks == (1,)
    assert cut.place(0.03) - cut.place(0.0) == pytest.approx(0.03)
    assert cut.place(60.04) - cut.place(60.0) == pytest.approx(0.04)
    assert 0 < cut.place(60.0) - cut.place(0.03) < 0.04


@pytest.mark.parametrize("busy", [[], [(2.0, 2.0)], [(0.0, 0.0), (0.0, 0.0)]])
def test_a_moment_alone_has_a_scale(busy: list[tuple[float, float]]) -> None:
    assert scale(busy).length > 0


def test_rows_begin_where_something_begins() -> None:
    assert rows(100.0, 2, [10.0, 47.0, 90.0]) == [(0.0, 47.0), (47.0, 100.0)]
    assert rows(100.0, 2, []) == [(0.0, 50.0), (50.0, 100.0)]
    assert merged([(4.0, 5.0), (0.0, 2.0), (1.0, 3.0)]) == [(0.0, 3.0), (4.0, 5.0)]


def test_moments_and_durations_in_words() -> None:
    assert [clock(at, 0.02, False) for at in (0.04, 1.5)] == ["40 ms", "1.50 s"]
    assert [clock(at, 10, True) for at in (5, 185, 3723)] == ["0:05", "3:05", "1:02:03"]
    assert [duration(length) for length in (0.64, 8.36, 12.2, 150)] == ["640 ms", "8.4 s", "12 s", "2 min"]
    assert [step(least) for least in (0.0012, 0.3, 7, 99_999)] == [0.002, 0.5, 10, 3600]


# The text


def test_the_text_says_only_what_is_the_same_on_every_run() -> None:
    shown = timeline(SimpleNamespace(turns=typed_call(), marks=[extraction(20.0, 0.03), ended(21.0)]))

    assert repr(shown) == str(shown) == "Timeline: 2 caller turns, 2 replies, 1 tool call, 1 extraction, call ended"
    assert str(timeline(typed_call()[:2])) == "Timeline: 1 caller turn, 1 reply"
    assert str(timeline([])) == "Timeline: nothing has been said yet"


def test_what_went_wrong_is_in_the_text() -> None:
    turns = [caller("", 0, 1, inaudible=True), agent("Hel", 1, 2, interrupted=True), caller("x", 0, seeded=True)]
    marks = [extraction(3, 1, status="no"), extraction(4, 1, 2), extraction(5, 1, 1), ended(9, clean=False)]

    assert str(Timeline(turns, marks)) == (
        "Timeline: 1 caller turn, 1 reply, 1 interruption, 1 inaudible turn, 1 seeded turn, 1 extraction, "
        "1 failed attempt, call ended early"
    )


# The picture


def test_a_typed_call_is_drawn_with_its_words_and_milliseconds() -> None:
    words = drawn(typed_call(), [extraction(20.47, 0.03), ended(21.0)])

    assert {"Caller", "Agent", "Tools", "Extraction", "4 ms", "3 ms", "8.4 s pause", "call ended"} <= set(words)
    assert "find_faults" in words
    assert any(text.startswith("My laptop does") for text in words)


def test_the_same_call_gives_the_same_bytes() -> None:
    assert timeline(typed_call()).png == timeline(typed_call()).png


def test_a_notebook_gets_size_and_words_with_the_picture() -> None:
    data, shown = timeline(typed_call())._repr_png_()

    with Image.open(BytesIO(data)) as picture:
        assert list(picture.size) == pytest.approx([1.5 * shown["width"], 1.5 * shown["height"]], abs=2)
    told = shown["alt"].split("\n")
    assert told[0] == "Timeline: 2 caller turns, 2 replies, 1 tool call"
    assert [line.partition(": ")[0] for line in told[1:]] == ["Caller", "Agent", "Caller", "Agent"]


@pytest.mark.parametrize("turns", [2, 40, 200])
def test_a_call_of_any_length_fits_a_page(turns: int) -> None:
    figure = Timeline(spoken_call(turns), [ended(turns * 5.0)]).figure
    width, height = figure.get_size_inches()

    assert width == 10
    assert height < 11
    pixels = figure.dpi * width
    for text in figure.findobj(Text):
        assert text.get_window_extent().x1 <= pixels


def test_a_long_call_is_drawn_in_rows_at_one_pace() -> None:
    words = drawn(spoken_call(40))

    assert words.count("Caller") == 3
    assert {"0:00", "1:00", "2:00"} <= set(words)
    assert "700 ms" in words


def test_different_instructions_are_told_apart_in_words() -> None:
    turns = [
        caller("One.", 0.0, 1.0),
        agent("Two.", 1.5, 2.0, instructions="Be brief."),
        agent("Three.", 4.0, 5.0, instructions="Take orders."),
    ]

    assert {"under the instructions “Be brief.”", "under the instructions “Take orders.”"} <= set(drawn(turns))
    assert not any("instructions" in text for text in drawn(turns[:2]))


def test_a_long_wait_stands_out_in_bold() -> None:
    figure = timeline([caller("One.", 0.0, 1.0), agent("Two.", 2.82, 6.0)]).figure

    long = [text for text in figure.findobj(Text) if isinstance(text, Text) and text.get_text() == "1,820 ms"]
    assert [text.get_fontweight() for text in long] == ["bold"]


def test_an_empty_log_gives_a_picture_that_says_so() -> None:
    assert drawn([]) == ["Nothing has been said yet: the timeline is empty."]
    assert drawn([caller("x", 0.0, seeded=True)]) == ["Nothing has been said yet, apart from 1 seeded turn of history."]


@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_is_said_can_be_drawn(text: str) -> None:
    turns = [caller(text, 0.0, 3.0, tools=()), agent(text, 4.0, 8.0, instructions=text), agent("x", 9, 10)]
    turns.append(agent("y", 11.0, 12.0, tools=(lookup(10.5, None),)))

    assert len(drawn(turns, [ended(9.0), LiveHandoff(9.5, "c1", to=text)])) > 5


def test_no_bar_of_another_lane_hides_a_bar() -> None:
    bars = score(spoken_call(10), []).bars

    by_lane: dict[str, list[Bar]] = {}
    for bar in bars:
        by_lane.setdefault(bar.lane, []).append(bar)
    assert set(by_lane) == {"caller", "agent"}
    for lane in by_lane.values():
        assert all(one.cut or one.end <= other.start for one, other in pairwise(lane))
