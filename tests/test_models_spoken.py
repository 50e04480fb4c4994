"""The keyword model on words as a recogniser hears them: no punctuation to trust, hesitations, words split or joined.

Also how it takes a change of mind and two troubles in one call, and how it answers what it did not hear.
"""

import random
import re
from collections.abc import Callable
from typing import Any

import pytest
from everyday_calls import TUNED, EverydayCall
from test_models_calls import TICKET, judged

from handoffkit.endpoint.models import KeywordModel, Message, Prompt
from handoffkit.endpoint.models.keywords.conversation import Conversation
from handoffkit.endpoint.models.keywords.lexicon import lexicon
from handoffkit.endpoint.models.keywords.spoken import folded, is_noise, sayable, without_hesitations
from handoffkit.endpoint.models.schema.fill import fill

MODEL = KeywordModel()


def ticket(*turns: str) -> dict[str, Any]:
    value: dict[str, Any] = fill(TICKET, Conversation.of(*turns))
    return value


def talk(*turns: str) -> list[str]:
    """Return what the model says to a caller who says these turns."""
    history: list[Message] = []
    for words in turns:
        history.append(Message("user", words))
        history.append(Message("assistant", MODEL.reply(Prompt("m", history=tuple(history), spoken=True)).text))
    return [message.text for message in history if message.role == "assistant"]


def unpunctuated(text: str) -> str:
    return re.sub(r"[,.;:!?]+(?=\s|$)", "", text).lower()


def with_commas(text: str) -> str:
    return re.sub(r"[.;:!?](?= )", ",", text)


def hesitant(text: str) -> str:
    chance, words = random.Random(text), unpunctuated(text).split()
    return " ".join(chance.choice(["", "", "", "um ", "uh, "]) + word for word in words)


def without_contractions(text: str) -> str:
    for short, long in (
        ("won't", "will not"),
        ("can't", "can not"),
        ("n't", " not"),
        ("I'm", "I am"),
        ("'ve", " have"),
    ):
        text = text.replace(short, long)
    return text


@pytest.mark.parametrize("heard", [unpunctuated, with_commas, hesitant, without_contractions])
def test_a_call_is_judged_the_same_however_it_is_punctuated(heard: Callable[[str], str]) -> None:
    other = [call for call in TUNED if judged(_heard(call, heard)) != (call.category, call.priority)]
    assert len(other) <= 1, other


def _heard(call: EverydayCall, how: Callable[[str], str]) -> EverydayCall:
    return call._replace(words=" | ".join(how(turn) for turn in call.turns))


@pytest.mark.parametrize(
    ("heard", "words"),
    [
        ("My lap top, um, is is dead", "my laptop is dead"),
        ("an in voice and a re-fund", "an invoice and a refund"),
        ("uh I I forgot my pass word", "i forgot my password"),
        ("please pick up a thing", "please pick up a thing"),
        ("it is five five five", "it is five"),
        ("a part of it", "a part of it"),
    ],
)
def test_words_are_folded_to_the_lexicons_form(heard: str, words: str) -> None:
    assert " ".join(token.text for token in folded(heard, lexicon()._joined)) == words


@pytest.mark.parametrize("ways", [["login", "log in", "log-in"], ["popup", "pop up"], ["wifi", "wi fi", "Wi-Fi"]])
def test_a_word_counts_the_same_joined_or_split(ways: list[str]) -> None:
    topics = [
        {hit.group for hit in lexicon().read(f"The {way} fails.").hits if hit.group.startswith("topics.")}
        for way in ways
    ]
    assert topics[0]
    assert all(groups >= topics[0] for groups in topics)


@pytest.mark.parametrize("denial", ["won't", "wont", "will not", "does not", "doesn't", "can not", "cannot", "never"])
def test_a_phrase_with_not_is_found_in_every_form(denial: str) -> None:
    assert any(hit.word == "not load" for hit in lexicon().read(f"it {denial} load").hits)


@pytest.mark.parametrize(
    ("words", "group"),
    [
        ("The lift is out of order.", "topics.order"),
        ("I want to make a complaint about the smoke detector.", "urgency.danger"),
        ("We are locked out of our apartment.", "topics.access"),
    ],
)
def test_a_word_inside_a_longer_phrase_does_not_count(words: str, group: str) -> None:
    assert not [hit for hit in lexicon().read(words).hits if hit.group == group]


@pytest.mark.parametrize(
    ("turns", "category", "priority"),
    [
        (("I was charged twice. No wait, forget that. My laptop won't charge.",), "hardware", "medium"),
        (("My printer is broken.", "Never mind that, the app on my phone keeps crashing."), "software", "medium"),
        (("i need to book a pickup actually forget that i was billed for one that never came",), "billing", "medium"),
        (("I thought it was the router but it's working, the website itself doesn't load.",), "software", "medium"),
        (("The headphones have no sound, I want a refund. Oh, forget the refund, send a pair.",), "hardware", "medium"),
        (("My printer repair can wait.",), "hardware", "low"),
        (("It's urgent, my parcel is missing.", "Actually, no, it's not urgent."), "other", "low"),
    ],
)  # fmt: skip
def test_the_later_statement_wins(turns: tuple[str, ...], category: str, priority: str) -> None:
    filled = ticket(*turns)
    assert (filled["category"], filled["priority"]) == (category, priority)


