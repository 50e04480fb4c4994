"""When is a reply complete? One judge for both SDKs: the tracker looks at the wire and nothing else.

It runs live in the endpoint process, where `Call` waits for its verdicts, and again in the kernel on any log.

A turn of the caller's begins with typed words for which a reply is asked, or with committed sound. It ends when every
response that it caused has ended and no tool call is outstanding: none without its output, and no output without a
follow-up response. Words that the client puts into the conversation without asking for a reply are context. A reply
that nobody's words asked for (the agent speaks first) is a turn as well, with `caller` False. Responses outside the
conversation (`conversation: "none"`) belong to no turn.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from .frames import Frame

Verdict = Literal["complete", "interrupted", "failed"]

_ALREADY_ACTIVE = "conversation_already_has_active_response"
_NORMAL_CLOSE = (None, 1000, 1001, 1005)
"""Codes with which a client hangs up; with any other it reports trouble (RFC 6455, section 7.4.1)."""


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
    caller: bool = True
    """False if no words of the caller's asked for the reply."""
    items: tuple[str, ...] = ()
    """OpenAI's ids of the caller's items; an item that the service never named is left out."""
    responses: tuple[str, ...] = ()
    """OpenAI's ids of the responses that the turn caused."""
    first_at: float | None = None
    """Seconds since the log began, of the first sound or text of the reply; None if there was none."""


@dataclass(slots=True, eq=False)
class _Item:
    """Words of the caller's; the service may name them only later."""

    id: str | None
    role: str = "user"


@dataclass(slots=True, eq=False)
class _Turn:
    start_seq: int
    caller: bool = True
    ordinal: int = 0
    items: list[_Item] = field(default_factory=list)
    responses: list[str] = field(default_factory=list)
    requests: int = 0
    active: int = 0
    calls: dict[str, str] = field(default_factory=dict)
    owes: bool = False
    """Tool output was sent and no reply asked for yet."""
    refused: str = ""
    """The service refused to reply as it was already replying; the client may ask again."""
    spoiled: str = ""
    """The service refused the caller's words, so whatever it says is no answer to them."""
    last: tuple[Verdict, str] = ("complete", "")
    first_at: float | None = None

    def outstanding(self) -> str | None:
        """Say what the turn waits for, in words that follow "while"."""
        if self.active:
            return "a reply is under way"
        if self.requests:
            return "a reply was asked for and has not begun"
        if self.calls:
            return f"the tool {next(iter(self.calls.values()))} has not returned anything"
        if self.owes:
            return "the output of a tool was sent and no reply to it has been asked for"
        if self.refused:
            return f"the service refused to reply ({self.refused})"
        return None


@dataclass(slots=True, eq=False)
class _Request:
    """A `response.create` that the service has neither begun to answer nor refused."""

    event_id: str | None
    turns: list[_Turn]
    outside: bool
    metadata: Any


@dataclass(slots=True, eq=False)
class _Response:
    turns: list[_Turn]
    calls: list[str] = field(default_factory=list)
    items: set[str] = field(default_factory=set)
    cut: bool = False
    """The client cut off what was said of it so far."""


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
            conn.last_sent = None
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


