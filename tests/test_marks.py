"""Frames to turns and marks: order, late words, interruptions, tools, handoffs, extractions."""

import json
from dataclasses import FrozenInstanceError
from itertools import permutations
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wire_script import Wire, recorded

from handoffkit.marks import (
    CallEnded,
    Derivation,
    Extraction,
    Inaudible,
    Interrupted,
    LiveHandoff,
    Mark,
    OtherMark,
    Silence,
    ToolUse,
    Turn,
    TurnComplete,
    TurnFailed,
    Usage,
    derive,
    posted,
)
from handoffkit.wire.dialogue import heard_prefix
from handoffkit.wire.frames import Frame

M = TypeVar("M", bound=Mark)


def turns(wire: Wire) -> list[Turn]:
    return derive(wire.frames).turns


def said(wire: Wire) -> list[tuple[str, str]]:
    return [(turn.speaker, turn.text) for turn in turns(wire)]


def marks(wire: Wire, kind: type[M]) -> list[M]:
    return [mark for mark in derive(wire.frames).marks if isinstance(mark, kind)]


def spoken(words: str | None = "My laptop does not charge.") -> Wire:
    """A spoken turn and its reply, the transcript coming in after the reply."""
    wire = Wire().session().append(1500).speech("u1", 200, 1200).begin("r1").words("Is the", "r1", "a1", ms=400)
    wire.words(" light on?", "r1", "a1", ms=600).done("r1")
    return wire if words is None else wire.transcript(words, "u1")


# Order


def test_typed_turns_and_replies_in_order() -> None:
    wire = Wire().typed("Hello.", "u1").ask().replied("Hi.", "r1", "a1").typed("Bye.", "u2").ask()
    wire.replied("Goodbye.", "r2", "a2")
    assert said(wire) == [("caller", "Hello."), ("agent", "Hi."), ("caller", "Bye."), ("agent", "Goodbye.")]
    assert [(turn.item_id, turn.response_id) for turn in turns(wire)] == [
        ("u1", ""),
        ("a1", "r1"),
        ("u2", ""),
        ("a2", "r2"),
    ]


def test_words_that_come_after_the_reply_stand_where_they_were_spoken() -> None:
    assert said(spoken()) == [("caller", "My laptop does not charge."), ("agent", "Is the light on?")]


def test_whatever_the_order_of_arrival_the_order_of_turns_is_that_of_speaking() -> None:
    spoken_words = {"u1": "one", "u2": "two", "u3": "three"}
    for order in permutations(spoken_words):
        wire = Wire().session()
        for item in spoken_words:
            wire.append(1000).speech(item)
        for item in order:
            wire.transcript(spoken_words[item], item)
        assert [text for _, text in said(wire)] == ["one", "two", "three"]


def test_a_message_sent_in_the_middle_of_a_reply_stands_behind_it() -> None:
    wire = Wire().typed("Hello.", "u1").ask().begin("r1").typed("And more.", "u2", confirm=False)
    wire.words("Hi.", "r1", "a1").added("u2", "user", content=[{"type": "input_text", "text": "And more."}]).done("r1")
    assert said(wire) == [("caller", "Hello."), ("agent", "Hi."), ("caller", "And more.")]


def test_speech_that_began_before_the_reply_was_named_stands_where_it_was_committed() -> None:
    wire = Wire().session().append(1000).speech("u1").begin("r1")
    wire.server("input_audio_buffer.speech_started", item_id="u2", audio_start_ms=900)
    wire.words("Well,", "r1", "a1", ms=100).done("r1", "cancelled", reason="turn_detected").committed("u2")
    assert [turn.item_id for turn in turns(wire)] == ["u1", "a1", "u2"]


def test_an_item_can_be_put_in_front() -> None:
    wire = Wire().typed("Hello.", "u1").typed("Context.", "u0", confirm=False, previous_item_id="root")
    assert [text for _, text in said(wire)] == ["Context.", "Hello."]


def test_an_item_can_be_put_behind_another() -> None:
    wire = Wire().typed("One.", "u1").typed("Three.", "u3").typed("Two.", "u2", confirm=False, previous_item_id="u1")
    assert [text for _, text in said(wire)] == ["One.", "Two.", "Three."]


def test_the_place_that_the_end_of_an_item_names_is_not_believed() -> None:
    wire = Wire().typed("Hello.", "u1").ask().replied("Hi.", "r1", "a1")
    for name, role in (("a1", "assistant"), ("u1", "user")):
        done = {"id": name, "type": "message", "role": role, "content": []}
        wire.server("conversation.item.done", previous_item_id=None, item=done)
    assert said(wire) == [("caller", "Hello."), ("agent", "Hi.")]


def test_a_service_that_says_only_the_least_gives_the_same_turns() -> None:
    wire = Wire().typed("Hello.", "u1", confirm=False).ask()
    wire.server("response.created", response={"id": "r1"})
    wire.server("response.output_audio_transcript.done", response_id="r1", item_id="a1", transcript="Hi.")
    wire.server("response.done", response={"id": "r1", "output": []})
    assert said(wire) == [("caller", "Hello."), ("agent", "Hi.")]


