"""When is a reply complete? One judge for both SDKs: the tracker looks at the wire and nothing else.

It runs live in the endpoint process, where `Call` waits for its verdicts, and again in the kernel on any log.

A turn of the caller's begins with typed words for which a reply is asked, or with committed sound. It ends when every
response that it caused has ended and no tool call is outstanding: none without its output, and no output without a
follow-up response. Words that the client puts into the conversation without asking for a reply are context. A reply
that nobody's words asked for (the agent speaks first) is a turn as well, with `caller` False. Responses outside the
conversation (`conversation: "none"`) belong to no turn.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .wire.closing import closed_how, hung_up
from .wire.frames import Frame, obj, text
from .wire.turn_state import (
    ALREADY_ACTIVE,
    EMPTY_COMMIT,
    OpenTurn,
    Request,
    Requests,
    Response,
    Unconfirmed,
    Verdict,
    Words,
    ending,
)

__all__ = ["TurnEnd", "TurnTracker", "Verdict"]

UNASKED = "the caller's words are in and no reply has begun"
"""What is outstanding where nobody has asked for the reply to a turn that is whole."""


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """The end of a turn and the verdict on it."""

    conn: str
    """The connection, `c1`, `c2`, …"""
    ordinal: int
    """1, 2, …: the turn's number within its connection, in the order in which turns began."""
    verdict: Verdict
    """`interrupted` is what the user chose (cancelling, speaking over the reply, hanging up); `failed` is not."""
    reason: str
    """Why it is not complete, in plain words; empty if it is."""
    start_seq: int
    """The frame with which the turn began."""
    end_seq: int
    """The frame that ended it."""
    at: float
    """Seconds since the log began, of that frame."""
    start_at: float = 0.0
    """Seconds since the log began, when the turn began."""
    caller: bool = True
    """False if no words of the caller's asked for the reply."""
    items: tuple[str, ...] = ()
    """OpenAI's ids of the caller's items; an item that the service never named is left out."""
    responses: tuple[str, ...] = ()
    """OpenAI's ids of the responses that the turn caused."""
    first_at: float | None = None
    """Seconds since the log began, of the first sound or text of the reply; None if there was none."""


class TurnTracker:
    """Judges the turns of every realtime connection in a log, frame by frame."""

    def __init__(self) -> None:
        self._conns: dict[str, _Conn] = {}

    def feed(self, frame: Frame, data: dict[str, Any] | None = None) -> list[TurnEnd]:
        """Take the next frame, and return the turns that ended with it.

        Args:
            frame: In the order of the log; frames of other channels than `realtime` are passed over.
            data: The frame's data, if the caller has it at hand.
        """
        if frame.channel != "realtime":
            return []
        if (conn := self._conns.get(frame.conn)) is None:
            conn = self._conns[frame.conn] = _Conn(frame.conn)
        if frame.dir == "client":
            conn.requests.last_sent = None
        if (handler := _HANDLERS.get((frame.dir, frame.event))) is None:
            return []
        before = len(conn.ended)
        conn.seq, conn.at = frame.seq, frame.at
        handler(conn, frame.data if data is None else data)
        return conn.ended[before:]

    def ended(self, conn: str) -> list[TurnEnd]:
        """Return the turns of *conn* that have ended, in the order in which they did."""
        return list(self._conns[conn].ended) if conn in self._conns else []

    def open_turn(self, conn: str) -> str | None:
        """Say what is outstanding in *conn*, in words that follow "while"; None if nothing is."""
        return self._conns[conn].outstanding() if conn in self._conns else None

    def began(self, conn: str) -> list[int]:
        """Return the frames with which the turns of *conn* began that have not ended."""
        if (found := self._conns.get(conn)) is None:
            return []
        waiting = [found.waiting] if found.waiting is not None and found.waiting not in found.turns else []
        return [turn.start_seq for turn in (*found.turns, *waiting)]


