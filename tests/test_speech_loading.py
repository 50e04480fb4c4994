"""Speech that loads beside everything else, in parts that stand for themselves."""

import asyncio
import subprocess
import sys
import threading
from importlib.util import find_spec
from typing import Any

import pytest
from speech_sounds import needs_speech

from handoffkit.endpoint.speech import loading
from handoffkit.endpoint.speech.errors import NotReady
from handoffkit.endpoint.speech.loading import Speech


def loaded(code: str) -> set[str]:
    """Return the top-level modules that are loaded after *code* in a fresh interpreter."""
    ending = "\nimport sys; print(*{name.partition('.')[0] for name in sys.modules})"
    command = [sys.executable, "-P", "-c", code + ending]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    return set(done.stdout.split())


def test_importing_speech_loads_nothing_heavy() -> None:
    names = "errors, loading, partials, stt, tts, turn_detection, voice_activity, weights"
    heavy = {"numpy", "soxr", "onnxruntime", "faster_whisper", "ctranslate2", "hibari", "av", "huggingface_hub"}
    assert loaded(f"from handoffkit.endpoint.speech import {names}") & heavy == set()


def without(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Make it look as if these modules were not installed."""
    monkeypatch.setattr(loading, "find_spec", lambda name: None if name in names else find_spec(name))


async def test_without_the_extra_it_says_at_once_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "faster_whisper", "hibari", "soxr")
    before = threading.active_count()
    speech = Speech.start()
    assert threading.active_count() == before
    assert (speech.state, speech.hears, speech.speaks) == ("missing", False, False)
    assert await speech.wait(0)
    assert 'python -m pip install "handoffkit[speech]"' in speech.problem
    assert 'python -m pip install "handoffkit[speech]"' in speech.deaf
    for use in (lambda: speech.recogniser, lambda: speech.voice, speech.detector):
        with pytest.raises(NotReady, match="handoffkit\\[speech\\]"):
            use()


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Replace what loads: `ears` and `voice` are called instead."""
    parts: dict[str, Any] = {"ears": lambda: None, "voice": lambda: None}

    def load_ears(speech: Speech) -> None:
        parts["ears"]()
        monkeypatch.setattr(speech, "_recogniser", object())

    def load_voice(speech: Speech) -> None:
        parts["voice"]()
        monkeypatch.setattr(speech, "_voice", object())

    without(monkeypatch)
    monkeypatch.setattr(loading, "find_spec", lambda name: True)
    monkeypatch.setattr(Speech, "_load_ears", load_ears)
    monkeypatch.setattr(Speech, "_load_voice", load_voice)
    return parts


async def test_one_part_that_fails_leaves_the_other(fake: dict[str, Any]) -> None:
    def fail() -> None:
        raise OSError("the file is cut off")

    fake["ears"] = fail
    speech = Speech.start()
    assert await speech.wait(60)
    assert (speech.state, speech.hears, speech.speaks) == ("failed", False, True)
    assert "the file is cut off" in speech.problem
    assert speech.deaf == speech.problem
    with pytest.raises(NotReady, match="cut off"):
        speech.detector()


async def test_a_missing_part_leaves_the_other(fake: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "find_spec", lambda name: None if name == "hibari" else True)
    speech = Speech.start()
    assert await speech.wait(60)
    assert (speech.state, speech.hears, speech.speaks) == ("missing", True, False)
    assert speech.deaf == ""
    assert "hibari" in speech.problem


async def test_waiting_is_bounded_and_anybody_may_wait(fake: dict[str, Any]) -> None:
    release = threading.Event()
    fake["voice"] = lambda: release.wait(60)
    speech = Speech.start()
    assert speech.state == "loading"
    assert not await speech.wait(0.01)
    assert "still loading" in speech.deaf
    with pytest.raises(NotReady, match="still loading"):
        speech.voice  # noqa: B018  # it is a property that raises
    waiting = [asyncio.create_task(speech.wait(60)) for _ in range(3)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    release.set()
    assert await asyncio.gather(*waiting[1:]) == [True, True]
    assert (speech.state, speech.problem) == ("ready", "")


async def test_everything_that_is_installed_loads_and_works() -> None:
    needs_speech()
    speech = Speech.start()
    assert await speech.wait(120)
    assert speech.speaks
    sound = b"".join(speech.voice.sentences("I need a refund.")) + bytes(48_000)
    if not speech.hears:
        assert "weights" in speech.deaf
        return
    assert (speech.state, speech.problem) == ("ready", "")
    assert "refund" in speech.recogniser.words(sound)
    detector = speech.detector(threshold=0.5, prefix_padding_ms=300, silence_duration_ms=500)
    assert len(detector.feed(sound)) == 2


async def test_a_folder_without_weights_leaves_the_voice(tmp_path: Any) -> None:
    needs_speech()
    speech = Speech.start(str(tmp_path))
    assert await speech.wait(120)
    assert (speech.state, speech.hears, speech.speaks) == ("failed", False, True)
    assert "HANDOFFKIT_STT_MODEL" in speech.deaf


def test_a_process_that_ends_while_models_load_ends_cleanly() -> None:
    needs_speech()
    code = "from handoffkit.endpoint.speech.loading import Speech; Speech.start()"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
