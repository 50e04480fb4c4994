"""How much of which item has been heard, as openai-agents asks when a reply is stopped."""

import math

from agents.realtime import RealtimePlaybackTracker
from agents.realtime.model import RealtimePlaybackState

from ..audio import BYTES_PER_MS
from ..speaker import Playback


class HeardTracker(RealtimePlaybackTracker):
    """Answers from what was really played; the SDK's own tracker would be told each piece.

    Args:
        playback: Where the agent's sound goes.

    Attributes:
        playing: Whether the sound is played; else nobody knows how much was heard, unless it is told.
    """

    def __init__(self, playback: Playback) -> None:
        super().__init__()
        self._playback = playback
        self.playing = False
        self._begun: list[tuple[str, int, int]] = []
        self._stopped: int | None = None
        self._told_ms: int | None = None

    def begins(self, item_id: str, content_index: int) -> None:
        """Note that sound of this item comes next, if it is another than before."""
        if not self._begun or self._begun[-1][:2] != (item_id, content_index):
            self._begun.append((item_id, content_index, self._playback.written))
            del self._begun[:-8]  # those that were played long ago are never asked for

    def stopped_at(self, position: int) -> None:
        """Know where playback was stopped, in bytes: after that, all that was written counts as passed."""
        self._stopped = position

    def heard(self, ms: int) -> None:
        """Answer with *ms* of the last item, whatever was played: the caller of `interrupt` knows better."""
        self._told_ms = ms

    def on_interrupted(self) -> None:
        """Forget what was told of a reply that has been stopped."""
        super().on_interrupted()
        self._stopped = self._told_ms = None

    def get_state(self) -> RealtimePlaybackState:
        """Return which item is being heard, and how many milliseconds of it have been."""
        position = self._playback.position if self._stopped is None else self._stopped
        found = [begun for begun in self._begun if begun[2] <= position] or self._begun[:1]
        if self._told_ms is not None:
            found = self._begun[-1:]
        if not found or not (self.playing or self._told_ms is not None):
            return {"current_item_id": None, "current_item_content_index": None, "elapsed_ms": None}
        item_id, content_index, first = found[-1]
        whole = position >= self._playback.written and self._told_ms is None
        ms = max(0, position - first) / BYTES_PER_MS if self._told_ms is None else self._told_ms
        ms = math.ceil(ms) if whole else ms  # the SDK takes anything less for a reply that was not heard out
        return {"current_item_id": item_id, "current_item_content_index": content_index, "elapsed_ms": ms}