class _Conn:
    """One connection: what was asked, what is under way, what has ended."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.seq, self.at = 0, 0.0
        self.ended: list[TurnEnd] = []
        self.count = 0
        self.turns: list[_Turn] = []
        self.waiting: _Turn | None = None
        """Words of the caller's for which no reply has been asked yet."""
        self.speaking: int | None = None
        self.requests: list[_Request] = []
        self.responses: dict[str, _Response] = {}
        self.calls: dict[str, list[_Turn]] = {}
        """Every tool call so far; which of them are outstanding, the turns know."""
        self.unnamed: deque[tuple[str | None, _Item]] = deque()
        self.commits: deque[tuple[str | None, _Item]] = deque()
        self.timeouts: set[str] = set()
        self.last_sent: _Request | None = None
        self.last_error = ""

    def outstanding(self) -> str | None:
        for turn in self.turns:
            if (words := turn.outstanding()) is not None:
                return words
        if self.waiting is not None and self.waiting.ordinal:
            return "the caller's words are in and no reply has begun"
        return None

    # The client asks.

    def item_create(self, data: dict[str, Any]) -> None:
        item = _object(data, "item")
        match item.get("type"), item.get("role"):
            case "message", "user":
                words = _Item(_text(item, "id"))
                self.wait().items.append(words)
                self.unnamed.append((_text(data, "event_id"), words))
            case "message", "assistant":
                # History: the client tells both sides, so the words before it are not waiting for an answer.
                if self.waiting is not None and not self.waiting.ordinal:
                    self.waiting = None
            case "function_call_output", _:
                call = _text(item, "call_id") or ""
                for turn in self.calls.get(call, ()):
                    turn.owes = turn.calls.pop(call, None) is not None or turn.owes

    def wait(self) -> _Turn:
        if self.waiting is None:
            self.waiting = _Turn(self.seq)
        return self.waiting

    def open(self, turn: _Turn) -> _Turn:
        if not turn.ordinal:
            self.count += 1
            turn.ordinal = self.count
            self.turns.append(turn)
        return turn

    def response_create(self, data: dict[str, Any]) -> None:
        options = _object(data, "response")
        outside = options.get("conversation") == "none"
        turns = [] if outside else self.asking()
        if not outside and not turns and not self.responses and not self.requests:
            turns = [self.open(_Turn(self.seq, caller=False))]
        for turn in turns:
            turn.requests += 1
        self.last_sent = _Request(_text(data, "event_id"), turns, outside, options.get("metadata"))
        self.requests.append(self.last_sent)

    def asking(self) -> list[_Turn]:
        """Return the turns that the next response answers; from here on they no longer wait to be asked for."""
        turns = [turn for turn in self.turns if turn.owes or turn.refused]
        if self.waiting is not None:
            turns.append(self.open(self.waiting))
            self.waiting = None
        for turn in turns:
            turn.owes, turn.refused = False, ""
        return turns

    def commit(self, data: dict[str, Any]) -> None:
        sound = _Item(None)
        self.wait().items.append(sound)
        self.commits.append((_text(data, "event_id"), sound))

    def truncate(self, data: dict[str, Any]) -> None:
        item = _text(data, "item_id")
        for response in self.responses.values():
            if item in response.items or not response.items:
                response.cut = True

    # The service answers.

    def item_added(self, data: dict[str, Any]) -> None:
        item = _object(data, "item")
        if item.get("role") != "user" or (name := _text(item, "id")) is None:
            return
        for entry in self.unnamed:
            if entry[1].id in (None, name):
                entry[1].id = name
                self.unnamed.remove(entry)
                return

    def committed(self, data: dict[str, Any]) -> None:
        self.speaking = None
        name = _text(data, "item_id")
        if name in self.timeouts:
            return
        if self.commits:
            self.commits.popleft()[1].id = name
        else:
            self.wait().items.append(_Item(name))
        if self.waiting is not None:
            self.open(self.waiting)

    def speech_started(self, data: dict[str, Any]) -> None:
        self.speaking = self.seq

    def timed_out(self, data: dict[str, Any]) -> None:
        # The service commits silence and speaks by itself: nobody's words.
        self.timeouts.add(_text(data, "item_id") or "")

    def response_created(self, data: dict[str, Any]) -> None:
        response = _object(data, "response")
        self.begin(_text(response, "id") or "", response)

    def begin(self, name: str, response: dict[str, Any]) -> _Response:
        request = self.request_of(response)
        if request is None:
            turns = self.asking()
        else:
            self.requests.remove(request)
            turns = request.turns
            for turn in turns:
                turn.requests -= 1
        if not turns and not (request and request.outside):
            turns = [self.open(_Turn(self.seq, caller=False))]
        for turn in turns:
            turn.active += 1
            turn.responses.append(name)
        found = self.responses[name] = _Response(turns)
        return found

    def request_of(self, response: dict[str, Any]) -> _Request | None:
        """Return the request that *response* answers; None if the service replies by itself (voice detection)."""
        outside = "conversation_id" in response and response["conversation_id"] is None
        fitting = [request for request in self.requests if request.outside == outside]
        if outside and not fitting:  # a service that names no conversation at all
            fitting = list(self.requests)
        metadata = response.get("metadata")
        for request in fitting:
            if metadata and request.metadata == metadata:
                return request
        if self.waiting is not None and self.waiting.ordinal and not metadata:
            # Sound waits for an answer, and the service returns a request's metadata: this one it made by itself.
            fitting = [request for request in fitting if not request.metadata]
        return fitting[0] if fitting else None

    def item_of_response(self, data: dict[str, Any]) -> None:
        response = self.responses.get(_text(data, "response_id") or "")
        item = _object(data, "item")
        if response is not None and (name := _text(item, "id")) is not None:
            response.items.add(name)

    def item_of_response_done(self, data: dict[str, Any]) -> None:
        self.called(self.responses.get(_text(data, "response_id") or ""), _object(data, "item"))

    def arguments_done(self, data: dict[str, Any]) -> None:
        self.called(self.responses.get(_text(data, "response_id") or ""), data | {"type": "function_call"})

    def called(self, response: _Response | None, item: dict[str, Any]) -> None:
        call = _text(item, "call_id")
        if response is None or not response.turns or item.get("type") != "function_call" or call is None:
            return
        if call not in self.calls and item.get("status", "completed") == "completed":
            self.calls[call] = response.turns
            response.calls.append(call)
            for turn in response.turns:
                turn.calls[call] = _text(item, "name") or "that was called"

    def output(self, data: dict[str, Any]) -> None:
        response = self.responses.get(_text(data, "response_id") or "")
        for turn in response.turns if response is not None else ():
            if turn.first_at is None:
                turn.first_at = self.at

    def response_done(self, data: dict[str, Any]) -> None:
        done = _object(data, "response")
        name = _text(done, "id") or ""
        response = self.responses.get(name) or self.begin(name, done)
        del self.responses[name]
        verdict, reason = _verdict(done, response.cut)
        items = done.get("output")
        for item in items if isinstance(items, list) and verdict == "complete" else ():
            if isinstance(item, dict):
                self.called(response, item)
        for turn in response.turns:
            turn.active -= 1
            turn.last = verdict, reason
            if verdict != "complete":
                turn.owes = False
                for call in response.calls if verdict == "interrupted" else list(turn.calls):
                    turn.calls.pop(call, None)
            self.settle(turn)

    def settle(self, turn: _Turn) -> None:
        if turn.outstanding() is None:
            self.end(turn, *(("failed", turn.spoiled) if turn.spoiled else turn.last))

    def end(self, turn: _Turn, verdict: Verdict, reason: str) -> None:
        self.turns.remove(turn)
        items = tuple(item.id for item in turn.items if item.id is not None)
        self.ended.append(
            TurnEnd(
                conn=self.name,
                ordinal=turn.ordinal,
                verdict=verdict,
                reason=reason,
                start_seq=turn.start_seq,
                end_seq=self.seq,
                at=self.at,
                caller=turn.caller,
                items=items,
                responses=tuple(turn.responses),
                first_at=turn.first_at,
            )
        )

    # Something goes wrong.

    def error(self, data: dict[str, Any]) -> None:
        error = _object(data, "error")
        message = _text(error, "message") or _text(error, "code") or "no reason given"
        event_id, code, about = _text(error, "event_id"), _text(error, "code"), _text(error, "param") or ""
        self.last_error = message
        if (request := self.refused_request(event_id, code, about)) is not None:
            self.refuse(request, message, again=code == _ALREADY_ACTIVE)
        elif (words := _refused(self.unnamed, event_id, about.startswith("item"))) is not None:
            for turn in (*self.turns, *((self.waiting,) if self.waiting else ())):
                if words in turn.items:
                    turn.spoiled = f"the service refused the caller's words: {message}"
        elif (sound := _refused(self.commits, event_id, code == "input_audio_buffer_commit_empty")) is not None:
            self.uncommit(sound)

    def refused_request(self, event_id: str | None, code: str | None, about: str) -> _Request | None:
        if event_id is not None:
            return next((request for request in self.requests if request.event_id == event_id), None)
        nameless = [request for request in self.requests if request.event_id is None]
        # Without an id, an error is about the request if it says so, or if it names nothing and nothing was sent since.
        said = code == _ALREADY_ACTIVE or about.startswith("response")
        if nameless and (said or (not about and self.last_sent is nameless[-1])):
            return nameless[-1]
        return None

    def refuse(self, request: _Request, message: str, *, again: bool) -> None:
        self.requests.remove(request)
        for turn in request.turns:
            turn.requests -= 1
            if again:
                turn.refused = message
            else:
                turn.last = "failed", f"the service refused to reply: {message}"
                self.settle(turn)

    def uncommit(self, sound: _Item) -> None:
        for turn in (*self.turns, *((self.waiting,) if self.waiting else ())):
            if sound in turn.items:
                turn.items.remove(sound)
                turn.caller = bool(turn.items)
        if self.waiting is not None and not self.waiting.items and not self.waiting.ordinal:
            self.waiting = None

    def close(self, data: dict[str, Any]) -> None:
        code, by = data.get("code"), data.get("by")
        chosen = by == "client" and code in _NORMAL_CLOSE
        how = _how(data)
        if self.waiting is not None and (self.waiting.ordinal or self.waiting.spoiled or not chosen):
            self.open(self.waiting)
        elif self.speaking is not None and not chosen:
            self.open(_Turn(self.speaking))
        for turn in list(self.turns):
            if turn.spoiled or turn.refused:
                self.end(turn, "failed", turn.spoiled or f"the service refused to reply: {turn.refused}")
            elif chosen:
                self.end(turn, "interrupted", "the client hung up before the reply was complete")
            else:
                said = f"; before that the service said: {self.last_error}" if self.last_error else ""
                self.end(turn, "failed", f"{how} before the reply was complete{said}")
        self.waiting = self.speaking = None


