"""Ids as the service makes them, but the same ones on every run.

A notebook that is run again from a cold start meets the same ids, so its committed output stays true. Ids are
counted per seed: two connections of one endpoint have different seeds and never share an id.
"""

import copy
import hashlib
import string
from collections import Counter
from collections.abc import Collection

_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase


class Ids:
    """A source of ids such as `item_E6U0u6ZFxXUxYesuS1vaT`, deterministic for a seed.

    Args:
        seed: What no other source has that is used at the same time.
        era: How many others had the same seed before. A client may still hold what they made, and nothing of this
            source is ever taken for it.
    """

    def __init__(self, seed: str, era: int = 0) -> None:
        self._seed, self._era = seed, era
        self._counts: Counter[str] = Counter()
        self._taken: Collection[str] = ()

    def beside(self, taken: Collection[str]) -> "Ids":
        """Return this source for something in which the ids *taken* stand already: it gives none of them."""
        other = copy.copy(self)  # which counts on with this one
        other._taken = frozenset(taken)
        return other

    def new(self, prefix: str, length: int = 21) -> str:
        """Return the next id for *prefix*: the prefix, an underscore and *length* letters or digits (at most 40)."""
        id = self._next(prefix, length)
        while id in self._taken:
            id = self._next(prefix, length)
        return id

    def _next(self, prefix: str, length: int) -> str:
        self._counts[prefix] += 1
        seed = f"{self._era}/{self._seed}" if self._era else self._seed
        digest = hashlib.sha256(f"{seed}/{prefix}/{self._counts[prefix]}".encode()).digest()
        number, letters = int.from_bytes(digest, "big"), ""
        for _ in range(length):
            number, digit = divmod(number, len(_ALPHABET))
            letters += _ALPHABET[digit]
        return f"{prefix}_{letters}"
