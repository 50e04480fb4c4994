"""The kernel's two ends of the page's sound, fed with messages as a page sends them."""

import asyncio
import random
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handoffkit.audio import BYTES_PER_MS
from handoffkit.speaker import Playback, Speaker
from handoffkit.widgets.page_sound import PageMicrophone, PageSpeaker
from handoffkit.widgets.page_stream import Pace

BLOCK = 1920


def sound(number: int) -> bytes:
    return (number % 30000).to_bytes(2, "little") * (BLOCK // 2)


def block(number: int, stream: str = "s1") -> tuple[dict[str, Any], list[memoryview]]:
    return {"t": "a", "s": stream, "q": number, "n": 960}, [memoryview(sound(number))]


def begin(stream: str = "s1") -> dict[str, Any]:
    return {"t": "mic", "s": stream, "rate": 48000, "name": "default", "label": "Built-in microphone"}


async def handed_over() -> None:
    """Let the loop run what was handed over to it before; what runs then hands nothing over."""
    await asyncio.sleep(0)


async def take(microphone: PageMicrophone, count: int) -> list[int]:
    """Take *count* blocks and return their numbers."""
    taken: list[int] = []
    async with asyncio.timeout(10):
        while len(taken) < count:
            taken.append(int.from_bytes((await anext(microphone))[:2], "little"))
    return taken


async def rest(microphone: PageMicrophone) -> list[int]:
    """Close it, and return the numbers of what was left."""
    microphone.close()
    async with asyncio.timeout(10):
        return [int.from_bytes(part[:2], "little") async for part in microphone]


async def until(true: Callable[[], object]) -> None:
    async with asyncio.timeout(10):
        while not true():  # noqa: ASYNC110 - what is waited for has no event
            await asyncio.sleep(0.005)


@pytest.fixture
def troubles() -> list[tuple[str, str]]:
    return []


@pytest.fixture
async def microphone(troubles: list[tuple[str, str]]) -> PageMicrophone:
    return aiter(PageMicrophone(on_trouble=lambda kind, words: troubles.append((kind, words))))


# The microphone: what arrives


async def test_blocks_come_out_as_they_came_in(microphone: PageMicrophone) -> None:
    microphone.feed(begin())
    for number in range(5):
        microphone.feed(*block(number))
    async with asyncio.timeout(10):
        assert [await anext(microphone) for _ in range(5)] == [sound(number) for number in range(5)]
    assert (microphone.stream, microphone.label, microphone.rate) == ("s1", "Built-in microphone", 48000)
    assert (microphone.order.missing, microphone.order.reordered, microphone.order.repeated, microphone.dropped_ms) == (
        0,
        0,
        0,
        0,
    )


async def test_a_buffer_is_copied_before_feed_returns(microphone: PageMicrophone) -> None:
    buffer = bytearray(sound(7))
    microphone.feed({"t": "a", "s": "s1", "q": 0, "n": 960}, [buffer])
    buffer[:] = bytes(BLOCK)
    assert await take(microphone, 1) == [7]


async def test_missing_late_and_repeated_blocks_are_counted(microphone: PageMicrophone) -> None:
    microphone.feed(begin())
    for number in (0, 1, 4, 2, 5, 5, 1, 6):
        microphone.feed(*block(number))
    assert await rest(microphone) == [0, 1, 4, 5, 6]
    assert (microphone.order.missing, microphone.order.reordered, microphone.order.repeated) == (2, 1, 2)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=60))
@settings(max_examples=50, deadline=None)
def test_whatever_comes_goes_out_in_order_and_is_accounted_for(numbers: list[int]) -> None:
    async def heard() -> tuple[PageMicrophone, list[int]]:
        microphone = aiter(PageMicrophone(burst_seconds=100, queue_seconds=100))
        microphone.feed(begin())
        for number in numbers:
            microphone.feed(*block(number))
        return microphone, await rest(microphone)

    microphone, taken = asyncio.run(heard())
    assert taken == sorted(set(taken))
    assert len(taken) + microphone.order.reordered + microphone.order.repeated == len(numbers)
    assert len(taken) + microphone.order.missing == max(numbers) + 1
    assert len(taken) + microphone.order.reordered == len(set(numbers))


async def test_a_gap_of_any_size_costs_no_memory(microphone: PageMicrophone) -> None:
    microphone.feed(begin())
    microphone.feed(*block(0))
    microphone.feed(*block(2**40))
    await rest(microphone)
    assert microphone.order.missing == 2**40 - 1


