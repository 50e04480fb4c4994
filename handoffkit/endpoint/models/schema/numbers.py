"""Numbers within the bounds of a JSON schema."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers that a flat schema allows, apart from `multipleOf`."""

    low: float
    """The least one, or -inf; itself allowed unless `open_low`."""
    high: float
    open_low: bool
    open_high: bool

    @classmethod
    def of(cls, node: Mapping[str, Any]) -> "Range":
        """Read the bounds of a schema; the older boolean form of exclusive bounds is understood."""
        low, high = node.get("minimum", -math.inf), node.get("maximum", math.inf)
        above, below = node.get("exclusiveMinimum"), node.get("exclusiveMaximum")
        open_low, open_high = above is True, below is True
        if isinstance(above, int | float) and not isinstance(above, bool) and above >= low:
            low, open_low = above, True
        if isinstance(below, int | float) and not isinstance(below, bool) and below <= high:
            high, open_high = below, True
        return cls(low, high, open_low, open_high)

    @property
    def empty(self) -> bool:
        """No number at all lies between the bounds."""
        return self.low > self.high or (self.low == self.high and (self.open_low or self.open_high))

    def scaled(self, share: float, *, top: float) -> float:
        """Return the place at *share* (0 to 1) between the bounds; a bound that is missing counts as 0 or *top*."""
        low = 0.0 if self.low == -math.inf else self.low
        high = max(top, low) if self.high == math.inf else self.high
        return low + share * (high - low)


def candidates(node: Mapping[str, Any], *, integer: bool, salt: int = 0) -> Iterator[float]:
    """Yield numbers that a schema is likely to allow: 0 first, then those next to its bounds, then multiples.

    *salt* picks another one, for lists whose items must differ. The caller checks each; bounds that leave no number
    yield none that passes.
    """
    bounds = Range.of(node)
    step = node.get("multipleOf") or (1 if integer else 0)
    start = _nearest_to_zero(bounds)
    if step:
        yield from _multiples(bounds, step, start, integer, salt)
        return
    yield from (start + salt, start - salt) if math.isfinite(start) else ()
    if math.isfinite(bounds.low) and math.isfinite(bounds.high):
        yield from (bounds.low + (bounds.high - bounds.low) / (salt + share) for share in (2, 3, 1))
        yield bounds.low / 2 + bounds.high / 2
    for edge, towards in ((bounds.low, math.inf), (bounds.high, -math.inf)):
        if math.isfinite(edge):
            yield from (edge, edge + math.copysign(1.0 + salt, towards), math.nextafter(edge, towards))


def _nearest_to_zero(bounds: Range) -> float:
    if bounds.low > 0 or (bounds.low == 0 and bounds.open_low):
        return bounds.low + 1 if bounds.open_low else bounds.low
    if bounds.high < 0 or (bounds.high == 0 and bounds.open_high):
        return bounds.high - 1 if bounds.open_high else bounds.high
    return 0.0 if isinstance(bounds.low, float) and isinstance(bounds.high, float) else 0


def _multiples(bounds: Range, step: float, start: float, integer: bool, salt: int) -> Iterator[float]:
    """Yield multiples of *step* near *start*, then near the upper bound."""
    for edge in (start, bounds.low, bounds.high):
        if not math.isfinite(edge):
            continue
        first = edge // step if isinstance(edge, int) and isinstance(step, int) else math.floor(edge / step)
        for k in range(200 + salt):
            for count in ((first + salt + k), (first - salt - k)):
                value = count * step
                yield int(value) if integer and value == int(value) else value
