"""What can go wrong with a log, a saved call and the views of them."""

from .base import HandoffkitError


class NoSuchFrame(HandoffkitError, LookupError):
    """A table was asked for a frame that it does not hold."""

    def __init__(self, seq: object, known: list[int]) -> None:
        held = f"its frames are {known[0]} to {known[-1]}" if known else "it holds none"
        super().__init__(f"This table has no frame {seq!r}: {held}. Take a number from its first column.")


class LogError(HandoffkitError):
    """Something about an event log or a saved call."""


class LogNotFound(LogError):
    """There is no log in a folder."""

    def __init__(self, folder: object, *, exists: bool) -> None:
        found = "the folder has neither `call.jsonl` nor `log.jsonl`" if exists else "there is no such folder"
        super().__init__(
            f"There is no call in {str(folder)!r}: {found}. Give the folder that `call.save(...)` has written; what a "
            "kernel that died has left is opened by `hk.recover()`."
        )


class NotALog(LogError):
    """A file has the name of a log and is none."""

    def __init__(self, path: object, found: str) -> None:
        super().__init__(
            f"{str(path)!r} is no event log: its first line should be JSON with the key `handoffkit`; found {found!r}. "
            "Give the folder that `call.save(...)` has written."
        )


class LogUnknown(LogError):
    """A log was written by another version."""

    def __init__(self, path: object, found: object, known: int) -> None:
        super().__init__(
            f"{str(path)!r} is of schema {found!r}; this version of handoffkit reads schema {known}. Open it with the "
            "version that wrote it: `python -m pip install -U handoffkit` brings the newest."
        )


class LogEmpty(LogError):
    """A log has not even a first line."""

    def __init__(self, path: object) -> None:
        super().__init__(
            f"{str(path)!r} is empty, so there is no call in it. Its first line never came: take another copy."
        )


class NothingToRecover(LogError):
    """No kernel that died has left a log."""

    def __init__(self, root: object) -> None:
        super().__init__(
            f"No log of a kernel that died is left in {str(root)!r}. Kernels that end in peace remove theirs, so save "
            "what you want to keep: `call.save('folder')`."
        )


class SaveRefused(LogError):
    """A call cannot be saved where it was asked for."""

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(
            f"The call was not saved to {str(path)!r}: {reason}. Nothing there was changed, and nothing of the call is "
            "lost. Save it under another name or in another folder."
        )


class LogDamaged(UserWarning):
    """A log could be read only in part."""

    def __init__(self, damage: str) -> None:
        super().__init__(
            f"{damage[0].upper()}{damage[1:]}. Everything else was loaded. If a process was killed while it wrote, "
            "only what that line said is missing; `log.save('another folder')` makes a copy without damage."
        )
