"""The simulated Realtime service (`/v1/realtime`, GA shape): frames in, events out, and nothing else.

A session takes each frame of the client's with `receive` and returns what the service says at once. A response that
was asked for waits in `pending` until somebody has a reply for it; `answer` turns that into events. No clock, no
socket and no model is in here. Order, fields and defaults are those of recorded calls of the service.
"""

import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from ...models.prompt import Prompt, Reply
from ..api_error import ApiError
from ..fields import Check, integer, missing, one_of, text
from ..ids import Ids
from .audio import InputBuffer, Voice, decode, silence
from .check import read, record, short
from .config import RESPONSE, SESSION, Settings, defaults, updated
from .items import ITEM, Conversation, Entry, history, kept, sound_ms
from .reply import Event, ReplyStream, Response
from .usage import Tally, given, made

_LASTS = 3600  # seconds that a session lives at the service
_SHORTEST_MS = 100  # of sound that can be committed
_LARGEST = 15 << 20  # bytes of base64 in one append

_ITEM_ID: dict[str, Check] = {"item_id": text}
_EVENTS: dict[str, tuple[dict[str, Check], tuple[str, ...]]] = {
    "session.update": ({"session": SESSION}, ("session",)),
    "input_audio_buffer.append": ({"audio": short(_LARGEST)}, ("audio",)),
    "input_audio_buffer.commit": ({}, ()),
    "input_audio_buffer.clear": ({}, ()),
    "conversation.item.create": ({"item": ITEM, "previous_item_id": text}, ("item",)),
    "conversation.item.truncate": (
        {**_ITEM_ID, "content_index": integer(0), "audio_end_ms": integer(0)},
        ("item_id", "content_index", "audio_end_ms"),
    ),
    "conversation.item.delete": (_ITEM_ID, ("item_id",)),
    "conversation.item.retrieve": (_ITEM_ID, ("item_id",)),
    "response.create": ({"response": RESPONSE}, ()),
    "response.cancel": ({"response_id": text}, ()),
}
_KIND = one_of(*_EVENTS)
_CHECKS = {
    kind: record({"type": text, "event_id": short(512), **fields}, required)
    for kind, (fields, required) in _EVENTS.items()
}


@dataclass(frozen=True, slots=True)
class Pending:
    """A response that was created and waits for a model's reply."""

    response_id: str
    prompt: Prompt


