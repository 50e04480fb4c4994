"""The course: where it is, and how a learner gets a working copy of it.

The course is the folders `notebooks` and `audio`: beside the package in a checkout, inside it (`_course`) in an
installed wheel. The working copy remembers, in a hidden file, which version of each file it was given; so a file that
the learner has changed can be told from one that is merely old.
"""

import hashlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import CourseFolderRefused, CourseMissing

PARTS = ("notebooks", "audio")
GIVEN = ".handoffkit-course.json"
"""The hidden file: `{"given": {"notebooks/x.ipynb": "<sha256 of the version last given>"}}`."""


@dataclass(slots=True)
class Copied:
    """What copying the course did; paths are relative to the working copy, with `/`."""

    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    """Files that the learner had not touched and that are newer now."""
    beside: list[tuple[str, str]] = field(default_factory=list)
    """The learner's changed file, and the name that the course's newer version got beside it."""

    def __str__(self) -> str:
        """Return what a learner wants to know, a line for each file that now stands beside theirs."""
        counts = [f"{len(files)} {what}" for what, files in (("added", self.added), ("updated", self.updated)) if files]
        first = f"Files of the course: {', '.join(counts)}." if counts else ""
        rest = [f"You changed {mine}, so it stays; the course's newer version is {new}." for mine, new in self.beside]
        return "\n".join(line for line in (first, *rest) if line)


def find_course(package: Path | None = None) -> Path:
    """Return the folder that holds the course's `notebooks` for *package* (default: this one)."""
    package = package or Path(__file__).parent.parent
    for folder in (package / "_course", package.parent):
        if any((folder / "notebooks").glob("*.ipynb")):
            return folder
    raise CourseMissing(package)


def copy_course(course: Path, target: Path) -> Copied:
    """Copy the course into *target* and return what was done. A file that the learner changed is never written to.

    Raises:
        CourseFolderRefused: *target* cannot be written, or lies in the course or holds it.
    """
    _refuse_the_course_itself(course, target)
    try:
        target.mkdir(parents=True, exist_ok=True)
        return _copy_files(course, target)
    except OSError as error:
        raise CourseFolderRefused(target, f"it cannot be written ({error.strerror or error})") from error


def _refuse_the_course_itself(course: Path, target: Path) -> None:
    for part in ((course / name).resolve() for name in PARTS):
        if target.resolve() == part.parent or target.resolve().is_relative_to(part):
            raise CourseFolderRefused(target, "it is the course itself, which stays as it came")


def _copy_files(course: Path, target: Path) -> Copied:
    given, copied = _read_given(target), Copied()
    for source in _course_files(course):
        name = source.relative_to(course).as_posix()
        _copy_file(source, target, name, given.get(name), copied)
        given[name] = _digest(source)
    (target / GIVEN).write_text(json.dumps({"given": given}, indent=1), encoding="utf-8")
    return copied


def _course_files(course: Path) -> Iterator[Path]:
    for part in PARTS:
        for path in sorted((course / part).rglob("*")):
            hidden = any(piece.startswith((".", "__")) for piece in path.relative_to(course).parts)
            if path.is_file() and not hidden:
                yield path


def _copy_file(source: Path, target: Path, name: str, given: str | None, copied: Copied) -> None:
    """Copy one file of the course; *given* is the digest of the version that the learner got before, if any."""
    mine, newest = target / name, _digest(source)
    found = _digest(mine) if mine.is_file() else None
    if found in (None, given) and found != newest:
        mine.parent.mkdir(parents=True, exist_ok=True)
        # Not copy2: an installed course may be read-only, and the learner's copy must not be.
        shutil.copyfile(source, mine)
        (copied.added if found is None else copied.updated).append(name)
    elif newest not in (found, given):
        beside = _free_name(mine, newest)
        shutil.copyfile(source, beside)
        copied.beside.append((name, beside.relative_to(target).as_posix()))


def _free_name(mine: Path, newest: str) -> Path:
    """Return `x-new.ipynb`, or `x-new-2.ipynb` and so on where the learner has another file of that name."""
    number, beside = 1, mine.with_stem(f"{mine.stem}-new")
    while beside.exists() and _digest(beside) != newest:
        number += 1
        beside = mine.with_stem(f"{mine.stem}-new-{number}")
    return beside


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _read_given(target: Path) -> dict[str, str]:
    """Return what the hidden file says; nothing where it is damaged: each difference is the learner's then."""
    try:
        given = json.loads((target / GIVEN).read_text(encoding="utf-8"))["given"]
        return {str(name): str(digest) for name, digest in given.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
