"""One source of the caller's sound, whatever records it: the page's microphone, the kernel's, or a recording.

Every microphone is an async iterator over blocks of PCM16, mono, 24000 Hz, which are 40 ms long; `open_microphone`
makes one of whatever `Call.listen` was given. `Watch` looks at the blocks and says when no sound is in them.
"""

import asyncio
import os
import re
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, Protocol, Self, runtime_checkable

from .audio import BYTES_PER_MS, Sound, duration_ms, load, pace
from .errors import (
    MicrophoneTrouble,
    NoPanel,
    NoSoundArrives,
    NotAMicrophone,
    NothingArrives,
    SoundAgain,
    SoundTooLoud,
)

BLOCK_MS = 40
"""Milliseconds of sound in one block."""
BLOCK_BYTES = BLOCK_MS * BYTES_PER_MS
KEPT_SECONDS = 10
"""How much recorded sound waits for a kernel that is busy; of more the oldest is dropped, and that is said."""
ZEROS_MS = 1000
"""Milliseconds of nothing but zeros after which no sound is arriving."""
STALLED_SECONDS = 1.5
"""Seconds without any block after which nothing is arriving."""
_TOO_LOUD = 0.005  # the share of samples at full scale in a second: in speech at a good level there are none
_CALM_MS = 5000  # milliseconds without such a second after which being too loud is said again

OnTrouble = Callable[[MicrophoneTrouble], None]
"""Is told what goes wrong while a microphone records; called on the kernel's loop."""


@runtime_checkable
class Microphone(Protocol):
    """An async iterator over blocks of PCM16, mono, 24000 Hz.

    Attributes:
        name: What a person calls it.
        on_trouble: Is told what goes wrong meanwhile; None tells nobody.
    """

    name: str
    on_trouble: OnTrouble | None

    @property
    def dropped_ms(self) -> int:
        """Milliseconds of sound that nobody took in time."""
        ...

    def __aiter__(self) -> AsyncIterator[bytes]: ...

    async def __anext__(self) -> bytes: ...

    def close(self) -> None:
        """Record nothing any more; who iterates gets to the end."""
        ...


async def open_microphone(
    source: Any, *, page: Callable[[], Microphone] | None = None, on_trouble: OnTrouble | None = None
) -> Microphone:
    """Return an open microphone for whatever can be listened to.

    Args:
        source: `"page"`, the browser's microphone; `"card"`, the one that the kernel's system prefers; `"card:3"` or
            its name, another one of the kernel's; a recording (the path of a WAV file, its bytes, a `Sound`, an
            array), which is played at the pace of speech; an async iterator over blocks of PCM16, mono, 24000 Hz. A
            microphone stays as it is.
        page: Opens the browser's microphone, where a panel shows the call.
        on_trouble: Is told what goes wrong while it records.

    Raises:
        NoPanel: The browser's microphone was asked for, and there is no page.
        NoPortAudio, NoDevice, DeviceUnknown, DeviceBusy, DeviceRefused: The kernel's sound card cannot be used.
        AudioError: The recording cannot be used.
        NotAMicrophone: *source* is nothing of the kind.
    """
    microphone = await _opened(source, page)
    if on_trouble is not None:
        microphone.on_trouble = on_trouble
    return microphone


async def _opened(source: Any, page: Callable[[], Microphone] | None) -> Microphone:
    if isinstance(source, Microphone):
        return source
    if isinstance(source, AsyncIterator):
        return Given(source)
    if isinstance(source, str) and not _is_path(source):
        if source != "page":
            return await _card(source)
        if page is None:
            raise NoPanel
        return page()
    if source is None or isinstance(source, bool | int | float | dict | set) or callable(source):
        raise NotAMicrophone(source)
    return Recording(await asyncio.to_thread(load, source))


def _is_path(source: str) -> bool:
    return source.lower().endswith(".wav") or os.sep in source or Path(source).is_file()


async def _card(source: str) -> Microphone:
    from .sound_card import CardMicrophone

    number = re.fullmatch(r"card:(\d+)", source)
    device = int(number[1]) if number else None if source == "card" else source
    microphone = await asyncio.to_thread(CardMicrophone, device)
    await microphone.start()
    return microphone


