"""Everyday calls get the category and the priority that a person would give, most of the time."""

from collections.abc import Sequence
from typing import Any

import pytest
from everyday_calls import CHARGER, HELD_OUT, MORE, TUNED, EverydayCall

from handoffkit.endpoint.models.keywords.conversation import Conversation
from handoffkit.endpoint.models.prompt import Message
from handoffkit.endpoint.models.schema.fill import fill

TICKET: dict[str, Any] = {
    "type": "object",
    "properties": {
        "summary": {"type": "string"},
        "category": {"enum": ["hardware", "software", "billing", "other"], "type": "string"},
        "priority": {"enum": ["low", "medium", "high"], "type": "string"},
        "follow_up_questions": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["summary", "category", "priority", "follow_up_questions"],
}


def judged(call: EverydayCall) -> tuple[str, str]:
    ticket = fill(TICKET, Conversation.of(*call.turns))
    return ticket["category"], ticket["priority"]


def wrong(calls: Sequence[EverydayCall]) -> list[tuple[EverydayCall, tuple[str, str]]]:
    return [(call, judged(call)) for call in calls if judged(call) != (call.category, call.priority)]


@pytest.mark.parametrize("call", CHARGER, ids=lambda call: call.words[:40])
def test_the_laptop_that_does_not_charge_is_hardware_and_urgent_in_many_wordings(call: EverydayCall) -> None:
    ticket = fill(TICKET, Conversation.of(*call.turns))
    assert (ticket["category"], ticket["priority"]) == ("hardware", "high")
    assert ticket["follow_up_questions"]
    assert not any("another outlet" in question for question in ticket["follow_up_questions"])


def test_the_calls_that_the_lexicon_was_tuned_on_are_judged_as_a_person_would() -> None:
    assert wrong(TUNED) == []


def test_the_calls_that_were_held_out_are_mostly_judged_as_a_person_would() -> None:
    assert len(wrong(HELD_OUT)) <= len(HELD_OUT) // 10


def test_more_calls_about_many_things_are_judged_as_a_person_would() -> None:
    assert len(wrong(MORE)) <= 6


def test_questions_of_the_agent_do_not_change_a_ticket() -> None:
    questions = ["Is it urgent?", "Was your card charged twice?", "Did the app crash?", "Is the deadline today?"]
    for call, question in zip(TUNED, questions * 20, strict=False):
        turns = [message for text in call.turns for message in (Message("user", text), Message("assistant", question))]
        ticket = fill(TICKET, Conversation(tuple(turns[:1] + turns[2:])))
        assert ticket["category"] == call.category
    asked = Conversation((Message("user", "My kettle is broken."), Message("assistant", questions[0])))
    assert fill(TICKET, asked)["priority"] == "medium"


@pytest.mark.parametrize(
    ("words", "category", "priority"),
    [
        ("My printer is broken but it is not urgent.", "hardware", "low"),
        ("It's not billing, it's the app that crashes.", "software", "medium"),
        ("It isn't an emergency, but my parcel is late.", "other", "low"),
        ("This is not about an invoice. My laptop is dead.", "hardware", "medium"),
        ("No rush. I was charged twice.", "billing", "low"),
    ],
)
def test_what_is_denied_does_not_count(words: str, category: str, priority: str) -> None:
    ticket = fill(TICKET, Conversation.of(words))
    assert (ticket["category"], ticket["priority"]) == (category, priority)


def test_a_call_in_another_language_gets_an_honest_ticket() -> None:
    ticket = fill(TICKET, Conversation.of("노트북이 충전되지 않아요.", "내일 발표가 있어요."))
    assert ticket["summary"] == "노트북이 충전되지 않아요. 내일 발표가 있어요."
    assert (ticket["category"], ticket["priority"]) == ("other", "medium")


def test_a_member_that_was_said_is_chosen_though_the_trouble_has_another_name() -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {
            "device": {"enum": ["phone", "laptop", "other"]},
            "category": {"enum": ["software", "billing", "other"]},
        },
        "required": ["device", "category"],
    }
    filled = fill(schema, Conversation.of("My laptop does not charge."))
    assert filled == {"device": "laptop", "category": "other"}
