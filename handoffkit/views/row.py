"""One row of the timeline: axis, flags, lanes with their bars, and the waits between a caller and the reply."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from unicodedata import east_asian_width

from .html import one_line
from .lanes import Bar, Flag, Lane, Score
from .pen import GROUND, INK, QUIET, RULE, SMALL, Pen
from .scale import Scale, Span, clock, duration, step
from .voices import NAME_LIMIT, Reign, told_apart

LEFT, RIGHT = 0.95, 9.8
"""Where lanes begin and end (inches)."""
HEAD, FLAGS, LANE, STRIP = 0.24, 0.26, 0.3, 0.18
"""Heights (inches): axis, flags, a lane, a strip of waits or of instructions in force."""
REIGN = 0.2
"""Height (inches) of the strip that tells whose instructions were in force."""
BAR, MOMENT, SPACE, BESIDE, GAP = 0.22, 0.04, 0.06, 3.4, 0.035
"""Inches: height of a bar, its least width, the space at each side of words, the most that words beside a bar take, the
space between two words."""
FEW = 6
"""Fewer letters than this of something longer tell nothing: the turn's number tells more. Wide ones count as two."""
LONG_WAIT = 1.0
"""A wait (s) from which on it stands out."""

WHITE, SHADE, WARN, BAD = "#ffffff", "#f0f0f0", "#8a4b00", "#b3261e"
CALLER, OPERATOR, EXTRACTION = "#6b6b6b", "#7a5f00", "#3f5b6d"
VOICES, FURTHER = ("#1667b8", "#93418f", "#00716a", "#a1500a"), ("#4d7a12", "#c2185b")
"""Colours of agents; the further ones are needed seldom, and cost every other picture steps between its own."""
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
class Wait:
    """How long a caller waited for a reply."""

    span: Span
    to: str = ""
    """Who it was that the caller waited for, where somebody took the call over; drawn if there is room."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the picture of a score."""

    stretch: Stretch
    bars: list[Bar]
    waits: list[Wait]
    """Those before each first reply."""
    longer: list[Wait]
    """Those for a new agent, while the old one spoke."""
    flags: list[Flag]
    reigns: list[Reign]
    names: list[str]
    """What each voice is called: the agent's name, else the beginning of its instructions."""
    lanes: list[Lane]
    """The lanes that are drawn, from the top."""

    @classmethod
    def of(cls, score: Score, stretch: Stretch) -> "Row":
        """Return the row with the part of *score* that stands in *stretch*."""
        bars = sorted((bar for bar in score.bars if stretch.meets(bar.span)), key=lambda bar: bar.start)
        used = {bar.lane for bar in bars} | {"caller", "agent"}
        flags = sorted((flag for flag in score.flags if stretch.holds(flag.at)), key=lambda flag: flag.at)
        new = {each.wait: each.voice for each in score.takeovers}
        waits = [_wait(span, score, new.get(span)) for span in sorted(score.gaps) if stretch.meets(span)]
        longer = [_wait(span, score, voice) for span, voice in sorted(score.waits) if stretch.meets(span)]
        reigns = [reign for reign in score.reigns if stretch.meets((reign.start, reign.end))]
        lanes = [lane for lane in NAMES if lane in used]
        return cls(stretch, bars, waits, longer, flags, reigns, _names(score), lanes)

    @property
    def head(self) -> float:
        """How high axis and flags are (inches)."""
        return HEAD + FLAGS * bool(self.flags)

    @property
    def height(self) -> float:
        """How high the row is (inches)."""
        return self.head + LANE * len(self.lanes) + self.strips + REIGN * bool(self.reigns)

    @property
    def strips(self) -> float:
        """How high the waits are that stand between caller and agent (inches)."""
        return STRIP * (1 + bool(self.longer))


def _names(score: Score) -> list[str]:
    told = told_apart(score.voices)
    return [
        one_line(voice.name, NAME_LIMIT) or (f"“{instructions[0]}”" if instructions else "")
        for voice, instructions in zip(score.voices, told, strict=True)
    ]


