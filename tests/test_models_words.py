"""Words, the lexicon, and the facts that stand in a caller's words."""

import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handoffkit.endpoint.models.keywords import evidence
from handoffkit.endpoint.models.keywords.lexicon import lexicon
from handoffkit.endpoint.models.keywords.words import Spelling, is_foreign, name_words, stem, tokens


@pytest.mark.parametrize(
    "words", [["charge", "charges", "charged", "charging"], ["crash", "crashes", "crashing"], ["battery", "batteries"]]
)
def test_forms_of_a_word_have_one_stem(words: list[str]) -> None:
    assert len({stem(word) for word in words}) == 1


def test_apostrophes_and_capitals_do_not_count() -> None:
    assert [token.text for token in tokens("It's NOT won’t 12.50")] == ["its", "not", "wont", "12.50"]
    assert name_words("customerEmail_id") == ["customer", "email", "id"]


@pytest.mark.parametrize(
    ("said", "meant"),
    [("labtop", "laptop"), ("lpatop", "laptop"), ("laptops", "laptops"), ("cable", "cable"), ("table", "table")],
)
def test_one_mistake_is_mended_in_long_words_with_the_same_first_letter(said: str, meant: str) -> None:
    assert Spelling(["laptop", "cable", "pay"]).mend(said) == meant


def test_ordinary_words_are_not_taken_for_others() -> None:
    reading = lexicon().read("I change the other house right there while the night is quiet")
    assert not [hit for hit in reading.hits if hit.group.startswith("topics.")]


@pytest.mark.parametrize(
    ("text", "foreign"),
    [("안녕", True), ("مرحبا", True), ("🙂🙂", True), ("hello", False), ("12", False), ("", False), ("ok 안", False)],
)
def test_other_scripts_are_noticed(text: str, foreign: bool) -> None:
    assert is_foreign(text) == foreign


def test_every_topic_of_the_lexicon_has_a_name_an_answer_and_questions() -> None:
    for name, topic in lexicon().topics.items():
        assert topic.names, name
        assert topic.ack.endswith("."), name
        assert len(topic.questions) >= 2, name
        assert all(question.ask.endswith("?") and question.ask.count("?") == 1 for question in topic.questions), name
        assert set(topic.near) <= set(lexicon().topics), name


def test_numbers_are_read_in_digits_and_in_words() -> None:
    text = "two hundred and fifty three dollars, $1,200.50, twenty five chairs, 30 €, one hundred thousand, -5 and once"
    said = [(number.value, number.currency, number.unit) for number in evidence.numbers(text)]
    assert said == [
        (253, "USD", "dollar"),
        (1200.5, "USD", ""),
        (25, "", "chair"),
        (30, "EUR", ""),
        (100_000, "", ""),
        (-5, "", "and"),
        (1, "", ""),
    ]


def test_dates_are_taken_only_where_they_are_clear() -> None:
    text = "2024-02-30, 29 Feb 2024, March 5, 2025, 3/4/2025, 25/12/2024, tomorrow, May 3"
    assert evidence.dates(text) == ["2024-02-29", "2025-03-05", "2024-12-25"]
    assert evidence.times("at 5:30 pm, 12 am or 15:45, not 25:00") == ["17:30:00", "00:00:00", "15:45:00"]
    assert evidence.whens("by tomorrow morning, or next Thursday at 3 pm") == [
        "by tomorrow morning",
        "next Thursday at 3 pm",
    ]


def test_contacts_codes_names_and_places_are_found() -> None:
    assert evidence.emails("ann.lee at mail dot com or x@y.co.uk.") == ["x@y.co.uk", "ann.lee@mail.com"]
    assert evidence.phones("+49 170 1234567, or five five five one two three four, not 2024-01-02") == [
        "+49 170 1234567",
        "5551234",
    ]
    assert evidence.references("order A-1001, #77, invoice 20391, at 3pm on the 2nd, four two seven") == [
        "A-1001",
        "77",
        "20391",
        "427",
    ]
    assert evidence.names("Hi, this is Anna Lee calling, my name is bob from sales, I'm having trouble") == [
        "Anna Lee",
        "Bob",
    ]
    assert evidence.places("from Berlin to New York on Monday") == ["Berlin", "New York"]
    assert evidence.places("how is the weather in paris") == ["Paris"]
    assert evidence.addresses("I live at 12 Old Baker Street, London.") == ["12 Old Baker Street, London"]


FINDERS: list[Callable[[str], object]] = [
    evidence.numbers,
    evidence.amounts,
    evidence.emails,
    evidence.urls,
    evidence.phones,
    evidence.references,
    evidence.dates,
    evidence.times,
    evidence.whens,
    evidence.addresses,
    evidence.names,
    evidence.places,
]


@settings(max_examples=200, deadline=None)
@given(text=st.one_of(st.text(max_size=200), st.from_regex(r"[0-9 :/.$€apm#@-]{0,60}", fullmatch=True)))
def test_no_text_makes_a_finder_fail(text: str) -> None:
    for finder in FINDERS:
        finder(text)


@pytest.mark.parametrize("unit", ["a", "a-", "1-", "1 ", "a@", "one dot ", "12 a b ", "in Paris ", "my name is ", "("])
def test_no_long_text_takes_a_finder_long(unit: str) -> None:
    text = (unit * 100_000)[:100_000]
    for finder in FINDERS:
        began = time.process_time()
        finder(text)
        assert time.process_time() - began < 5, finder
