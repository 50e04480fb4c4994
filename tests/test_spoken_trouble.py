"""Bad recordings and bad moments: each is told in clear words, nothing that was said is lost, the next turn works."""

import asyncio
import base64
import os
import struct
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from agents.realtime import RealtimeAgent, RealtimeRunner
from conftest import ROOT
from pydantic_ai import Agent

import handoffkit as hk
from handoffkit import audio
from handoffkit.connect import Endpoint, current
from handoffkit.errors import (
    AudioError,
    NotAWav,
    NothingHeard,
    SoundDamaged,
    SoundEmpty,
    SoundNotFound,
    SoundTooLong,
)
from handoffkit.wire.frames import Frame

TURN = ROOT / "audio" / "laptop-will-not-charge" / "turn-3.wav"
COMMIT_EMPTY = "input_audio_buffer_commit_empty"

pytestmark = pytest.mark.usefixtures("speech")


@pytest.fixture
def here() -> Endpoint:
    hk.connect(model={"gpt-realtime": hk.ScriptedModel(["Go on."] * 5)})
    return current()


@pytest.fixture
async def call(here: Endpoint) -> AsyncIterator[hk.Call]:
    settings: Any = {"turn_detection": {"silence_duration_ms": 700}}
    async with hk.Call(Agent(instructions="Help."), model_settings=settings) as call:
        yield call


def wav(folder: Path, data: bytes) -> Path:
    path = folder / "turn.wav"
    path.write_bytes(data)
    return path


def header(size: int) -> bytes:
    """Return the header of a WAV of 24000 Hz, 16 bit, mono that claims *size* bytes of sound."""
    form = struct.pack("<HHIIHH", 1, 1, 24000, 48000, 2, 16)
    return (
        b"RIFF"
        + struct.pack("<I", 36 + size)
        + b"WAVEfmt "
        + struct.pack("<I", 16)
        + form
        + b"data"
        + struct.pack("<I", size)
    )


BAD: list[tuple[str, bytes, type[AudioError]]] = [
    ("empty", b"", SoundEmpty),
    ("a header alone", header(0), SoundEmpty),
    ("not a WAV", b"ID3\x04 this is music" * 20, NotAWav),
    ("text", b"I'm no sound at all. " * 30, NotAWav),
    ("20 minutes long", header(20 * 60 * 48000) + bytes(20 * 60 * 48000), SoundTooLong),
]


@pytest.mark.parametrize(("what", "data", "error"), BAD, ids=[what for what, *_ in BAD])
async def test_a_bad_recording_is_refused_before_anything_is_sent(
    what: str, data: bytes, error: type[AudioError], tmp_path: Path, call: hk.Call
) -> None:
    path = wav(tmp_path, data)
    before = len(hk.log())
    with pytest.raises(error, match=r"turn\.wav"):
        await call.send_audio(path, realtime=False)
    assert len(hk.log()) == before
    assert (await call.send_audio(TURN, realtime=False)).text == "Go on."


async def test_a_missing_recording_is_named_with_those_that_are_there(tmp_path: Path, call: hk.Call) -> None:
    wav(tmp_path, header(0))
    with pytest.raises(SoundNotFound, match=r"turn\.wav"):
        await call.send_audio(tmp_path / "tunr.wav")


async def test_of_a_recording_that_was_cut_off_what_is_there_is_heard(tmp_path: Path, call: hk.Call) -> None:
    whole = audio.load(TURN)
    path = wav(tmp_path, header(10 * len(whole.pcm)) + whole.pcm)
    with pytest.warns(SoundDamaged, match=r"turn\.wav"):
        assert (await call.send_audio(path, realtime=False)).text == "Go on."
    assert "presentation" in call.turns[0].text.lower()


@pytest.mark.parametrize("color", ["white", "pink"])
async def test_only_noise_is_no_turn(color: Any, call: hk.Call) -> None:
    quiet = audio.Sound(np.full(4 * 24000, 300, "<i2").tobytes(), "noise")
    with pytest.raises(NothingHeard, match="noise"):
        await call.send_audio(quiet.with_noise(-10, color=color), realtime=False)
    assert call.turns == []
    assert (await call.send_audio(TURN, realtime=False)).text == "Go on."


@pytest.mark.parametrize(
    ("rate", "channels", "kind"), [(8000, 1, "<i2"), (44100, 2, "<i2"), (48000, 1, "<f4"), (16000, 1, "u1")]
)
async def test_any_kind_of_array_is_heard(rate: int, channels: int, kind: str, call: hk.Call) -> None:
    import soxr

    sound = np.frombuffer(audio.load(TURN).pcm, "<i2").astype(np.float32) / 32768
    there = soxr.resample(sound, 24000, rate)
    made = {"<i2": there * 32767, "<f4": there, "u1": there * 127 + 128}[kind].astype(kind)
    await call.send_audio(np.repeat(made[:, None], channels, axis=1), sample_rate=rate, realtime=False)
    assert "presentation" in call.turns[0].text.lower()


