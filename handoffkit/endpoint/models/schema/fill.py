"""A value for any JSON schema of a data model, taken from a conversation where the words say something.

`fill` is what answers when a simulated text agent is asked for structured output, and what fills the arguments of
tools. Where the conversation says nothing about a field, the field gets the schema's default, null, or the member
that commits to least. The result always satisfies the schema; the same conversation gives the same value on every
run.

What it cannot do: read meaning (it goes by names of fields and plain words); satisfy checks that stand in Python and
not in the schema (validators, past or future dates, naive datetimes, URLs of a certain scheme, files that exist);
resolve "tomorrow" to a date, since it has no clock. A date that is required and was not said clearly is 1970-01-01.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from handoffkit.errors import UnfillableSchema

from ..keywords.conversation import Conversation
from ..keywords.judgement import Judgement
from .check import Schema, is_valid, property_schemas
from .lists import Lists
from .nodes import INFINITE, Nodes, kinds, merged
from .numbers import Range
from .place import Filled, Place, mapping
from .scalars import Scalars
from .unions import Unions

MAX_PARTS = 20_000
"""The most parts (objects, items, fields) that a value may need; a larger schema is refused."""


def fill(schema: Schema, conversation: Conversation) -> Any:
    """Return a value that satisfies *schema*, from what *conversation* says.

    Raises:
        UnfillableSchema: No value satisfies the schema, or none was found; `path` names the field.
    """
    return Filler(schema, conversation).whole()


def fill_arguments(schema: Schema, conversation: Conversation) -> tuple[dict[str, Any], list[str]]:
    """Return arguments for a tool, and the names of those required ones that the conversation does not give.

    Raises:
        UnfillableSchema: As `fill` does.
    """
    filler = Filler(schema, conversation)
    value = filler.whole()
    node = filler.nodes.flat(schema)
    unsaid = [
        name
        for name in node.get("required", ())
        if filler.strengths.get(name, 0.0) == 0
        and not any("default" in mapping(s) for s in property_schemas(name, node))
    ]
    return (value if isinstance(value, dict) else {}), unsaid


class Filler:
    """Fills one schema from one conversation."""

    def __init__(self, schema: Schema, conversation: Conversation) -> None:
        self.schema = schema
        self.nodes = Nodes(schema)
        self.scalars = Scalars(Judgement(conversation))
        self._unions = Unions(self)
        self._lists = Lists(self)
        self.strengths: dict[str, float] = {}
        """How sure each property of the whole object is."""
        self._parts = 0

    def on(self, conversation: Conversation) -> "Filler":
        """Return a filler for the same schema and another conversation."""
        return Filler(self.schema, conversation)

    def whole(self) -> Any:
        """Return the value for the whole schema."""
        try:
            filled = self.node(self.schema, Place())
        except RecursionError as error:
            raise UnfillableSchema("", "it is nested too deeply") from error
        if not is_valid(filled.value, self.schema, self.schema):
            raise UnfillableSchema("", "no value was found that satisfies all its parts at once")
        return filled.value

    def node(self, schema: Schema, place: Place) -> Filled:
        """Return the value for one part of the schema."""
        self._parts += 1
        if self._parts > MAX_PARTS:
            raise UnfillableSchema(place.path, f"a value would need more than {MAX_PARTS} parts")
        if schema is False:
            raise UnfillableSchema(place.path, "the schema allows nothing here (`false`)")
        node = self.nodes.flat(schema)
        place = self._entered(node, place)
        checked = {key: value for key, value in node.items() if key != "$from"}
        for filled in self._proposals(node, place):
            if is_valid(filled.value, checked, self.nodes.root):
                return Filled(filled.value, 0.0 if place.lean else filled.strength)
        raise UnfillableSchema(place.path, _why(node))

    def _entered(self, node: dict[str, Any], place: Place) -> Place:
        """Return the place inside a referenced definition; a definition inside itself is filled leanly."""
        ref = node.get("$from")
        if not ref:
            return place
        if self.nodes.height({"$ref": ref}) >= INFINITE and ref in place.stack:
            raise UnfillableSchema(place.path, f"it needs itself ({ref}) without end")
        return replace(place, stack=(*place.stack, ref), lean=place.lean or ref in place.stack)

    def _proposals(self, node: dict[str, Any], place: Place) -> Iterator[Filled]:
        """Yield values: what the conversation speaks for, the default, what commits to least, examples."""
        if "const" in node:
            yield Filled(node["const"])
        elif "enum" in node:
            yield from self.scalars.members(node, place)
        else:
            defaults = [Filled(node["default"])] if "default" in node else []
            for filled in self._by_kind(node, place):
                if filled.strength == 0 and defaults:
                    yield defaults.pop()
                yield filled
            yield from defaults
        if isinstance(node.get("examples"), list):
            yield from (Filled(example) for example in node["examples"])

    def _by_kind(self, node: dict[str, Any], place: Place) -> Iterator[Filled]:
        found = kinds(node)
        if "anyOf" in node or "oneOf" in node:
            yield from self._unions.variants(node, place)
            return
        if "if" in node:
            yield from self._unions.conditional(node, place)
        if len(found) > 1:
            yield from self._unions.variants(
                {**node, "anyOf": [{"type": kind} for kind in found], "type": found}, place
            )
            return
        match found:
            case ["object"]:
                yield self._object(node, place)
            case ["array"]:
                yield self._lists.proposal(node, place)
            case ["string"] if node.get("contentMediaType") == "application/json":
                inner = self.node(node.get("contentSchema", True), place)
                yield Filled(json.dumps(inner.value), inner.strength)
            case _:
                yield from self.scalars.proposals("".join(found), node, place)

    def _object(self, node: dict[str, Any], place: Place) -> Filled:
        value: dict[str, Any] = {}
        strengths: list[float] = []
        required = self._required(node)
        for name in [
            *node.get("properties", {}),
            *(name for name in required if name not in node.get("properties", {})),
        ]:
            filled = self._property(name, node, place, needed=name in required)
            if filled is not None:
                value[name] = filled.value
                strengths.append(filled.strength)
                if not place.path:
                    self.strengths[name] = filled.strength
        self._add_properties(value, node, place)
        for name in [name for name in value if name not in required][::-1]:
            if len(value) > node.get("maxProperties", len(value)):
                del value[name]
        return Filled(value, sum(strengths) / len(strengths) if strengths else 0.0)

    def _required(self, node: dict[str, Any]) -> list[str]:
        """Return the names that must be there, those that others depend on included."""
        names = list(node.get("required", ()))
        for name in names:
            names += [other for other in node.get("dependentRequired", {}).get(name, ()) if other not in names]
        return names

    def _property(self, name: str, node: dict[str, Any], place: Place, *, needed: bool) -> Filled | None:
        """Return the value of a property; None leaves out one that is not required and of which nothing was said."""
        parts = property_schemas(name, node)
        schema: Schema = parts[0] if len(parts) == 1 else {"allOf": parts}
        inner = place.at(name, _remarked(schema, self.nodes))
        if needed:
            return self.node(schema, inner)
        if place.lean or node.get("dependentRequired", {}).get(name):
            return None
        try:
            filled = self.node(schema, inner)
        except UnfillableSchema:
            return None
        return filled if filled.strength > 0 or "default" in self.nodes.flat(schema) else None

    def _add_properties(self, value: dict[str, Any], node: dict[str, Any], place: Place) -> None:
        """Add names of no meaning until an object has as many as it must."""
        salt = place.salt
        while len(value) < node.get("minProperties", 0):
            name = str(salt + 1) if "propertyNames" not in node else self._name(node["propertyNames"], salt, place)
            if name not in value:
                parts = property_schemas(name, node)
                value[name] = self.node(parts[0] if len(parts) == 1 else {"allOf": parts}, place.at(name, True)).value
            salt += 1
            if salt > place.salt + 200:
                raise UnfillableSchema(place.path, f"it needs {node['minProperties']} different names")

    def _name(self, schema: Schema, salt: int, place: Place) -> str:
        value = self.node(merged({"type": "string"}, self.nodes.flat(schema)), replace(place, salt=salt)).value
        return str(value)


def _remarked(schema: Schema, nodes: Nodes) -> Schema:
    return {"description": nodes.flat(schema).get("description", "")}


def _why(node: Mapping[str, Any]) -> str:
    """Return why nothing was found for a flat schema, in words."""
    bounds = Range.of(node)
    if node.get("enum") == []:
        return "its enum has no members"
    if "enum" in node:
        return f"no member of its enum {json.dumps(node['enum'])[:120]} satisfies the rest of its schema"
    if "const" in node:
        return f"its constant {json.dumps(node['const'])[:80]} does not satisfy the rest of its schema"
    if node.get("minLength", 0) > node.get("maxLength", node.get("minLength", 0)):
        return f"minLength {node['minLength']} is above maxLength {node['maxLength']}"
    if bounds.empty:
        return f"no number is between its bounds {bounds.low:g} and {bounds.high:g}"
    if node.get("type") == []:
        return "its types exclude each other"
    if "pattern" in node:
        return f"no text was found that matches its pattern {node['pattern']!r} and its length"
    if "not" in node:
        return f"its schema excludes every value that was tried (`not`: {json.dumps(node['not'])[:80]})"
    shown = json.dumps({key: value for key, value in node.items() if key != "$from"}, default=str)
    return f"no value was found for {shown[:160]}"
