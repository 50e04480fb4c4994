"""What a page may ask for, read with care: a page may be damaged, old, or not ours. Pure.

Each request has a name and a few fields of a known kind and size; whatever else comes is refused, and nothing happens.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

TEXT = 10_000
"""Characters of a typed turn, at most."""
SOUND = 48_000
"""Bytes of sound in one message, at most: a second."""
_WORDS, _ID = 2_000, 128  # characters of a reason, and of a name that a page has made up
_COUNT = 1 << 53  # the largest whole number that JavaScript has


@dataclass(frozen=True, slots=True)
class Request:
    """One request of a page's."""

    name: str
    fields: dict[str, Any] = field(default_factory=dict)
    sound: bytes = b""

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]


Check = Callable[[Any], bool]


def _text(limit: int) -> Check:
    return lambda value: isinstance(value, str) and len(value) <= limit


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _COUNT


def _microphone(value: Any) -> bool:
    """A page names a device of the kernel's by its number, and nothing else of the kernel's machine."""
    return isinstance(value, str) and re.fullmatch(r"page|none|card:\d{1,5}", value, re.ASCII) is not None


def _last(value: Any) -> bool:
    return value == -1 or _count(value)


def _rate(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 1_000 <= value <= 1_000_000


_name = _text(_ID)

_FIELDS: Mapping[str, Mapping[str, Check]] = {
    "hello": {"page": _name},
    "beat": {"page": _name, "mic": _flag},
    "bye": {"page": _name},
    "start": {},
    "hangup": {},
    "new": {},
    "interrupt": {},
    "handoff": {},
    "say": {"text": lambda value: isinstance(value, str)},
    "talk": {"down": _flag},
    "hands_free": {"on": _flag},
    "mute": {"on": _flag},
    "microphone": {"id": _microphone},
    "approve": {"id": _name, "yes": _flag},
    "raw": {"q": _count},
    "clip": {"k": _name},
    "earlier": {"before": _name},
    "trouble": {"kind": _name},
    "mic": {"s": _name, "rate": _rate},
    "a": {"s": _name, "q": _count, "n": _count},
    "mic_end": {"s": _name, "last": _last},
    "played": {"g": _count, "n": _count},
    "flushed": {"g": _count, "n": _count},
}
_OPTIONAL: Mapping[str, Mapping[str, tuple[Check, Any]]] = {
    "approve": {"words": (_text(_WORDS), "")},
    "trouble": {"detail": (_text(_WORDS), "")},
    "mic": {"name": (_text(_WORDS), ""), "label": (_text(_WORDS), "")},
}
_ANY: Mapping[str, tuple[Check, Any]] = {"page": (_name, "")}


def read(content: Any, buffers: Sequence[Any] | None) -> Request | None:
    """Return the request in a message of a page's; None if it is none.

    Args:
        content: The message, as JSON has it.
        buffers: What came beside it; the sound of `a` is copied, since the kernel uses its memory again.
    """
    if not isinstance(content, dict) or not isinstance(name := content.get("t"), str) or name not in _FIELDS:
        return None
    fields: dict[str, Any] = {key: content.get(key) for key in _FIELDS[name]}
    if not all(check(fields[key]) for key, check in _FIELDS[name].items()):
        return None
    for key, (check, default) in {**_ANY, **_OPTIONAL.get(name, {})}.items():
        if key not in fields:
            given = content.get(key, default)
            fields[key] = given if check(given) else default
    if name != "a":
        return Request(name, fields)
    sound = _sound(buffers)
    return Request(name, fields, sound) if sound is not None and len(sound) == 2 * fields["n"] else None


def _sound(buffers: Sequence[Any] | None) -> bytes | None:
    """Return a copy of the sound; empty where a microphone only says that it lives."""
    if not buffers:
        return b""
    try:
        (given,) = buffers
        view = memoryview(given)
        return view.tobytes() if view.nbytes <= SOUND else None
    except (TypeError, ValueError):
        return None
