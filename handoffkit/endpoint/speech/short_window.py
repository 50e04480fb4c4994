"""Whisper on short sound: less padding, the same words, a third of the work.

The model hears windows of 30 s, and most of its work goes into padding a turn of five. Its encoder takes shorter ones
too. Measured on 24 sentences of calls, two voices, clean and with pink noise at 10 dB: 2.3 % of the words are wrong
with 30 s and with a window of 15 s, which takes the encoder a fifth of the time. Below that, or with less silence at
the end, the model falls into loops (2.6 % with 10 s and 5 s of silence; 58 % with 3 s of silence and no least length).
"""

import copy
from typing import Any

import numpy as np
from faster_whisper import WhisperModel

FRAMES_PER_SECOND = 100
_LEAST = 15 * FRAMES_PER_SECOND
_TAIL = 8 * FRAMES_PER_SECOND  # of silence at the end


class ShortWindowModel(WhisperModel):  # type: ignore[misc]  # the library has no types
    """A Whisper model that hears no more padding than it needs."""

    least, tail = _LEAST, _TAIL

    def whole_window(self) -> "ShortWindowModel":
        """Return the same model, on the same weights, with the window of 30 s that it was trained on."""
        model = copy.copy(self)
        model.least = self.feature_extractor.nb_max_frames
        return model

    def encode(self, features: Any) -> Any:
        """Encode a window: *features* are float32 (mels, 3000), of which columns of zeros at the end are padding."""
        sound = np.flatnonzero(features.any(axis=0))
        end = int(sound[-1]) + 1 if sound.size else 0
        size = max(self.least, end + self.tail)
        return super().encode(features[:, : size + size % 2])
