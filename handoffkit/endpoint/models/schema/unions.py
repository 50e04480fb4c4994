"""Values for unions: which variant the words speak of, and what to take when they speak of none."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from handoffkit.errors import UnfillableSchema

from ..keywords.words import name_words
from .check import Schema
from .nodes import kinds, merged
from .place import Filled, Place, mapping

if TYPE_CHECKING:
    from .fill import Filler


class Unions:
    """Proposes values for `anyOf`, `oneOf`, several types, and `if`; the variants are filled by *filler*."""

    def __init__(self, filler: "Filler") -> None:
        self._filler = filler
        self._nodes = filler.nodes
        self._chooser = filler.scalars.chooser

    def variants(self, node: dict[str, Any], place: Place) -> Iterator[Filled]:
        """Yield values for the variants of a union: by the words first, null where nothing was said."""
        base = {
            key: value
            for key, value in node.items()
            if key not in ("anyOf", "oneOf", "discriminator", "default", "$from")
        }
        parts = _without_decimal_text([part for key in ("anyOf", "oneOf") for part in node.get(key, ())])
        variants = [merged(base, self._nodes.flat(part)) for part in parts]
        order = self._ordered(parts, variants, place)
        error: UnfillableSchema | None = None
        tried: list[Filled] = []
        for index in order:
            try:
                inner = self._filler.node(variants[index], replace(place, salt=place.salt // len(parts)))
            except UnfillableSchema as caught:
                error = error or caught
                continue
            if place.salt or place.lean or (inner.strength > 0 and self._is_named(variants)):
                yield inner
            else:
                tried.append(inner)
        yield from sorted(tried, key=lambda filled: (-filled.strength, filled.value is not None))
        if error is not None and len(tried) == 0:
            raise error

    def _is_named(self, variants: Sequence[dict[str, Any]]) -> bool:
        """Say whether the variants are chosen by what they are called: several objects."""
        return sum("object" in kinds(variant) for variant in variants) > 1

    def _ordered(self, parts: Sequence[Schema], variants: Sequence[dict[str, Any]], place: Place) -> list[int]:
        order = list(range(len(parts)))
        if place.lean:
            return sorted(
                order, key=lambda index: (kinds(variants[index]) != ["null"], self._nodes.height(parts[index]))
            )
        if place.salt:
            return [*order[place.salt % len(order) :], *order[: place.salt % len(order)]]
        if self._is_named(variants):
            fits_by = [
                self._chooser.fit(_variant_words(part, node)) for part, node in zip(parts, variants, strict=True)
            ]
            neutral = self._chooser.neutral(
                [_variant_words(part, node) for part, node in zip(parts, variants, strict=True)]
            )
            return sorted(order, key=lambda index: (-fits_by[index] if fits_by[index] >= 1 else 0, index != neutral))
        return order

    def conditional(self, node: dict[str, Any], place: Place) -> Iterator[Filled]:
        """Yield values for `if` / `then` / `else`, by trying both ways."""
        base = {key: value for key, value in node.items() if key not in ("if", "then", "else", "$from")}
        met = merged(merged(base, self._nodes.flat(node["if"])), self._nodes.flat(node.get("then", True)))
        for way in (merged(base, self._nodes.flat(node.get("else", True))), met):
            try:
                yield self._filler.node(way, place)
            except UnfillableSchema:
                continue


def _without_decimal_text(parts: list[Schema]) -> list[Schema]:
    """Drop the plain string of "number or string": so Pydantic shows a Decimal, for which most strings are wrong."""
    plain = [mapping(part).get("type") if len(mapping(part)) == 1 else None for part in parts]
    return [part for part, kind in zip(parts, plain, strict=True) if not (kind == "string" and "number" in plain)]


def _variant_words(part: Schema, node: Mapping[str, Any]) -> list[str]:
    """Return what a variant of a union is called: the values of its constants, its title, its definition."""
    ref = str(mapping(part).get("$ref", "")).rpartition("/")[2]
    constants = [
        str(inner["const"] if "const" in inner else inner["enum"][0])
        for inner in node.get("properties", {}).values()
        if isinstance(inner, Mapping) and ("const" in inner or len(inner.get("enum", ())) == 1)
    ]
    return name_words(" ".join([*constants, str(node.get("title", "")), ref]))
