"""The check of a text agent's request: what did the model read? `checks` has its name."""

import json
from collections.abc import Iterable
from typing import Any

from .log import EventLog
from .verdict import NotYet, checked, counted, take

__all__ = ["request"]

_ASKED = ("POST /v1/responses", "POST /v1/chat/completions", "response.create")
"""What asks a text agent's model, over HTTP or a WebSocket; a realtime session's `response.create` is none of these."""


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
