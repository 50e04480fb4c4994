"""Any recording as a `Sound`: the path of a WAV file, bytes, or an array, of any rate, width and number of channels.

A recording is read piece by piece, and never beyond the bytes that are really there, whatever its header claims.
"""

import difflib
import io
import operator
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from ..errors import (
    BadHeader,
    NotAWav,
    SampleRateTwice,
    SoundDamaged,
    SoundEmpty,
    SoundNotFound,
    SoundTooLong,
    SoundUnreadable,
    WrongSampleRate,
)
from .header import WAV_MAGIC, Header, read_header
from .magic import known
from .pcm import SAMPLE_RATE, SAMPLE_WIDTH
from .sound import Sound

if TYPE_CHECKING:
    from .samples import Floats

MAX_SECONDS = 600
"""Seconds that one recording lasts at most."""
LOWEST_RATE, HIGHEST_RATE = 1000, 384_000
"""Hz that a recording may have."""
_PIECE = 1 << 20  # bytes that are converted at a time
_NEAR = 3  # names that are proposed for a missing file

Source = str | os.PathLike[str] | bytes | bytearray | memoryview | Sound | Sequence[Any] | Any
"""What can be loaded; an array has no type of its own here, so that numpy stays unloaded."""


def load(source: Source, *, sample_rate: int | None = None) -> Sound:
    """Return a recording as a `Sound`: PCM16, mono (the mean of its channels), 24000 Hz.

    Args:
        source: The path of a WAV file (8 to 32 bit PCM, float, A-law or µ-law); bytes, a whole WAV file or else PCM16,
            mono; a numpy array or a sequence of numbers, floats from -1 to 1 or integers (int16, int32, uint8; plain
            Python integers count as int16), shaped (n,) or (n, channels). The other way round, (channels, n), is
            taken too where it cannot be mistaken: up to 8 channels of more than 8 samples. A `Sound` stays as it is.
        sample_rate: Hz of an array or of bytes without a header; 24000 if it is not given. A WAV file says its own.

    Warns:
        SoundDamaged: Something is missing or was mended, for example in a file that was cut off.

    Raises:
        AudioError: It cannot be used; its subclasses say why, and what to do. It lasts at most 600 seconds.
    """
    if isinstance(source, Sound):
        return source
    given = None if sample_rate is None else _rate("the recording", sample_rate)
    if isinstance(source, str | os.PathLike):
        sound, damage = _from_path(Path(source), given)
    elif isinstance(source, bytes | bytearray | memoryview):
        sound, damage = _from_bytes(bytes(source), given)
    else:
        sound, damage = _from_array(source, given or SAMPLE_RATE)
    if damage:
        warnings.warn(SoundDamaged(sound.name, damage), stacklevel=2)
    return sound


def _from_path(path: Path, given: int | None) -> tuple[Sound, str]:
    try:
        if not path.exists():
            raise SoundNotFound(path, _near(path), folder=path.parent.is_dir())
        if not path.is_file():
            raise SoundUnreadable(path, "it is a folder" if path.is_dir() else "it is no ordinary file")
        with path.open("rb") as file:
            return _from_wav(file, path.name, given)
    except OSError as error:
        raise SoundUnreadable(path, error.strerror or type(error).__name__) from error


def _near(path: Path) -> list[str]:
    """Return the WAV files beside a missing one whose names are closest to its name, or the first ones."""
    if not path.parent.is_dir():
        return []
    names = sorted(each.name for each in path.parent.iterdir() if each.suffix.lower() == ".wav")
    return [repr(name) for name in difflib.get_close_matches(path.name, names, _NEAR) or names[:_NEAR]]


def _from_bytes(data: bytes, given: int | None) -> tuple[Sound, str]:
    if data[:4] in WAV_MAGIC:
        return _from_wav(io.BytesIO(data), "bytes", given)
    if found := known(data):
        raise NotAWav("bytes", found)
    if not data:
        raise SoundEmpty("bytes", "there are none")
    odd = "its last byte is half a sample, and was left out" if len(data) % SAMPLE_WIDTH else ""
    plain = Header(given or SAMPLE_RATE, 1, SAMPLE_WIDTH, "int", 0, len(data), odd)
    return _sound(io.BytesIO(data), plain, "bytes")


def _from_wav(file: BinaryIO, name: str, given: int | None) -> tuple[Sound, str]:
    header = read_header(file, name)
    _rate(name, header.rate)
    if given not in (None, header.rate):
        raise SampleRateTwice(name, header.rate, given or 0)
    return _sound(file, header, name)


def _sound(file: BinaryIO, header: Header, name: str) -> tuple[Sound, str]:
    from .samples import FAR, Mender

    frames = header.size // header.frame
    if not frames:
        raise SoundEmpty(name, "its header is there, and no sound follows")
    _check_length(name, frames / header.rate)
    mender = Mender()
    pcm = _converted(_pieces(file, header, mender), header.rate, name)
    if mender.peak > FAR:
        raise BadHeader(name, f"its numbers should be floats up to 1, and reach {mender.peak:.3g}")
    return Sound(pcm, name, str(header)), "; ".join(filter(None, (header.damage, mender.damage)))


def _from_array(source: Any, rate: int) -> tuple[Sound, str]:
    from .arrays import as_floats, shape
    from .samples import Mender

    array, channels = shape(source)
    _check_length("array", array.shape[0] / rate)
    mender = Mender()
    values = mender.mend(as_floats(array)).mean(axis=1, dtype="float32")
    kind = {1: "mono", 2: "stereo"}.get(channels, f"{channels} channels")
    return Sound(_converted([values], rate, "array"), "array", f"{rate} Hz, {array.dtype}, {kind}"), mender.damage


def _pieces(file: BinaryIO, header: Header, mender: Any) -> Iterator["Floats"]:
    """Yield the sound of a file as mono floats; one that shrinks meanwhile just ends earlier."""
    from .samples import decode, mono

    file.seek(header.offset)
    left = header.size - header.size % header.frame
    step = max(_PIECE // header.frame, 1) * header.frame
    while data := file.read(min(step, left)):
        left -= len(data)
        values = decode(data[: len(data) - len(data) % header.frame], header.width, header.encoding)
        yield mono(mender.mend(values), header.channels)


def _converted(pieces: Iterable["Floats"], rate: int, name: str) -> bytes:
    from .samples import Resampler

    resampler, pcm = Resampler(rate), bytearray()
    for piece in pieces:
        pcm += resampler.feed(piece)
    pcm += resampler.rest()
    if not pcm:
        raise SoundEmpty(name, "it is shorter than one sample at 24000 Hz")
    return bytes(pcm)


def _check_length(name: str, seconds: float) -> None:
    if seconds > MAX_SECONDS:
        raise SoundTooLong(name, seconds, MAX_SECONDS)


def _rate(name: str, found: Any) -> int:
    try:
        rate = int(found) if isinstance(found, float) and found.is_integer() else operator.index(found)
    except TypeError:
        rate = 0
    if isinstance(found, bool) or not LOWEST_RATE <= rate <= HIGHEST_RATE:
        raise WrongSampleRate(name, found, LOWEST_RATE, HIGHEST_RATE)
    return rate
