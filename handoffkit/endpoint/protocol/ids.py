"""Ids as the service makes them, but the same ones on every run.

A notebook that is run again from a cold start meets the same ids, so its committed output stays true. Ids are
counted per seed: two connections of one endpoint have different seeds and never share an id.
"""

import hashlib
import string
from collections import Counter

_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase


class Ids:
    """A source of ids such as `item_E6U0u6ZFxXUxYesuS1vaT`, deterministic for a seed."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._counts: Counter[str] = Counter()

    def new(self, prefix: str, length: int = 21) -> str:
        """Return the next id for *prefix*: the prefix, an underscore and *length* letters or digits (at most 40)."""
        self._counts[prefix] += 1
        digest = hashlib.sha256(f"{self._seed}/{prefix}/{self._counts[prefix]}".encode()).digest()
        number, letters = int.from_bytes(digest, "big"), ""
        for _ in range(length):
            number, digit = divmod(number, len(_ALPHABET))
            letters += _ALPHABET[digit]
        return f"{prefix}_{letters}"
