"""How much of a sound is in a capture of what was played: where it begins, and for how long it goes on."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Samples = np.ndarray[tuple[int], np.dtype[np.float64]]

RATE = 24_000
WINDOW, STEP = RATE // 10, RATE // 20
"""Samples in one window, and from one to the next: 100 and 50 ms."""
SLACK = RATE // 10
"""Samples by which a window may lie elsewhere than the last one says: 100 ms of quiet that a busy machine puts in."""
FLOOR = 0.005
"""RMS under which a window has nothing that could be recognised."""
LIKE = 0.95


@dataclass(frozen=True)
class Heard:
    """A sound, found in a capture."""

    begins: float
    """Seconds into the capture."""
    likeness: tuple[float, ...]
    """Correlation of each window of the sound that is no pause, in order; 1 is the same."""
    ends: float
    """Seconds into the sound at which its last window that was heard ends."""

    @property
    def share(self) -> float:
        """Share of the windows up to the last one that was heard which are as good as the same."""
        last = max((n for n, each in enumerate(self.likeness) if each > LIKE), default=-1) + 1
        return sum(each > LIKE for each in self.likeness[:last]) / last if last else 0.0


def heard(capture: bytes, sound: bytes) -> Heard:
    """Look for *sound* in *capture*, both PCM16, mono, 24,000 Hz; the sound's first second says where it begins."""
    all_of, wanted = _samples(capture), _samples(sound)
    begins = _place(all_of, wanted[:RATE])
    likeness, ends, late = [], 0, 0
    for at in range(0, len(wanted) - WINDOW + 1, STEP):
        window = wanted[at : at + WINDOW]
        if float((window**2).mean() ** 0.5) < FLOOR:
            continue
        like, off = _likeness(all_of, window, begins + at + late)
        likeness.append(like)
        if like > LIKE:
            ends, late = at + WINDOW, late + off
    return Heard(begins / RATE, tuple(likeness), ends / RATE)


def level(capture: bytes, begin: float, end: float) -> float:
    """Return the RMS of a capture from *begin* to *end* seconds; full scale is 1."""
    part = _samples(capture)[round(begin * RATE) : round(end * RATE)]
    return float((part**2).mean() ** 0.5) if len(part) else 0.0


def _samples(pcm: bytes) -> "Samples":
    import numpy as np

    return np.frombuffer(pcm[: len(pcm) // 2 * 2], "<i2") / 32768


def _place(capture: "Samples", wanted: "Samples") -> int:
    """Return the sample of the capture at which *wanted* fits best, whatever its loudness."""
    import numpy as np

    if len(capture) < len(wanted):
        return 0
    size = 1 << (len(capture) + len(wanted)).bit_length()
    product: Any = np.fft.irfft(np.fft.rfft(capture, size) * np.conj(np.fft.rfft(wanted, size)), size)
    energy = np.concatenate([[0.0], np.cumsum(capture**2)])
    around = energy[len(wanted) :] - energy[: -len(wanted)]
    places = product[: len(around)] / np.sqrt(around + 1e-3)
    return int(places.argmax())


def _likeness(capture: "Samples", window: "Samples", at: int) -> tuple[float, int]:
    """Return how well a window fits near a place of the capture, and how many samples later it fits best."""
    import numpy as np

    low, high = max(0, at - SLACK), at + len(window) + SLACK
    part = capture[low:high]
    if len(part) < len(window):
        return 0.0, 0
    product = np.correlate(part, window, "valid")
    energy = np.concatenate([[0.0], np.cumsum(part**2)])
    around = energy[len(window) :] - energy[: -len(window)]
    fits = product / np.sqrt(around * (window**2).sum() + 1e-9)
    return float(fits.max()), low + int(fits.argmax()) - at
