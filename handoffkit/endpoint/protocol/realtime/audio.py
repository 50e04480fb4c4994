"""Sound in the realtime protocol: base64 in and out, how long it lasts, what of a reply was heard.

All audio is PCM, 16 bit, mono, 24,000 Hz: 48 bytes a millisecond.
"""

import base64
import binascii
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate

from ..api_error import ApiError
from ..deltas import pieces

Voice = Callable[[str], Iterator[bytes]]
"""Speaks a text: PCM chunks, one after the other."""

BYTES_PER_MS = 48
CHARACTERS_PER_SECOND = 15  # of quick English speech
_CHUNK_MS = 250
_LEAD_MS = 1000  # by how much the words of a reply run ahead of its sound; about what the service was seen to do
_LONGEST_MS = 10 * 60 * 1000  # of sound that waits for a commit; the oldest goes first


def silence(text: str) -> Iterator[bytes]:
    """Yield zeros for about as long as it takes to say *text*, in chunks of 250 ms."""
    left = len(text) * 1000 // CHARACTERS_PER_SECOND
    while left > 0:
        yield bytes(min(left, _CHUNK_MS) * BYTES_PER_MS)
        left -= _CHUNK_MS


def decode(text: str, param: str) -> bytes:
    """Return the bytes of base64 *text*.

    Raises:
        ApiError: It is no base64.
    """
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        message = (
            f"Invalid '{param}'. Expected base64-encoded audio bytes (mono PCM16 at 24kHz) but got an invalid value."
        )
        raise ApiError(message, code="invalid_value", param=param) from None


def encode(chunk: bytes) -> str:
    """Return *chunk* as base64 text."""
    return base64.b64encode(chunk).decode("ascii")


def interleaved(words: Iterable[str], chunks: Iterator[bytes]) -> Iterator[str | bytes]:
    """Yield the words of a reply and its sound in the order in which they are sent: the words about 1 s ahead."""
    words, said, played = deque(words), 0, 0
    for chunk in chunks:
        while words and said * 1000 <= (played + _LEAD_MS) * CHARACTERS_PER_SECOND:
            said += len(words[0])
            yield words.popleft()
        yield chunk
        played += len(chunk) // BYTES_PER_MS
    yield from words


def heard(transcript: str, end_ms: int, audio_ms: int | None) -> str:
    """Return the words that were said in the first *end_ms*, whole words only.

    Args:
        transcript: The words, as far as they were sent.
        end_ms: Milliseconds that were played.
        audio_ms: Milliseconds that all of it takes, or None while that is not known yet.
    """
    reached = end_ms * len(transcript) / audio_ms if audio_ms else end_ms * CHARACTERS_PER_SECOND / 1000
    ends = [0, *accumulate(map(len, pieces(transcript)))]
    return transcript[: max(end for end in ends if end <= round(reached))]


class InputBuffer:
    """Sound that the client has sent and not committed yet, on the clock of all that it has ever sent."""

    def __init__(self) -> None:
        self._chunks: deque[bytes] = deque()
        self._bytes = self._gone = 0
        self._half = b""

    @property
    def ms(self) -> float:
        """Milliseconds that are waiting."""
        return self._bytes / BYTES_PER_MS

    @property
    def end_ms(self) -> float:
        """Milliseconds that the client has sent in all."""
        return (self._gone + self._bytes) / BYTES_PER_MS

    def append(self, chunk: bytes) -> bytes:
        """Add a chunk, and return what of it makes whole samples: half of one waits for its other half.

        Beyond ten minutes the oldest goes.
        """
        chunk = self._half + chunk
        chunk, self._half = chunk[: len(chunk) // 2 * 2], chunk[len(chunk) // 2 * 2 :]
        self._chunks.append(chunk)
        self._bytes += len(chunk)
        while len(self._chunks) > 1 and self.ms > _LONGEST_MS:
            self._forget(len(self._chunks.popleft()))
        return chunk

    def take(self) -> bytes:
        """Return everything and forget it."""
        audio, self._half = b"".join(self._chunks), b""
        self._chunks.clear()
        self._forget(len(audio))
        return audio

    def cut(self, start_ms: int, end_ms: int | None = None) -> bytes:
        """Return what was sent between two moments, and forget all up to the second (by default: everything)."""
        half = self._half
        audio = self.take()
        begin, self._half = self._gone - len(audio), half
        end = len(audio) if end_ms is None else min(len(audio), max(0, end_ms * BYTES_PER_MS - begin))
        if rest := audio[end:]:
            self._gone -= len(rest)
            self._chunks.append(rest)
            self._bytes = len(rest)
        return audio[max(0, start_ms * BYTES_PER_MS - begin) : end]

    def since(self, start_ms: int) -> bytes:
        """Return what was sent since a moment; nothing is forgotten."""
        audio = b"".join(self._chunks)
        return audio[max(0, start_ms * BYTES_PER_MS - self._gone) :]

    def _forget(self, size: int) -> None:
        self._bytes -= size
        self._gone += size
