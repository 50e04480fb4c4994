"""Sound as bytes: PCM16, mono, 24000 Hz everywhere, in WAV files where it rests. Bytes in, bytes out."""

import struct
import wave
from collections.abc import Iterable
from pathlib import Path

from .errors import NotOurSound

SAMPLE_RATE = 24_000
"""Hz: what a realtime session hears and speaks."""
SAMPLE_WIDTH = 2
"""Bytes of a sample: 16 bits, signed, little-endian."""
BYTES_PER_MS = SAMPLE_RATE * SAMPLE_WIDTH // 1000


def duration_ms(size: int) -> int:
    """Return the milliseconds that *size* bytes of sound last."""
    return size // BYTES_PER_MS


def write_wav(path: Path, blocks: Iterable[bytes]) -> int:
    """Write *blocks* of PCM16 (mono, 24000 Hz) as one WAV file, and return its bytes of sound."""
    size = 0
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(SAMPLE_WIDTH)
        file.setframerate(SAMPLE_RATE)
        for block in blocks:
            file.writeframesraw(block)
            size += len(block)
    return size


def read_wav(path: Path) -> bytes:
    """Return the sound of a WAV file as PCM16, mono, 24000 Hz.

    Raises:
        NotOurSound: It is no WAV file, or of another rate, width or number of channels.
    """
    try:
        with wave.open(str(path), "rb") as file:
            found = file.getframerate(), file.getsampwidth(), file.getnchannels()
            if found != (SAMPLE_RATE, SAMPLE_WIDTH, 1):
                raise NotOurSound(path, f"{found[0]} Hz, {8 * found[1]} bits, {found[2]} channels")
            return file.readframes(file.getnframes())
    except (wave.Error, EOFError) as error:
        raise NotOurSound(path, f"no WAV file ({error or 'it ends too early'})") from error


def wav_data(path: Path) -> tuple[int, int]:
    """Return where in a WAV file the sound begins, and how many bytes of it there are.

    Raises:
        NotOurSound: It is no WAV file.
    """
    with path.open("rb") as file:
        size = path.stat().st_size
        if file.read(4) != b"RIFF" or file.seek(8) != 8 or file.read(4) != b"WAVE":
            raise NotOurSound(path, "no WAV file")
        while len(head := file.read(8)) == 8:
            name, length = struct.unpack("<4sI", head)
            if name == b"data":
                return file.tell(), min(length, size - file.tell())
            file.seek(length + length % 2, 1)
    raise NotOurSound(path, "a WAV file without sound")
