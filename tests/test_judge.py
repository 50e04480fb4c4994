"""Is a call whole? Judged on wires that are written by hand, frame by frame."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wire_script import Wire

from handoffkit.extraction.judge import TRANSCRIPT, Failed, State, examine
from handoffkit.marks import derive

FIRST, SECOND = "My laptop does not charge.", "Another outlet changed nothing."


def judged(*wires: Wire) -> State:
    found = derive(frame for wire in wires for frame in wire.frames)
    return examine(found.turns, found.ends, found.open_turns.values())


def said(state: State) -> list[str]:
    return [turn.text for turn in state.turns]


def answered(wire: Wire, text: str, number: int, reply: str = "I see.") -> Wire:
    return wire.typed(text, f"u{number}").ask().replied(reply, f"r{number}", f"a{number}")


def failed(wire: Wire, text: str, number: int) -> Wire:
    wire.typed(text, f"u{number}").ask().begin(f"r{number}").words("Half a", f"r{number}", f"a{number}")
    return wire.done(f"r{number}", "failed", error={"message": "overloaded"})


def test_a_whole_call_has_neither_failed_nor_waits() -> None:
    state = judged(answered(answered(Wire().session(), FIRST, 1), SECOND, 2).close())
    assert (state.failed, state.waiting) == (None, None)
    assert said(state) == [FIRST, "I see.", SECOND, "I see."]


def test_the_first_failure_is_told_by_number_words_and_reason() -> None:
    state = judged(failed(failed(answered(Wire().session(), FIRST, 1), SECOND, 2), "Hello?", 3))
    assert state.failed == Failed(2, SECOND, "the response failed: overloaded")


def test_the_agents_opening_does_not_count_as_a_turn_of_the_callers() -> None:
    wire = Wire().session().ask().replied("Good morning.", "r0", "a0")
    state = judged(failed(wire, FIRST, 1))
    assert state.failed is not None
    assert state.failed.number == 1


def test_an_opening_that_fails_leaves_no_turn_of_the_callers_without_an_answer() -> None:
    wire = Wire().session().ask().begin("r0").done("r0", "failed")
    assert judged(answered(wire, FIRST, 1)).failed is None


@pytest.mark.parametrize("again", [FIRST, FIRST.upper(), f"  {FIRST}\n"])
def test_a_turn_that_was_said_again_and_answered_counts_once(again: str) -> None:
    state = judged(answered(failed(Wire().session(), FIRST, 1), again, 2))
    assert state.failed is None
    assert said(state) == [again, "I see."]


def test_a_turn_that_was_said_again_and_failed_again_stays_failed() -> None:
    state = judged(failed(failed(Wire().session(), FIRST, 1), FIRST, 2))
    assert state.failed is not None
    assert state.failed.number == 1


def test_an_earlier_answer_to_the_same_words_does_not_mend_a_later_failure() -> None:
    state = judged(failed(answered(Wire().session(), "Hello?", 1), "Hello?", 2))
    assert state.failed is not None
    assert state.failed.number == 2


def test_what_the_user_chose_is_no_failure() -> None:
    wire = Wire().session().typed(FIRST, "u1").ask().begin("r1").words("Long", "r1", "a1")
    wire.client("response.cancel").done("r1", "cancelled", reason="client_cancelled")
    wire.typed(SECOND, "u2").ask().begin("r2").words("Good", "r2", "a2").close()
    state = judged(wire)
    assert (state.failed, state.waiting) == (None, None)
    assert [turn.interrupted for turn in state.turns if turn.speaker == "agent"] == [True, True]


@pytest.mark.parametrize(("by", "code"), [("server", 1001), ("drop", None)])
def test_a_line_that_breaks_is_a_failure(by: str, code: int | None) -> None:
    state = judged(Wire().session().typed(FIRST, "u1").ask().begin("r1").words("Half", "r1", "a1").close(by, code))
    assert state.failed is not None
    assert state.waiting is None


def test_a_reply_under_way_is_waited_for_and_given_up_with_a_reason() -> None:
    state = judged(Wire().session().typed(FIRST, "u1").ask().begin("r1"))
    assert (state.failed, state.waiting) == (None, "a reply is under way")
    assert state.given_up("the log ends while").failed == Failed(1, FIRST, "the log ends while a reply is under way")


def test_words_that_are_due_are_waited_for_and_become_inaudible() -> None:
    wire = Wire().session().speech("u1").transcript(FIRST, "u1").replied("I see.", "r1", "a1")
    state = judged(wire.speech("u2").replied("I see.", "r2", "a2"))
    assert state.waiting == TRANSCRIPT
    over = state.given_up("nothing came while")
    assert over.failed is None
    assert [(turn.inaudible, turn.pending) for turn in over.turns if turn.speaker == "caller"] == [
        (False, False),
        (True, False),
    ]


def test_a_failure_outlives_what_is_still_due() -> None:
    state = judged(failed(Wire().session(), FIRST, 1).typed(SECOND, "u2").ask())
    assert state.waiting is not None
    assert state.given_up("the log ends while").failed == Failed(1, FIRST, "the response failed: overloaded")


def test_a_whole_call_has_nothing_to_give_up() -> None:
    state = judged(answered(Wire().session(), FIRST, 1))
    assert state.given_up("the log ends while") is state


def test_history_that_a_second_connection_is_given_again_counts_once() -> None:
    one = answered(Wire(label="call-1").session(), FIRST, 1).typed(SECOND, "u2").ask().begin("r2").close("drop", None)
    two = Wire("c2", "call-1", first=len(one.frames) + 1, began=one.now).session()
    two.typed(FIRST, "v1").typed("I see.", "v2", role="assistant").typed(SECOND, "v3")
    state = judged(one, answered(two, SECOND, 4))
    assert state.failed is None
    assert said(state) == [FIRST, "I see.", SECOND, "I see."]


def test_the_same_words_twice_stay_twice_where_each_was_answered_or_spoken() -> None:
    assert said(judged(answered(answered(Wire().session(), "No.", 1), "No.", 2))) == ["No.", "I see.", "No.", "I see."]
    wire = Wire().session().speech("u1").transcript("No.", "u1").speech("u2").transcript("No.", "u2")
    assert said(judged(wire.replied("I see.", "r1", "a1"))) == ["No.", "No.", "I see."]


def test_operator_text_is_left_out() -> None:
    wire = Wire().session().typed("The caller is important.", "s1", role="system")
    assert said(judged(answered(wire, FIRST, 1))) == [FIRST, "I see."]


_STEPS = st.lists(st.sampled_from(["answered", "failed", "open", "spoken", "inaudible", "silent"]), max_size=5)


@given(_STEPS, st.booleans())
def test_a_call_is_refused_exactly_if_a_turn_failed_for_good(steps: Iterable[str], closed: bool) -> None:
    wire, number = Wire().session(), 0
    steps = list(steps)
    for number, step in enumerate(steps, 1):
        text = f"Turn {number}."
        match step:
            case "answered":
                answered(wire, text, number)
            case "failed":
                failed(wire, text, number)
            case "open":
                wire.typed(text, f"u{number}").ask().begin(f"r{number}")
            case _:
                wire.speech(f"u{number}")
                if step == "spoken":
                    wire.transcript(text, f"u{number}")
                elif step == "inaudible":
                    wire.transcript("", f"u{number}")
                wire.replied("I see.", f"r{number}", f"a{number}")
    state = judged(wire.close() if closed else wire)
    over = state.given_up("the log ends while")
    assert state.waiting is None or not closed
    failing = "failed" in steps or ("open" in steps and not closed)
    assert (over.failed is not None) == failing
    if "failed" in steps:
        assert over.failed is not None
        assert over.failed.number == steps.index("failed") + 1
    assert not any(turn.pending for turn in over.turns if turn.speaker == "caller")
