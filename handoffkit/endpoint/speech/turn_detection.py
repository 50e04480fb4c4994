"""When the caller begins and stops speaking, on the clock of the sound itself.

Sound in, moments out: `voice_activity` judges frames of 32 ms, and the rules here make turns of the judgements. The
recorded service tells moments on the same grid: a turn begins a padding before a multiple of 32 ms and ends on one.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ...audio import SAMPLE_RATE, SAMPLE_WIDTH
from ..protocol.realtime.hearing import SpeechStarted, SpeechStopped
from . import voice_activity

if TYPE_CHECKING:
    from .voice_activity import Frame

Change = SpeechStarted | SpeechStopped

FRAME_MS = 32
"""Milliseconds that are judged at a time."""
_BLOCK = FRAME_MS * SAMPLE_RATE // 1000 * SAMPLE_WIDTH  # bytes of a frame as they come in
_HYSTERESIS = 0.15  # by how much the probability falls below the threshold before speech may be over; silero's own
PAUSE_MS = 7 * FRAME_MS
"""Silence after which the words before it can be recognised: a turn that is over will most likely have no others."""
_LEAST = 5
"""Frames at or above the threshold that make speech, 160 ms: a click is no turn.

The quickest words of one syllable have five to eight ("uh", "no" at 1.4 times the usual speed), clicks and knocks four
at the most. In 18 minutes of white and pink noise at -34 to -10 dB, five begin a turn in the loudest pink noise only.
"""


class TurnDetector:
    """Finds the turns in one stream of sound, whatever the pieces that it comes in.

    Args:
        probability: How likely a frame is speech: float32 (512,) at 16,000 Hz, -1 to 1, in order.
        threshold: The probability from which on a frame is speech; 0 to 1.
        prefix_padding_ms: Sound before the speech that belongs to the turn.
        silence_duration_ms: How long the caller is silent before the turn is over.
    """

    def __init__(
        self,
        probability: "Callable[[Frame], float]",
        *,
        threshold: float = 0.5,
        prefix_padding_ms: int = 300,
        silence_duration_ms: int = 200,
    ) -> None:
        self._probability = probability
        self._frames = _Frames()
        self.configure(
            threshold=threshold, prefix_padding_ms=prefix_padding_ms, silence_duration_ms=silence_duration_ms
        )
        self._now = self._end = 0
        """Where the next frame begins, and where the last turn ended (ms)."""
        self._since: int | None = None
        """Where speech began that is a turn or may become one (ms)."""
        self._loud = 0
        """Frames at or above the threshold since then."""
        self._silent: int | None = None
        """Where the silence began that may end the turn (ms)."""
        self.speaking = False

    def configure(
        self,
        *,
        threshold: float | None = None,
        prefix_padding_ms: int | None = None,
        silence_duration_ms: int | None = None,
    ) -> None:
        """Change settings from the next frame on; what is not given stays as it is."""
        if threshold is not None:
            self._enter, self._leave = threshold, max(threshold - _HYSTERESIS, 0.01)
        if prefix_padding_ms is not None:
            self._padding = prefix_padding_ms
        if silence_duration_ms is not None:
            self._silence = silence_duration_ms

    @property
    def pause(self) -> int | None:
        """Where a pause of the speaker is `PAUSE_MS` old (ms), if it is and still lasts."""
        if self._silent is None or self._now - self._silent < PAUSE_MS:
            return None
        return self._silent + PAUSE_MS

    def feed(self, pcm: bytes) -> list[Change]:
        """Take the next piece of sound (PCM16, mono, 24,000 Hz, any number of bytes); return what changed, in order."""
        return [change for frame in self._frames.of(pcm) if (change := self._judge(self._probability(frame)))]

    def _judge(self, probability: float) -> Change | None:
        begin, self._now = self._now, self._now + FRAME_MS
        if self.speaking:
            return self._while_speaking(probability, begin)
        if probability < self._leave:
            self._since, self._loud = None, 0
        elif probability >= self._enter:
            self._since, self._loud = begin if self._since is None else self._since, self._loud + 1
        if self._since is None or self._loud < _LEAST:
            return None
        self.speaking, self._silent = True, None
        return SpeechStarted(max(self._end, self._since - self._padding))

    def _while_speaking(self, probability: float, begin: int) -> Change | None:
        if probability >= self._enter:
            self._silent = None
        elif probability < self._leave and self._silent is None:
            self._silent = begin
        if self._silent is None or self._now - self._silent < self._silence:
            return None
        self.speaking, self._since, self._loud, self._end = False, None, 0, self._now
        return SpeechStopped(self._now, self.pause)


class _Frames:
    """Cuts sound into frames as the model hears them: 24,000 Hz to 16,000 Hz, PCM16 to float32.

    The resampler always gets blocks of the same size, so that its result does not depend on how the sound came in.
    """

    def __init__(self) -> None:
        import numpy as np
        import soxr

        self._bytes = bytearray()
        self._resampler = soxr.ResampleStream(SAMPLE_RATE, voice_activity.SAMPLE_RATE, 1, dtype="float32")
        self._samples = np.zeros(0, np.float32)

    def of(self, pcm: bytes) -> "Iterator[Frame]":
        """Take the next piece of sound; yield the frames that are complete."""
        import numpy as np

        self._bytes += pcm
        while len(self._bytes) >= _BLOCK:
            block = np.frombuffer(bytes(self._bytes[:_BLOCK]), "<i2").astype(np.float32) / 32768
            del self._bytes[:_BLOCK]
            self._samples = np.concatenate([self._samples, self._resampler.resample_chunk(block)])
            while self._samples.size >= voice_activity.FRAME:
                yield self._samples[: voice_activity.FRAME]
                self._samples = self._samples[voice_activity.FRAME :]
