"""What was said: a turn's sound in, its words out, by faster-whisper on this machine's processor."""

from typing import TYPE_CHECKING, Any

from ...audio import SAMPLE_RATE, SAMPLE_WIDTH
from . import weights
from .errors import WrongLanguage

if TYPE_CHECKING:
    import numpy as np

    Samples = np.ndarray[tuple[int], np.dtype[np.float32]]

_RATE = 16_000  # Hz: what the model hears
_LOOP = 2.4  # times by which a text can be compressed; above, the model may repeat itself (Whisper's own limit)
_NONSENSE = 5.0  # the same, above which nobody speaks: a caller who says four sentences twice reaches 2.4
_NO_SPEECH = 0.6  # the probability that a segment is no speech: at most 0.2 for speech in noise, from 0.62 for noises
_PER_SECOND = 12  # tokens that somebody speaks at the most; the model's own times included
_THREADS, _WORKERS = 2, 2
_MOST = 220  # tokens in a window: what the model can say beside a prompt


class Recogniser:
    """Recognises the words of a turn; thread-safe, so that a look at one turn need not wait for another.

    Args:
        path: A folder of weights; by default the first that `weights.find` finds.

    Raises:
        NoWeights: There are none.
        WrongWeights: Those of the package are not the ones that were tried.
    """

    def __init__(self, path: str | None = None) -> None:
        folder = str(weights.find(path))
        from .short_window import ShortWindowModel

        self._model: Any = ShortWindowModel(
            folder, device="cpu", compute_type="int8", cpu_threads=_THREADS, num_workers=_WORKERS, local_files_only=True
        )
        self._careful = self._model.whole_window()

    def words(self, pcm: bytes, *, final: bool = True, language: str | None = None, prompt: str | None = None) -> str:
        """Return what was said, "" if nothing was; blocks.

        Args:
            pcm: PCM16, mono, 24,000 Hz; up to ten minutes.
            final: Whether these are the final words of a turn, or a look at one that is still spoken: quicker, rougher.
            language: ISO 639-1; by default English, or what multilingual weights detect.
            prompt: Words to expect.

        Raises:
            WrongLanguage: The weights do not know that language.
        """
        options = {
            "language": self._language(language),
            "beam_size": 5 if final else 1,
            "initial_prompt": prompt or None,
            "max_new_tokens": min(_MOST, 24 + _PER_SECOND * len(pcm) // (SAMPLE_RATE * SAMPLE_WIDTH)),
        }
        sound = _samples(pcm)
        segments = _heard(self._model, sound, options)
        if final and any(map(_doubtful, segments)):
            segments = _heard(self._careful, sound, options)
        return " ".join(segment.text.strip() for segment in segments if _said(segment)).strip()

    def warm_up(self) -> None:
        """Pay for what only the first call costs."""
        import numpy as np

        for beams in (1, 5):
            list(
                self._model.transcribe(np.zeros(_RATE, np.float32), language="en", beam_size=beams, temperature=0.0)[0]
            )

    def _language(self, language: str | None) -> str | None:
        known: list[str] = self._model.supported_languages
        if language is None:
            return "en" if known == ["en"] else None
        short = language.partition("-")[0].lower()
        if short not in known:
            raise WrongLanguage(language, known)
        return short


def _heard(model: Any, sound: "Samples", options: dict[str, Any]) -> list[Any]:
    """Return the segments that a model hears; the same on every run.

    What silero takes for silence is left out: the model hears words in noise and in silence ("Thank you for watching").
    """
    segments, _ = model.transcribe(sound, temperature=0.0, condition_on_previous_text=False, vad_filter=True, **options)
    return list(segments)


def _doubtful(segment: Any) -> bool:
    """Return whether a segment may be no speech, or a loop that the model fell into."""
    return bool(segment.no_speech_prob > _NO_SPEECH or segment.compression_ratio > _LOOP)


def _said(segment: Any) -> bool:
    """Return whether somebody has said a segment: words of a caller's are worth more than a loop is harm."""
    return bool(segment.no_speech_prob <= _NO_SPEECH and segment.compression_ratio <= _NONSENSE)


def _samples(pcm: bytes) -> "Samples":
    """Return sound as the model hears it: float32, 16,000 Hz."""
    import numpy as np
    import soxr

    whole = len(pcm) - len(pcm) % SAMPLE_WIDTH
    sound = np.frombuffer(pcm[:whole], "<i2").astype(np.float32) / 32768
    resampled: Samples = soxr.resample(sound, SAMPLE_RATE, _RATE)
    return resampled
