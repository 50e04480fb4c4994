"""A result as a table, as JSON, as CSV and as files: readable, the same each time, and safe."""

import csv
import dataclasses
import io
import json
import os
import subprocess
import sys
from datetime import date
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field
from results import REJECTED, result

from handoffkit.errors import CannotWrite
from handoffkit.extraction.attempts import Attempt
from handoffkit.extraction.values import fields, flat, plain, words

ATTACK = "<img src=x onerror=alert(1)>"


class Address(BaseModel):
    city: str
    floors: list[int] = []


class Ticket(BaseModel):
    summary: str
    address: Address
    steps: list[str] = []
    note: str | None = None


TICKET = Ticket(summary="It does not charge.", address=Address(city="서울", floors=[1, 2]), steps=["Ask.", "Look."])


def test_a_result_is_a_table_of_its_fields_and_of_nothing_that_varies() -> None:
    one, two = result(TICKET), result(TICKET, seconds=99.0, cost=None, label="handoff-7")
    assert str(one) == repr(one) == str(two)
    assert one._repr_html_() == two._repr_html_()
    assert str(one).splitlines() == [
        "Field           Value",
        "summary         It does not charge.",
        "address.city    서울",
        "address.floors  [1, 2]",
        "steps           • Ask.",
        "                • Look.",
        "note            null",
        "",
        "1 attempt.",
    ]


def test_the_attempts_behind_a_result_are_told_in_words() -> None:
    text = str(result(TICKET, attempts=(REJECTED, Attempt(2, "accepted", "{}"))))
    assert text.splitlines()[-3:] == [
        "2 attempts:",
        "Attempt 1 was rejected: priority: found 'urgent', allowed 'low' or 'high'.",
        "Attempt 2 was accepted.",
    ]


def test_details_have_what_varies() -> None:
    text = str(result(TICKET, attempts=(REJECTED, Attempt(2, "accepted", "{}", seconds=0.25))).details())
    for part in ("1.23", "30 in, 4 out", "call-1/handoff-1", '{"priority": "urgent"}', "after 0.250 s"):
        assert part in text


@pytest.mark.parametrize(
    ("facts", "cost"),
    [
        ({}, "nothing was spent; gpt-5.2 would cost about $0.000123 for this many tokens"),
        ({"cost": None}, "nothing was spent; gpt-5.2 would cost an unknown price"),
        ({"simulated": False}, "about $0.000123"),
        ({"simulated": False, "cost": None}, "an unknown price"),
    ],
)
def test_a_cost_says_what_it_is(facts: dict[str, Any], cost: str) -> None:
    rows = {row[0]: row[1] for row in result(TICKET, **facts).details().rows}
    assert rows["cost"].startswith(cost)


@pytest.mark.parametrize("show", [lambda r: r._repr_html_(), lambda r: r.details()._repr_html_()])
def test_what_a_model_says_is_text_and_never_markup(show: Any) -> None:
    wild = result(
        {ATTACK: ATTACK, "list": [ATTACK]}, attempts=(Attempt(1, "failed", ATTACK, reason=ATTACK),), prompt=ATTACK
    )
    html = show(wild)
    assert "<img" not in html
    assert "&lt;img src=x onerror=alert(1)&gt;" in html


def test_what_a_model_says_cannot_steer_a_terminal_or_reorder_a_line() -> None:
    text = str(result({"a": "\x1b[2J\u202egnp.exe", "b": "حاسوبي"}))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\u2068حاسوبي\u2069" in text


def test_a_long_value_stays_in_its_column() -> None:
    lines = str(result({"summary": "charge " * 500, "word": "x" * 500})).splitlines()
    assert max(map(len, lines)) <= 110
    assert all(line.startswith(("Field", "summary", "word", "  ")) for line in lines[:-2])


# Values.


class Level(Enum):
    HIGH = "high"


@dataclasses.dataclass
class Point:
    x: float
    tags: set[str]


class Aliased(BaseModel):
    number: int = Field(alias="n")
    due: date


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Aliased(n=3, due=date(2030, 1, 2)), {"number": 3, "due": "2030-01-02"}),
        (Point(float("nan"), {"c", "a", "b"}), {"x": "nan", "tags": ["a", "b", "c"]}),
        ({"level": Level.HIGH, 7: (1, 2)}, {"level": "high", "7": [1, 2]}),
        ([Address(city="x")], [{"city": "x", "floors": []}]),
        (b"\xff\x00", "_wA="),
        (None, None),
        (True, True),
    ],
)
def test_any_value_is_plain_json(value: Any, expected: Any) -> None:
    assert plain(value) == expected
    json.dumps(plain(value), allow_nan=False)


