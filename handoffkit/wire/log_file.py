"""The file of a log: its first line, its further lines as far as they are whole, and what of it is damaged."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import LogNotFound, LogUnknown, NotALog
from .frames import StoredFrame, parse

SCHEMA = 1
"""The number in the first line of every log that this version reads and writes."""
LIVE, SAVED = "log.jsonl", "call.jsonl"
"""The file in a folder that an endpoint writes, and in a saved call."""


class LogFile:
    """Reads a log from its beginning, each time only what is new.

    Args:
        folder: The folder of a live log or a saved call.
        growing: Somebody may still write: a last line that is not whole is left for the next time.

    Raises:
        LogNotFound: There is no log in *folder*.
    """

    def __init__(self, folder: Path, *, growing: bool) -> None:
        found = [folder / name for name in (SAVED, LIVE) if (folder / name).is_file()]
        if not found:
            raise LogNotFound(folder, exists=folder.exists())
        self.path, self.growing = found[0], growing
        self.header: dict[str, Any] | None = None
        self.bad: list[tuple[int, str]] = []
        """The lines that cannot be read, with the reason."""
        self._offset = self._line = 0

    @property
    def saved(self) -> bool:
        """True for a saved call, whose sound lies in WAV files."""
        return self.path.name == SAVED

    def new(self) -> Iterator[tuple[StoredFrame, dict[str, Any]]]:
        """Yield the frames since the last time, each with its data.

        Raises:
            NotALog, LogUnknown: The first line is none of ours.
        """
        try:
            if os.stat(self.path).st_size <= self._offset:
                return
            file = self.path.open("rb")
        except FileNotFoundError:
            return  # its endpoint has ended and cleaned up; what was read stays
        with file:
            file.seek(self._offset)
            for line in file:
                if self.growing and not line.endswith(b"\n"):
                    return
                self._offset += len(line)
                self._line += 1
                if self.header is None:
                    self.header = read_header(self.path, line)
                elif line.strip() and (found := self._parse(line.rstrip(b"\r\n"))) is not None:
                    yield found

    def _parse(self, line: bytes) -> tuple[StoredFrame, dict[str, Any]] | None:
        try:
            return parse(line)
        except (ValueError, RecursionError) as error:
            cut = isinstance(error, json.JSONDecodeError | UnicodeDecodeError)
            self.bad.append((self._line, "it is cut off or garbled" if cut else str(error)))
            return None

    def damage(self) -> str | None:
        """Say what of the file cannot be read; None if all of it can."""
        if not self.bad:
            return None
        number, reason = self.bad[0]
        if len(self.bad) > 1:
            return f"{len(self.bad)} lines of {self.path} cannot be read, the first of them line {number}: {reason}"
        last = ", the last one," if number == self._line else ""
        return f"line {number}{last} of {self.path} cannot be read: {reason}"


def read_header(path: Path, line: bytes) -> dict[str, Any]:
    """Return the facts in the first line of a log.

    Raises:
        NotALog: The line is none that handoffkit writes.
        LogUnknown: The log is of another schema.
    """
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict) or "handoffkit" not in found:
        raise NotALog(path, line[:60].decode("utf-8", "replace").strip())
    if found["handoffkit"] != SCHEMA:
        raise LogUnknown(path, found["handoffkit"], SCHEMA)
    return found


def header_of(folder: Path) -> dict[str, Any] | None:
    """Return the facts in the first line of the log in *folder*; None if there is no such log."""
    for name in (SAVED, LIVE):
        try:
            with (folder / name).open("rb") as file:
                return read_header(folder / name, file.readline(1 << 20))
        except (OSError, NotALog, LogUnknown):
            continue
    return None
