"""A result's value as fields and words: for tables, JSON and CSV. Pure; no value is too strange to be shown."""

import dataclasses
import json
import math
from enum import Enum
from typing import Any

BULLET = "• "
"""Before each text of a list."""
_RISKY = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def plain(value: Any) -> Any:
    """Return *value* as JSON can hold it: models and dataclasses by their fields' names, what JSON lacks as text.

    The same value gives the same JSON in every process: sets are sorted.
    """
    match value:
        case Enum():
            return plain(value.value)
        case None | str() | bool() | int():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case dict():
            return {str(plain(key)): plain(item) for key, item in value.items()}
        case list() | tuple():
            return [plain(item) for item in value]
        case set() | frozenset():
            return sorted((plain(item) for item in value), key=json.dumps)
    return _object(value)


def _object(value: Any) -> Any:
    from pydantic import BaseModel
    from pydantic_core import to_jsonable_python

    if isinstance(value, BaseModel):
        return plain(value.model_dump(by_alias=False, warnings=False))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return to_jsonable_python(value, serialize_unknown=True, bytes_mode="base64")


def fields(value: Any) -> dict[str, Any]:
    """Return the fields of a result in the order of its schema; a value without fields is the field `output`."""
    found = plain(value)
    return found if isinstance(found, dict) else {"output": found}


def flat(found: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested fields under dotted names (`address.zip`); lists stay whole."""
    rows: dict[str, Any] = {}
    for name, value in found.items():
        if isinstance(value, dict) and value:
            rows |= flat(value, f"{prefix}{name}.")
        else:
            rows[f"{prefix}{name}"] = value
    return rows


def words(value: Any) -> str:
    """Return *value*, as JSON has it, for a cell of a table: text as it is, a list as lines, the rest as JSON."""
    if isinstance(value, str) and value:
        return value
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return "\n".join(f"{BULLET}{item}" for item in value)
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        return "\n".join(f"{BULLET}{json.dumps(item, ensure_ascii=False)}" for item in value)
    return json.dumps(value, ensure_ascii=False)


def cell(value: Any) -> str:
    """Return *value* for a cell of a CSV file.

    A text that a spreadsheet would take for a formula gets an apostrophe in front: it comes from a model, and behind
    that from a caller. Numbers stay numbers, also negative ones. All line ends become `\\n`.
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    risky = value.lstrip(" ").startswith(_RISKY)
    return ("'" * risky + value).replace("\r\n", "\n").replace("\r", "\n")
