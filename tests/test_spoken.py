"""Spoken turns in a `Call` of either SDK: real recordings, the real endpoint process, recognition and a voice.

What is said is held against the words loosely: recognition differs a little from processor to processor.
"""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Literal

import psutil
import pytest
from conftest import ROOT
from pydantic import BaseModel
from pydantic_ai import Agent
from voice_agents import sdk, settings, voice_agent

import handoffkit as hk
from handoffkit import audio
from handoffkit.connect import current
from handoffkit.errors import (
    AudioBusy,
    CallOver,
    EndpointGone,
    InaudibleTurns,
    NothingHeard,
    NothingSaid,
    SpeechMissing,
)

LAPTOP = ROOT / "audio" / "laptop-will-not-charge"
FIRST, SECOND, LAST = (LAPTOP / f"turn-{number}.wav" for number in (1, 2, 3))
COMPLETED = "conversation.item.input_audio_transcription.completed"
PATIENT: dict[str, Any] = {"silence_duration_ms": 700}
PUSH_TO_TALK: dict[str, Any] | None = None
LONG = "Let me explain that in some detail, since it matters. " * 12

__all__ = ["sdk"]

pytestmark = pytest.mark.usefixtures("speech", "sdk")


class Ticket(BaseModel):
    """What the tests ask for."""

    summary: str
    category: Literal["hardware", "software", "billing", "other"]
    priority: Literal["low", "medium", "high"]


def new_call(
    *lines: str, faults: tuple[hk.Fault, ...] = (), detection: Any = PATIENT, transcribes: bool = True
) -> hk.Call:
    """Connect, and return a call whose agent says *lines*, or what the keyword model says."""
    model = hk.ScriptedModel(list(lines)) if lines else None
    hk.connect(model={"gpt-realtime": model} if model else None, faults=faults)
    given = None if detection is None else {"type": "server_vad", "interrupt_response": True, **detection}
    return hk.Call(voice_agent(), model_settings=settings(given, transcribes=transcribes))


def triage() -> Agent[None, Ticket]:
    return Agent("openai:gpt-5.2", output_type=Ticket)


def words_of(call: hk.Call, speaker: str = "caller") -> str:
    return " ".join(turn.text.lower() for turn in call.turns if turn.speaker == speaker)


async def until(call: hk.Call, event: str, after_seq: int = 0) -> None:
    """Wait until *event* has passed."""
    async for _ in hk.log().follow(event, label=call.label, after_seq=after_seq, idle_timeout=30):
        return
    raise AssertionError(f"{event} did not come")


async def test_a_recording_is_heard_answered_in_a_voice_and_kept() -> None:
    async with new_call() as call:
        reply = await call.send_audio(FIRST, realtime=False)
    caller, agent = call.turns
    assert "charge" in caller.text.lower()
    assert (caller.spoken, caller.inaudible, caller.pending) == (True, False, False)
    assert reply.text
    assert agent == call.turns[1]
    seconds = audio.load(FIRST).seconds
    assert abs(caller.audio_ms / 1000 - seconds) < 1.5
    spoken = call.sound(agent)
    assert abs(spoken.ms - agent.audio_ms) <= 1
    assert spoken.level > -40  # a voice, and no silence
    assert call.sound(caller).level == pytest.approx(audio.load(FIRST).level, abs=3)


async def test_the_ticket_comes_from_what_was_heard() -> None:
    async with new_call() as call:
        for turn in (FIRST, SECOND, LAST):
            await call.send_audio(turn, realtime=False)
    ticket = (await call.handoff(triage())).output
    assert (ticket.category, ticket.priority) == ("hardware", "high")


