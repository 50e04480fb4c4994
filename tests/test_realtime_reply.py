"""Replies of the simulated Realtime service: words, sound and calls, and every way in which a reply can end."""

import base64
from collections.abc import Iterator
from itertools import takewhile
from typing import Any

import pytest
from realtime_driver import Driver, Event, kinds, only

from handoffkit.endpoint.models.prompt import Message, Reply, ToolCall, ToolResult
from handoffkit.endpoint.protocol.api_error import ApiError
from handoffkit.endpoint.protocol.realtime.audio import InputBuffer, heard, interleaved, silence

LONG = "Have you tried another outlet, or another cable, before we go on to the battery?"
CALL = ToolCall("look_up", '{"order": "A-17"}')


def _until(driver: Driver, reply: Reply | str, kind: str, nth: int = 1) -> tuple[list[Event], Iterator[Event]]:
    """Return the events of a reply up to the *nth* one of *kind*, and the rest, not sent yet."""
    rest = driver.answering(reply)
    events: list[Event] = []
    for event in rest:
        events.append(event)
        if len(only(events, kind)) == nth:
            return events, rest
    raise AssertionError(f"no {nth} × {kind} in {kinds(events)}")


def _response(events: list[Event]) -> dict[str, Any]:
    [done] = only(events, "response.done")
    assert events[-1] is done
    response: dict[str, Any] = done["response"]
    return response


# ---- words, sound, calls


def test_a_spoken_reply_is_words_and_as_much_sound() -> None:
    events = Driver().turn("Hello", LONG)
    words = "".join(event["delta"] for event in only(events, "response.output_audio_transcript.delta"))
    chunks = [base64.b64decode(event["delta"]) for event in only(events, "response.output_audio.delta")]
    assert words == LONG
    assert {len(chunk) for chunk in chunks[:-1]} == {250 * 48}
    assert sum(map(len, chunks)) == pytest.approx(len(LONG) / 15 * 24000 * 2, abs=96)
    [item] = _response(events)["output"]
    assert item["content"] == [{"type": "output_audio", "transcript": LONG}]


def test_a_long_reply_is_heard_while_it_is_still_being_written() -> None:
    order = [event["type"] for event in Driver().turn("Hello", LONG)]
    first_sound = order.index("response.output_audio.delta")
    last_word = len(order) - 1 - order[::-1].index("response.output_audio_transcript.delta")
    assert order.index("response.output_audio_transcript.delta") < first_sound < last_word


def test_a_voice_says_the_text_in_its_own_chunks() -> None:
    asked: list[str] = []

    def voice(text: str) -> Iterator[bytes]:
        asked.append(text)
        yield b"\x01\x00" * 240
        yield b"\x02\x00" * 240

    driver = Driver(voice=voice)
    events = driver.turn("Hello", "Hi there!")
    chunks = [base64.b64decode(event["delta"]) for event in only(events, "response.output_audio.delta")]
    assert (asked, chunks) == (["Hi there!"], [b"\x01\x00" * 240, b"\x02\x00" * 240])
    driver.turn("Hello", "Hi there!", output_modalities=["text"])
    assert asked == ["Hi there!"]


def test_words_and_several_calls_come_as_items_of_their_own() -> None:
    driver = Driver()
    driver.configure(output_modalities=["text"])
    events = driver.turn("Where is it?", Reply("One moment.", (CALL, ToolCall("log", "{}"))))
    assert kinds(events) == [
        "response.output_item.added",
        "conversation.item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "conversation.item.done",
        "response.output_item.done",
        *[
            "response.output_item.added",
            "conversation.item.added",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "conversation.item.done",
            "response.output_item.done",
        ]
        * 2,
        "response.done",
    ]
    output = _response(events)["output"]
    assert [item["type"] for item in output] == ["message", "function_call", "function_call"]
    assert [event["output_index"] for event in only(events, "response.output_item.done")] == [0, 1, 2]
    calls = only(events, "response.function_call_arguments.done")
    assert [(call["name"], call["arguments"]) for call in calls] == [("look_up", CALL.arguments), ("log", "{}")]
    assert [call["call_id"] for call in calls] == [item["call_id"] for item in output[1:]]
    assert len({call["call_id"] for call in calls}) == 2