_Handler = Callable[[_Conn, dict[str, Any]], None]
_HANDLERS: dict[tuple[str, str], _Handler] = {
    ("client", "conversation.item.create"): _Conn.item_create,
    ("client", "conversation.item.truncate"): _Conn.truncate,
    ("client", "response.create"): _Conn.response_create,
    ("client", "input_audio_buffer.commit"): _Conn.commit,
    ("server", "conversation.item.added"): _Conn.item_added,
    ("server", "input_audio_buffer.committed"): _Conn.committed,
    ("server", "input_audio_buffer.speech_started"): _Conn.speech_started,
    ("server", "input_audio_buffer.timeout_triggered"): _Conn.timed_out,
    ("server", "response.created"): _Conn.response_created,
    ("server", "response.output_item.added"): _Conn.item_of_response,
    ("server", "response.output_item.done"): _Conn.item_of_response_done,
    ("server", "response.function_call_arguments.done"): _Conn.arguments_done,
    ("server", "response.output_audio.delta"): _Conn.output,
    ("server", "response.output_audio_transcript.delta"): _Conn.output,
    ("server", "response.output_text.delta"): _Conn.output,
    ("server", "response.done"): _Conn.response_done,
    ("server", "error"): _Conn.error,
    ("client", "close"): _Conn.close,
    ("server", "close"): _Conn.close,
}


