"""Sound on its way to a sound card, without one: nothing is lost, and what has been heard is counted."""

import numpy as np
import pytest

from handoffkit.sound_card.playout import Playout

TONE = (np.sin(np.arange(24_000) / 7) * 9000).astype("<i2").tobytes()


def fetched(out: Playout, seconds: float, begin: float = 0.0, step: float = 0.01, ahead: float = 0.05) -> bytes:
    """Fetch as a card does, each piece heard *ahead* seconds later."""
    frames = int(out.rate * step)
    return b"".join(out.take(frames, begin + number * step + ahead) for number in range(round(seconds / step)))


@pytest.mark.parametrize("rate", [24_000, 44_100, 48_000, 16_000])
def test_all_that_is_written_comes_out_and_is_counted(rate: int) -> None:
    out = Playout(rate)
    for at in range(0, len(TONE), 4800):
        out.write(TONE[at : at + 4800])
    out.finish()
    sound = np.frombuffer(fetched(out, 1.5), "<i2")
    assert sound.size == pytest.approx(1.5 * rate, abs=rate * 0.01)
    assert np.flatnonzero(np.abs(sound) > 1)[-1] == pytest.approx(rate, abs=rate * 0.001)
    places = [out.position(moment) for moment in (0.0, 0.05, 0.3, 0.55, 1.04, 1.2)]
    assert places[:2] == [0, 0]
    assert places[2:4] == [pytest.approx(48_000 * 0.25, abs=10), pytest.approx(48_000 * 0.5, abs=10)]
    assert places[4] < len(TONE)
    assert places[5] == len(TONE) == out.written


def test_sound_begins_when_there_is_enough_of_it_or_no_more_comes() -> None:
    out = Playout(24_000)
    out.write(TONE[:2400])  # 50 ms
    assert not any(fetched(out, 0.1))
    assert out.position(9.0) == 0
    out.write(TONE[2400:4800])
    assert any(fetched(out, 0.02))
    short = Playout(24_000)
    short.write(TONE[:2400])
    short.finish()
    assert fetched(short, 0.05) == TONE[:2400]


def test_a_pause_between_two_replies_counts_for_neither() -> None:
    out = Playout(48_000)
    for begin in (0.0, 2.0):
        out.write(TONE)
        out.finish()
        fetched(out, 1.5, begin)
    assert out.position(1.9) == len(TONE)
    assert out.position(2.55) == pytest.approx(len(TONE) + 24_000, abs=10)
    assert out.position(4.0) == 2 * len(TONE)


def test_what_is_dropped_counts_as_passed_and_the_place_is_where_the_card_stops() -> None:
    out = Playout(48_000)
    out.write(TONE)
    fetched(out, 0.3)
    place, heard = out.drop()
    assert place == pytest.approx(48_000 * 0.3, abs=4)
    assert heard == pytest.approx(0.35, abs=0.001)
    assert out.position(0.2) == len(TONE)
    assert not any(fetched(out, 0.2, 0.3))
    out.write(TONE)
    out.finish()
    fetched(out, 1.5, 1.0)
    assert out.position(1.55) == pytest.approx(len(TONE) + 24_000, abs=10)
    assert out.position(3.0) == 2 * len(TONE)


def test_the_place_never_goes_back_nor_beyond_what_was_written() -> None:
    out = Playout(44_100)
    random = np.random.default_rng(3)
    now, before = 0.0, 0
    for _ in range(300):
        match random.integers(4):
            case 0:
                out.write(TONE[: 2 * int(random.integers(1, 5000))])
            case 1:
                out.finish()
            case 2 if random.random() < 0.2:
                place, _ = out.drop()
                assert before <= place <= out.written
        step = float(random.random()) / 20
        out.take(int(step * out.rate), now + 0.05)
        now += step
        after = out.position(now)
        assert before <= after <= out.written
        before = after
    out.finish()
    fetched(out, 60.0, now)
    assert out.position(now + 90) == out.written


def test_nothing_written_is_silence() -> None:
    out = Playout(48_000)
    out.write(b"")
    out.finish()
    assert (out.take(4, 0.0), out.position(1.0), out.drop()) == (bytes(8), 0, (0, 0.0))
