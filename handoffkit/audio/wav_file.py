"""WAV files of our own form, as saved calls have them: written from blocks, read whole or in part."""

import io
import wave
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from ..errors import AudioError, NotOurSound
from .header import Header, read_header
from .pcm import SAMPLE_RATE, SAMPLE_WIDTH


def write_wav(path: Path, blocks: Iterable[bytes]) -> int:
    """Write *blocks* of PCM16 (mono, 24000 Hz) as one WAV file, and return its bytes of sound."""
    with path.open("wb") as file:
        return _write(file, blocks)


def wav_bytes(pcm: bytes) -> bytes:
    """Return PCM16 (mono, 24000 Hz) as the bytes of a WAV file."""
    file = io.BytesIO()
    _write(file, [pcm])
    return file.getvalue()


def read_wav(path: Path) -> bytes:
    """Return the sound of a WAV file as PCM16, mono, 24000 Hz; of a file that was cut off, what is there.

    Raises:
        NotOurSound: It is no WAV file, or of another rate, width or number of channels.
    """
    header = _header(path)
    if (header.rate, header.width, header.channels, header.encoding) != (SAMPLE_RATE, SAMPLE_WIDTH, 1, "int"):
        raise NotOurSound(path, f"{header.rate} Hz, {8 * header.width} bits, {header.channels} channels")
    with path.open("rb") as file:
        file.seek(header.offset)
        return file.read(header.size - header.size % SAMPLE_WIDTH)


def wav_data(path: Path) -> tuple[int, int]:
    """Return where in a WAV file the sound begins, and how many bytes of it there are.

    Raises:
        NotOurSound: It is no WAV file.
    """
    header = _header(path)
    return header.offset, header.size


def _header(path: Path) -> Header:
    with path.open("rb") as file:
        try:
            return read_header(file, path.name)
        except AudioError as error:
            raise NotOurSound(path, f"no WAV file that can be read ({error})") from error


def _write(target: BinaryIO, blocks: Iterable[bytes]) -> int:
    size = 0
    with wave.open(target, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(SAMPLE_WIDTH)
        file.setframerate(SAMPLE_RATE)
        for block in blocks:
            file.writeframesraw(block)
            size += len(block)
    return size
