"""Values for lists: the items that the conversation speaks for, and as many as the schema asks for."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from handoffkit.errors import UnfillableSchema

from ..keywords.choices import Field
from ..keywords.conversation import Conversation
from ..keywords.words import name_words
from ..prompt import Message
from .check import Schema, is_valid, same
from .nodes import kinds, merged
from .place import Filled, Place

if TYPE_CHECKING:
    from .fill import Filler

_MAX_SAID = 10
"""The most items that are taken from a conversation."""
_SURE = 0.35
"""How sure an object must be to become an item of its own accord: about a third of its fields were said."""


class Lists:
    """Proposes values for arrays; the items are filled by *filler*."""

    def __init__(self, filler: "Filler") -> None:
        self._filler = filler
        self._nodes = filler.nodes
        self._scalars = filler.scalars

    def proposal(self, node: dict[str, Any], place: Place) -> Filled:
        """Return a value for an array: its fixed items, then those that were said, then what its limits ask for.

        Raises:
            UnfillableSchema: An item cannot be filled, or there are not enough different ones.
        """
        first: list[Schema] = list(node.get("prefixItems", ()))
        rest: Schema = node.get("items", True)
        least, most = node.get("minItems", 0), node.get("maxItems", 1_000_000)
        if least > most:
            raise UnfillableSchema(place.path, f"minItems {least} is above maxItems {most}")
        fixed = [
            self._filler.node(kind, place.item(index))
            for index, kind in enumerate(first[: least if place.lean else most])
        ]
        said = self._said_items(node, rest, place) if place.plain and len(first) < most else []
        items = fixed + said[: most - len(fixed)]
        required = self._contained(node, items, place)
        values = [filled.value for filled in [*items, *required]][:most]
        self._pad(values, node, rest, place)
        return Filled(values, max((filled.strength for filled in [*fixed, *said]), default=0.0))

    def _said_items(self, node: dict[str, Any], kind: Schema, place: Place) -> list[Filled]:
        """Return the items of a list for which the conversation speaks, without duplicates."""
        if kind is False or isinstance(kind, bool):
            return []
        flat = self._nodes.flat(kind)
        if flat.get("$from") in place.stack:
            return []
        found: list[Any] = []
        for value in self._item_values(flat, kind, place):
            if is_valid(value, kind, self._nodes.root) and not any(same(value, other) for other in found):
                found.append(value)
        return [Filled(value, 0.7) for value in found[:_MAX_SAID]]

    def _item_values(self, flat: dict[str, Any], kind: Schema, place: Place) -> Iterator[Any]:
        if "enum" in flat:
            yield from self._mentioned(flat["enum"])
            return
        types = kinds(flat)
        if types == ["string"] and "format" not in flat:
            for text in self._scalars.values.texts(place.field, many=True):
                yield from list(self._scalars.in_shape(text, flat))[:1]
        elif types in (["integer"], ["number"]):
            yield from (int(n) if float(n).is_integer() else n for n in self._scalars.values.number(place.field))
        elif types == ["object"] and self._rows(flat, place):
            yield from self._rows(flat, place)
        elif types == ["object"] or "anyOf" in flat or "oneOf" in flat or types == ["string"]:
            filled = self._attempt(kind, place)
            if filled and filled.strength >= _SURE:
                yield filled.value

    def _rows(self, flat: dict[str, Any], place: Place) -> list[Any]:
        """Return an object for each thing that the caller counted ("two lamps"), if the items have a quantity."""
        names = [Field(name) for name in flat.get("properties", {})]
        if place.stack or not any(field.is_about("quantity") for field in names):
            return []
        rows = []
        for said in self._scalars.values.counted():
            noun = dict.fromkeys(("name", "item", "product", "description", "title"), said.split()[-1])
            row = Conversation((Message("user", said),), results=(json.dumps(noun),))
            lists = Lists(self._filler.on(row))
            filled = lists._attempt({key: value for key, value in flat.items() if key != "$from"}, place)
            rows += [filled.value] if filled and filled.strength > 0 else []
        return rows

    def _attempt(self, kind: Schema, place: Place) -> Filled | None:
        try:
            return self._filler.node(kind, place.item(0))
        except UnfillableSchema:
            return None

    def _mentioned(self, members: Sequence[Any]) -> list[Any]:
        """Return the members of an enum that the caller's words speak for, one or several."""
        fit = {index: self._scalars.chooser.fit(name_words(str(member))) for index, member in enumerate(members)}
        return [members[index] for index, value in fit.items() if value >= 2]

    def _contained(self, node: dict[str, Any], items: Sequence[Filled], place: Place) -> list[Filled]:
        """Return further items so that as many as `contains` asks for are there."""
        if "contains" not in node:
            return []
        wanted: Schema = node["contains"]
        have = sum(is_valid(item.value, wanted, self._nodes.root) for item in items)
        both = merged(self._nodes.flat(node.get("items", True)), self._nodes.flat(wanted))
        lacking = max(0, node.get("minContains", 1) - have)
        return [self._filler.node(both, replace(place.item(index), salt=index)) for index in range(lacking)]

    def _pad(self, values: list[Any], node: dict[str, Any], kind: Schema, place: Place) -> None:
        """Add items until there are as many as the schema asks for, different ones where it says so."""
        least, salt = node.get("minItems", 0), place.salt
        while len(values) < least:
            item = self._filler.node(kind, replace(place.item(len(values)), salt=salt)).value
            if not node.get("uniqueItems") or not any(same(item, other) for other in values):
                values.append(item)
            salt += 1 if node.get("uniqueItems") else 0
            if salt > place.salt + 8 * least + 64:
                raise UnfillableSchema(
                    place.path, f"it needs {least} different items, and only {len(values)} were found"
                )