async def test_at_the_pace_of_speech_words_come_while_they_are_spoken() -> None:
    turn = b"".join(audio.load(path).pcm for path in (FIRST, SECOND, LAST))  # long enough for a machine that is busy
    async with new_call("Yes?", detection={"silence_duration_ms": 1500}) as call:
        await call.send_audio(turn)
    events = [frame.event for frame in call.log.filter(dir="server")]
    partial = events.index("conversation.item.input_audio_transcription.delta")
    stopped = events.index("input_audio_buffer.speech_stopped")
    assert events.index("input_audio_buffer.speech_started") < partial < stopped < events.index("response.created")
    [completed] = call.log.filter(COMPLETED)
    assert completed.data["transcript"] == call.turns[0].text


async def test_words_that_come_late_are_waited_for_when_the_call_ends() -> None:
    """The call ends 0 ms after the reply, and the transcript is due long after that."""
    late = hk.Fault(COMPLETED, "delay", seconds=4.0)
    async with new_call("Yes?", faults=(late,)) as call:
        await call.send_audio(LAST, realtime=False)
        assert call.turns[0].pending
    assert "presentation" in words_of(call)
    assert [turn.speaker for turn in call.turns] == ["caller", "agent"]
    assert (await call.handoff(triage())).output.priority == "high"


