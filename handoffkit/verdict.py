"""What a check says: a `Check`, which shows as one sentence. The checks themselves are in `checks`."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec

from .errors import HandoffkitError

__all__ = ["Check", "NotYet", "an", "checked", "counted", "take"]

P = ParamSpec("P")


@dataclass(frozen=True, slots=True, repr=False)
class Check:
    """What a check has found; true if the exercise is done."""

    ok: bool
    words: str

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        return f"✓ {self.words}" if self.ok else f"Not yet: {self.words}"

    __repr__ = __str__


class NotYet(Exception):
    """Something is missing: what, and why it counts as missing."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(f"{what}, because {why}.")


def checked(look: Callable[P, str]) -> Callable[P, Check]:
    """Turn a function that returns its praise, or raises `NotYet`, into one that returns a `Check`."""

    @wraps(look)
    def judged(*args: P.args, **kwargs: P.kwargs) -> Check:
        try:
            return Check(True, look(*args, **kwargs))
        except NotYet as error:
            return Check(False, str(error))
        except HandoffkitError as error:
            return Check(False, f"this cannot be looked at, because of an error. {error}")

    return judged


def take(found: Any, kind: type[Any] | tuple[type[Any], ...], what: str, how: str) -> Any:
    """Return *found* if it is of its kind; else say what stands there instead."""
    if isinstance(found, kind):
        return found
    missing = f"{what} is missing"
    if found is ...:
        raise NotYet(missing, "the exercise cell still says `...`")
    if inspect.isawaitable(found):
        raise NotYet(missing, "the word `await` is missing in front of what gives it")
    raise NotYet(missing, f"this is {an(type(found).__name__)}; {how} gives one")


def counted(number: int, what: str, many: str = "") -> str:
    """Return a number with its noun, in the plural where it belongs."""
    return f"{number} {what if number == 1 else many or what + 's'}"


def an(name: str) -> str:
    """Return a noun with the article that its first letter asks for."""
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
