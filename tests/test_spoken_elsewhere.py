"""Spoken turns where this machine does not hear: a service behind the relay, or no `speech` extra at all."""

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from pydantic_ai import Agent

import handoffkit as hk
from handoffkit import audio
from handoffkit.connect import Endpoint, _message
from handoffkit.errors import NothingHeard, SpeechMissing

TURN = ROOT / "audio" / "laptop-will-not-charge" / "turn-3.wav"
NOT_INSTALLED = """
import importlib.util
found = importlib.util.find_spec
def find_spec(name, *rest):
    return None if name in ("faster_whisper", "hibari") else found(name, *rest)
importlib.util.find_spec = find_spec
"""


@pytest.fixture
def service(speech: None) -> Generator[Endpoint]:
    """Return another endpoint process, which plays the service, and hears."""
    endpoint = Endpoint()
    endpoint.configure(_message("simulated", hk.ScriptedModel(["From upstream."] * 3), None, ()) | {"speech": True})
    # A real service hears at once; nobody can ask through the relay whether this one has loaded its models.
    assert endpoint.tell("speech", endpoint.folder, bound=150, timeout=120)["hears"]
    yield endpoint
    endpoint.stop()
    hk.disconnect()


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """Have an endpoint process in which the extra is not installed."""
    (tmp_path / "sitecustomize.py").write_text(NOT_INSTALLED)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    hk.disconnect()
    hk.connect(model={"gpt-realtime": hk.ScriptedModel(["Go on."] * 3)}, speech=True)
    yield
    hk.disconnect()


async def test_a_spoken_call_passes_through_the_relay(service: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    hk.disconnect()  # which puts the environment back, so it comes first
    monkeypatch.setenv("OPENAI_API_KEY", service.token)
    hk.connect("live", upstream=service.base_url)
    async with hk.Call(Agent(), model_settings={"turn_detection": {"silence_duration_ms": 700}}) as call:
        reply = await call.send_audio(TURN, realtime=False)
        with pytest.raises(NothingHeard):
            await call.send_audio(bytes(96_000), realtime=False)
        assert (await call.send("That is all.")).text == "From upstream."
    assert reply.text == "From upstream."
    assert "presentation" in call.turns[0].text.lower()
    assert call.sound(call.turns[1]).level > -40


@pytest.mark.usefixtures("bare")
async def test_without_the_extra_a_spoken_turn_says_what_to_install_and_typed_ones_work() -> None:
    async with hk.Call(Agent()) as call:
        with pytest.raises(SpeechMissing, match=r'pip install "handoffkit\[speech\]"'):
            await call.send_audio(TURN)
        assert not call.log.filter("input_audio_buffer.*")
        assert (await call.send("Hello.")).text == "Go on."
        assert call.turns[-1].audio_ms
        assert call.sound(call.turns[-1]).level < -90  # silence of the spoken length


@pytest.mark.usefixtures("bare")
async def test_without_the_extra_an_sdk_is_told_by_the_service_once_a_turn() -> None:
    async with Agent().realtime("openai:gpt-realtime").session() as session:
        await session.send_audio(bytes(4800))
        await session.send_audio(bytes(4800))
        await session.commit_audio()
        async for _ in hk.log().follow("conversation.item.input_audio_transcription.failed", idle_timeout=20):
            break
        await session.send("Hello.")
        await session.wait_for_reply()
    [error] = hk.log().filter("error")
    assert error.data["error"]["code"] == "speech_not_installed"
    assert "handoffkit[speech]" in error.data["error"]["message"]
    assert hk.log().turns[0].inaudible
    assert hk.log().turns[-1].text == "Go on."


async def test_an_endpoint_ends_with_its_kernel_also_while_it_recognises(
    service: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    hk.disconnect()
    monkeypatch.setenv("OPENAI_API_KEY", service.token)
    hk.connect("live", upstream=service.base_url)
    settings: Any = {"turn_detection": False}
    async with Agent().realtime("openai:gpt-realtime", model_settings=settings).session() as session:
        for _ in range(60):  # five minutes, which take many seconds to recognise
            await session.send_audio(audio.load(TURN).pcm)
        await session.commit_audio()
        async for _ in hk.log().follow("input_audio_buffer.committed", idle_timeout=30):
            break
        process = service._process
        assert process is not None
        service.stop()
    assert process.returncode == 0, "it had to be killed"
