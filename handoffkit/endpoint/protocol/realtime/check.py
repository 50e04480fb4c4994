"""A frame of the client's, read, and the checks that realtime events need beyond those of a request over HTTP.

Codes and wording follow errors of the live service that people have published (2026).
"""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from ..api_error import ApiError
from ..fields import Check, check_fields, mapping, missing, one_of, text

_DEEPEST = 100  # levels of nesting; more would exhaust the interpreter's stack when it is written out again


def read(frame: str | bytes) -> dict[str, Any]:
    """Read one frame of the client's.

    Raises:
        ApiError: The frame is not text (`invalid_event`), not JSON (`invalid_json`) or not an object.
    """
    if isinstance(frame, bytes):
        message = "Expected a text WebSocket message; binary frames are not supported."
        raise ApiError(message, code="invalid_event")
    try:
        event = json.loads(frame, parse_constant=_refuse, parse_float=_finite)
        if not isinstance(event, dict) or _too_deep(event):
            raise ValueError("expected an object, not nested too deeply")
    except (ValueError, RecursionError) as error:
        raise ApiError(f"Invalid event: failed to parse JSON value ({error}).", code="invalid_json") from None
    return _whole(event) if "\\ud" in frame.lower() else event


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _refuse(digits)


def _too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(_DEEPEST):
        level = [child for parent in level for child in _children(parent)]
        if not level:
            return False
    return True


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _whole(event: dict[str, Any]) -> dict[str, Any]:
    """Return *event* with `?` for each half of a surrogate pair that stands alone: it cannot be sent as UTF-8."""
    clean: dict[str, Any] = json.loads(json.dumps(event, ensure_ascii=False).encode("utf-8", "replace"))
    return clean


def record(table: Mapping[str, Check], required: Iterable[str] = ()) -> Check:
    """Demand an object with the fields of *table* and no others; null counts as left out."""
    needed = tuple(required)

    def check(value: Any, param: str) -> None:
        mapping(value, param)
        prefix = f"{param}." if param else ""
        for name in needed:
            if value.get(name) is None:
                raise missing(prefix + name)
        check_fields(value, table, prefix)

    return check


def tagged(tag: str, kinds: Mapping[str, Check]) -> Check:
    """Demand an object whose field *tag* says which of the *kinds* it is."""
    which = one_of(*kinds)

    def check(value: Any, param: str) -> None:
        mapping(value, param)
        if value.get(tag) is None:
            raise missing(f"{param}.{tag}")
        which(value[tag], f"{param}.{tag}")
        kinds[value[tag]](value, param)

    return check


def either(string: Check, other: Check) -> Check:
    """Demand a string that passes *string*, or something else that passes *other*."""
    return lambda value, param: (string if isinstance(value, str) else other)(value, param)


def short(longest: int) -> Check:
    """Demand a string of at most *longest* characters."""

    def check(value: Any, param: str) -> None:
        text(value, param)
        if len(value) > longest:
            lengths = f"maximum length {longest}, but got a string with length {len(value)} instead"
            message = f"Invalid '{param}': string too long. Expected a string with {lengths}."
            raise ApiError(message, code="string_above_max_length", param=param)

    return check


def not_simulated(what: str, instead: str) -> Check:
    """Refuse what the service takes and this endpoint cannot do, in words of its own."""

    def check(value: Any, param: str) -> None:
        message = f'{what} cannot be simulated: {instead}, or have a real service answer: hk.connect("live").'
        raise ApiError(message, code="unsupported_value", param=param)

    return check
