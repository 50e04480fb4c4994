"""Which item of a model's output belongs to which reasoning: what may be left out of an input, and what may not.

The service remembers it by the ids that it gave, stored or not. Its words are those that people have published:
https://github.com/continuedev/continue/issues/8933 for reasoning alone, https://github.com/cline/cline/issues/12242 for
a call without its reasoning, https://github.com/earendil-works/pi/issues/5059 for reasoning that was not stored. An
item that is sent without its id takes part in nothing: https://github.com/omnigent-ai/omnigent/issues/5066 shows that
reasoning without its id does not stand for the one that a call with its id needs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .api_error import ApiError

_MOST = 10_000  # reasoning items


@dataclass(frozen=True, slots=True)
class _Made:
    """A reasoning item that was sent to a client."""

    followers: tuple[str, ...]
    """The ids of the items that it led to, in order; empty where tokens ran out."""
    stored: bool


class Links:
    """The reasoning that a service has sent, and what followed it."""

    def __init__(self) -> None:
        self._made: dict[str, _Made] = {}
        self._required: dict[str, str] = {}

    def add(self, output: Sequence[dict[str, Any]], *, stored: bool) -> None:
        """Remember the *output* of a response; what follows reasoning in it needs that reasoning from now on."""
        if not output or output[0]["type"] != "reasoning":
            return
        first, *others = (item["id"] for item in output)
        self._made[first] = _Made(tuple(others), stored)
        self._required |= dict.fromkeys(others, first)
        if len(self._made) > _MOST:
            for follower in self._made.pop(next(iter(self._made))).followers:
                self._required.pop(follower, None)

    def check(self, past: Sequence[dict[str, Any]], new: Sequence[dict[str, Any]]) -> None:
        """Demand that reasoning and what followed it stand together, as far as they come with their ids.

        Args:
            past: The items that the service had already.
            new: Those that a request brings.

        Raises:
            ApiError: The first item that is alone; 404 for reasoning that nobody keeps.
        """
        items = [*past, *new]
        present = {item["id"] for item in items if item.get("id")}
        for place, (item, after) in enumerate(zip(items, [*items[1:], {}], strict=True)):
            id = item.get("id")
            if item.get("type") != "reasoning":
                if (reasoning := self._required.get(id or "")) and reasoning not in present:
                    raise _unpaired(id, item.get("type") or "message", f"required 'reasoning' item: '{reasoning}'.")
            elif made := self._made.get(id or ""):
                _check_kept(item, made)
                if after.get("id") not in made.followers:
                    raise _unpaired(id, "reasoning", "required following item.")
            elif id and place >= len(past) and not _is_of_a_model(after):  # of another service: more cannot be told
                raise _unpaired(id, "reasoning", "required following item.")


def _check_kept(item: dict[str, Any], made: _Made) -> None:
    if not (made.stored or item.get("encrypted_content")):
        kept = "Items are not persisted when `store` is set to false."
        advice = "Try again with `store` set to true, or remove this item from your input."
        raise ApiError(f"Item with id '{item['id']}' not found. {kept} {advice}", status=404, param="input")


def _is_of_a_model(item: dict[str, Any]) -> bool:
    return item.get("role") == "assistant" or item.get("type") in ("function_call", "reasoning")


def _unpaired(id: Any, kind: str, lacks: str) -> ApiError:
    return ApiError(f"Item '{id}' of type '{kind}' was provided without its {lacks}", param="input")