class Given:
    """Blocks from anywhere, as a microphone.

    Args:
        blocks: PCM16, mono, 24000 Hz.
        name: What a person calls it.
    """

    def __init__(self, blocks: AsyncIterator[bytes], name: str = "the microphone") -> None:
        self.name, self.dropped_ms = name, 0
        self.on_trouble: OnTrouble | None = None
        self._blocks = blocks
        self._next: asyncio.Future[bytes] | None = None
        self._closed = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        if self._closed:
            raise StopAsyncIteration
        self._next = asyncio.ensure_future(_taken(self._blocks))
        try:
            return await self._next
        except asyncio.CancelledError:
            if self._closed:
                raise StopAsyncIteration from None
            raise

    def close(self) -> None:
        """End it, also for who is waiting for the next block."""
        self._closed = True
        if self._next is not None:
            self._next.cancel()


async def _taken(blocks: AsyncIterator[bytes]) -> bytes:
    """Return the next block; a task takes coroutines only."""
    return await anext(blocks)


class Recording(Given):
    """A recording that stands in for a microphone: it is spoken once, at the pace at which it was."""

    def __init__(self, sound: Sound) -> None:
        super().__init__(pace(sound.blocks(BLOCK_MS)), f"a recording: {sound.name}")


class Watch:
    """Looks at the blocks of one microphone, and says when something is wrong with their sound. It keeps no clock.

    Each trouble is told once, until it is over.

    Args:
        name: The microphone's.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.level = -120.0
        """dBFS of the newest block; -120 for silence."""
        self._zeros = 0  # bytes
        self._told = ""
        self._full: deque[tuple[int, int]] = deque(maxlen=1000 // BLOCK_MS)
        self._calm = 0  # milliseconds; 0 as long as being too loud has not been said

    def heard(self, block: bytes) -> list[MicrophoneTrouble]:
        """Take in the next block, and return what is to be said about the sound."""
        return [*self._silence(block), *self._loudness(block)]

    def waited(self, seconds: float) -> list[MicrophoneTrouble]:
        """Say whether anything is wrong, if nothing has arrived for so long."""
        if seconds < STALLED_SECONDS or self._told == "stalled":
            return []
        self._told, self.level = "stalled", -120.0
        return [NothingArrives(self.name)]

    def _silence(self, block: bytes) -> list[MicrophoneTrouble]:
        if any(block):
            told, self._told, self._zeros = self._told, "", 0
            return [SoundAgain(self.name)] if told else []
        self._zeros += len(block)
        if duration_ms(self._zeros) < ZEROS_MS or self._told == "zeros":
            return []
        self._told = "zeros"
        return [NoSoundArrives(self.name)]

    def _loudness(self, block: bytes) -> list[MicrophoneTrouble]:
        from .audio.levels import decibels, rms

        self.level = decibels(rms(block))
        self._full.append((_at_full_scale(block), len(block) // 2))
        full, samples = (sum(each) for each in zip(*self._full, strict=True))
        if full <= _TOO_LOUD * samples or len(self._full) < (self._full.maxlen or 0):
            self._calm = max(self._calm - duration_ms(len(block)), 0)
            return []
        told, self._calm = self._calm > 0, _CALM_MS
        return [] if told else [SoundTooLoud(self.name)]


class Kept:
    """Recorded sound that waits, the oldest dropped where there is too much; one thread puts and another one takes.

    Args:
        limit: How many bytes wait at most.
    """

    def __init__(self, limit: int) -> None:
        self._limit, self._size = limit, 0
        self._pieces: deque[bytes] = deque()
        self._lock = threading.Lock()
        self.dropped = 0
        """Bytes that nobody took in time."""

    def put(self, piece: bytes) -> None:
        """Keep *piece* after the others."""
        with self._lock:
            self._pieces.append(piece)
            self._size += len(piece)
            while self._size > self._limit:
                oldest = len(self._pieces.popleft())
                self._size -= oldest
                self.dropped += oldest

    def take(self) -> bytes:
        """Return the oldest piece, or nothing."""
        with self._lock:
            if not self._pieces:
                return b""
            piece = self._pieces.popleft()
            self._size -= len(piece)
            return piece


def _at_full_scale(block: bytes) -> int:
    """Return how many samples are as far from zero as PCM16 goes."""
    import numpy as np

    return int((np.abs(np.frombuffer(block, "<i2").astype(np.int32)) >= 32_767).sum())
