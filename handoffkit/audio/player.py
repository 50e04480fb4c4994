"""A recording in a notebook: the browser's own player, its levels as bars, and one line of words.

GitHub and untrusted notebooks strip the player; the bars and the words are text, and stay.
"""

import base64
from typing import TYPE_CHECKING

from ..views.html import Markup, escape, tag
from .levels import decibels, rms
from .pcm import BYTES_PER_MS, SAMPLE_WIDTH
from .wav_file import wav_bytes

if TYPE_CHECKING:
    from .sound import Sound

INLINE_SECONDS = 120
"""Seconds that are put into a notebook: 7.7 MB of text."""
_COLUMNS, _FLOOR_DB, _BARS = 72, -60.0, "▁▂▃▄▅▆▇█"


def player(sound: "Sound") -> Markup:
    """Return *sound* as HTML that plays it, or its first two minutes."""
    start = sound.pcm[: INLINE_SECONDS * 1000 * BYTES_PER_MS]
    data = base64.b64encode(wav_bytes(start)).decode("ascii")
    audio = tag("audio", controls="", preload="metadata", src=f"data:audio/wav;base64,{data}")
    rest = f" Its first {INLINE_SECONDS} s can be played here; `save` writes it all."
    words = f"{str(sound)[1:-1]}; it was {sound.found}.{rest if len(start) < len(sound.pcm) else ''}"
    return tag("div", audio, tag("pre", escape(bars(sound.pcm))), tag("div", escape(words)))


def bars(pcm: bytes) -> str:
    """Return the levels from beginning to end as a row of bars, from -60 dBFS to full scale."""
    step = max(-(-len(pcm) // (_COLUMNS * SAMPLE_WIDTH)), 1) * SAMPLE_WIDTH
    levels = (decibels(rms(pcm[at : at + step])) for at in range(0, len(pcm), step))
    return "".join(_BARS[round(max(1 - level / _FLOOR_DB, 0) * (len(_BARS) - 1))] for level in levels)
