"""One row of the timeline: axis, flags, lanes with their bars, and the waits between a caller and the reply."""

from collections.abc import Callable
from dataclasses import dataclass
from unicodedata import east_asian_width

from .lanes import Bar, Flag, Lane, Score
from .pen import GROUND, INK, QUIET, RULE, SMALL, Pen
from .scale import Scale, Span, clock, duration, step

LEFT, RIGHT = 0.95, 9.8
"""Where lanes begin and end (inches)."""
HEAD, FLAGS, LANE, STRIP = 0.24, 0.26, 0.3, 0.18
"""Heights (inches): axis, flags, a lane, the strip of waits."""
BAR, MOMENT, SPACE, BESIDE = 0.22, 0.04, 0.06, 3.4
"""Inches: height of a bar, its least width, the space at each side of words, the most that words beside a bar take."""
FEW = 6
"""Fewer letters than this of something longer tell nothing: the turn's number tells more. Wide ones count as two."""
LONG_WAIT = 1.0
"""A wait (s) from which on it stands out."""

WHITE, SHADE, WARN, BAD = "#ffffff", "#f0f0f0", "#8a4b00", "#b3261e"
CALLER, OPERATOR, EXTRACTION = "#6b6b6b", "#7a5f00", "#3f5b6d"
VOICES = ("#1667b8", "#93418f", "#00716a", "#a1500a")
NAMES: dict[Lane, str] = {
    "operator": "Operator",
    "caller": "Caller",
    "agent": "Agent",
    "tools": "Tools",
    "extraction": "Extraction",
}