def test_several_connections_come_one_after_the_other() -> None:
    one, two = Wire().typed("One.", "u1"), Wire("c2", "call-2", first=100).typed("Two.", "u1")
    found = derive([*two.frames, *one.frames]).turns
    assert [(turn.conn, turn.label, turn.text) for turn in found] == [("c2", "call-2", "Two."), ("c1", None, "One.")]


def test_recorded_calls_of_the_real_service(recordings: Path) -> None:
    found = {
        path.stem: [(turn.speaker, turn.text) for turn in derive(recorded(path)).turns]
        for path in sorted(recordings.glob("*.yaml"))
    }
    hello = ("caller", "Hello, my name is Marcelo.")
    assert found == {
        "test_audio_in_server_vad_turn": [
            hello,
            ("agent", "Hello, Marcelo! Great to meet you. How can I help you today?"),
        ],
        "test_input_audio_retention_segments_three_server_vad_turns": [
            hello,
            ("agent", "Hi Marcelo! Nice to meet you."),
            hello,
            ("agent", "Hi Marcelo! Great to meet you."),
            hello,
            ("agent", "Hey Marcelo, nice meeting you."),
        ],
        "test_message_history_seeding": [
            ("caller", "My name is Alice and my favorite color is teal."),
            ("agent", "Nice to meet you, Alice!"),
            ("caller", "What is my name and favorite color?"),
            ("agent", "Your name is Alice, and your favorite color is teal!"),
        ],
        "test_text_in_audio_out_turn": [("caller", "Say a short greeting."), ("agent", "Hi there!")],
        "test_tool_call_round": [
            ("caller", "What is the weather in London?"),
            ("agent", "It is foggy and 12 degrees in London."),
        ],
    }


def test_a_recorded_tool_round_has_the_tool_with_the_reply(recordings: Path) -> None:
    reply = derive(recorded(recordings / "test_tool_call_round.yaml")).turns[1]
    (tool,) = reply.tools
    assert (tool.name, tool.output) == ("get_weather", "It is foggy and 12 degrees in London.")
    assert tool.end is not None
    assert tool.start < tool.end < reply.start
    assert reply.usage == Usage(63 + 103, 22 + 13, 2)


# Spoken turns


def test_a_spoken_turn_has_begin_end_and_length() -> None:
    caller, agent = turns(spoken())
    assert (caller.spoken, caller.audio_ms, agent.spoken, agent.audio_ms) == (True, 1000, True, 1000)
    # 1500 ms of sound were sent in one block at 0.2 s: what was spoken is squeezed into that moment.
    assert (caller.start, caller.end) == (0.2, 0.2)


def test_speech_that_is_sent_as_it_is_spoken_keeps_its_times() -> None:
    wire = Wire().session()
    for _ in range(20):
        wire.append(100)
    caller = turns(wire.speech("u1", 500, 1500).transcript("Hello.", "u1"))[0]
    assert (round(caller.start, 1), round(caller.end, 1), caller.audio_ms) == (0.6, 1.6, 1000)


def test_push_to_talk_is_timed_by_the_sound_that_was_sent() -> None:
    wire = Wire().session().append(300).append(300).client("input_audio_buffer.commit").ask().committed("u1")
    (caller,) = turns(wire.transcript("Hello.", "u1"))
    assert (caller.start, caller.end, caller.audio_ms, caller.text) == (0.2, 0.4, 600, "Hello.")


def test_words_are_there_while_they_arrive() -> None:
    wire = Wire().session().append(1000).server("input_audio_buffer.speech_started", item_id="u1", audio_start_ms=0)
    for piece in ("My", " laptop"):
        wire.server("conversation.item.input_audio_transcription.delta", item_id="u1", content_index=0, delta=piece)
    (caller,) = turns(wire)
    assert (caller.text, caller.pending, caller.inaudible) == ("My laptop", True, False)
    (caller,) = turns(wire.transcript("My laptop.", "u1"))
    assert (caller.text, caller.pending) == ("My laptop.", False)


def test_the_reply_is_there_while_it_arrives() -> None:
    wire = Wire().typed("Hello.", "u1").ask().begin("r1").words("How", "r1", "a1").words(" are", "r1", "a1")
    assert (turns(wire)[1].text, turns(wire)[1].pending) == ("How are", True)
    assert (turns(wire.done("r1"))[1].text, turns(wire)[1].pending) == ("How are", False)


@pytest.mark.parametrize("how", ["failed", "empty", "never"])
def test_speech_without_words_stays_as_inaudible(how: str) -> None:
    wire = spoken(None)
    assert (turns(wire)[0].pending, turns(wire)[0].inaudible) == (True, False)
    if how == "failed":
        error = {"message": "audio unintelligible"}
        wire.server("conversation.item.input_audio_transcription.failed", item_id="u1", content_index=0, error=error)
    elif how == "empty":
        wire.transcript("  ", "u1")
    else:
        wire.close()
    caller, agent = turns(wire)
    assert (caller.text, caller.inaudible, caller.pending, caller.audio_ms) == ("", True, False, 1000)
    assert agent.text == "Is the light on?"
    (mark,) = marks(wire, Inaudible)
    assert (mark.conn, mark.item_id) == ("c1", "u1")