def test_the_result_of_a_call_may_come_while_the_reply_still_runs() -> None:
    driver = Driver()
    driver.say("Where is it?")
    driver.ask()
    reply = Reply("", (CALL, ToolCall("log", "{}")))
    events, rest = _until(driver, reply, "response.function_call_arguments.done")
    result = {"type": "function_call_output", "call_id": events[-1]["call_id"], "output": "At the depot."}
    assert driver.send("conversation.item.create", item=result) == []
    last = list(rest)[-3:]
    assert kinds(last) == ["response.done", "conversation.item.added", "conversation.item.done"]
    assert last[1]["previous_item_id"] == last[0]["response"]["output"][-1]["id"]
    assert driver.heard_so_far().history[1:] == (
        ToolCall("look_up", CALL.arguments, events[-1]["call_id"]),
        ToolCall("log", "{}", last[0]["response"]["output"][-1]["call_id"]),
        ToolResult(events[-1]["call_id"], "At the depot."),
    )


def test_the_next_response_knows_a_result_that_came_early() -> None:
    driver = Driver()
    driver.say("Where is it?")
    driver.ask()
    events, rest = _until(driver, Reply("", (CALL,)), "response.function_call_arguments.done")
    result = {"type": "function_call_output", "call_id": events[-1]["call_id"], "output": "At the depot."}
    driver.send("conversation.item.create", item={**result, "id": "mine"}, previous_item_id=events[-1]["item_id"])
    driver.say("Hello?", id="mine")
    driver.send("conversation.item.delete", item_id=events[-1]["item_id"])
    while next(rest)["type"] != "response.done":
        pass
    assert ToolResult(result["call_id"], "At the depot.") in driver.ask().history
    added, _ = rest
    assert added["item"]["id"] != "mine"


def test_a_reply_of_nothing_is_still_done() -> None:
    driver = Driver()
    driver.ask()
    events = list(driver.answering(Reply()))
    assert kinds(events) == ["response.done"]
    assert (_response(events)["status"], _response(events)["output"]) == ("completed", [])


def test_an_agent_may_speak_first() -> None:
    driver = Driver()
    driver.ask()
    events = list(driver.answering("Hello, how can I help?"))
    assert only(events, "conversation.item.added")[0]["previous_item_id"] is None
    assert driver.heard_so_far().history == (Message("assistant", "Hello, how can I help?"),)


def test_each_response_is_handed_out_and_answered_once() -> None:
    driver = Driver()
    driver.ask()
    assert driver.session.pending() is None
    list(driver.answering("Hi"))
    assert list(driver.answering("Hi again")) == []
    assert list(driver.session.answer("resp_unknown", Reply("Hi"))) == []
    assert driver.session.fail(driver.response_id, ApiError("Too late.")) == []


def test_a_limit_of_tokens_cuts_a_reply_off() -> None:
    driver = Driver()
    events = driver.turn("Hello", Reply(LONG, (CALL,)), max_output_tokens=5)
    response = _response(events)
    assert (response["status"], response["max_output_tokens"]) == ("incomplete", 5)
    assert response["status_details"] == {"type": "incomplete", "reason": "max_output_tokens"}
    [item] = response["output"]
    assert item["status"] == "incomplete"
    assert LONG.startswith(item["content"][0]["transcript"])
    events = driver.turn("And now?", Reply("", (CALL,)), max_output_tokens=3)
    assert _response(events)["status"] == "incomplete"
    assert not only(events, "response.function_call_arguments.done")
    response = _response(driver.turn("And now?", Reply("", (CALL,)), max_output_tokens=1))
    assert (response["status"], response["output"]) == ("incomplete", [])


