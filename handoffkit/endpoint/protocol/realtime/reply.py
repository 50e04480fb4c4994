"""A model's reply as realtime events: items and parts that open, fill and close, in the service's order.

A reply is sent lazily. Whoever sends it may be told to stop between any two events; then what is open is closed as
incomplete and holds what was sent, never more.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from ...models.prompt import Prompt, Reply, ToolCall
from ..deltas import obfuscation, pieces
from ..usage import within
from .audio import BYTES_PER_MS, Voice, encode, interleaved
from .config import FORMAT, Settings
from .items import Conversation, Entry, Record
from .usage import Tally, block, cached, made

Event = dict[str, Any]
Emit = Callable[..., Event]
NewId = Callable[..., str]


@dataclass(eq=False, slots=True)
class Response:
    """A response that was created, until it is done."""

    id: str
    settings: Settings
    conversation_id: str | None
    prompt: Prompt
    context: list[Entry]
    """The items that the model is given; of a spoken one the words may still be missing."""
    read: Tally
    """What the model is given, in tokens."""
    outputs: list[Entry] = field(default_factory=list)
    sent: list[Record] = field(default_factory=list)
    """The items of the outputs, as they were sent."""
    results: list[tuple[Record, str | None]] = field(default_factory=list)
    """Results of its calls that came before it was done, and the item after which each belongs."""
    stream: "ReplyStream | None" = None
    stop: str | None = None
    """Why nothing more is sent: `client_cancelled`, `turn_detected`, `max_output_tokens`, or None."""
    error: dict[str, Any] | None = None
    """Why it failed: type, code and message."""

    @property
    def listening(self) -> bool:
        """Whether the words of something that the model is given are still being recognised."""
        return any(entry.listening for entry in self.context)

    def created(self) -> Record:
        """Return the response as it is when it begins."""
        return self._shown("in_progress", None, [], None)

    def done(self, before: Tally) -> Record:
        """Return the response as it is in the end; *before* is what the one before it counted, in tokens."""
        read = Tally() if self.error else self.read
        usage = block(read, made(self.outputs, self.settings.spoken), cached(read, before))
        status = self._status()
        details = None if status == "completed" else {"type": status, **self._cause()}
        return self._shown(status, details, [Entry(item).shown() for item in self.sent], usage)

    def _status(self) -> str:
        if self.error:
            return "failed"
        if self.stop is None:
            return "completed"
        return "incomplete" if self.stop == "max_output_tokens" else "cancelled"

    def _cause(self) -> Record:
        return {"error": self.error} if self.error else {"reason": self.stop}

    def _shown(self, status: str, details: Any, output: list[Record], usage: Any) -> Record:
        return {
            "object": "realtime.response",
            "id": self.id,
            "status": status,
            "status_details": details,
            "output": output,
            "conversation_id": self.conversation_id,
            "output_modalities": [*self.settings.modalities],
            "max_output_tokens": self.settings.max_output_tokens,
            "audio": {"output": {"format": {**FORMAT}, "voice": self.settings.voice}},
            "usage": usage,
            "metadata": self.settings.metadata,
        }


class ReplyStream:
    """Sends one reply. `close` ends what is open, at any time."""

    def __init__(self, response: Response, conversation: Conversation, emit: Emit, new_id: NewId, voice: Voice) -> None:
        self._response, self._conversation = response, conversation
        self._emit, self._new_id, self._voice = emit, new_id, voice
        self._entry: Entry | None = None
        self._item: Record = {}
        self._part = self._added = False

    def say(self, reply: Reply) -> Iterator[Event]:
        """Yield the events of *reply* up to, and without, `response.done`."""
        limit = self._response.settings.max_output_tokens
        reply, whole = within(reply, limit if isinstance(limit, int) else None)
        items = [self._message(reply.text)] if reply.text else []
        items += [self._call(call) for call in reply.calls]
        for item in items:
            for event in item:
                yield event
                # `conversation.item.added` always follows at once, so that no item ends that was never added.
                if self._response.stop and event["type"] != "response.output_item.added":
                    break
            if not whole and item is items[-1]:
                self._response.stop = self._response.stop or "max_output_tokens"
            yield from self.close()
            if self._response.stop:
                return
        if not whole:
            self._response.stop = "max_output_tokens"

    def close(self) -> Iterator[Event]:
        """Yield the events that end the open item; it is incomplete if the response stops here."""
        entry, self._entry = self._entry, None
        if entry is None:
            return
        if not self._added:
            yield from self._add(entry)
        complete = not self._response.stop and not self._response.error
        self._item["status"] = entry.item["status"] = "completed" if complete else "incomplete"
        if not complete and self._response.stop != "max_output_tokens":
            entry.keep_heard()
        if self._item["type"] == "function_call":
            yield from self._close_call(complete)
        elif self._part:
            yield from self._close_part()
        shown = Entry(self._item).shown
        if self._response.settings.in_conversation:
            yield self._emit("conversation.item.done", previous_item_id=self._previous_at_end(entry), item=shown())
        yield self._at("response.output_item.done", item=shown())

    def _previous_at_end(self, entry: Entry) -> str | None:
        """Return what the service says in `conversation.item.done` of a reply.

        It is null when the item before is the first of the conversation, although `conversation.item.added` names it
        (in all recordings).
        """
        before = self._conversation.before(entry)
        return None if self._conversation.is_first(before) else before

    def _message(self, text: str) -> Iterator[Event]:
        yield from self._open({"type": "message", "status": "in_progress", "role": "assistant", "content": []})
        spoken = self._response.settings.spoken
        field_name = "transcript" if spoken else "text"
        self._item["content"].append({"type": f"output_{'audio' if spoken else 'text'}", field_name: ""})
        self._part = True
        sound = self._voice(text) if spoken else None  # it is asked for now, so that it is ready when it is needed
        yield self._in_part("response.content_part.added", part=self._shown_part())
        words = pieces(text)
        for piece in iter(words) if sound is None else interleaved(words, sound):
            yield self._sound(piece) if isinstance(piece, bytes) else self._words(piece, spoken)

    def _words(self, piece: str, spoken: bool) -> Event:
        self._item["content"][0]["transcript" if spoken else "text"] += piece
        kind = "audio_transcript" if spoken else "text"
        return self._in_part(f"response.output_{kind}.delta", **self._padded(piece))

    def _sound(self, chunk: bytes) -> Event:
        assert self._entry is not None
        if not self._entry.cut:
            self._entry.audio_ms += len(chunk) // BYTES_PER_MS
        return self._in_part("response.output_audio.delta", delta=encode(chunk))

    def _close_part(self) -> Iterator[Event]:
        self._part = False
        part = self._item["content"][0]
        if self._response.settings.spoken:
            yield self._in_part("response.output_audio.done")
            yield self._in_part("response.output_audio_transcript.done", transcript=part["transcript"])
        else:
            yield self._in_part("response.output_text.done", text=part["text"])
        yield self._in_part("response.content_part.done", part=self._shown_part())

    def _shown_part(self) -> Record:
        part = self._item["content"][0]
        return {**part, "type": part["type"].removeprefix("output_")}

    def _call(self, call: ToolCall) -> Iterator[Event]:
        call_id = call.call_id or self._new_id("call", 16)
        named = {"name": call.name, "call_id": call_id, "arguments": ""}
        yield from self._open({"type": "function_call", "status": "in_progress", **named})
        for piece in pieces(call.arguments):
            self._item["arguments"] += piece
            yield self._in_call("response.function_call_arguments.delta", **self._padded(piece))

    def _close_call(self, complete: bool) -> Iterator[Event]:
        """Say that the arguments are whole, if they are: a client runs its tool on this event."""
        if complete:
            whole = {"name": self._item["name"], "arguments": self._item["arguments"]}
            yield self._in_call("response.function_call_arguments.done", **whole)

    def _open(self, item: Record) -> Iterator[Event]:
        self._item = {"id": self._new_id("item"), **item}
        self._entry = entry = Entry(self._item)
        self._response.outputs.append(entry)
        self._response.sent.append(self._item)
        if self._response.settings.in_conversation:
            self._conversation.add(entry)
        self._added = False
        yield self._at("response.output_item.added", item=entry.shown())
        yield from self._add(entry)

    def _add(self, entry: Entry) -> Iterator[Event]:
        self._added = True
        if self._response.settings.in_conversation:
            before = self._conversation.before(entry)
            yield self._emit("conversation.item.added", previous_item_id=before, item=entry.shown())

    def _padded(self, delta: str) -> Event:
        return {"delta": delta, "obfuscation": obfuscation(delta, self._item["id"])}

    def _at(self, kind: str, **fields: Any) -> Event:
        place = {"response_id": self._response.id, "output_index": len(self._response.sent) - 1}
        return self._emit(kind, **place, **fields)

    def _in_part(self, kind: str, **fields: Any) -> Event:
        place = {"response_id": self._response.id, "item_id": self._item["id"]}
        return self._emit(kind, **place, output_index=len(self._response.sent) - 1, content_index=0, **fields)

    def _in_call(self, kind: str, **fields: Any) -> Event:
        place = {"response_id": self._response.id, "item_id": self._item["id"]}
        called = {"output_index": len(self._response.sent) - 1, "call_id": self._item["call_id"]}
        return self._emit(kind, **place, **called, **fields)