async def test_blocks_that_never_came_before_the_end_are_missing(microphone: PageMicrophone) -> None:
    microphone.feed(begin())
    microphone.feed(*block(0))
    microphone.feed({"t": "mic_end", "s": "s1", "last": 3})
    assert await take(microphone, 1) == [0]
    assert (microphone.order.missing, microphone.stream) == (3, "")


async def test_a_new_stream_goes_on_where_the_old_one_stopped(microphone: PageMicrophone) -> None:
    microphone.feed(begin("before"))
    for number in range(3):
        microphone.feed(*block(number, "before"))
    microphone.feed(begin("after"))
    for number in range(2):
        microphone.feed(*block(number, "after"))
    microphone.feed(*block(3, "before"))
    assert await rest(microphone) == [0, 1, 2, 0, 1]
    assert (microphone.order.missing, microphone.order.repeated, microphone.stale, microphone.stream) == (
        0,
        0,
        1,
        "after",
    )


async def test_a_stream_whose_beginning_was_missed_is_taken_from_where_it_is(microphone: PageMicrophone) -> None:
    microphone.feed(*block(41))
    microphone.feed(*block(42))
    assert await rest(microphone) == [41, 42]
    assert microphone.order.missing == 0


async def test_an_ended_stream_stays_ended(microphone: PageMicrophone) -> None:
    microphone.feed(begin())
    microphone.feed({"t": "mic_end", "s": "s1", "last": -1})
    microphone.feed(*block(0))
    assert await rest(microphone) == []
    assert (microphone.order.missing, microphone.stale) == (0, 1)


@pytest.mark.parametrize(
    ("message", "buffers"),
    [
        ({"t": "a", "s": "s1", "q": 0, "n": 960}, []),
        ({"t": "a", "s": "s1", "q": 0, "n": 960}, None),
        ({"t": "a", "s": "s1", "q": 0, "n": 960}, [bytes(1919)]),
        ({"t": "a", "s": "s1", "q": 0, "n": 960}, [bytes(1921)]),
        ({"t": "a", "s": "s1", "q": 0, "n": 960}, [bytes(BLOCK), bytes(BLOCK)]),
        ({"t": "a", "s": "s1", "q": 0, "n": 960}, [bytes(100_000_000)]),
        ({"t": "a", "s": "s1", "q": 0, "n": 960}, ["no bytes"]),
        ({"t": "a", "s": "s1", "q": 0, "n": 480}, [bytes(BLOCK)]),
        ({"t": "a", "s": "s1", "q": 0, "n": 0}, [bytes(BLOCK)]),
        ({"t": "a", "s": "s1", "q": -1, "n": 960}, [bytes(BLOCK)]),
        ({"t": "a", "s": "s1", "q": True, "n": 960}, [bytes(BLOCK)]),
        ({"t": "a", "s": "s1", "q": 1.5, "n": 960}, [bytes(BLOCK)]),
        ({"t": "a", "s": "s1", "q": 10**30, "n": 960}, [bytes(BLOCK)]),
        ({"t": "a", "s": "s1", "n": 960}, [bytes(BLOCK)]),
        ({"t": "a", "s": "", "q": 0, "n": 960}, [bytes(BLOCK)]),
        ({"t": "a", "s": "x" * 1000, "q": 0, "n": 960}, [bytes(BLOCK)]),
        ({"t": "a", "s": ["s1"], "q": 0, "n": 960}, [bytes(BLOCK)]),
        ({"t": "mic", "s": 5}, []),
        ({"t": "mic_end"}, []),
    ],
)
async def test_a_message_that_is_none_is_refused_once_in_words(
    message: Any, buffers: Any, microphone: PageMicrophone, troubles: list[tuple[str, str]]
) -> None:
    microphone.feed(begin())
    microphone.feed(message, buffers)
    microphone.feed(message, buffers)
    microphone.feed(*block(0))
    assert await rest(microphone) == [0]
    assert microphone.refused == 2
    assert [kind for kind, _ in troubles] == ["refused"]
    assert troubles[0][1].startswith("A message of the page's microphone cannot be used: ")


