"""A saved call is a folder: `call.jsonl`, `caller.wav`, `agent.wav`, and perhaps `ticket.json`.

It is written whole beside its place and then moved there, so that there is never half a call under its name.
"""

import json
import os
import secrets
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Literal

from .. import audio
from ..errors import NotOurSound, SaveRefused
from .frames import AudioRef, Frame, StoredFrame, record
from .log_file import SAVED, SCHEMA, header_of

FILES = (SAVED, "caller.wav", "agent.wav", "ticket.json")
_KEPT = ("started", "mode")
"""What of a log's first line goes into a saved call. The rest is about one machine at one time."""


class Sound:
    """Reads the sound that frames refer to, from the folder of a live log or of a saved call."""

    def __init__(self, folder: Path, *, saved: bool) -> None:
        self._folder = folder if saved else folder / "audio"
        self._saved = saved
        self._open: dict[str, tuple[BinaryIO, int, int | None] | None] = {}

    def __enter__(self) -> "Sound":
        return self

    def __exit__(self, *_: object) -> None:
        for found in self._open.values():
            if found is not None:
                found[0].close()
        self._open.clear()

    def read(self, ref: AudioRef) -> bytes:
        """Return the bytes that *ref* names; fewer, or none, where the file has not got them."""
        if ref.file not in self._open:
            self._open[ref.file] = self._find(ref.file)
        if (found := self._open[ref.file]) is None:
            return b""
        file, offset, size = found
        if size is None:  # a live file grows
            size = os.fstat(file.fileno()).st_size
        if (left := size - ref.start) <= 0:
            return b""
        file.seek(offset + ref.start)
        return file.read(min(ref.bytes, left))

    def _find(self, name: str) -> tuple[BinaryIO, int, int | None] | None:
        path = self._folder / name
        # A saved call may come from anybody, and a link in it may lead anywhere.
        if path.is_symlink() or not path.is_file():
            return None
        try:
            offset, size = audio.wav_data(path) if self._saved else (0, None)
            return path.open("rb"), offset, size
        except (OSError, NotOurSound):
            return None


def write(path: Path, header: dict[str, Any], frames: Sequence[Frame], sound: Sound, ticket: str | None) -> None:
    """Write a saved call to the folder *path*; an older saved call there is replaced, other files in it are kept.

    Raises:
        SaveRefused: Something else is there, or the folder cannot be written.
    """
    _check(path)
    beside = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
    try:
        beside.parent.mkdir(parents=True, exist_ok=True)
        beside.mkdir()
        _fill(beside, header, frames, sound, ticket)
        _move(beside, path)
    except OSError as error:
        raise SaveRefused(path, f"it cannot be written ({error.strerror or error})") from error
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def _check(path: Path) -> None:
    if not path.name:
        raise SaveRefused(path, "this is no name for a folder")
    try:
        if path.exists() and not path.is_dir():
            raise SaveRefused(path, "there is a file of this name")
        if path.is_dir() and any(path.iterdir()) and (not (path / SAVED).is_file() or header_of(path) is None):
            raise SaveRefused(path, "the folder holds something else than a saved call")
    except OSError as error:
        raise SaveRefused(path, f"it cannot be read ({error.strerror or error})") from error


def _fill(folder: Path, header: dict[str, Any], frames: Sequence[Frame], sound: Sound, ticket: str | None) -> None:
    refs: dict[int, AudioRef] = {}
    speakers: tuple[Literal["caller", "agent"], ...] = ("caller", "agent")
    for speaker in speakers:
        audio.write_wav(folder / f"{speaker}.wav", _blocks(frames, speaker, sound, refs))
    with (folder / SAVED).open("wb") as file:
        file.write(_line({"handoffkit": SCHEMA} | {name: header[name] for name in _KEPT if name in header}))
        for frame in frames:
            if frame.audio is None and isinstance(frame, StoredFrame):
                file.write(frame.line + b"\n")
            else:
                file.write(_line(record(frame, refs.get(frame.seq))))
    if ticket is not None:
        (folder / "ticket.json").write_text(ticket, encoding="utf-8")
    for written in folder.iterdir():
        with written.open("rb+") as file:
            os.fsync(file.fileno())


def _blocks(
    frames: Sequence[Frame], speaker: Literal["caller", "agent"], sound: Sound, refs: dict[int, AudioRef]
) -> Iterator[bytes]:
    """Yield a speaker's sound, connection by connection, and note in *refs* where each frame's lies now."""
    side = "client" if speaker == "caller" else "server"
    conns: dict[str, list[Frame]] = {}
    for frame in frames:
        if frame.audio is not None and frame.dir == side:
            conns.setdefault(frame.conn, []).append(frame)
    start = 0
    for heard in conns.values():
        for frame in heard:
            assert frame.audio is not None
            block = sound.read(frame.audio)
            refs[frame.seq] = AudioRef(f"{speaker}.wav", start, len(block))
            start += len(block)
            yield block
        if start % audio.SAMPLE_WIDTH:  # half a sample would turn all that follows into noise
            start += 1
            yield b"\0"


def _move(beside: Path, path: Path) -> None:
    """Put the finished folder in its place. The older one is removed last; what else was in it moves along."""
    if not path.exists():
        os.replace(beside, path)
        return
    older = path.with_name(f"{beside.name}-older")
    os.replace(path, older)
    try:
        os.replace(beside, path)
    except OSError:
        os.replace(older, path)
        raise
    for other in older.iterdir():
        if other.name not in FILES:
            os.replace(other, path / other.name)
    shutil.rmtree(older, ignore_errors=True)


def _line(found: dict[str, Any]) -> bytes:
    try:
        return json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    except UnicodeEncodeError:  # half a surrogate pair, which JSON can carry and UTF-8 cannot
        return json.dumps(found, separators=(",", ":")).encode() + b"\n"
