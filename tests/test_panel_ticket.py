"""The ticket of a handoff as the page has it, and what stands there if none was made."""

import dataclasses
import enum
import json
from decimal import Decimal
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field
from pydantic_ai import Agent
from pydantic_ai.usage import RunUsage
from views_samples import HOSTILE

import handoffkit as hk
from handoffkit.errors import CallIncomplete, ExtractionFailed, NothingSaid, ServiceFailed
from handoffkit.extraction.attempts import Attempt, FieldError
from handoffkit.extraction.result import HandoffResult
from handoffkit.widgets.state.cost import in_words, price
from handoffkit.widgets.state.ticket import choices, short, ticket, ticket_error
from handoffkit.wire.conversation import Usage


class Priority(enum.Enum):
    LOW = "low"
    HIGH = "high"


class Part(BaseModel):
    name: str
    price: float


class SupportTicket(BaseModel):
    title: str
    priority: Priority
    channel: Literal["phone", "mail"] | None = None
    steps: list[str] = Field(default_factory=list)
    parts: list[Part] = Field(default_factory=list)
    owner: Annotated[Part | None, "who"] = None
    urgent: bool = False


@dataclasses.dataclass
class Visit:
    day: Literal["Thursday", "Friday"]
    floor: int


REFUSED = Attempt(
    1, "rejected", "{}", (FieldError("priority", "'now'", "'low' or 'high'", "Input should be 'low' or 'high'"),),
    seconds=1.04, usage=Usage(100, 20),
)  # fmt: skip
ACCEPTED = Attempt(2, "accepted", "{}", seconds=1.1, usage=Usage(120, 30))


def result(output: Any, *attempts: Attempt, simulated: bool = False, cost: Decimal | None = None) -> HandoffResult:
    usage = RunUsage(input_tokens=220, output_tokens=50, requests=2)
    return HandoffResult(
        output, attempts or (ACCEPTED,), usage, cost, 2.4321, "call-1/handoff-1", "Forms", "gpt-5.2",
        type(output).__name__, "Go.", (), simulated,
    )  # fmt: skip


def test_a_ticket_says_for_each_field_what_it_might_have_been() -> None:
    output = SupportTicket(title="No charge", priority=Priority.HIGH, steps=["outlet"], parts=[Part(name="a", price=2)])
    made = ticket(result(output, REFUSED, ACCEPTED, cost=Decimal("0.0061")))
    fields = {field["name"]: field for field in made["fields"]}
    assert fields["title"] == {"name": "title", "type": "str", "kind": "text", "value": "No charge"}
    assert (fields["priority"]["kind"], fields["priority"]["value"]) == ("choice", "high")
    assert fields["priority"]["options"] == ["low", "high"]
    assert (fields["channel"]["value"], fields["channel"]["options"]) == (None, ["phone", "mail"])
    assert (fields["steps"]["type"], fields["steps"]["kind"]) == ("list[str]", "list")
    assert json.loads(fields["parts"]["value"]) == [{"name": "a", "price": 2.0}]
    assert fields["owner"]["type"] == "Part | None"
    assert (fields["urgent"]["type"], fields["urgent"]["value"]) == ("bool", False)
    assert made["title"] == "SupportTicket"
    assert made["valid"] == "valid on attempt 2"
    assert json.loads(made["json"])["priority"] == "high"
    assert (made["from_last_word"], made["tokens"], made["cost"]) == (2.432, 270, "$0.006")


def test_every_attempt_has_the_validators_words() -> None:
    made = ticket(result(Visit("Friday", 2), REFUSED, ACCEPTED))
    first, second = made["attempts"]
    assert first["words"] == "priority: found 'now', allowed 'low' or 'high'"
    assert (first["ok"], first["seconds"], first["tokens"]) == (False, 1.04, 120)
    assert (second["n"], second["ok"], second["words"]) == (2, True, "")
    assert made["fields"][0]["options"] == ["Thursday", "Friday"]
    assert made["fields"][1]["type"] == "int"


def test_a_simulated_ticket_has_no_tokens_and_no_cost() -> None:
    made = ticket(result("Just words.", ACCEPTED, simulated=True, cost=Decimal(1)))
    assert (made["tokens"], made["cost"], made["attempts"][0]["tokens"]) == (0, "no cost", 0)
    assert made["valid"] == "valid"
    assert made["fields"] == [{"name": "output", "type": "str", "kind": "text", "value": "Just words."}]


