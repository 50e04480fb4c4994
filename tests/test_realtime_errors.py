"""The simulated Realtime session refuses what the service refuses, in its words, and nothing changes by it."""

import json
from typing import Any

import pytest
from realtime_driver import Driver, sound

USER = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]}


def _session(**change: Any) -> dict[str, Any]:
    return {"type": "session.update", "session": {"type": "realtime", **change}}


def _input(**change: Any) -> dict[str, Any]:
    return _session(audio={"input": change})


def _create(item: Any, **fields: Any) -> dict[str, Any]:
    return {"type": "conversation.item.create", "item": item, **fields}


def _respond(**fields: Any) -> dict[str, Any]:
    return {"type": "response.create", "response": fields}


REFUSED = [
    # the event itself
    ({}, "missing_required_parameter", "type", "Missing required parameter: 'type'."),
    ({"type": None}, "missing_required_parameter", "type", "Missing required parameter: 'type'."),
    ({"type": 5}, "invalid_type", "type", "Invalid type for 'type': expected one of 'session.update', "),
    ({"type": "ping"}, "invalid_value", "type", "Invalid value: 'ping'. Supported values are: 'session.update', "),
    ({"type": "output_audio_buffer.clear"}, "invalid_value", "type", "Invalid value: 'output_audio_buffer.clear'."),
    ({"type": "response.create", "now": True}, "unknown_parameter", "now", "Unknown parameter: 'now'."),
    ({"type": "response.create", "event_id": "x" * 513}, "string_above_max_length", "event_id", "Invalid 'event_id'"),
    # session.update
    ({"type": "session.update"}, "missing_required_parameter", "session", "Missing required parameter: 'session'."),
    ({"type": "session.update", "session": {}}, "missing_required_parameter", "session.type", "Missing required"),
    ({"type": "session.update", "session": []}, "invalid_type", "session", "Invalid type for 'session': expected an"),
    ({"type": "session.update", "session": {"type": "transcription"}}, None, "session.type", "Passing a transcription"),
    (_session(voice="ash"), "unknown_parameter", "session.voice", "Unknown parameter: 'session.voice'."),
    (_session(instructions=5), "invalid_type", "session.instructions", "Invalid type for 'session.instructions': "),
    (_session(output_modalities=["text", "audio"]), "invalid_value", "session.output_modalities", "Invalid modalities"),
    (_session(output_modalities=["song"]), "invalid_value", "session.output_modalities[0]", "Invalid value: 'song'."),
    (_session(max_output_tokens=0), "integer_below_min_value", "session.max_output_tokens", "Invalid 'session.max"),
    (_session(max_output_tokens=4097), "integer_above_max_value", "session.max_output_tokens", "Invalid 'session.max"),
    (_session(max_output_tokens="lots"), "invalid_value", "session.max_output_tokens", "Invalid value: 'lots'."),
    (_session(max_output_tokens=True), "invalid_type", "session.max_output_tokens", "Invalid type for"),
    (_session(tool_choice="maybe"), "invalid_value", "session.tool_choice", "Invalid value: 'maybe'."),
    (_session(tools={}), "invalid_type", "session.tools", "Invalid type for 'session.tools': expected an array"),
    (_session(tools=[{"name": "f"}]), "missing_required_parameter", "session.tools[0].type", "Missing required"),
    (_session(tools=[{"type": "function"}]), "missing_required_parameter", "session.tools[0].name", "Missing required"),
    (_session(tools=[{"type": "mcp"}]), "unsupported_value", "session.tools[0]", "An MCP server cannot be simulated"),
    (
        _session(audio={"output": {"voice": "bob"}}),
        "invalid_value",
        "session.audio.output.voice",
        "Invalid value: 'bob'",
    ),
    (_session(audio={"output": {"voice": 5}}), "invalid_type", "session.audio.output.voice", "Invalid type for"),
    (_session(audio={"output": {"speed": 2}}), "decimal_above_max_value", "session.audio.output.speed", "Invalid 'ses"),
    (_input(format="pcm16"), "invalid_type", "session.audio.input.format", "Invalid type for 'session.audio.input.for"),
    (
        _input(format={"type": "audio/pcm", "rate": 16000}),
        "integer_below_min_value",
        "session.audio.input.format.rate",
        "Invalid 'session.audio.input.format.rate': integer below minimum value. Expected a value >= 24000, "
        "but got 16000 instead.",
    ),
    (_input(format={"type": "audio/pcmu"}), "unsupported_value", "session.audio.input.format", "G.711 audio cannot be"),
    (
        _input(turn_detection={"threshold": 0.5}),
        "missing_required_parameter",
        "session.audio.input.turn_detection.type",
        "Missing required parameter: 'session.audio.input.turn_detection.type'.",
    ),
    (
        _input(turn_detection={"type": "server_vad", "threshold": 1.5}),
        "decimal_above_max_value",
        "session.audio.input.turn_detection.threshold",
        "Invalid 'session.audio.input.turn_detection.threshold': decimal above maximum value.",
    ),
    (
        _input(turn_detection={"type": "semantic_vad", "threshold": 0.5}),
        "unknown_parameter",
        "session.audio.input.turn_detection.threshold",
        "Unknown parameter: 'session.audio.input.turn_detection.threshold'.",
    ),
    # sound
    ({"type": "input_audio_buffer.append"}, "missing_required_parameter", "audio", "Missing required parameter"),
    (
        {"type": "input_audio_buffer.append", "audio": "no base64!"},
        "invalid_value",
        "audio",
        "Invalid 'audio'. Expected",
    ),
    ({"type": "input_audio_buffer.append", "audio": "é"}, "invalid_value", "audio", "Invalid 'audio'. Expected"),
    (
        {"type": "input_audio_buffer.commit"},
        "input_audio_buffer_commit_empty",
        None,
        "Error committing input audio buffer: buffer too small. Expected at least 100ms of audio, "
        "but buffer only has 0.00ms of audio.",
    ),
    # items
    (_create(None), "missing_required_parameter", "item", "Missing required parameter: 'item'."),
    (_create({}), "missing_required_parameter", "item.type", "Missing required parameter: 'item.type'."),
    (
        _create({"type": "joke"}),
        "invalid_value",
        "item.type",
        "Invalid value: 'joke'. Supported values are: 'message', ",
    ),
    (_create({"type": "message"}), "missing_required_parameter", "item.role", "Missing required parameter"),
    (_create({**USER, "role": "bot"}), "invalid_value", "item.role", "Invalid value: 'bot'."),
    (
        _create({**USER, "content": "Hello"}),
        "invalid_type",
        "item.content",
        "Invalid type for 'item.content': expected",
    ),
    (_create({**USER, "content": None}), "missing_required_parameter", "item.content", "Missing required parameter"),
    (
        _create({**USER, "content": [{"type": "text"}]}),
        "invalid_value",
        "item.content[0].type",
        "Invalid value: 'text'.",
    ),
    (
        _create({**USER, "content": [{"type": "input_text"}]}),
        "missing_required_parameter",
        "item.content[0].text",
        "Miss",
    ),
    (
        _create({**USER, "content": [{"type": "input_audio", "audio": "?"}]}),
        "invalid_value",
        "item.content[0].audio",
        "Invalid 'item.content[0].audio'. Expected base64",
    ),
    (
        _create({**USER, "role": "assistant", "content": [{"type": "output_audio", "transcript": "Hi"}]}),
        "invalid_value",
        "item.content[0].type",
        "Invalid value: 'output_audio'. Supported values are: 'output_text'.",
    ),
    (
        _create({"type": "function_call", "name": "f", "arguments": "{}", "call_id": "a/b"}),
        "invalid_value",
        "item.call_id",
        "Invalid 'item.call_id': string does not match pattern.",
    ),
    (
        _create({**USER, "id": "i" * 33}),
        "string_above_max_length",
        "item.id",
        "Invalid 'item.id': string too long. Expected a string with maximum length 32, "
        "but got a string with length 33 instead.",
    ),
    (
        _create({"type": "function_call_output", "call_id": "call_x", "output": ""}),
        "invalid_tool_call_id",
        None,
        "Tool call ID 'call_x' not found in conversation.",
    ),
    (
        _create(USER, previous_item_id="nobody"),
        "item_create_invalid_previous_item_id",
        None,
        "Error adding item: the previous item with id 'nobody' does not exist.",
    ),
    (
        _create({**USER, "id": "first"}),
        "item_create_duplicate_item_id",
        None,
        "Error adding item: an item with id 'first' already exists.",
    ),
    (
        {"type": "conversation.item.delete", "item_id": "nobody"},
        "item_delete_invalid_item_id",
        None,
        "Error deleting item: the item with id 'nobody' does not exist.",
    ),
    (
        {"type": "conversation.item.retrieve", "item_id": "nobody"},
        "item_retrieve_invalid_item_id",
        None,
        "Error retrieving item: the item with id 'nobody' does not exist.",
    ),
    (
        {"type": "conversation.item.truncate", "item_id": "nobody", "content_index": 0, "audio_end_ms": 1},
        "item_truncate_invalid_item_id",
        None,
        "Error truncating item: the item with id 'nobody' does not exist.",
    ),
    (
        {"type": "conversation.item.truncate", "item_id": "first", "content_index": 0, "audio_end_ms": 0},
        "unsupported_content_type",
        None,
        "Only model output audio messages can be truncated",
    ),
    (
        {"type": "conversation.item.truncate", "item_id": "first", "content_index": 0, "audio_end_ms": -1},
        "integer_below_min_value",
        "audio_end_ms",
        "Invalid 'audio_end_ms': integer below minimum value.",
    ),
    # responses
    (_respond(conversation="other"), "invalid_value", "response.conversation", "Invalid value: 'other'."),
    (_respond(modalities=["text"]), "unknown_parameter", "response.modalities", "Unknown parameter: 'response.modal"),
    (_respond(metadata={"a": 1}), "invalid_type", "response.metadata.a", "Invalid type for 'response.metadata.a'"),
    (_respond(metadata={str(n): "" for n in range(17)}), "object_above_max_properties", "response.metadata", "Invalid"),
    (_respond(input=[{"type": "message"}]), "missing_required_parameter", "response.input[0].role", "Missing required"),
    (
        _respond(input=[{"type": "item_reference", "id": "nobody"}]),
        "item_retrieve_invalid_item_id",
        None,
        "Error retrieving item: the item with id 'nobody' does not exist.",
    ),
    (
        {"type": "response.cancel"},
        "response_cancel_not_active",
        None,
        "Cancellation failed: no active response found",
    ),
    ({"type": "response.cancel", "response_id": "resp_x"}, "response_cancel_not_active", None, "Cancellation failed"),
]


