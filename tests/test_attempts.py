"""Attempts from frames: whatever a service sends, each request is one, with what was wrong in words."""

import json
from typing import Annotated, Any, Literal

import pytest
from http_service import JSON
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, StrictInt, ValidationError, field_validator

from handoffkit.extraction.attempts import FOUND_LIMIT, Attempt, FieldError, Verdict, attempts, field_errors
from handoffkit.wire.answers import Answer, Call, answers
from handoffkit.wire.conversation import Usage
from handoffkit.wire.frames import Frame


def exchange(*came: tuple[str, Any], path: str = "responses", conn: str = "c1", at: float = 1.0) -> list[Frame]:
    """Return one exchange: the request, what came back a tenth of a second apart, and the end."""
    sent = [("client", "open", {"path": f"/v1/{path}"}), ("client", f"POST /v1/{path}", {"model": "gpt-asked"})]
    end = [("server", "close", {"code": None, "reason": "", "by": "server"})]
    steps = [*sent, *(("server", event, data) for event, data in came), *end]
    return [
        Frame(n, round(at + n / 10, 3), conn, path.split("/")[0], side, event, data, "handoff-1")
        for n, (side, event, data) in enumerate(steps)
    ]


def response(*items: Any, **facts: Any) -> dict[str, Any]:
    usage = {"input_tokens": 7, "output_tokens": 3}
    return {"model": "gpt-5.2", "status": "completed", "output": list(items), "usage": usage} | facts


def text(words: str, kind: str = "output_text") -> dict[str, Any]:
    return {"type": "message", "content": [{"type": kind, kind.removeprefix("output_"): words}]}


def call(arguments: str, name: str = "final_result") -> dict[str, Any]:
    return {"type": "function_call", "name": name, "arguments": arguments, "call_id": "call_1"}


def completion(message: Any, finish: str = "stop") -> dict[str, Any]:
    usage = {"prompt_tokens": 7, "completion_tokens": 3}
    return {"model": "gpt-5.2", "choices": [{"message": message, "finish_reason": finish}], "usage": usage}


def chunk(delta: Any, finish: str | None = None, **facts: Any) -> tuple[str, Any]:
    return "chat.completion.chunk", {"model": "gpt-5.2", "choices": [{"delta": delta, "finish_reason": finish}]} | facts


def one(*came: tuple[str, Any], path: str = "responses") -> Answer:
    (found,) = answers(exchange(*came, path=path))
    return found


ARGUMENTS = '{"priority": "high"}'
TOOL_CALLS = [{"id": "call_1", "type": "function", "function": {"name": "final_result", "arguments": ARGUMENTS}}]
PIECES = [
    {"tool_calls": [{"index": 0, "function": {"name": "final_result", "arguments": ""}}]},
    {"tool_calls": [{"index": 0, "function": {"arguments": ARGUMENTS[:5]}}]},
    {"tool_calls": [{"index": 0, "function": {"arguments": ARGUMENTS[5:]}}]},
]
SAME: dict[str, tuple[str, list[tuple[str, Any]]]] = {
    "responses": ("responses", [("200", response(call(ARGUMENTS)))]),
    "responses, streamed": (
        "responses",
        [("response.created", {}), ("response.completed", {"response": response(call(ARGUMENTS))})],
    ),
    "chat": ("chat/completions", [("200", completion({"content": None, "tool_calls": TOOL_CALLS}))]),
    "chat, streamed": (
        "chat/completions",
        [
            *map(chunk, PIECES),
            chunk({}, "tool_calls"),
            ("chat.completion.chunk", {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}),
        ],
    ),
}


@pytest.mark.parametrize(("path", "came"), SAME.values(), ids=SAME)
def test_the_same_answer_reads_the_same_on_every_way(path: str, came: Any) -> None:
    found = one(*came, path=path)
    assert found.calls == (Call("final_result", ARGUMENTS),)
    assert (found.text, found.failure, found.model, found.usage) == ("", "", "gpt-5.2", Usage(7, 3))
    assert found.seconds == pytest.approx(len(came) / 10)


FAILURES: dict[str, tuple[str, list[tuple[str, Any]], str]] = {
    "no answer": ("responses", [], "the connection broke off before an answer came"),
    "an error": ("responses", [("429", {"error": {"message": "Slow down.", "code": "rate"}})], "HTTP 429: Slow down."),
    "an error that is no JSON": ("responses", [("502", {"text": "<html>"})], "HTTP 502"),
    "an error as a text": ("chat/completions", [("500", {"error": "out of memory"})], "HTTP 500: out of memory"),
    "a failed response": (
        "responses",
        [("200", response(status="failed", error={"message": "Boom."}))],
        "the response failed: Boom.",
    ),
    "a response without an end": (
        "responses",
        [("200", response(text("The lap"), status="incomplete", incomplete_details={"reason": "max_output_tokens"}))],
        "the answer is incomplete (max_output_tokens)",
    ),
    "an error in the stream": (
        "responses",
        [("response.created", {}), ("error", {"message": "Boom.", "code": "server_error"})],
        "an error in the stream: Boom.",
    ),
    "a stream without an end": (
        "responses",
        [("response.created", {}), ("response.output_text.delta", {"delta": "The"})],
        "the stream broke off in the middle of the answer",
    ),
    "chunks without an end": (
        "chat/completions",
        [chunk({"content": "The"})],
        "the stream broke off in the middle of the answer",
    ),
    "chunks that were cut": (
        "chat/completions",
        [chunk({"content": "The"}), chunk({}, "length")],
        "the answer is incomplete (length)",
    ),
    "something else": ("responses", [("200", {"hello": "world"})], "HTTP 200, but no answer in it"),
}


