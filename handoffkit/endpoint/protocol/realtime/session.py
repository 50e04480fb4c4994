"""The simulated Realtime service (`/v1/realtime`, GA shape): frames in, events out, and nothing else.

A session takes each frame of the client's with `receive` and returns what the service says at once. A response that
was asked for waits in `pending` until somebody has a reply for it; `answer` turns that into events. No clock, no
socket and no model is in here. Order, fields and defaults are those of recorded calls of the service.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from ...models.prompt import Prompt, Reply
from ..api_error import ApiError
from ..fields import Check, integer, missing, one_of, text
from ..ids import Ids
from .audio import Voice, decode, silence
from .check import read, record, short
from .config import RESPONSE, SESSION, Settings, defaults, updated
from .hearing import Ears, Hearing, Sound, SpeechStarted, SpeechStopped
from .items import ITEM, Conversation, Entry, history, kept, sound_ms
from .reply import Event, ReplyStream, Response
from .usage import Tally, given, made

LASTS = 3600.0
"""Seconds that a session lives at the service."""
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
    spoken: bool = True
    """Whether the reply is said, rather than written."""


class RealtimeSession:
    """One session of the Realtime API.

    Args:
        model: The name that the client asked for.
        ids: Where ids come from.
        now: Returns the time in seconds since 1970.
        voice: Speaks a reply; by default as silence of about the right length.
        ears: Who detects turns in the caller's sound and recognises its words; by default nobody.
        lasts: Seconds that the session lives.
    """

    def __init__(
        self,
        model: str,
        ids: Ids,
        *,
        now: Callable[[], float] = time.time,
        voice: Voice = silence,
        ears: Ears | None = None,
        lasts: float = LASTS,
    ) -> None:
        self._ids, self._voice, self._lasts = ids, voice, lasts
        self._config = defaults(model, ids.new("sess"), int(now() + lasts))
        self._conversation, self._conversation_id = Conversation(), ids.new("conv")
        self._hearing = Hearing(self._conversation, self._event, self._new_id, ears)
        self._hearing.configure(self._config["audio"]["input"])
        self._active: dict[str, Response] = {}
        self._waiting: deque[str] = deque()
        self._replies = 0
        self._has_spoken = False
        self._counted: tuple[Any, Tally] = (None, Tally())

    def open(self) -> list[Event]:
        """Return what the service says when a client has connected."""
        return [self._event("session.created", session=self._session())]

    def expire(self) -> tuple[Event, str]:
        """Return what the service says when the session has lived its time, and the reason of the close after it.

        Both as people have met them with `session_expired` and the close code 1001; the minutes are this session's.
        """
        message = f"Your session hit the maximum duration of {self._lasts / 60:g} minutes."
        return self._refusal(ApiError(message, code="session_expired"), None), message

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
            return [self._refusal(error, event_id)]

    def pending(self) -> Pending | None:
        """Return a response that waits for a model, the oldest first; each is handed out once.

        One that answers spoken words is held back until they are recognised.
        """
        while self._waiting:
            response = self._active.get(self._waiting[0])
            if response is not None and response.listening:
                return None
            self._waiting.popleft()
            if response is not None:
                prompt = replace(response.prompt, history=history(response.context))
                return Pending(response.id, prompt, response.settings.spoken)
        return None

    def sounds(self) -> list[Sound]:
        """Return the caller's turns that wait for a recogniser; each is handed out once."""
        return self._hearing.sounds()

    @property
    def speed(self) -> float:
        """How fast the agent speaks; 1 is the voice's own pace."""
        return float(self._config["audio"]["output"]["speed"])

    @property
    def speaking(self) -> Sound | None:
        """The sound so far of a turn that is being spoken, where the client wants its words."""
        return self._hearing.speaking

    @property
    def pausing(self) -> Sound | None:
        """The turn that is being spoken, while its caller pauses and may have ended it."""
        return self._hearing.pausing

    def partial(self, item_id: str, delta: str) -> list[Event]:
        """Return the event that says further words of a turn while, or after, it is spoken."""
        return list(self._hearing.partial(item_id, delta))

    def words(self, item_id: str, transcript: str, deltas: Iterable[str] = ()) -> list[Event]:
        """Take the words of a spoken turn; return the events that say them, each of *deltas* first."""
        return self._hearing.words(item_id, transcript, deltas)

    def no_words(self, item_id: str, message: str, code: str = "transcription_failed") -> list[Event]:
        """Take that the words of a spoken turn will not come; return the event that says so."""
        return self._hearing.no_words(item_id, code, message)

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

    def _refusal(self, error: ApiError, event_id: str | None) -> Event:
        said = {name: error.error()[name] for name in ("type", "code", "message", "param")}
        return self._event("error", error={**said, "event_id": event_id})

    def _handle(self, event: Event) -> Iterator[Event]:
        match event["type"]:
            case "session.update":
                return self._update(event["session"])
            case "input_audio_buffer.append":
                return self._append(event["audio"])
            case "input_audio_buffer.commit":
                return self._hearing.commit()
            case "input_audio_buffer.clear":
                return self._hearing.clear()
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
        self._hearing.configure(fresh["audio"]["input"])
        yield self._event("session.updated", session=self._session())

    def _keep_voice(self, voice: Any) -> None:
        if self._has_spoken and voice != self._config["audio"]["output"]["voice"]:
            message = "Cannot update a conversation's voice if assistant audio is present."
            raise ApiError(message, code="cannot_update_voice")

    def _append(self, audio: str) -> Iterator[Event]:
        for said in self._hearing.append(decode(audio, "audio")):
            if isinstance(said, SpeechStarted):
                yield from self._spoken_over()
            elif isinstance(said, SpeechStopped):
                yield from self._turn_taken()
            else:
                yield said

    def _spoken_over(self) -> Iterator[Event]:
        """End the reply that the caller speaks over, where the session is set to that."""
        if self._hearing.detection and self._hearing.detection["interrupt_response"]:
            for response in [one for one in self._active.values() if one.settings.in_conversation and not one.stop]:
                yield from self._stop(response, "turn_detected")

    def _turn_taken(self) -> Iterator[Event]:
        """Reply to a turn that was detected, where the session is set to that; it fails while another reply is made."""
        if self._hearing.detection and self._hearing.detection["create_response"]:
            try:
                yield from self._respond({})
            except ApiError as error:
                yield self._refusal(error, None)

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
        return Response(self._ids.new("resp"), settings, conversation_id, prompt, [*context], given(settings, context))

    def _cancel(self, response_id: str | None) -> Iterator[Event]:
        active = [one for one in self._active.values() if one.id == (response_id or one.id) and not one.stop]
        if response_id is None:
            active = [one for one in active if one.settings.in_conversation]
        if not active:
            raise ApiError("Cancellation failed: no active response found", code="response_cancel_not_active")
        yield from self._stop(active[0], "client_cancelled")

    def _stop(self, response: Response, reason: str) -> Iterator[Event]:
        """Have nothing more sent of a response.

        One that the caller speaks over ends at once, and so does one that has not begun; else whoever sends it ends it.
        """
        response.stop = reason
        if response.stream is None or reason == "turn_detected":
            yield from response.stream.close() if response.stream else ()
            yield from self._done(response)

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
