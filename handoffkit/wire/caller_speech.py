"""What the caller says aloud in one realtime connection: turns of sound, the words that come of them, or their absence.

`conversation.py` feeds it the frames that are about sound; the items that it makes stand among the others. Pure.
"""

from collections.abc import Callable
from typing import Any

from .dialogue import Item, News
from .frames import Frame, obj, text
from .items import Items
from .measures import part_number, sound_bytes
from .sound import Hearing


class CallerSpeech:
    """The spoken turns of a connection's caller.

    Args:
        items: Where the turns go.
        news: Where it is told that a turn stays without words.
    """

    def __init__(self, items: Items, news: list[News]) -> None:
        self._items, self._news = items, news
        self.detection: dict[str, Any] | None = None
        """The settings of turn detection in force; None where the client takes the turns itself."""
        self.speaking: Item | None = None
        """The turn that the caller is speaking now, as the service's turn detection says."""
        self._hearing = Hearing()
        self._transcribes = True

    def feed(self, frame: Frame, data: dict[str, Any]) -> bool:
        """Take a frame; return whether it is about what the caller says aloud."""
        if (handler := _HANDLERS.get((frame.dir, frame.event))) is None:
            return False
        handler(self, data, frame)
        return True

    def set_up(self, heard: dict[str, Any]) -> None:
        """Take the session's settings for sound that comes in."""
        if "transcription" in heard:
            self._transcribes = heard["transcription"] is not None
        if "turn_detection" in heard:
            self.detection = obj(heard, "turn_detection") or None

    @property
    def sent(self) -> int:
        """Bytes of sound that the client has sent."""
        return self._hearing.sent

    def refuse_commit(self) -> None:
        """Forget the client's last commit, which the service did not take."""
        self._hearing.refuse()

    def silent(self, item: Item, reason: str) -> None:
        """Note that no words come of *item*, unless it has some."""
        item.pending = False
        if not item.text() and not item.inaudible and not item.hidden:
            item.inaudible = True
            self._news.append(("inaudible", item, reason))
        self._items.changed(item)

    def no_words(self, name: str) -> None:
        """Give up waiting for the words of the item called *name*."""
        if (item := self._items.named(name)) is not None and item.pending and item.speaker == "caller":
            item.pending, item.inaudible = False, not item.text()
            self._items.changed(item)

    def end(self) -> None:
        """Give up waiting for all words: the connection is closed."""
        for item in self._items.all:
            if item.pending and item.speaker == "caller":
                self.silent(item, "the connection was closed before its words came")

    # The client.

    def _append(self, data: dict[str, Any], frame: Frame) -> None:
        self._hearing.append(sound_bytes(data, frame), frame.at)

    def _commit(self, data: dict[str, Any], frame: Frame) -> None:
        self._hearing.commit(frame.at)

    # The service.

    def _heard(self, data: dict[str, Any], frame: Frame) -> Item:
        """Return the spoken item that an event is about; it waits for its words from the first on."""
        name = text(data, "item_id") or ""
        item = self._items.named(name)
        if item is None:
            item = self._items.add({"id": name, "type": "message", "role": "user"}, frame.seq, frame.at)
            item.pending = True
        item.spoken = True
        self._items.changed(item)
        return item

    def _started(self, data: dict[str, Any], frame: Frame) -> None:
        item = self.speaking = self._heard(data, frame)
        item.start, item.end = self._hearing.started(item.id, data.get("audio_start_ms"), frame.at), frame.at

    def _stopped(self, data: dict[str, Any], frame: Frame) -> None:
        item, self.speaking = self._heard(data, frame), None
        item.end, item.audio_ms = self._hearing.stopped(item.id, data.get("audio_end_ms"), frame.at)

    def _committed(self, data: dict[str, Any], frame: Frame) -> None:
        item, self.speaking = self._heard(data, frame), None
        start, end, length = self._hearing.take()
        if item.start is None:
            item.start, item.end, item.audio_ms = start, end, length
        self._items.place(item, text(data, "previous_item_id"))
        if not self._transcribes:
            self.silent(item, "the session does not transcribe what is said")

    def _cleared(self, data: dict[str, Any], frame: Frame) -> None:
        """Forget what was being spoken: the client has taken it back, so nobody has said it."""
        self._hearing.clear()
        if self.speaking is not None:
            self.speaking.hidden, self.speaking.pending = True, False
            self._items.changed(self.speaking)
            self.speaking = None

    def _timed_out(self, data: dict[str, Any], frame: Frame) -> None:
        self._heard(data, frame).hidden = True

    def _words(self, data: dict[str, Any], frame: Frame) -> None:
        item = self._heard(data, frame)
        item.pieces.setdefault(part_number(data), []).append(text(data, "delta") or "")

    def _words_done(self, data: dict[str, Any], frame: Frame) -> None:
        item = self._heard(data, frame)
        item.pieces.pop(part_number(data), None)
        item.whole[part_number(data)] = (text(data, "transcript") or "").strip()
        item.pending = item.inaudible = False
        if not item.text():
            self.silent(item, "no words were recognised in it")

    def _words_failed(self, data: dict[str, Any], frame: Frame) -> None:
        item = self._heard(data, frame)
        said = text(obj(data, "error"), "message")
        self.silent(item, f"the transcription failed{f' ({said})' if said else ''}")


_HANDLERS: dict[tuple[str, str], Callable[[CallerSpeech, dict[str, Any], Frame], None]] = {
    ("client", "input_audio_buffer.append"): CallerSpeech._append,
    ("client", "input_audio_buffer.commit"): CallerSpeech._commit,
    ("server", "input_audio_buffer.speech_started"): CallerSpeech._started,
    ("server", "input_audio_buffer.speech_stopped"): CallerSpeech._stopped,
    ("server", "input_audio_buffer.committed"): CallerSpeech._committed,
    ("server", "input_audio_buffer.cleared"): CallerSpeech._cleared,
    ("server", "input_audio_buffer.timeout_triggered"): CallerSpeech._timed_out,
    ("server", "conversation.item.input_audio_transcription.delta"): CallerSpeech._words,
    ("server", "conversation.item.input_audio_transcription.completed"): CallerSpeech._words_done,
    ("server", "conversation.item.input_audio_transcription.failed"): CallerSpeech._words_failed,
}