class _Conn:
    """One connection: what was asked, what is under way, what has ended."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.seq, self.at = 0, 0.0
        self.ended: list[TurnEnd] = []
        self.count = 0
        self.turns: list[OpenTurn] = []
        self.waiting: OpenTurn | None = None
        """Words of the caller's for which no reply has been asked yet."""
        self.speaking: tuple[int, float] | None = None
        """Frame and second in which the caller began to speak; None once the sound is committed."""
        self.requests = Requests()
        self.responses: dict[str, Response] = {}
        self.calls: dict[str, list[OpenTurn]] = {}
        """Every tool call so far; which of them are outstanding, the turns know."""
        self.typed, self.commits = Unconfirmed(), Unconfirmed()
        self.timeouts: set[str] = set()
        self.last_error = ""

    def outstanding(self) -> str | None:
        for turn in self.turns:
            if (words := turn.outstanding()) is not None:
                return words
        if self.waiting is not None and self.waiting.ordinal:
            return UNASKED
        return None

    # The client asks.

    def item_create(self, data: dict[str, Any]) -> None:
        item = obj(data, "item")
        match item.get("type"), item.get("role"):
            case "message", "user":
                self.wait().words.append(self.typed.add(text(data, "event_id"), Words(text(item, "id"))))
            case "message", "assistant":
                # History: the client tells both sides, so the words before it are not waiting for an answer.
                if self.waiting is not None and not self.waiting.ordinal:
                    self.waiting = None
            case "function_call_output", _:
                call = text(item, "call_id") or ""
                for turn in self.calls.get(call, ()):
                    turn.owes = turn.calls.pop(call, None) is not None or turn.owes

    def wait(self) -> OpenTurn:
        if self.waiting is None:
            self.waiting = OpenTurn(self.seq, self.at)
        return self.waiting

    def open(self, turn: OpenTurn) -> OpenTurn:
        if not turn.ordinal:
            self.count += 1
            turn.ordinal = self.count
            self.turns.append(turn)
        return turn

    def response_create(self, data: dict[str, Any]) -> None:
        options = obj(data, "response")
        outside = options.get("conversation") == "none"
        turns = [] if outside else self.asking()
        if not outside and not turns and not self.responses and not self.requests:
            turns = [self.open(OpenTurn(self.seq, self.at, caller=False))]
        self.requests.add(Request(text(data, "event_id"), turns, outside, options))

    def asking(self) -> list[OpenTurn]:
        """Return the turns that the next response answers; from here on they no longer wait to be asked for."""
        turns = [turn for turn in self.turns if turn.owes or turn.refused]
        if self.waiting is not None:
            turns.append(self.open(self.waiting))
            self.waiting = None
        for turn in turns:
            turn.owes, turn.refused = False, ""
        return turns

    def commit(self, data: dict[str, Any]) -> None:
        self.wait().words.append(self.commits.add(text(data, "event_id"), Words(None)))

    def truncate(self, data: dict[str, Any]) -> None:
        item = text(data, "item_id")
        for response in self.responses.values():
            if item in response.items or not response.items:
                response.cut = True

    # The service answers.

    def item_added(self, data: dict[str, Any]) -> None:
        item = obj(data, "item")
        if item.get("role") == "user" and (name := text(item, "id")) is not None:
            self.typed.confirm(name)

    def committed(self, data: dict[str, Any]) -> None:
        self.speaking = None
        name = text(data, "item_id") or ""
        if name in self.timeouts:
            return
        if not self.commits.confirm(name):
            self.wait().words.append(Words(name))
        if self.waiting is not None:
            self.open(self.waiting)

    def speech_started(self, data: dict[str, Any]) -> None:
        self.speaking = self.seq, self.at

    def cleared(self, data: dict[str, Any]) -> None:
        # The client has taken back what was being spoken, so nothing is lost if the connection ends.
        self.speaking = None

    def timed_out(self, data: dict[str, Any]) -> None:
        # The service commits silence and speaks by itself: nobody's words.
        self.timeouts.add(text(data, "item_id") or "")

    def response_created(self, data: dict[str, Any]) -> None:
        response = obj(data, "response")
        self.begin(text(response, "id") or "", response)

    def begin(self, name: str, response: dict[str, Any]) -> Response:
        sound_waits = self.waiting is not None and self.waiting.ordinal > 0
        request = self.requests.answered_by(response, sound_waits)
        turns = self.asking() if request is None else request.turns
        if not turns and not (request and request.outside):
            turns = [self.open(OpenTurn(self.seq, self.at, caller=False))]
        self.end_unseen(turns)
        for turn in turns:
            turn.active += 1
            turn.responses.append(name)
        found = self.responses[name] = Response(turns)
        return found

    def end_unseen(self, turns: list[OpenTurn]) -> None:
        """Count as ended what is under way for these turns alone: they go on, so its end was lost on the way.

        The service makes one reply at a time; it refuses another with `conversation_already_has_active_response`.
        """
        for name, response in list(self.responses.items()):
            if response.turns and all(turn in turns for turn in response.turns):
                del self.responses[name]
                for turn in response.turns:
                    turn.active -= 1

    def response_of(self, data: dict[str, Any]) -> Response | None:
        return self.responses.get(text(data, "response_id") or "")

    def output_item_added(self, data: dict[str, Any]) -> None:
        response, name = self.response_of(data), text(obj(data, "item"), "id")
        if response is not None and name is not None:
            response.items.add(name)

    def output_item_done(self, data: dict[str, Any]) -> None:
        self.called(self.response_of(data), obj(data, "item"))

    def arguments_done(self, data: dict[str, Any]) -> None:
        self.called(self.response_of(data), data | {"type": "function_call"})

    def called(self, response: Response | None, item: dict[str, Any]) -> None:
        call = text(item, "call_id")
        if response is None or item.get("type") != "function_call" or call is None or call in self.calls:
            return
        if item.get("status", "completed") == "completed":
            self.calls[call] = response.turns
            response.calls.append(call)
            for turn in response.turns:
                turn.calls[call] = text(item, "name") or "that was called"

    def output(self, data: dict[str, Any]) -> None:
        if (response := self.response_of(data)) is not None:
            for turn in response.turns:
                turn.first_at = self.at if turn.first_at is None else turn.first_at

    def response_done(self, data: dict[str, Any]) -> None:
        done = obj(data, "response")
        name = text(done, "id") or ""
        if name not in self.responses and len(self.responses) == 1:  # a damaged end ends what is under way
            name = next(iter(self.responses))
        response = self.responses.get(name) or self.begin(name, done)
        del self.responses[name]
        verdict, reason = ending(done, response.cut)
        items = done.get("output")
        for item in items if isinstance(items, list) and verdict == "complete" else ():
            self.called(response, item if isinstance(item, dict) else {})
        for turn in response.turns:
            turn.active -= 1
            turn.last = verdict, reason
            if verdict != "complete":
                # Nothing is asked for any more where the caller cut in; output that still comes begins a turn.
                turn.owes = False
                for call in response.calls if verdict == "interrupted" else list(turn.calls):
                    turn.calls.pop(call, None)
            self.settle(turn)

    def settle(self, turn: OpenTurn) -> None:
        if turn in self.turns and turn.outstanding() is None:  # what comes after the close ends nothing again
            self.end(turn, *(("failed", turn.spoiled) if turn.spoiled else turn.last))

    def end(self, turn: OpenTurn, verdict: Verdict, reason: str) -> None:
        self.turns.remove(turn)
        end = TurnEnd(
            conn=self.name,
            ordinal=turn.ordinal,
            verdict=verdict,
            reason=reason,
            start_seq=turn.start_seq,
            end_seq=self.seq,
            at=self.at,
            start_at=turn.start_at,
            caller=turn.caller,
            items=tuple(words.id for words in turn.words if words.id is not None),
            responses=tuple(turn.responses),
            first_at=turn.first_at,
        )
        self.ended.append(end)

    # Something goes wrong.

    def error(self, data: dict[str, Any]) -> None:
        error = obj(data, "error")
        self.last_error = message = text(error, "message") or text(error, "code") or "no reason given"
        event_id, code, about = text(error, "event_id"), text(error, "code"), text(error, "param") or ""
        if (sound := self.commits.refused_by(event_id, code == EMPTY_COMMIT)) is not None:
            self.uncommit(sound)
        elif (request := self.requests.refused_by(event_id, code, about)) is not None:
            self.refuse(request, message, again=code == ALREADY_ACTIVE)
        elif (words := self.typed.refused_by(event_id, about.startswith("item"))) is not None:
            for turn in self.turns_with(words):
                turn.spoiled = f"the service refused the caller's words: {message}"

    def refuse(self, request: Request, message: str, *, again: bool) -> None:
        for turn in request.turns:
            if again:
                turn.refused = message
            else:
                turn.last = "failed", f"the service refused to reply: {message}"
                self.settle(turn)

    def uncommit(self, sound: Words) -> None:
        for turn in self.turns_with(sound):
            turn.words.remove(sound)
            turn.caller = bool(turn.words)
        if self.waiting is not None and not self.waiting.words and not self.waiting.ordinal:
            self.waiting = None

    def turns_with(self, words: Words) -> list[OpenTurn]:
        candidates = self.turns if self.waiting in self.turns or self.waiting is None else [*self.turns, self.waiting]
        return [turn for turn in candidates if words in turn.words]

    def close(self, data: dict[str, Any]) -> None:
        chosen = hung_up(data)
        if self.waiting is not None and (self.waiting.ordinal or self.waiting.spoiled or not chosen):
            self.open(self.waiting)
        elif self.speaking is not None and not chosen:
            self.open(OpenTurn(*self.speaking))
        said = f"; before that the service said: {self.last_error}" if self.last_error else ""
        for turn in list(self.turns):
            if turn.spoiled or turn.refused:
                self.end(turn, "failed", turn.spoiled or f"the service refused to reply: {turn.refused}")
            elif chosen:
                self.end(turn, "interrupted", "the client hung up before the reply was complete")
            else:
                self.end(turn, "failed", f"{closed_how(data)} before the reply was complete{said}")
        self.waiting = self.speaking = None