# ---- cancelled


def test_a_cancel_before_there_is_a_reply_ends_the_response_at_once() -> None:
    driver = Driver()
    driver.send("response.create")
    [done] = driver.send("response.cancel")
    assert done["response"]["status"] == "cancelled"
    assert done["response"]["status_details"] == {"type": "cancelled", "reason": "client_cancelled"}
    assert done["response"]["output"] == []
    assert driver.session.pending() is None
    assert list(driver.session.answer(done["response"]["id"], Reply("Too late."))) == []


@pytest.mark.parametrize("modality", ["audio", "text"])
def test_a_cancel_between_any_two_events_ends_the_reply_in_order(modality: str) -> None:
    reply = Reply("Let me look. One moment, please: it will not take long.", (CALL, CALL))
    whole = [event["type"] for event in Driver().turn("Hello", reply, output_modalities=[modality])]
    for place in range(1, len(whole)):
        driver = Driver()
        driver.say("Hello")
        driver.ask(output_modalities=[modality])
        rest = driver.answering(reply)
        events = [next(rest) for _ in range(place)]
        assert driver.send("response.cancel", response_id=driver.response_id) == []
        assert driver.error("response.cancel")["code"] == "response_cancel_not_active"
        events += rest
        response = _response(events)
        assert response["status"] == "cancelled", events[place - 1]["type"]
        assert driver.error("response.cancel")["code"] == "response_cancel_not_active"
        _check_lives(events, response)
        list(driver.turn("And now?", "Fine."))


def _check_lives(events: list[Event], response: dict[str, Any]) -> None:
    """Check that every item and part that opened has closed, holding what was sent and no more."""
    order = kinds(events)
    for opened, closed in (
        ("response.output_item.added", "response.output_item.done"),
        ("conversation.item.added", "conversation.item.done"),
        ("response.content_part.added", "response.content_part.done"),
    ):
        assert len(only(events, opened)) == len(only(events, closed)), order
    deltas = only(events, "response.output_audio_transcript.delta") + only(events, "response.output_text.delta")
    said = "".join(event["delta"] for event in deltas)
    for item, done in zip(response["output"], only(events, "response.output_item.done"), strict=True):
        assert item == done["item"]
        if item["type"] == "message":
            assert "".join(part.get("text", part.get("transcript")) for part in item["content"]) == said
        else:
            called = [event["call_id"] for event in only(events, "response.function_call_arguments.done")]
            assert (item["call_id"] in called) == (item["status"] == "completed")


def test_a_cancelled_call_is_not_there_to_be_answered() -> None:
    driver = Driver()
    driver.say("Where is it?")
    driver.ask()
    events, rest = _until(driver, Reply("", (CALL,)), "response.function_call_arguments.delta")
    driver.send("response.cancel")
    assert _response([*events, *rest])["output"][0]["status"] == "incomplete"
    assert driver.heard_so_far().history == (Message("user", "Where is it?"),)


def test_what_was_cancelled_unheard_is_not_in_the_history() -> None:
    driver = Driver()
    driver.say("Hello")
    driver.ask()
    _, rest = _until(driver, LONG, "response.output_audio_transcript.delta")
    driver.send("response.cancel")
    [item] = _response(list(rest))["output"]
    assert item["content"][0]["transcript"] == "Have"
    assert driver.heard_so_far().history == (Message("user", "Hello"),)


def test_a_cancelled_text_is_kept_as_far_as_it_was_sent() -> None:
    driver = Driver()
    driver.say("Hello")
    driver.ask(output_modalities=["text"])
    _, rest = _until(driver, LONG, "response.output_text.delta", nth=3)
    driver.send("response.cancel")
    list(rest)
    assert driver.heard_so_far().history[-1] == Message("assistant", "Have you tried")


# ---- cut off where the caller stopped listening


def _truncate(driver: Driver, item_id: str, ms: int) -> list[Event]:
    return driver.send("conversation.item.truncate", item_id=item_id, content_index=0, audio_end_ms=ms)


