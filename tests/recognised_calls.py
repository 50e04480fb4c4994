"""Everyday calls as a recogniser heard them, beside the words as they were written.

Sixty-four calls were written by the hand that wrote the lexicon, labelled by the rules in `everyday_calls`, spoken by
three synthetic voices (piper's "joe", flite's "slt" and hibari's "heart"), clean and with pink noise at 10 dB, and
recognised by faster-whisper with tiny.en, beam 5. The recogniser's words stand in the table as they came, mistakes
included; flite at 10 dB is hard to follow for a person too.

The lexicon was held against the calls with odd numbers. Of those with even numbers, only totals were looked at.
"""

from pathlib import Path
from typing import NamedTuple

from everyday_calls import EverydayCall

_FILE = Path(__file__).with_name("recognised_calls.txt")


class Heard(NamedTuple):
    """One call as one voice spoke it."""

    voice: str
    """`joe`, `slt` or `hibari`; `typed` for the words as they were written."""
    noise: str
    """`clean`, `10dB`, or `-` for typed words."""
    number: int
    call: EverydayCall

    @property
    def held_out(self) -> bool:
        """Whether no word of the lexicon was chosen by it."""
        return self.number % 2 == 0


def _read(line: str) -> Heard:
    label, words = line.split(": ", 1)
    voice, noise, number, category, priority = label.split()
    return Heard(voice, noise, int(number), EverydayCall(words, category, priority))


HEARD = [_read(line) for line in _FILE.read_text("utf-8").splitlines() if line and not line.startswith("#")]
"""Every call of the table, voice by voice."""


def heard(voice: str, noise: str, *, held_out: bool) -> list[EverydayCall]:
    """Return the calls of one voice and one half."""
    return [entry.call for entry in HEARD if (entry.voice, entry.noise, entry.held_out) == (voice, noise, held_out)]
