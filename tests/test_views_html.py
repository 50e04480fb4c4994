"""Whatever somebody says is shown as what it is, and never as HTML, terminal codes or mathematics."""

import json
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from views_samples import HOSTILE, agent, caller, frame

from handoffkit.views import table, transcript
from handoffkit.views.html import cut, escape, isolated, lines, one_line, shorten, visible
from handoffkit.views.html import table as html_table
from handoffkit.wire.conversation import ToolUse

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60) | st.sampled_from(HOSTILE)


class Reader(HTMLParser):
    """Reads a page as a browser would: its elements, attributes and text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: set[str] = set()
        self.attributes: set[tuple[str, str | None]] = set()
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes.update(attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


OURS = {"table", "thead", "tbody", "tr", "th", "td", "p", "strong", "em", "bdi", "br", "span", "code", "del", "pre"}
OURS |= {"details", "summary"}
OUR_ATTRIBUTES = {("scope", "row"), ("scope", "col"), ("dir", "auto")}
OUR_ATTRIBUTES |= {("style", "text-align: left"), ("style", "text-align: right")}


@given(ANY_TEXT)
def test_html_shows_exactly_the_characters_of_a_text(text: str) -> None:
    page = Reader(escape(text))

    assert page.elements <= {"span"}
    assert page.text == visible(text)


@given(ANY_TEXT, ANY_TEXT, ANY_TEXT)
def test_no_turn_reaches_a_page_as_html(said: str, answered: str, output: str) -> None:
    tool = ToolUse(said, output, answered, 0.0, 1.0)
    turns = [caller(said, 0.0), agent(answered, 1.0, 2.0, tools=(tool,), interrupted=True, generated=answered + said)]

    page = Reader(transcript(turns, times=True, numbers=True)._repr_html_())

    assert page.elements <= OURS
    assert page.attributes <= OUR_ATTRIBUTES


@given(st.dictionaries(ANY_TEXT, ANY_TEXT, max_size=3), ANY_TEXT, ANY_TEXT)
def test_no_frame_reaches_a_page_as_html(data: dict[str, str], event: str, label: str) -> None:
    frames = [frame(1, event, data, label=label), frame(2, "x.delta", data, conn="c2"), frame(3, "x.delta", data)]

    page = Reader(table(frames, raw=True)._repr_html_())

    assert page.elements <= OURS
    assert page.attributes <= OUR_ATTRIBUTES


@given(ANY_TEXT)
def test_nothing_hidden_is_left_and_everything_can_be_encoded(text: str) -> None:
    shown = visible(text)

    assert not any(character in shown for character in "\x00\x07\x1b\r\x9b\u202e\u2066\u2069\u2028")
    shown.encode()


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31m", "␛[31m"),
        ("a\x7fb", "a␡b"),
        ("\u202eabc", "⟨U+202E⟩abc"),
        ("half \ud83d", "half ⟨U+D83D⟩"),
        ("hidden \U000e0041", "hidden ⟨U+E0041⟩"),
        ("one\r\ntwo\tthree", "one\ntwo\tthree"),
        ("flag \U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", None),
        ("नमस्ते می‌خواهم 👨‍👩‍👧 مرحبا", None),
    ],
)
def test_what_is_hidden_is_named_and_what_belongs_to_a_script_stays(text: str, shown: str | None) -> None:
    assert visible(text) == (text if shown is None else shown)


def test_no_formula_can_be_found_in_a_text() -> None:
    # MathJax looks for its delimiters in text that no element interrupts.
    assert escape(r"$5 and \(x\)") == r"<span>$</span>5 and <span>\</span>(x<span>\</span>)"


def test_each_line_has_its_own_direction() -> None:
    assert lines("abc\nمرحبا") == "<bdi>abc</bdi><br><bdi>مرحبا</bdi>"
    assert isolated("مرحبا 1") == "\u2068مرحبا 1\u2069"
    assert isolated("plain") == "plain"


def test_words_begin_at_the_side_of_their_script() -> None:
    page = html_table(["a"], [[escape("1"), escape("مرحبا abc"), escape("abc مرحبا"), escape("123")]])

    assert page.count('style="text-align: right"') == 1
    assert '<td dir="auto" style="text-align: right">مرحبا abc</td>' in page


def test_a_cut_never_parts_a_letter_from_its_marks() -> None:
    assert cut("क्षमा", 1) == "क्षमा"[:1]
    assert cut("ab👨‍👩‍👧", 4) == "ab"
    assert cut("e\u0301e\u0301", 3) == "e\u0301"
    assert shorten("x" * 100_000, 2_000) == ("x" * 2_000, 98_000)


def test_a_line_is_one_line_of_limited_length() -> None:
    assert one_line("  a\n\n b\tc ", 10) == "a b c"
    assert one_line("word " * 100, 9) == "word word…"
    assert len(one_line(json.dumps(HOSTILE) * 50, 80)) <= 81
