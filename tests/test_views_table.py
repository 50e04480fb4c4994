"""The event table says in one line what matters in each frame, and shows the raw JSON when asked."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from views_samples import frame, sound

from handoffkit.errors import NoSuchFrame
from handoffkit.views import table
from handoffkit.views.summary import _WORDS, call, summary
from handoffkit.wire.frames import Frame


def recorded(path: Path) -> list[Frame]:
    messages = yaml.safe_load(path.read_text())["interactions"]
    return [
        frame(seq, each["data"]["type"], each["data"], dir="client" if each["direction"] == "sent" else "server")
        for seq, each in enumerate(messages, 1)
    ]


def test_a_recorded_call_reads_as_what_happened(recordings: Path) -> None:
    shown = str(table(recorded(recordings / "test_tool_call_round.yaml"))).splitlines()

    rows = {line[:7].strip(): " ".join(line[7:].split()) for line in shown}
    assert rows["seq"] == "who → whom event what"
    assert rows["4"] == "client → server conversation.item.create user “What is the weather in London?”"
    assert rows["11–22"] == 'server → client response.function_call_arguments.delta ×12 “{ "city": "London" } ”'
    assert rows["23"].endswith('response.function_call_arguments.done get_weather(city="London")')
    assert rows["24"].endswith("conversation.item.create → It is foggy and 12 degrees in London.")
    assert rows["27"].endswith('completed, 63 tokens in, 22 out, get_weather(city="London")')


def test_interleaved_pieces_become_one_row_of_each_kind() -> None:
    words = [frame(n, "response.output_audio_transcript.delta", {"delta": f"word{n} "}) for n in (1, 3, 4)]
    microphone = sound(6, "input_audio_buffer.append", dir="client")
    frames = sorted(
        [*words, sound(2), sound(5), microphone, frame(7, "response.output_audio.done")], key=lambda f: f.seq
    )

    assert [" ".join(line.split()) for line in str(table(frames)).splitlines()[1:]] == [
        "1–4 server → client response.output_audio_transcript.delta ×3 “word1 word3 word4 ”",
        "2–5 server → client response.output_audio.delta ×2 0.20 s of sound",
        "6 client → server input_audio_buffer.append 0.10 s of sound",
        "7 server → client response.output_audio.done",
    ]


@pytest.mark.parametrize(
    ("event", "data", "said"),
    [
        ("open", {"path": "/v1/realtime", "model": "gpt-realtime"}, "/v1/realtime, gpt-realtime"),
        ("close", {"code": 1001, "reason": "bye", "by": "server"}, "by the server, code 1001, bye"),
        ("error", {"error": {"message": "No.", "code": "bad", "event_id": None}}, "No., bad"),
        (
            "response.done",
            {"response": {"status": "cancelled", "status_details": {"reason": "turn_detected"}}},
            "cancelled, turn_detected",
        ),
        (
            "POST /v1/responses",
            {"model": "gpt-5.2", "tools": [{"name": "final_result"}], "input": [{"role": "user", "content": "Help"}]},
            "gpt-5.2, tools: final_result, user “Help”",
        ),
        (
            "POST /v1/chat/completions",
            {"model": "m", "messages": [{"role": "user", "content": "Help"}]},
            "m, user “Help”",
        ),
        (
            "200",
            {"status": "completed", "output": [{"type": "function_call", "name": "final_result", "arguments": "{}"}]},
            "completed, final_result()",
        ),
        ("200", {"choices": [{"message": {"content": "Hi"}}]}, "“Hi”"),
        ("429", {"error": {"message": "Slow down."}}, "Slow down."),
        (
            "rate_limits.updated",
            {"rate_limits": [{"name": "tokens", "remaining": 9, "limit": 10}]},
            "tokens: 9 of 10 left",
        ),
        ("conversation.item.truncate", {"item_id": "i", "audio_end_ms": 1200}, "after 1200 ms of i"),
        ("something.new", {"event_id": "e", "type": "something.new", "ready": True, "nested": {}}, "ready True"),
    ],
)
def test_what_matters_in_an_event(event: str, data: dict[str, Any], said: str) -> None:
    assert summary([frame(1, event, data)]) == said


def test_a_mark_is_shown_by_its_sentence() -> None:
    mark = frame(1, "silence", {"seconds": 2.0, "reason": "asked once more"}, channel="mark")

    assert "mark        silence  Nothing was heard for 2 s: asked once more." in str(table([mark]))
    assert summary([frame(1, "call_ended", {"how": ["odd"], "clean": {}}, channel="mark")])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)
FIELDS = (
    "item",
    "response",
    "session",
    "delta",
    "error",
    "output",
    "content",
    "usage",
    "rate_limits",
    "type",
    "choices",
)


@given(st.sampled_from(sorted(_WORDS)), st.dictionaries(st.sampled_from(FIELDS), JSON, max_size=6))
def test_no_data_breaks_a_row(event: str, data: dict[str, Any]) -> None:
    shown = table([frame(1, event, data)], raw=True)

    assert len(str(shown).splitlines()) == 2
    assert shown._repr_html_().endswith("</table>")


@given(JSON | st.text())
def test_no_arguments_break_a_call(arguments: object) -> None:
    assert call("look_up", arguments).startswith("look_up(")


def test_the_newest_rows_are_shown_and_the_rest_counted() -> None:
    frames = [frame(n, "response.created") for n in range(1, 101)]

    shown = str(table(frames, limit=3)).splitlines()

    assert shown[0] == "97 earlier frames are not shown; limit=None shows all."
    assert [line.split()[0] for line in shown[2:]] == ["98", "99", "100"]
    assert len(str(table(frames, limit=None)).splitlines()) == 101


def test_only_what_is_shown_is_read() -> None:
    class Closed(Frame):
        @property
        def data(self) -> dict[str, Any]:
            raise AssertionError("a frame that is not shown was read")

        def __init__(self, seq: int) -> None:
            for name, value in {"seq": seq, "conn": "c1", "dir": "server", "event": "response.created"}.items():
                object.__setattr__(self, name, value)

    frames: list[Frame] = [Closed(n) for n in range(1, 100_001)]
    frames.append(frame(100_001, "response.done", {"response": {"status": "completed"}}))

    assert "100,000 earlier frames" in str(table(frames, limit=1))


def test_times_stand_only_where_they_are_asked_for() -> None:
    frames = [frame(250, "response.created")]

    assert "2.500" in str(table(frames, times=True))
    assert "2.500" not in str(table(frames))
    assert "2.500" not in table(frames)._repr_html_()


def test_connections_are_named_where_there_are_several() -> None:
    frames = [frame(1, "open", label="call-1"), frame(2, "open", conn="c2", label="handoff-1")]

    assert [line.split()[1:3] for line in str(table(frames)).splitlines()[1:]] == [
        ["c1", "call-1"],
        ["c2", "handoff-1"],
    ]
    assert "c1" not in str(table(frames[:1]))


def test_raw_is_the_json_of_the_frame() -> None:
    data = {"type": "response.created", "text": "한국어 \u202e\u0085\ud800\U000e0041"}
    shown = str(table([frame(4, "response.created", data)]).raw(4))

    title, _, body = shown.partition("\n")
    assert title == "4  server → client  response.created"
    assert json.loads(body) == data
    assert "한국어" in body
    assert not set("\u202e\u0085\ud800\U000e0041") & set(shown)
    assert "<pre>" in table([frame(4, "x", data)]).raw(4)._repr_html_()


def test_raw_of_a_frame_that_is_not_there_is_refused() -> None:
    with pytest.raises(NoSuchFrame, match=r"no frame 7: its frames are 3 to 9"):
        table([frame(3, "a"), frame(9, "b")]).raw(7)
    with pytest.raises(LookupError, match="it holds none"):
        table([]).raw(1)


def test_folded_json_comes_only_when_asked_and_is_limited() -> None:
    frames = [frame(n, "x.delta", {"delta": "y" * 6_000}) for n in range(1, 10)]

    assert "<details>" not in table(frames)._repr_html_()
    page = table(frames, raw=True)._repr_html_()
    assert page.count("<details>") == 1
    assert "more frames" in page
    assert len(page) < 13_000


def test_an_empty_log_says_so() -> None:
    assert str(table([])) == "No events yet."
    assert "No events yet." in table([])._repr_html_()
