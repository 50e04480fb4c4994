"""What was said in one realtime connection, in the order of the conversation: frames become items, items turns.

The order is the conversation's own (`previous_item_id`), whatever the order of arrival: words that come late stand
where they were spoken. `marks.py` feeds it every frame; nothing here reads a file or waits.
"""

from collections.abc import Callable
from typing import Any

from ..audio import duration_ms
from .agents import Voice, Voices
from .caller_speech import CallerSpeech
from .closing import closed_how, hung_up
from .dialogue import Item, News, Reply, Speaker, ToolUse, Turn, Usage
from .frames import Frame, obj, text
from .items import Items, objects
from .measures import part_number, sound_bytes, tokens
from .turn_state import EMPTY_COMMIT, Request, Requests

__all__ = ["Conversation", "News", "Speaker", "ToolUse", "Turn", "Usage"]


class Conversation:
    """The items of one connection, and the turns that they make."""

    def __init__(self, conn: str, label: str | None = None) -> None:
        self.conn, self.label = conn, label
        self.items = Items()
        self.replies: dict[str, Reply | None] = {}
        """By id; None for a response outside the conversation."""
        self.news: list[News] = []
        """What happened with the last frame that is worth a mark; whoever feeds the frames empties it."""
        self.instructions = ""
        """The instructions in force."""
        self.told = ""
        """The instructions that the client sent last; in force once the service confirms them."""
        self.seq, self.at = 0, 0.0
        self._speech = CallerSpeech(self.items, self.news)
        self._voices = Voices()
        self._unasked: list[Item] = []
        """What the client has told since the last request for a reply: history, if it tells the agent's part too."""
        self._active: dict[str, Reply] = {}
        self._requests = Requests()
        self._confirms = False

    def feed(self, frame: Frame, data: dict[str, Any]) -> None:
        """Take the next frame of this connection."""
        if frame.dir == "client":
            self._requests.last_sent = None
        if (handler := _HANDLERS.get((frame.dir, frame.event))) is not None:
            self.seq, self.at = frame.seq, frame.at
            handler(self, data, frame)
        elif self._speech.feed(frame, data):
            self.seq, self.at = frame.seq, frame.at

    @property
    def detection(self) -> dict[str, Any] | None:
        """The settings of turn detection in force; None where the client takes the turns itself."""
        return self._speech.detection

    @property
    def speaking(self) -> Item | None:
        """The turn that the caller is speaking now, as the service's turn detection says."""
        return self._speech.speaking

    @property
    def sound_bytes(self) -> int:
        """Bytes of sound that the client has sent."""
        return self._speech.sent

    def no_words(self, name: str) -> None:
        """Give up waiting for the words of the item called *name*."""
        self._speech.no_words(name)

    @property
    def turns(self) -> list[Turn]:
        """The turns, in the order of the conversation."""
        return self.items.turns(self.conn, self.label)

    # Agents.

    def begins_with(self, agent: str) -> None:
        """Take the name of the agent that the call begins with, which is not on the wire."""
        self.items.renamed(self._voices.call_first(agent))

    def taken_over(self, agent: str) -> tuple[Voice | None, Voice]:
        """Note that *agent*, empty if nobody tells, has the call from here on; return who had it, and who has it."""
        before, now, renamed = self._voices.take_over(agent, self.told)
        self.items.renamed(now if renamed else None)
        return before, now

    # The client.

    def _create(self, data: dict[str, Any], frame: Frame) -> None:
        found = obj(data, "item")
        if found.get("type") == "function_call_output":
            self._output(found)
        item = self._add(found, by_client=True)
        item.start = item.end = self.at
        if item.spoken and not item.text():
            self._speech.silent(item, "it was given as sound, without words")
        self.items.place(item, text(data, "previous_item_id"))
        self._unasked.append(item)
        if item.speaker == "agent" and item.kind != "other":
            self._is_history()

    def _add(self, found: dict[str, Any], *, by_client: bool = False) -> Item:
        return self.items.add(found, self.seq, self.at, by_client=by_client)

    def _is_history(self) -> None:
        for item in self._unasked:
            item.seeded = True
        self.items.changed(*self._unasked)
        self._unasked.clear()

    def _output(self, found: dict[str, Any]) -> None:
        if (call := self.items.call(text(found, "call_id"))) is not None:
            said = found.get("output")
            call.output, call.end = said if isinstance(said, str) else "", self.at
            self.items.changed(call)

    def _ask(self, data: dict[str, Any], frame: Frame) -> None:
        options = obj(data, "response")
        outside = options.get("conversation") == "none"
        if not outside:
            self._unasked.clear()
        self._requests.add(Request(text(data, "event_id"), [], outside, options))

    def _update(self, data: dict[str, Any], frame: Frame) -> None:
        if (said := text(obj(data, "session"), "instructions")) is not None:
            self.told = said
            if not self._confirms:  # and perhaps the service never does
                self.instructions = said

    def _truncate(self, data: dict[str, Any], frame: Frame) -> None:
        item, heard_ms = self.items.named(text(data, "item_id")), data.get("audio_end_ms")
        if item is None or not isinstance(heard_ms, int | float):
            return
        item.heard_ms = max(0, min(int(heard_ms), item.audio_ms))
        if item.heard_ms < item.audio_ms or item.reply in self._active.values():
            self._cut(item, "")

    # The service.

    def _session(self, data: dict[str, Any], frame: Frame) -> None:
        session = obj(data, "session")
        self._confirms = self._confirms or frame.event == "session.updated"
        if (said := text(session, "instructions")) is not None:
            self.instructions = said
        self._speech.set_up(obj(obj(session, "audio"), "input"))

    def _added(self, data: dict[str, Any], frame: Frame) -> None:
        found = obj(data, "item")
        item = self.items.claim(found)
        if item is None:
            item = self._add(found)
        else:
            self.items.fill(item, found)
        if item.speaker == "caller" and item.text():
            item.pending = False
        if frame.event == "conversation.item.added":
            # The place that `done` names is not to be trusted: the service has been seen to leave it out.
            self.items.place(item, text(data, "previous_item_id"))

    # Replies.

    def _begun(self, data: dict[str, Any], frame: Frame) -> None:
        self._begin(obj(data, "response"))

    def _begin(self, response: dict[str, Any]) -> Reply | None:
        name = text(response, "id") or ""
        waits = any(item.spoken and item.speaker == "caller" for item in self.items.all[-1:])
        request = self._requests.answered_by(response, waits)
        reply = None
        if request is None or not request.outside:
            said = text(request.options, "instructions") if request else None
            spoken = response.get("output_modalities") != ["text"]
            voice = self._voices.speaks(self.instructions)
            reply = self._active[name] = Reply(name, self.instructions if said is None else said, spoken, voice)
            reply.behind = self.items.all[-1] if self.items.all else None
            self._unasked.clear()
        self.replies[name] = reply
        return reply

    def _answer(self, data: dict[str, Any], found: dict[str, Any] | None = None) -> Item | None:
        """Return the item that an event of a response is about; None if it is outside the conversation.

        Where the service has not added it, it is made: of *found*, else as words of the agent's.
        """
        response = text(data, "response_id") or ""
        reply = self.replies[response] if response in self.replies else self._begin({"id": response})
        if reply is None:
            return None
        name = text(data, "item_id") or ""
        item = self.items.named(name) or self._add(
            {"role": "assistant", "type": "message", **(found or {}), "id": name}
        )
        self._belongs(item, reply)
        self.items.changed(item)
        return item

    def _belongs(self, item: Item, reply: Reply) -> None:
        if item.reply is None:
            item.reply = reply
            item.spoken = item.spoken or (reply.spoken and item.kind == "message")
            item.pending = item.kind == "message" and reply.id in self._active
            reply.items.append(item)

    def _item_of_reply(self, data: dict[str, Any], frame: Frame) -> None:
        found = obj(data, "item")
        if (item := self._answer(data | {"item_id": text(found, "id")}, found)) is not None:
            self.items.fill(item, found)

    def _arguments(self, data: dict[str, Any], frame: Frame) -> None:
        if (item := self._answer(data, {"type": "function_call"})) is not None:
            item.at = self.at
            self.items.fill(item, data)

    def _part_text(self, data: dict[str, Any], frame: Frame) -> None:
        if (item := self._answer(data)) is not None:
            item.spoken = "transcript" in frame.event
            item.pieces.setdefault(part_number(data), []).append(text(data, "delta") or "")
            self._sounds(item)

    def _part_done(self, data: dict[str, Any], frame: Frame) -> None:
        if (item := self._answer(data)) is not None:
            item.whole[part_number(data)] = text(data, "transcript") or text(data, "text") or ""

    def _part_sound(self, data: dict[str, Any], frame: Frame) -> None:
        if (item := self._answer(data)) is not None:
            item.spoken = True
            item.audio_bytes += sound_bytes(data, frame)
            item.audio_ms = duration_ms(item.audio_bytes)
            self._sounds(item)

    def _sounds(self, item: Item) -> None:
        item.start = self.at if item.start is None else item.start
        item.end = self.at

    def _done(self, data: dict[str, Any], frame: Frame) -> None:
        response = obj(data, "response")
        name = text(response, "id") or ""
        if name not in self.replies and len(self._active) == 1:  # a damaged end ends what is under way
            name = next(iter(self._active))
        reply = self.replies[name] if name in self.replies else self._begin(response)
        self._active.pop(name, None)
        if reply is None:
            return
        for found in objects(response.get("output")):
            self._item_of_reply({"item": found, "response_id": name}, frame)
        reply.usage = tokens(obj(response, "usage"))
        if response.get("status") == "cancelled":
            spoke_over = text(obj(response, "status_details"), "reason") == "turn_detected"
            self._stop(reply, "the caller spoke over it" if spoke_over else "the client cancelled it")
        self._ended(reply)

    def _ended(self, reply: Reply) -> None:
        for item in reply.items:
            item.pending = False
        self.items.changed(*reply.items)

    def _stop(self, reply: Reply, reason: str) -> None:
        """Mark a reply as cut off; one that had not begun to be said stands as unheard."""
        messages = [item for item in reply.items if item.kind == "message"]
        if not messages and not reply.items:
            messages = [self._add({"type": "message", "role": "assistant"})]
            self._belongs(messages[0], reply)
            if reply.behind is not None:
                self.items.move(messages[0], reply.behind)
        for item in messages[-1:]:
            self._cut(item, reason)

    def _cut(self, item: Item, reason: str) -> None:
        item.interrupted = True
        if item.heard_ms is None and item.spoken and not item.audio_ms:
            item.heard_ms = 0
        self.news.append(("interrupted", item, reason))
        self.items.changed(item)

    # The end, and trouble.

    def _error(self, data: dict[str, Any], frame: Frame) -> None:
        error = obj(data, "error")
        if text(error, "code") == EMPTY_COMMIT:
            self._speech.refuse_commit()
        self._requests.refused_by(text(error, "event_id"), text(error, "code"), text(error, "param") or "")

    def _close(self, data: dict[str, Any], frame: Frame) -> None:
        for reply in self._active.values():
            if reply.items:
                self._stop(reply, "the client hung up" if hung_up(data) else closed_how(data))
            self._ended(reply)
        self._active.clear()
        self._speech.end()
        if not self.replies:
            self._is_history()


