"""The one thing that is wrong now: of several troubles the most severe, of equally severe ones the newest. Pure."""

from collections.abc import Collection, Iterable
from typing import Any

from .troubles import Trouble

_RANK = {"warn": 0, "bad": 1}


class Strip:
    """The troubles of a panel that are not over yet, one of each kind."""

    def __init__(self) -> None:
        self._troubles: dict[str, tuple[int, Trouble]] = {}
        self._count = 0

    def put(self, trouble: Trouble) -> None:
        """Take a trouble, in place of an older one of its kind: that it goes on is not said once more."""
        number, _ = self._troubles.get(trouble.kind) or (self._next(), trouble)
        self._troubles[trouble.kind] = number, trouble

    def again(self, trouble: Trouble) -> int:
        """Take a trouble that has just come about once more, so that it is said once more; return its number."""
        self._troubles[trouble.kind] = self._next(), trouble
        return self._count

    def passes(self, kind: str, number: int) -> None:
        """Forget a trouble that is old news by now, unless it has come about again."""
        if self._troubles.get(kind, (0,))[0] == number:
            del self._troubles[kind]

    def clear(self, kinds: Iterable[str] | None = None) -> None:
        """Forget the troubles of *kinds*, all by default: they are over."""
        wanted: Collection[str] = set(self._troubles) if kinds is None else set(kinds)
        for kind in wanted:
            self._troubles.pop(kind, None)

    def has(self, kind: str) -> bool:
        """Say whether there is a trouble of this kind."""
        return kind in self._troubles

    @property
    def shown(self) -> dict[str, Any]:
        """The trouble that the page shows; empty if nothing is wrong."""
        if not self._troubles:
            return {}
        number, trouble = max(self._troubles.values(), key=lambda pair: (_RANK[pair[1].tone], pair[0]))
        return trouble.shown(number)

    def _next(self) -> int:
        self._count += 1
        return self._count