@dataclass(frozen=True, slots=True)
class Stretch:
    """The part of a scale that stands in one row."""

    scale: Scale
    places: Span
    last: bool
    """True if the scale ends here."""
    inches: float
    """Inches to a unit of place."""

    def x(self, moment: float) -> float:
        """Return where a moment (s) stands, if need be at the row's edge."""
        return self.at(self.scale.place(moment))

    def at(self, place: float) -> float:
        """Return where a place of the scale stands, if need be at the row's edge."""
        start, end = self.places
        return LEFT + (min(max(place, start), end) - start) * self.inches

    def holds(self, moment: float) -> bool:
        """Tell whether a moment stands in this row."""
        place = self.scale.place(moment)
        return self.places[0] <= place < self.places[1] or (self.last and place >= self.places[1])

    def meets(self, span: Span) -> bool:
        """Tell whether a part of a span of time stands in this row."""
        start, end = span
        return self.holds(start) or self.scale.place(start) < self.places[0] < self.scale.place(end)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the picture of a score."""

    stretch: Stretch
    bars: list[Bar]
    waits: list[Span]
    flags: list[Flag]
    lanes: list[Lane]
    """The lanes that are drawn, from the top."""

    @classmethod
    def of(cls, score: Score, stretch: Stretch) -> "Row":
        """Return the row with the part of *score* that stands in *stretch*."""
        bars = sorted((bar for bar in score.bars if stretch.meets(bar.span)), key=lambda bar: bar.start)
        used = {bar.lane for bar in bars} | {"caller", "agent"}
        flags = sorted((flag for flag in score.flags if stretch.holds(flag.at)), key=lambda flag: flag.at)
        waits = sorted(wait for wait in score.gaps if stretch.meets(wait))
        return cls(stretch, bars, waits, flags, [lane for lane in NAMES if lane in used])

    @property
    def head(self) -> float:
        """How high axis and flags are (inches)."""
        return HEAD + FLAGS * bool(self.flags)

    @property
    def height(self) -> float:
        """How high the row is (inches)."""
        return self.head + LANE * len(self.lanes) + STRIP


@dataclass(frozen=True, slots=True)
class Drawing:
    """A row being drawn."""

    pen: Pen
    row: Row
    top: float
    """Where the row begins (inches)."""
    words: Callable[[str, str], str]
    """Returns a text as the fonts can draw it, or the second one if they can't."""
    long: bool
    """True if the call takes minutes."""

    def draw(self) -> None:
        """Draw everything, from the ground up."""
        if self.row.stretch.scale.breaks:
            self._pauses()
        else:
            self._ticks()
        self._waits()
        for lane in self.row.lanes:
            self._lane(lane, [bar for bar in self.row.bars if bar.lane == lane])
        self._flags()

    def _y(self, lane: Lane) -> float:
        """Return the middle of a lane."""
        below_waits = lane in ("agent", "tools", "extraction")
        return self.top + self.row.head + LANE * (self.row.lanes.index(lane) + 0.5) + STRIP * below_waits

    @property
    def _bottom(self) -> float:
        return self.top + self.row.height

    @property
    def _flagged(self) -> list[float]:
        return [self.row.stretch.x(flag.at) for flag in self.row.flags]

    # Time

    def _ticks(self) -> None:
        stretch = self.row.stretch
        start, end = stretch.places
        distance = step(0.9 / stretch.inches)
        for index in range(-int(-start // distance), int(end // distance) + 1):
            x, words = stretch.at(index * distance), clock(index * distance, distance, self.long)
            self.pen.line(x, self.top + HEAD, x, self._bottom, RULE, 0.6)
            if x + self.pen.width(words, SMALL) / 2 < RIGHT + 0.1:
                self.pen.text(x, self.top + HEAD / 2, words, size=SMALL, color=QUIET, align="center")

    def _pauses(self) -> None:
        """Shade the pauses that are cut short, and write how long they were."""
        stretch, top = self.row.stretch, self.top + self.row.head
        for index in stretch.scale.breaks:
            start, end = stretch.scale.moments[index : index + 2]
            if not stretch.meets((start, end)):
                continue
            x, to_x = stretch.x(start), stretch.x(end)
            self.pen.box(x, (top + self._bottom) / 2, to_x, self._bottom - top, fill=SHADE)
            for words in (f"{duration(end - start)} pause", duration(end - start)):
                if self.pen.width(words, SMALL) < to_x - x + 2 * SPACE:
                    self.pen.text((x + to_x) / 2, self.top + HEAD / 2, words, size=SMALL, color=QUIET, align="center")
                    break

    def _waits(self) -> None:
        """Draw each wait as a line with its milliseconds, between the lanes of caller and agent."""
        stretch, y, taken = self.row.stretch, self._y("caller") + LANE / 2 + STRIP / 2, LEFT
        following = [*(stretch.x(start) for start, _ in self.row.waits[1:]), RIGHT]
        for (start, end), limit in zip(self.row.waits, following, strict=False):
            x, to_x, long = stretch.x(start), stretch.x(end), end - start >= LONG_WAIT
            color = WARN if long else QUIET
            self.pen.line(x, y, to_x, y, color, 1.6 if long else 1.0)
            self.pen.line(x, y - 0.045, x, y + 0.045, color)
            self.pen.line(to_x, y - 0.045, to_x, y + 0.045, color)
            words = f"{(end - start) * 1000:,.0f} ms"
            width = self.pen.width(words, SMALL, bold=long) + SPACE
            side = "left" if to_x + width + SPACE < limit else "right" if x - width > taken else None
            taken = to_x + width if side == "left" else to_x
            if side == "left":
                self.pen.text(to_x + SPACE, y, words, size=SMALL, color=color, bold=long)
            elif side == "right":
                self.pen.text(x - SPACE, y, words, size=SMALL, color=color, bold=long, align="right")

    def _flags(self) -> None:
        """Draw what happened at a moment as a line with a word on top, to the side where there is room."""
        stretch, y, taken = self.row.stretch, self.top + HEAD + FLAGS / 2, LEFT - 0.5
        following = [*self._flagged[1:], RIGHT]
        for flag, limit in zip(self.row.flags, following, strict=False):
            x, color = stretch.x(flag.at), BAD if flag.bad else INK
            self.pen.line(x, y - BAR / 2, x, self._bottom, color)
            words = self.pen.fit(self.words(flag.words, "…"), max(limit - x, x - taken) - 2 * SPACE, SMALL)
            width = self.pen.width(words, SMALL) + 2 * SPACE if words else 0.0
            start = x if width <= limit - x else x - width
            taken = start + width
            if words:
                self.pen.box(start, y, start + width, BAR * 0.85, fill=GROUND, edge=color)
                self.pen.text(start + SPACE, y, words, size=SMALL, color=color)

    # Lanes

    def _lane(self, lane: Lane, bars: list[Bar]) -> None:
        stretch, y, free = self.row.stretch, self._y(lane), LEFT
        self.pen.text(LEFT - 0.12, y, NAMES[lane], color=QUIET, align="right")
        following = [*(stretch.x(bar.start) for bar in bars[1:]), RIGHT]
        for bar, limit in zip(bars, following, strict=False):
            x = stretch.x(bar.start)
            lines = self._flagged
            start, stop = max((free, *(at for at in lines if at < x))), min((limit, *(at for at in lines if at > x)))
            taken, end = self._bar(y, bar, start, stop)
            if free < taken:
                self.pen.line(free, y, taken, y, RULE, 0.6)
            free = max(free, end)
        self.pen.line(free, y, max(free, stretch.at(stretch.places[1])), y, RULE, 0.6)

    def _bar(self, y: float, bar: Bar, free: float, limit: float) -> tuple[float, float]:
        """Draw a bar and its words, these between *free* and *limit*; return from where to where the lane is taken."""
        stretch = self.row.stretch
        x, to_x = stretch.x(bar.start), max(stretch.x(bar.end), stretch.x(bar.start) + MOMENT)
        fill, edge, hatch = _look(bar)
        solid = to_x
        if bar.cut is not None:
            solid, to_x = min(max(stretch.x(bar.cut), x + MOMENT), to_x), max(min(to_x, limit), x + MOMENT)
            self.pen.box(min(solid, to_x), y, to_x, BAR, edge=fill, dashed=True)
        self.pen.box(x, y, solid, BAR, fill=fill, edge=edge, hatch=hatch)
        if bar.cut is not None:
            self.pen.line(solid, y - BAR * 0.7, solid, y + BAR * 0.7, INK, 2.0)
        before, after = self._words(y, bar, (x, solid, to_x), free, limit)
        return x - before, to_x + after

    def _words(
        self, y: float, bar: Bar, edges: tuple[float, float, float], free: float, limit: float
    ) -> tuple[float, float]:
        """Write a bar's words into it, beside it, or at least its number; return what is taken before and after it."""
        x, solid, to_x = edges
        number = str(bar.number or "")
        goes_on = not self.row.stretch.holds(bar.start)  # from the row above, where its words stand
        words = number if goes_on else self.words(bar.words, number)
        inside = "" if bar.look == "inaudible" else self.pen.fit(words, min(solid, limit) - x - 2 * SPACE)
        after, before = (
            self.pen.fit(words, min(room, BESIDE)) for room in (limit - to_x - 3 * SPACE, x - free - 2 * SPACE)
        )
        better_beside = bar.lane == "tools" and inside != words == after  # an empty tool bar looks like any other
        if words != number and _tells(inside, words) and not better_beside:
            self.pen.text(x + SPACE, y, inside, color=_ink(bar))
        elif words != number and _tells(after, words):
            self.pen.text(to_x + SPACE, y, after)
            return 0.0, self.pen.width(after) + 2 * SPACE
        elif bar.look != "inaudible" and number and self.pen.width(number, SMALL) < solid - x:
            self.pen.text((x + solid) / 2, y, number, size=SMALL, color=_ink(bar), align="center")
        elif number and self.pen.width(number, SMALL) < limit - to_x - 3 * SPACE:
            self.pen.text(to_x + SPACE, y, number, size=SMALL, color=QUIET)
            return 0.0, self.pen.width(number, SMALL) + 2 * SPACE
        elif before and _tells(before, words):
            self.pen.text(x - SPACE, y, before, align="right")
            return self.pen.width(before) + 2 * SPACE, 0.0
        return 0.0, 0.0


def _tells(part: str, words: str) -> bool:
    """Tell whether *part* of *words* is enough to know them by."""
    return part == words != "" or sum(1 + (east_asian_width(letter) in "WF") for letter in part) >= FEW


def _look(bar: Bar) -> tuple[str, str, str | None]:
    """Return fill, edge and hatch of a bar."""
    if bar.look == "inaudible":
        return GROUND, CALLER, "////"
    if bar.look == "failed":
        return GROUND, BAD, None
    if bar.lane == "tools":
        return GROUND, QUIET, None
    fills = {"caller": CALLER, "operator": OPERATOR, "extraction": EXTRACTION}
    return fills.get(bar.lane, VOICES[bar.voice % len(VOICES)]), "none", None


def _ink(bar: Bar) -> str:
    """Return a colour of words that is read on the bar."""
    if bar.look == "failed":
        return BAD
    return INK if bar.lane == "tools" else WHITE