@pytest.mark.parametrize("message", [{}, {"t": "say"}, {"t": ["a"]}, {"t": None}, None, 5, "mic", [1]])
async def test_what_is_not_for_the_microphone_is_passed_over(message: Any, microphone: PageMicrophone) -> None:
    microphone.feed(message, [bytes(BLOCK)])
    assert await rest(microphone) == []
    assert microphone.refused == 0


async def test_a_beginning_with_nonsense_in_it_is_a_beginning(microphone: PageMicrophone) -> None:
    microphone.feed({"t": "mic", "s": "s1", "rate": "fast", "label": "x" * 10_000})
    microphone.feed({"t": "mic_end", "s": "s2", "last": "many"})
    microphone.feed(*block(0))
    assert await take(microphone, 1) == [0]
    assert (microphone.rate, len(microphone.label), microphone.stale) == (0, 200, 1)


# The microphone: bounds


async def test_the_oldest_sound_goes_when_nobody_takes_it(troubles: list[tuple[str, str]]) -> None:
    microphone = PageMicrophone(
        on_trouble=lambda kind, words: troubles.append((kind, words)), queue_seconds=0.4, burst_seconds=100
    )
    aiter(microphone)
    microphone.feed(begin())
    for number in range(12):  # 0.48 s, which is not yet a burst
        microphone.feed(*block(number))
    await handed_over()
    assert microphone.dropped_ms == 80
    assert await take(microphone, 10) == list(range(2, 12))
    await until(lambda: troubles)
    assert troubles == [("dropped", "0.1 s of sound were dropped: nobody took it in time.")]


async def test_of_what_piled_up_while_the_kernel_was_busy_the_newest_is_kept(
    microphone: PageMicrophone, troubles: list[tuple[str, str]]
) -> None:
    taken: list[int] = []

    async def consume() -> None:
        async for part in microphone:
            taken.append(int.from_bytes(part[:2], "little"))

    microphone.feed(begin())
    microphone.feed(*block(0))
    consumer = asyncio.create_task(consume())
    await until(lambda: taken)
    time.sleep(1.6)  # noqa: ASYNC251 - the loop is blocked, as by a cell that computes
    for number in range(1, 301):
        microphone.feed(*block(number))
        await asyncio.sleep(0)  # each message is handled in a turn of the loop of its own
    await until(lambda: len(taken) > 1)
    microphone.close()
    await asyncio.wait_for(consumer, 10)
    assert taken == [0, *range(251, 301)]
    assert troubles == [("dropped", "10.0 s of sound were dropped: the kernel was busy.")]
    assert (microphone.dropped_ms, microphone.order.missing) == (10_000, 0)


async def test_a_short_burst_loses_nothing(microphone: PageMicrophone, troubles: list[tuple[str, str]]) -> None:
    microphone.feed(begin())
    for number in range(50):
        microphone.feed(*block(number))
    assert await take(microphone, 50) == list(range(50))
    assert troubles == []


async def test_before_anybody_listens_the_newest_two_seconds_are_kept(troubles: list[tuple[str, str]]) -> None:
    microphone = PageMicrophone(on_trouble=lambda kind, words: troubles.append((kind, words)))
    microphone.feed(begin())
    for number in range(200):
        microphone.feed(*block(number))
    await handed_over()
    aiter(microphone)
    assert await take(microphone, 50) == list(range(150, 200))
    assert (microphone.dropped_ms, troubles) == (0, [])


async def test_messages_from_many_threads_lose_nothing() -> None:
    microphone = aiter(PageMicrophone(queue_seconds=100, burst_seconds=100))
    streams = [f"s{number}" for number in range(4)]
    lock = threading.Lock()
    numbers = iter(range(400))

    def speak() -> None:
        for _ in range(100):
            with lock:  # a page numbers its blocks; whichever thread handles one hands it over before the next
                microphone.feed(*block(next(numbers)))

    threads = [threading.Thread(target=speak) for _ in streams]
    for thread in threads:
        thread.start()
    taken = await take(microphone, 400)
    for thread in threads:
        thread.join(10)
    assert taken == list(range(400))
    assert microphone.order.missing == 0


def test_a_message_after_the_loops_end_harms_nobody() -> None:
    async def make() -> PageMicrophone:
        return PageMicrophone()

    microphone = asyncio.run(make())
    microphone.feed(*block(0))
    microphone.close()


def test_a_clock_that_is_ahead_and_blocks_that_jitter_are_no_burst() -> None:
    pace, shake = Pace(0.0), random.Random(1)
    assert not any(pace.bursts(0.04, n * 0.04 * 0.995 + shake.uniform(0, 0.1)) for n in range(90_000))  # an hour


