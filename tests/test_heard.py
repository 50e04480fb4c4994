"""The measure that tests of sound use: it finds a sound that was moved or made quieter, and misses one that is gone."""

import numpy as np
import pytest
import soxr
from conftest import ROOT
from heard import RATE, heard, level

from handoffkit import audio

SAID = audio.load(ROOT / "audio" / "laptop-will-not-charge" / "turn-1.wav").pcm
OTHER = audio.load(ROOT / "audio" / "router-drops" / "turn-1.wav").pcm
AT = RATE // 2


def pcm(samples: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> bytes:
    return samples.round().clip(-32768, 32767).astype("<i2").tobytes()


def samples(sound: bytes = SAID) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    return np.frombuffer(sound, "<i2").astype(float)


def captured(sound: bytes) -> bytes:
    return bytes(2 * AT) + sound + bytes(2 * AT)


def test_the_same_sound_is_found_whole_and_where_it_begins() -> None:
    found = heard(captured(SAID), SAID)
    assert found.whole == found.share == 1
    assert found.begins == pytest.approx(0.5)
    assert found.ends == pytest.approx(len(SAID) / 2 / RATE, abs=0.3)
    assert found.missed == len(SAID) / 2 / RATE


@pytest.mark.parametrize("rate", [44_100, 48_000])
def test_a_sound_that_was_resampled_halved_and_moved_by_half_a_sample_is_the_same(rate: int) -> None:
    there = soxr.resample(soxr.resample(samples() / 2, RATE, rate), rate, RATE)
    between = (there[1:] + there[:-1]) / 2
    assert heard(captured(pcm(between)), SAID).whole > 0.98


@pytest.mark.parametrize("ms", [10, 50, 200, 800])
def test_a_gap_costs_the_windows_at_its_edge_and_no_others(ms: int) -> None:
    cut = int(abs(samples()).argmax())  # in the middle of a word
    torn = SAID[: 2 * cut] + bytes(ms * audio.BYTES_PER_MS) + SAID[2 * cut :]
    assert 0.9 < heard(captured(torn), SAID).whole < 1


def test_a_piece_that_is_not_there_is_missed() -> None:
    silent = SAID[: 2 * RATE] + bytes(2 * RATE) + SAID[4 * RATE :]
    found = heard(captured(silent), SAID)
    assert found.whole < 0.9
    assert found.ends == heard(captured(SAID), SAID).ends


def test_where_a_sound_was_cut_off_is_told_within_a_window() -> None:
    cut = int(abs(samples()).argmax())
    found = heard(captured(SAID[: 2 * cut]), SAID)
    assert found.share == 1
    assert found.ends <= cut / RATE <= found.missed < found.ends + 0.1


def test_a_sound_that_was_cut_off_in_a_pause_was_cut_off_somewhere_in_it() -> None:
    quiet = SAID[: 2 * RATE] + bytes(2 * RATE) + SAID[2 * RATE :]
    found = heard(captured(quiet[: 3 * RATE]), quiet)
    assert found.ends <= 1.0 < 2.0 < found.missed


def test_another_sound_and_silence_are_not_this_one() -> None:
    assert heard(captured(OTHER), SAID).whole < 0.1
    assert heard(bytes(len(SAID)), SAID).whole == 0
    assert heard(b"", SAID).whole == 0


def test_a_level_is_the_rms_of_a_part() -> None:
    tone = pcm(np.sin(np.arange(RATE) / 3) * 16384)
    assert level(captured(tone), 0.5, 1.5) == pytest.approx(0.5 / 2**0.5, rel=0.01)
    assert level(captured(tone), 0, 0.5) == level(b"", 0, 1) == 0