def test_words_that_had_come_before_the_call_ended_are_kept() -> None:
    wire = spoken(None)
    wire.server("conversation.item.input_audio_transcription.delta", item_id="u1", content_index=0, delta="My laptop")
    caller = turns(wire.close())[0]
    assert (caller.text, caller.inaudible, caller.pending) == ("My laptop", False, False)


def test_words_that_come_after_all_are_heard() -> None:
    wire = spoken(None)
    waited = Frame(90, 9.0, "c1", "mark", "client", "inaudible", {"item_id": "u1", "reason": "waited for 5 s"})
    wire.frames.append(waited)
    assert turns(wire)[0].inaudible
    assert str(marks(wire, Inaudible)[0]) == "A spoken turn stays without words: waited for 5 s."
    assert turns(wire.transcript("Here they are.", "u1"))[0].text == "Here they are."
    assert not turns(wire)[0].inaudible


def test_where_nothing_is_transcribed_no_words_are_waited_for() -> None:
    wire = Wire().session(transcribes=False).append(1000).speech("u1")
    (caller,) = turns(wire)
    assert (caller.inaudible, caller.pending) == (True, False)
    assert "does not transcribe" in str(marks(wire, Inaudible)[0])


def test_silence_that_the_service_commits_is_no_turn() -> None:
    wire = Wire().session().server("input_audio_buffer.timeout_triggered", item_id="t1").committed("t1")
    assert said(wire.replied("Are you there?", "r1", "a1").close()) == [("agent", "Are you there?")]


# Interruptions


def interrupted(words: str = "Well, it seems that the battery is old.", ms: int = 4000) -> Wire:
    return Wire().typed("Why?", "u1").ask().begin("r1").words(words, "r1", "a1", ms=ms)


def test_of_an_interrupted_reply_the_heard_words_are_kept() -> None:
    wire = interrupted().truncate("a1", 2000).client("response.cancel")
    agent = turns(wire.done("r1", "cancelled", reason="client_cancelled"))[1]
    assert (agent.text, agent.interrupted, agent.heard_ms) == ("Well, it seems that", True, 2000)
    assert (agent.generated, agent.audio_ms, agent.pending) == ("Well, it seems that the battery is old.", 4000, False)


def test_a_reply_that_was_whole_can_be_cut_while_it_is_played() -> None:
    wire = interrupted().done("r1").truncate("a1", 1000)
    agent = turns(wire)[1]
    assert (agent.text, agent.interrupted, agent.heard_ms) == ("Well, it", True, 1000)
    assert marks(wire, Interrupted) == [Interrupted(wire.now, "c1", "a1", 1000, "")]


def test_a_reply_that_was_heard_to_its_end_is_not_interrupted() -> None:
    agent = turns(interrupted().done("r1").truncate("a1", 9000))[1]
    assert (agent.text, agent.interrupted) == ("Well, it seems that the battery is old.", False)


def test_more_than_has_arrived_was_never_heard() -> None:
    agent = turns(interrupted().truncate("a1", 99_000).done("r1", "cancelled"))[1]
    assert (agent.heard_ms, agent.interrupted) == (4000, True)


def test_without_word_from_the_client_the_words_that_came_count_as_heard() -> None:
    agent = turns(interrupted("Well, it", 500).done("r1", "cancelled", reason="turn_detected"))[1]
    assert (agent.text, agent.interrupted, agent.heard_ms) == ("Well, it", True, None)


@pytest.mark.parametrize("sound", [False, True])
def test_a_reply_that_was_cut_before_it_was_heard_stands_as_unheard(sound: bool) -> None:
    wire = interrupted(ms=4000 if sound else 0)
    if sound:
        wire.truncate("a1", 0)
    agent = turns(wire.done("r1", "cancelled"))[1]
    assert (agent.text, agent.interrupted, agent.heard_ms) == ("", True, 0)
    assert agent.generated == "Well, it seems that the battery is old."
    assert str(marks(wire, Interrupted)[0]).startswith("The reply was cut off before it was heard")


def test_a_reply_that_was_cut_before_its_first_word_stands_as_unheard() -> None:
    wire = Wire().typed("Why?", "u1").ask().begin("r1").client("response.cancel").done("r1", "cancelled")
    caller, agent = turns(wire)
    assert (caller.text, agent.text, agent.interrupted, agent.heard_ms, agent.response_id) == (
        "Why?",
        "",
        True,
        0,
        "r1",
    )


def test_written_words_are_heard_as_they_come() -> None:
    wire = Wire().typed("Why?", "u1").ask().begin("r1").words("Well,", "r1", "a1", spoken=False)
    agent = turns(wire.done("r1", "cancelled"))[1]
    assert (agent.text, agent.spoken, agent.heard_ms) == ("Well,", False, None)


