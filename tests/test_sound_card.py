"""The kernel's microphone and speaker on a virtual sound card: what arrives, what is played, and what goes wrong."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT
from heard import heard
from sound_card import DEVICE, RATE, Card, card, extent, until

from handoffkit import audio
from handoffkit.errors import DeviceBusy, DeviceRefused, DeviceUnknown, MicrophoneTrouble
from handoffkit.microphone import BLOCK_BYTES, open_microphone
from handoffkit.sound_card import CardMicrophone, CardSpeaker, devices, recording
from handoffkit.sound_card.portaudio import refused

__all__ = ["card"]

TURN = audio.load(ROOT / "audio" / "laptop-will-not-charge" / "turn-1.wav")
SAID = audio.Sound(TURN.pcm[: 2500 * 48], "said.wav")
BOUND = 30.0


@pytest.fixture
def said(tmp_path: Path) -> Path:
    return SAID.save(tmp_path / "said.wav")


async def recorded(microphone: CardMicrophone, card: Card, path: Path, after_ms: int = 700) -> list[bytes]:
    """Play a file into the microphone, and return the blocks that came until *after_ms* after its end."""
    blocks: list[bytes] = []
    left = after_ms * audio.BYTES_PER_MS
    async with asyncio.timeout(BOUND):
        await microphone.start()
        async with card.speaking(path) as speaking:
            async for block in microphone:
                blocks.append(block)
                left -= len(block) * (speaking.returncode is not None)
                if left <= 0:
                    microphone.close()
    return blocks


async def played(speaker: CardSpeaker, pcm: bytes) -> None:
    """Write sound in pieces, as it comes from a service, and wait until it has been heard."""
    for at in range(0, len(pcm), 9600):
        speaker.write(pcm[at : at + 9600])
    await until(lambda: speaker.position >= len(pcm))


# The microphone


def test_the_devices_are_listed_with_the_one_that_the_system_prefers(card: Card) -> None:
    found = devices()
    assert {device.kind for device in found if device.name == DEVICE} == {"input", "output"}
    assert devices("input") == [device for device in found if device.kind == "input"]
    assert sum(device.default for device in devices("input")) == 1
    assert all(device.rate >= 8000 and device.channels >= 1 for device in found)


@pytest.mark.parametrize(("rate", "channels"), [(24_000, 1), (44_100, 2), (48_000, 1)])
async def test_what_is_said_arrives_whole_whatever_the_rate_of_the_card(
    card: Card, said: Path, rate: int, channels: int
) -> None:
    card.plug_in(rate, channels)
    microphone = CardMicrophone(DEVICE)
    blocks = await recorded(microphone, card, said)
    assert {len(block) for block in blocks[:-1]} == {BLOCK_BYTES}
    assert microphone.rate != RATE, "the device's own rate is no problem"
    assert (microphone.dropped_ms, microphone.lost) == (0, 0)
    arrived = b"".join(blocks)
    assert abs(len(arrived) / 2 / RATE - microphone.samples / microphone.rate) < 0.01, "every sample came through"
    assert heard(arrived, SAID.pcm).whole >= 0.9
    assert extent(arrived) == pytest.approx(extent(SAID.pcm), rel=0.01)


async def test_the_card_that_the_system_prefers_needs_no_name(card: Card, said: Path) -> None:
    microphone = await open_microphone("card")
    assert isinstance(microphone, CardMicrophone)
    assert microphone.name == next(device.name for device in devices("input") if device.default)
    microphone.close()


async def test_a_device_is_found_by_its_number_and_by_a_part_of_its_name(card: Card) -> None:
    number = next(device.id for device in devices("input") if device.name == DEVICE)
    for wanted in (f"card:{number}", DEVICE.upper()):
        microphone = await open_microphone(wanted)
        assert microphone.name == DEVICE
        microphone.close()
        assert [block async for block in microphone][2:] == [], "who iterates gets to the end"


async def test_a_device_that_is_not_there_is_said_with_those_that_are(card: Card) -> None:
    with pytest.raises(DeviceUnknown, match=f"no microphone 'Studio Nine'; there is .*'{DEVICE}'"):
        await open_microphone("Studio Nine")
    with pytest.raises(DeviceUnknown, match="no speaker 4711"):
        CardSpeaker(4711)


async def test_only_zeros_are_said_once_and_so_is_sound_after_them(card: Card, said: Path) -> None:
    troubles: list[MicrophoneTrouble] = []
    microphone = CardMicrophone(DEVICE)
    microphone.on_trouble = troubles.append
    async with asyncio.timeout(BOUND):
        while not troubles:
            await anext(microphone)
        await recorded(microphone, card, said)
    assert [trouble.kind for trouble in troubles][:2] == ["zeros", "sound-again"]
    assert str(troubles[0]).startswith(f"No sound is arriving from '{DEVICE}'")


async def test_sound_that_a_blocked_kernel_cannot_take_is_dropped_and_said(
    card: Card, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording, "KEPT_SECONDS", 1)
    troubles: list[MicrophoneTrouble] = []
    microphone = CardMicrophone(DEVICE)
    microphone.on_trouble = troubles.append
    await anext(microphone)
    time.sleep(2.0)  # noqa: ASYNC251 - a cell that blocks
    async with asyncio.timeout(BOUND):
        await anext(microphone)
    assert 500 < microphone.dropped_ms < 3000
    assert [trouble.kind for trouble in troubles if trouble.kind != "zeros"] == ["dropped"]
    microphone.close()


# The speaker


async def test_what_is_written_is_heard_to_its_last_sample(card: Card) -> None:
    speaker = CardSpeaker(DEVICE)
    async with card.hearing() as speakers:
        await played(speaker, SAID.pcm)
        await speakers.more(300)
    speaker.close()
    assert heard(speakers.pcm, SAID.pcm).whole >= 0.9, f"{speaker.underruns} underruns"
    assert extent(speakers.pcm, 0) >= extent(SAID.pcm, 0) * 0.999
    if not speaker.underruns:  # else this machine was too busy, and there is a gap
        assert extent(speakers.pcm) == pytest.approx(extent(SAID.pcm), rel=0.01)


async def test_what_is_shorter_than_a_buffer_is_heard_too(card: Card) -> None:
    tone = (np.sin(np.arange(30 * 24) / 5) * 9000).astype("<i2").tobytes()
    speaker = CardSpeaker(DEVICE)
    async with card.hearing() as speakers:
        await played(speaker, tone)
        await speakers.more(300)
    speaker.close()
    assert extent(speakers.pcm) == pytest.approx(extent(tone), abs=24)


async def test_a_flush_stops_at_once_and_says_exactly_where(card: Card) -> None:
    noise = (np.random.default_rng(5).standard_normal(2 * RATE) * 3000).astype("<i2").tobytes()  # no two places alike
    speaker = CardSpeaker(DEVICE)
    async with card.hearing() as speakers:
        speaker.write(noise)
        await until(lambda: speaker.position >= 40_000)
        before = speaker.position
        stopped = await speaker.flush()
        assert speaker.position == len(noise)
        speaker.write(bytes(4800))
        await until(lambda: speaker.position >= len(noise) + 4800)
        await speakers.more(300)
    speaker.close()
    assert before <= stopped <= before + 1000 * 48
    last = np.flatnonzero(np.abs(np.frombuffer(speakers.pcm, "<i2").astype(int)) > 100)[-1]
    tail = speakers.pcm[2 * (int(last) - 20 * 24) : 2 * int(last)]
    played = round(heard(noise, tail).begins * RATE) + len(tail) // 2
    assert abs(played - stopped // 2) <= 24 * 5, "the last that was played is what the flush says, within 5 ms"


async def test_a_flush_of_nothing_is_nothing(card: Card) -> None:
    speaker = CardSpeaker(DEVICE)
    assert (speaker.audible, await speaker.flush(), speaker.position) == (True, 0, 0)
    speaker.close()
    speaker.close()
    assert not speaker.audible


# Devices that go away


async def test_a_microphone_that_is_unplugged_in_mid_turn_ends_and_says_so(card: Card, said: Path) -> None:
    troubles: list[MicrophoneTrouble] = []
    microphone, speaker = CardMicrophone(DEVICE), CardSpeaker(DEVICE)
    microphone.on_trouble = speaker.on_trouble = troubles.append
    speaker.write(SAID.pcm)
    blocks = []
    async with asyncio.timeout(BOUND), card.speaking(said):
        async for block in microphone:
            blocks.append(block)
            if len(blocks) == 25:
                await asyncio.to_thread(card.unplug)
    assert len(blocks) >= 25, "what was said before is there"
    assert "ended" in [trouble.kind for trouble in troubles]
    await until(lambda: not speaker.audible)
    assert speaker.position == len(SAID.pcm), "nobody waits for a speaker that is gone"
    speaker.close()
    with pytest.raises(DeviceRefused, match=r"The system says: .*`call\.panel"):
        CardSpeaker(DEVICE)


async def test_a_microphone_that_moves_to_another_source_is_heard_to_be_silent(card: Card) -> None:
    troubles: list[MicrophoneTrouble] = []
    microphone = CardMicrophone(DEVICE)
    microphone.on_trouble = troubles.append
    await anext(microphone)
    await asyncio.to_thread(card.unplug, "vmic")
    async with asyncio.timeout(BOUND):
        while not troubles:
            await anext(microphone)
    assert troubles[0].kind == "zeros"
    microphone.close()


async def test_a_sound_server_that_dies_ends_the_microphone_and_later_it_can_be_had_again(card: Card) -> None:
    microphone = CardMicrophone(DEVICE)
    async with asyncio.timeout(BOUND):
        await anext(microphone)
        os.kill(card.pid, signal.SIGKILL)
        assert len([block async for block in microphone]) < 100
    assert "pulse" not in {device.name for device in devices(refresh=True) if device.default}


def test_a_device_that_another_program_has_is_said_to_be_busy() -> None:
    busy = refused("USB headset", Exception("Error opening InputStream: Device unavailable", -9985))
    assert isinstance(busy, DeviceBusy)
    assert str(busy).startswith("'USB headset' cannot be opened. The system says: Error opening InputStream: Device")
    assert "Close the program" in str(busy)
    assert type(refused("USB headset", Exception("Unanticipated host error", -9999))) is DeviceRefused


# Machines without a sound card


def told(code: str, **env: str) -> str:
    """Run *code* in a fresh interpreter, and return what it prints."""
    begin = "import asyncio, ctypes.util, handoffkit as hk\nfrom handoffkit.errors import *\n"
    done = subprocess.run(
        [sys.executable, "-c", begin + code],
        env=os.environ | env,
        capture_output=True,
        text=True,
        timeout=BOUND,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


OPEN = """
from handoffkit.microphone import open_microphone
from handoffkit.sound_card import CardSpeaker, devices
try:
    asyncio.run(open_microphone("card"))
