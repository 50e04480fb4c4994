"""The voice: any text gives sound, the same on every run, and without a network."""

import socket

import pytest
from speech_sounds import needs_speech, samples, say, voice

from handoffkit.endpoint.speech.tts import Voice

needs_speech()


def seconds(sound: bytes) -> float:
    return len(sound) / 48_000


def test_each_sentence_is_a_block() -> None:
    blocks = list(voice().sentences("Hello there. How can I help you? Please tell me."))
    assert len(blocks) == 3
    assert all(len(block) % 2 == 0 and 0.3 < seconds(block) < 4 for block in blocks)


def test_the_same_text_sounds_the_same() -> None:
    assert say("Thank you for calling.") == say("Thank you for calling.")
    assert next(voice().sentences("Thank you. Goodbye.")) == say("Thank you.")


def test_the_voice_is_neither_silent_nor_cut_off_at_its_peaks() -> None:
    sound = abs(samples(say("The laptop is on the table.")))
    assert 0.1 < sound.max() < 0.999


def test_speed_changes_how_long_it_takes() -> None:
    text = "The technician comes tomorrow morning."
    assert seconds(say(text, 1.5)) < 0.8 * seconds(say(text)) < 0.8 * 0.8 * seconds(say(text, 0.5))


@pytest.mark.parametrize("text", ["😀👍", "你好，世界", "…", "---", "\ud800", "\x00\x01", "   "])
def test_what_cannot_be_spoken_is_a_moment_of_silence_or_so(text: str) -> None:
    assert 0 < seconds(say(text)) < 3


def test_nothing_gives_nothing() -> None:
    assert list(voice().sentences("")) == []


@pytest.mark.parametrize("text", ["Room 12, order 1250, $9.99, 50%.", "Call 555-0192 at 7:30 pm.", "1" * 60])
def test_numbers_are_spoken(text: str) -> None:
    assert seconds(say(text)) > 2


def test_a_long_text_without_a_full_stop_comes_in_parts() -> None:
    blocks = list(voice().sentences("and then it stopped working again " * 40))
    assert len(blocks) > 4
    assert max(map(seconds, blocks)) < 30


def test_a_word_without_an_end_is_spoken_in_parts() -> None:
    assert len(list(voice().sentences("a" * 1000))) > 4


def test_the_voice_asks_no_network(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("The voice opened a connection.")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setenv("HIBARI_HOME", str(tmp_path_factory.mktemp("empty")))
    assert seconds(b"".join(Voice().sentences("Hello."))) > 0.3


def test_nobody_waits_for_silence() -> None:
    """The voice begins within 60 ms of its first byte, and the pause after a sentence is short."""
    import numpy as np

    [first, _] = Voice().sentences("Have you tried another outlet? Please do.")
    loud = np.flatnonzero(abs(np.frombuffer(first, "<i2").astype(np.int32)) > 0.004 * 32767)
    assert loud[0] <= 0.06 * 24000
    assert 0.15 * 24000 <= len(first) // 2 - loud[-1] <= 0.25 * 24000