_HANDLERS: dict[tuple[str, str], Callable[[_Conn, dict[str, Any]], None]] = {
    ("client", "conversation.item.create"): _Conn.item_create,
    ("client", "conversation.item.truncate"): _Conn.truncate,
    ("client", "response.create"): _Conn.response_create,
    ("client", "input_audio_buffer.commit"): _Conn.commit,
    ("server", "conversation.item.added"): _Conn.item_added,
    ("server", "input_audio_buffer.committed"): _Conn.committed,
    ("server", "input_audio_buffer.speech_started"): _Conn.speech_started,
    ("server", "input_audio_buffer.cleared"): _Conn.cleared,
    ("server", "input_audio_buffer.timeout_triggered"): _Conn.timed_out,
    ("server", "response.created"): _Conn.response_created,
    ("server", "response.output_item.added"): _Conn.output_item_added,
    ("server", "response.output_item.done"): _Conn.output_item_done,
    ("server", "response.function_call_arguments.done"): _Conn.arguments_done,
    ("server", "response.output_audio.delta"): _Conn.output,
    ("server", "response.output_audio_transcript.delta"): _Conn.output,
    ("server", "response.output_text.delta"): _Conn.output,
    ("server", "response.done"): _Conn.response_done,
    ("server", "error"): _Conn.error,
    ("client", "close"): _Conn.close,
    ("server", "close"): _Conn.close,
}