except MicrophoneError as error:
    print(type(error).__name__, error)
"""


def test_a_program_ends_though_one_of_its_streams_does_not(card: Card) -> None:
    words = told(f"""
import sounddevice, threading
from handoffkit.sound_card import CardSpeaker, portaudio
portaudio._ENDS = 0.1
speaker = CardSpeaker({DEVICE!r})
abort = speaker._stream._stream.abort
speaker._stream._stream.abort = lambda **options: (abort(**options), threading.Event().wait())
sounddevice._terminate = lambda: threading.Event().wait()
speaker.close()
print("closed")
""")
    assert words == "closed\n"


def test_without_portaudio_the_words_say_what_to_install() -> None:
    words = told(f"ctypes.util.find_library = lambda name: None\n{OPEN}")
    assert words.startswith("NoPortAudio The kernel's sound card is reached through PortAudio, which cannot be loaded")
    for advice in ("PortAudio library not found", "apt-get install libportaudio2", "conda-forge", "`call.panel()`"):
        assert advice in words


def test_without_a_sound_card_the_words_point_to_the_browser_and_to_recordings(card: Card, tmp_path: Path) -> None:
    nothing = tmp_path / "asound.conf"
    nothing.write_text("pcm.nothing { type copy }\n")  # a file without any device has PortAudio abort
    words = told(f"{OPEN}\nprint(devices())", ALSA_CONFIG_PATH=str(nothing))
    assert words.startswith("NoDevice The machine that the kernel runs on has no microphone: it has no sound card")
    assert "`call.panel()`" in words
    assert "listen(source='turn-1.wav')" in words
    assert words.endswith("[]\n")
