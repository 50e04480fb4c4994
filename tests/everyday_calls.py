"""Everyday calls with the ticket that a person would write: the table that the keyword model is judged by.

The calls were written before the lexicon, by the same hand, so the score flatters: on other people's words expect
less. Every third call is held out: no word was chosen by it, only its total is looked at. How the labels were given:

- category: `hardware` (a thing that is broken or does not work), `software` (programs, websites, signing in to them),
  `billing` (money: charges, invoices, refunds, prices on a bill), `other` (deliveries, bookings, addresses, the rest);
- priority: `high` (a deadline within a day or so, danger, work that has stopped, or the caller says so), `low` (the
  caller says there is time, or only asks something), `medium` (a trouble or a wish with neither).
"""

from pathlib import Path
from typing import NamedTuple

_FILE = Path(__file__).with_name("everyday_calls.txt")


class EverydayCall(NamedTuple):
    """What the caller said, turn by turn (separated by ` | `), and the ticket's category and priority."""

    words: str
    category: str
    priority: str

    @property
    def turns(self) -> list[str]:
        """Return the caller's turns."""
        return self.words.split(" | ")


def _read(line: str) -> EverydayCall:
    label, words = line.split(": ", 1)
    category, priority = label.split()
    return EverydayCall(words, category, priority)


_LINES = [line for line in _FILE.read_text("utf-8").splitlines() if line and not line.startswith("#")]
_ALL = [_read(line) for line in _LINES]
_CHARGER_WORDINGS = 12
CALLS = _ALL[:-_CHARGER_WORDINGS]
"""Every call of the table, in order."""
TUNED = [call for number, call in enumerate(CALLS, 1) if number % 3]
"""The calls that the lexicon may be held against while it is written."""
HELD_OUT = CALLS[2::3]
"""The calls that it may not."""
CHARGER = _ALL[-_CHARGER_WORDINGS:]
"""One call in many wordings: a laptop that does not charge, on the day before a presentation."""
