"""The event log: every frame of the wire, read from the file that the endpoint process writes.

`hk.log()` and `call.log` give one; `hk.load` opens a saved call, `hk.recover` what a kernel that died has left. Turns
and marks are derived from the frames; pictures come from `views`.
"""

import asyncio
import base64
import sys
import tempfile
import threading
import time
import warnings
from bisect import bisect_right
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from html import escape
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, overload

from . import audio
from .errors import LogDamaged, LogEmpty, NothingToRecover, SaveRefused, SeveralCalls
from .marks import Derivation, Mark, Turn, derive
from .turns import TurnEnd
from .wire.frames import AUDIO_FIELDS, Frame
from .wire.left_behind import left_behind
from .wire.log_file import LogFile
from .wire.patterns import Pattern, fitting
from .wire.saved_call import Sound, write
from .wire.spans import spans

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

    from .views import Table, Timeline, Transcript

__all__ = ["EventLog", "Grew", "load", "recover"]

Grew = Callable[[int, float], Awaitable[object]]
"""Waits until the log has frames after a number, at the longest so many seconds."""

_POLL = 0.05
"""Seconds between two looks at the file, where nobody says that it has grown."""


class EventLog(Sequence[Frame]):
    """The frames of a log, oldest first. Each use reads what is new in the file, and only that.

    Args:
        folder: The folder that an endpoint writes, or a saved call.
        grew: Waits until the log has grown; without it the file is looked at every 50 ms.

    Raises:
        LogNotFound: There is no log in *folder*.
    """

    def __init__(self, folder: str | Path, grew: Grew | None = None) -> None:
        self.folder = Path(folder)
        self._file: LogFile | None = LogFile(self.folder, growing=True)
        self._saved = self._file.saved
        self._grew = grew
        self._frames: list[Frame] = []
        self._derived: Derivation | None = None
        self._reading = threading.RLock()  # a tool may look at the log from a thread of its own
        self._warned = 0
        self._header: dict[str, Any] = {}
        self.damaged: str | None = None
        """What of the file cannot be read, in words; None if all of it can."""

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Open a saved call, or a log that nobody writes any more.

        What can be read is read: of a damaged log everything but the damaged lines, and a warning (`LogDamaged`) says
        what is missing.

        Raises:
            LogNotFound: There is no log in the folder *path*.
            NotALog, LogUnknown, LogEmpty: The file is none that this version reads.
        """
        log = cls(Path(path).expanduser())
        assert log._file is not None
        log._file.growing = False
        log.refresh()
        if log._file.header is None:
            raise LogEmpty(log._file.path)
        log._file = None
        return log

    def refresh(self) -> None:
        """Read what is new in the file. Everything else here does so by itself."""
        if self._file is None:
            return
        with self._reading:
            for frame, data in self._file.new():
                self._frames.append(frame)
                if self._derived is not None:
                    self._derived.feed(frame, data)
            self._header = self._file.header or {}
            if len(self._file.bad) > self._warned:
                self._warned = len(self._file.bad)
                self.damaged = self._file.damage()
                warnings.warn(LogDamaged(str(self.damaged)), stacklevel=_outside())

    @property
    def frames(self) -> list[Frame]:
        """The frames, oldest first."""
        self.refresh()
        return list(self._frames)

    @property
    def header(self) -> dict[str, Any]:
        """The facts in the log's first line: `started` (seconds since 1970), `mode` and others."""
        self.refresh()
        return dict(self._header)

    def __len__(self) -> int:
        self.refresh()
        return len(self._frames)

    def __iter__(self) -> Iterator[Frame]:
        self.refresh()
        return islice(self._frames, len(self._frames))

    @overload
    def __getitem__(self, index: int) -> Frame: ...
    @overload
    def __getitem__(self, index: slice) -> list[Frame]: ...
    def __getitem__(self, index: int | slice) -> Frame | list[Frame]:
        self.refresh()
        return self._frames[index]

    def filter(
        self,
        event: Pattern = None,
        *,
        channel: Pattern = None,
        dir: Pattern = None,
        conn: Pattern = None,
        label: Pattern = None,
        after_seq: int | None = None,
    ) -> "EventLog":
        """Return the frames that fit, as they are now, with the same ways to read them.

        Args:
            event: A pattern such as `response.*`, or several of which one has to fit; so for the others.
            channel: `realtime`, `responses`, `chat`, `conversations`, `mark`, `trace`, `other`.
            dir: `client` or `server`.
            conn: A connection, `c1`, `c2`, …; the kernel's marks about it count.
            label: What the client called its connection, `call-1`, `call-1/handoff-1`.
            after_seq: Only frames after this number.
        """
        self.refresh()
        fits = fitting(event, channel, dir, conn, label)
        first = 0 if after_seq is None else bisect_right(self._frames, after_seq, key=lambda frame: frame.seq)
        later = self._frames[first:] if first else self._frames
        return self._view([frame for frame in later if fits(frame)])

    def _view(self, frames: list[Frame]) -> "EventLog":
        view = EventLog.__new__(EventLog)
        view.folder, view._saved, view._grew = self.folder, self._saved, self._grew
        view._file, view._frames, view._derived, view._warned = None, frames, None, 0
        view._reading = self._reading
        view._header, view.damaged = self._header, self.damaged
        return view

    # What the frames mean.

    @property
    def derived(self) -> Derivation:
        """The fold that turns frames into turns and marks, up to the last frame."""
        with self._reading:
            self.refresh()
            if self._derived is None:
                self._derived = derive(self._frames)
            return self._derived

    @property
    def turns(self) -> list[Turn]:
        """What was said, connection by connection, in the order of the conversation."""
        return self.derived.turns

    @property
    def marks(self) -> list[Mark]:
        """What happened, in order: turns complete, interruptions, handoffs, extractions, the end of the call."""
        return list(self.derived.marks)

    @property
    def ends(self) -> list[TurnEnd]:
        """The verdict on each turn that has ended, in the order in which they ended."""
        return list(self.derived.ends)

    @property
    def open_turns(self) -> dict[str, str]:
        """By connection: what is outstanding, in words, where a turn has not ended."""
        return self.derived.open_turns

    def messages(self) -> "list[ModelMessage]":
        """Return the call as pydantic-ai's message history: to seed a new call with, to convert, or to hand off.

        Raises:
            SeveralCalls: There is more than one call in the log.
        """
        from .history import messages

        calls = dict.fromkeys(turn.label or turn.conn for turn in self.turns)
        if len(calls) > 1:
            raise SeveralCalls(list(calls))
        return messages(self.turns)

    def transcript(self, **options: Any) -> "Transcript":
        """Show who said what; see `handoffkit.views.transcript` for the options."""
        from . import views

        return views.transcript(self, **options)

    def table(self, **options: Any) -> "Table":
        """Show the frames as a table, raw JSON on demand; see `handoffkit.views.table` for the options."""
        from . import views

        return views.table(self, **options)

    def timeline(self) -> "Timeline":
        """Draw who spoke when, with the gaps between in milliseconds."""
        from . import views

        return views.timeline(self)

    # Sound and raw JSON.

    def audio_bytes(self, frame: Frame) -> bytes:
        """Return the sound of *frame* as PCM16, mono, 24000 Hz; empty if it has none, or the file is gone."""
        if frame.audio is None:
            return b""
        with Sound(self.folder, saved=self._saved) as sound:
            return sound.read(frame.audio)

    def pcm(self, speaker: Literal["caller", "agent"], conn: str) -> bytes:
        """Return all the sound that a side has sent over a connection, as PCM16, mono, 24000 Hz."""
        side = {"caller": "client", "agent": "server"}[speaker]
        with Sound(self.folder, saved=self._saved) as sound:
            heard = (frame for frame in self if frame.audio and frame.conn == conn and frame.dir == side)
            return b"".join(sound.read(frame.audio) for frame in heard if frame.audio)

    def sound(self, turn: Turn) -> audio.Sound:
        """Return the sound of a spoken *turn*, which plays in a notebook; empty for a typed one.

        Of a reply it is all that was made, also what nobody heard.
        """
        refs = spans((frame for frame in self if frame.conn == turn.conn), turn.item_id)
        with Sound(self.folder, saved=self._saved) as sound:
            pcm = b"".join(sound.read(ref) for ref in refs)
        return audio.Sound(pcm, f"{turn.speaker}'s turn", "24000 Hz, 16 bit, mono")

    def raw(self, frame: Frame) -> dict[str, Any]:
        """Return the JSON of *frame* as it was on the wire, its sound as base64 again."""
        data = frame.data
        if frame.audio is not None and frame.event in AUDIO_FIELDS:
            data = data | {AUDIO_FIELDS[frame.event]: base64.b64encode(self.audio_bytes(frame)).decode()}
        return data

    # Following, saving.

    async def follow(
        self,
        event: Pattern = None,
        *,
        channel: Pattern = None,
        conn: Pattern = None,
        label: Pattern = None,
        after_seq: int = 0,
        idle_timeout: float = 30.0,
    ) -> AsyncIterator[Frame]:
        """Yield the frames after the number *after_seq*, and then those that come, as they come.

        It ends when nothing new has come for *idle_timeout* seconds. `after_seq=len(log)` waits for new frames only;
        the other arguments are those of `filter`.
        """
        fits = fitting(event, channel, None, conn, label)
        done, last = 0, time.monotonic()
        while True:
            self.refresh()
            new = self._frames[done:]
            for frame in new:
                if frame.seq > after_seq and fits(frame):
                    yield frame
            done += len(new)
            if new:
                last = time.monotonic()
            elif (left := last + idle_timeout - time.monotonic()) <= 0 or self._file is None:
                return
            else:
                await self._growth(left)

    async def _growth(self, timeout: float) -> None:
        seq = self._frames[-1].seq if self._frames else 0
        if self._grew is not None:
            await self._grew(seq, timeout)
        if self._grew is None or not self._has_grown():
            await asyncio.sleep(min(_POLL, timeout))

    def _has_grown(self) -> bool:
        before = len(self._frames)
        self.refresh()
        return len(self._frames) > before

    def save(self, path: str | Path, *, ticket: str | None = None) -> Path:
        """Save these frames and their sound as a folder, which `hk.load` opens, and return its path.

        The folder is there whole or not at all. An older saved call of the same name is replaced; anything else is
        left alone, and refused.

        Args:
            path: The folder; missing folders above it are made.
            ticket: JSON that is put into `ticket.json`.

        Raises:
            SaveRefused: Something else is there, or the place cannot be written.
        """
        self.refresh()
        target = Path(path).expanduser().absolute()
        target = target.resolve() if target.is_symlink() else target
        if self._file is None and target.exists() and target.samefile(self.folder) and len(self) < self._lines():
            raise SaveRefused(target, "it is the call that these frames were filtered from")
        with Sound(self.folder, saved=self._saved) as sound:
            write(target, self._header, self._frames, sound, ticket)
        return target

    def _lines(self) -> int:
        return sum(1 for _ in LogFile(self.folder, growing=False).new())

    def __repr__(self) -> str:
        return f"<EventLog: {self._words()}>"

    def _repr_html_(self) -> str:
        return f"<p>Event log: {escape(self._words())}</p>"

    def _words(self) -> str:
        frames = self.frames
        channels = ", ".join(dict.fromkeys(frame.channel for frame in frames))
        damage = f"damaged: {self.damaged}" if self.damaged else ""
        count = f"{len(frames):,} frame{'' if len(frames) == 1 else 's'}"
        return "; ".join(filter(None, (count, channels, damage)))


def load(path: str | Path) -> EventLog:
    """Open a saved call: a folder that `call.save` or `log.save` has written; see `EventLog.load`."""
    return EventLog.load(path)


@overload
def recover(*, all: Literal[False] = False) -> EventLog: ...
@overload
def recover(*, all: Literal[True]) -> list[EventLog]: ...
def recover(*, all: bool = False) -> EventLog | list[EventLog]:
    """Open what a kernel that died has left behind: the newest log of yours whose kernel is gone.

    Args:
        all: Return all such logs, newest first; there may be none.

    Raises:
        NothingToRecover: There is no such log (not with `all`).
    """
    root = Path(tempfile.gettempdir())
    folders = left_behind(root)
    if all:
        return [EventLog.load(folder) for folder in folders]
    if not folders:
        raise NothingToRecover(root)
    return EventLog.load(folders[0])


def _outside() -> int:
    """Return the stack level of the line outside this module that caused a warning."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__") == __name__:
        level, frame = level + 1, frame.f_back
    return level
