"""When a reply is complete: the tracker, on wires written by hand and on recordings of the real service."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wire_script import Wire, recorded

from handoffkit.turns import TurnEnd, TurnTracker
from handoffkit.wire.frames import Frame

BUSY = "conversation_already_has_active_response"


def ends(wire: Wire) -> list[TurnEnd]:
    tracker = TurnTracker()
    return [end for frame in wire.frames for end in tracker.feed(frame)]


def verdicts(wire: Wire) -> list[tuple[int, str]]:
    return [(end.ordinal, end.verdict) for end in ends(wire)]


def outstanding(wire: Wire) -> str | None:
    tracker = TurnTracker()
    for frame in wire.frames:
        tracker.feed(frame)
    return tracker.open_turn("c1")


def asked(**metadata: Any) -> Wire:
    """A typed turn for which a reply is asked."""
    return Wire().typed("Hello.", "u1").ask("ask_1", **({"metadata": metadata} if metadata else {}))


def test_a_typed_turn_ends_with_its_response() -> None:
    wire = asked()
    assert outstanding(wire) == "a reply was asked for and has not begun"
    wire.begin("r1").words("Hi.", "r1", "a1")
    assert outstanding(wire) == "a reply is under way"
    wire.done("r1")
    (end,) = ends(wire)
    assert (end.verdict, end.reason, end.caller, end.items, end.responses) == ("complete", "", True, ("u1",), ("r1",))
    assert (end.start_seq, end.end_seq, end.start_at, end.at) == (1, len(wire.frames), 0.1, wire.now)
    assert end.first_at == wire.frames[6].at
    assert outstanding(wire) is None


@pytest.mark.parametrize(
    ("recording", "turns"),
    [
        ("test_text_in_audio_out_turn", 1),
        ("test_message_history_seeding", 1),
        ("test_tool_call_round", 1),
        ("test_audio_in_server_vad_turn", 1),
        ("test_input_audio_retention_segments_three_server_vad_turns", 3),
    ],
)
def test_every_recorded_turn_of_the_real_service_is_complete(recordings: Path, recording: str, turns: int) -> None:
    tracker = TurnTracker()
    found = [end for frame in recorded(recordings / f"{recording}.yaml") for end in tracker.feed(frame)]
    assert [(end.ordinal, end.verdict, end.caller, len(end.items)) for end in found] == [
        (number, "complete", True, 1) for number in range(1, turns + 1)
    ]
    assert tracker.ended("c1") == found
    assert tracker.open_turn("c1") is None


def test_several_messages_before_one_request_are_one_turn() -> None:
    wire = Wire().typed("Hello.", "u1").typed("Are you there?", "u2").ask().replied("Yes.", "r1", "a1")
    (end,) = ends(wire)
    assert (end.ordinal, end.items) == (1, ("u1", "u2"))


def test_two_requests_for_two_messages_are_two_turns() -> None:
    wire = asked().begin("r1").typed("And another thing.", "u2").words("Hi.", "r1", "a1").done("r1")
    assert verdicts(wire) == [(1, "complete")]
    assert outstanding(wire) is None  # the second message waits to be asked for, and may be context
    wire.ask().replied("Yes?", "r2", "a2")
    assert [(end.ordinal, end.items) for end in ends(wire)] == [(1, ("u1",)), (2, ("u2",))]


def test_the_words_before_a_seeded_reply_are_history() -> None:
    wire = Wire().typed("I am Alice.", "u1").typed("Hello Alice.", "h1", role="assistant")
    wire.typed("Who am I?", "u2").ask().replied("Alice.", "r1", "a1")
    (end,) = ends(wire)
    assert (end.ordinal, end.items) == (1, ("u2",))


def test_the_agent_may_speak_first() -> None:
    wire = Wire().ask().replied("Welcome.", "r1", "a1").typed("Hello.", "u1").ask().replied("Hi.", "r2", "a2")
    assert [(end.ordinal, end.caller) for end in ends(wire)] == [(1, False), (2, True)]


def test_a_turn_goes_on_until_the_reply_to_a_tools_output() -> None:
    wire = asked().begin("r1").call("k1", "r1")
    wire.done("r1")
    assert outstanding(wire) == "the tool look_up has not returned anything"
    wire.output("k1")
    assert outstanding(wire) == "the output of a tool was sent and no reply to it has been asked for"
    wire.ask()
    assert verdicts(wire) == []
    wire.replied("It is on its way.", "r2", "a1")
    (end,) = ends(wire)
    assert (end.verdict, end.responses) == ("complete", ("r1", "r2"))


def test_a_tool_may_return_before_the_response_that_called_it_is_done() -> None:
    wire = asked().begin("r1").call("k1", "r1").output("k1").done("r1").ask()
    assert verdicts(wire) == []
    assert verdicts(wire.replied("Found.", "r2", "a1")) == [(1, "complete")]


def test_every_one_of_several_tool_calls_has_to_return() -> None:
    wire = asked().begin("r1").call("k1", "r1").call("k2", "r1").done("r1").output("k2")
    assert outstanding(wire) == "the tool look_up has not returned anything"
    wire.output("k1").ask()
    assert verdicts(wire.replied("Both found.", "r2", "a1")) == [(1, "complete")]


def test_a_reply_asked_for_between_two_outputs_is_not_the_last() -> None:
    wire = asked().begin("r1").call("k1", "r1").call("k2", "r1").done("r1").output("k1").ask().begin("r2").output("k2")
    wire.words("One is found.", "r2", "a1").done("r2")
    assert outstanding(wire) == "the output of a tool was sent and no reply to it has been asked for"
    assert verdicts(wire.ask().replied("Both.", "r3", "a2")) == [(1, "complete")]


def test_tools_can_call_for_further_tools() -> None:
    wire = asked()
    for number in range(1, 4):
        wire.begin(f"r{number}").call(f"k{number}", f"r{number}").done(f"r{number}").output(f"k{number}").ask()
        assert verdicts(wire) == []
    assert verdicts(wire.replied("Done.", "r9", "a1")) == [(1, "complete")]


def test_a_call_that_only_the_end_of_the_response_names_counts() -> None:
    wire = asked().begin("r1")
    called = {"id": "i1", "type": "function_call", "call_id": "k1", "name": "look_up", "status": "completed"}
    wire.server("response.done", response={"id": "r1", "status": "completed", "output": [called]})
    assert outstanding(wire) == "the tool look_up has not returned anything"


def test_a_transfer_between_agents_is_part_of_the_turn() -> None:
    wire = asked().begin("r1").call("k1", "r1", name="transfer_to_billing")
    wire.client("session.update", session={"type": "realtime", "instructions": "You do billing."})
    wire.output("k1", '{"assistant": "Billing"}').done("r1")
    assert verdicts(wire) == []
    assert verdicts(wire.ask("agents_1").replied("Billing here.", "r2", "a1")) == [(1, "complete")]


def test_a_message_sent_while_a_tool_runs_shares_the_reply_with_its_output() -> None:
    wire = asked().begin("r1").call("k1", "r1").done("r1").typed("Hurry, please.", "u2").output("k1").ask()
    wire.replied("It is found.", "r2", "a1")
    assert verdicts(wire) == [(1, "complete"), (2, "complete")]


def test_output_for_a_call_that_nobody_made_changes_nothing() -> None:
    wire = asked().begin("r1").output("unknown").words("Hi.", "r1", "a1").done("r1")
    assert verdicts(wire) == [(1, "complete")]


def test_seeded_tool_calls_are_not_outstanding() -> None:
    wire = Wire().typed("Where is it?", "u1")
    wire.client("conversation.item.create", item={"type": "function_call", "call_id": "k1", "name": "look_up"})
    wire.output("k1").typed("On its way.", "h1", role="assistant").typed("Thanks.", "u2").ask()
    assert verdicts(wire.replied("Bye.", "r1", "a1")) == [(1, "complete")]


def test_committed_speech_is_owed_a_reply_that_the_service_begins_by_itself() -> None:
    wire = Wire().speech("u1")
    assert outstanding(wire) == "the caller's words are in and no reply has begun"
    (end,) = ends(wire.replied("Hi.", "r1", "a1"))
    assert (end.verdict, end.caller, end.items) == ("complete", True, ("u1",))


def test_pushed_to_talk_the_request_comes_before_the_service_has_named_the_words() -> None:
    wire = Wire().append(500).client("input_audio_buffer.commit").ask().committed("u1").replied("Hi.", "r1", "a1")
    (end,) = ends(wire)
    assert (end.verdict, end.caller, end.items) == ("complete", True, ("u1",))


def test_a_refused_commit_leaves_the_agents_own_turn() -> None:
    wire = Wire().client("input_audio_buffer.commit").ask()
    wire.error("buffer too small", code="input_audio_buffer_commit_empty").replied("Hello?", "r1", "a1")
    (end,) = ends(wire)
    assert (end.verdict, end.caller, end.items) == ("complete", False, ())


def test_silence_that_the_service_commits_is_nobodys_turn() -> None:
    wire = Wire().server("input_audio_buffer.timeout_triggered", item_id="t1", audio_start_ms=0, audio_end_ms=6000)
    wire.committed("t1").replied("Are you still there?", "r1", "a1")
    assert [(end.caller, end.items) for end in ends(wire)] == [(False, ())]


def test_speaking_over_the_reply_interrupts_it_and_begins_the_next_turn() -> None:
    wire = Wire().speech("u1").begin("r1").words("Well,", "r1", "a1", ms=300)
    wire.server("input_audio_buffer.speech_started", item_id="u2", audio_start_ms=2000)
    wire.done("r1", "cancelled", reason="turn_detected")
    wire.server("input_audio_buffer.speech_stopped", item_id="u2", audio_end_ms=3000).committed("u2")
    wire.replied("Sorry, go on.", "r2", "a2")
    assert [(end.verdict, end.reason, end.items) for end in ends(wire)] == [
        ("interrupted", "the caller spoke over the reply", ("u1",)),
        ("complete", "", ("u2",)),
    ]


def test_a_cancelled_reply_is_the_users_choice() -> None:
    wire = asked().begin("r1").words("Well,", "r1", "a1").client("response.cancel")
    wire.done("r1", "cancelled", reason="client_cancelled")
    (end,) = ends(wire)
    assert (end.verdict, end.reason) == ("interrupted", "the client cancelled the reply")


def test_after_an_interruption_no_tool_is_waited_for() -> None:
    wire = asked().begin("r1").call("k1", "r1").client("response.cancel").done("r1", "cancelled")
    assert verdicts(wire) == [(1, "interrupted")]
    wire.output("k1").ask().replied("By the way, it is found.", "r2", "a1")
    assert [(end.ordinal, end.caller) for end in ends(wire)] == [(1, True), (2, False)]


def test_a_reply_cut_off_without_a_cancel_is_interrupted_when_it_ends() -> None:
    wire = asked().begin("r1").words("Well, it seems", "r1", "a1", ms=900).truncate("a1", 300).done("r1")
    (end,) = ends(wire)
    assert (end.verdict, end.reason) == ("interrupted", "the client cut the reply off")


def test_cutting_an_older_reply_does_not_interrupt_the_present_one() -> None:
    wire = asked().begin("r1").words("Hi.", "r1", "a1", ms=900).done("r1").typed("Stop.", "u2").ask()
    wire.begin("r2").words("Yes?", "r2", "a2").truncate("a1", 300).done("r2")
    assert verdicts(wire) == [(1, "complete"), (2, "complete")]


def test_a_failed_response_fails_the_turn_with_the_services_words() -> None:
    error = {"type": "server_error", "message": "The server had an error."}
    (end,) = ends(asked().begin("r1").done("r1", "failed", error=error))
    assert (end.verdict, end.reason) == ("failed", "the response failed: The server had an error.")


def test_an_incomplete_response_fails_the_turn() -> None:
    (end,) = ends(asked().begin("r1").done("r1", "incomplete", reason="max_output_tokens"))
    assert (end.verdict, end.reason) == ("failed", "the response ended incomplete (max_output_tokens)")


def test_a_failure_after_a_tools_output_fails_the_turn() -> None:
    wire = asked().begin("r1").call("k1", "r1").done("r1").output("k1").ask().begin("r2").done("r2", "failed")
    assert verdicts(wire) == [(1, "failed")]


@pytest.mark.parametrize(
    ("request_id", "error"),
    [
        ("ask_1", {"event_id": "ask_1"}),
        (None, {"param": "response.voice"}),
        (None, {}),
    ],
    ids=["by its event id", "by the parameter that it names", "as the last thing sent"],
)
def test_a_refused_request_fails_the_turn(request_id: str | None, error: dict[str, Any]) -> None:
    wire = Wire().typed("Hello.", "u1").ask(request_id).error("no such voice", **error)
    (end,) = ends(wire)
    assert (end.verdict, end.reason) == ("failed", "the service refused to reply: no such voice")


@pytest.mark.parametrize("error", [{"event_id": "another"}, {"param": "session.voice"}])
def test_an_error_about_something_else_leaves_the_turn_alone(error: dict[str, Any]) -> None:
    wire = asked().error("something else", **error).replied("Hi.", "r1", "a1")
    assert verdicts(wire) == [(1, "complete")]


def test_an_error_without_an_id_after_something_else_was_sent_is_not_about_the_request() -> None:
    wire = (
        Wire().typed("Hello.", "u1").ask().client("session.update", session={}).error("no").replied("Hi.", "r1", "a1")
    )
    assert verdicts(wire) == [(1, "complete")]


def test_a_second_request_that_is_refused_does_no_harm_to_the_reply_under_way() -> None:
    wire = asked().begin("r1").ask("ask_2").error("busy", "ask_2", BUSY).words("Hi.", "r1", "a1").done("r1")
    assert verdicts(wire) == [(1, "complete")]


def test_words_whose_request_came_too_early_are_owed_a_reply_still() -> None:
    wire = asked().begin("r1").typed("And more.", "u2").ask("ask_2").error("busy", "ask_2", BUSY)
    wire.words("Hi.", "r1", "a1").done("r1")
    assert verdicts(wire) == [(1, "complete")]
    assert outstanding(wire) == "the service has refused to reply so far (busy)"
    again = wire.ask("ask_3").replied("And yes.", "r2", "a2")
    assert verdicts(again) == [(1, "complete"), (2, "complete")]


def test_words_that_the_service_refuses_get_no_answer_whatever_it_says() -> None:
    wire = Wire().typed("Hello.", "u1", confirm=False, event_id="item_1").ask().error("too long", "item_1")
    wire.replied("What can I do for you?", "r1", "a1")
    (end,) = ends(wire)
    assert (end.verdict, end.reason) == ("failed", "the service refused the caller's words: too long")


def test_after_a_failure_the_next_turn_works() -> None:
    wire = asked().begin("r1").done("r1", "failed").typed("Again.", "u2").ask().replied("Hi.", "r2", "a2")
    assert verdicts(wire) == [(1, "failed"), (2, "complete")]


@pytest.mark.parametrize(
    ("close", "verdict", "reason"),
    [
        ({"by": "client"}, "interrupted", "the client hung up before the reply was complete"),
        ({"by": "client", "code": None}, "interrupted", "the client hung up before the reply was complete"),
        (
            {"by": "client", "code": 1009, "reason": "too big"},
            "failed",
            "the client closed the connection (code 1009, too big) before the reply was complete",
        ),
        (
            {"by": "server", "code": 1001, "reason": "going away"},
            "failed",
            "the service closed the connection (code 1001, going away) before the reply was complete",
        ),
        ({"by": "drop", "code": None}, "failed", "the connection dropped before the reply was complete"),
    ],
)
@pytest.mark.parametrize("speaking", [False, True])
def test_a_connection_that_ends_in_the_middle(close: dict[str, Any], verdict: str, reason: str, speaking: bool) -> None:
    wire = asked()
    if speaking:
        wire.begin("r1").words("Well,", "r1", "a1")
    (end,) = ends(wire.close(**close))
    assert (end.verdict, end.reason) == (verdict, reason)


def test_what_the_service_said_last_is_told_with_the_drop() -> None:
    wire = asked().error("Your session hit its limit.", param="session").close("server", 1001)
    assert ends(wire)[0].reason.endswith("before that the service said: Your session hit its limit.")


@pytest.mark.parametrize("by", ["server", "drop"])
def test_words_that_were_not_asked_about_yet_are_lost_with_the_connection(by: str) -> None:
    (end,) = ends(Wire().typed("Hello.", "u1").close(by))
    assert (end.verdict, end.caller) == ("failed", True)


@pytest.mark.parametrize("by", ["server", "drop"])
def test_speech_in_the_middle_of_a_drop_is_a_turn_without_an_answer(by: str) -> None:
    wire = Wire().server("input_audio_buffer.speech_started", item_id="u1", audio_start_ms=0).close(by)
    assert verdicts(wire) == [(1, "failed")]


def test_a_call_that_ends_between_turns_has_nothing_open() -> None:
    for by in ("client", "server", "drop"):
        assert verdicts(asked().replied("Hi.", "r1", "a1").close(by)) == [(1, "complete")]
    assert verdicts(Wire().typed("Context.", "u1").close("client")) == []


def test_responses_outside_the_conversation_belong_to_no_turn() -> None:
    wire = asked().ask("side", conversation="none", metadata={"topic": "notes"})
    wire.begin("side_1", {"topic": "notes"}, conversation_id=None).begin("r1").words("Hi.", "r1", "a1").done("r1")
    assert [(end.verdict, end.responses) for end in ends(wire)] == [("complete", ("r1",))]
    wire.done("side_1", "failed")
    assert verdicts(wire) == [(1, "complete")]
    assert outstanding(wire) is None


def test_a_service_that_names_no_conversation_still_answers_the_request() -> None:
    wire = asked().begin("r1", conversation_id=None).words("Hi.", "r1", "a1").done("r1")
    assert [(end.verdict, end.items) for end in ends(wire)] == [("complete", ("u1",))]


def test_metadata_tells_which_request_a_response_answers() -> None:
    wire = asked(turn="1").speech("u2").begin("vad").words("Hm?", "vad", "a1").done("vad")
    assert [(end.items, end.responses) for end in ends(wire)] == [(("u2",), ("vad",))]
    wire.begin("r1", {"turn": "1"}).words("Hi.", "r1", "a2").done("r1")
    assert [(end.items, end.responses) for end in ends(wire)] == [(("u2",), ("vad",)), (("u1",), ("r1",))]


def test_a_response_that_was_never_announced_counts_when_it_is_done() -> None:
    wire = Wire().speech("u1").done("r1")
    assert [(end.verdict, end.items) for end in ends(wire)] == [("complete", ("u1",))]


def test_an_end_without_the_right_id_ends_what_is_under_way() -> None:
    wire = asked().begin("r1").words("Hi.", "r1", "a1").done("resp_of_nobody", "failed")
    assert verdicts(wire) == [(1, "failed")]


def test_connections_are_judged_apart() -> None:
    tracker = TurnTracker()
    one, two = asked(), Wire("c2").typed("Hello.", "u1").ask().replied("Hi.", "r1", "a1")
    found = [end for frame in [*one.frames, *two.frames] for end in tracker.feed(frame)]
    assert [(end.conn, end.ordinal) for end in found] == [("c2", 1)]
    assert tracker.open_turn("c1") is not None
    assert tracker.ended("c1") == []
    assert tracker.open_turn("c3") is None


def test_other_channels_are_passed_over() -> None:
    frame = Frame(1, 0.0, "c1", "responses", "client", "response.create", {})
    assert TurnTracker().feed(frame) == []


EVENTS = [
    "open",
    "close",
    "error",
    "session.update",
    "conversation.item.create",
    "conversation.item.truncate",
    "conversation.item.added",
    "response.create",
    "response.created",
    "response.output_item.added",
    "response.output_item.done",
    "response.function_call_arguments.done",
    "response.output_text.delta",
    "response.done",
    "input_audio_buffer.commit",
    "input_audio_buffer.committed",
    "input_audio_buffer.speech_started",
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["r1", "u1", "k1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
KEYS = ["item", "response", "error", "item_id", "response_id", "call_id", "id", "type", "role", "status", "output"]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["client", "server"]),
            st.sampled_from(EVENTS),
            st.dictionaries(st.sampled_from(KEYS), VALUES | st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=6)),
        ),
        max_size=30,
    )
)
@settings(max_examples=200, deadline=None)
def test_nothing_that_comes_over_the_wire_breaks_the_tracker(script: list[tuple[str, str, dict[str, Any]]]) -> None:
    tracker = TurnTracker()
    found: list[TurnEnd] = []
    for seq, (side, event, data) in enumerate(script, 1):
        found += tracker.feed(Frame(seq, float(seq), "c1", "realtime", side, event, data))
    tracker.feed(Frame(99, 99.0, "c1", "realtime", "server", "close", {"by": "drop"}))
    ordinals = sorted(end.ordinal for end in tracker.ended("c1"))
    assert ordinals == list(range(1, len(ordinals) + 1))
    assert tracker.open_turn("c1") is None
