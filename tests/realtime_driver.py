"""A client of the pure realtime session, for tests: it sends frames, has a reply given, and checks every event.

Every event that comes back is held against the official types, so each test that uses this holds them too.
"""

import base64
import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from openai.types.realtime import RealtimeServerEvent
from pydantic import TypeAdapter

from handoffkit.endpoint.models.prompt import Prompt, Reply
from handoffkit.endpoint.protocol.ids import Ids
from handoffkit.endpoint.protocol.realtime.hearing import SpeechStarted, SpeechStopped
from handoffkit.endpoint.protocol.realtime.session import RealtimeSession

Event = dict[str, Any]

_OFFICIAL: TypeAdapter[Any] = TypeAdapter(RealtimeServerEvent)
_BEYOND = {"obfuscation"}  # recorded, but not in the types


def official(event: Event) -> Event:
    """Return *event* if it is what the official types describe, through JSON and back."""
    read = _OFFICIAL.validate_python(json.loads(json.dumps(event)))
    assert read.type == event["type"]
    assert set(read.model_extra or ()) <= _BEYOND
    return event


class Driver:
    """A connected client; the session counts from a fixed clock and says nothing with sound."""

    def __init__(self, model: str = "gpt-realtime", **options: Any) -> None:
        self.session = RealtimeSession(model, Ids("test"), now=lambda: 1_000_000.0, **options)
        self.greeting = [official(event) for event in self.session.open()]

    def send(self, kind: str, **fields: Any) -> list[Event]:
        """Send one event and return what the service says at once."""
        return self.raw(json.dumps({"type": kind, **fields}))

    def raw(self, frame: str | bytes) -> list[Event]:
        """Send one frame as it is."""
        return [official(event) for event in self.session.receive(frame)]

    def error(self, kind: str, **fields: Any) -> Event:
        """Send one event that must be refused, and return the error."""
        [event] = self.send(kind, **fields)
        assert event["type"] == "error"
        error: Event = event["error"]
        return error

    def configure(self, **session: Any) -> Event:
        """Change the session and return it as it is now."""
        [event] = self.send("session.update", session={"type": "realtime", **session})
        assert event["type"] == "session.updated", event
        updated: Event = event["session"]
        return updated

    def say(self, text: str, role: str = "user", **fields: Any) -> str:
        """Add a message to the conversation and return its id."""
        kind = "output_text" if role == "assistant" else "input_text"
        item = {"type": "message", "role": role, "content": [{"type": kind, "text": text}], **fields}
        added, done = self.send("conversation.item.create", item=item)
        assert (added["type"], done["type"]) == ("conversation.item.added", "conversation.item.done")
        return str(added["item"]["id"])

    def ask(self, **response: Any) -> Prompt:
        """Ask for a response and return what the model is given."""
        [created] = self.send("response.create", response=response)
        assert created["type"] == "response.created", created
        pending = self.session.pending()
        assert pending is not None
        assert pending.response_id == created["response"]["id"]
        self.response_id = pending.response_id
        return pending.prompt

    def answering(self, reply: Reply | str) -> Iterator[Event]:
        """Yield the events of the reply to what was asked for last."""
        reply = Reply(reply) if isinstance(reply, str) else reply
        return map(official, self.session.answer(self.response_id, reply))

    def turn(self, text: str, reply: Reply | str, **response: Any) -> list[Event]:
        """Say something, have it answered, and return the events of the answer."""
        self.say(text)
        self.ask(**response)
        return list(self.answering(reply))

    def heard_so_far(self) -> Prompt:
        """Return what a model would be given now; no response is left behind."""
        prompt = self.ask()
        self.send("response.cancel")
        return prompt


class _Script:
    """A detector that says what it was told to, at the moments of the sound that it was told."""

    def __init__(self, changes: list[tuple[int, SpeechStarted | SpeechStopped]]) -> None:
        self._changes, self._ms = changes, 0.0
        self.pause: int | None = None
        self.settings: dict[str, Any] = {}

    def feed(self, pcm: bytes) -> Iterator[SpeechStarted | SpeechStopped]:
        self._ms += len(pcm) / 48
        while self._changes and self._changes[0][0] <= self._ms:
            yield self._changes.pop(0)[1]

    def configure(self, **settings: Any) -> None:
        self.settings = settings


class Ears:
    """Ears whose detectors follow a script: (begin, end, padding) of each turn, in ms of all sound."""

    def __init__(self, *turns: tuple[int, int], deaf: str = "") -> None:
        self.deaf, self.made = deaf, list[_Script]()
        self._turns = turns

    def detector(self, **settings: Any) -> _Script:
        changes: list[tuple[int, SpeechStarted | SpeechStopped]] = []
        for begin, end in self._turns if not self.made else ():
            changes += [(begin + 300, SpeechStarted(begin)), (end, SpeechStopped(end))]
        script = _Script(changes)
        script.settings = settings
        self.made.append(script)
        return script


def kinds(events: list[Event]) -> list[str]:
    """Return the types of events, runs of the same type as one."""
    return [kind for kind, _ in groupby(event["type"] for event in events)]


def only(events: list[Event], kind: str) -> list[Event]:
    """Return the events of one type."""
    return [event for event in events if event["type"] == kind]


def sound(ms: int) -> str:
    """Return *ms* of silence as base64."""
    return base64.b64encode(bytes(ms * 48)).decode()
