"""Which of the recorded sound is a turn's: the service counts what it was sent, so the bytes can be found again."""

from collections.abc import Iterable

from ..audio import BYTES_PER_MS
from .frames import AudioRef, Frame, obj, text


def spans(frames: Iterable[Frame], item_id: str) -> list[AudioRef]:
    """Return where the sound of a turn lies.

    Args:
        frames: Those of its connection, in order.
        item_id: The turn's item.

    A caller's turn lies between the moments that turn detection named or, under push-to-talk, between two commits.
    """
    caller = _Caller(item_id)
    agent: list[AudioRef] = []
    for frame in frames:
        if frame.event == "response.output_audio.delta" and frame.audio and text(frame.data, "item_id") == item_id:
            agent.append(frame.audio)
        else:
            caller.feed(frame)
    return agent or caller.refs()


class _Caller:
    """Looks for one turn in what the client sent."""

    def __init__(self, item_id: str) -> None:
        self._item_id = item_id
        self._sent: list[tuple[int, AudioRef]] = []
        """Each piece, and how many bytes had been sent before it."""
        self._bytes = self._begin = 0
        self._commits: list[int] = []
        self._starts: dict[str, int] = {}
        self._found: tuple[int, int] | None = None

    def feed(self, frame: Frame) -> None:
        match frame.dir, frame.event:
            case "client", "input_audio_buffer.append" if frame.audio:
                self._sent.append((self._bytes, frame.audio))
                self._bytes += frame.audio.bytes
            case "client", "input_audio_buffer.commit":
                self._commits.append(self._bytes)
            case "server", "input_audio_buffer.cleared":
                self._begin = self._bytes
            case "server", "input_audio_buffer.speech_started":
                self._starts[text(frame.data, "item_id") or ""] = _bytes(frame.data.get("audio_start_ms"))
            case "server", "input_audio_buffer.speech_stopped":
                self._take(text(frame.data, "item_id"), _bytes(frame.data.get("audio_end_ms")))
            case "server", "input_audio_buffer.committed" if self._commits:
                self._take(text(frame.data, "item_id"), self._commits.pop(0))
            case "server", "error" if (text(obj(frame.data, "error"), "code") or "").endswith("commit_empty"):
                self._commits[:1] = []

    def _take(self, name: str | None, end: int) -> None:
        if name == self._item_id:
            self._found = self._starts.get(name, self._begin), end
        self._begin = end

    def refs(self) -> list[AudioRef]:
        if self._found is None:
            return []
        start, end = self._found
        return [cut for at, ref in self._sent if (cut := _cut(ref, start - at, end - at)).bytes > 0]


def _cut(ref: AudioRef, start: int, end: int) -> AudioRef:
    start, end = max(0, start), min(ref.bytes, end)
    return AudioRef(ref.file, ref.start + start, end - start)


def _bytes(ms: object) -> int:
    return int(ms * BYTES_PER_MS) if isinstance(ms, int | float) else 0
