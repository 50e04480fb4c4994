"""A voice: text in, sound out, sentence by sentence, by hibari on this machine's processor."""

import re
import textwrap
from collections.abc import Iterator
from typing import Any

from ..protocol.realtime.audio import silence

_SEED = 7  # of the breath in the voice: the same text sounds the same on every run
_LONGEST = 240  # characters spoken at once, about 16 s; the time that hibari takes grows faster than the text
_QUIET = 0.004  # of full scale, about -48 dBFS: hibari puts 350 ms of less than that at both ends of a sentence
_LEAD, _TAIL = 960, 4800  # samples of it that are kept, 40 and 200 ms: nobody should wait for silence
_DIGITS = re.compile(r"\d{13,}")  # hibari names no number of that length; such a thing is read digit by digit anyway


class Voice:
    """Speaks English text with the one voice that hibari's wheel carries ("heart"); it downloads nothing."""

    def __init__(self) -> None:
        from hibari import Hibari

        self._hibari: Any = Hibari(voice="heart")

    def warm_up(self) -> None:
        """Pay for what only the first words cost, and the first that is in no lexicon."""
        for _ in self.sentences("Hello, Blorptix."):
            pass

    def sentences(self, text: str, speed: float = 1.0) -> Iterator[bytes]:
        """Yield the sound of *text*: PCM16, mono, 24,000 Hz, a block a sentence, as soon as each is ready; blocks.

        What cannot be spoken, such as an emoji or another script, is silence of about the length of saying it.
        """
        for sentence in self._hibari.split_sentences(_DIGITS.sub(lambda run: " ".join(run[0]), text)) or [text]:
            for piece in textwrap.wrap(sentence, _LONGEST, break_on_hyphens=False) or [sentence]:
                if sound := self._spoken(piece, speed) or b"".join(silence(piece)):
                    yield sound

    def _spoken(self, text: str, speed: float) -> bytes:
        import numpy as np

        try:
            wave = self._hibari(text, speed, _SEED)
        except Exception:  # the library reads a lot of odd text, and not all; a reply goes on without such a piece
            return b""
        loud = np.flatnonzero(abs(wave) > _QUIET)
        if loud.size:
            wave = wave[max(0, loud[0] - _LEAD) : loud[-1] + _TAIL]
        pcm: bytes = (np.clip(wave, -1.0, 1.0) * 32767).astype("<i2").tobytes()
        return pcm
