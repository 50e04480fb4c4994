"""A wire written by hand: the frames that a client and the service would exchange, one call a step."""

from typing import Any, Self

from handoffkit.wire.frames import AudioRef, Frame


class Wire:
    """Frames of one realtime connection, a tenth of a second apart unless `wait` says otherwise."""

    def __init__(self, conn: str = "c1", label: str | None = None, *, first: int = 1, began: float = 0.0) -> None:
        self.frames: list[Frame] = []
        self.conn, self.label = conn, label
        self._seq, self._now = first - 1, began
        self._items: list[str] = []
        self._sound: dict[str, int] = {}

    @property
    def now(self) -> float:
        return round(self._now, 3)

    def wait(self, seconds: float) -> Self:
        self._now += seconds
        return self

    def frame(self, direction: str, event: str, data: dict[str, Any], audio: AudioRef | None = None) -> Self:
        self._seq += 1
        self._now += 0.1
        channel = "realtime"
        self.frames.append(
            Frame(self._seq, self.now, self.conn, channel, direction, event, {"type": event, **data}, self.label, audio)
        )
        return self

    def client(self, event: str, **data: Any) -> Self:
        return self.frame("client", event, data)

    def server(self, event: str, **data: Any) -> Self:
        return self.frame("server", event, data)

    def session(self, instructions: str = "Be kind.", transcribes: bool = True) -> Self:
        heard = {"input": {"transcription": {"model": "whisper"} if transcribes else None}}
        return self.server("session.updated", session={"instructions": instructions, "audio": heard})

    def added(self, item: str, role: str, **found: Any) -> Self:
        previous = self._items[-1] if self._items else None
        self._items.append(item)
        whole: dict[str, Any] = {"id": item, "type": "message", "role": role, **found}
        return self.server("conversation.item.added", previous_item_id=previous, item=whole)

    def typed(self, words: str, item: str, *, role: str = "user", confirm: bool = True, **data: Any) -> Self:
        kind = "output_text" if role == "assistant" else "input_text"
        found = {"type": "message", "role": role, "content": [{"type": kind, "text": words}]}
        self.client("conversation.item.create", item=found, **data)
        return self.added(item, role, content=found["content"]) if confirm else self

    def ask(self, event_id: str | None = None, **options: Any) -> Self:
        named = {"event_id": event_id} if event_id else {}
        return self.client("response.create", **named, **({"response": options} if options else {}))

    def begin(self, response: str, metadata: Any = None, **found: Any) -> Self:
        whole = {"id": response, "status": "in_progress", "conversation_id": "conv", "metadata": metadata} | found
        return self.server("response.created", response=whole)

    def words(self, words: str, response: str, item: str, *, spoken: bool = True, ms: int = 0) -> Self:
        """Words of the agent's, with *ms* milliseconds of sound after them."""
        if item not in self._items:
            whole = {"id": item, "type": "message", "role": "assistant", "status": "in_progress", "content": []}
            self.server("response.output_item.added", response_id=response, item=whole)
            self.added(item, "assistant", status="in_progress")
        event = "response.output_audio_transcript.delta" if spoken else "response.output_text.delta"
        self.server(event, response_id=response, item_id=item, content_index=0, delta=words)
        return self.sound(ms, response, item) if ms else self

    def sound(self, ms: int, response: str, item: str) -> Self:
        name = f"{self.conn}-agent.pcm"
        ref = AudioRef(name, self._sound.get(name, 0), ms * 48)
        self._sound[name] = ref.start + ref.bytes
        data = {"response_id": response, "item_id": item, "content_index": 0, "delta": ""}
        return self.frame("server", "response.output_audio.delta", data, ref)

    def call(self, call: str, response: str, name: str = "look_up", arguments: str = "{}") -> Self:
        found = {"id": f"item_{call}", "type": "function_call", "name": name, "call_id": call, "arguments": arguments}
        self.added(f"item_{call}", "", **(found | {"status": "in_progress", "arguments": ""}))
        names = {"response_id": response, "item_id": f"item_{call}", "call_id": call, "name": name}
        self.server("response.function_call_arguments.done", **names, arguments=arguments)
        return self.server("response.output_item.done", response_id=response, item=found | {"status": "completed"})

    def output(self, call: str, output: str = "found") -> Self:
        found = {"type": "function_call_output", "call_id": call, "output": output}
        self.client("conversation.item.create", item=found)
        return self.added(f"out_{call}", "", **found)

    def done(self, response: str, status: str = "completed", tokens: int = 0, **details: Any) -> Self:
        usage = {"input_tokens": tokens, "output_tokens": tokens // 2} if tokens else None
        whole: dict[str, Any] = {
            "id": response,
            "status": status,
            "status_details": details or None,
            "output": [],
            "usage": usage,
        }
        return self.server("response.done", response=whole)

    def replied(self, words: str, response: str, item: str, **how: Any) -> Self:
        return self.begin(response).words(words, response, item, **how).done(response)

    def append(self, ms: int) -> Self:
        name = f"{self.conn}-caller.pcm"
        ref = AudioRef(name, self._sound.get(name, 0), ms * 48)
        self._sound[name] = ref.start + ref.bytes
        return self.frame("client", "input_audio_buffer.append", {"audio": ""}, ref)

    def speech(self, item: str, start: int = 0, end: int = 1000) -> Self:
        """The service hears somebody speak, between two moments of the sound in milliseconds, and commits it."""
        self.server("input_audio_buffer.speech_started", item_id=item, audio_start_ms=start)
        self.server("input_audio_buffer.speech_stopped", item_id=item, audio_end_ms=end)
        return self.committed(item)

    def committed(self, item: str) -> Self:
        previous = self._items[-1] if self._items else None
        self.server("input_audio_buffer.committed", item_id=item, previous_item_id=previous)
        return self.added(item, "user", content=[{"type": "input_audio", "transcript": None}])

    def transcript(self, words: str, item: str) -> Self:
        event = "conversation.item.input_audio_transcription.completed"
        return self.server(event, item_id=item, content_index=0, transcript=words)

    def truncate(self, item: str, ms: int) -> Self:
        return self.client("conversation.item.truncate", item_id=item, content_index=0, audio_end_ms=ms)

    def error(self, message: str, event_id: str | None = None, code: str = "", param: str | None = None) -> Self:
        found = {"type": "invalid_request_error", "message": message, "code": code, "param": param}
        return self.server("error", error=found | {"event_id": event_id})

    def close(self, by: str = "client", code: int | None = 1000, reason: str = "") -> Self:
        return self.frame("client" if by == "client" else "server", "close", {"code": code, "reason": reason, "by": by})


def recorded(path: Any) -> list[Frame]:
    """Return a recording of the real service as frames, a tenth of a second apart."""
    import yaml

    found = yaml.safe_load(path.read_text(encoding="utf-8"))["interactions"]
    sides = {"sent": "client", "received": "server"}
    return [
        Frame(number, number / 10, "c1", "realtime", sides[one["direction"]], one["data"]["type"], one["data"])
        for number, one in enumerate(found, 1)
    ]
