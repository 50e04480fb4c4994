"""How loud sound is, in dBFS, and noise of a known level. numpy is loaded with this module."""

import math

import numpy as np
import numpy.typing as npt

from .pcm import BYTES_PER_MS, SAMPLE_RATE, SAMPLE_WIDTH
from .samples import floats

SILENT = -120.0
"""dBFS of what has no sound at all; the quietest that PCM16 holds is -90."""
_LOWEST_HZ = 20  # below it pink noise would grow without end, and nobody hears it


def decibels(share: float) -> float:
    """Return a share of full scale in dBFS."""
    return max(20 * math.log10(share), SILENT) if share else SILENT


def rms(pcm: bytes) -> float:
    """Return the root mean square as a share of full scale; long sound is taken a second at a time."""
    step = 1000 * BYTES_PER_MS
    parts = (floats(pcm[at : at + step]) for at in range(0, len(pcm), step))
    return math.sqrt(sum(float(part @ part) for part in parts) / max(len(pcm) // SAMPLE_WIDTH, 1))


def noise(count: int, seed: int, color: str) -> npt.NDArray[np.float64]:
    """Return *count* samples of noise with a root mean square of 1, the same for the same *seed*.

    White noise has the same power at every Hz, pink noise in every octave from 20 Hz up.
    """
    values = np.random.default_rng(seed).standard_normal(count)
    if color == "pink":
        hertz = np.maximum(np.fft.rfftfreq(count, 1 / SAMPLE_RATE), _LOWEST_HZ)
        values = np.fft.irfft(np.fft.rfft(values) / np.sqrt(hertz), count)
    elif color != "white":
        raise ValueError(f"Noise is `white` or `pink`; found {color!r}.")
    return values / max(math.sqrt(float(values @ values) / max(count, 1)), 1e-12)
