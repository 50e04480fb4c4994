"""The simulated Realtime service against recorded calls of the real one: same order, same fields, same defaults."""

import json
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from realtime_driver import Driver, Event, kinds

from handoffkit.endpoint.models.prompt import Reply, ToolCall

TYPED = ("test_text_in_audio_out_turn", "test_tool_call_round", "test_message_history_seeding")
LATER = {  # the events of speech recognition and turn detection, and one that was in one of five recordings
    "conversation.item.input_audio_transcription.completed",
    "conversation.item.input_audio_transcription.delta",
    "input_audio_buffer.speech_started",
    "input_audio_buffer.speech_stopped",
    "rate_limits.updated",
}


class Recording:
    """One recorded call."""

    def __init__(self, path: Path) -> None:
        self.frames = [
            (part["direction"], part["data"]) for part in yaml.safe_load(path.read_text("utf-8"))["interactions"]
        ]
        self.server: list[Event] = [data for direction, data in self.frames if direction == "received"]
        self.client: list[Event] = [data for direction, data in self.frames if direction == "sent"]

    def replies(self) -> Iterator[Reply]:
        """Yield what the recorded model answered, response by response."""
        for event in self.server:
            if event["type"] == "response.done":
                yield _reply(event["response"]["output"])


def _reply(output: list[Event]) -> Reply:
    words = [part.get("text") or part.get("transcript") for item in output for part in item.get("content", ())]
    calls = [item for item in output if item["type"] == "function_call"]
    made = tuple(ToolCall(call["name"], call["arguments"], call["call_id"]) for call in calls)
    return Reply("".join(str(word) for word in words), made)


def simulate(recording: Recording) -> list[Event]:
    """Have the simulation answer the recorded client's frames, with the recorded model's words.

    A frame is read when nothing is waiting to be sent: the recorded client's tool output was on its way while the rest
    of the response arrived.
    """
    driver, replies, events = Driver(), recording.replies(), list[Event]()
    events += driver.greeting
    frames = deque(recording.client)
    while frames:
        events += driver.raw(json.dumps(frames.popleft()))
        while pending := driver.session.pending():
            driver.response_id = pending.response_id
            events += driver.answering(next(replies))
    return events


@pytest.fixture(params=TYPED)
def recording(request: pytest.FixtureRequest, recordings: Path) -> Recording:
    return Recording(recordings / f"{request.param}.yaml")


def _paths(value: Any, path: str = "") -> Iterator[str]:
    """Yield the path of every field, as `a.b[].c`; the properties of a JSON schema are the client's, not ours."""
    if isinstance(value, dict) and not path.endswith(".parameters"):
        for name, inner in value.items():
            yield from _paths(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        yield f"{path}[]"
        for inner in value:
            yield from _paths(inner, f"{path}[]") if isinstance(inner, dict) else ()
    else:
        yield path


def test_events_come_in_the_recorded_order(recording: Recording) -> None:
    assert kinds(simulate(recording)) == kinds(recording.server)


def test_each_event_has_the_recorded_fields_in_the_recorded_order(recording: Recording) -> None:
    seen = {event["type"]: event for event in simulate(recording)}
    for event in recording.server:
        assert list(_paths(seen[event["type"]])) == list(_paths(_last(recording, event["type"]))), event["type"]


def _last(recording: Recording, kind: str) -> Event:
    return [event for event in recording.server if event["type"] == kind][-1]


def test_sessions_start_and_change_as_recorded(recording: Recording) -> None:
    ours = [event["session"] for event in simulate(recording) if event["type"].startswith("session.")]
    theirs = [event["session"] for event in recording.server if event["type"].startswith("session.")]
    for mine, real in zip(ours, theirs, strict=True):
        assert list(mine) == list(real)
        for name in real.keys() - {"id", "expires_at", "instructions"}:
            assert mine[name] == real[name], name
    default = theirs[0]["instructions"]
    assert [one["instructions"] == ours[0]["instructions"] for one in ours] == [
        one["instructions"] == default for one in theirs
    ]


def test_items_follow_one_another_as_recorded(recording: Recording) -> None:
    assert _chain(simulate(recording)) == _chain(recording.server)


def _chain(events: list[Event]) -> list[tuple[str, int | None, int]]:
    """Return each item event with the places of its predecessor and itself in the order of their first mention."""
    places: dict[str, int] = {}
    chain = []
    for event in events:
        if event["type"] in ("conversation.item.added", "conversation.item.done"):
            place = places.setdefault(event["item"]["id"], len(places))
            before = event["previous_item_id"]
            chain.append((event["type"], None if before is None else places[before], place))
    return chain


def test_what_was_said_and_called_is_what_was_recorded(recording: Recording) -> None:
    def outputs(events: list[Event]) -> list[Any]:
        done = [event["response"] for event in events if event["type"] == "response.done"]
        return [
            [{name: value for name, value in item.items() if name != "id"} for item in one["output"]] for one in done
        ]

    assert outputs(simulate(recording)) == outputs(recording.server)


def test_usage_is_of_the_recorded_size(recording: Recording) -> None:
    ours = [event["response"]["usage"] for event in simulate(recording) if event["type"] == "response.done"]
    theirs = [event["response"]["usage"] for event in recording.server if event["type"] == "response.done"]
    for mine, real in zip(ours, theirs, strict=True):
        assert mine["output_tokens"] == pytest.approx(real["output_tokens"], rel=1 / 3)
        assert (mine["input_token_details"]["audio_tokens"], mine["output_token_details"]["audio_tokens"] > 0) == (
            real["input_token_details"]["audio_tokens"],
            real["output_token_details"]["audio_tokens"] > 0,
        )


def test_every_field_that_is_always_there_is_there(recordings: Path) -> None:
    """Hold the events of typed calls, and of a committed turn, against the fields read off all recordings."""
    shapes = json.loads((recordings.parent / "wire-shapes.json").read_text("utf-8"))["server_event_fields"]
    events = [event for name in TYPED for event in simulate(Recording(recordings / f"{name}.yaml"))]
    driver = Driver()
    driver.send("input_audio_buffer.append", audio="AAAA" * 2400)
    events += driver.send("input_audio_buffer.commit")
    assert shapes.keys() - {event["type"] for event in events} == LATER
    for event in events:
        paths = {path.removeprefix("event.") for path in _paths({k: v for k, v in event.items() if k != "type"})}
        assert _always(shapes[event["type"]]["always"], event) <= paths, event["type"]


def _always(paths: list[str], event: Event) -> set[str]:
    """Return the fields that must be there; transcription has fields only once it is on."""
    off = event["type"].startswith("session.") and event["session"]["audio"]["input"]["transcription"] is None
    return {path for path in paths if not (off and ".transcription." in path)}
