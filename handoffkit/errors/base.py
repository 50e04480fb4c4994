"""What every error of handoffkit's is, and the ones that any part of it can raise."""


class HandoffkitError(Exception):
    """Anything that handoffkit itself refuses or reports. Catch it to catch all of them."""


def found_words(found: object) -> str:
    """Say what was found where something else was expected; of a list, what it holds, since that is read sooner."""
    of = f" of {_kind(found[0])}" if isinstance(found, list | tuple) and found else ""
    return _kind(found) + of


def _kind(found: object) -> str:
    kind = type(found)
    return f"{kind.__module__}.{kind.__qualname__}"


class CannotWrite(HandoffkitError):
    """A file cannot be written where it was asked for."""

    def __init__(self, path: object, reason: str, advice: str) -> None:
        super().__init__(f"{path} cannot be written: {reason}. {advice}; nothing was changed.")
