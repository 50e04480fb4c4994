"""Values for the leaves of a schema: text, numbers, yes and no, members of an enum."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..keywords.choices import Chooser, Field
from ..keywords.field_values import FieldValues
from ..keywords.judgement import Judgement
from ..keywords.lexicon import lexicon
from .nodes import kinds, of_type
from .numbers import Range, candidates
from .place import Filled, Place
from .strings import FORMATS, examples, fits, other, salted, shaped

_TRIES = 40


class Scalars:
    """Proposes values for leaves, from one judgement, those that the conversation speaks for first."""

    def __init__(self, judgement: Judgement) -> None:
        self.judgement = judgement
        self.chooser = Chooser(judgement)
        self.values = FieldValues(judgement)

    def proposals(self, kind: str, node: dict[str, Any], place: Place) -> Iterator[Filled]:
        """Yield values of the JSON type *kind* (`""` for a schema that allows any); the caller checks each."""
        match kind:
            case "string":
                yield from self._string(node, place)
            case "integer" | "number":
                yield from self._number(node, place, integer=kind == "integer")
            case "boolean":
                yield from self._boolean(place)
            case "null":
                yield Filled(None)
            case "":
                yield from self._anything(place)

    def members(self, node: dict[str, Any], place: Place) -> Iterator[Filled]:
        """Yield members of an enum: the chosen one, then the others in order."""
        members = of_type(node["enum"], kinds({"type": node["type"]}) if "type" in node else [])
        if not members:
            return
        ordered = [*members[place.salt % len(members) :], *members[: place.salt % len(members)]]
        if place.plain:
            choice = self.chooser.member(members, place.field)
            if choice.strength > 0 or "default" not in node:
                yield Filled(members[choice.index], choice.strength)
            else:
                yield Filled(node["default"])
        yield from (Filled(member) for member in ordered)

    def _boolean(self, place: Place) -> Iterator[Filled]:
        said = self.chooser.yes_or_no(place.field) if place.plain else None
        if said is not None:
            yield Filled(said, 0.7)
        yield from (Filled(bool(place.salt % 2)), Filled(not place.salt % 2))

    def _anything(self, place: Place) -> Iterator[Filled]:
        texts = self.values.texts(place.field) if place.plain and place.field.words else []
        yield from (Filled(text, 0.5) for text in texts[:1])
        if place.salt:
            yield Filled(place.salt)
        least: tuple[Any, ...] = (None, "", 0, False, [], {})
        yield from (Filled(value) for value in least)

    def _string(self, node: dict[str, Any], place: Place) -> Iterator[Filled]:
        if place.plain:
            yield from (Filled(text, 0.7) for text in self._said(node, place.field))
        plain = node.get("format") in (None, "path", "binary")
        if node.get("format") in FORMATS:
            yield Filled(other(FORMATS[node["format"]], place.salt))
        if plain and "pattern" not in node:
            unsaid = str(lexicon().voice["unsaid"])
            yield Filled(salted(shaped(unsaid, node), place.salt, node))
        yield from (Filled(text) for text in _some(examples(node, place.salt)))

    def _said(self, node: dict[str, Any], field: Field) -> Iterator[str]:
        """Yield what was said for a string, in the form that the schema asks for."""
        match node.get("format"):
            case "date":
                yield from self.values.date()
            case "date-time":
                clock = (self.values.time() or ["00:00:00"])[0]
                yield from (f"{day}T{clock}Z" for day in self.values.date())
            case "time":
                yield from (f"{time}Z" for time in self.values.time())
            case "email" | "idn-email":
                yield from self.values.texts(Field("email"))
            case "name-email":
                yield from (
                    f"{(self.values.texts(Field('name')) or ['unknown'])[0]} <{mail}>"
                    for mail in self.values.texts(Field("email"))
                )
            case "uri" | "iri" | "uri-reference":
                yield from self.values.texts(Field("url"))
            case None | "password" | "phone":
                for text in self.values.texts(field):
                    yield from self.in_shape(text, node)

    def in_shape(self, text: str, node: dict[str, Any]) -> Iterator[str]:
        """Yield *text* in the schema's shape: cut to length; for a pattern, the words of the call that match it."""
        if "pattern" not in node:
            yield shaped(text, node)
            return
        words = [
            text,
            text.upper(),
            text.lower(),
            text.replace(" ", ""),
            text.replace(" ", "-"),
            text.replace(" ", "_").lower(),
        ]
        yield from (form for word in words for form in (word, f"#{word}") if len(form) <= 300 and fits(form, node))

    def _number(self, node: dict[str, Any], place: Place, *, integer: bool) -> Iterator[Filled]:
        if place.plain:
            yield from self._measured(node, place.field, integer)
            said = self.values.number(place.field)
            yield from (Filled(int(n) if integer and n.is_integer() else n, 0.7) for n in map(float, said))
        yield from (Filled(number) for number in candidates(node, integer=integer, salt=place.salt))

    def _measured(self, node: dict[str, Any], field: Field, integer: bool) -> Iterator[Filled]:
        """Yield a number for a field that asks how sure, how urgent or how pleased, within its bounds."""
        bounds, judgement = Range.of(node), self.judgement
        top = 100.0 if integer else 1.0
        if bounds.empty:
            return
        if field.is_about("confidence") and not field.is_about("feeling"):
            yield Filled(_rounded(bounds.scaled(judgement.strength, top=top), integer), judgement.strength)
        elif field.is_about("urgency") and judgement.urgency is not None:
            ranks = [judgement.urgency, 1 - judgement.urgency]
            first = "highest" in field.description.lower() and "1" in field.description
            yield Filled(_rounded(bounds.scaled(ranks[first], top=5.0 if integer else 1.0), integer), 0.7)
        elif field.is_about("feeling"):
            low = bounds.low if bounds.low > -1e9 else -1.0
            span = replace(bounds, low=low, high=bounds.high if bounds.high < 1e9 else 1.0)
            yield Filled(
                _rounded(span.scaled((judgement.mood + 1) / 2, top=1.0), integer), 0.5 if judgement.feelings else 0.0
            )


def _rounded(value: float, integer: bool) -> float:
    return round(value) if integer else round(value, 2)


def _some(texts: Iterator[str]) -> Iterator[str]:
    for _, text in zip(range(_TRIES), texts, strict=False):
        yield text