async def _first(event: str) -> AsyncIterator[Frame]:
    async for frame in hk.log().follow(event, idle_timeout=30):
        yield frame
        return


async def test_a_commit_of_an_empty_buffer_is_the_services_error_and_the_next_turn_works(call: hk.Call) -> None:
    """By the SDK itself, since `Call` never does it."""
    session = call._session.live
    await session.commit_audio()
    errors = [frame.data["error"] async for frame in _first("error")]
    assert errors[0]["code"] == COMMIT_EMPTY
    assert "buffer only has 0.00ms" in errors[0]["message"]
    assert (await call.send_audio(TURN, realtime=False)).text == "Go on."
    assert [turn.speaker for turn in call.turns] == ["caller", "agent"]


async def test_typed_and_spoken_turns_alternate(call: hk.Call) -> None:
    await call.send("Hello.")
    await call.send_audio(TURN, realtime=False)
    await call.send("That is all.")
    assert [turn.spoken for turn in call.turns if turn.speaker == "caller"] == [False, True, False]
    assert [turn.text for turn in call.turns if turn.speaker == "agent"] == ["Go on."] * 3


async def test_sound_that_an_sdk_sends_by_itself_is_in_the_log(here: Endpoint) -> None:
    """Plain pydantic-ai, with the session's own turn detection and nothing of ours but the address."""
    sound = audio.load(TURN).pcm + bytes(48000)
    settings: Any = {"turn_detection": {"silence_duration_ms": 700}}
    agent = Agent(instructions="Help.")
    async with agent.realtime("openai:gpt-realtime", model_settings=settings).session() as session, asyncio.timeout(60):
        await session.send_audio(sound)
        async for event in session:
            if event.event_kind == "realtime_turn_complete":
                break
        said = session.all_messages()
    assert [(turn.speaker, turn.spoken) for turn in hk.log().turns] == [("caller", True), ("agent", True)]
    assert "Go on." in str(said)
    assert "presentation" in str(said).lower()


async def test_the_second_sdk_speaks_and_hears(here: Endpoint) -> None:
    url = f"{here.base_url.replace('http', 'ws', 1)}/realtime?model=gpt-realtime"
    key = os.environ["OPENAI_API_KEY"]
    runner = RealtimeRunner(
        RealtimeAgent(name="Support", instructions="Help."),
        config={"model_settings": {"turn_detection": {"type": "server_vad", "silence_duration_ms": 700}}},
    )
    heard = bytearray()
    async with await runner.run(model_config={"url": url, "api_key": key}) as session:
        await session.send_audio(audio.load(TURN).pcm + bytes(2 * 48000))
        async with asyncio.timeout(60):
            async for event in session:
                if event.type == "audio":
                    heard += event.audio.data
                if event.type == "audio_end":
                    break
    assert audio.Sound(bytes(heard)).level > -40
    assert hk.log().turns[-1].text == "Go on."
    assert hk.log().turns[0].spoken


async def test_sound_that_is_no_base64_is_refused_and_the_session_goes_on(call: hk.Call) -> None:
    import json

    socket = call._session.live._connection._ws
    await socket.send(json.dumps({"type": "input_audio_buffer.append", "audio": "no base64 !"}))
    odd = base64.b64encode(b"\1\2\3").decode()
    await socket.send(json.dumps({"type": "input_audio_buffer.append", "audio": odd}))
    await socket.send(json.dumps({"type": "input_audio_buffer.clear"}))
    assert (await call.send_audio(TURN, realtime=False)).text == "Go on."
    assert "presentation" in call.turns[-2].text.lower()


async def test_a_source_that_stalls_is_given_up_after_its_time(call: hk.Call) -> None:
    async def silent() -> AsyncIterator[bytes]:
        yield bytes(1920)
        await asyncio.sleep(3600)

    async with asyncio.timeout(30):
        assert await call.listen(source=silent(), seconds=0.5) == []
    assert (await call.send("Hello?")).text == "Go on."


async def test_a_source_that_breaks_is_named_and_the_call_goes_on(call: hk.Call) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield bytes(1920)
        raise OSError("unplugged")

    with pytest.raises(OSError, match="unplugged"):
        await call.listen(source=broken(), seconds=5)
    assert (await call.send_audio(TURN, realtime=False)).text == "Go on."


async def test_a_microphone_is_listened_to_and_both_sides_are_returned(call: hk.Call) -> None:
    turns = await call.listen(source=audio.pace(audio.load(TURN).blocks(), realtime=False), seconds=20)
    assert [turn.speaker for turn in turns] == ["caller", "agent"]