@pytest.mark.parametrize(("event", "code", "param", "message"), REFUSED)
def test_what_is_wrong_is_refused_with_the_event_id_and_changes_nothing(
    event: dict[str, Any], code: str | None, param: str | None, message: str
) -> None:
    driver = Driver()
    driver.say("Hello", id="first")
    session = driver.configure()
    event_id = event.get("event_id", "mine")
    [refused] = driver.raw(json.dumps({**event, "event_id": event_id}))
    error = refused["error"]
    assert list(error) == ["type", "code", "message", "param", "event_id"]
    assert (error["type"], error["code"], error["param"]) == ("invalid_request_error", code, param)
    assert error["message"].startswith(message)
    assert error["event_id"] == event_id
    assert driver.configure() == session
    assert len(driver.heard_so_far().history) == 1


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ("", "invalid_json"),
        ("{", "invalid_json"),
        ("null", "invalid_json"),
        ("[]", "invalid_json"),
        ('"session.update"', "invalid_json"),
        ('{"type": NaN}', "invalid_json"),
        ('{"type": 1e999}', "invalid_json"),
        ('{"type": ' + "9" * 5000 + "}", "invalid_json"),
        ('{"a": ' * 200 + "1" + "}" * 200, "invalid_json"),
        ("[" * 100_000, "invalid_json"),
        (b"\x00\x01", "invalid_event"),
    ],
)
def test_a_frame_that_is_no_event_is_refused(frame: str | bytes, code: str) -> None:
    [refused] = Driver().raw(frame)
    assert (refused["error"]["code"], refused["error"]["event_id"]) == (code, None)


