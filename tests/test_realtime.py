"""The simulated Realtime session: its configuration, its conversation, sound that comes in, and what a model reads."""

import json

import pytest
from realtime_driver import Driver, kinds, only, sound

from handoffkit.endpoint.models.prompt import Message, Reply, Tool, ToolCall, ToolResult
from handoffkit.endpoint.protocol.realtime.config import DEFAULT_INSTRUCTIONS

LOOK_UP = {"type": "function", "name": "look_up", "description": "Find an order.", "parameters": {"type": "object"}}


# ---- the session


def test_a_client_is_greeted_with_the_session_and_its_end() -> None:
    [created] = Driver("gpt-realtime-mini").greeting
    assert created["type"] == "session.created"
    assert created["session"]["model"] == "gpt-realtime-mini"
    assert created["session"]["expires_at"] == 1_000_000 + 3600
    assert created["session"]["instructions"] == DEFAULT_INSTRUCTIONS


def test_an_update_changes_what_it_names_and_nothing_else() -> None:
    driver = Driver()
    before = driver.greeting[0]["session"]
    after = driver.configure(instructions="Be kind.", audio={"output": {"voice": "marin"}})
    assert after["instructions"] == "Be kind."
    assert after["audio"]["output"] == {**before["audio"]["output"], "voice": "marin"}
    assert after["audio"]["input"] == before["audio"]["input"]
    assert {**after, "instructions": "", "audio": {}} == {**before, "instructions": "", "audio": {}}
    assert driver.configure()["audio"]["output"]["voice"] == "marin"


def test_empty_instructions_bring_the_default_back() -> None:
    driver = Driver()
    driver.configure(instructions="Be kind.")
    assert driver.configure(instructions="")["instructions"] == DEFAULT_INSTRUCTIONS


def test_null_turns_hearing_off_and_leaves_the_rest_alone() -> None:
    driver = Driver()
    driver.configure(
        audio={"input": {"transcription": {"model": "whisper-1"}, "noise_reduction": {"type": "near_field"}}}
    )
    off = {"turn_detection": None, "transcription": None, "noise_reduction": None, "format": None}
    session = driver.configure(instructions=None, tools=None, tool_choice=None, audio={"input": off, "output": None})
    hearing = session["audio"]["input"]
    assert hearing == {**off, "format": {"type": "audio/pcm", "rate": 24000}}
    assert (session["instructions"], session["tools"], session["tool_choice"]) == (DEFAULT_INSTRUCTIONS, [], "auto")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"type": "server_vad", "threshold": 0.9}, {"threshold": 0.9, "silence_duration_ms": 700}),
        ({"type": "server_vad", "silence_duration_ms": None}, {"silence_duration_ms": 200, "threshold": 0.5}),
        ({"type": "semantic_vad"}, {"eagerness": "auto", "create_response": True, "interrupt_response": True}),
    ],
)
def test_turn_detection_is_merged_within_its_type(change: dict[str, object], expected: dict[str, object]) -> None:
    driver = Driver()
    driver.configure(audio={"input": {"turn_detection": {"type": "server_vad", "silence_duration_ms": 700}}})
    detection = driver.configure(audio={"input": {"turn_detection": change}})["audio"]["input"]["turn_detection"]
    assert expected.items() <= detection.items()
    assert ("threshold" in detection) == (change["type"] == "server_vad")


def test_transcription_shows_what_is_not_set_as_null() -> None:
    driver = Driver()
    hearing = driver.configure(audio={"input": {"transcription": {"model": "whisper-1"}}})["audio"]["input"]
    assert hearing["transcription"] == {"model": "whisper-1", "language": None, "prompt": None}
    hearing = driver.configure(audio={"input": {"transcription": {"language": "ko"}}})["audio"]["input"]
    assert hearing["transcription"] == {"model": "whisper-1", "language": "ko", "prompt": None}


def test_everything_that_the_service_lets_change_can_change() -> None:
    change = {
        "output_modalities": ["text"],
        "tools": [LOOK_UP],
        "tool_choice": {"type": "function", "name": "look_up"},
        "max_output_tokens": 4096,
        "truncation": {"type": "retention_ratio", "retention_ratio": 0.5},
        "tracing": "auto",
        "include": ["item.input_audio_transcription.logprobs"],
        "prompt": {"id": "pmpt_1"},
        "reasoning": {"effort": "low"},
        "parallel_tool_calls": False,
    }
    assert change.items() <= Driver().configure(**change).items()


def test_the_model_stays_what_the_client_connected_to() -> None:
    assert Driver("gpt-realtime").configure(model="gpt-realtime-2.1")["model"] == "gpt-realtime"


def test_an_event_that_was_sent_never_changes() -> None:
    driver = Driver()
    sent = [driver.greeting[0], *driver.send("session.update", session={"type": "realtime", "tools": [LOOK_UP]})]
    before = json.dumps(sent)
    driver.configure(instructions="Other.", tools=[], audio={"input": {"turn_detection": None}})
    assert json.dumps(sent) == before