def test_sound_that_has_waited_is_a_burst() -> None:
    pace = Pace(0.0)
    assert [pace.bursts(0.04, 0.04), pace.bursts(0.04, 10.0)] == [False, True]
    pace = Pace(0.0)
    assert [pace.bursts(0.04, 1.0) for _ in range(25)].index(True) == 12


def test_a_key_that_was_not_pressed_for_long_is_no_burst() -> None:
    pace = Pace(0.0)
    assert not any(pace.bursts(0.0, float(second)) for second in range(60))
    assert not any(pace.bursts(0.04, 60.0) for _ in range(6))


# The microphone: silence and the end


async def test_a_page_that_falls_silent_is_named_and_may_come_back(troubles: list[tuple[str, str]]) -> None:
    microphone = PageMicrophone(on_trouble=lambda kind, words: troubles.append((kind, words)), quiet=0.05, gone=60)
    microphone.feed(begin())
    microphone.feed(*block(0))
    aiter(microphone)
    assert await take(microphone, 1) == [0]
    waiting = asyncio.create_task(take(microphone, 1))
    await until(lambda: troubles)
    microphone.feed(*block(1))
    assert await waiting == [1]
    assert [kind for kind, _ in troubles] == ["stopped", "sound-again"]
    assert troubles[0][1].startswith("The page's microphone stopped")
    assert microphone.order.missing == 0


async def test_a_page_that_is_gone_ends_the_iteration(troubles: list[tuple[str, str]]) -> None:
    microphone = PageMicrophone(on_trouble=lambda kind, words: troubles.append((kind, words)), quiet=0.05, gone=0.15)
    microphone.feed(begin())
    microphone.feed(*block(0))
    async with asyncio.timeout(10):
        assert len([part async for part in microphone]) == 1
    assert [kind for kind, _ in troubles] == ["stopped"]


async def test_a_microphone_that_is_never_opened_ends_without_a_complaint(troubles: list[tuple[str, str]]) -> None:
    microphone = PageMicrophone(on_trouble=lambda kind, words: troubles.append((kind, words)), quiet=0.01, gone=0.05)
    async with asyncio.timeout(10):
        assert [part async for part in microphone] == []
    assert troubles == []


async def test_a_microphone_that_says_that_it_is_muted_has_not_stopped(troubles: list[tuple[str, str]]) -> None:
    microphone = PageMicrophone(on_trouble=lambda kind, words: troubles.append((kind, words)), quiet=1.0, gone=60)
    microphone.feed(begin())
    waiting = asyncio.create_task(take(aiter(microphone), 1))
    for _ in range(12):
        microphone.feed({"t": "a", "s": "s1", "q": 0, "n": 0})
        await asyncio.sleep(0.1)
    microphone.feed(*block(0))
    assert await waiting == [0]
    assert (troubles, microphone.order.missing, microphone.refused) == ([], 0, 0)


async def test_a_loop_that_was_blocked_does_not_take_its_own_silence_for_the_pages(
    troubles: list[tuple[str, str]],
) -> None:
    microphone = PageMicrophone(on_trouble=lambda kind, words: troubles.append((kind, words)), quiet=0.5, gone=0.6)
    microphone.feed(begin())
    waiting = asyncio.create_task(take(aiter(microphone), 1))
    await handed_over()
    await handed_over()
    time.sleep(1.5)  # noqa: ASYNC251 - the loop is blocked, as by a cell that computes
    await asyncio.sleep(0.01)
    microphone.feed(*block(0))
    assert await waiting == [0]
    assert troubles == []


async def test_close_gives_out_what_has_arrived_and_ends(microphone: PageMicrophone) -> None:
    microphone.feed(begin())
    microphone.feed(*block(0))
    await handed_over()
    microphone.close()
    microphone.feed(*block(1))
    async with asyncio.timeout(10):
        assert len([part async for part in microphone]) == 1
    with pytest.raises(StopAsyncIteration):
        await anext(microphone)


async def test_close_from_another_thread_wakes_who_waits(microphone: PageMicrophone) -> None:
    waiting = asyncio.create_task(rest_of(microphone))
    await handed_over()
    await asyncio.to_thread(microphone.close)
    assert await asyncio.wait_for(waiting, 10) == []


