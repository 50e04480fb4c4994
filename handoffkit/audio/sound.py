"""A recording, ready to be spoken into a call: it plays in a notebook, and can be made louder or noisier."""

import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from ..errors import CannotWrite, SoundLimited, WrongLevel
from .pcm import BYTES_PER_MS, SAMPLE_RATE, SAMPLE_WIDTH
from .wav_file import write_wav

_MOST_DB = 100.0


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

    def __post_init__(self) -> None:
        if len(self.pcm) % SAMPLE_WIDTH:
            raise ValueError(
                f"PCM16 has two bytes a sample; found {len(self.pcm)} bytes. `audio.load` takes any bytes."
            )

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
        from .levels import decibels, rms

        return decibels(rms(self.pcm))

    @property
    def peak(self) -> float:
        """dBFS of its loudest sample; 0 is the most that fits, -120 stands for silence."""
        from .levels import decibels
        from .samples import floats

        return decibels(float(abs(floats(self.pcm)).max(initial=0)))

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
        given = min(wanted, max(-self.peak, 0.0))
        if wanted - given > 0.05:
            warnings.warn(SoundLimited(self.name, wanted, given), stacklevel=2)
        return self._with(pcm16(floats(self.pcm) * 10 ** (given / 20)))

    def with_noise(self, db: float, seed: int = 0, *, color: Literal["white", "pink"] = "white") -> "Sound":
        """Return it with noise under it, *db* decibels quieter than its own level (`level`, pauses too).

        The same *seed* gives the same noise. Where both together would be cut off, both become quieter.

        Raises:
            WrongLevel: *db* is no number from -100 to 100, or the recording is silent.
        """
        from .levels import noise, rms
        from .samples import floats, pcm16

        wanted = _checked(db)
        if not (own := rms(self.pcm)):
            raise WrongLevel(db, "this recording is silent, so no noise has that distance from it")
        hiss = noise(len(self.pcm) // SAMPLE_WIDTH, seed, color)
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
        from .player import player

        return player(self)


def _checked(db: Any) -> float:
    if isinstance(db, bool) or not isinstance(db, int | float) or not -_MOST_DB <= db <= _MOST_DB:
        raise WrongLevel(db, "that is none")
    return float(db)