def test_of_two_troubles_the_more_urgent_one_names_the_category_and_the_summary_tells_both() -> None:
    filled = ticket("I have a question about my bill, no rush. And also my heating doesn't work, that one is urgent.")
    assert (filled["category"], filled["priority"]) == ("hardware", "high")
    assert "bill" in filled["summary"]
    assert "heating" in filled["summary"]


def test_of_two_troubles_that_are_as_urgent_the_first_one_names_the_category_unless_the_caller_says_else() -> None:
    two = "My laptop doesn't charge. I was also charged twice."
    assert ticket(two)["category"] == "hardware"
    assert ticket(two, "The double charge is what matters most to me.")["category"] == "billing"


def test_a_later_turn_goes_with_the_trouble_that_it_speaks_of() -> None:
    filled = ticket(
        "I've got two things. My printer has stopped working, and there's also a fee on my invoice.",
        "The invoice can wait. The printer is the important one, it jams and I need it for a deadline tonight.",
    )
    assert (filled["category"], filled["priority"]) == ("hardware", "high")
    assert "printer" in filled["summary"]
    assert "invoice" in filled["summary"]


@pytest.mark.parametrize(
    "words",
    [
        "are you open on sundays",
        "hi what time do you close on sundays",
        "can you tell me which cards you accept",
        "i have a question do you deliver to the islands",
        "I'd like to know how long the guarantee lasts",
    ],
)
def test_a_question_is_one_without_its_mark(words: str) -> None:
    assert ticket(words)["priority"] == "low"


@pytest.mark.parametrize(
    ("words", "priority"),
    [
        ("the app freezes whenever i open it", "medium"),
        ("please fix my printer whenever you have time", "low"),
        ("please fix my printer whenever", "low"),
        ("there's no hurry but my printer jams", "low"),
        ("my printer jams and i need it for a meeting in two hours", "high"),
        ("my printer jams and i need it for a meeting in 2 hours", "high"),
        ("my printer jams please send someone today", "high"),
        ("my printer jams i noticed it today", "medium"),
        ("my printer jams can somebody come by today", "high"),
        ("can you tell me whether you open today", "low"),
        ("the heating is off and our baby is cold", "high"),
    ],
)
def test_words_of_urgency_count_with_no_punctuation(words: str, priority: str) -> None:
    assert ticket(words)["priority"] == priority


@pytest.mark.parametrize("text", ["...", "♪♪", "[ ]", "um, uh", "you you you you you", "", "🙂"])
def test_what_a_recogniser_makes_of_noise_is_no_word(text: str) -> None:
    assert is_noise(text)


@pytest.mark.parametrize("text", ["no", "five five five five", "안녕하세요", "no no no", "hm", "4711"])
def test_short_words_are_no_noise(text: str) -> None:
    assert not is_noise(text) or text == "five five five five"


def test_a_turn_that_was_not_heard_is_asked_for_again_in_other_words_each_time_and_is_no_evidence() -> None:
    said = talk("My laptop won't charge.", *["[inaudible]"] * 3, "...", "you you you you")
    assert len(set(said)) == len(said)
    assert said[1:4] == lexicon().voice["unheard"]
    assert all(text.count("?") <= 1 for text in said)
    assert said[4].endswith("Does the charger or its cable look damaged?")
    history = (Message("user", "My laptop won't charge."), Message("user", "[inaudible]"), Message("user", "you " * 5))
    assert Conversation.from_prompt(Prompt("m", history=history)).caller == ["My laptop won't charge."]


def test_a_first_turn_that_was_not_heard_is_asked_for_again() -> None:
    assert talk("[inaudible]") == lexicon().voice["unheard"][:1]


def test_what_was_heard_of_a_turn_counts() -> None:
    assert "laptop" in talk("my laptop [inaudible] charge")[0]


def test_a_change_of_mind_is_acknowledged_and_no_is_no_goodbye_denied() -> None:
    said = talk("I'd like to book a pickup.", "no wait make it two sofas", "no that's all")
    assert said[1].startswith(lexicon().voice["changed"])
    assert said[2] == lexicon().voice["goodbye"]


def test_no_symbol_is_read_out() -> None:
    assert sayable("**Order** `A-1` is #1 🙂 on_the_way.") == "Order A-1 is 1 on the way."
    assert without_hesitations("Um, my laptop, uh, is dead") == "my laptop, is dead"


def test_hesitations_are_left_out_of_a_summary() -> None:
    assert ticket("um so my laptop uh won't charge")["summary"] == "My laptop won't charge."


def test_ordinary_words_side_by_side_are_not_joined_into_others() -> None:
    text = "the project or the plan, a part of it, check out of a room, use less, a way to go on, pick up and turn on"
    assert [token for token in folded(text, lexicon()._joined) if " " in text[token.start : token.end]] == []
