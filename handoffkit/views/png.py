"""A figure as PNG with few colours: a notebook carries a third of the bytes, and flat colours stay what they are."""

from functools import lru_cache
from io import BytesIO

from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from PIL import Image

from .pen import GROUND, INK, QUIET, RULE
from .row import BAD, CALLER, EXTRACTION, FURTHER, OPERATOR, SHADE, VOICES, WARN, WHITE

STEPS = 7
"""Steps from one colour to another, for the edges of letters."""


def png(figure: Figure, voices: int = 1) -> bytes:
    """Return *figure*, in which so many agents have colours, as PNG: the same bytes for the same figure."""
    drawn, file = BytesIO(), BytesIO()
    figure.savefig(drawn, format="png")
    with Image.open(drawn) as image:
        few = image.convert("RGB").quantize(palette=_palette(voices > len(VOICES)), dither=Image.Dither.NONE)
        few.save(file, format="png", optimize=True)
    return file.getvalue()


@lru_cache(maxsize=2)
def _palette(further: bool) -> Image.Image:
    """Return the colours that are drawn, and those between them and what they stand on."""
    fills = (CALLER, OPERATOR, EXTRACTION, *VOICES, *(FURTHER if further else ()))
    pairs = [(color, GROUND) for color in (INK, QUIET, RULE, SHADE, BAD, WARN, *fills)]
    pairs += [(fill, WHITE) for fill in fills] + [(INK, SHADE)]
    colors = dict.fromkeys(_between(*pair, step) for pair in pairs for step in range(STEPS + 1))
    image = Image.new("P", (1, 1))
    image.putpalette([value for color in colors for value in color])
    return image


def _between(color: str, other: str, step: int) -> tuple[int, ...]:
    both = zip(to_rgb(color), to_rgb(other), strict=True)
    return tuple(round(255 * (one + (two - one) * step / STEPS)) for one, two in both)
