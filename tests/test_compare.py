"""Results side by side: where they differ is said in words."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from results import REJECTED, result

import handoffkit as hk
from handoffkit.connect import Endpoint
from handoffkit.errors import NothingToCompare
from handoffkit.extraction.attempts import Attempt
from handoffkit.extraction.comparison import MISSING, compare

HIGH = {"summary": "It does not charge.", "priority": "high"}
LOW = HIGH | {"priority": "low"}
ATTACK = "<img src=x onerror=alert(1)>"


def test_results_stand_side_by_side_with_what_differs_in_words() -> None:
    twice = (REJECTED, Attempt(2, "accepted", "{}"))
    found = compare([result(HIGH), result(LOW, prompt="Be brief.", attempts=twice)])
    assert str(found).splitlines() == [
        "Field       1                    2                    Compared",
        "(prompt)    Create the ticket.   Be brief.",
        "summary     It does not charge.  It does not charge.  same",
        "priority    high                 low                  differs",
        "(attempts)  1                    2",
        "(tokens)    34                   34",
        "",
        "The results differ in 1 of 2 fields: priority.",
    ]
    assert found.differing == ["priority"]
    assert repr(found) == str(found)


def test_results_of_other_schemas_have_the_union_of_their_fields() -> None:
    found = compare([("ticket", result(HIGH)), ("mood", result({"priority": "high", "calm": True}))])
    assert found.rows == {
        "summary": ["It does not charge.", MISSING],
        "priority": ["high", "high"],
        "calm": [MISSING, True],
    }
    assert found.names == ("ticket", "mood")
    assert found.differing == ["summary", "calm"]
    assert str(found).count(MISSING) == 2


def test_a_number_and_its_words_are_not_the_same() -> None:
    assert compare([result({"n": 1}), result({"n": "1"})]).differing == ["n"]
    assert compare([result({"n": True}), result({"n": 1})]).differing == ["n"]


def test_the_same_results_are_said_to_be_the_same() -> None:
    text = str(compare([result(HIGH), result(HIGH)]))
    assert text.endswith("The 2 results are the same in 2 fields.")
    assert "differs" not in text


def test_one_result_has_nothing_to_differ_from() -> None:
    text = str(compare([result(HIGH)]))
    assert text.endswith("One result: nothing to differ from.")
    assert "same" not in text


def test_what_varies_from_run_to_run_is_not_shown() -> None:
    one, two = compare([result(HIGH), result(LOW)]), compare([result(HIGH, seconds=9.0, cost=None), result(LOW)])
    assert str(one) == str(two)
    assert one._repr_html_() == two._repr_html_()


def test_everything_is_escaped() -> None:
    html = compare([(ATTACK, result({ATTACK: ATTACK}, prompt=ATTACK)), result(HIGH)])._repr_html_()
    assert "<img" not in html
    assert "differs" in html


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ([], "there is no result in the list"),
        (None, "it is NoneType"),
        (7, "it is int"),
        (["a"], "entry 1 is str"),
        ([result(HIGH), None], "entry 2 is NoneType"),
        (result(HIGH), "it is one result, not a list"),
    ],
)
def test_what_cannot_be_compared_is_named(given: Any, found: str) -> None:
    with pytest.raises(NothingToCompare, match=f"{found}.*hk.compare"):
        compare(given)


def test_a_dict_of_results_names_its_columns() -> None:
    named: Any = {"short": result(HIGH), "long": result(LOW)}
    assert compare(named).names == ("short", "long")


def test_csv_has_a_line_for_each_result(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    found = compare([("a", result(HIGH)), ("=b", result({"calm": True}, model="gpt-5-mini", prompt="-x"))])
    text = found.to_csv(path)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert rows[0] == {
        "name": "a",
        "model": "gpt-5.2",
        "prompt": "Create the ticket.",
        "attempts": "1",
        "tokens": "34",
        "summary": "It does not charge.",
        "priority": "high",
        "calm": "",
    }
    assert (rows[1]["name"], rows[1]["prompt"], rows[1]["calm"], rows[1]["summary"]) == ("'=b", "'-x", "true", "")
    assert path.read_text(encoding="utf-8-sig") == text


def test_json_has_every_result_by_name(tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    compare([("a", result(HIGH)), ("b", result(LOW))]).to_json(path)
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found["differing"] == ["priority"]
    assert [(each["name"], each["output"]) for each in found["results"]] == [("a", HIGH), ("b", LOW)]


async def test_runs_of_a_real_call_are_compared_the_same_twice(connected: Endpoint) -> None:
    from pydantic import BaseModel
    from pydantic_ai import Agent, NativeOutput

    class Ticket(BaseModel):
        summary: str
        urgent: bool

    async def runs() -> str:
        hk.connect()
        async with hk.Call(Agent(instructions="Help.")) as call:
            await call.send("My laptop does not charge, and I present tomorrow.")
        tool, native = (
            Agent("openai:gpt-5.2", output_type=Ticket),
            Agent("openai:gpt-5-mini", output_type=NativeOutput(Ticket)),
        )
        return str(hk.compare([await call.handoff(tool), await call.handoff(native, "Be brief.")]))

    text = await runs()
    assert text == await runs()
    assert "gpt-5-mini" in text


_OUTPUTS = st.dictionaries(
    st.sampled_from(["a", "b", "c"]), st.sampled_from([1, "1", None, True, [], ["x"]]), max_size=3
)


@given(st.lists(_OUTPUTS, min_size=1, max_size=4))
def test_a_field_differs_exactly_if_its_values_do(outputs: list[dict[str, Any]]) -> None:
    found = compare([result(output) for output in outputs])
    names = {name for output in outputs for name in output}
    assert set(found.rows) == names
    for name in names:
        values = {json.dumps(output[name]) if name in output else "" for output in outputs}
        assert (name in found.differing) == (len(values) > 1)
    assert len(list(csv.reader(io.StringIO(found.to_csv())))) == len(outputs) + 1
