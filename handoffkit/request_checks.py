"""The checks of text agents' requests: what did the model read, over how many connections? `checks` has their names."""

import json
from collections.abc import Iterable
from typing import Any

from .log import EventLog
from .verdict import NotYet, checked, counted, take

__all__ = ["connections", "request"]

_ASKED = ("POST /v1/responses", "POST /v1/chat/completions", "response.create")
"""What asks a text agent's model, over HTTP or a WebSocket; a realtime session's `response.create` is none of these."""


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
) -> str:
    """Check what the last request of a text agent gave the model to read.

    Args:
        found: The log, such as `hk.log()` gives, or a part of it.
        items: How many items its input must have.
        words: What must stand somewhere in the request, letter by letter.
        without: What must stand nowhere in it.
        fields: What the request must have besides, such as `previous_response_id`.
    """
    body, given = _last_request(take(found, EventLog, "the log", "`hk.log()`"))
    text = json.dumps(body, ensure_ascii=False)
    if missing := [word for word in words if word not in text]:
        raise NotYet(f"{missing[0]!r} is not in the last request", f"its input is {given}")
    if left := [word for word in without if word in text]:
        raise NotYet(f"{left[0]!r} is still in the last request", "the model reads everything that is in it")
    if lacking := [name for name in fields if body.get(name) is None]:
        raise NotYet(f"the last request has no `{lacking[0]}`", f"it has only {', '.join(sorted(body))}")
    if items is not None and len(given) != items:
        raise NotYet(f"the last request has not {counted(items, 'item')}", f"it has {len(given)}")
    return f"The last request gave the model {counted(len(given), 'item')} to read, as it was asked for."


def _last_request(log: EventLog) -> tuple[dict[str, Any], list[Any]]:
    """Return the JSON of the last request to a model, and the items of its input."""
    asked = log.filter(_ASKED, channel=("responses", "chat"), dir="client")
    if not asked:
        raise NotYet("no request was sent", "no agent has been run since `hk.connect()`")
    body = asked[-1].data
    given = body.get("input", body.get("messages", []))
    return body, given if isinstance(given, list) else [given]
