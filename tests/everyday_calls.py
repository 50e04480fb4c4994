"""Everyday calls with the ticket that a person would write: the table that the keyword model is judged by.

The calls were written before the lexicon, by the same hand, so the score flatters: on other people's words expect
less. Every third call is held out: no word was chosen by it, only its total is looked at. How the labels were given:

- category: `hardware` (a thing that is broken or does not work), `software` (programs, websites, signing in to them),
  `billing` (money: charges, invoices, refunds, prices on a bill), `other` (deliveries, bookings, addresses, the rest);
- of two troubles in one call, the category of the more urgent one; of two that are as urgent, of the one that the
  caller says matters more, else of the first; what a caller takes back does not count;
- priority: `high` (a deadline within a day or so, danger, work that has stopped, or the caller says so), `low` (the
  caller says there is time, or only asks something), `medium` (a trouble or a wish with neither).
"""

from pathlib import Path
from typing import NamedTuple

_FILE = Path(__file__).with_name("everyday_calls.txt")
_MORE_FILE = Path(__file__).with_name("more_calls.txt")


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


def _calls(file: Path) -> list[EverydayCall]:
    lines = file.read_text("utf-8").splitlines()
    return [_read(line) for line in lines if line and not line.startswith("#")]


_ALL = _calls(_FILE)
_CHARGER_WORDINGS = 12
CALLS = _ALL[:-_CHARGER_WORDINGS]
"""Every call of the table, in order."""
TUNED = [call for number, call in enumerate(CALLS, 1) if number % 3]
"""The calls that the lexicon may be held against while it is written."""
HELD_OUT = CALLS[2::3]
"""The calls that it may not."""
CHARGER = _ALL[-_CHARGER_WORDINGS:]
"""One call in many wordings: a laptop that does not charge, on the day before a presentation."""
MORE = _calls(_MORE_FILE)
"""More calls, written later in three batches of 64; before any word was chosen by it, a batch got 51 to 54 right."""
