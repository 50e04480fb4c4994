"""Where the caller's recordings come from: the WAV files of a folder, in the order of their turns."""

import os
import re
from pathlib import Path

from .errors import SourceNotFound


def folder(path: str | os.PathLike[str]) -> list[Path]:
    """Return the WAV files of a folder in natural order: turn-2.wav comes before turn-10.wav.

    Files are told by their names; none is opened, and what else lies in the folder is left alone.

    Raises:
        SourceNotFound: There is no such folder, or no WAV file in it.
    """
    where = Path(path)
    try:
        names = [each for each in where.iterdir() if not each.name.startswith(".")]
    except OSError as error:
        raise SourceNotFound(path, _why(where, error)) from error
    found = sorted((each for each in names if each.suffix.lower() == ".wav" and each.is_file()), key=_natural)
    if not found:
        raise SourceNotFound(path, f"none of its {len(names)} entries is a WAV file" if names else "it is empty")
    return found


def _natural(path: Path) -> tuple[list[tuple[int, int | str]], str]:
    """Numbers count as numbers, and stand before letters."""
    parts = re.findall(r"[0-9]+|[^0-9]+", path.stem.casefold())
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in parts], path.name


def _why(path: Path, error: OSError) -> str:
    if path.is_file():
        return "it is a file; send it with `call.send_audio(...)`"
    return "there is no such folder" if isinstance(error, FileNotFoundError) else error.strerror or str(error)