class RealtimeSession:
    """One session of the Realtime API.

    Args:
        model: The name that the client asked for.
        ids: Where ids come from.
        now: Returns the time in seconds since 1970.
        voice: Speaks a reply; by default as silence of about the right length.
    """

    def __init__(self, model: str, ids: Ids, *, now: Callable[[], float] = time.time, voice: Voice = silence) -> None:
        self._ids, self._voice = ids, voice
        self._config = defaults(model, ids.new("sess"), int(now()) + _LASTS)
        self._conversation, self._conversation_id = Conversation(), ids.new("conv")
        self._buffer = InputBuffer()
        self._active: dict[str, Response] = {}
        self._waiting: deque[str] = deque()
        self._replies = 0
        self._has_spoken = False
        self._counted: tuple[Any, Tally] = (None, Tally())

    def open(self) -> list[Event]:
        """Return what the service says when a client has connected."""
        return [self._event("session.created", session=self._session())]

    def receive(self, frame: str | bytes) -> list[Event]:
        """Take one frame of the client's and return the events that it causes at once.

        A frame that is wrong causes an `error` event, with the client's `event_id` where it has one, and changes
        nothing. This never raises.
        """
        event_id = None
        try:
            event = read(frame)
            event_id = event["event_id"] if isinstance(event.get("event_id"), str) else None
            if event.get("type") is None:
                raise missing("type")
            _KIND(event["type"], "type")
            _CHECKS[event["type"]](event, "")
            return list(self._handle(event))
        except ApiError as error:
            order = ("type", "code", "message", "param")
            return [self._event("error", error={**{name: error.error()[name] for name in order}, "event_id": event_id})]

    def pending(self) -> Pending | None:
        """Return a response that waits for a model, the oldest first; each is handed out once."""
        while self._waiting:
            response = self._active.get(self._waiting.popleft())
            if response is not None:
                return Pending(response.id, response.prompt)
        return None

    def answer(self, response_id: str, reply: Reply) -> Iterator[Event]:
        """Yield the events of a response, ending with `response.done`.

        A cancel that is received between two events ends it early. Nothing is yielded for a response that is over
        already or is being answered.
        """
        response = self._active.get(response_id)
        if response is None or response.stream is not None:
            return
        response.stream = ReplyStream(response, self._conversation, self._event, self._new_id, self._voice)
        self._replies += 1
        events = response.stream.say(reply)
        while response_id in self._active:
            event = next(events, None)
            if event is None:
                yield from self._done(response)
                return
            self._has_spoken |= event["type"] == "response.output_audio.delta"
            yield event

    def fail(self, response_id: str, error: ApiError) -> list[Event]:
        """Return the events that end a response for which there is no reply; none if it is over already."""
        response = self._active.get(response_id)
        if response is None:
            return []
        response.error = {"type": error.type, "code": error.code, "message": error.message}
        closing = list(response.stream.close()) if response.stream else []
        return [*closing, *self._done(response)]

    def _handle(self, event: Event) -> Iterator[Event]:
        match event["type"]:
            case "session.update":
                return self._update(event["session"])
            case "input_audio_buffer.append":
                return self._append(event["audio"])
            case "input_audio_buffer.commit":
                return self._commit()
            case "input_audio_buffer.clear":
                return self._clear()
            case "conversation.item.create":
                return self._create(event["item"], event.get("previous_item_id"))
            case "conversation.item.truncate":
                return self._truncate(event["item_id"], event["content_index"], event["audio_end_ms"])
            case "conversation.item.delete":
                return self._delete(event["item_id"])
            case "conversation.item.retrieve":
                return self._retrieve(event["item_id"])
            case "response.create":
                return self._respond(event.get("response") or {})
        return self._cancel(event.get("response_id"))

    def _update(self, change: dict[str, Any]) -> Iterator[Event]:
        if change["type"] != "realtime":
            message = "Passing a transcription session update event to a realtime session is not allowed."
            raise ApiError(message, param="session.type")
        fresh = updated(self._config, change)
        self._keep_voice(fresh["audio"]["output"]["voice"])
        self._config = fresh
        yield self._event("session.updated", session=self._session())

    def _keep_voice(self, voice: Any) -> None:
        if self._has_spoken and voice != self._config["audio"]["output"]["voice"]:
            message = "Cannot update a conversation's voice if assistant audio is present."
            raise ApiError(message, code="cannot_update_voice")

    def _append(self, audio: str) -> Iterator[Event]:
        self._buffer.append(decode(audio, "audio"))
        yield from ()

    def _clear(self) -> Iterator[Event]:
        self._buffer.take()
        yield self._event("input_audio_buffer.cleared")

    def _commit(self) -> Iterator[Event]:
        if self._buffer.ms < _SHORTEST_MS:
            message = (
                f"Error committing input audio buffer: buffer too small. Expected at least {_SHORTEST_MS}ms of audio, "
                f"but buffer only has {self._buffer.ms:.2f}ms of audio."
            )
            raise ApiError(message, code="input_audio_buffer_commit_empty")
        spoken = {"status": "completed", "role": "user", "content": [{"type": "input_audio", "transcript": None}]}
        entry = Entry({"id": self._new_id("item"), "type": "message", **spoken}, audio_ms=int(self._buffer.ms))
        audio = self._buffer.take()
        self._conversation.add(entry)
        place = {"previous_item_id": self._conversation.before(entry), "item_id": entry.item["id"]}
        yield self._event("input_audio_buffer.committed", **place)
        yield from self._added(entry)
        yield from self._recognise(entry, audio)

    def _recognise(self, entry: Entry, audio: bytes) -> Iterator[Event]:
        """Say what becomes of a spoken turn's words. Nothing here can hear, so a client that wants them is told."""
        if self._config["audio"]["input"]["transcription"] is None:
            return
        message = "Speech recognition is not installed here, so the words of this turn are not known. Type the turn."
        error = {"type": "server_error", "code": "speech_recognition_not_installed", "message": message, "param": None}
        kind = "conversation.item.input_audio_transcription.failed"
        yield self._event(kind, item_id=entry.item["id"], content_index=0, error=error)

    def _create(self, item: dict[str, Any], after: str | None) -> Iterator[Event]:
        self._conversation.check_room(item.get("id"), after)
        if item["type"] == "function_call_output":
            self._conversation.check_call(item["call_id"])
        caller = self._still_calling(item.get("call_id"))
        if item["type"] == "function_call_output" and caller:
            caller.results.append((item, after))
        else:
            yield from self._join(item, after)

    def _join(self, item: dict[str, Any], after: str | None) -> Iterator[Event]:
        entry = self._entry(item)
        self._conversation.add(entry, after)
        yield from self._added(entry)

    def _still_calling(self, call_id: str | None) -> Response | None:
        """Return the running response that made a call; the result joins the conversation when it is done.

        So it was recorded: a result that comes while the response still runs is confirmed after `response.done`.
        """
        running = self._active.values()
        return next((one for one in running if call_id and call_id in {item.get("call_id") for item in one.sent}), None)

    def _entry(self, item: dict[str, Any]) -> Entry:
        id = item.get("id") or self._new_id("item")
        return Entry(kept(item, id, self._new_id("call", 16)), audio_ms=sound_ms(item))

    def _added(self, entry: Entry) -> Iterator[Event]:
        before = self._conversation.before(entry)
        for kind in ("conversation.item.added", "conversation.item.done"):
            yield self._event(kind, previous_item_id=before, item=entry.shown())

    def _truncate(self, item_id: str, index: int, end_ms: int) -> Iterator[Event]:
        """Keep of a reply what was heard of it: the service drops the transcript, here its heard words stay."""
        entry = self._conversation.find(item_id, "truncate")
        content = entry.item.get("content") or []
        if index >= len(content) or content[index]["type"] != "output_audio":
            message = "Only model output audio messages can be truncated"
            raise ApiError(message, code="unsupported_content_type")
        if end_ms > entry.audio_ms:
            message = f"Audio content of {entry.audio_ms}ms is already shorter than {end_ms}ms"
            raise ApiError(message, code="invalid_value", param="audio_end_ms")
        entry.keep_heard(end_ms)
        yield self._event("conversation.item.truncated", item_id=item_id, content_index=index, audio_end_ms=end_ms)

    def _delete(self, item_id: str) -> Iterator[Event]:
        self._conversation.remove(self._conversation.find(item_id, "delete"))
        yield self._event("conversation.item.deleted", item_id=item_id)

    def _retrieve(self, item_id: str) -> Iterator[Event]:
        entry = self._conversation.find(item_id, "retrieve")
        yield self._event("conversation.item.retrieved", item=entry.shown())

    def _respond(self, override: dict[str, Any]) -> Iterator[Event]:
        settings = Settings.of(self._config, override)
        busy = next((one.id for one in self._active.values() if one.settings.in_conversation), None)
        if settings.in_conversation and busy:
            message = (
                f"Conversation already has an active response in progress: {busy}. "
                "Wait until the response is finished before creating a new one."
            )
            raise ApiError(message, code="conversation_already_has_active_response")
        self._keep_voice(settings.voice)
        response = self._response(settings, self._context(override.get("input")))
        self._active[response.id] = response
        self._waiting.append(response.id)
        yield self._event("response.created", response=response.created())

    def _context(self, items: list[dict[str, Any]] | None) -> list[Entry]:
        if items is None:
            return self._conversation.entries
        return [
            self._conversation.find(item["id"], "retrieve") if item["type"] == "item_reference" else self._entry(item)
            for item in items
        ]

    def _response(self, settings: Settings, context: list[Entry]) -> Response:
        prompt = Prompt(
            model=self._config["model"],
            instructions=settings.instructions,
            history=history(context),
            tools=settings.functions(),
            tool_choice=settings.choice,
            spoken=True,
            session=self._config["id"],
            replies=self._replies,
        )
        conversation_id = self._conversation_id if settings.in_conversation else None
        return Response(self._ids.new("resp"), settings, conversation_id, prompt, given(settings, context))

    def _cancel(self, response_id: str | None) -> Iterator[Event]:
        active = [one for one in self._active.values() if one.id == (response_id or one.id) and not one.stop]
        if response_id is None:
            active = [one for one in active if one.settings.in_conversation]
        if not active:
            raise ApiError("Cancellation failed: no active response found", code="response_cancel_not_active")
        active[0].stop = "client_cancelled"
        if active[0].stream is None:
            yield from self._done(active[0])

    def _done(self, response: Response) -> list[Event]:
        """End a response: all of it happens now, so that the next one knows the results that came early."""
        events = [self._ended(response)]
        for item, after in response.results:
            taken = item.get("id") in self._conversation  # since it was accepted; likewise its place may have gone
            place = after if after == "root" or after in self._conversation else None
            events += self._join({**item, "id": None} if taken else item, place)
        return events

    def _ended(self, response: Response) -> Event:
        del self._active[response.id]
        setting = (response.settings.instructions, response.settings.tools)
        before = self._counted[1] if self._counted[0] == setting else Tally()
        if response.settings.in_conversation and not response.error:
            self._counted = (setting, response.read + made(response.outputs, response.settings.spoken))
        return self._event("response.done", response=response.done(before))

    def _session(self) -> dict[str, Any]:
        audio = {side: {**part} for side, part in self._config["audio"].items()}
        return {**self._config, "audio": audio}

    def _new_id(self, prefix: str, length: int = 21) -> str:
        """Return an id that no item of the client's has."""
        id = self._ids.new(prefix, length)
        return id if id not in self._conversation else self._new_id(prefix, length)

    def _event(self, kind: str, **fields: Any) -> Event:
        return {"type": kind, "event_id": self._ids.new("event"), **fields}