def test_an_object_that_nobody_knows_is_shown_by_its_words() -> None:
    class Odd:
        def __str__(self) -> str:
            return "odd"

    assert plain(Odd()) == "odd"


def test_sets_are_in_the_same_order_in_every_process() -> None:
    names = "{'summary', 'category', 'priority', 'other', 'more'}"
    code = f"from handoffkit.extraction.values import plain; print(plain({names}))"
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(seen) == 1


def test_a_value_without_fields_is_the_field_output() -> None:
    assert fields([1]) == {"output": [1]}
    assert fields({"a": 1}) == {"a": 1}


_LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
_VALUES = st.recursive(_LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=9)


@given(_VALUES)
def test_any_output_can_be_shown_and_saved(value: Any) -> None:
    shown = result(value)
    assert str(shown)
    assert shown._repr_html_().startswith("<")
    assert json.loads(shown.to_json())["output"] == plain(value)
    rows = list(csv.reader(io.StringIO(shown.to_csv())))
    assert len(rows) in (0, 2)
    assert all(isinstance(words(each), str) for each in flat(shown.fields).values())


# Files.


def test_json_has_everything(tmp_path: Path) -> None:
    given = result(TICKET, attempts=(REJECTED, Attempt(2, "accepted", "{}")))
    path = tmp_path / "ticket.json"
    assert given.to_json(path) == path.read_text(encoding="utf-8")
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found["handoffkit"] == 1
    assert found["output"]["address"] == {"city": "서울", "floors": [1, 2]}
    assert found["attempts"][0]["errors"][0]["allowed"] == "'low' or 'high'"
    assert (found["cost"], found["seconds"], found["simulated"]) == ("0.00012345", 1.23456, True)
    assert "서울" in path.read_text(encoding="utf-8")


def test_csv_is_a_line_of_names_and_a_line_of_values(tmp_path: Path) -> None:
    path = tmp_path / "ticket.csv"
    text = result(TICKET).to_csv(path)
    names, values = csv.reader(io.StringIO(text))
    assert dict(zip(names, values, strict=True)) == {
        "summary": "It does not charge.",
        "address.city": "서울",
        "address.floors": "[1, 2]",
        "steps": '["Ask.", "Look."]',
        "note": "",
    }
    assert path.read_bytes().startswith(b"\xef\xbb\xbf")
    assert path.read_text(encoding="utf-8-sig") == text


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", "＝", " =", "  +"])
def test_a_text_that_a_spreadsheet_would_run_is_made_harmless(start: str) -> None:
    text = f"{start}HYPERLINK(1)"
    _, (value, number) = csv.reader(io.StringIO(result({"a": text, "b": -5}).to_csv(), newline=""))
    assert value == f"'{text}".replace("\r", "\n")
    assert number == "-5"


def test_a_field_that_a_model_named_is_made_harmless_too() -> None:
    (name,), _ = csv.reader(io.StringIO(result({"=1+1": "x"}).to_csv()))
    assert name == "'=1+1"


def test_an_existing_file_is_replaced_whole_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "with a space.json"
    path.write_text("old " * 10_000)
    result(TICKET).to_json(str(path))
    assert json.loads(path.read_text(encoding="utf-8"))["output"]["summary"] == TICKET.summary
    assert [each.name for each in tmp_path.iterdir()] == ["with a space.json"]
    assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CannotWrite, match=r"there is no folder .*missing\. Make the folder first"):
        result(TICKET).to_json(tmp_path / "missing" / "ticket.json")
    assert not (tmp_path / "missing").exists()


def test_what_cannot_be_replaced_stays_and_is_said(tmp_path: Path) -> None:
    (tmp_path / "ticket.json").mkdir()
    with pytest.raises(CannotWrite, match=r"ticket\.json cannot be written"):
        result(TICKET).to_json(tmp_path / "ticket.json")
    assert [each.name for each in tmp_path.iterdir()] == ["ticket.json"]


def test_text_that_utf_8_cannot_hold_is_written_all_the_same(tmp_path: Path) -> None:
    path, half = tmp_path / "ticket.json", "half a \ud800 pair"
    result({"a": half}).to_json(path)
    assert json.loads(path.read_text(encoding="utf-8"))["output"]["a"] == half
