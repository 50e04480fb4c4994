"""The fields of a request, checked; what is wrong with one is said in the service's own words and codes.

A `Check` takes a value and the name of its field (`input[0].role`), and raises an `ApiError` or returns. A table of
checks describes an object; its order is the order in which faults are reported. Words, codes and order are those
of the OpenAI API in 2026.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .api_error import ApiError

Check = Callable[[Any, str], None]

_IDENTIFIER = re.compile(r"[a-zA-Z0-9_-]+")


def anything(value: Any, param: str) -> None:
    """Accept every value."""


def text(value: Any, param: str) -> None:
    """Demand a string."""
    if not isinstance(value, str):
        raise wrong_type(param, "a string", value)


def identifier(value: Any, param: str) -> None:
    """Demand letters, digits, underscores and dashes, at least one."""
    text(value, param)
    if not _IDENTIFIER.fullmatch(value):
        sentence = "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
        raise ApiError(
            f"Invalid '{param}': string does not match pattern. {sentence}", code="invalid_value", param=param
        )


def boolean(value: Any, param: str) -> None:
    """Demand true or false."""
    if not isinstance(value, bool):
        raise wrong_type(param, "a boolean", value)


def mapping(value: Any, param: str) -> None:
    """Demand an object, whatever is in it."""
    if not isinstance(value, dict):
        raise wrong_type(param, "an object", value)


def integer(low: int | None = None, high: int | None = None) -> Check:
    """Demand a whole number between *low* and *high*."""

    def check(value: Any, param: str) -> None:
        if not isinstance(value, int) or isinstance(value, bool):
            raise wrong_type(param, "an integer", value)
        _within(value, param, "integer", low, high)

    return check


def decimal(low: float | None = None, high: float | None = None) -> Check:
    """Demand a number between *low* and *high*."""

    def check(value: Any, param: str) -> None:
        if not isinstance(value, int | float) or isinstance(value, bool):
            raise wrong_type(param, "a decimal", value)
        _within(value, param, "decimal", low, high)

    return check


def one_of(*values: str) -> Check:
    """Demand one of some strings."""

    def check(value: Any, param: str) -> None:
        if not isinstance(value, str):
            raise wrong_type(param, f"one of {_listed(values, 'or')}", value)
        if value not in values:
            raise wrong_value(param, value, values)

    return check


def array(item: Check, of: str = "objects") -> Check:
    """Demand an array, each of whose elements passes *item*."""

    def check(value: Any, param: str) -> None:
        if not isinstance(value, list):
            raise wrong_type(param, f"an array of {of}", value)
        for place, element in enumerate(value):
            item(element, f"{param}[{place}]")

    return check


def members(table: Mapping[str, Check], required: Iterable[str] = ()) -> Check:
    """Demand an object with the fields of *table* and no other."""

    def check(value: Any, param: str) -> None:
        mapping(value, param)
        require(value, required, f"{param}.")
        check_fields(value, table, f"{param}.")

    return check


def metadata(value: Any, param: str) -> None:
    """Demand up to 16 pairs of strings, keys of up to 64 and values of up to 512 characters."""
    if not isinstance(value, dict):
        raise wrong_type(param, "a metadata object", value)
    if len(value) > 16:
        found = (
            f"Expected an object with at most 16 properties, but got an object with {len(value)} properties instead."
        )
        raise ApiError(
            f"Invalid '{param}': too many properties. {found}", code="object_above_max_properties", param=param
        )
    for key, entry in value.items():
        text(entry, f"{param}.{key}")
        if len(entry) > 512:
            raise _too_long(f"Invalid '{param}.{key}': string", 512, entry, "string_above_max_length", f"{param}.{key}")
        if len(key) > 64:
            start = f"Invalid property name in '{param}': '{key[:3]}...{key[-3:]}' is"
            raise _too_long(start, 64, key, "property_name_above_max_length", f"{param}.{key}")


def require(body: Mapping[str, Any], names: Iterable[str], prefix: str = "") -> None:
    """Demand that the fields *names* are there, and not null."""
    for name in names:
        if body.get(name) is None:
            raise missing(prefix + name)


def check_fields(body: Mapping[str, Any], table: Mapping[str, Check], prefix: str = "") -> None:
    """Refuse a field of *body* that *table* does not have, then check each of the others; null counts as left out."""
    for name in body:
        if name not in table:
            raise unknown(name, [known for known in table if known not in body], prefix)
    for name, check in table.items():
        if body.get(name) is not None:
            check(body[name], prefix + name)


def missing(param: str) -> ApiError:
    """Return the error for a field that is not there."""
    return ApiError(f"Missing required parameter: '{param}'.", code="missing_required_parameter", param=param)


def unknown(name: str, known: Iterable[str], prefix: str = "") -> ApiError:
    """Return the error for a field that nobody knows; names at most two letters away are suggested."""
    near = sorted((distance, other) for other in known if (distance := _distance(name, other)) <= 2)
    hint = f" Did you mean {' or '.join(repr(other) for _, other in near)}?" if near else ""
    param = prefix + name
    return ApiError(f"Unknown parameter: '{param}'.{hint}", code="unknown_parameter", param=param)


def wrong_type(param: str, expected: str, found: Any) -> ApiError:
    """Return the error for a value of the wrong JSON type."""
    message = f"Invalid type for '{param}': expected {expected}, but got {_kind(found)} instead."
    return ApiError(message, code="invalid_type", param=param)


def wrong_value(param: str, found: Any, supported: Iterable[str]) -> ApiError:
    """Return the error for a string that is none of those supported."""
    shown = found if isinstance(found, str) else ""
    message = f"Invalid value: '{shown}'. Supported values are: {_listed(tuple(supported), 'and')}."
    return ApiError(message, code="invalid_value", param=param)


def _kind(value: Any) -> str:
    names = {bool: "a boolean", int: "an integer", float: "a decimal number", str: "a string", list: "an array"}
    return "null" if value is None else names.get(type(value), "an object")


def _listed(values: tuple[str, ...], word: str) -> str:
    quoted = [f"'{value}'" for value in values]
    comma = "," if len(quoted) > 2 else ""
    return f"{', '.join(quoted[:-1])}{comma} {word} {quoted[-1]}" if len(quoted) > 1 else quoted[0]


def _within(value: float, param: str, kind: str, low: float | None, high: float | None) -> None:
    for bound, side, word, sign in ((low, "below", "min", ">="), (high, "above", "max", "<=")):
        if bound is not None and (value < bound if sign == ">=" else value > bound):
            sentence = f"Invalid '{param}': {kind} {side} {word}imum value. Expected a value {sign} {bound:g}"
            raise ApiError(f"{sentence}, but got {value} instead.", code=f"{kind}_{side}_{word}_value", param=param)


def _too_long(start: str, limit: int, found: str, code: str, param: str) -> ApiError:
    lengths = f"Expected a string with maximum length {limit}, but got a string with length {len(found)} instead."
    return ApiError(f"{start} too long. {lengths}", code=code, param=param)


def _distance(one: str, other: str) -> int:
    if abs(len(one) - len(other)) > 2:
        return 3
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        diagonal, row[0] = row[0], at
        for place, mark in enumerate(other, 1):
            diagonal, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, diagonal + (letter != mark))
    return row[-1]
