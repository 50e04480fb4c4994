"""How much of a sound is in a capture of what was played: where it begins, and for how long it goes on.

Both are compared under 5 kHz and to an eighth of a sample: whatever resamples on the way moves sound by parts of a
sample, which at 10 kHz looks like another sound, and PulseAudio's default takes the highest tones away.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    Samples = np.ndarray[tuple[int], np.dtype[np.float64]]

Pcm = bytes | bytearray
RATE = 24_000
WINDOW, STEP = RATE // 10, RATE // 20
"""Samples in one window, and from one to the next: 100 and 50 ms."""
SLACK, GAP = RATE // 10, RATE
"""Samples by which a window may lie elsewhere than the last one says: 100 ms, or up to a second of quiet that a busy
machine puts in; over such a gap it has to be the `SAME`, so that one vowel is not taken for another."""
FLOOR = 0.005
"""RMS under which a window has nothing that could be recognised."""
LIKE, SAME = 0.95, 0.99
_BAND = 5000  # Hz that are compared
_PARTS = [part / 8 for part in range(-4, 5)]  # of a sample


@dataclass(frozen=True)
class Heard:
    """A sound, found in a capture."""

    begins: float
    """Seconds into the capture."""
    likeness: tuple[float, ...]
    """Correlation of each window of the sound that is no pause, in order; 1 is the same."""
    ends: float
    """Seconds into the sound at which its last window that was heard ends."""
    missed: float
    """Seconds into the sound at which the next window ends that is no pause: it was cut off between the two."""

    @property
    def whole(self) -> float:
        """Share of all windows that are as good as the same."""
        return sum(each > LIKE for each in self.likeness) / len(self.likeness) if self.likeness else 0.0

    @property
    def share(self) -> float:
        """Share of the windows up to the last one that was heard which are as good as the same."""
        last = max((n for n, each in enumerate(self.likeness) if each > LIKE), default=-1) + 1
        return sum(each > LIKE for each in self.likeness[:last]) / last if last else 0.0


def heard(capture: Pcm, sound: Pcm) -> Heard:
    """Look for *sound* in *capture*, both PCM16, mono, 24,000 Hz; the sound's first second says where it begins."""
    all_of, wanted = _under(_BAND, _samples(capture)), _under(_BAND, _samples(sound))
    begins = _place(all_of, wanted[:RATE])
    likeness, ends, missed, late = [], 0, len(wanted), 0
    for at in range(0, len(wanted) - WINDOW + 1, STEP):
        window = wanted[at : at + WINDOW]
        if float((window**2).mean() ** 0.5) < FLOOR:
            continue
        like, off = _likeness(all_of, window, begins + at + late, SLACK)
        if like <= LIKE:
            beyond, there = _likeness(all_of, window, begins + at + late, GAP)
            like, off = (beyond, there) if beyond > SAME else (like, off)
        likeness.append(like)
        if like > LIKE:
            ends, missed, late = at + WINDOW, len(wanted), late + off
        else:
            missed = min(missed, at + WINDOW)
    return Heard(begins / RATE, tuple(likeness), ends / RATE, missed / RATE)


def level(capture: Pcm, begin: float, end: float) -> float:
    """Return the RMS of a capture from *begin* to *end* seconds; full scale is 1."""
    part = _samples(capture)[round(begin * RATE) : round(end * RATE)]
    return float((part**2).mean() ** 0.5) if len(part) else 0.0


def _samples(pcm: Pcm) -> "Samples":
    import numpy as np

    return np.frombuffer(pcm[: len(pcm) // 2 * 2], "<i2") / 32768


def _under(hz: int, sound: "Samples") -> "Samples":
    """Return what of a sound is under *hz*."""
    import numpy as np

    if not len(sound):
        return sound
    tones = np.fft.rfft(sound)
    tones[hz * len(sound) // RATE :] = 0
    return np.fft.irfft(tones, len(sound))


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


def _likeness(capture: "Samples", window: "Samples", at: int, within: int) -> tuple[float, int]:
    """Return how well a window fits near a place of the capture, and how many samples later it fits best.

    Args:
        capture, window: All of it, and what is looked for.
        at: Where it is expected.
        within: Samples by which it may lie later, and 100 ms by which it may lie earlier.
    """
    import numpy as np

    low, high = max(0, at - SLACK), at + len(window) + within
    part = capture[low:high]
    if len(part) < len(window):
        return 0.0, 0
    product = np.correlate(part, window, "valid")
    energy = np.concatenate([[0.0], np.cumsum(part**2)])
    around = energy[len(window) :] - energy[: -len(window)]
    best = int((product / np.sqrt(np.maximum(around, 1e-6))).argmax())
    here = part[best : best + len(window)]
    closest = max(float(here @ _moved(window, by)) for by in _PARTS)
    return closest / float(np.sqrt((here @ here) * (window @ window)) + 1e-9), low + best - at


def _moved(sound: "Samples", by: float) -> "Samples":
    """Return a sound that comes *by* a part of a sample later."""
    import numpy as np

    size = 2 * len(sound)
    return np.fft.irfft(np.fft.rfft(sound, size) * np.exp(-2j * np.pi * by * np.fft.rfftfreq(size)), size)[: len(sound)]