def _verdict(response: dict[str, Any], cut: bool) -> tuple[Verdict, str]:
    """Read the end of a response: its status and, where the service gives them, reason and message."""
    details = _object(response, "status_details")
    reason = _text(details, "reason") or ""
    match response.get("status"):
        case "cancelled" if reason == "turn_detected":
            return "interrupted", "the caller spoke over the reply"
        case "cancelled":
            return "interrupted", "the client cancelled the reply"
        case "failed":
            error = _object(details, "error")
            said = _text(error, "message") or _text(error, "code") or _text(error, "type") or "no reason given"
            return "failed", f"the response failed: {said}"
        case "incomplete":
            return "failed", f"the response ended incomplete ({reason or 'no reason given'})"
    return ("interrupted", "the client cut the reply off") if cut else ("complete", "")


def _how(close: dict[str, Any]) -> str:
    """Say who closed a connection and how."""
    code, reason = close.get("code"), close.get("reason")
    detail = ", ".join(str(part) for part in (f"code {code}" if code is not None else "", reason) if part)
    words = {"client": "the client closed the connection", "server": "the service closed the connection"}
    return words.get(str(close.get("by")), "the connection dropped") + (f" ({detail})" if detail else "")


def _refused(sent: deque[tuple[str | None, _Item]], event_id: str | None, about: bool) -> _Item | None:
    """Take out of *sent* what an error is about: by its event id or, where it has none, by what it says."""
    for entry in reversed(sent):
        if entry[0] == event_id and (event_id is not None or about):
            sent.remove(entry)
            return entry[1]
    return None


def _object(data: dict[str, Any], name: str) -> dict[str, Any]:
    found = data.get(name)
    return found if isinstance(found, dict) else {}


def _text(data: dict[str, Any], name: str) -> str | None:
    found = data.get(name)
    return found if isinstance(found, str) else None
