"""Time to place: where a moment of the call stands in the timeline.

Time runs evenly, except where nothing happens for long: between two typed turns, which take milliseconds, a learner
thinks for a minute. Such a pause is cut short, and the picture says how long it was. A long call is laid in rows.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

Span = tuple[float, float]
"""Start and end, in seconds."""

LONG_PAUSE = 3.0
"""A pause is cut short when it lasts this many times as long as what stands between two pauses on average."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A piecewise even map from seconds to places; one second is one unit of place wherever something happens."""

    moments: tuple[float, ...]
    """Seconds at which the pace changes, rising; the first is the beginning of the picture."""
    places: tuple[float, ...]
    """The place of each of `moments`; the first is 0."""
    breaks: tuple[int, ...]
    """Indices of `moments` at which a pause begins that is cut short; it ends at the next one."""

    @property
    def length(self) -> float:
        """The place at which the picture ends."""
        return self.places[-1]

    def place(self, moment: float) -> float:
        """Return where *moment* (s) stands."""
        index = min(max(bisect_right(self.moments, moment) - 1, 0), len(self.moments) - 2)
        start, end = self.moments[index : index + 2]
        left, right = self.places[index : index + 2]
        share = (moment - start) / (end - start) if end > start else 0.0
        return left + min(max(share, 0.0), 1.0) * (right - left)


def scale(busy: Iterable[Span]) -> Scale:
    """Return the scale for a call in which something happens during *busy* (s), and nothing in between."""
    spans = merged(busy)
    total = sum(end - start for start, end in spans) or 0.001
    pauses = [after[0] - before[1] for before, after in pairwise(spans)]
    limit = LONG_PAUSE * total / len(spans)
    long = sum(pause > limit for pause in pauses)
    shown = min(limit, total / 2 / max(long, 4))
    moments, places, breaks = [spans[0][0]], [0.0], []
    for index, (start, end) in enumerate(spans):
        if index and pauses[index - 1] > limit:
            breaks.append(len(moments) - 1)
            moments.append(start)
            places.append(places[-1] + shown)
        places.append(places[-1] + end - moments[-1])
        moments.append(end)
    if places[-1] == 0.0:
        moments[-1] += total
        places[-1] = total
    return Scale(tuple(moments), tuple(places), tuple(breaks))


def merged(spans: Iterable[Span]) -> list[Span]:
    """Return *spans* in order, those that touch made one; one empty span at 0 if there are none."""
    result: list[Span] = []
    for start, end in sorted(spans):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(result[-1][1], end))
        else:
            result.append((start, max(start, end)))
    return result or [(0.0, 0.0)]


def rows(length: float, count: int, starts: Sequence[float]) -> list[Span]:
    """Cut the places from 0 to *length* into *count* rows, each at one of *starts* if one is near."""
    cuts = [0.0]
    for index in range(1, count):
        ideal = length * index / count
        near = [start for start in starts if abs(start - ideal) < length / count / 4]
        cuts.append(min(near, key=lambda start: abs(start - ideal), default=ideal))
    return list(zip(cuts, [*cuts[1:], length], strict=True))


_STEPS = [digit * 10.0**power for power in (-3, -2, -1) for digit in (1, 2, 5)]
_STEPS += [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600]


def step(least: float) -> float:
    """Return a round number of seconds, *least* or more: the distance of two ticks."""
    return next((each for each in _STEPS if each >= least), _STEPS[-1])


def clock(seconds: float, step: float, long: bool) -> str:
    """Return a moment in words, as fine as *step* (s) needs: `40 ms`, `2.5 s`, in a *long* call `3:05`."""
    if long:
        minutes, rest = divmod(round(seconds), 60)
        hours, minutes = divmod(minutes, 60)
        return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
    if step < 1 and seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.{0 if step >= 1 else 1 if step >= 0.1 else 2}f} s"


def duration(seconds: float) -> str:
    """Return a length of time in words: `640 ms`, `8.4 s`, `12 s`, `3 min`."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 120:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min"