def test_a_finished_reply_is_cut_to_what_was_heard() -> None:
    driver = Driver()
    [item] = _response(driver.turn("Hello", LONG))["output"]
    [truncated] = _truncate(driver, item["id"], 2000)
    assert truncated["type"] == "conversation.item.truncated"
    assert (truncated["item_id"], truncated["content_index"], truncated["audio_end_ms"]) == (item["id"], 0, 2000)
    [retrieved] = driver.send("conversation.item.retrieve", item_id=item["id"])
    heard_words = retrieved["item"]["content"][0]["transcript"]
    assert heard_words == "Have you tried another outlet,"
    assert driver.heard_so_far().history[-1] == Message("assistant", heard_words)
    assert _truncate(driver, item["id"], 600)[0]["audio_end_ms"] == 600
    assert driver.heard_so_far().history[-1] == Message("assistant", "Have you")
    _truncate(driver, item["id"], 0)
    assert driver.heard_so_far().history == (Message("user", "Hello"),)


def test_more_cannot_have_been_heard_than_was_sent() -> None:
    driver = Driver()
    [item] = _response(driver.turn("Hello", "Hi there!"))["output"]
    assert _truncate(driver, item["id"], 600)[0]["type"] == "conversation.item.truncated"
    [refused] = _truncate(driver, item["id"], 601)
    assert refused["error"]["message"] == "Audio content of 600ms is already shorter than 601ms"
    assert refused["error"]["code"] == "invalid_value"
    assert _response(driver.turn("And now?", "Fine."))["status"] == "completed"


def test_a_reply_can_be_cut_while_it_runs_and_runs_on() -> None:
    driver = Driver()
    driver.say("Hello")
    driver.ask()
    events, rest = _until(driver, LONG, "response.output_audio.delta", nth=8)
    item_id = events[-1]["item_id"]
    assert "2001ms" in _truncate(driver, item_id, 2001)[0]["error"]["message"]
    assert _truncate(driver, item_id, 1000)[0]["type"] == "conversation.item.truncated"
    [item] = _response(list(rest))["output"]
    assert (item["status"], item["content"][0]["transcript"]) == ("completed", LONG)
    assert driver.heard_so_far().history[-1] == Message("assistant", "Have you tried")


def test_a_reply_without_sound_cannot_be_cut() -> None:
    driver = Driver()
    driver.say("Hello")
    driver.ask()
    events, rest = _until(driver, LONG, "conversation.item.added")
    assert _truncate(driver, events[-1]["item"]["id"], 0)[0]["error"]["code"] == "unsupported_content_type"
    list(rest)
    driver.say("Bye", "assistant", id="seeded")
    assert _truncate(driver, "seeded", 0)[0]["error"]["code"] == "unsupported_content_type"


def test_a_reply_can_be_deleted_while_it_runs() -> None:
    driver = Driver()
    driver.say("Hello")
    driver.ask()
    events, rest = _until(driver, LONG, "response.output_audio.delta")
    driver.send("conversation.item.delete", item_id=events[-1]["item_id"])
    assert _response(list(rest))["status"] == "completed"
    assert driver.heard_so_far().history == (Message("user", "Hello"),)


# ---- failed


def test_a_failure_before_the_reply_ends_the_response_with_its_reason() -> None:
    driver = Driver()
    driver.say("Hello")
    driver.ask(metadata={"n": "1"})
    error = ApiError("The model is overloaded.", status=503, type="server_error", code="overloaded")
    events = driver.session.fail(driver.response_id, error)
    response = _response(events)
    assert (response["status"], response["output"], response["metadata"]) == ("failed", [], {"n": "1"})
    assert response["status_details"] == {
        "type": "failed",
        "error": {"type": "server_error", "code": "overloaded", "message": "The model is overloaded."},
    }
    assert response["usage"]["total_tokens"] == 0
    assert _response(driver.turn("And now?", "Fine."))["status"] == "completed"


