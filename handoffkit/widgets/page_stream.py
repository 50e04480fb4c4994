"""What the numbers and the times of a page's blocks of sound say: which are missing, and which have waited. Pure."""

from collections import deque
from typing import TypeGuard

_REMEMBERED = 1000  # missing numbers of which it is known that they are missing, and not repeated
_STALL = 1.5  # seconds without any message of an open stream, which sends one a second at least: the loop was blocked
_AHEAD = 0.5  # seconds of sound more than seconds passed, from which on blocks come in a burst
_LEAK = 1.02  # by which time counts faster than sound: a device's clock may be ahead of the kernel's


def whole(value: object) -> TypeGuard[int]:
    """Return whether *value* counts something: a whole number from 0 up."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53


class Order:
    """Counts the blocks of streams by their numbers, which go up from 0 in each.

    Attributes:
        missing: Blocks that never came, or came too late.
        reordered: Blocks that came after later ones.
        repeated: Blocks that came twice.
    """

    def __init__(self) -> None:
        self.missing = self.reordered = self.repeated = 0
        self._absent: deque[int] = deque(maxlen=_REMEMBERED)
        self._next = 0

    def begin(self, number: int = 0) -> None:
        """Begin a stream whose first block is *number*."""
        self._next = number
        self._absent.clear()

    def fits(self, number: int) -> bool:
        """Return whether a block comes after all that came before it; else it has no place any more."""
        if number < self._next:
            late = number in self._absent
            self.reordered, self.repeated = self.reordered + late, self.repeated + (not late)
            if late:
                self._absent.remove(number)
            return False
        self.missing += number - self._next
        self._absent.extend(range(max(self._next, number - _REMEMBERED), number))
        self._next = number + 1
        return True

    def end(self, last: int) -> None:
        """End the stream, whose last block was *last*."""
        self.missing += max(last + 1 - self._next, 0)


class Pace:
    """Notices sound that comes faster than it was spoken: it has waited while somebody was busy. Pure."""

    def __init__(self, now: float) -> None:
        self._arrival, self._ahead = now, 0.0

    def bursts(self, seconds: float, now: float) -> bool:
        """Return whether what comes *now*, so many *seconds* of sound, has waited; 0 is a mere sign of life."""
        passed, self._arrival = now - self._arrival, now
        self._ahead = max(self._ahead - passed * _LEAK, 0.0) + seconds
        return seconds > 0 and (passed > _STALL or self._ahead > _AHEAD)
