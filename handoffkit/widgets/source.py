"""What a panel's microphone puts into the call: blocks wait here, bounded, until the call takes them."""

import asyncio
from collections import deque
from typing import Self

from ..audio.pcm import duration_ms
from ..microphone import OnTrouble

_KEPT = 250  # blocks of 40 ms that wait, at most: ten seconds


class Source:
    """An async iterator over the blocks that are put in, until it is ended. Of too many the oldest go.

    Args:
        name: What a person calls the microphone behind it.

    Attributes:
        on_trouble: Is told nothing: what is wrong with the page's microphone, the panel says.
        dropped_ms: Milliseconds of sound that were dropped.
    """

    def __init__(self, name: str = "the panel's microphone") -> None:
        self.name = name
        self.on_trouble: OnTrouble | None = None
        self._blocks: deque[bytes] = deque()
        self._moved = asyncio.Event()
        self._ended = False
        self.dropped_ms = 0

    @property
    def ended(self) -> bool:
        """Whether nothing more is put in."""
        return self._ended

    @property
    def over(self) -> bool:
        """Whether nothing more will come."""
        return self._ended and not self._blocks

    def put(self, block: bytes) -> None:
        """Add a block; after the end it is passed over."""
        if not self._ended:
            self._blocks.append(block)
            if len(self._blocks) > _KEPT:
                self.dropped_ms += duration_ms(len(self._blocks.popleft()))
            self._moved.set()

    def end(self) -> None:
        """Add no more; what waits is still taken."""
        self._ended = True
        self._moved.set()

    close = end

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        while not self._blocks:
            if self._ended:
                raise StopAsyncIteration
            self._moved.clear()
            await self._moved.wait()
        return self._blocks.popleft()