def test_a_session_says_the_same_every_time() -> None:
    def call() -> list[object]:
        driver = Driver()
        return [driver.greeting, driver.turn("Hello", Reply("Hi.", (ToolCall("look_up", "{}"),)))]

    assert call() == call()


# ---- the conversation


def test_items_go_where_the_client_puts_them() -> None:
    driver = Driver()
    first = driver.say("one")
    last = driver.say("three")

    def create(after: str) -> object:
        item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": after}]}
        added, done = driver.send("conversation.item.create", item=item, previous_item_id=after)
        assert added["previous_item_id"] == done["previous_item_id"]
        return added["previous_item_id"]

    assert create(first) == first
    assert create("root") is None
    assert create(last) == last
    words = [item.text for item in driver.heard_so_far().history if isinstance(item, Message)]
    assert words == ["root", "one", first, "three", last]


def test_a_client_names_its_own_items() -> None:
    driver = Driver()
    assert driver.say("Hello", id="mine") == "mine"
    [retrieved] = driver.send("conversation.item.retrieve", item_id="mine")
    assert retrieved["item"] == {
        "id": "mine",
        "type": "message",
        "status": "completed",
        "role": "user",
        "content": [{"type": "input_text", "text": "Hello"}],
    }


def test_a_deleted_item_is_gone_and_the_chain_closes() -> None:
    driver = Driver()
    first, second = driver.say("one"), driver.say("two")
    [deleted] = driver.send("conversation.item.delete", item_id=second)
    assert (deleted["type"], deleted["item_id"]) == ("conversation.item.deleted", second)
    item = {"type": "message", "role": "user", "content": []}
    assert driver.send("conversation.item.create", item=item)[0]["previous_item_id"] == first
    assert driver.error("conversation.item.retrieve", item_id=second)["code"] == "item_retrieve_invalid_item_id"
    assert driver.say("two again", id=second) == second


def test_a_model_reads_every_kind_of_item_in_order() -> None:
    driver = Driver()
    driver.say("Be brief.", "system")
    driver.say("Where is it?")
    call = {"type": "function_call", "name": "look_up", "arguments": '{"id": 1}', "call_id": "call_1"}
    output = {"type": "function_call_output", "call_id": "call_1", "output": "On its way."}
    for item in (call, output):
        added, done = driver.send("conversation.item.create", item=item)
        assert kinds([added, done]) == ["conversation.item.added", "conversation.item.done"]
        assert item.items() <= added["item"].items()
    driver.say("It is on its way.", "assistant")
    assert driver.heard_so_far().history == (
        Message("system", "Be brief."),
        Message("user", "Where is it?"),
        ToolCall("look_up", '{"id": 1}', "call_1"),
        ToolResult("call_1", "On its way."),
        Message("assistant", "It is on its way."),
    )


def test_a_call_without_an_id_gets_one() -> None:
    [added, _] = Driver().send(
        "conversation.item.create", item={"type": "function_call", "name": "look_up", "arguments": "{}"}
    )
    assert added["item"]["call_id"].startswith("call_")


def test_pictures_and_sound_are_kept_but_not_sent_back() -> None:
    driver = Driver()
    content = [
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
        {"type": "input_audio", "audio": sound(300), "transcript": "Look at this."},
    ]
    [added, _] = driver.send("conversation.item.create", item={"type": "message", "role": "user", "content": content})
    assert added["item"]["content"] == [
        {"type": "input_image", "detail": "auto"},
        {"type": "input_audio", "transcript": "Look at this."},
    ]
    assert driver.ask().history == (Message("user", "[image]Look at this."),)
    [*_, done] = driver.answering("I see.")
    assert done["response"]["usage"]["input_token_details"]["audio_tokens"] == 3


@pytest.mark.parametrize(
    "text", ["x" * 100_000, "안녕하세요 " * 16_667, "👩🏽‍💻 مرحبا " * 8_000, "\u0000\u2028<img src=x>"]
)
def test_any_text_passes_whole(text: str) -> None:
    driver = Driver()
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
    added, _ = driver.send("conversation.item.create", item=item)
    assert added["item"]["content"][0]["text"] == text
    assert driver.ask(output_modalities=["text"]).history == (Message("user", text),)
    events = list(driver.answering(text))
    assert "".join(event["delta"] for event in only(events, "response.output_text.delta")) == text
    assert events[-1]["response"]["output"][0]["content"][0]["text"] == text


def test_half_a_surrogate_pair_does_not_reach_the_wire() -> None:
    driver = Driver()
    item = (
        '{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "a\\ud800b \\ud83d\\ude00"}]}'
    )
    [added, _] = driver.raw(f'{{"type": "conversation.item.create", "item": {item}}}')
    assert added["item"]["content"][0]["text"] == "a?b \N{GRINNING FACE}"


# ---- sound that comes in


