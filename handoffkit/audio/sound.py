"""A recording, ready to be spoken into a call: it plays in a notebook, and can be made louder or noisier."""

import base64
import io
import math
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ..errors import CannotWrite, SoundLimited, WrongLevel
from .pcm import BYTES_PER_MS, SAMPLE_RATE, SAMPLE_WIDTH
from .wav_file import write_wav

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

SILENT = -120.0
"""dBFS of a recording without any sound; PCM16 holds nothing between this and -91."""
INLINE_SECONDS = 120
"""Seconds that are put into a notebook: 7.7 MB of text."""
_MOST_DB = 100.0
_COLUMNS, _FLOOR_DB, _BARS = 80, -60.0, "▁▂▃▄▅▆▇█"


@dataclass(frozen=True)
class Sound:
    """One recording as PCM16, mono, 24000 Hz; its repr is one line, and in a notebook it can be played.

    Attributes:
        pcm: The sound: two bytes a sample, signed, little-endian.
        name: Its file's name; `bytes` or `array` where there was no file.
        found: What it was before it was converted: `44100 Hz, 16 bit, stereo`.
    """

    pcm: bytes
    name: str = "bytes"
    found: str = "24000 Hz, 16 bit, mono"

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return len(self.pcm) / SAMPLE_WIDTH / SAMPLE_RATE

    @property
    def ms(self) -> int:
        """Milliseconds that it lasts, rounded down."""
        return len(self.pcm) // BYTES_PER_MS

    @property
    def level(self) -> float:
        """dBFS: the root mean square of all its samples, pauses too; full scale has 0, silence -120."""
        return _decibels(_rms(self.pcm))

    @property
    def peak(self) -> float:
        """dBFS of its loudest sample; 0 is the most that fits, -120 stands for silence."""
        from .samples import floats

        return _decibels(float(abs(floats(self.pcm)).max(initial=0)))

    def blocks(self, ms: int = 40) -> Iterator[bytes]:
        """Yield the sound in blocks of *ms* milliseconds; the last one may be shorter."""
        if ms < 1:
            raise ValueError(f"A block lasts at least 1 ms; found {ms!r}.")
        step = ms * BYTES_PER_MS
        return (self.pcm[at : at + step] for at in range(0, len(self.pcm), step))

    def louder(self, db: float) -> "Sound":
        """Return it *db* decibels louder, or quieter where *db* is negative.

        Nothing is ever cut off: where *db* is more than its peaks allow, they reach full scale and no more.

        Warns:
            SoundLimited: It became less loud than was asked.

        Raises:
            WrongLevel: *db* is no number from -100 to 100.
        """
        from .samples import floats, pcm16

        wanted = _checked(db)
        given = wanted if self.peak <= SILENT else min(wanted, max(-self.peak, 0.0))
        if wanted - given > 0.05:
            warnings.warn(SoundLimited(self.name, wanted, given), stacklevel=2)
        return self._with(pcm16(floats(self.pcm) * 10 ** (given / 20)))

    def with_noise(self, db: float, seed: int = 0, *, color: Literal["white", "pink"] = "white") -> "Sound":
        """Return it with noise under it, *db* decibels quieter than its own level (`level`, pauses too).

        The same *seed* gives the same noise. Where both together would be cut off, both become quieter.

        Raises:
            WrongLevel: *db* is no number from -100 to 100, or the recording is silent.
        """
        from .samples import floats, pcm16

        wanted = _checked(db)
        if not (own := _rms(self.pcm)):
            raise WrongLevel(db, "this recording is silent, so no noise has that distance from it")
        hiss = _noise(len(self.pcm) // SAMPLE_WIDTH, seed, color)
        both = floats(self.pcm) + hiss * (own * 10 ** (-wanted / 20))
        return self._with(pcm16(both / max(float(abs(both).max()), 1.0)))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it as a WAV file, over one that is there, and return the path.

        Raises:
            CannotWrite: The folder of *path* is not there, or cannot be written to.
        """
        target = Path(path)
        try:
            write_wav(target, [self.pcm])
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise CannotWrite(target, reason, "Choose another folder, or make it first") from error
        return target

    def _with(self, pcm: bytes) -> "Sound":
        return Sound(pcm, self.name, self.found)

    def __str__(self) -> str:
        from ..views.html import one_line

        level = f"{self.level:.0f}".replace("-", "−")
        return f"<Sound {one_line(self.name, 60)}, {self.seconds:.1f} s, {level} dBFS>"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from ..views.html import escape, tag

        start = self.pcm[: INLINE_SECONDS * 1000 * BYTES_PER_MS]
        data = base64.b64encode(_wav(start)).decode("ascii")
        player = tag("audio", controls="", preload="metadata", src=f"data:audio/wav;base64,{data}")
        rest = (
            f" It plays its first {INLINE_SECONDS} s here; `save` writes all of it."
            if len(start) < len(self.pcm)
            else ""
        )
        words = escape(f"{str(self)[1:-1]}; it was {self.found}.{rest}")
        return tag("div", player, tag("pre", escape(_bars(self.pcm))), tag("div", words))


def _wav(pcm: bytes) -> bytes:
    file = io.BytesIO()
    write_wav(file, [pcm])
    return file.getvalue()


def _decibels(share: float) -> float:
    return max(20 * math.log10(share), SILENT) if share else SILENT


def _rms(pcm: bytes) -> float:
    """Return the root mean square, 1 for full scale; ten minutes are taken a second at a time."""
    from .samples import floats

    step = 1000 * BYTES_PER_MS
    parts = (floats(pcm[at : at + step]) for at in range(0, len(pcm), step))
    return math.sqrt(sum(float(part @ part) for part in parts) / max(len(pcm) // SAMPLE_WIDTH, 1))


def _bars(pcm: bytes) -> str:
    """Return the levels from beginning to end as a row of bars, from -60 dBFS to full scale."""
    step = max(-(-len(pcm) // (_COLUMNS * SAMPLE_WIDTH)) * SAMPLE_WIDTH, SAMPLE_WIDTH)
    levels = (_decibels(_rms(pcm[at : at + step])) for at in range(0, len(pcm), step))
    return "".join(_BARS[round(max(1 - level / _FLOOR_DB, 0) * (len(_BARS) - 1))] for level in levels)


def _checked(db: Any) -> float:
    if isinstance(db, bool) or not isinstance(db, int | float) or not -_MOST_DB <= db <= _MOST_DB:
        raise WrongLevel(db, "it is none")
    return float(db)


def _noise(count: int, seed: int, color: str) -> "npt.NDArray[np.float64]":
    """Return noise with a root mean square of 1; pink noise has the same power in every octave from 20 Hz up."""
    import numpy as np

    noise = np.random.default_rng(seed).standard_normal(count)
    if color == "pink":
        hertz = np.maximum(np.fft.rfftfreq(count, 1 / SAMPLE_RATE), 20)
        noise = np.fft.irfft(np.fft.rfft(noise) / np.sqrt(hertz), count)
    elif color != "white":
        raise ValueError(f"Noise is `white` or `pink`; found {color!r}.")
    return noise / max(math.sqrt(float(noise @ noise) / max(count, 1)), 1e-12)
