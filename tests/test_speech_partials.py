"""Words while somebody still speaks: append-only, whatever the recogniser changes its mind about."""

from hypothesis import given
from hypothesis import strategies as st

from handoffkit.endpoint.speech.partials import Partials


def test_a_word_is_sent_when_two_looks_agree_on_it() -> None:
    partials = Partials()
    assert [partials.heard(text) for text in ("Hello", "Hello my", "Hello my lab", "Hello my laptop won't")] == [
        "",
        " Hello",
        " my",
        "",
    ]


def test_case_and_punctuation_are_no_disagreement() -> None:
    partials = Partials()
    assert partials.heard("Hello.") == ""
    assert partials.heard("hello, it's") == " hello,"
    assert partials.heard("Hello it’s me") == " it’s"


def test_what_was_sent_is_never_taken_back() -> None:
    partials = Partials()
    partials.heard("I was charged")
    assert partials.heard("I was charged") == " I was charged"
    assert partials.heard("I what") == ""
    assert partials.heard("I what charged twice") == ""
    assert partials.heard("I was charged twice") == ""
    assert partials.heard("I was charged twice") == " twice"


def test_the_final_words_are_sent_to_the_end() -> None:
    partials = Partials()
    partials.heard("hello my")
    partials.heard("hello my lap")
    assert partials.rest("Hello, my laptop won't charge.") == [" laptop", " won't", " charge."]


def test_final_words_that_say_something_else_are_not_sent_after_the_wrong_ones() -> None:
    partials = Partials()
    partials.heard("Hello my")
    partials.heard("Hello my")
    assert partials.rest("Yellow my laptop") == []
    assert partials.rest("Hello") == []
    assert partials.rest("") == []


def test_without_a_look_the_final_words_are_all_of_it() -> None:
    assert Partials().rest("One two.") == [" One", " two."]
    assert Partials().rest("") == []


def test_words_of_marks_alone_are_words() -> None:
    partials = Partials()
    partials.heard("- yes 'no'")
    assert partials.heard("- yes no") == " - yes no"


@given(st.lists(st.lists(st.sampled_from(["a", "b", "A.", "c,"]), max_size=6)), st.lists(st.sampled_from("abc")))
def test_deltas_only_append_and_the_rest_completes_them(looks: list[list[str]], final: list[str]) -> None:
    partials = Partials()
    sent = "".join(partials.heard(" ".join(look)) for look in looks)
    rest = partials.rest(" ".join(final))
    assert all(delta.startswith(" ") and len(delta.split()) == 1 for delta in rest)
    plain = [word.strip(".,").lower() for word in (sent + "".join(rest)).split()]
    if rest:
        assert plain == final
