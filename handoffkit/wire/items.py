"""The items of one conversation in their order, and the turns that they make, kept up to date cheaply."""

from bisect import bisect_left
from collections.abc import Iterable
from typing import Any

from .agents import Voice
from .dialogue import Item, Kind, Speaker, Turn, turns_of
from .frames import text

_ROLES: dict[str, Speaker] = {"user": "caller", "assistant": "agent", "system": "operator", "developer": "operator"}
_KINDS: dict[str, Kind] = {"message": "message", "function_call": "call"}


class Items:
    """Items in the order of the conversation, which is not the order in which the log names them."""

    def __init__(self) -> None:
        self.all: list[Item] = []
        self._by_id: dict[str, Item] = {}
        self._calls: dict[str, Item] = {}
        self._nameless: list[Item] = []
        """Items of the client's that the service has not named yet."""
        self._changed: set[Item] = set()
        self._turns: list[Turn] = []
        self._begin: list[int] = []
        """Where each turn's first item stands."""

    def named(self, name: str | None) -> Item | None:
        """Return the item that the service calls *name*."""
        return self._by_id.get(name or "")

    def call(self, call_id: str | None) -> Item | None:
        """Return the tool call with the id *call_id*."""
        return self._calls.get(call_id or "")

    @property
    def awaits_output(self) -> bool:
        """Whether the agent's last call of a tool has no output yet."""
        last = next(reversed(self._calls.values()), None)
        return last is not None and last.output is None and last.reply is not None

    def renamed(self, voice: Voice | None) -> None:
        """Note that the agent of *voice*, if any, has a name now."""
        self.changed(*(item for item in self.all if voice and item.reply and item.reply.voice is voice))

    def changed(self, *items: Item) -> None:
        """Note that turns have to be made anew from the first of *items* on."""
        self._changed.update(items)

    def add(self, found: dict[str, Any], seq: int, at: float, *, by_client: bool = False) -> Item:
        """Add what the wire says is an item, at the end."""
        kind, speaker = _what(found)
        item = Item(text(found, "id") or "", kind, speaker, seq, at, by_client=by_client)
        self.all.append(item)
        if item.id:
            self._by_id[item.id] = item
        elif by_client:
            self._nameless.append(item)
        self.fill(item, found)
        return item

    def claim(self, found: dict[str, Any]) -> Item | None:
        """Return the item that the service now names: known already, or the client's first that it can be."""
        name = text(found, "id") or ""
        if name in self._by_id or found.get("status") == "in_progress":
            return self._by_id.get(name)
        for item in self._nameless:
            if (item.kind, item.speaker) == _what(found):
                self._nameless.remove(item)
                item.id = name
                self._by_id[name] = item
                return item
        return None

    def fill(self, item: Item, found: dict[str, Any]) -> None:
        """Take over what the wire says *item* contains."""
        self._changed.add(item)
        if item.kind == "call":
            item.name, item.call_id = text(found, "name") or item.name, text(found, "call_id") or item.call_id
            item.arguments = text(found, "arguments") or item.arguments
            if item.call_id:
                self._calls[item.call_id] = item
        content = found.get("content")
        for number, part in enumerate(content if isinstance(content, list) else ()):
            if isinstance(part, dict):
                item.spoken = item.spoken or "audio" in str(part.get("type"))
                words = text(part, "text") or text(part, "transcript")
                if words and len(words) >= len(item.whole.get(number, "")):
                    item.whole[number] = words

    def place(self, item: Item, previous: str | None) -> None:
        """Move *item* behind the item called *previous* (`root`: to the beginning); else it stays where it is.

        A reply that was stopped before the service made an item of it has no name, and stays behind what it answers.
        """
        before = self.named(previous)
        if (before is not None or previous == "root") and before is not item:
            self.move(item, before)

    def move(self, item: Item, before: Item | None) -> None:
        """Move *item* behind *before*, and behind nameless replies there; to the beginning where that is None."""
        here = self._index(item)
        del self.all[here]
        there = 0 if before is None else self._index(before) + 1
        while there < len(self.all) and before is not None and self.all[there].is_nameless_reply:
            there += 1
        self.all.insert(there, item)
        if there != here:
            self.changed(*self.all[min(here, there) : min(here, there) + 2], *self.all[max(here, there) :][:2])

    def turns(self, conn: str, label: str | None) -> list[Turn]:
        """Return the turns; only those after the first change are made anew."""
        if self._changed:
            first = self._first_changed()
            keep = bisect_left(self._begin, first)
            made = list(turns_of(self.all, conn, label, first))
            self._turns[keep:] = [turn for _, turn in made]
            self._begin[keep:] = [number for number, _ in made]
            self._changed.clear()
        return self._turns[:]

    def _first_changed(self) -> int:
        """Return the number of the first changed item, or of the first in the run of the agent's before it."""
        left, number = set(self._changed), len(self.all)
        while left and number:
            number -= 1
            left.discard(self.all[number])
        while number and self.all[number - 1].speaker == "agent":
            number -= 1
        return number

    def _index(self, item: Item) -> int:
        """Return where *item* stands, looked for from the end: that is where things happen."""
        return next(number for number in range(len(self.all) - 1, -1, -1) if self.all[number] is item)


def _what(found: dict[str, Any]) -> tuple[Kind, Speaker]:
    kind: Kind = _KINDS.get(str(found.get("type")), "other")
    return kind, _ROLES.get(str(found.get("role")), "caller") if kind == "message" else "agent"


def objects(found: object) -> Iterable[dict[str, Any]]:
    """Return the objects in what should be a list of them."""
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