def test_an_interruption_is_one_mark_however_it_is_told() -> None:
    wire = interrupted().done("r1", "cancelled", reason="turn_detected").truncate("a1", 1500)
    (mark,) = marks(wire, Interrupted)
    assert (mark.heard_ms, mark.reason) == (1500, "the caller spoke over it")
    assert str(mark) == "The reply was cut off after 1500 ms: the caller spoke over it."
    assert marks(wire, TurnComplete) == []


@pytest.mark.parametrize(
    ("by", "code", "reason", "failed"),
    [
        ("client", 1000, "the client hung up", 0),
        ("server", 1001, "the service closed the connection (code 1001)", 1),
        ("drop", None, "the connection dropped", 1),
    ],
)
def test_the_last_line_is_kept_when_the_connection_ends_in_it(
    by: str, code: int | None, reason: str, failed: int
) -> None:
    wire = interrupted("Well, it", 500).close(by, code)
    agent = turns(wire)[1]
    assert (agent.text, agent.interrupted, agent.pending) == ("Well, it", True, False)
    assert [mark.reason for mark in marks(wire, Interrupted)] == [reason]
    assert len(marks(wire, TurnFailed)) == failed
    assert [(mark.how, mark.clean) for mark in marks(wire, CallEnded)] == [(reason, by == "client")]


def test_cutting_an_item_that_nobody_knows_changes_nothing() -> None:
    assert not turns(interrupted().truncate("nobody", 100).done("r1"))[1].interrupted


@pytest.mark.parametrize(
    ("words", "heard_ms", "audio_ms", "heard"),
    [
        ("one two three", 0, 900, ""),
        ("one two three", -5, 900, ""),
        ("one two three", 900, 900, "one two three"),
        ("one two three", 2000, 900, "one two three"),
        ("one two three", 500, 900, "one two"),
        ("one two three", 300, 900, "one"),
        ("unbelievable", 300, 900, "unbe"),
        ("one two", 10, 0, "one two"),
        ("노트북이 충전되지 않아요", 500, 1000, "노트북이"),
        ("笔记本电脑充不上电", 500, 1000, "笔记本电"),
        ("مرحبا بك في الدعم", 600, 1000, "مرحبا بك"),
        ("", 500, 1000, ""),
    ],
)
def test_the_heard_part_ends_with_a_word(words: str, heard_ms: int, audio_ms: int, heard: str) -> None:
    assert heard_prefix(words, heard_ms, audio_ms) == heard


@given(st.text(max_size=60), st.integers(0, 5000), st.integers(0, 4000))
def test_the_heard_part_is_a_beginning_and_grows_with_what_was_heard(words: str, heard: int, sound: int) -> None:
    part = heard_prefix(words, heard, sound)
    assert words.startswith(part)
    assert len(part) <= len(heard_prefix(words, max(heard, sound) + 1, sound))


# Tools


def test_a_tool_stands_with_the_words_that_follow_it() -> None:
    wire = Wire().typed("Where is it?", "u1").ask().begin("r1").call("k1", "r1", arguments='{"order": 7}')
    wire.done("r1", tokens=10)
    called = wire.frames[-3].at
    (caller, agent) = turns(wire)
    assert (agent.text, agent.tools) == ("", (ToolUse("look_up", '{"order": 7}', None, called, None, "k1"),))
    returned = wire.output("k1", "shipped").frames[-2].at
    wire.ask().begin("r2").words("On its way.", "r2", "a1").done("r2", tokens=20)
    (caller, agent) = turns(wire)
    assert (caller.speaker, agent.text) == ("caller", "On its way.")
    assert agent.tools == (ToolUse("look_up", '{"order": 7}', "shipped", called, returned, "k1"),)
    assert agent.usage == Usage(30, 15, 2)


def test_a_tool_stands_with_the_words_of_its_own_response() -> None:
    wire = Wire().typed("Where is it?", "u1").ask().begin("r1").words("Let me see.", "r1", "a1").call("k1", "r1")
    wire.done("r1").output("k1").ask().replied("On its way.", "r2", "a2")
    assert [(turn.text, len(turn.tools)) for turn in turns(wire)[1:]] == [("Let me see.", 1), ("On its way.", 0)]


def test_parallel_and_repeated_tools_stay_in_order() -> None:
    wire = Wire().typed("Compare.", "u1").ask().begin("r1").call("k1", "r1", "one").call("k2", "r1", "two").done("r1")
    wire.output("k2", "b").output("k1", "a").ask().begin("r2").call("k3", "r2", "three").done("r2").output("k3", "c")
    agent = turns(wire.ask().replied("Done.", "r3", "a1"))[1]
    assert [(tool.name, tool.output) for tool in agent.tools] == [("one", "a"), ("two", "b"), ("three", "c")]


def test_a_tool_that_the_caller_spoke_over_is_a_turn_without_words() -> None:
    wire = Wire().typed("Where is it?", "u1").ask().begin("r1").call("k1", "r1").done("r1").typed("Never mind.", "u2")
    wire.output("k1").ask().replied("Fine.", "r2", "a1")
    assert [(turn.speaker, turn.text, len(turn.tools)) for turn in turns(wire)] == [
        ("caller", "Where is it?", 0),
        ("agent", "", 1),
        ("caller", "Never mind.", 0),
        ("agent", "Fine.", 0),
    ]


