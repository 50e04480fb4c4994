"""Spoken turns in the pure session: turn detection, words on their own time, and the order of the recorded service.

The detector here is a script: it says at which moment of the sound a turn begins and ends. The real one is tested with
real speech elsewhere.
"""

import base64
from typing import Any

import pytest
from realtime_driver import Driver, Ears, Event, kinds, only, sound

from handoffkit.endpoint.models.prompt import Message

_TRANSCRIPT = "conversation.item.input_audio_transcription"


def listening(*turns: tuple[int, int], detection: dict[str, Any] | None = None, transcribe: bool = True) -> Driver:
    """Return a session whose caller speaks at the given moments."""
    driver = Driver(ears=Ears(*turns))
    hearing: dict[str, Any] = {"transcription": {"model": "gpt-realtime-whisper"} if transcribe else None}
    if detection:
        hearing["turn_detection"] = {"type": "server_vad", **detection}
    driver.configure(audio={"input": hearing})
    return driver


def append(driver: Driver, ms: int) -> list[Event]:
    """Send *ms* of sound, 100 ms at a time."""
    return [event for _ in range(ms // 100) for event in driver.send("input_audio_buffer.append", audio=sound(100))]


def test_a_turn_is_told_in_the_order_of_the_service() -> None:
    driver = listening((1460, 4256))
    events = append(driver, 4300)
    assert kinds(events) == [
        "input_audio_buffer.speech_started",
        "input_audio_buffer.speech_stopped",
        "input_audio_buffer.committed",
        "conversation.item.added",
        "conversation.item.done",
        "response.created",
    ]
    started, stopped, committed, added, *_ = events
    assert (started["audio_start_ms"], stopped["audio_end_ms"]) == (1460, 4256)
    assert {started["item_id"], stopped["item_id"], committed["item_id"], added["item"]["id"]} == {started["item_id"]}
    assert added["item"]["content"] == [{"type": "input_audio", "transcript": None}]


def test_the_sound_of_a_turn_is_what_lies_between_its_moments() -> None:
    driver = Driver(ears=Ears((500, 900)))
    pcm = b"".join(bytes([n]) * 4800 for n in range(12))  # 100 ms of each number
    for start in range(0, len(pcm), 4800):
        driver.send("input_audio_buffer.append", audio=base64.b64encode(pcm[start : start + 4800]).decode())
    [heard] = driver.session.sounds()
    assert heard.pcm == pcm[500 * 48 : 900 * 48]
    assert driver.session.sounds() == []


def test_the_order_of_the_recorded_call_can_be_replayed() -> None:
    """Words of the caller's come before, within and after the reply's first events, as they did on the service."""
    driver = listening((1460, 4256))
    said = append(driver, 3000)
    name = said[0]["item_id"]
    said += driver.session.partial(name, " Hello")
    said += driver.session.partial(name, ",")
    said += append(driver, 1300)
    words = iter(driver.session.words(name, "Hello, my name is Marcelo.", [" my", " name", " is", " Marcelo", "."]))
    pending = driver.session.pending()
    assert pending is not None
    driver.response_id = pending.response_id
    reply = driver.answering("Hello, Marcelo! Great to meet you. How can I help you today?")
    said += [next(words)]
    for event in reply:
        said.append(event)
        if event["type"].endswith(".delta"):
            said += [late for late in [next(words, None)] if late]
    assert kinds(said)[:9] == [
        "input_audio_buffer.speech_started",
        f"{_TRANSCRIPT}.delta",
        "input_audio_buffer.speech_stopped",
        "input_audio_buffer.committed",
        "conversation.item.added",
        "conversation.item.done",
        "response.created",
        f"{_TRANSCRIPT}.delta",
        "response.output_item.added",
    ]
    order = [event["type"] for event in said]
    done = order.index(f"{_TRANSCRIPT}.completed")
    assert order.index("response.output_audio_transcript.delta") < done < order.index("response.output_audio.done")
    completed = said[done]
    assert completed["transcript"] == "Hello, my name is Marcelo."
    assert completed["usage"] == {"type": "duration", "seconds": 3}
    assert "".join(event["delta"] for event in only(said, f"{_TRANSCRIPT}.delta")).strip() == completed["transcript"]


def test_a_reply_waits_for_the_words_that_it_answers() -> None:
    driver = listening((0, 1000))
    events = append(driver, 1000)
    assert events[-1]["type"] == "response.created"
    assert driver.session.pending() is None
    driver.session.words(events[0]["item_id"], "My laptop will not charge.")
    pending = driver.session.pending()
    assert pending is not None
    assert pending.prompt.history == (Message("user", "My laptop will not charge."),)


def test_without_transcription_the_model_hears_all_the_same() -> None:
    driver = listening((0, 1000), transcribe=False)
    name = append(driver, 1000)[0]["item_id"]
    assert driver.session.words(name, "It will not charge.", [" It"]) == []
    pending = driver.session.pending()
    assert pending is not None
    assert pending.prompt.history == (Message("user", "It will not charge."),)
    [retrieved] = driver.send("conversation.item.retrieve", item_id=name)
    assert retrieved["item"]["content"] == [{"type": "input_audio", "transcript": None}]


def test_words_that_never_come_are_told_and_the_reply_comes_all_the_same() -> None:
    driver = listening((0, 1000))
    name = append(driver, 1000)[0]["item_id"]
    [failed] = driver.session.no_words(name, "The words could not be recognised.")
    assert failed["type"] == f"{_TRANSCRIPT}.failed"
    pending = driver.session.pending()
    assert pending is not None
    assert pending.prompt.history == (Message("user", "[inaudible]"),)


def test_the_settings_reach_the_detector() -> None:
    driver = listening((0, 1000), detection={"threshold": 0.8, "prefix_padding_ms": 100, "silence_duration_ms": 700})
    append(driver, 100)
    ears = driver.session._hearing._ears
    assert isinstance(ears, Ears)
    expected = {"threshold": 0.8, "prefix_padding_ms": 100, "silence_duration_ms": 700}
    assert ears.made[0].settings == expected
    driver.configure(audio={"input": {"turn_detection": {"type": "server_vad", "silence_duration_ms": 500}}})
    assert ears.made[0].settings == expected | {"silence_duration_ms": 500}
    driver.configure(audio={"input": {"turn_detection": {"type": "semantic_vad", "eagerness": "low"}}})
    assert ears.made[0].settings["silence_duration_ms"] == 1200


def test_create_response_is_honoured() -> None:
    driver = listening((0, 1000), detection={"create_response": False})
    events = append(driver, 1000)
    assert "response.created" not in kinds(events)
    driver.session.words(events[0]["item_id"], "Hello.")
    assert driver.ask().history == (Message("user", "Hello."),)


@pytest.mark.parametrize("sent", range(12))
def test_speaking_over_a_reply_ends_it_at_once(sent: int) -> None:
    """Wherever the reply stands: what was open is closed, whole items only, and the next reply can begin."""
    driver = listening((0, 1000))
    driver.ask()
    reply = driver.answering("One moment please, I look that up for you at once.")
    events = [next(reply) for _ in range(sent)]
    over = append(driver, 400)
    assert over[0]["type"] == "input_audio_buffer.speech_started"
    done = over[-1]
    assert done["type"] == "response.done"
    assert done["response"]["status"] == "cancelled"
    assert done["response"]["status_details"] == {"type": "cancelled", "reason": "turn_detected"}
    assert list(reply) == []
    order = kinds([*events, *over])
    pairs = [("output_item.added", "output_item.done"), ("content_part.added", "content_part.done")]
    for begin, end in (*((f"response.{a}", f"response.{b}") for a, b in pairs),):
        assert order.count(begin) == order.count(end)
    assert order.count("conversation.item.added") == order.count("conversation.item.done")
    assert append(driver, 600)[-1]["type"] == "response.created"


def test_interrupt_response_is_honoured_and_the_turn_waits() -> None:
    """The service's documentation says that such a turn may get no response; it is told by an error."""
    driver = listening((0, 1000), detection={"interrupt_response": False})
    driver.ask()
    reply = driver.answering("One moment please.")
    next(reply)
    events = append(driver, 1000)
    assert events[-1]["type"] == "error"
    assert events[-1]["error"]["code"] == "conversation_already_has_active_response"
    assert list(reply)[-1]["response"]["status"] == "completed"


def test_push_to_talk_takes_what_is_committed() -> None:
    driver = Driver(ears=Ears((0, 200)))
    driver.configure(audio={"input": {"turn_detection": None, "transcription": {"model": "whisper-1"}}})
    assert append(driver, 500) == []
    committed = driver.send("input_audio_buffer.commit")
    assert kinds(committed) == ["input_audio_buffer.committed", "conversation.item.added", "conversation.item.done"]
    [heard] = driver.session.sounds()
    assert len(heard.pcm) == 500 * 48
    driver.session.words(heard.item_id, "Hello.")
    assert driver.ask().history == (Message("user", "Hello."),)


def test_clear_forgets_also_what_is_being_spoken() -> None:
    driver = listening((0, 1000))
    append(driver, 500)
    assert kinds(driver.send("input_audio_buffer.clear")) == ["input_audio_buffer.cleared"]
    assert driver.error("input_audio_buffer.commit")["code"] == "input_audio_buffer_commit_empty"
    assert driver.session.speaking is None


def test_a_commit_while_somebody_speaks_takes_that_turn() -> None:
    driver = listening((200, 5000))
    started = append(driver, 1000)[0]
    committed = driver.send("input_audio_buffer.commit")[0]
    assert committed["item_id"] == started["item_id"]
    [heard] = driver.session.sounds()
    assert len(heard.pcm) == 800 * 48


def test_what_is_spoken_can_be_looked_at_only_where_words_are_wanted() -> None:
    driver = listening((200, 5000))
    driver.configure(audio={"input": {"transcription": {"model": "whisper-1", "language": "de"}}})
    started = append(driver, 1000)[0]
    spoken = driver.session.speaking
    assert spoken is not None
    assert (spoken.item_id, len(spoken.pcm), spoken.language) == (started["item_id"], 800 * 48, "de")
    driver.configure(audio={"input": {"transcription": None}})
    assert driver.session.speaking is None


def test_without_speech_a_spoken_turn_gets_the_words_that_say_what_to_install_once() -> None:
    driver = Driver(ears=Ears(deaf="Speech is not installed here. Install it."))
    [error] = append(driver, 1000)
    assert error["error"]["code"] == "speech_not_installed"
    assert error["error"]["message"] == "Speech is not installed here. Install it."
    driver.send("input_audio_buffer.clear")
    assert len(append(driver, 300)) == 1
    driver.say("Typed words go on working.")
    assert driver.ask().history == (Message("user", "Typed words go on working."),)


def test_turns_are_in_the_order_of_speaking_whatever_the_order_of_their_words() -> None:
    driver = listening((0, 1000), (1500, 2500), detection={"create_response": False})
    events = append(driver, 2600)
    first, second = [event["item_id"] for event in only(events, "input_audio_buffer.committed")]
    driver.session.words(second, "Second.")
    driver.session.words(first, "First.")
    assert driver.ask().history == (Message("user", "First."), Message("user", "Second."))
