"""Which bytes of the recorded sound are a turn's."""

from handoffkit.wire.frames import AudioRef, Frame
from handoffkit.wire.spans import spans

SECOND = 48_000


class Wire:
    """Frames of one connection, whose client sends a second of sound at a time."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self._sent = 0

    def put(self, direction: str, event: str, audio: AudioRef | None = None, **data: object) -> None:
        seq = len(self.frames) + 1
        self.frames.append(Frame(seq, seq / 10, "c1", "realtime", direction, event, dict(data), None, audio))

    def send(self, seconds: int = 1) -> None:
        for _ in range(seconds):
            self.put("client", "input_audio_buffer.append", AudioRef("c1-caller.pcm", self._sent, SECOND))
            self._sent += SECOND

    def server(self, event: str, **data: object) -> None:
        self.put("server", f"input_audio_buffer.{event}", None, **data)

    def of(self, item: str) -> list[tuple[int, int]]:
        """Return begin and end, in bytes of the caller's file, of each piece of a turn's sound."""
        return [(ref.start, ref.start + ref.bytes) for ref in spans(self.frames, item)]


def test_a_detected_turn_lies_between_its_moments() -> None:
    wire = Wire()
    wire.send(2)
    wire.server("speech_started", item_id="a", audio_start_ms=500)
    wire.send(2)
    wire.server("speech_stopped", item_id="a", audio_end_ms=3250)
    wire.server("committed", item_id="a")
    assert wire.of("a") == [(24_000, SECOND), (SECOND, 2 * SECOND), (2 * SECOND, 3 * SECOND), (3 * SECOND, 156_000)]


def test_under_push_to_talk_a_turn_lies_between_two_commits_whenever_they_are_confirmed() -> None:
    wire = Wire()
    wire.send(1)
    wire.put("client", "input_audio_buffer.commit")
    wire.send(2)  # before the first is confirmed
    wire.put("client", "input_audio_buffer.commit")
    wire.server("committed", item_id="a")
    wire.server("committed", item_id="b")
    assert wire.of("a") == [(0, SECOND)]
    assert wire.of("b") == [(SECOND, 2 * SECOND), (2 * SECOND, 3 * SECOND)]


def test_what_was_cleared_is_no_turns() -> None:
    wire = Wire()
    wire.send(1)
    wire.put("client", "input_audio_buffer.clear")
    wire.server("cleared")
    wire.send(1)
    wire.put("client", "input_audio_buffer.commit")
    wire.server("committed", item_id="a")
    assert wire.of("a") == [(SECOND, 2 * SECOND)]


def test_a_refused_commit_takes_nothing() -> None:
    wire = Wire()
    wire.put("client", "input_audio_buffer.commit")
    wire.put("server", "error", error={"code": "input_audio_buffer_commit_empty"})
    wire.send(1)
    wire.put("client", "input_audio_buffer.commit")
    wire.server("committed", item_id="a")
    assert wire.of("a") == [(0, SECOND)]


def test_a_commit_in_the_middle_of_speech_ends_the_turn_there() -> None:
    wire = Wire()
    wire.send(1)
    wire.server("speech_started", item_id="a", audio_start_ms=250)
    wire.send(1)
    wire.put("client", "input_audio_buffer.commit")
    wire.server("committed", item_id="a")
    assert wire.of("a") == [(12_000, SECOND), (SECOND, 2 * SECOND)]


def test_a_replys_sound_is_that_of_its_own_deltas() -> None:
    wire = Wire()
    wire.send(1)
    for place, item in enumerate(("x", "y", "x")):
        wire.put("server", "response.output_audio.delta", AudioRef("c1-agent.pcm", place * 100, 100), item_id=item)
    assert wire.of("x") == [(0, 100), (200, 300)]


def test_an_unknown_or_typed_turn_has_no_sound() -> None:
    wire = Wire()
    wire.send(1)
    assert wire.of("nobody") == []
    wire.server("speech_started", item_id="a", audio_start_ms="soon")
    wire.server("speech_stopped", item_id="a")
    assert wire.of("a") == []