# What is told and what is in force


def test_seeded_turns_are_told_apart() -> None:
    wire = Wire().typed("I am Alice.", "u1").typed("Hello Alice.", "h1", role="assistant")
    wire.typed("Who am I?", "u2").ask().replied("Alice.", "r1", "a1")
    assert [(turn.text, turn.seeded) for turn in turns(wire)] == [
        ("I am Alice.", True),
        ("Hello Alice.", True),
        ("Who am I?", False),
        ("Alice.", False),
    ]


def test_seeded_tools_stand_with_the_seeded_reply() -> None:
    wire = Wire().typed("Where is it?", "u1")
    called = {"type": "function_call", "call_id": "k1", "name": "look_up", "arguments": "{}"}
    wire.client("conversation.item.create", item=called).added("i1", "", **called).output("k1", "shipped")
    wire.typed("On its way.", "h1", role="assistant")
    caller, agent = turns(wire)
    assert (caller.seeded, agent.seeded, agent.text) == (True, True, "On its way.")
    assert [tool.output for tool in agent.tools] == ["shipped"]


def test_words_that_nobody_asked_about_are_history_once_the_call_is_over() -> None:
    assert [turn.seeded for turn in turns(Wire().typed("Context.", "u1"))] == [False]
    assert [turn.seeded for turn in turns(Wire().typed("Context.", "u1").close())] == [True]


def test_last_words_before_hanging_up_are_the_callers() -> None:
    wire = Wire().typed("Hello.", "u1").ask().replied("Hi.", "r1", "a1").typed("It is urgent.", "u2").close()
    assert [(turn.text, turn.seeded) for turn in turns(wire)][-1] == ("It is urgent.", False)


def test_operator_text_is_never_the_callers() -> None:
    wire = Wire().typed("Greet the caller.", "s1", role="system").ask().replied("Welcome.", "r1", "a1")
    assert said(wire) == [("operator", "Greet the caller."), ("agent", "Welcome.")]


def test_each_reply_names_the_instructions_that_were_in_force() -> None:
    wire = Wire().session("Be kind.").typed("Hello.", "u1").ask().replied("Hi.", "r1", "a1")
    wire.client("session.update", session={"instructions": "Be brief."}).typed("More.", "u2").ask()
    wire.begin("r2").session("Be brief.").words("No.", "r2", "a2").done("r2")
    wire.typed("Again.", "u3").ask().replied("No.", "r3", "a3").typed("And in song?", "u4")
    wire.ask(instructions="Sing.").replied("La.", "r4", "a4")
    in_force = [turn.instructions for turn in turns(wire) if turn.speaker == "agent"]
    assert in_force == ["Be kind.", "Be kind.", "Be brief.", "Sing."]


def test_where_no_session_is_ever_confirmed_the_clients_word_counts() -> None:
    wire = Wire().client("session.update", session={"instructions": "Be kind."}).ask().replied("Hi.", "r1", "a1")
    assert turns(wire)[0].instructions == "Be kind."


def test_replies_outside_the_conversation_are_no_turns() -> None:
    wire = Wire().typed("Hello.", "u1").ask(conversation="none").begin("side", conversation_id=None)
    wire.server("response.output_text.delta", response_id="side", item_id="x1", content_index=0, delta="secret")
    wire.server("response.done", response={"id": "side", "output": [{"id": "x1", "type": "message"}]})
    assert said(wire) == [("caller", "Hello.")]


# Marks


def test_a_complete_turn_tells_how_long_the_caller_waited() -> None:
    wire = Wire().session().append(1000).speech("u1", 0, 1000).wait(0.5).begin("r1").words("Hi.", "r1", "a1", ms=100)
    wire.done("r1").transcript("Hello.", "u1")
    (mark,) = marks(wire, TurnComplete)
    caller, agent = turns(wire)
    assert mark.first is not None
    assert (mark.conn, mark.ordinal, mark.caller, mark.at) == ("c1", 1, True, wire.frames[-2].at)
    assert mark.first == pytest.approx(agent.start - caller.end)
    assert mark.seconds == pytest.approx(mark.at - caller.end)
    assert str(mark) == "Turn 1 is complete: the reply took 1.5 s, the first of it after 1.3 s."


def test_a_failed_turn_says_why() -> None:
    wire = Wire().typed("Hello.", "u1").ask("a").error("no such voice.", "a")
    (mark,) = marks(wire, TurnFailed)
    assert str(mark) == "Turn 1 got no complete reply: the service refused to reply: no such voice."


def test_a_transfer_is_a_live_handoff() -> None:
    wire = Wire().session("Triage.").typed("My bill is wrong.", "u1").ask().begin("r1")
    wire.call("k1", "r1", name="transfer_to_billing").client("session.update", session={"instructions": "Billing."})
    wire.output("k1", '{"assistant": "Billing agent"}').session("Billing.").done("r1").ask()
    wire.replied("Billing here.", "r2", "a1")
    (mark,) = marks(wire, LiveHandoff)
    assert (mark.to, mark.instructions) == ("Billing agent", "Billing.")
    assert (mark.by, mark.before) == ("", "Triage.")
    assert str(mark) == "The call was handed to Billing agent."
    assert turns(wire)[-1].instructions == "Billing."
    assert turns(wire)[-1].agent == "Billing agent"


