"""What the service remembers between requests over HTTP: responses and conversations, in memory, as long as it runs.

The oldest responses are forgotten when there are more than 10,000.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from .api_error import ApiError
from .items import Record
from .links import Links

_MOST = 10_000  # responses

_Thing = TypeVar("_Thing")


@dataclass(frozen=True, slots=True)
class Kept:
    """A response that can be read again and gone on from."""

    response: Record
    input: tuple[Record, ...]
    """Everything that the model was given, earlier turns first."""

    @property
    def context(self) -> tuple[Record, ...]:
        """What a request that goes on from here begins with."""
        return (*self.input, *self.response["output"])


@dataclass(slots=True)
class Conversation:
    """A conversation that the service keeps for its clients."""

    id: str
    created_at: int
    """Seconds since 1970."""
    metadata: dict[str, Any]
    items: dict[str, Record] = field(default_factory=dict)
    """By id, oldest first."""
    busy: bool = False
    """A response in it is being made."""

    def check_free(self) -> None:
        """Make sure that nobody else works on it.

        Raises:
            ApiError: A response in it is being made. Words and code are the service's, as people have published them
                (https://github.com/paulgmiller/careme/issues/379).
        """
        if self.busy:
            message = "Another process is currently operating on this conversation. Please retry in a few seconds."
            raise ApiError(message, code="conversation_locked", param="conversation")

    def add(self, items: list[Record]) -> None:
        """Append *items*; one whose id is there already is not added again."""
        for item in items:
            self.items.setdefault(item["id"], item)


@contextmanager
def held(conversation: Conversation | None) -> Iterator[None]:
    """Keep everybody else from working on *conversation*; None is none."""
    if conversation is None:
        yield
        return
    conversation.check_free()
    conversation.busy = True
    try:
        yield
    finally:
        conversation.busy = False


class Store:
    """Responses and conversations by their ids."""

    def __init__(self) -> None:
        self.responses: dict[str, Kept] = {}
        self.conversations: dict[str, Conversation] = {}
        self.links = Links()

    def keep(self, kept: Kept) -> None:
        """Remember a response and what the model was given for it."""
        self.responses[kept.response["id"]] = kept
        if len(self.responses) > _MOST:
            del self.responses[next(iter(self.responses))]

    def response(self, id: str) -> Kept:
        """Return a response.

        Raises:
            ApiError: 404, if there is none of that id.
        """
        return _found(self.responses.get(id), f"Response with id '{id}' not found.")

    def conversation(self, id: str) -> Conversation:
        """Return a conversation.

        Raises:
            ApiError: 404, if there is none of that id.
        """
        return _found(self.conversations.get(id), f"Conversation with id '{id}' not found.")

    def item(self, id: str) -> Record:
        """Return an item of any response or conversation.

        Raises:
            ApiError: 404, if there is none of that id.
        """
        item = next((item for item in self._items() if item["id"] == id), None)
        return _found(item, f"Item with id '{id}' not found. Items are not persisted when `store` is set to false.")

    def _items(self) -> Iterator[Record]:
        for kept in reversed(self.responses.values()):
            yield from kept.context
        for conversation in self.conversations.values():
            yield from conversation.items.values()


def _found(thing: _Thing | None, message: str) -> _Thing:
    if thing is None:
        raise ApiError(message, status=404)
    return thing
