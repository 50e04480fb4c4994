"""A voice: text in, sound out, sentence by sentence, by hibari on this machine's processor."""

from collections.abc import Iterator
from typing import Any

from ..protocol.realtime.audio import silence

_SEED = 7  # of the breath in the voice: the same text sounds the same on every run


class Voice:
    """Speaks English text with the one voice that hibari's wheel carries ("heart"); it downloads nothing."""

    def __init__(self) -> None:
        from hibari import Hibari

        self._hibari: Any = Hibari(voice="heart")

    def sentences(self, text: str, speed: float = 1.0) -> Iterator[bytes]:
        """Yield the sound of *text*: PCM16, mono, 24,000 Hz, a block a sentence, as soon as each is ready; blocks.

        Text that cannot be spoken gives silence of about the length that saying it would take.
        """
        spoken = False
        for wave in self._hibari.stream(text, speed, _SEED):
            if wave.size:
                spoken = True
                yield _pcm(wave)
        if not spoken:
            yield from silence(text)


def _pcm(wave: Any) -> bytes:
    import numpy as np

    pcm: bytes = (np.clip(wave, -1.0, 1.0) * 32767).astype("<i2").tobytes()
    return pcm
