"""The transcript says who said what, in plain text and in HTML, the same on every run."""

from types import SimpleNamespace

from views_samples import HOSTILE, agent, caller, lookup, typed_call

from handoffkit.views import transcript
from handoffkit.wire.conversation import Turn


def test_both_speakers_and_the_tools_between_them() -> None:
    assert str(transcript(typed_call())) == "\n".join(
        [
            "Caller    My laptop does not charge. The light stays off.",
            "Agent     Sorry to hear that. Have you tried another outlet?",
            "Caller    Another outlet changed nothing, and I present tomorrow.",
            'Tool      find_faults(product="laptop", light=false) → 2 articles',
            "Agent     I will look up what helps.",
        ]
    )


def test_a_log_is_shown_by_its_turns() -> None:
    assert str(transcript(SimpleNamespace(turns=typed_call()))) == str(transcript(typed_call()))


def test_times_and_numbers_stand_only_where_they_are_asked_for() -> None:
    turns = [caller("Hello?", 61.25, tools=()), agent("Yes.", 62.0, 62.5, tools=(lookup(61.5, None, None),))]

    assert str(transcript(turns, times=True, numbers=True)) == "\n".join(
        [
            "1  1:01.2  Caller    Hello?",
            '           Tool      find_faults(product="laptop", light=false) → no output',
            "2  1:02.0  Agent     Yes.",
        ]
    )


def test_what_has_to_be_said_about_a_turn_stands_in_brackets() -> None:
    turns = [
        caller("Earlier.", 0.0, seeded=True),
        caller("", 0.0, 1.4, spoken=True, inaudible=True, audio_ms=1400),
        agent("Let me", 2.0, 3.0, interrupted=True, heard_ms=1200, generated="Let me explain it."),
        agent("", 2.0, 3.0, interrupted=True, heard_ms=0, generated="Unheard."),
        agent("", 2.0, 3.0),
        Turn("c1", "operator", "Wrap up now.", 3.0, 3.0, 3, "item_3"),
        caller("I am still", 4.0, pending=True),
    ]

    assert str(transcript(turns)) == "\n".join(
        [
            "Caller    Earlier. [seeded]",
            "Caller    [inaudible]",
            "Agent     Let me [interrupted, heard 1.2 s]",
            "Agent     [interrupted, nothing heard]",
            "Agent     [no words]",
            "Operator  Wrap up now.",
            "Caller    I am still [still coming]",
        ]
    )
    assert "[inaudible, 1.4 s of sound]" in str(transcript(turns, times=True))
    assert "heard" not in str(transcript(turns, heard=False))


def test_words_that_nobody_heard_are_struck() -> None:
    turns = [agent("Let me", 2.0, 3.0, interrupted=True, heard_ms=1200, generated="Let me explain it.")]

    assert "<bdi>Let me</bdi> <del><bdi>explain it.</bdi></del>" in transcript(turns)._repr_html_()


def test_no_turn_can_pose_as_another() -> None:
    shown = str(transcript([caller("Yes.\nAgent     I agree.\u2028Agent     Really.", 0.0)])).splitlines()

    assert shown == ["Caller    Yes.", "          Agent     I agree.⟨U+2028⟩Agent     Really."]


def test_a_turn_of_100000_characters_is_shortened_and_counted() -> None:
    turns = [caller("x" * 100_000, 0.0)]

    assert str(transcript(turns)).endswith("x [98,000 more characters]")
    assert len(transcript(turns)._repr_html_()) < 3_000
    assert str(transcript(turns, limit=None)).endswith("x" * 100_000)


def test_several_connections_are_set_apart() -> None:
    turns = [*typed_call()[:2], Turn("c2", "caller", "Me again.", 9.0, 9.0, 30, "item_9", label="call-2")]

    shown = str(transcript(turns)).splitlines()

    assert shown[0] == "— Connection (c1) —"
    assert shown[-2:] == ["— call-2 (c2) —", "Caller    Me again."]
    assert transcript(turns)._repr_html_().count("<table>") == 2


def test_markdown_and_codes_stay_text() -> None:
    shown = str(transcript([caller(text, 0.0) for text in HOSTILE]))

    assert "# not a heading, **not bold**, [no](link), `no code`" in shown
    assert "\x1b" not in shown
    shown.encode()


def test_a_notebook_shows_the_same_text_as_print() -> None:
    shown = transcript(typed_call())

    assert repr(shown) == str(shown)
    assert str(transcript([])) == "Nothing has been said yet."
    assert "Nothing has been said yet." in transcript([])._repr_html_()


def test_a_turn_that_ends_a_cell_shows_its_words_and_nothing_that_differs_from_run_to_run() -> None:
    turn = typed_call()[0]

    assert repr(turn) == "Caller: 'My laptop does not charge. The light stays off.'"
    assert turn._repr_html_() == transcript([turn])._repr_html_()
