"""A script is said in order, exactly, and crosses to the endpoint process as JSON."""

import json
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel

from handoffkit.endpoint.models import Message, Prompt, Reasoning, Reply, ScriptedModel, Tool, ToolCall, build
from handoffkit.endpoint.protocol.api_error import ApiError

FINAL = Tool("final_result", parameters={"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]})
LOOKUP = Tool("lookup_order", parameters={"type": "object", "properties": {"order_id": {"type": "string"}}})


def spoken(replies: int, session: str = "s") -> Prompt:
    return Prompt("gpt-realtime", spoken=True, session=session, replies=replies, history=(Message("user", "hello"),))


def written(**rest: Any) -> Prompt:
    return Prompt("gpt-5.2", history=(Message("user", "hello"),), **rest)


def test_lines_are_said_in_order_in_every_session_from_the_first() -> None:
    model = ScriptedModel(["one", "two"])
    assert [model.reply(spoken(n, session)).text for session in "ab" for n in range(2)] == ["one", "two", "one", "two"]


def test_a_line_may_be_a_tool_call_or_both() -> None:
    call = ToolCall("lookup_order", '{"order_id": "7"}')
    model = ScriptedModel([call, ["One moment.", call]])
    assert model.reply(spoken(0)) == Reply("", (call,))
    assert model.reply(spoken(1)) == Reply("One moment.", (call,))


@dataclass
class LooseCall:
    name: str
    arguments: Any


def test_arguments_may_be_a_dict() -> None:
    assert ScriptedModel([LooseCall("f", {"n": 1})]).reply(spoken(0)).calls == (ToolCall("f", '{"n": 1}'),)


def test_a_used_up_script_says_how_long_it_is_and_what_was_asked_for() -> None:
    with pytest.raises(ApiError, match=r"2 lines, but line 3 was asked for") as caught:
        ScriptedModel(["one", "two"]).reply(spoken(2))
    assert (caught.value.status, caught.value.code) == (400, "script_exhausted")
    with pytest.raises(ApiError, match=r"0 outputs, but output 1"):
        ScriptedModel(["one"]).reply(written())


def test_repeat_begins_again() -> None:
    model = ScriptedModel(["one", "two"], ["x"], repeat=True)
    assert model.reply(spoken(5)).text == "two"
    assert [model.reply(written()).text for _ in range(3)] == ["x", "x", "x"]


class Answer(BaseModel):
    a: int


@pytest.mark.parametrize("output", [{"a": 1}, Answer(a=1), 1], ids=["dict", "model", "bare value"])
def test_a_value_goes_to_the_output_tool_or_as_json_text(output: Any) -> None:
    model = ScriptedModel(outputs=[output, output])
    called = model.reply(written(tools=(LOOKUP, FINAL), tool_choice="required"))
    assert called.calls[0].name == "final_result"
    assert json.loads(called.calls[0].arguments) == {"a": 1}
    text = model.reply(written(output_schema=FINAL.parameters))
    assert (json.loads(text.text), text.calls) == ({"a": 1}, ())


def test_a_value_takes_the_output_tool_that_knows_its_fields() -> None:
    other = Tool("final_result_B", parameters={"type": "object", "properties": {"b": {}, "c": {}}})
    reply = ScriptedModel(outputs=[{"b": 1}]).reply(written(tools=(FINAL, other), tool_choice="required"))
    assert reply.calls[0].name == "final_result_B"


def test_text_stays_text_even_where_a_tool_is_wanted() -> None:
    reply = ScriptedModel(outputs=["not a ticket"]).reply(written(tools=(FINAL,), tool_choice="required"))
    assert reply == Reply("not a ticket")


def test_outputs_may_call_tools() -> None:
    call = ToolCall("lookup_order", "{}")
    model = ScriptedModel(outputs=[call, [call, call]])
    assert model.reply(written(tools=(LOOKUP,))).calls == (call,)
    assert model.reply(written(tools=(LOOKUP,))).calls == (call, call)


def test_outputs_may_begin_with_what_the_model_thinks() -> None:
    call = ToolCall("lookup_order", "{}")
    model = ScriptedModel(
        outputs=[[Reasoning("a"), Reasoning("b"), "Yes."], [Reasoning("c"), call], [Reasoning("d"), 1]]
    )
    assert model.reply(written()) == Reply("Yes.", reasoning=("a", "b"))
    assert model.reply(written(tools=(LOOKUP,))) == Reply(calls=(call,), reasoning=("c",))
    valued = model.reply(written(tools=(FINAL,), tool_choice="required"))
    assert (json.loads(valued.calls[0].arguments), valued.reasoning) == ({"a": 1}, ("d",))
    assert ScriptedModel(outputs=[Reasoning("e")]).reply(written()) == Reply(reasoning=("e",))


def test_a_script_crosses_as_json() -> None:
    call = ToolCall("f", '{"n": 1}')
    outputs = [{"a": [1, None]}, "t", [1, 2], call, [Reasoning("r"), "t"]]
    model = ScriptedModel(["a", call, ["b", call]], outputs, repeat=True)
    crossed = build(json.loads(json.dumps(model.describe())))
    assert isinstance(crossed, ScriptedModel)
    assert crossed.describe() == model.describe()
    assert [crossed.reply(spoken(n)) for n in range(3)] == [model.reply(spoken(n)) for n in range(3)]
    assert [crossed.reply(written()) for _ in range(5)] == [model.reply(written()) for _ in range(5)]


@pytest.mark.parametrize(
    ("lines", "outputs", "error", "words"),
    [
        ([1], [], TypeError, r"lines\[0\] is 1"),
        (["a", {"a": 1}], [], TypeError, r"lines\[1\]"),
        ("hello", [], TypeError, "takes a list"),
        ([[]], [], ValueError, "empty"),
        ([], [object()], TypeError, r"outputs\[0\]"),
        ([], [{"a": float("nan")}], TypeError, "no JSON"),
        ([LooseCall("", {})], [], ValueError, "name"),
        ([Reasoning("a")], [], TypeError, r"lines\[0\] is Reasoning"),
        ([], [["a", Reasoning("b")]], ValueError, "thinks before it answers"),
        ([], [[Reasoning(1)]], TypeError, "takes a str"),  # type: ignore[arg-type]
        ([LooseCall("f", "[1]")], [], ValueError, "JSON object"),
        ([LooseCall("f", "{")], [], ValueError, "no JSON"),
    ],
)
def test_a_bad_entry_is_refused_when_the_script_is_written(
    lines: Any, outputs: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        ScriptedModel(lines, outputs)


def test_an_unknown_kind_of_model_is_refused() -> None:
    with pytest.raises(ValueError, match="found 'oracle'"):
        build({"kind": "oracle"})
