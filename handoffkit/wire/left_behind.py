"""Logs that a kernel has left behind because it died: which folders they are, and that nobody writes them any more."""

import contextlib
import os
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .log_file import LIVE, header_of

PREFIX = "handoffkit-"
"""How the names of log folders in the system's folder for temporary files begin."""


def left_behind(root: Path) -> list[Path]:
    """Return the folders in *root* with a log of this user's whose kernel is gone, newest first."""
    left = [(header["started"], folder) for folder in _folders(root) if (header := _orphaned(folder)) is not None]
    return [folder for _, folder in sorted(left, reverse=True)]


def sweep(root: Path, days: float = 7) -> None:
    """Remove the logs that were left behind in *root* longer than *days* ago: `recover` had its time."""
    oldest = time.time() - days * 86400
    for folder in _folders(root):
        with contextlib.suppress(OSError):
            if (folder / LIVE).stat().st_mtime < oldest and _orphaned(folder) is not None:
                shutil.rmtree(folder)


def _folders(root: Path) -> Iterator[Path]:
    """Yield the folders that can be logs of this user's: others may write to the same root."""
    for folder in root.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            mine = not hasattr(os, "getuid") or folder.lstat().st_uid == os.getuid()
            if mine and folder.is_dir() and not folder.is_symlink() and (folder / LIVE).is_file():
                yield folder


def _orphaned(folder: Path) -> dict[str, Any] | None:
    header = header_of(folder)
    if header is None or not isinstance(header.get("started"), int | float) or type(header.get("pid")) is not int:
        return None
    return None if _runs(header["pid"]) else header


def _runs(pid: int) -> bool:
    """Say whether the process *pid* is there."""
    if sys.platform == "win32":  # where os.kill would end it
        import ctypes

        handle = ctypes.windll.kernel32.OpenProcess(0x1000, False, pid)  # PROCESS_QUERY_LIMITED_INFORMATION
        if handle:
            ctypes.windll.kernel32.CloseHandle(handle)
        return bool(handle)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
