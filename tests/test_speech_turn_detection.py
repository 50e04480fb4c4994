"""When somebody speaks: the rules on made-up probabilities, and the real model on real sound."""

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from speech_sounds import beats, clicks, needs_speech, pause, pcm, pink, say, tight, white

from handoffkit.endpoint.protocol.realtime.hearing import SpeechStarted, SpeechStopped
from handoffkit.endpoint.speech.turn_detection import FRAME_MS, PAUSE_MS, Change, TurnDetector

FRAME = 48 * FRAME_MS


def scripted(probabilities: list[float]) -> Callable[[Any], float]:
    """Return a judge that says these, frame by frame, and then silence."""
    left = iter(probabilities)
    return lambda frame: next(left, 0.0)


def changes(probabilities: list[float], **options: Any) -> list[Change]:
    detector = TurnDetector(scripted(probabilities), **options)
    return detector.feed(bytes(FRAME * (len(probabilities) + 40)))


def test_a_turn_begins_a_padding_before_speech_and_ends_with_enough_silence() -> None:
    # The frames 50 to 79 are speech: from 1600 ms to 2560 ms; seven frames of silence are the first 200 ms or more.
    found = changes([0.0] * 50 + [0.9] * 30)
    assert found == [SpeechStarted(1300), SpeechStopped(2560 + 7 * 32)]


def test_moments_lie_on_the_grid_of_the_recorded_service() -> None:
    [start, stop] = changes([0.0] * 55 + [0.9] * 71, silence_duration_ms=200)
    assert ((start.ms + 300) % 32, stop.ms % 32) == (0, 0)
    assert start == SpeechStarted(1460)


def test_a_turn_begins_never_before_the_sound_or_before_the_end_of_the_turn_before() -> None:
    found = changes([0.9] * 10 + [0.0] * 8 + [0.9] * 10)
    assert found[0] == SpeechStarted(0)
    assert found[2].ms == found[1].ms == 17 * 32


@pytest.mark.parametrize(("frames", "turns"), [(1, 0), (4, 0), (5, 1), (20, 1)])
def test_what_is_shorter_than_a_word_is_no_turn(frames: int, turns: int) -> None:
    assert len(changes([0.0] * 10 + [0.9] * frames)) == 2 * turns


def test_a_probability_between_the_two_thresholds_keeps_what_is() -> None:
    assert changes([0.45] * 40) == []
    found = changes([0.9] * 10 + [0.45] * 40 + [0.9] * 10)
    assert len(found) == 2


def test_silence_that_is_too_short_ends_no_turn() -> None:
    found = changes([0.9] * 10 + [0.0] * 15 + [0.9] * 10, silence_duration_ms=500)
    assert found == [SpeechStarted(0), SpeechStopped((35 + 16) * 32)]


def test_a_pause_is_told_while_it_lasts_and_stays_where_the_turn_ends() -> None:
    detector = TurnDetector(scripted([0.9] * 10 + [0.0] * 9 + [0.9] * 10), silence_duration_ms=500)
    pauses = [detector.pause for _ in range(31) if detector.feed(bytes(FRAME)) is not None]
    [before, pause, after] = [pause for pause, _ in groupby(pauses)]
    assert (before, pause, after) == (None, 10 * 32 + PAUSE_MS, None)
    assert pauses.count(pause) == 9 - PAUSE_MS // 32 + 1
    [stopped] = detector.feed(bytes(FRAME * 40))
    assert isinstance(stopped, SpeechStopped)
    assert (stopped.ms, stopped.pause) == ((29 + 16) * 32, 29 * 32 + PAUSE_MS)


def test_where_turns_end_sooner_there_is_no_pause_to_begin_in() -> None:
    [_, stopped] = changes([0.9] * 10, silence_duration_ms=100)
    assert isinstance(stopped, SpeechStopped)
    assert stopped.pause is None


