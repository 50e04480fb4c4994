"""Whatever a client sends, in whatever order: a session never breaks, and each response ends exactly once."""

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from realtime_driver import Event, official, sound

from handoffkit.endpoint.models.prompt import Reply, ToolCall
from handoffkit.endpoint.protocol.api_error import ApiError
from handoffkit.endpoint.protocol.ids import Ids
from handoffkit.endpoint.protocol.realtime.session import RealtimeSession

KINDS = (
    "session.update", "input_audio_buffer.append", "input_audio_buffer.commit", "input_audio_buffer.clear",
    "conversation.item.create", "conversation.item.truncate", "conversation.item.delete",
    "conversation.item.retrieve", "response.create", "response.cancel", "ping",
)  # fmt: skip
FIELDS = (
    "session", "audio", "item", "item_id", "content_index", "audio_end_ms", "response", "response_id", "event_id",
    "type", "role", "content", "text", "input", "conversation", "tools", "instructions", "previous_item_id", "id",
    "output", "turn_detection", "metadata", "call_id",
)  # fmt: skip
IDS = st.sampled_from(["a", "b", "c", "root"])
WORDS = st.text(st.characters(exclude_categories=[]), max_size=20)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.sampled_from([*KINDS, "realtime", "message"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS) | WORDS, inner, max_size=4),
    max_leaves=12,
)
REPLIES = st.builds(
    Reply,
    text=WORDS,
    calls=st.lists(st.builds(ToolCall, name=WORDS, arguments=WORDS), max_size=2).map(tuple),
)


class AnyClient(RuleBasedStateMachine):
    """Sends right and wrong frames while replies are given, cancelled, cut off and failed."""

    def __init__(self) -> None:
        super().__init__()
        self.session = RealtimeSession("gpt-realtime", Ids("fuzz"), now=lambda: 0.0)
        self.begun: list[str] = []
        self.ended: list[str] = []
        self.waiting: list[str] = []
        self.running: dict[str, Iterator[Event]] = {}
        self.items: list[str] = []
        self.calls: list[str] = []

    def take(self, events: list[Event]) -> None:
        """Check events and note what began and ended."""
        for event in events:
            official(event)
            match event["type"]:
                case "response.created":
                    self.begun.append(event["response"]["id"])
                case "response.done":
                    self.ended.append(event["response"]["id"])
                case "conversation.item.added":
                    self.items.append(event["item"]["id"])
                    self.calls += [event["item"]["call_id"]] if event["item"]["type"] == "function_call" else []

    def send(self, kind: str, **fields: Any) -> None:
        """Send one event."""
        self.take(self.session.receive(json.dumps({"type": kind, **fields})))

    @initialize()
    def connect(self) -> None:
        self.take(self.session.open())

    @rule(frame=WORDS | st.binary(max_size=9) | ANYTHING.map(json.dumps))
    def any_frame(self, frame: str | bytes) -> None:
        self.take(self.session.receive(frame))

    @rule(kind=st.sampled_from(KINDS), fields=st.dictionaries(st.sampled_from(FIELDS), ANYTHING, max_size=4))
    def any_event(self, kind: str, fields: dict[str, Any]) -> None:
        self.send(**{**fields, "kind": kind})

    @rule(text=WORDS, role=st.sampled_from(["user", "assistant", "system"]), id=st.none() | IDS, after=st.none() | IDS)
    def message(self, text: str, role: str, id: str | None, after: str | None) -> None:
        part = {"type": "output_text" if role == "assistant" else "input_text", "text": text}
        item = {"id": id, "type": "message", "role": role, "content": [part]}
        self.send("conversation.item.create", item=item, previous_item_id=after)

    @rule(modality=st.sampled_from(["text", "audio"]), limit=st.sampled_from(["inf", 1, 7]), apart=st.booleans())
    def ask(self, modality: str, limit: str | int, apart: bool) -> None:
        wanted = {"output_modalities": [modality], "max_output_tokens": limit}
        self.send("response.create", response={**wanted, "conversation": "none" if apart else "auto"})

    @rule(ms=st.integers(0, 200))
    def speak(self, ms: int) -> None:
        self.send("input_audio_buffer.append", audio=sound(ms))
        self.send("input_audio_buffer.commit")

    @rule(ms=st.integers(0, 2000), place=st.integers(0, 50))
    def cut(self, ms: int, place: int) -> None:
        if self.items:
            item_id = self.items[place % len(self.items)]
            self.send("conversation.item.truncate", item_id=item_id, content_index=0, audio_end_ms=ms)

    @rule(place=st.integers(0, 50), id=st.none() | IDS, after=st.none() | IDS)
    def result(self, place: int, id: str | None, after: str | None) -> None:
        if self.calls:
            call_id = self.calls[place % len(self.calls)]
            item = {"id": id, "type": "function_call_output", "call_id": call_id, "output": "Done."}
            self.send("conversation.item.create", item=item, previous_item_id=after)

    @rule(place=st.integers(0, 50))
    def delete(self, place: int) -> None:
        if self.items:
            self.send("conversation.item.delete", item_id=self.items[place % len(self.items)])

    @rule()
    def cancel(self) -> None:
        self.send("response.cancel")

    @rule()
    def hand_out(self) -> None:
        if pending := self.session.pending():
            self.waiting.append(pending.response_id)

    @rule(reply=REPLIES)
    def answer(self, reply: Reply) -> None:
        if self.waiting:
            response_id = self.waiting.pop()
            self.running[response_id] = self.session.answer(response_id, reply)

    @rule(steps=st.integers(1, 12))
    def go_on(self, steps: int) -> None:
        for response_id, events in list(self.running.items()):
            for _ in range(steps):
                event = next(events, None)
                if event is None:
                    del self.running[response_id]
                    break
                self.take([event])

    @rule()
    def fail(self) -> None:
        for response_id in [*self.waiting, *self.running][:1]:
            self.take(self.session.fail(response_id, ApiError("It broke.", type="server_error")))

    @invariant()
    def no_response_ends_twice_or_unbegun(self) -> None:
        assert len(self.ended) == len(set(self.ended))
        assert set(self.ended) <= set(self.begun)

    def teardown(self) -> None:
        """Give everything that waits its reply: now each response that began has ended."""
        self.hand_out()
        while self.waiting:
            self.answer(Reply("Bye."))
            self.hand_out()
        for events in self.running.values():
            self.take(list(events))
        assert sorted(self.ended) == sorted(self.begun)


TestAnyClient = AnyClient.TestCase
TestAnyClient.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
