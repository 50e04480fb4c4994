"""A JSON schema made plain for the filler: references followed, `allOf` folded in, limits in descriptions found.

Also here: which definitions can be filled at all with finitely many parts, and how deep the shallowest value is.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from .check import Schema, has_type, property_schemas, resolve

INFINITE = 10_000
"""The height of a schema that refers to itself without end."""
_LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains")
_UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains")
_TIGHTER = dict.fromkeys(_LOWER, max) | dict.fromkeys(_UPPER, min)
_NOTED = "minLength|maxLength|uniqueItems|format|pattern"
_NOTE = re.compile(rf"(?:^|[(,] ?)({_NOTED})=(.*?)(?=, \w+=|\)$|$)")
_REMARKS = {"title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"}


class Nodes:
    """The nodes of one schema, with its definitions."""

    def __init__(self, root: Schema) -> None:
        self.root = root
        self._heights: dict[str, int] = {}
        for _ in range(len(self._references()) + 1):
            before = dict(self._heights)
            for ref in self._references():
                self._heights[ref] = self.height({"$ref": ref}, inside=True)
            if before == self._heights:
                break

    def flat(self, schema: Schema) -> dict[str, Any]:
        """Return *schema* with its `$ref` and `allOf` folded in, and limits from its description.

        `True` gives an empty dict and `False` `{"not": {}}`. A reference that leads nowhere also gives the latter. The
        reference is kept under `$from`, so that recursion can be seen.
        """
        return self._flat(schema, ())

    def _flat(self, schema: Schema, seen: tuple[str, ...]) -> dict[str, Any]:
        if isinstance(schema, bool):
            return {} if schema else {"not": {}}
        node = {key: value for key, value in schema.items() if key not in ("$ref", "allOf", "$defs", "definitions")}
        ref = schema.get("$ref")
        if isinstance(ref, str):
            if ref in seen:
                return {"not": {}}
            node = merged(self._flat(self._resolved(ref), (*seen, ref)), node)
            node["$from"] = ref
        for part in schema.get("allOf", ()):
            node = merged(node, self._flat(part, seen))
        return _with_notes(node)

    def _resolved(self, ref: str) -> Schema:
        try:
            return resolve(ref, self.root)
        except (LookupError, ValueError, TypeError):
            return False

    def _references(self) -> list[str]:
        return list(dict.fromkeys(_refs(self.root)))

    def height(self, schema: Schema, *, inside: bool = False) -> int:
        """Return how many levels the shallowest value of *schema* has, or `INFINITE` or more."""
        if isinstance(schema, bool):
            return 0 if schema else INFINITE
        heights = [0]
        if isinstance(schema.get("$ref"), str):
            ref = schema["$ref"]
            known = self.height(self._resolved(ref)) if inside else self._heights.get(ref, INFINITE)
            heights.append(min(INFINITE, known + 1))
        if "enum" in schema or "const" in schema:
            return heights[-1] if schema.get("enum", True) else INFINITE
        heights += [self.height(part) for part in schema.get("allOf", ())]
        for key in ("anyOf", "oneOf"):
            if key in schema:
                heights.append(min((self.height(part) for part in schema[key]), default=INFINITE))
        types = schema.get("type", "object" if schema.get("required") else "array" if schema.get("minItems") else "")
        if types == "object":
            heights.append(self._object_height(schema))
        elif types == "array":
            heights.append(self._array_height(schema))
        return min(INFINITE, max(heights))

    def _object_height(self, schema: Mapping[str, Any]) -> int:
        parts = [kind for name in schema.get("required", ()) for kind in property_schemas(name, schema)]
        return 1 + max((self.height(part) for part in parts), default=0)

    def _array_height(self, schema: Mapping[str, Any]) -> int:
        least, first = schema.get("minItems", 0), list(schema.get("prefixItems", ()))
        parts = first[:least] + ([schema.get("items", True)] if least > len(first) else [])
        return 1 + max((self.height(part) for part in parts), default=0)


def _refs(schema: Any) -> Iterator[str]:
    if isinstance(schema, Mapping):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"]
        for key, value in schema.items():
            if key not in ("enum", "const", "default", "examples"):
                yield from _refs(value)
    elif isinstance(schema, list):
        for value in schema:
            yield from _refs(value)


def merged(left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema that asks for what both ask for; remarks such as titles come from *right* where it has them.

    What cannot be folded into one keyword (two patterns, two `anyOf`s) is kept in `allOf`, for the final check.
    """
    node = dict(left)
    for key, value in right.items():
        if key not in node or key in _REMARKS or node[key] == value:
            node[key] = value
        elif key == "allOf":
            node[key] = [*node[key], *value]
        elif key in _TIGHTER:
            node[key] = _TIGHTER[key](node[key], value)
        elif key == "required":
            node[key] = list(dict.fromkeys([*node[key], *value]))
        elif key == "properties":
            node[key] = _merged_properties(node[key], value)
        elif key == "enum":
            node[key] = [member for member in node[key] if member in value]
        elif key == "type":
            node[key] = _common_types(node[key], value)
        else:
            node["allOf"] = [*node.get("allOf", ()), {key: value}]
    return node


def _merged_properties(left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    both = {name: {"allOf": [left[name], right[name]]} for name in left if name in right and left[name] != right[name]}
    return {**left, **right, **both}


def _common_types(left: str | list[str], right: str | list[str]) -> str | list[str]:
    one, two = ([kind] if isinstance(kind, str) else kind for kind in (left, right))
    common = [kind for kind in one if kind in two or (kind == "integer" and "number" in two)]
    common += [kind for kind in two if kind == "integer" and "number" in one and kind not in common]
    return common[0] if len(common) == 1 else common


def _with_notes(node: dict[str, Any]) -> dict[str, Any]:
    """Add the limits that pydantic-ai moves into the description when a schema becomes strict: "(minLength=3)"."""
    description = node.get("description")
    if not isinstance(description, str) or "=" not in description:
        return node
    for match in _NOTE.finditer(description):
        name, text = match.group(1), match.group(2)
        value: Any = text if name in ("format", "pattern") else _plain(text)
        if name not in node and value is not None:
            node[name] = value
    return node


def _plain(text: str) -> Any:
    try:
        return json.loads(text.lower())
    except ValueError:
        return None


def kinds(node: Mapping[str, Any]) -> list[str]:
    """Return the JSON types that a flat schema allows, guessed from its keywords where it names none."""
    types = node.get("type")
    if types is not None:
        return ([types] if isinstance(types, str) else list(types)) + (["null"] if node.get("nullable") is True else [])
    for kind, keywords in _TELLING.items():
        if keywords & node.keys():
            return [kind]
    return []


_TELLING = {
    "object": {"properties", "required", "additionalProperties", "patternProperties", "minProperties"},
    "array": {"items", "prefixItems", "minItems", "uniqueItems", "contains"},
    "string": {"pattern", "minLength", "maxLength", "format"},
    "number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
}


def of_type(members: list[Any], types: list[str]) -> list[Any]:
    """Return those *members* that are of one of *types*; all of them where there are none."""
    return [member for member in members if not types or any(has_type(member, kind) for kind in types)]
