"""The benchmarks run and say what they should, and reckon rightly; how fast anything is, no test asks."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parent / "benchmarks"
RUN = BENCHMARKS / "run.py"
SPOKEN = ("hearing", "answering", "streaming")
NAMES = ("call", "agents", "relay", "import", "connect", "log", "history", *SPOKEN, "panel")
SPREAD = ("min", "p95", "max")
MAYBE_NOTHING = (
    *("heavy modules", "endpoint CPU", "CPU per frame", "streaming"),
    *("blocks missing", "blocks out of order", "kernel's CPU", "pages' CPU", "difference"),
)
"""Rows that may say 0 or less, beside shares: the system counts CPU in ticks, and a difference can go either way."""


@pytest.fixture
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Find the benchmarks' modules, as a script beside them does."""
    monkeypatch.syspath_prepend(BENCHMARKS)


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, str(RUN), *arguments], capture_output=True, text=True, timeout=600)


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_says_what_it_measured(name: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if name in (*SPOKEN, "panel"):
        request.getfixturevalue("speech")
    if name == "panel":
        request.getfixturevalue("needs")("chromium", "chromium")
    done = run("--smallest", "--json", str(tmp_path / "numbers.json"), name)
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "numbers.json").read_text(encoding="utf-8"))
    assert report["machine"].keys() >= {"date", "python", "system", "cores", "memory_gb", "load_before", "packages"}
    assert report["machine"]["packages"].keys() >= {"handoffkit", "pydantic-ai-slim", "tornado"}
    assert list(report["benchmarks"]) == [name]
    found = report["benchmarks"][name]
    assert found.keys() == {"what", "load_before", "seconds", "rows"}
    for row in found["rows"]:
        check(row)
    assert f"### {found['what']}" in done.stdout
    table = [line for line in done.stdout.splitlines() if line.startswith("| ")]
    assert len(table) == len(found["rows"]) + 2
    assert len({len(line) for line in table}) == 1
    assert re.fullmatch(r"\| -+ \|( -+:? \|)+", table[1])


def check(row: dict[str, object]) -> None:
    assert row.keys() == {"what", "unit", "n", "aim", "note", "value", *SPREAD}
    value, n = row["value"], row["n"]
    assert isinstance(value, int | float)
    assert isinstance(n, int)
    assert n >= 1
    spread = [number for name in SPREAD if isinstance(number := row[name], int | float)]
    assert sorted(spread) == spread, row
    assert not spread or spread[0] <= value <= spread[-1], row
    assert value > 0 or row["unit"] == "%" or str(row["what"]).startswith(MAYBE_NOTHING), row


def test_only_what_there_is_can_be_measured() -> None:
    done = run("speed")
    assert done.returncode == 2
    assert f"there is no benchmark speed; there are {', '.join(NAMES)}, speech" in done.stderr


@pytest.mark.usefixtures("benchmarks")
def test_speech_stands_for_all_that_is_spoken() -> None:
    from run import _chosen

    assert _chosen(["speech"]) == list(SPOKEN)
    assert _chosen(["hearing", "log", "speech"]) == ["hearing", "log", "answering", "streaming"]
    assert _chosen([]) == list(NAMES)


@pytest.mark.usefixtures("benchmarks")
def test_a_percentile_lies_among_the_values() -> None:
    from measure import percentile

    values = [50.0, 10.0, 40.0, 20.0, 30.0]
    assert [percentile(values, percent) for percent in (0, 25, 50, 100)] == [10, 20, 30, 50]
    assert percentile(values, 95) == pytest.approx(48)
    assert percentile([7.0], 95) == 7


@pytest.mark.usefixtures("benchmarks")
def test_a_row_tells_a_95th_part_only_of_many_values() -> None:
    from measure import Row

    few, many = Row.of("wait", "ms", list(range(19))), Row.of("wait", "ms", list(range(101)))
    assert (few.p95, many.p95, many.value, many.min, many.max, many.n) == (None, 95, 50, 0, 100, 101)
    share = Row.share("right", 3, 4, "the fourth is wrong")
    assert (share.value, share.min, share.p95, share.max, share.n) == (75, None, None, None, 4)