def test_settings_change_on_a_clock_that_goes_on() -> None:
    detector = TurnDetector(scripted([0.0] * 20 + [0.4] * 20), threshold=0.9)
    assert detector.feed(bytes(FRAME * 21)) == []
    detector.configure(threshold=0.3)
    [started] = detector.feed(bytes(FRAME * 10))
    assert started.ms >= 20 * 32 - 300
    assert detector.speaking
    detector.configure(silence_duration_ms=64)
    [stopped] = detector.feed(bytes(FRAME * 40))
    assert stopped == SpeechStopped(42 * 32)
    assert not detector.speaking


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.sampled_from([0.0, 0.3, 0.45, 0.6, 0.95]), min_size=1, max_size=60),
    st.lists(st.one_of(st.integers(1, 7), st.integers(1, 5000), st.just(48_000)), min_size=1, max_size=200),
    st.integers(0, 600),
)
def test_the_pieces_that_sound_comes_in_change_nothing(
    probabilities: list[float], sizes: list[int], silence: int
) -> None:
    sound = bytes(FRAME * 70)
    whole = TurnDetector(scripted(probabilities), silence_duration_ms=silence).feed(sound)
    detector = TurnDetector(scripted(probabilities), silence_duration_ms=silence)
    assert [change for piece in cut(sound, sizes) for change in detector.feed(piece)] == whole
    assert [type(change) for change in whole] == [SpeechStarted, SpeechStopped] * (len(whole) // 2)
    assert [change.ms for change in whole] == sorted(change.ms for change in whole)


def cut(sound: bytes, sizes: list[int]) -> Iterator[bytes]:
    """Cut *sound* into pieces of these sizes; what is left over is the last."""
    at = 0
    for size in sizes:
        yield sound[at : at + size]
        at += size
    yield sound[at:]


# The real model from here on.


def detector(**options: Any) -> TurnDetector:
    needs_speech()
    from handoffkit.endpoint.speech.voice_activity import silero

    return TurnDetector(silero(), **options)


def turns(sound: bytes, **options: Any) -> list[Change]:
    return detector(**options).feed(sound)


@pytest.fixture(scope="module")
def two() -> Callable[[int], bytes]:
    needs_speech()
    one, other = tight(say("My laptop does not charge")), tight(say("It started this morning"))
    return lambda ms: pause(600) + one + pause(ms) + other + pause(1500)


@pytest.mark.parametrize(
    ("gap", "silence", "count"),
    [(150, 200, 1), (150, 700, 1), (500, 200, 2), (500, 700, 1), (900, 200, 2), (900, 700, 2)],
)
def test_the_silence_that_a_session_asks_for_decides_where_turns_end(
    two: Callable[[int], bytes], gap: int, silence: int, count: int
) -> None:
    found = turns(two(gap), silence_duration_ms=silence)
    assert [type(change) for change in found] == [SpeechStarted, SpeechStopped] * count


def test_moments_of_real_speech_are_where_the_speech_is(two: Callable[[int], bytes]) -> None:
    sound = two(900)
    found = turns(sound, silence_duration_ms=500)
    assert 250 <= found[0].ms <= 400  # speech begins at 600 ms, and the padding is 300 ms
    last = len(sound) // 48 - 1500
    assert last + 400 <= found[-1].ms <= last + 800


def test_real_sound_gives_the_same_in_any_pieces(two: Callable[[int], bytes]) -> None:
    sound = two(500)
    expected = turns(sound)
    for size in (1, 479, 4801, 48_000):
        each = detector()
        pieces = (sound[at : at + size] for at in range(0, len(sound), size))
        assert [change for piece in pieces for change in each.feed(piece)] == expected, size


def test_a_sample_cut_in_two_is_put_together() -> None:
    sound = pause(500) + say("Hello there, how are you?") + pause(500)
    expected = turns(sound)
    each = detector()
    assert expected
    assert [*each.feed(sound[:20_001]), *each.feed(b""), *each.feed(sound[20_001:])] == expected


@pytest.mark.parametrize("make", [clicks, pink, white, beats, lambda seconds: white(seconds, 0)])
def test_noise_is_no_turn(make: Callable[[float], Any]) -> None:
    assert turns(pcm(make(20.0))) == []


def test_a_word_of_one_syllable_is_a_turn() -> None:
    for word in ("No.", "Yes.", "Hi."):
        assert len(turns(pause(400) + say(word) + pause(600), silence_duration_ms=400)) == 2, word


def test_streams_do_not_disturb_each_other(two: Callable[[int], bytes]) -> None:
    sound, noise = two(500), pcm(pink(6.0))
    expected, one, other = turns(sound), detector(), detector()
    found = []
    for at in range(0, len(sound), FRAME):
        found += one.feed(sound[at : at + FRAME])
        other.feed(noise[at : at + FRAME])
    assert found == expected
