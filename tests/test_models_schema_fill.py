"""Values for schemas: always valid, the same every time, and from the conversation where it says something."""

import json
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum
from ipaddress import IPv4Address
from typing import Annotated, Any, Literal, Optional
from uuid import UUID

import jsonschema
import pytest
from agents.strict_schema import ensure_strict_json_schema
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.lib._pydantic import to_strict_json_schema
from pydantic import AnyUrl, BaseModel, Field, TypeAdapter, create_model
from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer

from handoffkit.endpoint.models.keywords.conversation import Conversation
from handoffkit.endpoint.models.prompt import Message
from handoffkit.endpoint.models.schema.fill import fill, fill_arguments
from handoffkit.errors import UnfillableSchema

CHARGER = Conversation.of(
    "Hi, my laptop won't charge, the light stays off when I plug it in.",
    "Another outlet changed nothing and I have a presentation tomorrow.",
)
SILENCE = Conversation()


class Ticket(BaseModel):
    summary: str
    category: Literal["hardware", "software", "billing", "other"]
    priority: Literal["low", "medium", "high"]
    follow_up_questions: list[str]


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Card(BaseModel):
    method: Literal["card"] = "card"
    last_four: str = Field(pattern=r"^\d{4}$")


class Transfer(BaseModel):
    method: Literal["transfer"] = "transfer"
    iban: str = Field(min_length=15, max_length=34, pattern=r"^[A-Z]{2}\d{2}[A-Z0-9]+$")


class Tree(BaseModel):
    label: str
    children: list["Tree"] = []
    parent: Optional["Tree"] = None


class Pair(BaseModel):
    left: "Pair | int"
    right: "Pair | int"


SCALARS: list[Any] = [
    str, int, float, bool, date, datetime, time, timedelta, UUID, Decimal, IPv4Address, AnyUrl, Colour, Any, None,
    Literal["a", "b"], Literal[1, 2, "three"], Tree, Card, Pair,
    Annotated[Card | Transfer, Field(discriminator="method")],
]  # fmt: skip


@st.composite
def constrained(draw: st.DrawFn) -> Any:
    """A number or string with limits that leave room."""
    low = draw(st.integers(-1000, 1000))
    span = draw(st.integers(1, 500))
    match draw(st.integers(0, 5)):
        case 0:
            return Annotated[int, Field(ge=low, le=low + span)]
        case 1:
            return Annotated[int, Field(gt=low, lt=low + span + 1)]
        case 2:
            return Annotated[float, Field(gt=low / 7, lt=(low + span) / 7)]
        case 3:
            return Annotated[int, Field(ge=low, multiple_of=draw(st.integers(1, 60)))]
        case 4:
            length = draw(st.integers(0, 40))
            return Annotated[str, Field(min_length=length, max_length=length + draw(st.integers(0, 30)))]
        case _:
            return Annotated[str, Field(pattern=draw(st.sampled_from(PATTERNS)))]


PATTERNS = [
    r"^[A-Z]{2}-\d{4}$",
    r"\d+",
    r"^(yes|no|maybe)$",
    r"^[a-z][a-z0-9_]*$",
    r"^\+?[0-9 ]{7,15}$",
    r"^#[0-9a-fA-F]{6}$",
    r"^[^\s@]+@[^\s@]+\.[a-z]{2,}$",
    r"(foo|bar)baz?",
    r"^.{3,8}$",
    r"^\w+(-\w+)*$",
    r"^[가-힣]{2}$",
    r"^(?P<y>\d{4})-\d\d$",
    r"^$",
]


def sets() -> st.SearchStrategy[Any]:
    """A set of at least so many different values."""
    kinds = st.sampled_from([str, int, float, date, UUID, IPv4Address, Annotated[str, Field(max_length=2)]])
    return st.tuples(kinds, st.integers(0, 6)).map(lambda pair: _at_least(*pair))


def _at_least(kind: Any, least: int) -> Any:
    return Annotated[set[kind], Field(min_length=least)]


def nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        inner.map(lambda kind: Optional[kind]),  # noqa: UP045
        inner.map(lambda kind: list[kind]),  # type: ignore[valid-type]
        inner.map(lambda kind: Annotated[list[kind], Field(min_length=1, max_length=3)]),  # type: ignore[valid-type]
        inner.map(lambda kind: dict[str, kind]),  # type: ignore[valid-type]
        inner.map(lambda kind: Annotated[dict[str, kind], Field(min_length=2)]),  # type: ignore[valid-type]
        st.tuples(inner, inner).map(lambda kinds: tuple[kinds[0], kinds[1]]),  # type: ignore[valid-type]
        st.tuples(inner, inner).map(lambda kinds: kinds[0] | kinds[1] if _united(kinds) else kinds[0]),
        st.lists(inner, min_size=1, max_size=4).map(_model),
    )


def _united(kinds: tuple[Any, Any]) -> bool:
    try:
        TypeAdapter(kinds[0] | kinds[1])
    except Exception:
        return False
    return True


def _model(kinds: list[Any]) -> Any:
    names = ["summary", "priority", "customer_email", "amount", "confidence", "is_urgent", "due_date", "x", "items"]
    return _created({name: (kind, ...) for name, kind in zip(names, kinds, strict=False)})


types = st.recursive(st.one_of(st.sampled_from(SCALARS), constrained(), sets()), nested, max_leaves=8)


def _created(fields: dict[str, Any]) -> type[BaseModel]:
    return create_model("Generated", **fields)


_NAMES = (
    "summary title category priority severity confidence sentiment email phone name order_id amount quantity due_date "
    "when is_urgent tags items city address follow_up_questions notes score number_of_guests resolved next_steps x"
)
FIELD_NAMES = st.sampled_from(_NAMES.split())
models = st.dictionaries(FIELD_NAMES, types, min_size=1, max_size=6).map(
    lambda fields: _created({name: (kind, ...) for name, kind in fields.items()})
)
talk = st.lists(st.text(max_size=120), max_size=5).map(lambda turns: Conversation.of(*turns))


@settings(max_examples=150, deadline=None)
@given(model=models, conversation=st.one_of(st.just(CHARGER), talk))
def test_any_model_gets_a_value_that_pydantic_and_jsonschema_accept(
    model: type[BaseModel], conversation: Conversation
) -> None:
    schema = model.model_json_schema()
    value = fill(schema, conversation)
    model.model_validate_json(json.dumps(value))
    jsonschema.Draft202012Validator(schema).validate(value)
    assert fill(schema, conversation) == value


@settings(max_examples=60, deadline=None)
@given(model=models)
def test_the_strict_forms_that_both_sdks_send_are_filled_as_well(model: type[BaseModel]) -> None:
    plain = model.model_json_schema()
    forms: list[Callable[[], Any]] = [
        lambda: ensure_strict_json_schema(json.loads(json.dumps(plain))),
        lambda: to_strict_json_schema(model),
        lambda: OpenAIJsonSchemaTransformer(json.loads(json.dumps(plain)), strict=True).walk(),
    ]
    for schema in [made for form in forms if (made := _strict(form)) is not None]:
        if not _contradicts_itself(schema):
            jsonschema.Draft202012Validator(schema).validate(fill(schema, CHARGER))


def _contradicts_itself(schema: Any) -> bool:
    """A strict form forbids the properties of a dict and may still ask for two of them."""
    if isinstance(schema, list):
        return any(map(_contradicts_itself, schema))
    if not isinstance(schema, dict):
        return False
    least = schema.get("minProperties", 0)
    closed = schema.get("additionalProperties") is False and not schema.get("properties")
    return bool(isinstance(least, int) and least and closed) or any(map(_contradicts_itself, schema.values()))


def _strict(transform: Any) -> Any:
    try:
        return transform()
    except Exception:  # not every schema has a strict form
        return None