async def rest_of(microphone: PageMicrophone) -> list[bytes]:
    return [part async for part in microphone]


# The speaker


class Page:
    """Keeps what it is sent, and answers what a test tells it to."""

    def __init__(self, **options: Any) -> None:
        self.sent: list[tuple[dict[str, Any], list[bytes]]] = []
        self.answer: Callable[[int], int] | None = None
        self.troubles: list[tuple[str, str]] = []
        self.speaker = PageSpeaker(
            self.take, on_trouble=lambda kind, words: self.troubles.append((kind, words)), **options
        )

    def take(self, message: dict[str, Any], buffers: list[bytes]) -> None:
        self.sent.append((message, buffers))
        if message["t"] == "flush" and self.answer is not None:
            self.speaker.feed({"t": "flushed", "g": message["g"], "n": self.answer(message["g"])})

    async def played(self, samples: int, generation: int = 0) -> None:
        self.speaker.feed({"t": "played", "g": generation, "n": samples})
        await handed_over()

    @property
    def sound(self) -> bytes:
        return b"".join(part for _, buffers in self.sent for part in buffers)

    @property
    def sizes(self) -> list[int]:
        return [len(part) // BYTES_PER_MS for _, buffers in self.sent for part in buffers]


@pytest.fixture
async def page() -> Page:
    return Page()


def ms(count: int) -> bytes:
    return bytes(range(48)) * count


async def test_it_is_a_speaker(page: Page) -> None:
    speaker: Speaker = page.speaker
    playback = Playback()
    await playback.use(speaker)
    playback.write(ms(10))
    assert (playback.audible, playback.sounding, page.sizes) == (True, True, [10])


async def test_the_first_sound_goes_at_once_and_the_rest_in_few_messages(page: Page) -> None:
    for _ in range(50):
        page.speaker.write(ms(20))
    assert page.sizes == [20]
    await until(lambda: len(page.sound) == 1000 * BYTES_PER_MS)
    assert page.sizes == [20, 400, 400, 180]
    assert page.sound == ms(1000)
    heads = [message for message, _ in page.sent]
    assert [head["q"] for head in heads] == [0, 1, 2, 3]
    assert [head["at"] for head in heads] == [0, 480, 10080, 19680]
    assert {head["g"] for head in heads} == {0}


async def test_a_short_beginning_is_followed_soon(page: Page) -> None:
    loop = asyncio.get_running_loop()
    page.speaker.write(ms(20))
    page.speaker.write(ms(20))
    timer = page.speaker._timer
    assert timer is not None
    assert timer.when() - loop.time() < 0.05
    await until(lambda: page.sizes == [20, 20])


async def test_half_a_sample_waits_for_its_other_half(page: Page) -> None:
    whole = ms(9)
    for at in range(0, len(whole), 7):
        page.speaker.write(whole[at : at + 7])
    await until(lambda: len(page.sound) == len(whole))
    assert page.sound == whole
    assert all(len(part) % 2 == 0 for _, buffers in page.sent for part in buffers)


async def test_the_position_is_what_the_page_says_and_then_the_time(page: Page) -> None:
    page.speaker.write(ms(400))
    assert page.speaker.position == 0
    await page.played(2400)
    first = page.speaker.position
    assert 100 * BYTES_PER_MS <= first <= 400 * BYTES_PER_MS
    await until(lambda: page.speaker.position > first)
    await page.played(9600)
    assert page.speaker.position == 400 * BYTES_PER_MS


async def test_the_position_never_goes_back_nor_beyond_what_was_written(page: Page) -> None:
    page.speaker.write(ms(400))
    await page.played(9000)
    before = page.speaker.position
    await page.played(2400)
    assert page.speaker.position >= before
    await page.played(10**9)
    assert page.speaker.position == 400 * BYTES_PER_MS


async def test_a_page_that_says_nothing_holds_up_nobody(page: Page) -> None:
    page.speaker.write(ms(300))
    await until(lambda: page.speaker.position == 300 * BYTES_PER_MS)


async def test_flush_returns_exactly_what_the_page_played(page: Page) -> None:
    page.answer = lambda generation: 1234
    page.speaker.write(ms(1000))
    assert await page.speaker.flush() == 2468
    assert page.speaker.position == 1000 * BYTES_PER_MS
    assert page.sent[-1] == ({"t": "flush", "g": 0}, [])
    page.speaker.write(ms(10))
    assert page.sent[-1][0] == {"t": "s", "g": 1, "q": 0, "at": 0}
    assert await page.speaker.flush() == 1000 * BYTES_PER_MS + 480  # no more than was written
    assert page.speaker.position == 1010 * BYTES_PER_MS


async def test_after_a_flush_nothing_of_before_is_sent(page: Page) -> None:
    page.answer = lambda generation: 0
    page.speaker.write(ms(1000))
    await page.speaker.flush()
    page.speaker.write(b"\1\1" * 240)
    await until(lambda: page.sent[-1][0]["g"] == 1)
    assert page.sizes == [400, 10]
    assert page.sent[-1][1] == [b"\1\1" * 240]


async def test_what_is_written_during_a_flush_belongs_to_what_comes_after(page: Page) -> None:
    page.speaker.write(ms(400))
    flushing = asyncio.create_task(page.speaker.flush())
    await handed_over()
    page.speaker.write(ms(20))
    assert page.sent[-1][0]["g"] == 1
    page.speaker.feed({"t": "flushed", "g": 0, "n": 480})
    assert await flushing == 20 * BYTES_PER_MS
    assert page.speaker.position >= 400 * BYTES_PER_MS


async def test_without_an_answer_flush_returns_an_estimate_and_takes_no_late_one(page: Page) -> None:
    page.speaker.write(ms(400))
    await page.played(4800)
    estimate = await asyncio.wait_for(page.speaker.flush(), 10)
    assert 200 * BYTES_PER_MS <= estimate <= 400 * BYTES_PER_MS
    page.speaker.feed({"t": "flushed", "g": 0, "n": 9600})
    await page.played(9600)
    assert page.speaker.position == 400 * BYTES_PER_MS
    page.speaker.write(ms(400))
    await page.played(9600)
    assert page.speaker.position < 800 * BYTES_PER_MS


async def test_flush_asks_nobody_when_all_has_been_played(page: Page) -> None:
    assert await page.speaker.flush() == 0
    page.speaker.write(ms(100))
    await page.played(2400, generation=1)
    assert await page.speaker.flush() == 100 * BYTES_PER_MS
    assert [message["t"] for message, _ in page.sent] == ["s"]


@pytest.mark.parametrize(
    "message",
    [
        *({}, None, {"t": "played"}, {"t": ["played"]}, {"t": "played", "g": 0, "n": -1}),
        *({"t": "played", "g": 0, "n": "5"}, {"t": "played", "g": True, "n": 5}),
        *({"t": "flushed", "g": 0, "n": 1.5}, {"t": "flushed", "g": 99, "n": 1}),
    ],
)
async def test_reports_that_are_none_are_passed_over(message: Any, page: Page) -> None:
    page.speaker.write(ms(400))
    page.speaker.feed(message)
    await handed_over()
    assert page.speaker.position == 0


async def test_reports_may_come_from_any_thread(page: Page) -> None:
    page.speaker.write(ms(400))
    flushing = asyncio.create_task(page.speaker.flush())
    await handed_over()
    await asyncio.to_thread(page.speaker.feed, {"t": "flushed", "g": 0, "n": 77})
    assert await asyncio.wait_for(flushing, 10) == 154


async def test_what_waits_is_bounded_and_the_rest_keeps_its_place() -> None:
    page = Page(seconds=1.0)
    page.speaker.write(ms(400))
    page.speaker.write(b"\1\1" * 24 * 500 + b"\2\2" * 24 * 1000)
    assert page.troubles == [("dropped", "0.5 s of the agent's sound were dropped: too much waited.")]
    assert page.speaker.dropped_ms == 500
    await until(lambda: len(page.sent) == 4)
    assert set(page.sound[400 * BYTES_PER_MS :]) == {2}
    assert page.sent[1][0]["at"] == 900 * 24
    await page.played(1900 * 24)
    assert page.speaker.position == 1900 * BYTES_PER_MS


async def test_close_stops_the_page_and_plays_nothing_more(page: Page) -> None:
    page.speaker.write(ms(1000))
    page.speaker.close()
    page.speaker.write(ms(100))
    page.speaker.close()
    assert [message["t"] for message, _ in page.sent] == ["s", "flush"]
    assert page.speaker.position == 1000 * BYTES_PER_MS
    assert await page.speaker.flush() == 1000 * BYTES_PER_MS
