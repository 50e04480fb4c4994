"""The one form that sound has inside: PCM16, mono, 24000 Hz, as the Realtime API hears and speaks it."""

SAMPLE_RATE = 24_000
"""Hz: what a realtime session hears and speaks."""
SAMPLE_WIDTH = 2
"""Bytes of a sample: 16 bits, signed, little-endian."""
BYTES_PER_MS = SAMPLE_RATE * SAMPLE_WIDTH // 1000


def duration_ms(size: int) -> int:
    """Return the milliseconds that *size* bytes of sound last."""
    return size // BYTES_PER_MS