def test_committed_sound_becomes_a_turn_without_words() -> None:
    driver = Driver()
    before = driver.say("Hello")
    assert driver.send("input_audio_buffer.append", audio=sound(60)) == []
    assert driver.send("input_audio_buffer.append", audio=sound(60)) == []
    committed, added, done = driver.send("input_audio_buffer.commit")
    assert kinds([committed, added, done]) == [
        "input_audio_buffer.committed",
        "conversation.item.added",
        "conversation.item.done",
    ]
    assert committed["previous_item_id"] == added["previous_item_id"] == before
    assert committed["item_id"] == added["item"]["id"]
    assert added["item"]["content"] == [{"type": "input_audio", "transcript": None}]
    assert driver.heard_so_far().history[-1] == Message("user", "[inaudible]")
    assert driver.error("input_audio_buffer.commit")["code"] == "input_audio_buffer_commit_empty"


def test_where_words_were_wanted_it_says_that_nothing_can_hear() -> None:
    driver = Driver()
    driver.configure(audio={"input": {"transcription": {"model": "gpt-realtime-whisper"}}})
    driver.send("input_audio_buffer.append", audio=sound(100))
    [committed, _, _, failed] = driver.send("input_audio_buffer.commit")
    assert failed["type"] == "conversation.item.input_audio_transcription.failed"
    assert failed["item_id"] == committed["item_id"]
    assert "not installed here" in failed["error"]["message"]


def test_a_cleared_buffer_is_empty() -> None:
    driver = Driver()
    driver.send("input_audio_buffer.append", audio=sound(500))
    assert kinds(driver.send("input_audio_buffer.clear")) == ["input_audio_buffer.cleared"]
    assert "only has 0.00ms" in driver.error("input_audio_buffer.commit")["message"]


# ---- what a model is given


def test_a_model_is_given_the_session() -> None:
    driver = Driver("gpt-realtime")
    session = driver.configure(
        instructions="Help.", tools=[LOOK_UP], tool_choice={"type": "function", "name": "look_up"}
    )
    prompt = driver.ask()
    assert (prompt.model, prompt.instructions, prompt.spoken) == ("gpt-realtime", "Help.", True)
    assert prompt.session == session["id"]
    assert prompt.tools == (Tool("look_up", "Find an order.", {"type": "object"}),)
    assert prompt.tool_choice == "look_up"


def test_a_response_overrides_the_session_once() -> None:
    driver = Driver()
    driver.configure(instructions="Help.", tools=[LOOK_UP])
    prompt = driver.ask(instructions="Greet.", tools=[], tool_choice="none", metadata={"why": "start"})
    assert (prompt.instructions, prompt.tools, prompt.tool_choice) == ("Greet.", (), "none")
    assert [*driver.answering("Hello")][-1]["response"]["metadata"] == {"why": "start"}
    prompt = driver.ask()
    assert (prompt.instructions, len(prompt.tools), prompt.tool_choice) == ("Help.", 1, "auto")
    assert [*driver.answering("Hello")][-1]["response"]["metadata"] is None


def test_replies_are_counted_and_seeded_ones_are_not() -> None:
    driver = Driver()
    driver.say("Hello", "assistant")
    assert driver.ask().replies == 0
    list(driver.answering("Hi"))
    assert driver.ask().replies == 1
    driver.send("response.cancel")
    assert driver.ask().replies == 1


def test_a_response_out_of_band_leaves_the_conversation_alone() -> None:
    driver = Driver()
    driver.say("My secret is 42.")
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Classify."}]}
    prompt = driver.ask(conversation="none", input=[item], output_modalities=["text"])
    assert prompt.history == (Message("user", "Classify."),)
    events = list(driver.answering("billing"))
    assert events[-1]["response"]["conversation_id"] is None
    assert not [kind for kind in kinds(events) if kind.startswith("conversation.")]
    assert driver.heard_so_far().history == (Message("user", "My secret is 42."),)


def test_a_response_can_be_given_items_of_the_conversation() -> None:
    driver = Driver()
    driver.say("one")
    second = driver.say("two")
    assert driver.ask(input=[{"type": "item_reference", "id": second}]).history == (Message("user", "two"),)
    list(driver.answering("Understood."))
    assert driver.heard_so_far().history[-1] == Message("assistant", "Understood.")
    assert driver.ask(input=[]).history == ()


def test_what_is_counted_as_cached_is_what_was_read_before() -> None:
    driver = Driver()
    driver.configure(instructions="Be patient. " * 60, output_modalities=["text"])

    def usage(text: str) -> dict[str, int]:
        details: dict[str, int] = driver.turn(text, "Fine.")[-1]["response"]["usage"]["input_token_details"]
        return details

    assert usage("Hello")["cached_tokens"] == 0
    second = usage("And now?")
    assert second["cached_tokens"] % 64 == 0
    assert 64 <= second["cached_tokens"] <= second["text_tokens"]
    driver.configure(instructions="Be quick. " * 60)
    assert usage("And again?")["cached_tokens"] == 0
