"""Whatever can be listened to becomes one kind of source, and what is wrong with its sound is told once. No card."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

from handoffkit import audio
from handoffkit.errors import MicrophoneTrouble, NoPanel, NotAMicrophone, SoundNotFound
from handoffkit.microphone import (
    BLOCK_BYTES,
    BLOCK_MS,
    Given,
    Kept,
    Microphone,
    Recording,
    Watch,
    open_microphone,
)

TURN = ROOT / "audio" / "laptop-will-not-charge" / "turn-1.wav"
ZEROS = bytes(BLOCK_BYTES)
QUIET = (np.random.default_rng(1).standard_normal(BLOCK_BYTES // 2) * 30).astype("<i2").tobytes()
LOUD = (np.sin(np.arange(BLOCK_BYTES // 2) / 9) * 60_000).clip(-32_768, 32_767).astype("<i2").tobytes()


def kinds(watch: Watch, blocks: list[bytes]) -> list[tuple[int, str]]:
    """Return what is said, each with the number of the block that it is said at."""
    return [(number, trouble.kind) for number, block in enumerate(blocks) for trouble in watch.heard(block)]


# The watch


def test_a_second_of_zeros_is_said_once_and_its_end_too() -> None:
    blocks = [QUIET] * 3 + [ZEROS] * 60 + [QUIET] * 10 + [ZEROS] * 24 + [QUIET] + [ZEROS] * 25
    assert kinds(Watch("it"), blocks) == [(27, "zeros"), (63, "sound-again"), (122, "zeros")]


def test_noise_however_quiet_is_sound() -> None:
    one = bytearray(ZEROS)
    one[100] = 1
    assert kinds(Watch("it"), [bytes(one)] * 100) == []


def test_nothing_at_all_is_said_once_and_sound_after_it() -> None:
    watch = Watch("it")
    assert [[trouble.kind for trouble in watch.waited(seconds)] for seconds in (0.5, 1.5, 2.0)] == [[], ["stalled"], []]
    assert kinds(watch, [QUIET, QUIET]) == [(0, "sound-again")]


def test_sound_that_is_cut_off_is_said_once_until_it_has_been_calm_for_some_seconds() -> None:
    watch = Watch("it")
    assert kinds(watch, [LOUD] * 100) == [(24, "clipping")]
    assert kinds(watch, [QUIET] * 50 + [LOUD] * 30) == []
    assert kinds(watch, [QUIET] * 200 + [LOUD] * 3) == [(200, "clipping")]


def test_a_recording_at_a_good_level_has_nothing_wrong() -> None:
    assert kinds(Watch("it"), list(audio.load(TURN).louder(2).blocks(BLOCK_MS))) == []


@pytest.mark.parametrize(("block", "level"), [(ZEROS, -120), (QUIET, -61), (LOUD, -1.5), (b"", -120)])
def test_the_level_is_the_newest_blocks(block: bytes, level: float) -> None:
    watch = Watch("it")
    watch.heard(LOUD)
    watch.heard(block)
    assert watch.level == pytest.approx(level, abs=1)


def test_what_waits_has_a_limit_and_the_oldest_goes() -> None:
    kept = Kept(10)
    for number in range(5):
        kept.put(bytes([number] * 4))
    assert kept.dropped == 12
    assert [kept.take() for _ in range(3)] == [bytes([3] * 4), bytes([4] * 4), b""]
    kept.put(b"x" * 11)
    assert (kept.take(), kept.dropped) == (b"", 23)


# What can be listened to


async def test_a_recording_stands_in_for_a_microphone_and_says_so() -> None:
    part = audio.Sound(audio.load(TURN).pcm[: 300 * 48], "turn-1.wav")
    microphone = await open_microphone(part)
    assert microphone.name == "a recording: turn-1.wav"
    loop = asyncio.get_running_loop()
    begin = loop.time()
    blocks = [block async for block in microphone]
    assert loop.time() - begin > 0.25, "at the pace of speech"
    assert b"".join(blocks) == part.pcm
    assert {len(block) for block in blocks[:-1]} == {BLOCK_BYTES}


@pytest.mark.parametrize("source", [TURN, str(TURN), TURN.read_bytes(), audio.load(TURN), np.zeros(2400)])
async def test_a_recording_may_be_anything_that_can_be_loaded(source: Any) -> None:
    microphone = await open_microphone(source)
    assert isinstance(microphone, Recording)
    assert isinstance(microphone, Microphone)
    assert len(await anext(microphone)) == BLOCK_BYTES
    microphone.close()
    assert [block async for block in microphone] == []


async def test_a_recording_that_is_not_there_is_said_with_its_neighbours() -> None:
    with pytest.raises(SoundNotFound, match=r"turn-2\.wav"):
        await open_microphone(str(TURN.with_name("turn-9.wav")))


async def test_blocks_from_anywhere_are_a_microphone() -> None:
    async def blocks() -> AsyncIterator[bytes]:
        yield QUIET
        yield ZEROS

    told: list[MicrophoneTrouble] = []
    microphone = await open_microphone(blocks(), on_trouble=told.append)
    assert (microphone.name, microphone.dropped_ms, microphone.on_trouble) == ("the microphone", 0, told.append)
    assert [block async for block in microphone] == [QUIET, ZEROS]


async def test_closing_one_ends_it_also_for_who_waits() -> None:
    async def nothing() -> AsyncIterator[bytes]:
        await asyncio.Event().wait()
        yield b""

    microphone = Given(nothing())
    async with asyncio.timeout(10):
        waiting = asyncio.ensure_future(_all(microphone))
        asyncio.get_running_loop().call_soon(microphone.close)
        assert await waiting == []
        assert await _all(microphone) == []


async def test_who_waits_for_one_can_be_cancelled() -> None:
    async def nothing() -> AsyncIterator[bytes]:
        await asyncio.Event().wait()
        yield b""

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(_all(Given(nothing())), 0.01)


async def _all(microphone: Microphone) -> list[bytes]:
    return [block async for block in microphone]


async def test_a_microphone_stays_as_it_is_and_the_pages_is_opened_by_its_panel() -> None:
    own = Given(_none())
    assert await open_microphone(own) is own
    assert await open_microphone("page", page=lambda: own) is own
    with pytest.raises(NoPanel, match=r"Run `call\.panel\(\)`"):
        await open_microphone("page")


async def _none() -> AsyncIterator[bytes]:
    return
    yield


@pytest.mark.parametrize("source", [None, True, 3, 2.5, {"a": 1}, print])
async def test_what_gives_no_sound_is_refused_with_what_does(source: Any) -> None:
    with pytest.raises(NotAMicrophone, match=r'"page".*"card:3".*async iterator'):
        await open_microphone(source)
