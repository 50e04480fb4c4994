"""Whether a value satisfies a JSON schema: the part of Draft 2020-12 that schemas of data models use.

The filler proposes values and keeps those that pass here, so that whatever it returns is valid. `format` is not checked
(the draft counts it as a remark). Patterns are read as Python's `re` reads them.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

Schema = Mapping[str, Any] | bool
_MAX_DEPTH = 60
_PROPERTIES = {r"\p{L}": r"[^\W\d_]", r"\p{Lu}": "[A-Z]", r"\p{Ll}": "[a-z]", r"\p{N}": r"\d", r"\p{Nd}": r"\d"}


def resolve(ref: str, root: Schema) -> Schema:
    """Return what a local `$ref` (`#`, `#/$defs/Item`) points to in *root*.

    Raises:
        LookupError: It points to nothing, or out of the schema.
    """
    if ref != "#" and not ref.startswith("#/"):
        raise LookupError(ref)
    place: Any = root
    for part in ref[2:].split("/") if ref != "#" else ():
        key = part.replace("~1", "/").replace("~0", "~")
        place = place[int(key)] if isinstance(place, list) else place[key]
    if not isinstance(place, Mapping | bool):
        raise LookupError(ref)
    return place


@lru_cache(maxsize=256)
def compiled(pattern: str) -> "re.Pattern[str] | None":
    """Return *pattern* of a schema for Python's `re`, or None where Python cannot read it."""
    for foreign, native in _PROPERTIES.items():
        pattern = pattern.replace(foreign, native)
    try:
        return re.compile(re.sub(r"\(\?<(?![=!])", "(?P<", pattern))
    except (re.error, RecursionError, OverflowError):
        return None


def is_valid(value: Any, schema: Schema, root: Schema, depth: int = 0) -> bool:
    """Say whether *value* satisfies *schema*; `$ref`s are looked up in *root*."""
    if isinstance(schema, bool):
        return schema
    if depth > _MAX_DEPTH:
        return False
    return (
        _references(value, schema, root, depth)
        and _is_one_of(value, schema)
        and _has_type(value, schema)
        and _combines(value, schema, root, depth)
        and _BY_KIND.get(type(value), _anything)(value, schema, root, depth)
    )


def same(left: Any, right: Any) -> bool:
    """Say whether two JSON values are equal: 1 and 1.0 are, 1 and true are not."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    return bool(left == right)


def has_type(value: Any, name: str) -> bool:
    """Say whether *value* is of the JSON type *name*; a float without a fraction is an integer."""
    if isinstance(value, bool):
        return name == "boolean"
    match name:
        case "integer":
            return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        case "number":
            return isinstance(value, int | float)
        case "string":
            return isinstance(value, str)
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, dict)
        case _:
            return name == "null" and value is None


def _references(value: Any, schema: Mapping[str, Any], root: Schema, depth: int) -> bool:
    if "$ref" not in schema:
        return True
    try:
        return is_valid(value, resolve(schema["$ref"], root), root, depth + 1)
    except (LookupError, ValueError, TypeError):
        return False


def _is_one_of(value: Any, schema: Mapping[str, Any]) -> bool:
    if "const" in schema and not same(value, schema["const"]):
        return False
    return "enum" not in schema or any(same(value, member) for member in schema["enum"])


def _has_type(value: Any, schema: Mapping[str, Any]) -> bool:
    wanted = schema.get("type")
    if wanted is None or (value is None and schema.get("nullable") is True):
        return True
    return any(has_type(value, name) for name in ([wanted] if isinstance(wanted, str) else wanted))


def _combines(value: Any, schema: Mapping[str, Any], root: Schema, depth: int) -> bool:
    def fits(other: Schema) -> bool:
        return is_valid(value, other, root, depth + 1)

    if not all(map(fits, schema.get("allOf", ()))):
        return False
    if "anyOf" in schema and not any(map(fits, schema["anyOf"])):
        return False
    if "oneOf" in schema and sum(map(fits, schema["oneOf"])) != 1:
        return False
    if "not" in schema and fits(schema["not"]):
        return False
    if "if" in schema:
        return fits(schema.get("then" if fits(schema["if"]) else "else", True))
    return True


def _anything(value: Any, schema: Mapping[str, Any], root: Schema, depth: int) -> bool:
    return True


def _string(value: str, schema: Mapping[str, Any], root: Schema, depth: int) -> bool:
    if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", len(value)):
        return False
    if "pattern" not in schema:
        return True
    pattern = compiled(schema["pattern"])
    return pattern is not None and pattern.search(value) is not None


def _number(value: float, schema: Mapping[str, Any], root: Schema, depth: int) -> bool:
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    low, high = schema.get("minimum"), schema.get("maximum")
    if above is True or below is True:  # Draft 4 had booleans here.
        above, below = (low if above is True else None), (high if below is True else None)
    if (low is not None and value < low) or (high is not None and value > high):
        return False
    if (isinstance(above, int | float) and value <= above) or (isinstance(below, int | float) and value >= below):
        return False
    step = schema.get("multipleOf")
    return not step or _is_multiple(value, step)


def _is_multiple(value: float, step: float) -> bool:
    if isinstance(value, int) and isinstance(step, int):
        return value % step == 0
    quotient = value / step
    return quotient == quotient and abs(quotient) != float("inf") and int(quotient) == quotient


def _array(value: list[Any], schema: Mapping[str, Any], root: Schema, depth: int) -> bool:
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        return False
    if schema.get("uniqueItems") and any(same(a, b) for i, a in enumerate(value) for b in value[:i]):
        return False
    first: list[Schema] = schema.get("prefixItems", [])
    rest: Schema = schema.get("items", True)
    if not all(is_valid(item, kind, root, depth + 1) for item, kind in zip(value, first, strict=False)):
        return False
    if not all(is_valid(item, rest, root, depth + 1) for item in value[len(first) :]):
        return False
    if "contains" not in schema:
        return True
    found = sum(is_valid(item, schema["contains"], root, depth + 1) for item in value)
    return bool(schema.get("minContains", 1) <= found <= schema.get("maxContains", found))


def _object(value: dict[str, Any], schema: Mapping[str, Any], root: Schema, depth: int) -> bool:
    if not schema.get("minProperties", 0) <= len(value) <= schema.get("maxProperties", len(value)):
        return False
    if not all(name in value for name in schema.get("required", ())):
        return False
    names = schema.get("propertyNames", True)
    if not all(is_valid(name, names, root, depth + 1) for name in value):
        return False
    needs: Mapping[str, list[str]] = schema.get("dependentRequired", {})
    if not all(other in value for name, others in needs.items() if name in value for other in others):
        return False
    return all(
        is_valid(inner, kind, root, depth + 1)
        for name, inner in value.items()
        for kind in property_schemas(name, schema)
    )


def property_schemas(name: str, schema: Mapping[str, Any]) -> list[Schema]:
    """Return every schema that an object schema has for the property *name*."""
    named = [schema["properties"][name]] if name in schema.get("properties", {}) else []
    for pattern, kind in schema.get("patternProperties", {}).items():
        regex = compiled(pattern)
        if regex is not None and regex.search(name):
            named.append(kind)
    return named or [schema.get("additionalProperties", True)]


_BY_KIND: dict[type, Callable[[Any, Mapping[str, Any], Schema, int], bool]] = {
    str: _string,
    int: _number,
    float: _number,
    list: _array,
    dict: _object,
}
