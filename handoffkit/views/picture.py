"""The timeline as a picture: rows that are read like lines of text, and small print under them.

Hues tell speakers apart and differ in lightness, too; lane, shape or a word always says the same. The ground is light
and has an edge, so that the picture stands on a dark page as a card.
"""

from collections.abc import Callable, Iterator
from math import ceil

from matplotlib.figure import Figure

from .fonts import BASE, EMOJI, Fonts, choose, drawable, package
from .html import one_line
from .lanes import Score
from .pen import QUIET, SMALL, Pen
from .row import LEFT, RIGHT, Drawing, Row, Stretch, voice_color
from .scale import Scale, duration, merged, rows, scale, step
from .voices import NAME_LIMIT, WORDS, told_apart

WIDTH, MARGIN, GAP, LINE = 10.0, 0.1, 0.14, 0.19
"""Inches: width of the page, space at its edges and under a row, height of a line of small print."""
MOST_ROWS, TURNS_PER_ROW, SECONDS_PER_ROW = 8, 14, 75.0


def draw(score: Score) -> Figure:
    """Return the picture of *score*; if nothing is in it, a picture that says so."""
    if not score.bars:
        return _empty(score)
    times = scale(score.busy)
    layout = _rows(score, times)
    fonts = choose(drawable(one_line(text, WORDS)) for text in _texts(score))

    def words(text: str, instead: str) -> str:
        shown = drawable(one_line(text, WORDS))
        return shown if fonts.draws(shown) else instead

    notes = [*_voices(score, words), *_notes(score, fonts)]
    foot = MARGIN + sum(row.height + GAP for row in layout)
    pen = Pen(WIDTH, foot + LINE * (len(notes) + bool(times.breaks)) + MARGIN, fonts.families)
    top = MARGIN
    for row in layout:
        Drawing(pen, row, top, words, times.length >= 120).draw()
        top += row.height + GAP
    if times.breaks:
        _ruler(pen, foot + LINE / 2, layout[0].stretch.inches)
        foot += LINE
    for number, (color, note) in enumerate(notes):
        y = foot + LINE * (number + 0.5)
        if color:
            pen.box(LEFT, y, LEFT + 0.1, 0.1, fill=color)
        pen.text(LEFT + 0.16 * bool(color), y, pen.fit(note, RIGHT - LEFT - 0.2, SMALL), size=SMALL, color=QUIET)
    return pen.figure


def _empty(score: Score) -> Figure:
    words = "Nothing has been said yet: the timeline is empty."
    if score.seeded:
        words = f"Nothing has been said yet, apart from {_turns(score.seeded)} of history."
    pen = Pen(WIDTH, 0.6, [BASE])
    pen.text(WIDTH / 2, 0.3, words, color=QUIET, align="center")
    return pen.figure


def _rows(score: Score, times: Scale) -> list[Row]:
    """Return the rows, more for a longer call, up to a limit: they all run at the same pace."""
    starts = [times.place(start) for start, _ in merged(score.busy)[1:]]
    turns = sum(bar.number > 0 for bar in score.bars)
    count = max(1, ceil(turns / TURNS_PER_ROW), ceil(times.length / SECONDS_PER_ROW))
    places = rows(times.length, min(count, MOST_ROWS), starts)
    inches = (RIGHT - LEFT) / max(end - start for start, end in places)
    return [Row.of(score, Stretch(times, each, each is places[-1], inches)) for each in places]


def _texts(score: Score) -> Iterator[str]:
    yield from (bar.words for bar in score.bars)
    yield from (flag.words for flag in score.flags)
    for voice in score.voices:
        yield from (voice.name, *voice.instructions)


def _voices(score: Score, words: Callable[[str, str], str]) -> Iterator[tuple[str, str]]:
    """Yield a colour and a line for each agent, or each of the instructions spoken under, if there are several."""
    several = score.voices if len(score.voices) > 1 else ()
    for number, (voice, instructions) in enumerate(zip(several, told_apart(several), strict=True)):
        who = f"{number + 1} " if score.reigns else ""
        who += f"{name}, " if (name := words(one_line(voice.name, NAME_LIMIT), "…")) else ""
        told = ", then ".join(f"“{words(each, '…')}”" for each in instructions)
        yield voice_color(number), who + (f"under the instructions {told}" if told else "under no instructions")


def _notes(score: Score, fonts: Fonts) -> Iterator[tuple[str, str]]:
    if fonts.missing:
        yield "", "No font on this machine has the letters of some turns: they show their number. Install one for:"
        yield "", "; ".join(map(_advice, fonts.missing))
    if any(bar.look == "late" for bar in score.bars):
        yield "", "In outline: said after a handoff, under the instructions before it."
    if score.seeded:
        yield "", f"Before this: {_turns(score.seeded)} of history, with no time of their own."


def _advice(script: str) -> str:
    name = script if script in ("CJK", EMOJI) else script.capitalize()
    return f"{name} (Debian: {found})" if (found := package(script)) else f"{script} characters (there is none)"


def _turns(number: int) -> str:
    return f"{number} seeded turn{'s' * (number != 1)}"


def _ruler(pen: Pen, y: float, inches: float) -> None:
    """Draw how long a while is, since pauses are cut short."""
    while_ = step(0.4 / inches)
    to_x = LEFT + while_ * inches
    pen.line(LEFT, y, to_x, y, QUIET)
    for x in (LEFT, to_x):
        pen.line(x, y - 0.04, x, y + 0.04, QUIET)
    words = f"{duration(while_)}; pauses in which nothing happened are cut short"
    pen.text(to_x + 0.08, y, words, size=SMALL, color=QUIET)
