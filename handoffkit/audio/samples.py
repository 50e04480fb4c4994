"""Samples of any kind as floats from -1 to 1, mono, and those as PCM16. numpy is loaded with this module."""

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from .pcm import SAMPLE_RATE

Floats = npt.NDArray[np.float32]
FULL = 32768
"""The number that 1.0 is in PCM16."""
FAR = 16.0
"""Floats beyond this are no sound that was too loud: they are numbers of another kind."""


def decode(data: bytes, width: int, encoding: str) -> Floats:
    """Return little-endian samples of a WAV file as floats; *data* holds whole samples of *width* bytes."""
    if encoding == "float":
        with np.errstate(over="ignore"):
            return np.frombuffer(data, f"<f{width}").astype(np.float32)
    if encoding != "int":
        return _table(encoding)[np.frombuffer(data, np.uint8)]
    if width == 3:  # numpy has no such integers: they become the upper bytes of longer ones
        wide = np.zeros((len(data) // 3, 4), np.uint8)
        wide[:, 1:] = np.frombuffer(data, np.uint8).reshape(-1, 3)
        return from_ints(wide.reshape(-1).view("<i4"))
    return from_ints(np.frombuffer(data, "u1" if width == 1 else f"<i{width}"))


def from_ints(values: npt.NDArray[Any]) -> Floats:
    """Return integers as floats: the range of their type becomes -1 to 1, and an unsigned one's middle 0."""
    info = np.iinfo(values.dtype)
    half = 2.0 ** (info.bits - 1)
    return ((values - (half if info.min == 0 else 0.0)) / half).astype(np.float32)


def mono(values: Floats, channels: int) -> Floats:
    """Return the mean of the channels, which lie one after the other in each frame."""
    return values if channels == 1 else values.reshape(-1, channels).mean(axis=1, dtype=np.float32)


def pcm16(values: npt.NDArray[np.floating[Any]]) -> bytes:
    """Return floats as PCM16, rounded; what is beyond -1 to 1 is cut off."""
    whole: npt.NDArray[np.int16] = np.clip(np.rint(values * np.float32(FULL)), -FULL, FULL - 1).astype("<i2")
    return whole.tobytes()


def floats(pcm: bytes) -> npt.NDArray[np.float64]:
    """Return PCM16 as floats from -1 to 1."""
    return np.frombuffer(pcm, "<i2").astype(np.float64) / FULL


class Resampler:
    """Brings mono sound of any rate to 24000 Hz, piece by piece, with soxr at its high quality."""

    def __init__(self, rate: int) -> None:
        import soxr

        same = rate == SAMPLE_RATE
        self._stream = None if same else soxr.ResampleStream(rate, SAMPLE_RATE, 1, dtype="float32", quality="HQ")

    def feed(self, values: Floats) -> bytes:
        """Return the PCM16 that is ready; the last milliseconds are held back until `rest`."""
        return pcm16(values if self._stream is None else self._stream.resample_chunk(values))

    def rest(self) -> bytes:
        """Return what was held back, once nothing more comes."""
        return b"" if self._stream is None else pcm16(self._stream.resample_chunk(np.zeros(0, np.float32), last=True))


class Mender:
    """Holds floats to what sound can be, and counts what it had to change.

    Attributes:
        peak: The largest number, whatever its sign.
    """

    def __init__(self) -> None:
        self.peak, self._strange = 0.0, 0

    def mend(self, values: Floats) -> Floats:
        """Return *values* with 0 for what is no number, cut off at -1 and 1."""
        finite = np.isfinite(values)
        if not finite.all():
            self._strange += int(values.size - finite.sum())
            values = np.where(finite, values, np.float32(0))
        self.peak = max(self.peak, float(np.abs(values).max(initial=0)))
        return np.clip(values, -1, 1)

    @property
    def damage(self) -> str:
        """What was changed, in words; empty if nothing was."""
        strange = f"{self._strange} of its samples are no numbers (NaN or infinite), and became 0"
        beyond = f"its loudest sample is {self.peak:.2f} times what fits, so its peaks were cut off"
        return "; ".join([strange] * bool(self._strange) + [beyond] * (self.peak > 1.001))


@cache
def _table(encoding: str) -> Floats:
    """Return the value of each of the 256 codes of ITU-T G.711: a sign, three bits of segment, four of step."""
    code = np.arange(256)
    if encoding == "A-law":
        code ^= 0x55
        segment, step = code >> 4 & 7, code & 15
        size = np.where(segment == 0, 2 * step + 1, (2 * step + 33) << np.maximum(segment - 1, 0)) * 8
        return (np.where(code & 0x80, size, -size) / FULL).astype(np.float32)
    code ^= 0xFF
    size = (((2 * (code & 15) + 33) << (code >> 4 & 7)) - 33) * 4
    return (np.where(code & 0x80, -size, size) / FULL).astype(np.float32)
