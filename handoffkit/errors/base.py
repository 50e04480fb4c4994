"""What every error of handoffkit's is, and the ones that any part of it can raise."""


class HandoffkitError(Exception):
    """Anything that handoffkit itself refuses or reports. Catch it to catch all of them."""


class CannotWrite(HandoffkitError):
    """A file cannot be written where it was asked for."""

    def __init__(self, path: object, reason: str, advice: str) -> None:
        super().__init__(f"{path} cannot be written: {reason}. {advice}; nothing was changed.")
