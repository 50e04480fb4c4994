"""A page to draw on, in inches from the top left corner, with text that is measured and fits."""

from collections.abc import Sequence
from typing import Literal

from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text

from .html import cut

GROUND, INK, QUIET, RULE = "#fcfcfc", "#1f1f1f", "#5c5c5c", "#dcdcdc"
BODY, SMALL = 8.5, 7.5
"""Sizes of type, in points."""
DOTS = 150
"""Pixels per inch. Text is measured at the size at which it is drawn, since its width does not scale evenly."""
CAP = 0.00505
"""Half of the height of a capital letter (inches per point): letters stand in the middle, not their line."""


class Pen:
    """Draws on a page of its own, later over earlier; every method takes inches.

    Bold words are drawn with the first of *families* alone.
    """

    def __init__(self, width: float, height: float, families: Sequence[str]) -> None:
        self.figure = Figure(figsize=(width, height), facecolor=GROUND, edgecolor=RULE, linewidth=1.5, dpi=DOTS)
        self._renderer: RendererAgg = FigureCanvasAgg(self.figure).get_renderer()  # type: ignore[no-untyped-call]
        self._axes = self.figure.add_axes((0, 0, 1, 1))
        self._axes.set_xlim(0, width)
        self._axes.set_ylim(height, 0)
        self._axes.set_axis_off()
        self._families = list(families)
        self._widths: dict[tuple[str, float, bool], float] = {}

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: float = BODY,
        color: str = INK,
        align: Literal["left", "center", "right"] = "left",
        bold: bool = False,
    ) -> None:
        """Write *words* with the middle of their capitals at *y*."""
        text = self._text(words, size, bold)
        text.set(x=x, y=y + CAP * size, color=color, horizontalalignment=align, zorder=1)
        self._axes.add_artist(text)

    def width(self, words: str, size: float = BODY, *, bold: bool = False) -> float:
        """Return how wide *words* are."""
        key = words, size, bold
        if key not in self._widths:
            text = self._text(*key)
            text.set_figure(self.figure)
            self._widths[key] = text.get_window_extent(self._renderer).width / self.figure.dpi
        return self._widths[key]

    def fit(self, words: str, room: float, size: float = BODY) -> str:
        """Return as much of *words* as fits into *room*, with an ellipsis where they go on; perhaps nothing."""
        if room <= 0 or not words:
            return ""
        if (width := self.width(words, size)) <= room:
            return words
        for length in range(min(int(len(words) * room / width) + 1, len(words) - 1), 1, -1):
            shorter = cut(words, length).rstrip(" .,;:") + "…"
            if self.width(shorter, size) <= room:
                return shorter
        return ""

    def line(self, x: float, y: float, to_x: float, to_y: float, color: str, width: float = 1.0) -> None:
        """Draw a straight line, *width* in points."""
        self._axes.add_artist(Line2D([x, to_x], [y, to_y], color=color, linewidth=width, zorder=1))

    def box(
        self,
        x: float,
        y: float,
        to_x: float,
        height: float,
        *,
        fill: str = "none",
        edge: str = "none",
        dashed: bool = False,
        hatch: str | None = None,
        width: float = 0.9,
    ) -> None:
        """Draw a rectangle with *y* in the middle of its height; its edge is *width* points wide."""
        corner = x, y - height / 2
        box = Rectangle(corner, to_x - x, height, facecolor=fill, edgecolor=edge, linewidth=width, hatch=hatch)
        box.set_zorder(1)
        box.set_linestyle((0, (2.5, 1.5)) if dashed else "-")
        self._axes.add_artist(box)

    def _text(self, words: str, size: float, bold: bool) -> Text:
        # Words are never mathematics: "$5 and $10" is what somebody said. Few fonts of other scripts have a bold face.
        weight, families = ("bold", self._families[:1]) if bold else ("normal", self._families)
        return Text(0, 0, words, fontsize=size, fontfamily=families, fontweight=weight, parse_math=False)
