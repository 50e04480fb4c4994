"""`compare`: results of several handoffs side by side, and where they differ."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import NothingToCompare
from ..views.grid import Grid
from .result import HandoffResult, as_csv, as_json, written
from .values import flat, words

MISSING = "(no such field)"
"""Stands where a result's schema does not have a field."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Comparison:
    """Results as columns and fields as rows; print it, or show it as a cell's last line."""

    names: tuple[str, ...]
    """The columns' headings."""
    results: tuple[HandoffResult, ...]

    @property
    def rows(self) -> dict[str, list[Any]]:
        """Every field that any of the results has, with its value in each; `MISSING` where it has none."""
        found = [flat(result.fields) for result in self.results]
        names = dict.fromkeys(name for each in found for name in each)
        return {name: [each.get(name, MISSING) for each in found] for name in names}

    @property
    def differing(self) -> list[str]:
        """The fields in which the results are not all the same."""
        return [name for name, values in self.rows.items() if len({_key(value) for value in values}) > 1]

    def __str__(self) -> str:
        return str(self._grid())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self._grid()._repr_html_()

    def _grid(self) -> Grid:
        rows = self.rows
        differing = self.differing
        body = [
            [name, *(value if value is MISSING else words(value) for value in values), self._mark(name in differing)]
            for name, values in rows.items()
        ]
        return Grid(
            ("Field", *self.names, "Compared"), [*self._asked(), *body, *self._took()], [self._sentence(differing)]
        )

    def _mark(self, differs: bool) -> str:
        return "differs" if differs else "same" if len(self.results) > 1 else ""

    def _asked(self) -> list[list[str]]:
        """Return what the handoffs had been asked, as far as it differs."""
        facts = {
            name: [str(getattr(result, name)) for result in self.results] for name in ("model", "prompt", "schema")
        }
        return [[f"({name})", *values, ""] for name, values in facts.items() if len(set(values)) > 1]

    def _took(self) -> list[list[str]]:
        attempts = [str(len(result.attempts)) for result in self.results]
        return [["(attempts)", *attempts, ""], ["(tokens)", *(str(result.tokens) for result in self.results), ""]]

    def _sentence(self, differing: Sequence[str]) -> str:
        if len(self.results) == 1:
            return "One result: nothing to differ from."
        count = len(self.rows)
        if not differing:
            return f"The {len(self.results)} results are the same in {_fields(count)}."
        return f"The results differ in {len(differing)} of {_fields(count)}: {', '.join(differing)}."

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the results as JSON, a list in order, each with its `name`; write it to *path* if there is one.

        Raises:
            CannotWrite: The folder of *path* is not there, or cannot be written to.
        """
        named = ({"name": name} | result.to_dict() for name, result in zip(self.names, self.results, strict=True))
        return written(as_json({"differing": self.differing, "results": list(named)}), path)

    def to_csv(self, path: str | Path | None = None) -> str:
        """Return a line for each result: its name, what was asked, what it took, and its fields (an absent one empty).

        Texts are safe to open in a spreadsheet, as those of `HandoffResult.to_csv` are.

        Raises:
            CannotWrite: The folder of *path* is not there, or cannot be written to.
        """
        rows = self.rows
        lines: list[list[Any]] = [["name", "model", "prompt", "attempts", "tokens", *rows]]
        for index, (name, result) in enumerate(zip(self.names, self.results, strict=True)):
            values = [None if value[index] is MISSING else value[index] for value in rows.values()]
            lines.append([name, result.model, result.prompt, len(result.attempts), result.tokens, *values])
        return written(as_csv(lines), path, "utf-8-sig")


def compare(results: Iterable[HandoffResult | tuple[str, HandoffResult]]) -> Comparison:
    """Set the results of several handoffs side by side.

    Args:
        results: Results, or pairs of a heading and a result; without a heading, a result is called by its number.

    Raises:
        NothingToCompare: There is none, or something that is no result.
    """
    names, found = [], []
    for number, each in enumerate(_listed(results), 1):
        name, result = each if isinstance(each, tuple) and len(each) == 2 else (str(number), each)
        if not isinstance(result, HandoffResult):
            raise NothingToCompare(f"entry {number} is {type(result).__name__}")
        names.append(str(name))
        found.append(result)
    if not found:
        raise NothingToCompare("there is no result in the list")
    return Comparison(tuple(names), tuple(found))


def _listed(results: Any) -> Iterable[Any]:
    if isinstance(results, HandoffResult):
        raise NothingToCompare("it is one result, not a list")
    if isinstance(results, dict):
        return list(results.items())
    if not hasattr(results, "__iter__"):
        raise NothingToCompare(f"it is {type(results).__name__}, not a list")
    return list(results)


def _key(value: Any) -> str:
    """Return what a value is compared by: its JSON, where `true` is not 1 and a number not its digits."""
    return "" if value is MISSING else json.dumps(value)


def _fields(count: int) -> str:
    return f"{count} field{'' if count == 1 else 's'}"