def test_an_event_id_of_another_type_is_not_echoed() -> None:
    error = Driver().error("response.create", event_id=7)
    assert (error["code"], error["param"], error["event_id"]) == ("invalid_type", "event_id", None)


def test_an_error_without_an_event_id_echoes_null() -> None:
    assert Driver().error("response.cancel")["event_id"] is None


def test_too_little_sound_is_not_committed_and_stays() -> None:
    driver = Driver()
    driver.send("input_audio_buffer.append", audio=sound(99))
    assert "only has 99.00ms" in driver.error("input_audio_buffer.commit")["message"]
    driver.send("input_audio_buffer.append", audio=sound(1))
    assert len(driver.send("input_audio_buffer.commit")) == 3


def test_one_response_at_a_time() -> None:
    driver = Driver()
    driver.ask()
    running = driver.response_id
    error = driver.error("response.create")
    assert error["code"] == "conversation_already_has_active_response"
    assert error["message"].startswith(f"Conversation already has an active response in progress: {running}.")
    driver.ask(conversation="none")
    assert [*driver.answering("aside")][-1]["response"]["status"] == "completed"
    driver.response_id = running
    assert [*driver.answering("Hi")][-1]["response"]["id"] == running
    assert driver.ask().replies == 2


def test_the_voice_stays_once_it_was_heard() -> None:
    driver = Driver()
    driver.configure(audio={"output": {"voice": "marin"}})
    driver.turn("Hello", "Hi there!", output_modalities=["text"])
    driver.configure(audio={"output": {"voice": "cedar"}})
    driver.turn("Hello", "Hi there!")
    change = {"type": "realtime", "instructions": "Other.", "audio": {"output": {"voice": "ash"}}}
    error = driver.error("session.update", session=change)
    assert (error["code"], error["param"]) == ("cannot_update_voice", None)
    assert error["message"] == "Cannot update a conversation's voice if assistant audio is present."
    assert driver.error("response.create", response={"audio": change["audio"]})["code"] == "cannot_update_voice"
    session = driver.configure(audio={"output": {"voice": "cedar"}})
    assert session["audio"]["output"]["voice"] == "cedar"
    assert session["instructions"] != "Other."
