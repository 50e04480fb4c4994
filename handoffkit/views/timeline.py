"""A log, or its turns, as a picture in time: who spoke when, how long the caller waited, what the tools did."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from ..marks import CallEnded, Extraction, Mark, Silence
from ..wire.conversation import Turn
from .html import one_line
from .lanes import score
from .voices import LATE, cast

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN_PER_INCH = 100
"""CSS pixels: the picture is finer than it is shown, for screens that are finer, too."""

_BEGINNING, _TURNS = 80, 20  # characters of a turn, and turns, that are told in words


class HasMarks(Protocol):
    """A log, as far as a timeline needs one."""

    @property
    def turns(self) -> list[Turn]:
        """The turns, in the order of the conversation."""
        ...

    @property
    def marks(self) -> list[Mark]:
        """The marks, in the order in which they happened."""
        ...


def timeline(log: HasMarks | Iterable[Turn]) -> "Timeline":
    """Draw the call in *log* as it is now; given only its turns, without extractions and how the call ended."""
    given: Any = log
    return Timeline(tuple(getattr(given, "turns", given)), tuple(getattr(given, "marks", ())))


@dataclass(frozen=True, slots=True, repr=False)
class Timeline:
    """The picture: show it as a cell's last line. Its text says only what is the same on every run."""

    turns: Sequence[Turn]
    marks: Sequence[Mark]

    @property
    def figure(self) -> "Figure":
        """The picture as a matplotlib figure, to add to or to save in another format."""
        return self._drawn()[0]

    @property
    def alt(self) -> str:
        """The picture in words, for who cannot see it: what `str` says, and the beginning of each turn."""
        return "\n".join([str(self), *self._told()])

    def _told(self) -> Iterator[str]:
        """Yield the first turns in words, and between them who took the call over."""
        who, until = cast(self.turns, self.marks), dict.fromkeys({turn.conn for turn in self.turns}, float("-inf"))
        for turn in self.turns[:_TURNS]:
            if not turn.seeded and turn.start > until[turn.conn]:
                handed = who.handed(turn.conn, until[turn.conn], turn.start)
                yield from (f"→ {each}" for each in handed)
                until[turn.conn] = turn.start
            late = f" [{LATE}]" if who.is_late(turn) else ""
            yield f"{who.name_of(turn) or turn.speaker.capitalize()}: {one_line(turn.text, _BEGINNING)}{late}"

    @property
    def png(self) -> bytes:
        """The picture as PNG: the same bytes for the same call."""
        return self._png()[0]

    def __str__(self) -> str:
        said = [turn for turn in self.turns if not turn.seeded]
        attempts = [mark for mark in self.marks if isinstance(mark, Extraction)]
        who = cast(self.turns, self.marks)
        parts = [
            _count(sum(turn.speaker == "caller" for turn in said), "caller turn"),
            _count(sum(turn.speaker == "agent" for turn in said), "reply", "replies"),
            _count(sum(turn.speaker == "operator" for turn in said), "operator turn"),
            _count(sum(len(turn.tools) for turn in said), "tool call"),
            _count(sum(turn.interrupted for turn in said), "interruption"),
            _count(sum(turn.inaudible for turn in said), "inaudible turn"),
            _count(len(self.turns) - len(said), "seeded turn"),
            _count(len(who.takeovers), "live handoff"),
            _count(sum(map(who.is_late, said)), f"reply {LATE}", f"replies {LATE}"),
            _count(sum(isinstance(mark, Silence) for mark in self.marks), "silence"),
            _count(len({mark.label for mark in attempts}), "extraction"),
            _count(sum(mark.status != "ok" for mark in attempts), "failed attempt"),
            *("call ended" if mark.clean else "call ended early" for mark in self.marks if isinstance(mark, CallEnded)),
        ]
        return f"Timeline: {', '.join(filter(None, parts)) or 'nothing has been said yet'}"

    __repr__ = __str__

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        data, width, height = self._png()
        return data, {"width": width, "height": height, "alt": self.alt}

    def _png(self) -> tuple[bytes, int, int]:
        """Return the PNG, and the width and height at which it is to be shown, in CSS pixels."""
        from .png import png

        figure, voices = self._drawn()
        width, height = (round(inches * SHOWN_PER_INCH) for inches in figure.get_size_inches())
        return png(figure, voices), width, height

    def _drawn(self) -> "tuple[Figure, int]":
        """Return the picture, and how many agents have colours in it."""
        from .picture import draw

        shown = score(self.turns, self.marks)
        return draw(shown), len(shown.voices)


def _count(number: int, one: str, many: str = "") -> str:
    return "" if not number else f"{number} {one if number == 1 else many or one + 's'}"