def test_a_failure_in_the_middle_closes_what_is_open() -> None:
    driver = Driver()
    driver.say("Hello")
    driver.ask()
    events, rest = _until(driver, LONG, "response.output_audio.delta", nth=2)
    events += driver.session.fail(driver.response_id, ApiError("The voice broke.", type="server_error"))
    assert list(rest) == []
    response = _response(events)
    assert (response["status"], response["output"][0]["status"]) == ("failed", "incomplete")
    _check_lives(events, response)


def test_a_failure_between_two_items_keeps_the_first() -> None:
    driver = Driver()
    driver.say("Hello")
    driver.ask()
    events, rest = _until(driver, Reply("One moment.", (CALL,)), "response.output_item.done")
    events += driver.session.fail(driver.response_id, ApiError("It broke.", type="server_error"))
    assert list(rest) == []
    response = _response(events)
    assert (response["status"], [item["status"] for item in response["output"]]) == ("failed", ["completed"])


def test_a_text_that_failed_in_the_middle_keeps_what_was_sent() -> None:
    driver = Driver()
    driver.say("Hello")
    driver.ask(output_modalities=["text"])
    _, rest = _until(driver, LONG, "response.output_text.delta", nth=2)
    driver.session.fail(driver.response_id, ApiError("It broke.", type="server_error"))
    assert list(rest) == []
    assert driver.heard_so_far().history[-1] == Message("assistant", "Have you")


def test_a_voice_that_breaks_can_be_reported() -> None:
    def voice(text: str) -> Iterator[bytes]:
        yield bytes(480)
        raise OSError("no voice")

    driver = Driver(voice=voice)
    driver.ask()
    with pytest.raises(OSError, match="no voice"):
        list(driver.answering("Hi"))
    assert _response(driver.session.fail(driver.response_id, ApiError("No voice.")))["status"] == "failed"
    assert driver.session.fail(driver.response_id, ApiError("No voice.")) == []


# ---- sound


def test_silence_lasts_as_long_as_speech() -> None:
    assert [len(chunk) // 48 for chunk in silence("x" * 15)] == [250, 250, 250, 250]
    assert [len(chunk) // 48 for chunk in silence("Hi there!")] == [250, 250, 100]
    assert list(silence("")) == []


def test_words_run_a_second_ahead_of_the_sound() -> None:
    words = ["a" * 15, "b" * 15, "c" * 15, "d" * 15]
    order = list(interleaved(words, iter([bytes(48_000)] * 2)))
    assert [one if isinstance(one, str) else "…" for one in order] == [*words[:2], "…", words[2], "…", words[3]]


@pytest.mark.parametrize(
    ("end_ms", "audio_ms", "words"),
    [
        (0, 667, ""),
        (200, 667, ""),
        (334, 667, "Hello"),
        (600, 667, "Hello,"),
        (667, 667, "Hello, you"),
        (334, None, "Hello"),
        (9999, None, "Hello, you"),
        (500, 1000, "Hello"),
        (0, 0, ""),
    ],
)
def test_only_whole_words_are_heard(end_ms: int, audio_ms: int | None, words: str) -> None:
    assert heard("Hello, you", end_ms, audio_ms) == words


def test_sound_that_nobody_commits_does_not_pile_up() -> None:
    buffer = InputBuffer()
    for _ in range(700):
        buffer.append(bytes(48_000))
    assert buffer.ms == 600_000
    assert len(buffer.take()) == 600_000 * 48
    assert buffer.ms == 0


def test_a_reply_is_made_as_it_is_read() -> None:
    spoken: list[int] = []

    def voice(text: str) -> Iterator[bytes]:
        for number in range(1000):
            spoken.append(number)
            yield bytes(480)

    driver = Driver(voice=voice)
    driver.ask()
    list(takewhile(lambda event: event["type"] != "response.output_audio.delta", driver.answering("Hi")))
    assert spoken == [0]
