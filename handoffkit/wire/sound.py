"""When the caller spoke: the service counts milliseconds of the sound that it was sent, the log counts seconds."""

from ..audio import BYTES_PER_MS


class Hearing:
    """The sound that a client has sent, and when.

    A moment in the sound is reckoned from the last block that was sent, as if a microphone had sent it: a file that is
    sent faster than it sounds is squeezed into the time in which it was sent.
    """

    def __init__(self) -> None:
        self._bytes = self._taken = 0
        self._last = 0.0
        self._first: float | None = None
        self._commits: list[tuple[float, float, int]] = []
        self._speech: dict[str, tuple[float, int | float]] = {}

    def append(self, size: int, at: float) -> None:
        """Take a block of *size* bytes, sent at *at* (seconds)."""
        self._bytes += size
        self._last = at
        if self._first is None:
            self._first = at

    def started(self, item: str, ms: object, at: float) -> float:
        """Return the second in which speech began, *ms* milliseconds into the sound; *at* if that cannot be told."""
        start = self._moment(ms, at)
        self._speech[item] = start, ms if isinstance(ms, int | float) else 0
        return start

    def stopped(self, item: str, ms: object, at: float) -> tuple[float, int]:
        """Return the second in which speech ended, and its length in milliseconds."""
        end = self._moment(ms, at)
        start, start_ms = self._speech.pop(item, (end, 0))
        return max(start, end), round(ms - start_ms) if isinstance(ms, int | float) else round(1000 * (end - start))

    def _moment(self, ms: object, at: float) -> float:
        if not isinstance(ms, int | float) or self._first is None:
            return at
        return min(at, max(self._first, self._last - (self._bytes / BYTES_PER_MS - ms) / 1000))

    @property
    def sent(self) -> int:
        """Bytes of sound that were sent in all."""
        return self._bytes

    def clear(self) -> None:
        """Forget the sound that was sent and not committed."""
        self._first, self._taken = None, self._bytes

    def commit(self, at: float) -> None:
        """Note that the client commits what it has sent since the last time."""
        self._commits.append(self._segment(at))

    def refuse(self) -> None:
        """Forget the last commit, which the service did not take."""
        if self._commits:
            self._commits.pop()

    def take(self) -> tuple[float, float, int]:
        """Return begin and end (seconds) and length (ms) of the sound that the service has just committed."""
        if self._commits:
            return self._commits.pop(0)
        return self._segment(self._last)

    def _segment(self, at: float) -> tuple[float, float, int]:
        start = at if self._first is None else self._first
        length = (self._bytes - self._taken) // BYTES_PER_MS
        self._first, self._taken = None, self._bytes
        return start, at, length