@pytest.mark.parametrize(("path", "came", "failure"), FAILURES.values(), ids=FAILURES)
def test_what_is_no_whole_answer_says_why(path: str, came: Any, failure: str) -> None:
    (found,) = attempts(exchange(*came, path=path))
    assert (found.status, found.reason, found.ok) == ("failed", failure, False)
    assert str(found) == f"Attempt 1 failed: {failure}".rstrip(".")
    assert found.model in ("gpt-asked", "gpt-5.2")


def test_a_fault_and_other_channels_are_passed_over() -> None:
    frames = exchange(("fault", {"action": "delay"}), ("200", response(text("Yes."))))
    realtime = Frame(99, 9.0, "c2", "realtime", "client", "open", {})
    listing = [Frame(98, 8.0, "c3", "responses", "client", "GET /v1/responses/1", {})]
    assert [answer.text for answer in answers([realtime, *frames, *listing])] == ["Yes."]


def test_each_verdict_belongs_to_the_answer_that_it_judges() -> None:
    frames = [
        *exchange(("500", {"error": {"message": "Boom."}}), conn="c1"),
        *exchange(("200", response(call('{"priority": "urgent"}'))), conn="c2", at=2),
        *exchange(("200", response(call("{}", "look_up"))), conn="c3", at=3),
        *exchange(("200", response(call('{"priority": "high"}'))), conn="c4", at=4),
    ]
    wrong = {"loc": ["priority"], "type": "literal_error", "msg": "Input should be 'low' or 'high'", "input": "urgent"}
    found = attempts(frames, [Verdict([wrong]), Verdict(), Verdict()], {"final_result"})
    assert [(a.number, a.status, a.raw) for a in found] == [
        (1, "failed", ""),
        (2, "rejected", '{"priority": "urgent"}'),
        (3, "tool", ""),
        (4, "accepted", '{"priority": "high"}'),
    ]
    assert [str(a) for a in found] == [
        "Attempt 1 failed: HTTP 500: Boom",
        "Attempt 2 was rejected: priority: found 'urgent', allowed 'low' or 'high'",
        "Attempt 3 called a tool first: look_up",
        "Attempt 4 was accepted",
    ]


def test_a_verdict_with_an_id_belongs_to_the_answer_of_that_id() -> None:
    failed = response(id="resp_1", status="failed", error={"message": "Boom."})
    frames = [
        *exchange(("200", failed), conn="c1"),
        *exchange(("200", response(text("No."), id="resp_2")), conn="c2", at=2),
        *exchange(("200", response(call("{}", "look_up"), id="resp_3")), conn="c3", at=3),
    ]
    verdicts = [Verdict("empty", "resp_1"), Verdict("wrong", "resp_2"), Verdict(answer="resp_3", final=True)]
    assert [(a.status, a.raw) for a in attempts(frames, verdicts)] == [
        ("failed", ""),
        ("rejected", "No."),
        ("accepted", "{}"),
    ]


def socket(*came: tuple[str, str, Any]) -> list[Frame]:
    """Return the frames of a WebSocket to `/v1/responses`, a tenth of a second apart."""
    steps = [("client", "open", {"path": "/v1/responses"}), *came, ("client", "close", {"code": 1000})]
    return [Frame(n, n / 10, "c1", "responses", side, event, data, None) for n, (side, event, data) in enumerate(steps)]


def done(words: str, **facts: Any) -> tuple[str, str, Any]:
    return "server", "response.completed", {"response": response(text(words))} | facts


def test_a_websocket_has_an_exchange_for_each_request() -> None:
    ask = ("client", "response.create", {"model": "gpt-asked"})
    error = ("server", "error", {"status": 400, "error": {"message": "No such model."}})
    frames = socket(ask, ("server", "response.created", {}), done("One."), ask, done("Two."), ask, error, ask)
    assert [(a.text, a.failure, a.model) for a in answers(frames)] == [
        ("One.", "", "gpt-5.2"),
        ("Two.", "", "gpt-5.2"),
        ("", "HTTP 400: No such model.", "gpt-asked"),
        ("", "the connection broke off before an answer came", "gpt-asked"),
    ]
    assert [round(a.seconds, 3) for a in answers(frames)] == [0.2, 0.1, 0.1, 0.1]


def test_lanes_of_a_websocket_are_kept_apart() -> None:
    asks = [("client", "response.create", {"model": "gpt-5.2", "stream_id": lane}) for lane in ("a", "b")]
    frames = socket(*asks, done("For b.", stream_id="b"), done("For a.", stream_id="a"))
    assert [a.text for a in answers(frames)] == ["For a.", "For b."]


