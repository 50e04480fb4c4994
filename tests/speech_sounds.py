"""Sound for the tests of speech, made when it is needed: a voice, noise, and how many words are wrong."""

import re
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import numpy as np

    Samples = np.ndarray[tuple[int], np.dtype[np.float64]]

RATE = 24_000


def needs_speech() -> None:
    """Skip the module unless the extra `speech` is installed."""
    for name in ("faster_whisper", "hibari", "soxr"):
        pytest.importorskip(name, reason='The extra "speech" is not installed: python -m pip install -e ".[speech]".')


@cache
def voice() -> Any:
    from handoffkit.endpoint.speech.tts import Voice

    return Voice()


def say(text: str, speed: float = 1.0) -> bytes:
    """Return *text* spoken, PCM16, mono, 24,000 Hz."""
    return b"".join(voice().sentences(text, speed))


def tight(sound: bytes) -> bytes:
    """Return *sound* without the silence before and after it."""
    import numpy as np

    loud = np.flatnonzero(np.abs(samples(sound)) > 0.02)
    return sound[2 * int(loud[0]) : 2 * int(loud[-1])]


def pause(ms: int) -> bytes:
    return bytes(48 * ms)


def pcm(samples: "Samples") -> bytes:
    import numpy as np

    return bytes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())


def samples(sound: bytes) -> "Samples":
    import numpy as np

    return np.frombuffer(sound, "<i2") / 32768


def white(seconds: float, level: float = 0.1) -> "Samples":
    """Return noise as strong as *level* (RMS)."""
    import numpy as np

    return np.random.default_rng(7).standard_normal(int(seconds * RATE)) * level


def pink(seconds: float, level: float = 0.1) -> "Samples":
    import numpy as np

    spectrum = np.fft.rfft(white(seconds))
    sound = np.fft.irfft(spectrum / np.sqrt(np.arange(spectrum.size) + 1), int(seconds * RATE))
    return np.asarray(sound * level / np.sqrt(np.mean(sound**2)))


def beats(seconds: float) -> "Samples":
    """Return bursts of a harsh tone, which turn detection alone takes for speech now and then."""
    import numpy as np

    time = np.arange(int(seconds * RATE)) / RATE
    return 0.3 * np.sign(np.sin(2 * np.pi * 100 * time)) * (time % 0.5 < 0.25)


def clicks(seconds: float) -> "Samples":
    import numpy as np

    sound = np.zeros(int(seconds * RATE))
    for begin in range(0, sound.size, RATE // 2):
        sound[begin : begin + 200] = 0.9
    return sound


def wrong_words(expected: str, found: str) -> int:
    """Return how many words of *expected* are wrong, missing or too many in *found* (edit distance)."""
    left, right = (re.sub(r"[^a-z' ]", " ", text.lower()).split() for text in (expected, found))
    row = list(range(len(right) + 1))
    for number, word in enumerate(left, 1):
        before, row[0] = row[0], number
        for at, other in enumerate(right, 1):
            before, row[at] = row[at], min(row[at] + 1, row[at - 1] + 1, before + (word != other))
    return row[-1]