@settings(max_examples=100, deadline=None)
@given(turns=st.lists(st.text(max_size=300), max_size=6))
def test_no_conversation_in_any_script_makes_a_ticket_fail(turns: list[str]) -> None:
    Ticket.model_validate(fill(Ticket.model_json_schema(), Conversation.of(*turns)))


def test_limits_that_strict_mode_moves_into_the_description_are_kept() -> None:
    class Note(BaseModel):
        code: str = Field(min_length=9, max_length=12, description="A code.")
        tags: set[str] = Field(min_length=3)

    schema = OpenAIJsonSchemaTransformer(Note.model_json_schema(), strict=True).walk()
    assert "minLength" not in json.dumps(schema["properties"]["code"]).replace("minLength=", "")
    Note.model_validate(fill(schema, CHARGER))


def test_a_recursive_model_ends() -> None:
    value = fill(Tree.model_json_schema(), CHARGER)
    assert Tree.model_validate(value)
    assert len(json.dumps(value)) < 1000


def one(name: str, schema: Any) -> dict[str, Any]:
    """An object schema with one required property."""
    return {"type": "object", "properties": {name: schema}, "required": [name]}


@pytest.mark.parametrize(
    ("schema", "path", "why"),
    [
        (one("a", {"enum": []}), "a", "no members"),
        (one("a", {"type": "integer", "minimum": 5, "maximum": 3}), "a", "5 and 3"),
        (one("a", {"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 4}), "a", "no value"),
        (one("n", {"not": {}}), "n", "excludes"),
        (one("n", False), "n", "allows nothing"),
        (one("s", {"type": "string", "minLength": 5, "maxLength": 3}), "s", "above"),
        ({"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 3, "uniqueItems": True}, "", "3 different"),
        ({"type": "array", "minItems": 3, "maxItems": 2}, "", "minItems 3"),
        ({"$ref": "#/$defs/A", "$defs": {"A": one("a", {"$ref": "#/$defs/A"})}}, "a", "without end"),
        (one("r", {"$ref": "#/$defs/Nowhere"}), "r", "excludes"),
        (
            one(
                "l",
                {
                    "type": "array",
                    "minItems": 1,
                    "items": one("p", {"type": "string", "pattern": "^a$", "minLength": 2}),
                },
            ),
            "l[0].p",
            "pattern",
        ),
        ({"allOf": [{"type": "string"}, {"type": "integer"}]}, "", "types exclude"),
        (one("a", {"anyOf": [{"enum": []}, {"not": {}}]}), "a", "no members"),
    ],
)
def test_a_schema_that_cannot_be_filled_names_the_field_and_the_reason(
    schema: dict[str, Any], path: str, why: str
) -> None:
    with pytest.raises(UnfillableSchema) as caught:
        fill(schema, CHARGER)
    assert caught.value.path == path
    assert why in str(caught.value)


def test_a_union_takes_the_variant_that_the_words_speak_of() -> None:
    class Refund(BaseModel):
        kind: Literal["refund"]
        amount: float

    class Repair(BaseModel):
        kind: Literal["repair"]
        device: str

    class Case(BaseModel):
        action: Annotated[Refund | Repair, Field(discriminator="kind")]

    repair = fill(Case.model_json_schema(), CHARGER)
    assert repair == {"action": {"kind": "repair", "device": "laptop"}}
    refund = fill(Case.model_json_schema(), Conversation.of("You charged my card twice, I want my 40 euros back."))
    assert refund == {"action": {"kind": "refund", "amount": 40}}


def test_facts_are_found_by_the_names_of_fields() -> None:
    class Order(BaseModel):
        order_id: str
        customer_name: str
        first_name: str
        email: str
        phone: str | None
        quantity: int
        amount: float
        currency: str
        wants_refund: bool
        callback_date: date | None = None
        callback: datetime | None = None
        city: str | None

    call = Conversation((
        Message("user", "Hello my name is anna kowalski, I ordered two lamps, order number A-1001, for 49.90 euros"),
        Message("assistant", "What is your email address?"),
        Message("user", "It's anna@mail.org, or call me at +49 170 1234567"),
        Message("assistant", "Would you like a refund?"),
        Message("user", "Yes please, I'm free on March 5, 2026 at 3 pm"),
    ))  # fmt: skip
    assert fill(Order.model_json_schema(), call) == {
        "order_id": "A-1001",
        "customer_name": "Anna Kowalski",
        "first_name": "Anna",
        "email": "anna@mail.org",
        "phone": "+49 170 1234567",
        "quantity": 2,
        "amount": 49.9,
        "currency": "EUR",
        "wants_refund": True,
        "callback_date": "2026-03-05",
        "callback": "2026-03-05T15:00:00Z",
        "city": None,
    }


def test_what_was_not_said_is_null_a_default_or_the_least_committal_member() -> None:
    class Form(BaseModel):
        due: date | None
        channel: Literal["phone", "chat", "unknown"]
        size: Literal["small", "medium", "large"]
        language: str = "en"
        email: str | None = None
        tags: list[str] = []
        deadline: date

    filled = fill(Form.model_json_schema(), Conversation.of("Hello there."))
    assert filled == {
        "due": None,
        "channel": "unknown",
        "size": "medium",
        "language": "en",
        "email": None,
        "tags": [],
        "deadline": "1970-01-01",
    }


def test_confidence_is_the_strength_of_the_match_within_its_bounds() -> None:
    class Scored(BaseModel):
        category: Literal["hardware", "billing", "other"]
        confidence: float = Field(ge=0, le=1)
        score: int = Field(ge=1, le=10)

    clear = fill(Scored.model_json_schema(), CHARGER)
    unclear = fill(Scored.model_json_schema(), Conversation.of("Something about a card and a plug."))
    nothing = fill(Scored.model_json_schema(), SILENCE)
    assert 1 > clear["confidence"] > unclear["confidence"] > nothing["confidence"] == 0
    assert clear["score"] > unclear["score"] > nothing["score"] == 1


def test_an_agents_question_is_no_evidence_but_the_answer_to_it_is() -> None:
    question = Message("assistant", "Is it urgent? Is it a billing matter, or your laptop?")
    mute = fill(Ticket.model_json_schema(), Conversation((Message("user", "Hello there"), question)))
    answered = (
        Message("user", "My parcel is late"),
        Message("assistant", "Is it urgent?"),
        Message("user", "Yes, it is."),
    )
    yes = fill(Ticket.model_json_schema(), Conversation(answered))
    assert (mute["category"], mute["priority"]) == ("other", "medium")
    assert yes["priority"] == "high"


def test_counted_things_become_the_rows_of_a_list() -> None:
    class Line(BaseModel):
        name: str
        quantity: int

    class Cart(BaseModel):
        items: list[Line]

    filled = fill(Cart.model_json_schema(), Conversation.of("I'd like two lamps and 3 chairs, and one sofa please."))
    assert [(row["quantity"], row["name"]) for row in filled["items"]] == [(2, "lamps"), (3, "chairs"), (1, "sofa")]


def test_arguments_of_a_tool_say_what_is_missing() -> None:
    loud = {"type": "boolean", "default": False}
    properties = {"order_id": {"type": "string"}, "reason": {"type": "string"}, "loud": loud}
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    assert fill_arguments(schema, Conversation.of("Where is my order?"))[1] == ["order_id"]
    arguments, missing = fill_arguments(schema, Conversation.of("Where is my order, the number is 4711?"))
    assert (arguments["order_id"], missing) == ("4711", [])
    assert fill_arguments({}, SILENCE) == ({}, [])


def test_a_huge_schema_is_refused_rather_than_filled_for_ever() -> None:
    defs: dict[str, Any] = {"L12": {"type": "string"}}
    for level in range(12):
        inner = {"$ref": f"#/$defs/L{level + 1}"}
        defs[f"L{level}"] = {"type": "object", "properties": dict.fromkeys("abcd", inner), "required": list("abcd")}
    with pytest.raises(UnfillableSchema, match="parts"):
        fill({"$ref": "#/$defs/L0", "$defs": defs}, CHARGER)