def test_other_instructions_in_the_middle_of_a_call_are_a_live_handoff() -> None:
    wire = Wire().session("Triage.").typed("Hello.", "u1").ask().replied("Hi.", "r1", "a1")
    wire.client("session.update", session={"instructions": "Billing."}).session("Billing.")
    assert marks(wire, LiveHandoff) == []
    wire.ask().replied("Billing here.", "r2", "a2")
    assert [(mark.to, mark.instructions) for mark in marks(wire, LiveHandoff)] == [("", "Billing.")]


def test_a_session_that_is_set_up_in_two_steps_is_no_handoff() -> None:
    wire = Wire().client("session.update", session={"instructions": "Triage."})
    wire.session("Triage.").client("session.update", session={"instructions": "Triage.", "tracing": "auto"})
    wire.session("Triage.").typed("Hello.", "u1").ask().replied("Hi.", "r1", "a1")
    assert marks(wire, LiveHandoff) == []


def transferred(wire: Wire, number: int, to: str, instructions: str) -> Wire:
    """Hand the call over as openai-agents does, and let the new agent say something."""
    wire.typed("Go on.", f"u{number}").ask().begin(f"r{number}").call(
        f"k{number}", f"r{number}", name=f"transfer_to_{to}"
    )
    wire.done(f"r{number}").client("session.update", session={"instructions": instructions}).session(instructions)
    wire.output(f"k{number}", json.dumps({"assistant": to})).ask()
    return wire.replied(f"{to} here.", f"s{number}", f"a{number}")


def agents(wire: Wire) -> list[str]:
    return [turn.agent for turn in turns(wire) if turn.speaker == "agent"]


def named(name: object, label: str, conn: str = "kernel", at: float = 0.0) -> Frame:
    return Frame(0, at, conn, "mark", "client", "agent", {"name": name}, label)


def test_a_reply_names_its_agent_also_one_whose_name_came_later() -> None:
    wire = Wire().session("Front.").typed("Hello.", "u1").ask().replied("Hi.", "r1", "a1")
    transferred(wire, 2, "Billing", "Bill.")
    assert agents(wire) == ["", "Billing"]
    transferred(wire, 3, "Front", "Front.")
    assert agents(wire) == ["Front", "Billing", "Front"]
    assert [(mark.by, mark.to) for mark in marks(wire, LiveHandoff)] == [("", "Billing"), ("Billing", "Front")]


@pytest.mark.parametrize("before", [True, False])
def test_a_mark_names_the_agent_that_the_call_begins_with(before: bool) -> None:
    wire = Wire(label="call-1").session("Front.").typed("Hello.", "u1").ask().replied("Hi.", "r1", "a1")
    transferred(wire, 2, "Billing", "Bill.")
    mark = named("Front", "call-1") if before else named("Front", "call-1", "c1", wire.now)
    frames = [mark, *wire.frames] if before else [*wire.frames, mark]
    derivation = derive(frames)
    assert [turn.agent for turn in derivation.turns] == ["", "Front", "", "Billing"]
    (handoff,) = [mark for mark in derivation.marks if isinstance(mark, LiveHandoff)]
    assert handoff.by == ("Front" if before else "")


def test_a_mark_about_another_call_or_of_another_kind_names_nobody() -> None:
    wire = Wire(label="call-1").session("Front.").typed("Hello.", "u1").ask().replied("Hi.", "r1", "a1")
    frames = [named("Other", "call-2"), named(7, "call-1"), *wire.frames]
    assert [turn.agent for turn in derive(frames).turns] == ["", ""]


def test_agents_with_the_same_instructions_are_told_apart_by_name() -> None:
    wire = Wire().session("Help.").typed("Hello.", "u1").ask().replied("Hi.", "r1", "a1")
    for number, to in ((2, "Billing"), (3, "Orders"), (4, "Billing")):
        transferred(wire, number, to, "Help.")
    assert agents(wire) == ["", "Billing", "Orders", "Billing"]


def test_a_reply_that_begins_before_the_new_instructions_is_the_old_agents() -> None:
    wire = Wire().session("Front.").typed("My bill is wrong.", "u1").ask().begin("r1")
    wire.call("k1", "r1", name="transfer_to_billing").done("r1").begin("late")
    wire.client("session.update", session={"instructions": "Bill."}).session("Bill.")
    wire.output("k1", '{"assistant": "Billing"}').words("Goodbye!", "late", "a1").done("late")
    wire.ask().replied("Billing here.", "r2", "a2")
    said = [(turn.text, turn.instructions, turn.agent) for turn in turns(wire) if turn.speaker == "agent"]
    assert said == [("Goodbye!", "Front.", ""), ("Billing here.", "Bill.", "Billing")]


