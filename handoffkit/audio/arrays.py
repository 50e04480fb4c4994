"""Arrays and sequences of numbers as sound. numpy is loaded with this module."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import BadArray, SoundEmpty
from .samples import FAR, Floats, from_ints

MOST_CHANNELS = 8
"""Channels that an array has at most; the other axis has more samples than that."""
_INT16 = np.iinfo(np.int16)


def shape(source: Any) -> tuple[npt.NDArray[Any], int]:
    """Return *source* as an array of (n, channels), its numbers as they are, and the channels.

    Raises:
        BadArray: It is no array of numbers, or of a shape that can be read in two ways or in none.
        SoundEmpty: It has no numbers.
    """
    try:
        array = np.asarray(source)
    except Exception as error:  # whatever somebody's `__array__` raises
        raise BadArray(f"{_kind(source)} that is no array ({error})", "Make it an array: `np.asarray(...)`") from error
    if array.dtype.kind not in "fiu":
        raise BadArray(f"{_kind(source)}, as an array of {array.dtype}", "Give numbers")
    if array.ndim == 1:
        array = array[:, np.newaxis]
    if array.ndim != 2:
        raise BadArray(f"the shape {array.shape}", "Give one recording, without further dimensions")
    if not array.size:
        raise SoundEmpty("array", f"its shape is {np.shape(source)}")
    array = array if _upright(*array.shape) else array.T
    return array, array.shape[1]


def _upright(rows: int, columns: int) -> bool:
    """Return whether the columns are the channels.

    Raises:
        BadArray: Either could be, or neither.
    """
    if columns == 1 or rows == 1:
        return columns == 1
    few = columns <= MOST_CHANNELS, rows <= MOST_CHANNELS
    if few[0] == few[1]:
        raise BadArray(f"the shape {(rows, columns)}", "Take the mean of the channels yourself: `array.mean(axis=...)`")
    return few[0]


def as_floats(array: npt.NDArray[Any]) -> Floats:
    """Return numbers as floats from -1 to 1.

    Raises:
        BadArray: They are no sound: not finite, of another type, or far beyond what fits.
    """
    if array.dtype.kind != "f":
        return from_ints(_narrow(array))
    if not np.isfinite(array).all():
        count = int(array.size - np.isfinite(array).sum())
        raise BadArray(f"{count} numbers that are NaN or infinite", "Replace them: `np.nan_to_num(array)`")
    peak = float(np.abs(array).max())
    if peak > FAR:
        advice = "If they are PCM16, write `array.astype('int16')`; else divide them by their largest"
        raise BadArray(f"floats up to {peak:.6g}", advice)
    return array.astype(np.float32)


def _narrow(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return integers of a type whose range is full volume; plain Python ones become int16, if they fit."""
    if array.dtype in (np.uint8, np.int8, np.int16, np.int32):
        return array
    low, high = int(array.min()), int(array.max())
    if low < _INT16.min or high > _INT16.max or array.dtype.kind == "u":
        advice = "Say what is full volume: `.astype('int16')`, `.astype('int32')`, or floats from -1 to 1"
        raise BadArray(f"{array.dtype} from {low} to {high}", advice)
    return array.astype(np.int16)


def _kind(source: Any) -> str:
    kind = type(source)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"