def test_a_handshake_that_is_refused_is_an_exchange_and_an_idle_socket_is_none() -> None:
    (refused,) = answers(socket(("server", "429", {"error": {"message": "Slow down."}})))
    assert refused.failure == "HTTP 429: Slow down."
    assert answers(socket()) == []


def test_a_refusal_says_what_the_model_said() -> None:
    (found,) = attempts(exchange(("200", response(text("I cannot.", "refusal")))), [Verdict("Content filter")])
    assert (found.status, found.reason, found.errors) == ("rejected", "the model refused (I cannot.)", ())


# Field errors.


class Card(BaseModel):
    kind: Literal["card"]
    number: str = Field(min_length=3)


class Cash(BaseModel):
    kind: Literal["cash"]
    amount: float = Field(gt=0, le=100)


class Order(BaseModel, extra="forbid"):
    code: str = Field(pattern=r"^[A-Z]{3}$")
    counts: list[StrictInt] = Field(max_length=2)
    pay: Annotated[Card | Cash, Field(discriminator="kind")]
    note: str = ""

    @field_validator("note")
    @classmethod
    def polite(cls, note: str) -> str:
        if "!" in note:
            raise ValueError("shouting is not allowed")
        return note


GOOD = {"code": "ABC", "counts": [1], "pay": {"kind": "cash", "amount": 5}}
WRONG: list[tuple[dict[str, Any], FieldError]] = [
    ({"code": "x"}, FieldError("code", "'x'", "text that matches pattern '^[A-Z]{3}$'", "")),
    ({"counts": [1, True]}, FieldError("counts[1]", "true", "a valid integer", "")),
    ({"counts": [1, 2, 3]}, FieldError("counts", "[1, 2, 3]", "at most 2 items after validation, not 3", "")),
    ({"pay": {"kind": "cash", "amount": -1}}, FieldError("pay.cash.amount", "-1", "greater than 0", "")),
    ({"pay": {"kind": "card", "number": "1"}}, FieldError("pay.card.number", "'1'", "at least 3 characters", "")),
    ({"pay": {"kind": "card"}}, FieldError("pay.card.number", "nothing", "a value, since the field is required", "")),
    ({"pay": {"kind": "gold"}}, FieldError("pay", '{"kind": "gold"}', "'card', 'cash'", "")),
    ({"note": "Hey!"}, FieldError("note", "'Hey!'", "", "Value error, shouting is not allowed")),
    ({"more": None}, FieldError("more", "null", "", "Extra inputs are not permitted")),
]


@pytest.mark.parametrize(("change", "expected"), WRONG)
def test_a_wrong_field_says_where_what_and_what_is_allowed(change: dict[str, Any], expected: FieldError) -> None:
    raw = json.dumps(GOOD | change)
    with pytest.raises(ValidationError) as refused:
        Order.model_validate_json(raw)
    (error,) = field_errors([dict(detail) for detail in refused.value.errors(include_url=False)], raw)
    assert (error.field, error.found, error.allowed) == (expected.field, expected.found, expected.allowed)
    assert error.message
    if expected.message:
        assert error.message == expected.message
        assert str(error).endswith(expected.message)


def test_details_without_a_value_are_filled_from_the_raw_output() -> None:
    detail = {"loc": ("items", 0, "price"), "type": "greater_than", "msg": "Input should be greater than 0"}
    (error,) = field_errors([detail], '{"items": [{"price": -3}]}')
    assert str(error) == "items[0].price: found -3, allowed greater than 0"


def test_a_sentence_is_about_the_output_as_a_whole() -> None:
    (error,) = field_errors("Be brief.", '"long"')
    assert str(error) == "the output as a whole: found 'long', Be brief."
    assert field_errors("") == ()


def test_what_was_found_is_not_shown_without_end() -> None:
    (error,) = field_errors("Be brief.", json.dumps("x" * 100_000))
    assert len(error.found) == FOUND_LIMIT + 1


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=4))
def test_any_wrong_output_can_be_told(data: dict[str, Any]) -> None:
    raw = json.dumps(data)
    with pytest.raises(ValidationError) as refused:  # no such dict is an order
        Order.model_validate_json(raw)
    errors = field_errors([dict(detail) for detail in refused.value.errors(include_url=False)], raw)
    assert len(errors) == refused.value.error_count()
    assert all(error.found and error.message and str(error) for error in errors)


_EVENTS = ["200", "500", "error", "response.completed", "response.output_text.delta", "chat.completion.chunk", "text"]
_KEYS = ["output", "choices", "error", "usage", "status", "response", "delta", "incomplete_details", "model", "message"]
_FRAMES = st.tuples(st.sampled_from(_EVENTS), st.dictionaries(st.sampled_from(_KEYS), JSON, max_size=4))


@given(st.lists(_FRAMES, max_size=4))
def test_whatever_a_service_sends_is_one_attempt(came: list[tuple[str, Any]]) -> None:
    (found,) = attempts(exchange(*came))
    assert isinstance(found, Attempt)
    assert str(found)
