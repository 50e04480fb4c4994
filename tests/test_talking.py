"""Push-to-talk in the middle of a call, speakers that somebody hears, and microphones: all of it real sound."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from conftest import ROOT
from pydantic_ai import Agent

import handoffkit as hk
from handoffkit import audio, microphone
from handoffkit.errors import NoDevice, NoPanel, NothingToHear
from handoffkit.marks import Interrupted
from handoffkit.speaker import ClockSpeaker

LAPTOP = ROOT / "audio" / "laptop-will-not-charge"
FIRST, SECOND = (audio.load(LAPTOP / f"turn-{number}.wav").pcm for number in (1, 2))
PAUSE = bytes(2500 * audio.BYTES_PER_MS)
"""Of silence: longer than what ends a turn by turn detection."""
LONG = "Let me explain that in some detail, since it matters. " * 12

pytestmark = pytest.mark.usefixtures("speech")


class Loud(ClockSpeaker):
    """A speaker with somebody in front of it."""

    audible = True


def new_call(*lines: str, **detection: Any) -> hk.Call:
    hk.connect(model={"gpt-realtime": hk.ScriptedModel(list(lines))})
    agent = Agent(instructions="You are a phone support agent.")
    detection = {"type": "server_vad", "silence_duration_ms": 700} | detection
    return hk.Call(agent, model_settings={"openai_turn_detection": detection})


def caller_turns(call: hk.Call) -> list[Any]:
    return [turn for turn in call.turns if turn.speaker == "caller"]


async def test_who_holds_the_key_makes_one_turn_whatever_the_pauses() -> None:
    async with new_call("Yes?", "And then?", "I see.", "Fine.", "Good.") as call:
        await call.send_audio(FIRST + PAUSE + SECOND, realtime=False)  # replies to both, or to the second alone
        assert len(caller_turns(call)) == 2
        await call.push_to_talk()
        await call.send_audio(FIRST + PAUSE + SECOND, realtime=False)
        await call.push_to_talk()  # it is on already
        assert len(caller_turns(call)) == 3
        await call.push_to_talk(False)
        await call.send_audio(FIRST + PAUSE + SECOND, realtime=False)
        assert len(caller_turns(call)) == 5
        detections = [frame.data["session"]["audio"]["input"]["turn_detection"] for frame in changes(call)]
        assert detections[0] is None
        assert detections[1]["silence_duration_ms"] == 700
    assert not call.log.filter("error")


def changes(call: hk.Call) -> list[Any]:
    """Return the messages by which turn detection was changed; the first of all opened the session."""
    return list(call.log.filter("session.update"))[1:]


async def test_a_press_that_is_too_short_for_a_turn_is_none() -> None:
    async with new_call("Yes?") as call:
        await call.push_to_talk()
        said = await call.listen(source=blocks(FIRST[: 60 * audio.BYTES_PER_MS]), seconds=5)
        assert said == []
        assert not call.log.filter(["error", "input_audio_buffer.commit"])
        reply = await call.send_audio(SECOND, realtime=False)
        assert reply.text == "Yes?"


async def blocks(pcm: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(pcm), 1920):
        yield pcm[start : start + 1920]


async def test_a_reply_that_has_come_whole_can_still_be_stopped_where_somebody_hears_it() -> None:
    async with new_call(LONG) as call:
        await call.use_speaker(Loud())
        await call.send("My laptop does not charge.")
        made = call.turns[-1].audio_ms
        await asyncio.sleep(0.3)
        await call.interrupt()
        reply = call.turns[-1]
        assert reply.interrupted
        assert reply.heard_ms is not None
        assert 0 < reply.heard_ms < made / 2
        assert len(reply.text) < len(reply.generated)
        [mark] = [mark for mark in call.log.marks if isinstance(mark, Interrupted)]
        assert mark.heard_ms == reply.heard_ms
    assert not call.log.filter("error")


async def test_what_has_not_sounded_when_the_call_ends_was_not_heard() -> None:
    async with new_call(LONG) as call:
        await call.use_speaker(Loud())
        await call.send("My laptop does not charge.")
    reply = call.turns[-1]
    assert reply.interrupted
    assert reply.heard_ms is not None
    assert reply.heard_ms < reply.audio_ms / 2


async def test_where_nobody_hears_it_a_whole_reply_stays_whole() -> None:
    async with new_call(LONG) as call:
        await call.send("My laptop does not charge.")
        await call.interrupt()
    assert not call.turns[-1].interrupted


async def test_a_turn_spoken_over_an_agent_that_does_not_stop_gets_its_reply_all_the_same() -> None:
    async with new_call(LONG, "Yes?", interrupt_response=False) as call:
        first = asyncio.create_task(call.send_audio(FIRST))
        async with asyncio.timeout(60):
            async for _ in hk.log().follow("response.output_audio.delta", label=call.label):
                break
        over = await call.send_audio(SECOND, over=True)
        assert not (await first).interrupted
        assert over.text == "Yes?"
        assert [frame.data["response"]["status"] for frame in call.log.filter("response.done")] == ["completed"] * 2


# Microphones


async def test_a_recording_stands_in_for_a_microphone() -> None:
    async with new_call("Yes?") as call:
        said = await call.listen(source=LAPTOP / "turn-3.wav", seconds=30)
        assert [turn.speaker for turn in said] == ["caller", "agent"]
        assert "presentation" in said[0].text


async def test_listening_ends_in_its_time_also_where_nothing_comes() -> None:
    async with new_call("Yes?") as call:
        silent: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()

        async def never() -> AsyncIterator[bytes]:
            yield await silent

        assert await asyncio.wait_for(call.listen(source=never(), seconds=0.1), 20) == []


async def test_where_there_is_no_microphone_at_all_listening_says_so_and_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def none(source: str) -> Any:
        raise NoDevice("microphone", [])

    monkeypatch.setattr(microphone, "_card", none)
    async with new_call("Yes?") as call:
        with pytest.warns(NothingToHear, match="has no microphone: it has no sound card at all"):
            assert await call.listen(seconds=5) == []
        with pytest.raises(NoDevice):
            await call.listen(source="card", seconds=5)
        with pytest.raises(NoPanel):
            await call.listen(source="page", seconds=5)
        async with asyncio.timeout(10):
            async for _ in hk.log().follow("microphone", label=call.label):
                break
        [mark] = call.log.filter("microphone")
        assert mark.data["trouble"] == "none"
