"""Where the schema filler is in a schema, and what it found there."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..keywords.choices import Field
from .check import Schema


def mapping(schema: Schema) -> Mapping[str, Any]:
    """Return a schema's keywords; none for `true` and `false`."""
    return schema if isinstance(schema, Mapping) else {}


_ROOT = Field()


@dataclass(frozen=True, slots=True)
class Filled:
    """A value for a part of a schema."""

    value: Any
    strength: float = 0.0
    """From 0 (nothing was said about it) to 1."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the filler is."""

    path: str = ""
    field: Field = _ROOT
    stack: tuple[str, ...] = ()
    """The references that led here."""
    lean: bool = False
    """Take the shallowest value: inside a recursion."""
    salt: int = 0
    """Which of several different values is wanted, for lists without duplicates."""

    def at(self, name: str, schema: Schema) -> "Place":
        """Return the place of a property."""
        description = str(mapping(schema).get("description", ""))
        path = f"{self.path}.{name}" if self.path else name
        return replace(self, path=path, field=Field(name, description))

    def item(self, index: int) -> "Place":
        """Return the place of a list's item, which keeps the list's name."""
        return replace(self, path=f"{self.path}[{index}]")

    @property
    def plain(self) -> bool:
        """The conversation may be asked: no other one of several values is wanted, and this is no recursion."""
        return not self.salt and not self.lean
