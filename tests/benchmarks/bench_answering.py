"""How soon a spoken turn is understood and answered: from the end of speech to the final words, and to the first sound.

The recorded calls are spoken as fast as they sound, once with the machine to itself and once with one core kept busy.
Moments are those of the log. Speech ends where turn detection found the silence to begin, reckoned on the log's clock
as a transcript reckons it (`wire/sound.py`); `speech_stopped` comes once that silence has lasted.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from measure import Row, endpoint, run
from recorded import recorded
from spoken import SILENCE_MS, busy_core, hold

import handoffkit as hk
from handoffkit.wire.frames import Frame

WHAT = f"From the end of speech to words and answer (turn detection: server_vad, {SILENCE_MS} ms of silence)"

WORDS = "conversation.item.input_audio_transcription.completed"
STOPPED = "input_audio_buffer.speech_stopped"
SOUND = "response.output_audio.delta"


@dataclass
class Waits:
    """Milliseconds that callers waited, a value each turn."""

    words: list[float] = field(default_factory=list)
    sound: list[float] = field(default_factory=list)
    told_words: list[float] = field(default_factory=list)
    """The same two, from the moment in which the service said that the turn was over."""
    told_sound: list[float] = field(default_factory=list)

    def take(self, call: hk.Call) -> None:
        """Read the turns of a call; one that the caller went on after before it was answered has no first sound."""
        ends = {turn.item_id: turn.end for turn in call.turns if turn.speaker == "caller"}
        stops = list(call.log.filter(STOPPED))
        words = {frame.data["item_id"]: frame.at for frame in call.log.filter(WORDS)}
        for stop, after in zip(stops, [*stops[1:], None], strict=True):
            item = stop.data["item_id"]
            ended = ends[item] - SILENCE_MS / 1000
            sound = _first(call, stop, after)
            if item in words:
                self.words.append(1e3 * (words[item] - ended))
                self.told_words.append(1e3 * (words[item] - stop.at))
            if sound is not None:
                self.sound.append(1e3 * (sound - ended))
                self.told_sound.append(1e3 * (sound - stop.at))

    def rows(self, how: str) -> list[Row]:
        """Return the rows of what was measured so."""
        return [
            Row.of(f"end of speech to final words, {how}", "ms", self.words),
            Row.of(f"end of speech to first sound of the answer, {how}", "ms", self.sound),
            Row.of(f"speech_stopped to final words, {how}", "ms", self.told_words),
            Row.of(f"speech_stopped to first sound of the answer, {how}", "ms", self.told_sound),
        ]


def measure(*, smallest: bool) -> list[Row]:
    """Return the rows for all turns of all calls, or for one turn."""
    calls = [call.files for call in recorded(smallest=smallest)]
    with endpoint(speech=True):
        return run(_rows([calls[0][:1]] if smallest else calls))


async def _rows(calls: Sequence[Sequence[Path]]) -> list[Row]:
    await hold(calls[0][:1], realtime=False)  # to warm up
    rows = []
    for how, load in (("idle", nullcontext), ("one core busy", busy_core)):
        waits = Waits()
        with load():
            for files in calls:
                waits.take((await hold(files, realtime=True))[0])
        rows += waits.rows(how)
    return rows


def _first(call: hk.Call, stop: Frame, after: Frame | None) -> float | None:
    """Return when the first sound came after the frame *stop* and before the frame *after*."""
    sounds = call.log.filter(SOUND, after_seq=stop.seq)
    return sounds[0].at if len(sounds) and (after is None or sounds[0].seq < after.seq) else None