def _wait(span: Span, score: Score, voice: int | None) -> Wait:
    """Return the wait before a reply; *voice*: for an agent that takes the call over."""
    name = "" if voice is None else one_line(score.voices[voice].name, NAME_LIMIT) or "the new agent"
    return Wait(span, name and f"to {name}")


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
        self._waits(self.row.waits, STRIP / 2)
        self._waits(self.row.longer, STRIP * 1.5)
        for lane in self.row.lanes:
            self._lane(lane, [bar for bar in self.row.bars if bar.lane == lane])
        self._reigns()
        self._flags()

    def _y(self, lane: Lane) -> float:
        """Return the middle of a lane."""
        below = self.row.strips * (lane in ("agent", "tools", "extraction"))
        below += REIGN * bool(self.row.reigns) * (lane in ("tools", "extraction"))
        return self.top + self.row.head + LANE * (self.row.lanes.index(lane) + 0.5) + below

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

    def _waits(self, waits: list[Wait], below: float) -> None:
        """Draw each wait as a line with its milliseconds, between the lanes of caller and agent."""
        stretch, y, taken = self.row.stretch, self._y("caller") + LANE / 2 + below, LEFT
        following = [*(stretch.x(wait.span[0]) for wait in waits[1:]), RIGHT]
        for wait, limit in zip(waits, following, strict=False):
            start, end = wait.span
            x, to_x, long = stretch.x(start), stretch.x(end), end - start >= LONG_WAIT
            color = WARN if long else QUIET
            self.pen.line(x, y, to_x, y, color, 1.6 if long else 1.0)
            self.pen.line(x, y - 0.045, x, y + 0.045, color)
            self.pen.line(to_x, y - 0.045, to_x, y + 0.045, color)
            words = f"{(end - start) * 1000:,.0f} ms"
            width = self.pen.width(words, SMALL, bold=long)
            to, before, room = self._beside(self.words(wait.to, ""), width, (taken, x), (to_x, limit))
            if room:
                at = x - SPACE - room if before else to_x + SPACE
                self.pen.text(at, y, words, size=SMALL, color=color, bold=long)
                self.pen.text(at + width + GAP, y, to, size=SMALL, color=color)
            taken = to_x if before or not room else to_x + room + SPACE

    def _beside(self, to: str, width: float, before: Span, after: Span) -> tuple[str, bool, float]:
        """Find room for words of some *width* and for *to*, if need be without it, *before* or *after* a wait (inches).

        Returns:
            *to* as far as there is room for it, whether they stand before the wait, and how wide they are, 0 for none.
        """
        crossed = ("", False, 0.0)
        for words in dict.fromkeys((to, "")):
            wide = width + (self.pen.width(words, SMALL) + GAP) * bool(words)
            room = wide + SPACE
            if after[0] + room + SPACE < after[1]:
                if self._is_free(after[0], after[0] + room):
                    return words, False, wide
                crossed = crossed if crossed[2] else (words, False, wide)
            if before[1] - room > before[0]:
                if self._is_free(before[1] - room, before[1]):
                    return words, True, wide
                crossed = crossed if crossed[2] else (words, True, wide)
        return crossed

    def _is_free(self, start: float, end: float) -> bool:
        """Tell whether no line of a handoff stands between two places (inches)."""
        lines = (self.row.stretch.x(flag.at) for flag in self.row.flags if flag.voice is not None)
        return not any(start < at < end for at in lines)

    def _reigns(self) -> None:
        """Draw whose instructions were in force when: a line in the colour of their agent, and its name under it."""
        if not self.row.reigns:
            return
        stretch, y = self.row.stretch, self._y("agent") + LANE / 2
        self.pen.text(LEFT - 0.12, y + REIGN / 2, "Instructions", size=SMALL, color=QUIET, align="right")
        for reign in self.row.reigns:
            x, to_x = stretch.x(reign.start), stretch.x(reign.end)
            self.pen.line(x, y + 0.02, max(to_x - 0.02, x + 0.01), y + 0.02, voice_color(reign.voice), 3.0)
            at, words = self._called(reign, x, to_x)
            self.pen.text(at, y + REIGN * 0.6, words, size=SMALL, color=voice_color(reign.voice))

    def _called(self, reign: Reign, x: float, to_x: float) -> tuple[float, str]:
        """Return where between *x* and *to_x* (inches) the name of who has the call stands, and as much as fits."""
        number = str(reign.voice + 1)
        name = self.words(self.row.names[reign.voice], "")
        rooms = list(pairwise([x, *(at for at in self._flagged if x < at < to_x), to_x]))
        whole = f"{number} {name}".rstrip()
        fits = [start for start, end in rooms if self.pen.width(whole, SMALL) < end - start - SPACE]
        if fits:
            return fits[0] + 0.02, whole
        start, end = max(rooms, key=lambda room: room[1] - room[0])
        words = self.pen.fit(whole, end - start - SPACE, SMALL)
        if len(words) < len(number) + FEW:
            words = number if self.pen.width(number, SMALL) < end - start else ""
        return start + 0.02, words

    def _flags(self) -> None:
        """Draw what happened at a moment as a line with a word on top, to the side where there is room."""
        stretch, y, taken = self.row.stretch, self.top + HEAD + FLAGS / 2, LEFT - 0.5
        following = [*self._flagged[1:], RIGHT]
        for flag, limit in zip(self.row.flags, following, strict=False):
            x, color = stretch.x(flag.at), BAD if flag.bad else INK
            if flag.voice is not None:
                color = voice_color(flag.voice)
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
            self.pen.box(min(solid, to_x), y, to_x, BAR, edge=fill if edge == "none" else edge, dashed=True)
        self.pen.box(x, y, solid, BAR, fill=fill, edge=edge, hatch=hatch, width=1.8 if bar.look == "late" else 0.9)
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
    if bar.look == "late":
        return GROUND, voice_color(bar.voice), None
    fills = {"caller": CALLER, "operator": OPERATOR, "extraction": EXTRACTION}
    return fills.get(bar.lane, voice_color(bar.voice)), "none", None


def voice_color(voice: int) -> str:
    """Return the colour of an agent: from the seventh on, colours come again, and numbers tell them apart."""
    colors = VOICES + FURTHER
    return colors[voice % len(colors)]


def _ink(bar: Bar) -> str:
    """Return a colour of words that is read on the bar."""
    if bar.look == "failed":
        return BAD
    return INK if bar.lane == "tools" or bar.look == "late" else WHITE
