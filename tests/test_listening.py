"""How a session listens: the final words are begun in the caller's pause, and only those of the whole turn are told."""

import asyncio
import threading
from collections.abc import Callable, Iterable
from typing import Any, cast

import pytest
from realtime_driver import Driver, Event, sound

from handoffkit.endpoint.listening import Listener
from handoffkit.endpoint.protocol.realtime.hearing import SpeechStarted, SpeechStopped
from handoffkit.endpoint.speech.loading import Speech

TOLD = "conversation.item.input_audio_transcription.completed"
FAILED = "conversation.item.input_audio_transcription.failed"


class Scene:
    """A session and its listener; turn detection finds what the test says, and recognition says how long a sound was.

    It is the session's ears, its detector, and the recogniser.
    """

    deaf = ""

    def __init__(self, *, broken: int = 0) -> None:
        self.pause: int | None = None
        self.found: list[SpeechStarted | SpeechStopped] = []
        self.final: list[int] = []
        """Milliseconds of each sound whose final words were asked for."""
        self.told: list[Event] = []
        self.open = threading.Event()
        """Set: final words are known at once."""
        self.open.set()
        self._broken = broken
        self._loop, self._news = asyncio.get_running_loop(), asyncio.Event()
        self.driver = Driver(ears=self)
        self.driver.configure(audio={"input": {"transcription": {"model": "gpt-realtime-whisper"}}})
        self.listener = Listener(self.driver.session, cast("Speech", self), self.send, lambda: None)

    def detector(self, **settings: Any) -> "Scene":
        return self

    def configure(self, **settings: Any) -> None:
        pass

    def feed(self, pcm: bytes) -> Iterable[SpeechStarted | SpeechStopped]:
        found, self.found = self.found, []
        return found

    @property
    def recogniser(self) -> "Scene":
        return self

    def words(self, pcm: bytes, *, final: bool, language: str | None, prompt: str | None) -> str:
        if not final:
            return ""
        self.final.append(len(pcm) // 48)
        self._loop.call_soon_threadsafe(self._news.set)
        assert self.open.wait(10)
        if len(self.final) <= self._broken:
            raise RuntimeError("broken")
        return f"{len(pcm) // 48} ms"

    async def send(self, *events: Event) -> None:
        self.told += events
        self._news.set()

    def hear(self, ms: int, *found: SpeechStarted | SpeechStopped, pause: int | None = None) -> None:
        """Take *ms* of sound; in it turn detection finds *found*, and a pause that lasts."""
        self.found, self.pause = list(found), pause
        self.driver.send("input_audio_buffer.append", audio=sound(ms))
        self.listener.listen()

    async def until(self, done: Callable[[], object]) -> None:
        async with asyncio.timeout(10):
            while not done():
                self._news.clear()
                await self._news.wait()

    def texts(self) -> list[str]:
        return [event["transcript"] for event in self.told if event["type"] == TOLD]


async def test_the_words_of_a_turn_are_begun_in_its_pause_and_told_at_its_end() -> None:
    scene = Scene()
    scene.hear(1600, SpeechStarted(0), pause=1500)
    await scene.until(lambda: scene.final)
    scene.hear(40, pause=1500)
    assert scene.texts() == []
    scene.hear(400, SpeechStopped(2000, 1500), pause=1500)
    await scene.until(scene.texts)
    assert (scene.final, scene.texts()) == ([1500], ["1500 ms"])


async def test_words_that_are_still_being_recognised_at_the_end_are_waited_for() -> None:
    scene = Scene()
    scene.open.clear()
    scene.hear(1600, SpeechStarted(0), pause=1500)
    await scene.until(lambda: scene.final)
    scene.hear(440, SpeechStopped(2000, 1500), pause=1500)
    scene.open.set()
    await scene.until(scene.texts)
    assert (scene.final, scene.texts()) == ([1500], ["1500 ms"])


async def test_whoever_goes_on_after_a_pause_is_heard_to_the_end() -> None:
    scene = Scene()
    scene.hear(1000, SpeechStarted(0), pause=900)
    await scene.until(lambda: scene.final)
    scene.hear(1000)
    scene.hear(1000, SpeechStopped(3000, 2600), pause=2600)
    await scene.until(scene.texts)
    assert (scene.final, scene.texts()) == ([900, 2600], ["2600 ms"])


async def test_a_pause_is_passed_over_where_sound_comes_faster_than_it_sounds() -> None:
    scene = Scene()
    scene.hear(1000, SpeechStarted(0), pause=900)
    scene.hear(1000)
    scene.hear(1000, SpeechStopped(3000, 2600), pause=2600)
    await scene.until(scene.texts)
    assert (scene.final, scene.texts()) == ([2600], ["2600 ms"])


async def test_the_words_are_the_same_whether_they_were_begun_early_or_not() -> None:
    scene = Scene()
    scene.hear(3000, SpeechStarted(0), SpeechStopped(2000, 1500))
    await scene.until(scene.texts)
    assert scene.texts() == ["1500 ms"]


async def test_a_turn_without_a_pause_is_recognised_as_a_whole() -> None:
    scene = Scene()
    scene.hear(2100, SpeechStarted(0), SpeechStopped(2000))
    await scene.until(scene.texts)
    assert scene.texts() == ["2000 ms"]


@pytest.mark.parametrize(("broken", "told"), [(1, TOLD), (2, FAILED)])
async def test_what_fails_early_is_tried_again_and_said_only_then(broken: int, told: str) -> None:
    scene = Scene(broken=broken)
    scene.hear(1600, SpeechStarted(0), pause=1500)
    await scene.until(lambda: scene.final)
    scene.hear(440, SpeechStopped(2000, 1500), pause=1500)
    await scene.until(lambda: [event for event in scene.told if event["type"] in (TOLD, FAILED)])
    assert scene.final == [1500, 1500]
    assert [event["type"] for event in scene.told if event["type"] in (TOLD, FAILED)] == [told]
