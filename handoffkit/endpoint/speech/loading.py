"""All of speech, loaded beside everything else: a worker thread loads it, and the first turn does not pay for it."""

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

from .errors import INSTALL, NotReady

if TYPE_CHECKING:
    from .stt import Recogniser
    from .tts import Voice
    from .turn_detection import TurnDetector

State = Literal["loading", "ready", "missing", "failed"]

_HEARING, _SPEAKING = "speech recognition", "the voice"
_MODULES = {
    _HEARING: ("faster_whisper", "numpy", "onnxruntime", "soxr"),
    _SPEAKING: ("hibari", "numpy", "onnxruntime"),
}
"""What each part imports."""


class Speech:
    """What hears and speaks on this machine, as far as it is installed and loaded.

    Its two parts stand for themselves: where the recogniser has no weights, the voice still speaks.

    Args:
        stt_model: A folder of weights for the recogniser; by default the first that `weights.find` finds.
    """

    def __init__(self, stt_model: str | None = None) -> None:
        self._stt_model = stt_model
        self._recogniser: Recogniser | None = None
        self._voice: Voice | None = None
        self._missing = {part: lacks for part in _MODULES if (lacks := _not_installed(part))}
        self._failed: dict[str, str] = {}
        self._loaded: Future[None] = Future()
        self._voiced: Future[None] = Future()
        self.seconds = 0.0
        """How long loading took."""

    @classmethod
    def start(cls, stt_model: str | None = None) -> "Speech":
        """Begin to load everything that is installed, in a thread that ends with the process; return at once."""
        speech = cls(stt_model)
        if len(speech._missing) == len(_MODULES):
            speech._voiced.set_result(None)
            speech._loaded.set_result(None)
        else:
            threading.Thread(target=speech._load, name="speech", daemon=True).start()
        return speech

    async def wait(self, timeout: float = 60.0) -> bool:
        """Wait until nothing is loading any more, for *timeout* seconds at the most; return whether that is so."""
        return await _done(self._loaded, timeout)

    async def wait_for_voice(self, timeout: float = 60.0) -> bool:
        """Wait until the voice is loaded, or will not be; the recogniser may still be loading then."""
        return await _done(self._voiced, timeout)

    @property
    def state(self) -> State:
        """How far it is: `missing` and `failed` if that is so of any part."""
        if not self._loaded.done():
            return "loading"
        return "failed" if self._failed else "missing" if self._missing else "ready"

    @property
    def hears(self) -> bool:
        """Whether turns can be detected and recognised."""
        return self._recogniser is not None

    @property
    def speaks(self) -> bool:
        """Whether replies can be spoken."""
        return self._voice is not None

    @property
    def problem(self) -> str:
        """What does not work, and what to do about it; empty if nothing is known not to."""
        return " ".join(filter(None, map(self._problem, _MODULES)))

    @property
    def deaf(self) -> str:
        """Why nothing can be heard and what to do about it; empty if something can."""
        if self.hears:
            return ""
        return self._problem(_HEARING) or "The models of speech recognition are still loading. Try again in a moment."

    @property
    def recogniser(self) -> "Recogniser":
        """What recognises words.

        Raises:
            NotReady: It is not loaded.
        """
        if self._recogniser is None:
            raise NotReady(self.deaf)
        return self._recogniser

    @property
    def voice(self) -> "Voice":
        """What speaks.

        Raises:
            NotReady: It is not loaded.
        """
        if self._voice is None:
            raise NotReady(self._problem(_SPEAKING) or "The voice is still loading. Try again in a moment.")
        return self._voice

    def detector(
        self, *, threshold: float = 0.5, prefix_padding_ms: int = 300, silence_duration_ms: int = 200
    ) -> "TurnDetector":
        """Return a detector for a new stream of sound.

        Raises:
            NotReady: Its model is not loaded.
        """
        if not self.hears:
            raise NotReady(self.deaf)
        from .turn_detection import TurnDetector
        from .voice_activity import silero

        return TurnDetector(
            silero(),
            threshold=threshold,
            prefix_padding_ms=prefix_padding_ms,
            silence_duration_ms=silence_duration_ms,
        )

    def _problem(self, part: str) -> str:
        if lacks := self._missing.get(part):
            return f"For {part} something is not installed: {', '.join(lacks)}. Run `{INSTALL}`, then connect again."
        return self._failed.get(part, "")

    def _load(self) -> None:
        began = time.monotonic()
        # The voice comes first: an agent may greet before anybody has spoken.
        for part, load in ((_SPEAKING, self._load_voice), (_HEARING, self._load_ears)):
            if part not in self._missing:
                self._try(part, load)
            if part == _SPEAKING:
                self._voiced.set_result(None)
        self.seconds = time.monotonic() - began
        self._loaded.set_result(None)

    def _try(self, part: str, load: Callable[[], None]) -> None:
        try:
            load()
        except Exception as error:  # whatever a library raises: the other part goes on
            self._failed[part] = f"Loading {part} failed: {type(error).__name__}: {error}"

    def _load_voice(self) -> None:
        from .tts import Voice

        voice = Voice()
        voice.warm_up()
        self._voice = voice

    def _load_ears(self) -> None:
        from .stt import Recogniser
        from .turn_detection import TurnDetector
        from .voice_activity import silero

        second = bytes(48_000)
        TurnDetector(silero()).feed(second)
        recogniser = Recogniser(self._stt_model)
        recogniser.warm_up()
        self._recogniser = recogniser


async def _done(future: "Future[None]", timeout: float) -> bool:
    if not future.done():
        await asyncio.wait([asyncio.wrap_future(future)], timeout=timeout)
    return future.done()


def _not_installed(part: str) -> list[str]:
    """Return the modules that a part lacks, without importing any."""
    return [name for name in _MODULES[part] if find_spec(name) is None]
