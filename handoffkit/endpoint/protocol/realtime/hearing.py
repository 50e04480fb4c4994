"""The caller's sound in one session: buffered, cut into turns, waiting for its words.

Turn detection and recognition are done by somebody else (`Ears`); here stand the rules of the service. A moment is
told in milliseconds of all the sound that the client has ever sent, as the service tells it.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from ..api_error import ApiError
from ..deltas import obfuscation
from .audio import BYTES_PER_MS, InputBuffer
from .config import Config
from .items import Conversation, Entry

Event = dict[str, Any]

_SHORTEST_MS = 100  # of sound that can be committed
_TRANSCRIPTION = "conversation.item.input_audio_transcription"
_EAGERNESS_MS = {"low": 1200, "medium": 700, "auto": 700, "high": 400}
"""Silence that ends a turn under `semantic_vad`: the service reads the words for that; the simulation only waits."""


@dataclass(frozen=True, slots=True)
class SpeechStarted:
    """The caller has begun to speak."""

    ms: int
    """Where the turn begins in the sound, padding included."""


@dataclass(frozen=True, slots=True)
class SpeechStopped:
    """The caller has been silent for long enough."""

    ms: int
    """Where the turn ends in the sound, silence included."""
    pause: int | None = field(default=None, compare=False)
    """Up to where the turn is recognised, if its silence was long enough to begin with that before its end."""


class Detector(Protocol):
    """Tells where speech begins and ends in a stream of sound."""

    @property
    def pause(self) -> int | None:
        """Where in the silence that lasts the turn so far can be recognised; None while somebody speaks."""
        ...

    def feed(self, pcm: bytes) -> Iterable[SpeechStarted | SpeechStopped]:
        """Take the next piece (PCM16, mono, 24,000 Hz); moments count from the first piece that it was fed."""
        ...

    def configure(self, *, threshold: float, prefix_padding_ms: int, silence_duration_ms: int) -> None:
        """Change the settings from here on."""
        ...


class Ears(Protocol):
    """What hears for a session. Models may still be loading; whoever feeds the session waits for that."""

    @property
    def deaf(self) -> str:
        """Why nothing can be heard and what to do about it; empty if something can."""
        ...

    def detector(self, *, threshold: float, prefix_padding_ms: int, silence_duration_ms: int) -> Detector:
        """Return a detector for a new stream of sound."""
        ...


@dataclass(frozen=True, slots=True)
class Sound:
    """A turn of the caller's that waits for its words."""

    item_id: str
    pcm: bytes
    """PCM16, mono, 24,000 Hz."""
    language: str | None = None
    """As the session's transcription names it (ISO 639-1)."""
    prompt: str | None = None
    """What the client says about the words to expect."""


