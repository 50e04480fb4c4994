"""The result of a handoff as the page has it: its fields with what else they might have been, every attempt, the cost.

What could not be made is a ticket, too: it says why, and shows the attempts that there were.
"""

import dataclasses
import json
import types
from collections.abc import Iterable
from enum import Enum
from typing import Annotated, Any, Literal, TypedDict, Union, get_args, get_origin, get_type_hints

from ...extraction.attempts import Attempt
from ...extraction.result import HandoffResult, as_json
from ...extraction.values import fields, plain
from ...views.html import visible
from .cost import in_words
from .safe import line, name, shown

VALUE_LIMIT = 20_000
"""Characters of one field's value that the page gets."""
JSON_LIMIT = 1_000_000
"""Characters of the JSON that can be copied."""
ERROR_LIMIT = 4_000

FieldKind = Literal["text", "choice", "list", "json"]


class _FieldBase(TypedDict):
    name: str
    type: str
    kind: FieldKind
    value: Any


class Field(_FieldBase, total=False):
    """A field, ready for JSON."""

    options: list[Any]
    """What it might have been, of a choice."""


class Try(TypedDict):
    """An attempt, ready for JSON."""

    n: int
    ok: bool
    words: str
    """What was wrong with it, in the validator's own words."""
    seconds: float
    tokens: int


Ticket = dict[str, Any]


def ticket(result: HandoffResult) -> Ticket:
    """Return the ticket that a handoff has given."""
    tries = attempts(result.attempts, simulated=result.simulated)
    made = visible(as_json(plain(result.output)))
    return {
        "ok": True,
        "title": name(result.schema),
        "valid": f"valid on attempt {len(tries)}" if len(tries) > 1 else "valid",
        "fields": _fields(result.output),
        "attempts": tries,
        "json": made if len(made) <= JSON_LIMIT else "",
        "from_last_word": None if result.seconds is None else round(result.seconds, 3),
        "tokens": 0 if result.simulated else result.tokens,
        "cost": in_words(result.cost, simulated=result.simulated),
        "error": "",
    }


def ticket_error(error: BaseException, *, title: str = "", simulated: bool = True) -> Ticket:
    """Return the ticket that could not be made, and why: the error's own words.

    Args:
        error: What the handoff raised; its attempts are shown, if it has any.
        title: The name of the type that was asked for.
        simulated: Whether a simulated model was asked.
    """
    tries = attempts(getattr(error, "attempts", ()), simulated=simulated)
    words, left_out = shown(_without_attempts(str(error)) or type(error).__name__, ERROR_LIMIT)
    return {
        "ok": False,
        "title": name(title),
        "valid": "",
        "fields": [],
        "attempts": tries,
        "json": "",
        "from_last_word": None,
        "tokens": sum(one["tokens"] for one in tries),
        "cost": "",
        "error": f"{words}… ({left_out:,} more characters)" if left_out else words,
    }


def _without_attempts(words: str) -> str:
    """Return an error's words without its list of attempts, which the ticket shows in its own way."""
    kept = [each for each in words.split("\n") if not each.startswith("  Attempt ")]
    return " ".join(each.removesuffix(":") + "." * each.endswith(":") for each in kept)


def attempts(found: Iterable[Attempt], *, simulated: bool = False) -> list[Try]:
    """Return the attempts of a handoff."""
    return [
        Try(
            n=one.number,
            ok=one.ok,
            words=_wrong(one),
            seconds=round(one.seconds, 3),
            tokens=0 if simulated or one.usage is None else one.usage.input_tokens + one.usage.output_tokens,
        )
        for one in found
    ]


def _wrong(attempt: Attempt) -> str:
    """Say what was wrong with an attempt: each field on a line of its own."""
    if attempt.status == "tool":
        return line(f"called a tool first: {attempt.reason}")
    said = [attempt.reason] if attempt.reason else []
    return "\n".join(line(each, 500) for each in [*said, *(str(error) for error in attempt.errors)])


def _fields(output: Any) -> list[Field]:
    found = fields(output)
    kinds = _types(output) or {"output": type(output)}
    return [_field(each, value, kinds.get(each, type(value))) for each, value in found.items()]


def _types(output: Any) -> dict[str, Any]:
    """Return the types of a result's fields, as its class has them."""
    if isinstance(declared := getattr(type(output), "model_fields", None), dict):
        return {each: info.annotation for each, info in declared.items()}
    if dataclasses.is_dataclass(output):
        try:
            return get_type_hints(type(output))
        except Exception:  # a name that only its own module knows
            return {}
    return {}


def _field(title: str, value: Any, kind: Any) -> Field:
    """Return a field; *value* is as JSON has it."""
    made: Field = {"name": name(title), "type": name(short(kind)), "kind": "text", "value": _safe(value)}
    if options := choices(kind):
        made["kind"], made["options"] = "choice", [_safe(each) for each in options]
    elif isinstance(value, list) and not any(isinstance(item, list | dict) for item in value):
        made["kind"], made["value"] = "list", _cut_list(value)
    elif isinstance(value, list | dict):
        made["kind"], made["value"] = "json", _text(json.dumps(value, ensure_ascii=False, indent=2))
    return made


def _cut_list(items: list[Any]) -> list[Any]:
    """Return a list no longer than a value may be, the rest of it counted."""
    kept, size = [], 0
    for item in items:
        kept.append(_safe(item))
        size += len(str(item))
        if size > VALUE_LIMIT and len(kept) < len(items):
            return [*kept, f"… {len(items) - len(kept):,} more"]
    return kept


def _safe(value: Any) -> Any:
    return _text(value) if isinstance(value, str) else value


def _text(value: str) -> str:
    words, left_out = shown(value, VALUE_LIMIT)
    return f"{words}… ({left_out:,} more characters)" if left_out else words


def choices(kind: Any) -> list[Any]:
    """Return the values that a type allows, as JSON has them; none where they are not listed."""
    origin = get_origin(kind)
    if origin is Literal:
        return [plain(each) for each in get_args(kind)]
    if origin is Annotated:
        return choices(get_args(kind)[0])
    if isinstance(kind, type) and issubclass(kind, Enum):
        return [plain(each) for each in kind]
    if origin in (Union, types.UnionType):
        inner = [choices(each) for each in get_args(kind) if each is not type(None)]
        return [each for found in inner for each in found] if all(inner) else []
    return []


def short(kind: Any) -> str:
    """Return a type as a reader would write it: `str`, `list[str]`, `date`, `str | None`."""
    origin, inner = get_origin(kind), get_args(kind)
    if kind is None or kind is type(None):
        return "None"
    if origin is Annotated:
        return short(inner[0])
    if origin is Literal:
        return " | ".join(dict.fromkeys(type(each).__name__ for each in inner))
    if origin in (Union, types.UnionType):
        return " | ".join(dict.fromkeys(short(each) for each in inner))
    if origin is not None and inner:
        named = ", ".join("…" if each is Ellipsis else short(each) for each in inner)
        return f"{getattr(origin, '__name__', origin)}[{named}]"
    return str(getattr(kind, "__name__", kind)).removeprefix("typing.")
