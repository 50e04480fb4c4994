"""Which frames of a log are meant: by names, by lists of names, or by names with wildcards."""

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase

from .frames import Frame

Pattern = str | Iterable[str] | None
"""A name, several, or all; `*` in one stands for anything."""


def fitting(event: Pattern, channel: Pattern, dir: Pattern, conn: Pattern, label: Pattern) -> Callable[[Frame], bool]:
    """Return the question whether a frame fits all the patterns given."""
    wanted = {"event": event, "channel": channel, "dir": dir, "label": label}
    tests = [(name, _matching(pattern)) for name, pattern in wanted.items() if pattern is not None]
    about = None if conn is None else _matching(conn)

    def fits(frame: Frame) -> bool:
        if not all(matches(getattr(frame, name)) for name, matches in tests):
            return False
        if about is None or about(frame.conn):
            return True
        return frame.channel == "mark" and about(frame.data.get("conn"))

    return fits


def _matching(pattern: str | Iterable[str]) -> Callable[[object], bool]:
    """Return the question whether a word fits; each word is compared once, as a log has few different ones."""
    patterns = [pattern] if isinstance(pattern, str) else list(pattern)
    if not any(sign in one for one in patterns for sign in "*?["):
        return frozenset(patterns).__contains__  # plain words: no need to make a regular expression of each
    known: dict[object, bool] = {None: False}

    def matches(word: object) -> bool:
        if word not in known:
            known[word] = any(fnmatchcase(str(word), one) for one in patterns)
        return known[word]

    return matches
