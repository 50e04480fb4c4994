"""The checks of text agents' requests: what did the model read, over how many connections? `checks` has their names."""

import json
from collections.abc import Iterable
from typing import Any

from .log import EventLog
from .verdict import NotYet, checked, counted, take

__all__ = ["connections", "request"]

_ASKED = ("POST /v1/responses", "POST /v1/chat/completions", "response.create")
"""What asks a text agent's model, over HTTP or a WebSocket; a realtime session's `response.create` is none of these."""
_SHOWN = 200
"""Letters of an input that are shown where something is not in it."""


@checked
def connections(found: Any, *, opened: int, asked: int) -> str:
    """Check over how many connections the requests of text agents went.

    Args:
        found: The log, such as `hk.log()` gives, or a part of it.
        opened: How many exchanges (HTTP) and handshakes (WebSocket) there must be.
        asked: How many requests for an answer.
    """
    log = take(found, EventLog, "the log", "`hk.log()`").filter(channel=("responses", "chat"), dir="client")
    count, requests = len(log.filter("open")), len(log.filter(_ASKED))
    if requests != asked:
        raise NotYet(f"the number of requests is not {asked}", f"it is {requests}")
    if count != opened:
        raise NotYet(f"the number of connections is not {opened}", f"it is {count}")
    return f"{counted(requests, 'request')} went over {counted(count, 'connection')}."


@checked
def request(
    found: Any,
    *,
    items: int | None = None,
    words: Iterable[str] = (),
    without: Iterable[str] = (),
    fields: Iterable[str] = (),
    back: int = 0,
) -> str:
    """Check what the last request of a text agent, or an earlier one, gave the model to read.

    Args:
        found: The log, such as `hk.log()` gives, or a part of it.
        items: How many items its input must have.
        words: What must stand somewhere in the request, letter by letter.
        without: What must stand nowhere in it.
        fields: What the request must have besides, such as `previous_response_id`.
        back: How many requests before the last one it stands.
    """
    body, given = _request(take(found, EventLog, "the log", "`hk.log()`"), back)
    which, text = _which(back), json.dumps(body, ensure_ascii=False)
    if missing := [word for word in words if word not in text]:
        raise NotYet(f"{missing[0]!r} is not in {which}", f"its input is {_begun(str(given))}")
    if left := [word for word in without if word in text]:
        raise NotYet(f"{left[0]!r} is still in {which}", "the model reads everything that is in it")
    if lacking := [name for name in fields if body.get(name) is None]:
        raise NotYet(f"{which} has no `{lacking[0]}`", f"it has only {', '.join(sorted(body))}")
    if items is not None and len(given) != items:
        raise NotYet(f"{which} has not {counted(items, 'item')}", f"it has {len(given)}")
    return f"{which.capitalize()} gave the model {counted(len(given), 'item')} to read, as it was asked for."


def _begun(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]} …"


def _which(back: int) -> str:
    return {0: "the last request", 1: "the request before the last"}.get(back, f"request {back} before the last")


def _request(log: EventLog, back: int) -> tuple[dict[str, Any], list[Any]]:
    """Return the JSON of a request to a model, and the items of its input."""
    asked = log.filter(_ASKED, channel=("responses", "chat"), dir="client")
    if not asked:
        raise NotYet("no request was sent", "no agent has been run since `hk.connect()`")
    if len(asked) <= back:
        raise NotYet(f"{_which(back)} is missing", f"the log has only {counted(len(asked), 'request')}")
    body = asked[-1 - back].data
    given = body.get("input", body.get("messages", []))
    return body, given if isinstance(given, list) else [given]