class Hearing:
    """Takes a session's sound and says what the service says about it.

    Args:
        conversation: Where a turn goes.
        emit: Makes an event.
        new_id: Makes an id for an item.
        ears: Who detects and recognises; None where nobody does.
    """

    def __init__(
        self, conversation: Conversation, emit: Callable[..., Event], new_id: Callable[..., str], ears: Ears | None
    ) -> None:
        self._conversation, self._emit, self._new_id, self._ears = conversation, emit, new_id, ears
        self._buffer = InputBuffer()
        self._detector: tuple[Detector, int] | None = None
        self._config: Config = {}
        self._speech: tuple[str, int] | None = None
        """Id and begin of the turn that is being spoken."""
        self._told = False
        self._waiting: list[Sound] = []
        self._sounds: dict[str, Entry] = {}

    def configure(self, config: Config) -> None:
        """Take the session's settings for sound that comes in."""
        self._config = config
        if config["turn_detection"] is None:
            self._detector, self._speech = None, None
        elif self._detector:
            self._detector[0].configure(**_settings(config["turn_detection"]))

    @property
    def detection(self) -> Config | None:
        """The settings of turn detection; None where the client takes the turns itself."""
        detection: Config | None = self._config["turn_detection"]
        return detection

    @property
    def speaking(self) -> Sound | None:
        """The sound so far of the turn that is being spoken, where its words are asked for while it is."""
        if self._speech is None or self._config["transcription"] is None:
            return None
        name, start = self._speech
        return self._sound(name, self._buffer.since(start))

    @property
    def pausing(self) -> Sound | None:
        """The turn so far while its caller pauses: if they go on to be silent, its words are recognised from this."""
        if self._speech is None or self._detector is None or (pause := self._detector[0].pause) is None:
            return None
        name, start = self._speech
        return self._sound(name, self._upto(self._buffer.since(start), start, pause + self._detector[1]))

    def append(self, pcm: bytes) -> Iterator[Event | SpeechStarted | SpeechStopped]:
        """Take sound; yield what the service says, and each change for whoever must act on it."""
        pcm = self._buffer.append(pcm)
        if self._ears and self._ears.deaf:
            yield from self._tell(self._ears.deaf)
            return
        begin = int(self._buffer.end_ms - len(pcm) / BYTES_PER_MS)
        for change in self._changes(pcm, begin):
            if isinstance(change, SpeechStarted):
                self._speech = self._new_id("item"), change.ms
                yield self._emit("input_audio_buffer.speech_started", audio_start_ms=change.ms, item_id=self._speech[0])
                yield change
            elif self._speech:
                name, start = self._speech
                self._speech = None
                yield self._emit("input_audio_buffer.speech_stopped", audio_end_ms=change.ms, item_id=name)
                turn = self._buffer.cut(start, change.ms)
                yield from self._taken(name, turn, self._upto(turn, start, change.pause))
                yield change

    def commit(self) -> Iterator[Event]:
        """Make a turn of what is in the buffer: of the turn that is being spoken, where one is.

        Raises:
            ApiError: There is too little sound.
        """
        ms = self._buffer.ms
        if ms < _SHORTEST_MS:
            message = (
                f"Error committing input audio buffer: buffer too small. Expected at least {_SHORTEST_MS}ms of audio, "
                f"but buffer only has {ms:.2f}ms of audio."
            )
            raise ApiError(message, code="input_audio_buffer_commit_empty")
        name, start = self._speech or (self._new_id("item"), 0)
        self._forget_speech()
        turn = self._buffer.cut(start)
        yield from self._taken(name, turn, turn)

    def clear(self) -> Iterator[Event]:
        """Forget what is in the buffer, also what is being spoken."""
        self._buffer.take()
        self._forget_speech()
        yield self._emit("input_audio_buffer.cleared")

    def sounds(self) -> list[Sound]:
        """Return the turns that wait for a recogniser; each is handed out once."""
        waiting, self._waiting = self._waiting, []
        return waiting

    def partial(self, item_id: str, delta: str) -> Iterator[Event]:
        """Say further words of the turn that is being spoken, or that has just been."""
        if self._config["transcription"] is not None:
            padded = {"delta": delta, "obfuscation": obfuscation(delta, item_id)}
            yield self._emit(f"{_TRANSCRIPTION}.delta", item_id=item_id, content_index=0, **padded)

    def words(self, item_id: str, transcript: str, deltas: Iterable[str]) -> list[Event]:
        """Take what a turn's words are; return what the service says of them, *deltas* first."""
        entry = self._sounds.pop(item_id)
        entry.heard, entry.listening = transcript, False
        if self._config["transcription"] is None:
            return []
        entry.item["content"][0]["transcript"] = transcript
        seconds = max(1, round(entry.audio_ms / 1000))
        said = [event for delta in deltas for event in self.partial(item_id, delta)]
        whole = {"item_id": item_id, "content_index": 0, "transcript": transcript}
        return [
            *said,
            self._emit(f"{_TRANSCRIPTION}.completed", **whole, usage={"type": "duration", "seconds": seconds}),
        ]

    def no_words(self, item_id: str, code: str, message: str) -> list[Event]:
        """Take that a turn's words will not come; return what the service says of that."""
        self._sounds.pop(item_id).listening = False
        if self._config["transcription"] is None:
            return []
        error = {"type": "server_error", "code": code, "message": message, "param": None}
        return [self._emit(f"{_TRANSCRIPTION}.failed", item_id=item_id, content_index=0, error=error)]

    def _changes(self, pcm: bytes, begin: int) -> Iterator[SpeechStarted | SpeechStopped]:
        if self.detection is None or self._ears is None:
            return
        if self._detector is None:
            self._detector = self._ears.detector(**_settings(self.detection)), begin
        detector, offset = self._detector
        for change in detector.feed(pcm):
            moved = replace(change, ms=change.ms + offset)
            if isinstance(moved, SpeechStopped) and moved.pause is not None:
                moved = replace(moved, pause=moved.pause + offset)
            yield moved

    def _forget_speech(self) -> None:
        """Begin anew with the next sound: what has been spoken so far is no part of the next turn."""
        self._speech = self._detector = None
        self._told = False

    def _tell(self, deaf: str) -> Iterator[Event]:
        if not self._told:
            self._told = True
            error = {"type": "server_error", "code": "speech_not_installed", "message": deaf, "param": None}
            yield self._emit("error", error={**error, "event_id": None})

    def _taken(self, name: str, pcm: bytes, recognised: bytes) -> Iterator[Event]:
        content = [{"type": "input_audio", "transcript": None}]
        item = {"id": name, "type": "message", "status": "completed", "role": "user", "content": content}
        entry = Entry(item, audio_ms=len(pcm) // BYTES_PER_MS)
        self._conversation.add(entry)
        before = self._conversation.before(entry)
        yield self._emit("input_audio_buffer.committed", previous_item_id=before, item_id=name)
        for kind in ("conversation.item.added", "conversation.item.done"):
            yield self._emit(kind, previous_item_id=before, item=entry.shown())
        yield from self._recognise(entry, recognised)

    def _recognise(self, entry: Entry, pcm: bytes) -> Iterator[Event]:
        name = entry.item["id"]
        self._sounds[name] = entry
        if self._ears is not None and not self._ears.deaf:
            entry.listening = True
            self._waiting.append(self._sound(name, pcm))
            return
        deaf = (
            self._ears.deaf
            if self._ears
            else "Speech recognition is not installed here, so the words of this turn are not known. Type the turn."
        )
        yield from self.no_words(name, "speech_recognition_not_installed", deaf)

    def _sound(self, name: str, pcm: bytes) -> Sound:
        wanted = self._config["transcription"] or {}
        return Sound(name, pcm, wanted.get("language"), wanted.get("prompt"))

    @staticmethod
    def _upto(pcm: bytes, start: int, end: int | None) -> bytes:
        """Return the sound of a turn that began at *start* up to *end* (ms); all of it where there is no end."""
        return pcm if end is None else pcm[: (end - start) * BYTES_PER_MS]


def _settings(detection: Config) -> dict[str, Any]:
    """Return what a detector is told; `semantic_vad` is simulated by the length of a silence."""
    if detection["type"] == "semantic_vad":
        silence = _EAGERNESS_MS[detection["eagerness"] or "auto"]
        return {"threshold": 0.5, "prefix_padding_ms": 300, "silence_duration_ms": silence}
    return {name: detection[name] for name in ("threshold", "prefix_padding_ms", "silence_duration_ms")}
