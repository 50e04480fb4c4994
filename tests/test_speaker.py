"""How much of the agent has been heard, whoever plays it."""

import asyncio

import pytest

from handoffkit import speaker as speakers
from handoffkit.audio import BYTES_PER_MS
from handoffkit.speaker import ClockSpeaker, Playback

SECOND = bytes(1000 * BYTES_PER_MS)


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(speakers, "time", clock)
    return clock


def ms(position: int) -> int:
    return position // BYTES_PER_MS


async def test_sound_is_passed_as_long_as_it_sounds_and_a_flush_says_where_it_stopped(clock: Clock) -> None:
    speaker = ClockSpeaker()
    speaker.write(SECOND)
    speaker.write(SECOND)
    assert ms(speaker.position) == 0
    clock.now += 1.25
    assert 1249 <= ms(speaker.position) <= 1250
    assert 1249 <= ms(await speaker.flush()) <= 1250
    assert ms(speaker.position) == 2000


async def test_where_nobody_waits_for_it_sound_is_passed_at_once(clock: Clock) -> None:
    speaker = ClockSpeaker(realtime=False)
    speaker.write(SECOND)
    assert ms(speaker.position) == ms(await speaker.flush()) == 1000


async def test_a_pause_between_two_pieces_does_not_count_as_heard(clock: Clock) -> None:
    speaker = ClockSpeaker()
    speaker.write(SECOND)
    clock.now += 5
    speaker.write(SECOND)
    clock.now += 0.5
    assert 1499 <= ms(speaker.position) <= 1500


async def test_positions_go_on_counting_after_a_flush_and_with_another_speaker(clock: Clock) -> None:
    playback = Playback()
    playback.write(SECOND)
    clock.now += 0.4
    assert 399 <= ms(await playback.flush()) <= 400
    assert not playback.sounding
    playback.write(SECOND)
    clock.now += 0.25
    assert 1249 <= ms(playback.position) <= 1250
    await playback.use(ClockSpeaker())
    assert ms(playback.position) == 2000
    playback.write(SECOND)
    clock.now += 0.5
    assert playback.sounding
    assert 2499 <= ms(playback.position) <= 2500
    await playback.use(None)
    assert ms(playback.position) == 3000


async def test_waiting_for_the_end_of_the_sound_has_a_bound() -> None:
    playback = Playback()
    playback.write(bytes(60 * BYTES_PER_MS))
    await asyncio.wait_for(playback.drained(5), 5)
    assert not playback.sounding
    playback.write(SECOND * 60)
    await asyncio.wait_for(playback.drained(0.05), 5)
    assert playback.sounding