@pytest.mark.parametrize("confirmed", [True, False])
def test_a_reply_that_begins_in_the_middle_of_a_handoff_makes_no_second_one(confirmed: bool) -> None:
    wire = Wire().session("Front.").typed("My bill is wrong.", "u1").ask().begin("r1")
    wire.call("k1", "r1", name="transfer_to_billing").done("r1")
    wire.client("session.update", session={"instructions": "Bill."})
    if confirmed:
        wire.session("Bill.")
    wire.begin("r2").output("k1", '{"assistant": "Billing"}').session("Bill.").replied("Hello.", "r3", "a3")
    assert [mark.to for mark in marks(wire, LiveHandoff)] == ["Billing"]


def exchange(*answers: tuple[str, dict[str, Any]], conn: str, at: float, channel: str = "responses") -> list[Frame]:
    label = "call-1/handoff-1"
    request = Frame(1, at, conn, channel, "client", "POST /v1/responses", {"input": []}, label)
    return [
        request,
        *(Frame(2, at + 0.5, conn, channel, "server", event, data, label) for event, data in answers),
    ]


def test_every_request_of_a_handoff_is_an_attempt() -> None:
    closed = ("close", {"by": "server", "code": None})
    dropped = ("close", {"by": "drop", "code": None})
    frames = [
        *exchange(("429", {"error": {"message": "Slow down."}}), closed, conn="c2", at=1.0),
        *exchange(("200", {"output": []}), closed, conn="c3", at=2.0),
        *exchange(("response.completed", {"response": {}}), closed, conn="c4", at=3.0),
        *exchange(("response.failed", {"response": {"error": {"message": "Oh."}}}), closed, conn="c5", at=4.0),
        *exchange(("response.incomplete", {"response": {}}), closed, conn="c6", at=5.0),
        *exchange(dropped, conn="c7", at=6.0),
        *exchange(("chat.completion.chunk", {}), closed, conn="c8", at=7.0, channel="chat"),
    ]
    found = [mark for mark in derive(frames).marks if isinstance(mark, Extraction)]
    assert [(mark.attempt, mark.status) for mark in found] == [
        (1, "HTTP 429: Slow down."),
        (2, "ok"),
        (3, "ok"),
        (4, "Oh."),
        (5, "the response is incomplete"),
        (6, "the connection ended too early"),
        (7, "ok"),
    ]
    assert {mark.label for mark in found} == {"call-1/handoff-1"}
    assert (found[1].start, found[1].seconds) == (2.0, 0.5)
    assert str(found[0]) == "Attempt 1 of call-1/handoff-1 failed (HTTP 429: Slow down.) after 500 ms."


def test_a_request_that_is_no_handoff_is_no_attempt() -> None:
    frames = [Frame(1, 0.0, "c2", "responses", "client", "POST /v1/responses", {}), *Wire().typed("Hi.", "u1").frames]
    assert derive(frames).marks == []


def test_a_posted_mark_comes_back_as_its_kind() -> None:
    frame = Frame(5, 2.5, "c1", "mark", "client", "silence", {"seconds": 3, "reason": "no greeting", "extra": 1})
    assert posted(frame) == Silence(2.5, "c1", 3, "no greeting")
    assert str(posted(frame)) == "Nothing was heard for 3 s: no greeting."


def test_a_posted_mark_of_an_unknown_kind_is_kept() -> None:
    frame = Frame(5, 2.5, "kernel", "mark", "client", "cell_blocked", {"conn": "c1", "seconds": 25})
    assert posted(frame) == OtherMark(2.5, "c1", "cell_blocked", {"seconds": 25})
    assert str(posted(frame)) == "Cell blocked: seconds 25."


def test_a_posted_mark_with_fields_of_the_wrong_kind_does_without_them() -> None:
    frame = Frame(5, 2.5, "c1", "mark", "client", "silence", {"seconds": "long", "reason": None})
    assert posted(frame) == Silence(2.5, "c1")


@pytest.mark.parametrize(
    "mark",
    [
        TurnComplete(1.0, "c1", 1, True, 0.5, 2.0),
        TurnFailed(1.0, "c1", 1, True, "the connection dropped"),
        Interrupted(1.0, "c1", "a1", 500, "the caller spoke over it"),
        LiveHandoff(1.0, "c1", "Billing"),
        Extraction(1.0, "c1", "handoff-1"),
        Inaudible(1.0, "c1", "u1"),
        Silence(1.0, "c1", 3),
        CallEnded(1.0, "c1", "the client hung up"),
        OtherMark(1.0, "c1", "thing"),
    ],
)
def test_every_mark_is_a_frozen_sentence(mark: Mark) -> None:
    assert str(mark).endswith(".")
    assert "\n" not in str(mark)
    with pytest.raises(FrozenInstanceError):
        mark.at = 2.0  # type: ignore[misc]


def test_the_verdicts_and_what_is_open_can_be_asked_for() -> None:
    wire = Wire().typed("Hello.", "u1").ask().replied("Hi.", "r1", "a1").typed("More.", "u2").ask()
    derivation = derive(wire.frames)
    assert [(end.ordinal, end.verdict) for end in derivation.ends] == [(1, "complete")]
    assert derivation.open_turns == {"c1": "a reply was asked for and has not begun"}


