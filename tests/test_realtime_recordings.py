"""The simulated Realtime service against recorded calls of the real one: same order, same fields, same defaults."""

import json
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from realtime_driver import Driver, Ears, Event, kinds, sound

from handoffkit.endpoint.models.prompt import Reply, ToolCall

TYPED = ("test_text_in_audio_out_turn", "test_tool_call_round", "test_message_history_seeding")
SPOKEN = ("test_audio_in_server_vad_turn", "test_input_audio_retention_segments_three_server_vad_turns")
LATER = {"rate_limits.updated"}  # it was in one of five recordings
TRANSCRIPT = "conversation.item.input_audio_transcription."
BLOCK_MS = 100  # of sound in one event of the recorded client's; in the recordings it is cut to 24 bytes


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


class Spoken:
    """Has the simulation answer a recorded spoken call, step by step with the recording.

    A detector that follows the recording stands for turn detection, and the recorded words for a recogniser: what is
    held against the recording is what the session makes of them, and when.
    """

    def __init__(self, recording: Recording) -> None:
        self.recording, self.replies = recording, recording.replies()
        started = [e["audio_start_ms"] for e in recording.server if e["type"].endswith("speech_started")]
        stopped = [e["audio_end_ms"] for e in recording.server if e["type"].endswith("speech_stopped")]
        self.driver = Driver(ears=Ears(*zip(started, stopped, strict=True)))
        self.events: list[Event] = [*self.driver.greeting]
        self.reply: Iterator[Event] = iter(())
        self.words: Iterator[Event] = iter(())

    def run(self) -> list[Event]:
        for place, (direction, data) in enumerate(self.recording.frames):
            if direction == "sent":
                self.client(data)
            elif data["type"].startswith(TRANSCRIPT):
                self.transcript(place, data)
            elif data["type"].startswith("response."):
                self.events += [event for event in [next(self.reply, None)] if event]
                if data["type"] == "response.done":
                    self.events += self.reply
        return self.events

    def client(self, data: Event) -> None:
        if data["type"] == "input_audio_buffer.append":
            data = data | {"audio": sound(BLOCK_MS)}
        self.events += self.driver.raw(json.dumps(data))

    def transcript(self, place: int, data: Event) -> None:
        """Tell what the recogniser said next; all of the turn is known to it with the first word after its end."""
        ours = [event["item_id"] for event in self.events if event["type"].endswith("speech_started")][-1]
        if self.driver.session.speaking:
            self.events += self.driver.session.partial(ours, data["delta"])
            return
        if self.driver.session.sounds():
            rest = [event for _, event in self.recording.frames[place:] if event["type"].startswith(TRANSCRIPT)]
            deltas = [event["delta"] for event in rest[: [e["type"] for e in rest].index(TRANSCRIPT + "completed")]]
            whole = next(event["transcript"] for event in rest if "transcript" in event)
            self.words = iter(self.driver.session.words(ours, whole, deltas))
            pending = self.driver.session.pending()
            assert pending is not None
            self.driver.response_id = pending.response_id
            self.reply = self.driver.answering(next(self.replies))
        self.events += [next(self.words)]


@pytest.fixture(params=SPOKEN)
def spoken(request: pytest.FixtureRequest, recordings: Path) -> Recording:
    return Recording(recordings / f"{request.param}.yaml")


def _steps(events: list[Event]) -> list[str]:
    """Return the events that are there once, whatever the number and the order of the pieces between them."""
    return [e["type"] for e in events if not e["type"].endswith(".delta") and e["type"] not in LATER]


def test_spoken_calls_come_in_the_recorded_order(spoken: Recording) -> None:
    ours = Spoken(spoken).run()
    for part in (False, True):
        mine, real = (
            [step for step in _steps(events) if step.startswith(TRANSCRIPT) is part] for events in (ours, spoken.server)
        )
        assert mine == real
    assert _chain(ours) == _chain(spoken.server)


def test_words_come_before_and_within_the_reply_as_recorded(spoken: Recording) -> None:
    for events in (Spoken(spoken).run(), spoken.server):
        order = [event["type"] for event in events]
        for turn in range(order.count("response.done")):
            created, sounds, done = (
                [place for place, kind in enumerate(order) if kind == wanted][turn]
                for wanted in ("response.created", "response.output_audio.done", TRANSCRIPT + "completed")
            )
            assert created < done < sounds
            assert order.index("response.output_audio.delta", created) < done


def test_moments_and_words_are_the_recorded_ones(spoken: Recording) -> None:
    wanted = ("audio_start_ms", "audio_end_ms", "transcript", "delta", "usage")

    def told(events: list[Event]) -> list[Event]:
        kept = [e for e in events if e["type"].startswith((TRANSCRIPT, "input_audio_buffer."))]
        return [{name: event[name] for name in wanted if name in event} for event in kept]

    assert told(Spoken(spoken).run()) == told(spoken.server)


def test_spoken_events_have_the_recorded_fields(spoken: Recording) -> None:
    seen = {event["type"]: event for event in Spoken(spoken).run()}
    for event in spoken.server:
        if event["type"].startswith((TRANSCRIPT, "input_audio_buffer.")):
            assert list(_paths(seen[event["type"]])) == list(_paths(_last(spoken, event["type"]))), event["type"]


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
    """Hold the events of typed and spoken calls against the fields read off all recordings."""
    shapes = json.loads((recordings.parent / "wire-shapes.json").read_text("utf-8"))["server_event_fields"]
    events = [event for name in TYPED for event in simulate(Recording(recordings / f"{name}.yaml"))]
    events += [event for name in SPOKEN for event in Spoken(Recording(recordings / f"{name}.yaml")).run()]
    assert shapes.keys() - {event["type"] for event in events} == LATER
    for event in events:
        paths = {path.removeprefix("event.") for path in _paths({k: v for k, v in event.items() if k != "type"})}
        assert _always(shapes[event["type"]]["always"], event) <= paths, event["type"]


def _always(paths: list[str], event: Event) -> set[str]:
    """Return the fields that must be there; transcription has fields only once it is on."""
    off = event["type"].startswith("session.") and event["session"]["audio"]["input"]["transcription"] is None
    return {path for path in paths if not (off and ".transcription." in path)}
