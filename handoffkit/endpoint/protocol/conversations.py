"""What the service answers without a model: conversations, kept responses, the list of models, and no such address.

`handle` finds the rule by method and path. The rules take and return data; `Store` holds what is remembered.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from . import catalogue, items, listing
from .api_error import ApiError
from .fields import Check, array, check_fields, metadata, missing, require, wrong_type
from .ids import Ids
from .items import Record
from .responses import count_input
from .store import Conversation, Store

__all__ = ["Conversation", "Store", "handle"]

_MOST_ITEMS = 20  # in one request


@dataclass(frozen=True, slots=True)
class _Request:
    ids: tuple[str, ...]
    """Those in the path, in order."""
    query: Mapping[str, str]
    body: Any
    store: Store
    new: Ids
    now: int


def handle(
    method: str, path: str, query: Mapping[str, str], body: Any, store: Store, ids: Ids, now: float
) -> dict[str, Any]:
    """Answer a request that needs no model.

    Args:
        method: `GET`, `POST` or `DELETE`.
        path: Such as `/v1/conversations/conv_1/items`.
        query: The parameters of the address, each with its last value.
        body: The JSON body; None or `{}` where there is none.
        store: What the service remembers.
        ids: Where ids come from.
        now: Seconds since 1970.

    Raises:
        ApiError: What the service would answer: 404 for an address or a thing that there is not, 405 for a method
            that an address does not take, 400 for a request that is not in order.
    """
    known = False
    for pattern, rules in _ROUTES:
        if found := re.fullmatch(pattern, path.rstrip("/")):
            known = True
            if rule := rules.get(method):
                parts = tuple(unquote(part) for part in found.groups())
                return rule(_Request(parts, query, body, store, ids, int(now)))
    if known:
        hint = "(HINT: Perhaps you meant to use a different HTTP method?)"
        raise ApiError(f"Not allowed to {method} on {path}. {hint}", status=405)
    raise ApiError(f"Invalid URL ({method} {path})", status=404)


def _create(request: _Request) -> Record:
    body = _checked(request.body, {"items": _new_items, "metadata": metadata})
    conversation = Conversation(request.new.new("conv", 40), request.now, body.get("metadata") or {})
    conversation.add([items.kept(item, request.new) for item in body.get("items") or []])
    request.store.conversations[conversation.id] = conversation
    return _shown(conversation)


def _retrieve(request: _Request) -> Record:
    return _shown(request.store.conversation(request.ids[0]))


def _update(request: _Request) -> Record:
    conversation = request.store.conversation(request.ids[0])
    body = _checked(request.body, {"metadata": metadata})
    if "metadata" not in body:  # null empties it
        raise missing("metadata")
    conversation.metadata = body["metadata"] or {}
    return _shown(conversation)


def _delete(request: _Request) -> Record:
    conversation = request.store.conversation(request.ids[0])
    del request.store.conversations[conversation.id]
    return {"id": conversation.id, "object": "conversation.deleted", "deleted": True}


def _list_items(request: _Request) -> Record:
    return listing.page(list(request.store.conversation(request.ids[0]).items.values()), request.query)


def _add_items(request: _Request) -> Record:
    conversation = request.store.conversation(request.ids[0])
    body = _checked(request.body, {"items": _new_items}, "items")
    conversation.check_free()
    items.check_new(conversation.items.values(), body["items"])
    added = [items.kept(item, request.new) for item in body["items"]]
    conversation.add(added)
    return listing.whole(added)


def _retrieve_item(request: _Request) -> Record:
    conversation = request.store.conversation(request.ids[0])
    if item := conversation.items.get(request.ids[1]):
        return item
    raise ApiError(f"Item with id '{request.ids[1]}' not found in conversation '{conversation.id}'.", status=404)


def _delete_item(request: _Request) -> Record:
    item, conversation = _retrieve_item(request), request.store.conversation(request.ids[0])
    conversation.check_free()
    del conversation.items[item["id"]]
    return _shown(conversation)


def _retrieve_response(request: _Request) -> Record:
    if request.query.get("stream") == "true":
        message = "Only responses that run in the background can be streamed again, and those are not simulated."
        raise ApiError(message, param="stream")
    return request.store.response(request.ids[0]).response


def _delete_response(request: _Request) -> Record:
    response = request.store.response(request.ids[0]).response
    del request.store.responses[response["id"]]
    return {"id": response["id"], "object": "response", "deleted": True}


def _cancel_response(request: _Request) -> Record:
    request.store.response(request.ids[0])
    raise ApiError("Cannot cancel a synchronous response.")


def _input_items(request: _Request) -> Record:
    return listing.page(request.store.response(request.ids[0]).input, request.query)


def _count(request: _Request) -> Record:
    return count_input(request.body, request.store)


def _compact(request: _Request) -> Record:
    message = "The simulated service does not compact conversations. Send the conversation as it is."
    raise ApiError(message, code="unsupported_operation")


def _checked(body: Any, table: Mapping[str, Check], *required: str) -> dict[str, Any]:
    body = {} if body is None else body
    if not isinstance(body, dict):
        raise wrong_type("body", "an object", body)
    require(body, required)
    check_fields(body, table)
    return body


def _new_items(value: Any, param: str) -> None:
    array(items.check_item, "input items")(value, param)
    if len(value) > _MOST_ITEMS:
        found = (
            f"Expected an array with maximum length {_MOST_ITEMS}, but got an array with length {len(value)} instead."
        )
        raise ApiError(f"Invalid '{param}': array too long. {found}", code="array_above_max_length", param=param)
    items.check_new((), value)


def _shown(conversation: Conversation) -> Record:
    return {
        "id": conversation.id,
        "object": "conversation",
        "created_at": conversation.created_at,
        "metadata": conversation.metadata,
    }


_ROUTES: list[tuple[str, dict[str, Callable[[_Request], Record]]]] = [
    ("/v1/conversations", {"POST": _create}),
    ("/v1/conversations/([^/]+)", {"GET": _retrieve, "POST": _update, "DELETE": _delete}),
    ("/v1/conversations/([^/]+)/items", {"GET": _list_items, "POST": _add_items}),
    ("/v1/conversations/([^/]+)/items/([^/]+)", {"GET": _retrieve_item, "DELETE": _delete_item}),
    ("/v1/responses/input_tokens", {"POST": _count}),
    ("/v1/responses/compact", {"POST": _compact}),
    ("/v1/responses/([^/]+)", {"GET": _retrieve_response, "DELETE": _delete_response}),
    ("/v1/responses/([^/]+)/cancel", {"POST": _cancel_response}),
    ("/v1/responses/([^/]+)/input_items", {"GET": _input_items}),
    ("/v1/models", {"GET": lambda request: catalogue.models()}),
    ("/v1/models/(.+)", {"GET": lambda request: catalogue.model(request.ids[0])}),
    ("/v1/responses", {}),  # POST needs a model, and is answered elsewhere
    ("/v1/chat/completions", {}),
]