_Handler = Callable[[Conversation, dict[str, Any], Frame], None]
_HANDLERS: dict[tuple[str, str], _Handler] = {
    ("client", "conversation.item.create"): Conversation._create,
    ("client", "conversation.item.truncate"): Conversation._truncate,
    ("client", "response.create"): Conversation._ask,
    ("client", "session.update"): Conversation._update,
    ("server", "session.created"): Conversation._session,
    ("server", "session.updated"): Conversation._session,
    ("server", "conversation.item.added"): Conversation._added,
    ("server", "conversation.item.done"): Conversation._added,
    ("server", "response.created"): Conversation._begun,
    ("server", "response.output_item.added"): Conversation._item_of_reply,
    ("server", "response.output_item.done"): Conversation._item_of_reply,
    ("server", "response.function_call_arguments.done"): Conversation._arguments,
    ("server", "response.output_audio_transcript.delta"): Conversation._part_text,
    ("server", "response.output_audio_transcript.done"): Conversation._part_done,
    ("server", "response.output_text.delta"): Conversation._part_text,
    ("server", "response.output_text.done"): Conversation._part_done,
    ("server", "response.output_audio.delta"): Conversation._part_sound,
    ("server", "response.done"): Conversation._done,
    ("server", "error"): Conversation._error,
    ("client", "close"): Conversation._close,
    ("server", "close"): Conversation._close,
}
