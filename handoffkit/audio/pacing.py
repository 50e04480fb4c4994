"""Blocks of sound at the pace of a microphone: each when its last sample would have been recorded."""

import asyncio
from collections.abc import AsyncIterator, Iterable

from .pcm import BYTES_PER_MS


async def pace(blocks: Iterable[bytes], *, realtime: bool = True) -> AsyncIterator[bytes]:
    """Yield *blocks* of PCM16 (mono, 24000 Hz), each at its time on the loop's clock.

    The times are counted from the beginning, so that small delays do not add up; who was late gets what is due at
    once. Other tasks run between any two blocks.

    Args:
        blocks: Of any length; the first comes after the time that it lasts.
        realtime: False gives them as fast as they are taken.
    """
    loop = asyncio.get_running_loop()
    start, size = loop.time(), 0
    for block in blocks:
        size += len(block)
        due = start + size / BYTES_PER_MS / 1000
        await asyncio.sleep(max(due - loop.time(), 0) if realtime else 0)
        yield block