# The fold


def everything() -> list[Frame]:
    """A call in which most things happen."""
    wire = Wire().session().typed("I am Alice.", "h1").typed("Hello.", "h2", role="assistant")
    wire.append(1000).speech("u1").begin("r1").words("Let me", "r1", "a1", ms=200).call("k1", "r1").done("r1")
    wire.typed("Hurry.", "u2").output("k1").ask().begin("r2").words("It is", "r2", "a2", ms=500)
    wire.server("input_audio_buffer.speech_started", item_id="u3", audio_start_ms=900)
    wire.done("r2", "cancelled", reason="turn_detected").truncate("a2", 100).transcript("Where is it?", "u1")
    wire.committed("u3").begin("r3").words("Sorry.", "r3", "a3", ms=300).done("r3").transcript("Stop.", "u3")
    return wire.typed("Early.", "u0", confirm=False, previous_item_id="root").close().frames


def test_read_at_every_frame_or_only_at_the_end_the_turns_are_the_same() -> None:
    frames = everything()
    live = Derivation()
    for number, frame in enumerate(frames, 1):
        live.feed(frame)
        assert live.turns == derive(frames[:number]).turns
    assert live.marks == derive(frames).marks


@given(st.sets(st.integers(0, len(everything()) - 1)))
@settings(max_examples=60, deadline=None)
def test_with_frames_missing_nothing_breaks_and_no_two_turns_share_an_item(missing: set[int]) -> None:
    frames = [frame for number, frame in enumerate(everything()) if number not in missing]
    found = derive(frames).turns
    names = [turn.item_id for turn in found if turn.item_id]
    assert len(names) == len(set(names))


VALUES = st.none() | st.integers(-5, 5) | st.sampled_from(["", "u1", "a1", "k1", "message", "user", "audio"])
DATA = st.dictionaries(
    st.sampled_from(["item", "item_id", "response_id", "id", "type", "role", "content", "delta", "output", "response"]),
    VALUES | st.dictionaries(st.sampled_from(["id", "type", "role", "content", "call_id", "status"]), VALUES),
    max_size=4,
)


@given(st.lists(st.tuples(st.integers(0, len(everything()) - 1), DATA), max_size=10))
@settings(max_examples=100, deadline=None)
def test_nothing_that_comes_over_the_wire_breaks_the_fold(damage: list[tuple[int, dict[str, Any]]]) -> None:
    frames = everything()
    for number, data in damage:
        old = frames[number]
        frames[number] = Frame(old.seq, old.at, old.conn, old.channel, old.dir, old.event, data)
    derivation = Derivation()
    for frame in frames:
        derivation.feed(frame)
        assert all(isinstance(turn.text, str) for turn in derivation.turns)
    assert all(str(mark) for mark in derivation.marks)


def test_replies_that_were_stopped_before_they_began_stand_behind_what_they_answer() -> None:
    """A hasty turn detector: the caller goes on twice before the agent has said a word."""
    wire = Wire().session()
    before = None
    for number, item in enumerate(("u1", "u2", "u3"), start=1):
        wire.server("input_audio_buffer.speech_started", item_id=item, audio_start_ms=1000 * number)
        if before:
            details = {"type": "cancelled", "reason": "turn_detected"}
            done = {"id": f"r{number - 1}", "status": "cancelled", "status_details": details, "output": []}
            wire.server("response.done", response=done)
        wire.server("input_audio_buffer.speech_stopped", item_id=item, audio_end_ms=1000 * number + 500)
        wire.server("input_audio_buffer.committed", item_id=item, previous_item_id=before)
        found = {
            "id": item,
            "type": "message",
            "role": "user",
            "content": [{"type": "input_audio", "transcript": None}],
        }
        wire.server("conversation.item.added", previous_item_id=before, item=found)
        wire.server("response.created", response={"id": f"r{number}"})
        before = item
    answer = {"id": "a3", "type": "message", "role": "assistant", "content": []}
    wire.server("conversation.item.added", previous_item_id="u3", item=answer)
    wire.server("response.output_audio_transcript.delta", response_id="r3", item_id="a3", content_index=0, delta="Yes?")
    for item in ("u3", "u1", "u2"):
        event = "conversation.item.input_audio_transcription.completed"
        wire.server(event, item_id=item, content_index=0, transcript=f" {item} ")
    said = [(turn.speaker, turn.text, turn.interrupted) for turn in derive(wire.frames).turns]
    agent_cut = ("agent", "", True)
    assert said == [
        *(("caller", "u1", False), agent_cut, ("caller", "u2", False), agent_cut),
        *(("caller", "u3", False), ("agent", "Yes?", False)),
    ]


def test_words_that_come_in_pieces_begin_without_a_space() -> None:
    wire = Wire().session()
    wire.server("input_audio_buffer.speech_started", item_id="u1", audio_start_ms=0)
    for piece in (" Hi", " there"):
        event = "conversation.item.input_audio_transcription.delta"
        wire.server(event, item_id="u1", content_index=0, delta=piece)
    assert [turn.text for turn in derive(wire.frames).turns] == ["Hi there"]
