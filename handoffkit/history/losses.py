"""What a conversion of a history could not keep: named one by one, and gathered while it runs."""

from collections import Counter
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")

KINDS = {
    "call": "A tool was called and never returned: it gets a result that says so.",
    "result": "A tool's result whose call is not there, or came later, is left out.",
    "outcome": "How a tool's work ended (failed, denied, to be repeated): its words stay, the mark goes.",
    "together": "Several calls of one reply: session history shows them one after the other.",
    "name": "An id that the other side would refuse: it is made anew, the same wherever it stands.",
    "speech": "That words were spoken: Responses items and seeds hold text.",
    "sound": "Sound: what can be heard is left out where its words are known, or where only text has a place.",
    "times": "When each word was spoken.",
    "heard": "After how many milliseconds a reply was cut off: session history shows only that it was.",
    "ending": "Why a reply ended early (length, error, withheld): at most, that it is not whole stays.",
    "file": "An image or another file that the other side does not take, or how closely it was to be looked at.",
    "place": "Where something stood: operator text goes to `instructions`, a late result to its call.",
    "superseded": "Instructions that later ones replaced, or that held for one request.",
    "retry": "What a framework told a model to do over.",
    "change": "A record of tools, settings or instructions that changed.",
    "summary": "A summary that stands for earlier turns: its words go to `instructions`, a sealed one has no place.",
    "nested": "A summary of the talk before a handoff: it is unfolded into the turns that it lists, without their ids.",
    "thought": "Reasoning that the service would refuse without its pair, or that has no place.",
    "hosted": "What a tool of the service's own did.",
    "custom": "A tool that takes free text: it becomes a function with one argument, `input`.",
    "refusal": "That words were a refusal: they stay as plain words.",
    "source": "The sources that a text names beside its words.",
    "data": "An application's own data beside a text.",
    "cache": "A mark for the prompt cache.",
    "reference": "A reference to an item that only the service holds.",
    "empty": "A message without content.",
    "unknown": "An item or a part of a kind, or a field of an item, that is not known here.",
    "record": "What no model reads: usage, model names, ids of runs and items, metadata. It is one loss a history.",
}
"""Every kind of loss, and what it means. Nothing else is lost, except the times at which things were written down."""


@dataclass(frozen=True, slots=True)
class Loss:
    """One thing that a conversion could not keep."""

    kind: str
    """One of `KINDS`."""
    where: str
    """Where it stood: `message 3`, `item 5`, both counted from 1, or `the history`."""
    what: str
    """What was lost and what stands there now, in plain words."""

    def __str__(self) -> str:
        return f"In {self.where}: {self.what}."


@dataclass(frozen=True, slots=True)
class Converted(Generic[T]):
    """A history in another SDK's form."""

    items: list[T]
    """The conversation, in order."""
    instructions: str
    """What the operator wrote (system prompts, instructions, developer messages), apart from what was said."""
    losses: tuple[Loss, ...]
    """What could not be kept, in order; empty if nothing was lost."""


class Losses:
    """Gathers losses while a conversion runs."""

    def __init__(self) -> None:
        self._found: list[Loss] = []
        self._left: Counter[str] = Counter()

    def add(self, kind: str, where: str, what: str) -> None:
        """Note a loss of one of `KINDS`."""
        self._found.append(Loss(kind, where, what))

    def leave(self, name: str) -> None:
        """Note that something that no model reads has no place; they become one loss."""
        self._left[name] += 1

    def all(self) -> tuple[Loss, ...]:
        """Return the losses in the order in which they were noted, what no model reads last."""
        if not self._left:
            return tuple(self._found)
        names = ", ".join(f"{name} ({count})" for name, count in self._left.items())
        return *self._found, Loss("record", "the history", f"left behind, since no model reads it: {names}")
