"""A call through a virtual sound card: spoken into its microphone, heard by the service, answered on its speaker."""

import asyncio
import warnings

import pytest
from conftest import ROOT
from heard import heard
from pydantic_ai import Agent
from sound_card import DEVICE, Card, card, until

import handoffkit as hk
from handoffkit.errors import DeviceUnknown, MicrophoneTrouble
from handoffkit.sound_card import CardSpeaker

__all__ = ["card"]

TURN = ROOT / "audio" / "laptop-will-not-charge" / "turn-1.wav"
REPLY = "I am sorry to hear that. Which laptop is it, and since when does it not charge?"
PATIENT = {"turn_detection": {"silence_duration_ms": 900}}


def new_call() -> hk.Call:
    hk.connect(model={"gpt-realtime": hk.ScriptedModel([REPLY, "I see."])})
    return hk.Call(Agent(instructions="You are a phone support agent."), model_settings=PATIENT)


@pytest.mark.usefixtures("speech")
async def test_what_is_said_into_the_card_is_answered_on_it(card: Card) -> None:
    speaker = CardSpeaker(DEVICE)
    async with asyncio.timeout(120), new_call() as call, card.hearing() as speakers:
        await call.use_speaker(speaker)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MicrophoneTrouble)  # around a recording there are only zeros
            listening = asyncio.create_task(call.listen(source=DEVICE, seconds=10))
            await until(lambda: card.recorders == 2)  # the call, and who hears the speaker
            async with card.speaking(TURN):
                turns = await listening
        reply = call.sound(turns[-1])
        await until(lambda: speaker.position >= len(reply.pcm))
        await speakers.more(300)
    assert [turn.speaker for turn in turns] == ["caller", "agent"]
    assert "charge" in turns[0].text.lower()
    assert turns[1].text == REPLY
    assert heard(speakers.pcm, reply.pcm).whole >= 0.9, f"{speaker.underruns} underruns"
    speaker.close()


@pytest.mark.usefixtures("speech")
async def test_a_microphone_that_is_not_there_leaves_the_call_as_it_is(card: Card) -> None:
    async with asyncio.timeout(120), new_call() as call:
        with pytest.raises(DeviceUnknown):
            await call.listen(source="Studio Nine", seconds=5)
        assert (await call.send("My laptop does not charge.")).text == REPLY


@pytest.mark.usefixtures("speech")
async def test_a_microphone_that_is_unplugged_in_mid_turn_loses_nothing_that_was_said(card: Card) -> None:
    async with asyncio.timeout(120), new_call() as call:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", MicrophoneTrouble)
            listening = asyncio.create_task(call.listen(source=DEVICE, seconds=30))
            await until(lambda: card.recorders == 1)
            async with card.speaking(TURN) as speaking:
                await speaking.wait()
                await asyncio.to_thread(card.unplug)
                turns = await listening
    assert any("gives no sound any more" in str(each.message) for each in said)
    assert turns[-1].text == REPLY
    assert "charge" in turns[0].text.lower()