@pytest.mark.usefixtures("benchmarks")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Hello, I'm HERE.", "hello i'm here"),
        ("It’s 'fine' – really…", "it's fine really"),
        ("a twenty-nine dollar bill", "a 29 dollar bill"),
        ("twenty-nine dollars", "$29"),
        ("twenty-nine dollars fifty", "$29.50"),
        ("eighty-five pounds", "£85"),
        ("on the third and the fourth", "on the 3rd and the 4th"),
        ("the second of November", "the 2nd of november"),
        ("the twenty-first, the twelfth, the thirtieth", "the 21st, the 12th, the 30th"),
        ("forty-two Station Road", "42 Station Road"),
        ("half past nine thirty", "half past 9:30"),
        ("one hundred five", "105"),
        ("one thousand two hundred", "1,200"),
        ("zero one nine two", "0192"),
        ("ten percent", "10%"),
    ],
)
def test_writing_a_word_in_another_way_is_no_error(one: str, other: str) -> None:
    from words import errors, plain

    assert plain(one) == plain(other)
    assert errors(plain(one), plain(other)) == 0


@pytest.mark.usefixtures("benchmarks")
@pytest.mark.parametrize(
    ("said", "heard", "wrong"),
    [
        ("my laptop is dead", "my laptop is dead", 0),
        ("my laptop is dead", "my lap top is dead", 2),
        ("my laptop is dead", "laptop is dead", 1),
        ("my laptop is dead", "my laptop is not dead", 1),
        ("my laptop is dead", "my desktop is dead", 1),
        ("my laptop is dead", "", 4),
        ("", "thank you", 2),
        ("won't charge anymore", "will not charge any more", 4),
        ("a b c d e f", "f e d c b a", 6),
    ],
)
def test_wrong_words_are_counted_at_the_least(said: str, heard: str, wrong: int) -> None:
    from words import errors, plain

    assert errors(plain(said), plain(heard)) == wrong


@pytest.mark.usefixtures("benchmarks")
def test_wrong_words_are_counted_for_every_kind() -> None:
    from bench_hearing import Tally

    tally = Tally()
    tally.count("one two three four five six", "one two tree four five six", "all", "joe")
    tally.count("seven eight", "7 8", "all", "awb")
    rows = list(tally.rows("alone"))
    assert [row.what for row in rows] == [f"wrong words, alone: {kind}" for kind in ("all", "joe", "awb")]
    assert [row.n for row in rows] == [8, 6, 2]
    assert [row.value for row in rows] == [12.5, pytest.approx(100 / 6), 0]


@pytest.mark.usefixtures("benchmarks")
def test_tickets_are_judged_field_by_field_and_what_is_wrong_is_named() -> None:
    from bench_hearing import _judged
    from recorded import Recorded

    truth = {"category": "billing", "priority": "low", "mentions": ["bill", "refund"]}
    calls = [Recorded(name, (), (), "joe", "24 kHz", "a quiet room", truth) for name in ("one", "two")]
    good = {"category": "billing", "priority": "low", "summary": "A bill to refund."}
    rows = list(_judged(calls, [good, {"category": "other", "priority": "low", "summary": "Some bills."}]))
    assert [(row.value, row.n) for row in rows] == [(50, 2), (100, 2), (75, 4), (50, 2)]
    assert [row.note for row in rows] == ["two is other and should be billing", "", "two lacks refund", ""]


@pytest.mark.usefixtures("benchmarks")
def test_what_a_summary_should_name_may_be_said_in_several_ways() -> None:
    from recorded import Recorded

    truth = {"mentions": ["charg", "twice|double", "pick up"]}
    call = Recorded("charged-twice", (), (), "joe", "24 kHz", "a quiet room", truth)
    assert call.mentioned("The caller was CHARGED double.") == [True, True, False]
    assert call.mentioned("A surcharge; please pick up two.") == [False, False, True]


@pytest.mark.usefixtures("benchmarks")
def test_every_recorded_call_is_measured_and_has_its_words() -> None:
    from recorded import AUDIO, laptop, recorded

    calls = recorded()
    assert {call.name for call in calls} == {path.parent.name for path in AUDIO.glob("*/turn-1.wav")}
    for call in calls:
        assert len(call.files) == len(call.said) >= 1
        assert all(file.is_file() for file in call.files)
        assert call.mentioned("")
    assert laptop() in calls
    assert recorded(smallest=True)[0] in calls