async def test_a_call_that_ends_on_the_callers_last_word_has_it() -> None:
    """The caller hangs up while turn detection still waits for the end of the turn."""
    call = await new_call("Yes?").start()
    sound = audio.load(LAST)
    speech = sound.pcm.rstrip(b"\0")

    async def spoken() -> AsyncIterator[bytes]:
        yield speech[: len(speech) // 2 * 2]
        await asyncio.sleep(3600)  # the microphone stays open

    listening = asyncio.create_task(call.listen(source=spoken(), seconds=60))
    await until(call, "input_audio_buffer.speech_started")
    await call.hang_up()
    with pytest.raises(CallOver):
        await listening
    assert "presentation" in words_of(call)
    assert not any(turn.pending or turn.inaudible for turn in call.turns)
    assert "presentation" in (await call.handoff(triage())).output.summary.lower()


async def test_words_that_never_come_are_inaudible_and_said_so() -> None:
    lost = hk.Fault(COMPLETED, "drop")
    call = new_call("Yes?", "I see.", faults=(lost,), detection=PUSH_TO_TALK)
    async with call:
        await call.send_audio(FIRST, realtime=False)
        await call.send("It does not charge.")
        # Words came in pieces, and their end did not; what came counts.
    assert call.turns[0].speaker == "caller"
    with contextlib.suppress(Warning):
        await call.handoff(triage(), patience=0.5)


async def test_a_turn_whose_recognition_fails_is_inaudible() -> None:
    """German is asked for, and the weights that come with the extra know English only."""
    german = {"session": {"audio": {"input": {"transcription": {"model": "whisper-1", "language": "de"}}}}}
    asks_german = hk.Fault("session.update", "patch", direction="client", data=german)
    async with new_call("Yes?", "I see.", faults=(asks_german,)) as call:
        await call.send_audio(FIRST)  # at the pace of speech, so that it is looked at while it is spoken
        await call.send("It does not charge.")
    assert call.turns[0].inaudible
    with pytest.warns(InaudibleTurns):
        assert (await call.handoff(triage())).output.category == "hardware"


async def test_without_transcription_the_turn_is_inaudible_and_answered() -> None:
    async with new_call(transcribes=False) as call:
        reply = await call.send_audio(FIRST, realtime=False)
    assert call.turns[0].inaudible
    assert "charg" in reply.text or "cable" in reply.text  # who answers hears all the same
    with pytest.raises(NothingSaid, match="inaudible"):
        await call.handoff(triage())


async def test_turns_stand_in_the_order_of_speaking_whatever_the_order_of_their_words() -> None:
    late = hk.Fault(COMPLETED, "delay", nth=1, seconds=4.0)
    async with new_call("Yes?", "I see.", faults=(late,)) as call:
        await call.send_audio(FIRST, realtime=False)
        await call.send_audio(LAST, realtime=False)
        done = [frame.data["item_id"] for frame in call.log.filter(COMPLETED)]
    order = [frame.data["item_id"] for frame in call.log.filter(COMPLETED)]
    assert done != order or order[0] == call.turns[2].item_id
    callers = [turn for turn in call.turns if turn.speaker == "caller"]
    assert "charge" in callers[0].text.lower()
    assert "presentation" in callers[1].text.lower()
    assert order == [callers[1].item_id, callers[0].item_id]


async def test_speaking_over_the_agent_keeps_what_was_heard() -> None:
    async with new_call(LONG, "Go on.") as call:
        asked = asyncio.create_task(call.send_audio(SECOND))
        await until(call, "response.output_audio.delta")
        await asyncio.sleep(1.0)  # the agent is heard for a while
        assert not asked.done()
        reply = await call.send_audio(FIRST)
        first = await asked
    assert reply.text == "Go on."
    assert (first.speaker, first.interrupted, call.turns[1]) == ("agent", True, first)
    assert first.heard_ms is not None
    assert 0 < first.heard_ms < first.audio_ms
    assert LONG.startswith(first.text)
    assert 0 < len(first.text) < len(first.generated)
    [done] = [frame for frame in call.log.filter("response.done") if frame.data["response"]["status"] != "completed"]
    assert done.data["response"]["status_details"] == {"type": "cancelled", "reason": "turn_detected"}
    [truncate] = call.log.filter("conversation.item.truncate")
    assert 0 < truncate.data["audio_end_ms"] == first.heard_ms
    assert call.log.filter("conversation.item.truncated")
    assert not call.log.filter("error")


async def test_a_reply_that_is_made_and_still_played_is_cut_to_what_was_heard() -> None:
    """Sound is made faster than it is heard: what is spoken over is often complete, and only the client can cut it."""
    async with new_call("Let me see. That is easy to mend, and I tell you how.", "Go on.", "Bye.") as call:
        first = await call.send_audio(SECOND)
        assert not first.interrupted
        await call.send_audio(LAST, over=True)
        await call.send("Thanks.")
    first = call.turns[1]
    assert first.interrupted
    assert first.heard_ms is not None
    assert 0 < first.heard_ms < first.audio_ms
    assert len(first.text) < len(first.generated)


async def test_the_next_recording_waits_until_the_agent_has_been_heard() -> None:
    async with new_call("Let me see. That is easy to mend, and I tell you how.", "Go on.") as call:
        await call.send_audio(SECOND)
        await call.send_audio(LAST)
    assert not any(turn.interrupted for turn in call.turns)
    assert not call.log.filter("conversation.item.truncate")


async def test_a_reply_that_nobody_has_heard_yet_is_stopped_without_a_cut() -> None:
    """Spoken over before its first sound: nothing can be truncated at 0 ms, so nothing is."""
    slow = hk.Fault("response.output_audio.delta", "delay", seconds=6.0)
    async with new_call(LONG, "Go on.", faults=(slow,)) as call:
        asked = asyncio.create_task(call.send_audio(SECOND))
        await until(call, "response.content_part.added")
        reply = await call.send_audio(LAST, realtime=False)
        first = await asked
    assert reply.text == "Go on."
    assert first.interrupted
    assert first.text == ""
    assert not call.log.filter("conversation.item.truncate")
    assert not call.log.filter("error")


async def test_push_to_talk_takes_the_recording_as_one_turn() -> None:
    async with new_call("Yes?", detection=PUSH_TO_TALK) as call:
        reply = await call.send_audio(FIRST, realtime=False)
    assert reply.text == "Yes?"
    events = [frame.event for frame in call.log]
    assert "input_audio_buffer.speech_started" not in events
    assert events.count("input_audio_buffer.commit") == 1
    assert "charge" in call.turns[0].text.lower()
    assert call.sound(call.turns[0]).ms == audio.load(FIRST).ms


async def test_where_nothing_replies_by_itself_the_callers_turn_is_returned() -> None:
    async with new_call("Yes?", detection=PATIENT | {"create_response": False}) as call:
        turn = await call.send_audio(FIRST, realtime=False)
        assert turn.speaker == "caller"
        assert (await call.respond()).text == "Yes?"
    assert [turn.speaker for turn in call.turns] == ["caller", "agent"]


async def test_a_short_silence_cuts_a_turn_that_a_long_one_keeps_whole() -> None:
    counts = []
    for silence in (100, 1200):
        detection = {"silence_duration_ms": silence, "create_response": False}
        async with new_call("Yes?", detection=detection) as call:
            await call.send_audio(FIRST, realtime=False)
        counts.append(len(call.turns))
    assert counts[0] > counts[1] == 1


@pytest.mark.parametrize("seconds", [0.3, 5.0])
async def test_silence_is_no_turn(seconds: float) -> None:
    async with new_call("Yes?") as call:
        with pytest.raises(NothingHeard, match="silent"):
            await call.send_audio(bytes(int(seconds * 24000) * 2), realtime=False)
        assert (await call.send_audio(FIRST, realtime=False)).text == "Yes?"


async def test_noise_is_no_turn() -> None:
    import numpy as np

    noise = np.random.default_rng(1).normal(0, 0.05, 24000 * 4).clip(-1, 1)
    async with new_call("Yes?") as call:
        with pytest.raises(NothingHeard, match="dBFS"):
            await call.send_audio(noise, realtime=False)
        assert (await call.send("Hello?")).text == "Yes?"


async def test_two_sources_at_once_are_refused_and_the_first_goes_on() -> None:
    async with new_call("Yes?") as call:
        first = asyncio.create_task(call.send_audio(FIRST))
        await until(call, "input_audio_buffer.append")
        with pytest.raises(AudioBusy, match=r"'turn-1\.wav'.*'turn-3\.wav'"):
            await call.send_audio(LAST)
        assert (await first).text == "Yes?"


async def test_after_the_call_nothing_is_sent() -> None:
    async with new_call("Yes?") as call:
        await call.send("Hello.")
    before = len(call.log)
    with pytest.raises(CallOver):
        await call.send_audio(FIRST)
    assert len(call.log) == before


async def test_a_recording_that_is_given_up_is_taken_back() -> None:
    async with new_call("Yes?") as call:
        speaking = asyncio.create_task(call.send_audio(FIRST))
        await until(call, "input_audio_buffer.speech_started")
        speaking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await speaking
        reply = await call.send_audio(LAST, realtime=False)
    assert reply.text == "Yes?"
    assert [turn.speaker for turn in call.turns] == ["caller", "agent"]
    assert "charge" not in words_of(call)


async def test_where_speech_is_turned_off_typed_turns_work() -> None:
    hk.connect(model=hk.ScriptedModel(["Yes?"]), speech=False)
    async with hk.Call(voice_agent()) as call:
        with pytest.raises(SpeechMissing, match="speech=True"):
            await call.send_audio(FIRST)
        assert (await call.send("Hello.")).text == "Yes?"
    assert not call.log.filter("input_audio_buffer.*")


async def test_an_endpoint_that_is_killed_in_the_middle_is_named_and_what_was_said_is_kept() -> None:
    call = await new_call("Yes?", "I see.").start()
    await call.send("It is about my laptop.")
    speaking = asyncio.create_task(call.send_audio(FIRST))
    await until(call, "input_audio_buffer.speech_started")
    process = psutil.Process(current().pid)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(10)
    with pytest.raises(EndpointGone):
        await speaking
    await call.hang_up()
    assert "laptop" in call.turns[0].text


async def test_a_copy_elsewhere_and_six_decibels_quieter_gives_the_same_ticket(tmp_path: Path) -> None:
    async with new_call() as call:
        for turn in (FIRST, SECOND, LAST):
            audio.load(turn).louder(-6).save(tmp_path / turn.name)
            await call.send_audio(tmp_path / turn.name, realtime=False)
    ticket = (await call.handoff(triage())).output
    assert (ticket.category, ticket.priority) == ("hardware", "high")
