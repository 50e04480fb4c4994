"""The Responses API over WebSocket: a frame in, a request or an error out, and what one connection remembers.

A connection has lanes, named by `stream_id`; one without a name is the default. Requests of a lane are answered one
after the other, lanes side by side. The newest response of each lane can be gone on from, even one that is not stored
(`store: false`), until the connection ends. Rules, limits, codes and words: OpenAI's guide to WebSocket mode and its
reference of WebSocket events, 2026 (developers.openai.com/api/docs/guides/websocket-mode). What the guide does not
word (a frame that is no JSON, an event of another type) is said as over HTTP.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .api_error import ApiError
from .fields import boolean, missing, text, wrong_value
from .items import Record
from .store import Kept

AT_ONCE = 16
"""Responses of one connection that are made side by side; more wait."""
_NAMED = 32  # lanes with a name, in all the life of a connection
_NAME = re.compile(r"[A-Za-z0-9_.-]{1,256}")
_ENVELOPE = ("type", "stream_id", "generate", "stream")  # what the body of a request over HTTP does not have


@dataclass(frozen=True, slots=True)
class Request:
    """A `response.create`."""

    lane: str | None
    """Its `stream_id`; None for the default lane."""
    body: Record
    """What would be the JSON body of `POST /v1/responses`."""
    generate: bool
    """False for one that only prepares a later request."""


class Lanes:
    """What one connection remembers: its lanes, and the newest response of each."""

    def __init__(self) -> None:
        self._named: set[str] = set()
        self._newest: dict[str | None, Kept] = {}

    def read(self, frame: str | bytes) -> Request | Record:
        """Read one frame of the client's; what is wrong with it comes back as an `error` event."""
        lane: str | None = None
        try:
            event = _event(frame)
            lane = self._lane(event.get("stream_id"))
            if event.get("generate") is not None:
                boolean(event["generate"], "generate")
            body = {name: value for name, value in event.items() if name not in _ENVELOPE}
            return Request(lane, {**body, "stream": True}, event.get("generate") is not False)
        except ApiError as error:
            return refusal(error, lane)

    @property
    def recent(self) -> Mapping[str, Kept]:
        """The responses by their ids that this connection alone may remember."""
        return {kept.response["id"]: kept for kept in self._newest.values()}

    def keep(self, request: Request, kept: Kept | None) -> None:
        """Remember the response to *request* as the newest of its lane."""
        if kept:
            self._newest[request.lane] = kept

    def forget(self, request: Request) -> None:
        """Forget the response from which a request went on that failed; one of another lane's stays."""
        kept = self._newest.get(request.lane)
        if kept and kept.response["id"] == request.body.get("previous_response_id"):
            del self._newest[request.lane]

    def _lane(self, name: Any) -> str | None:
        if name is None:
            return None
        text(name, "stream_id")
        if not _NAME.fullmatch(name):
            what = "must be a non-empty string with at most 256 characters and may only contain letters, numbers, "
            message = f"The 'stream_id' field {what}underscores, hyphens, and periods."
            raise ApiError(message, code="invalid_stream_id", param="stream_id")
        if name not in self._named and len(self._named) >= _NAMED:
            reached = f"This WebSocket connection has reached its maximum number of distinct stream IDs ({_NAMED})."
            message = f"{reached} Reuse an existing stream_id or open a new WebSocket connection."
            raise ApiError(message, code="websocket_stream_limit_reached", param="stream_id")
        self._named.add(name)
        return str(name)


def stamped(events: Iterator[Record], lane: str | None) -> Iterator[Record]:
    """Yield *events* with the name of their lane, if it has one."""
    for event in events:
        yield event if lane is None else {**event, "stream_id": lane}


def refusal(error: ApiError, lane: str | None = None) -> Record:
    """Return the `error` event that says what the service would answer over HTTP."""
    event = {"type": "error", "status": error.status, "error": error.error()}
    return event if lane is None else {**event, "stream_id": lane}


def expired() -> Record:
    """Return the `error` event that ends a connection which has lived its hour."""
    reached = "Responses websocket connection limit reached (60 minutes)."
    message = f"{reached} Create a new websocket connection to continue."
    return refusal(ApiError(message, code="websocket_connection_limit_reached"))


def _event(frame: str | bytes) -> Record:
    try:
        event = json.loads(frame) if isinstance(frame, str) else None
    except (ValueError, RecursionError):
        event = None
    if not isinstance(event, dict):
        raise ApiError("We could not parse the JSON body of your request.")
    kind = event.get("type")
    if kind is None:
        raise missing("type")
    if kind == "response.steer":
        message = (
            "The simulated service answers at once, so there is no response to steer. Send the next 'response.create' "
            'instead, or have a real service answer: hk.connect("live").'
        )
        raise ApiError(message, code="unsupported_value", param="type")
    if kind != "response.create":
        raise wrong_value("type", kind, ("response.create", "response.steer"))
    return event