def test_what_could_not_be_made_says_why_and_shows_its_attempts() -> None:
    error = ExtractionFailed([REFUSED], "handoff-1", "SupportTicket")
    failed = ticket_error(error, title="SupportTicket", simulated=False)
    assert (failed["ok"], failed["title"], failed["fields"], failed["tokens"]) == (False, "SupportTicket", [], 120)
    assert failed["attempts"][0]["words"].startswith("priority: found 'now'")
    assert failed["error"].startswith("The agent gave no valid SupportTicket in 1 attempt. Try another prompt")
    assert "Attempt 1" not in failed["error"]
    broken = ticket_error(ServiceFailed([], "handoff-1", 429, "slow down"))
    assert "takes no more requests" in broken["error"]
    assert broken["attempts"] == []
    half = ticket_error(CallIncomplete(2, "Hello?", "the connection dropped"))
    assert "Turn 2 of the caller's" in half["error"]
    assert ticket_error(NothingSaid())["error"].startswith("There is nothing to hand off")
    assert ticket_error(ValueError())["error"] == "ValueError"


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_values_reach_the_page_as_whole_characters(words: str) -> None:
    output = SupportTicket.model_construct(title=words, priority=Priority.LOW, steps=[words], parts=[], owner=None)
    wrong = Attempt(1, "rejected", words, (FieldError(words, words, words, words),), reason=words)
    for made in (ticket(result(output, wrong, ACCEPTED)), ticket_error(ExtractionFailed([wrong], words, words, words))):
        sent = json.dumps(made, ensure_ascii=False, allow_nan=False).encode("utf-8").decode()
        assert not {"\u202e", "\u2066", "\x1b", "\x00"} & set(sent)


def test_a_megabyte_is_cut_and_that_is_said() -> None:
    made = ticket(result(SupportTicket(title="x" * 1_000_000, priority=Priority.LOW, steps=["y" * 9_000] * 100)))
    assert made["fields"][0]["value"].endswith("… (980,000 more characters)")
    steps = next(field for field in made["fields"] if field["name"] == "steps")
    assert steps["value"][-1] == "… 97 more"
    assert made["json"] == ""
    assert len(json.dumps(made)) < 100_000


def test_types_are_named_as_one_would_write_them() -> None:
    assert short(dict[str, list[int]]) == "dict[str, list[int]]"
    assert short(tuple[int, ...]) == "tuple[int, …]"
    assert short(Literal["a", 1]) == "str | int"
    assert short(Any) == "Any"
    assert short("Forward") == "Forward"
    assert choices(str | Literal["a"]) == []


def test_prices_are_said_in_words() -> None:
    assert in_words(Decimal("0.0187"), simulated=False) == "$0.019"
    assert in_words(Decimal("12.3"), simulated=False) == "$12.30"
    assert in_words(Decimal("0.0001"), simulated=False) == "under $0.001"
    assert in_words(Decimal("0.0187"), simulated=False, some_unknown=True) == "$0.019 and more"
    assert in_words(None, simulated=False) == "price unknown"
    assert in_words(None, simulated=True) == "no cost"
    details = {"input_token_details": {"audio_tokens": 1000}, "output_token_details": {"audio_tokens": 100}}
    spoken = price({"input_tokens": 1000, "output_tokens": 100, **details}, "gpt-realtime")
    typed = price({"input_tokens": 1000, "output_tokens": 100}, "gpt-realtime")
    assert spoken is not None
    assert typed is not None
    assert spoken > 5 * typed
    assert price({"input_tokens": "many"}, "nobody-knows-it") is None


async def test_a_real_handoff_fills_the_ticket(connected: Any) -> None:
    outputs = [{"title": "x", "priority": "now"}, {"title": "No charge", "priority": "high"}]
    hk.connect(model={"gpt-5.2": hk.ScriptedModel(outputs=outputs)})
    async with hk.Call(Agent(instructions="Be kind.")) as call:
        await call.send("My laptop does not charge.")
    made = ticket(await call.handoff(Agent("openai:gpt-5.2", output_type=SupportTicket)))
    assert [one["ok"] for one in made["attempts"]] == [False, True]
    assert "allowed 'low' or 'high'" in made["attempts"][0]["words"]
    assert made["fields"][1]["value"] == "high"
    json.dumps(made)
