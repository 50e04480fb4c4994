"""Which agent spoke, and under whose instructions: the voices of a call, and when each of them was in force.

A voice is an agent where its name is known, else the instructions that a reply was made under. Views take colours and
names from here, so that they agree.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from ..marks import AGENT, LiveHandoff, Mark, OtherMark
from ..wire.dialogue import Turn
from .html import one_line
from .scale import Span

NAME_LIMIT = 40
"""Characters of an agent's name that are shown."""

LATE = "under the instructions before the handoff"
"""What views say of a reply that comes after a handoff and is not the new agent's."""
WORDS, LONG_BEGINNING = 80, 30
"""Characters of instructions that are shown; more than these at the beginning of all of them are left out."""

_OURS = ("caller", "operator", "tool", "agent", "—")
"""What views call others: an agent that is called so must not pass for one of them."""

Key = tuple[str, str]
"""What voices are told apart by."""


def key_of(name: str, instructions: str) -> Key:
    """Return what a voice is known by: the agent's name, else its instructions."""
    return (name, "") if name else ("", instructions)


def shown_name(name: str) -> str:
    """Return an agent's name in one short line, as no other speaker is called; empty if it has none."""
    shown = one_line(name, NAME_LIMIT)
    return f"{shown} (agent)" if shown.casefold() in _OURS else shown


@dataclass(frozen=True, slots=True)
class Voice:
    """An agent, or instructions whose agent nobody named."""

    name: str
    """Untrusted; empty where nobody has told."""
    instructions: tuple[str, ...]
    """Those that it spoke under, each once; untrusted."""


@dataclass(frozen=True, slots=True)
class Reign:
    """How long a voice had the call."""

    conn: str
    voice: int
    """An index of the voices."""
    start: float
    """Seconds since the log began."""
    end: float


@dataclass(frozen=True, slots=True)
class Takeover:
    """A live handoff, and how long the caller waited for the new agent."""

    mark: LiveHandoff
    voice: int
    """Who took over."""
    wait: Span | None
    """From the caller's last word to the new agent's first; None if either was not said."""

    def __str__(self) -> str:
        return f"handed to {one_line(self.mark.to, NAME_LIMIT) or 'an agent with other instructions'}"


@dataclass(frozen=True, slots=True)
class Cast:
    """Who speaks in a call."""

    voices: tuple[Voice, ...]
    """In the order in which they came to speak."""
    takeovers: tuple[Takeover, ...]
    reigns: tuple[Reign, ...]
    """By connection in order of time; empty where no call was handed over."""
    _numbers: dict[Key, int] = field(repr=False)
    _handed: dict[str, list[LiveHandoff]] = field(repr=False)
    """By connection, in order of time."""

    def voice_of(self, turn: Turn) -> int:
        """Return the number of the voice that a reply was made under; 0 for everybody else."""
        return self._numbers.get(key_of(turn.agent, turn.instructions), 0) if turn.speaker == "agent" else 0

    def name_of(self, turn: Turn) -> str:
        """Return the name of a reply's agent as it is shown; empty where there is one agent only, or no name."""
        several = len(self.voices) > 1 and turn.speaker == "agent"
        return shown_name(self.voices[self.voice_of(turn)].name) if several else ""

    def handed(self, conn: str, after: float, before: float) -> list[Takeover]:
        """Return the handoffs of a connection from one moment on, up to another (s)."""
        return [each for each in self.takeovers if each.mark.conn == conn and after <= each.mark.at < before]

    def is_late(self, turn: Turn) -> bool:
        """Tell whether a reply came after a handoff and was made under the instructions before it."""
        return is_late(turn, self._handed.get(turn.conn, ()))


def is_late(turn: Turn, handoffs: Sequence[LiveHandoff]) -> bool:
    """Tell whether a turn came after a handoff and was made under the instructions before it.

    Args:
        turn: A turn.
        handoffs: Those of its connection, in order of time.
    """
    count = bisect_right(handoffs, turn.start, key=lambda mark: mark.at)
    if turn.speaker != "agent" or turn.seeded or not count:
        return False
    now = handoffs[count - 1]
    return not _holds(turn, now.to, now.instructions) and any(
        _holds(turn, mark.by, mark.before) for mark in handoffs[:count]
    )


def _holds(turn: Turn, name: str, instructions: str) -> bool:
    """Tell whether a reply is of an agent, who goes by its instructions where it has no name."""
    return turn.agent == name if turn.agent and name else turn.instructions == instructions


def told_apart(voices: Sequence[Voice]) -> list[list[str]]:
    """Return the instructions of each of *voices* in one line, without a long beginning that all of them share."""
    told = [each for voice in voices for each in voice.instructions]
    alike = takewhile(lambda letters: len(set(letters)) == 1, zip(*told, strict=False))
    common = "".join(letters[0] for letters in alike) if len(told) > 1 else ""
    cut = max(common.rfind(". ") + 2, common.rfind("\n") + 1)
    cut = cut if cut > 1 else common.rfind(" ") + 1
    if len(common) <= LONG_BEGINNING or cut <= 1:
        return [[one_line(each, WORDS) for each in voice.instructions] for voice in voices]
    return [[f"… {one_line(each[cut:], WORDS)}" for each in voice.instructions] for voice in voices]


def cast(turns: Sequence[Turn], marks: Iterable[Mark]) -> Cast:
    """Return who speaks in *turns* (in the order of the conversation), and where *marks* say that agents changed."""
    marks = list(marks)
    said = [turn for turn in turns if not turn.seeded]
    replies = [turn for turn in said if turn.speaker == "agent"]
    handoffs = sorted((mark for mark in marks if isinstance(mark, LiveHandoff)), key=lambda mark: mark.at)
    names = {turn.instructions: turn.agent for turn in replies if turn.agent}
    names |= {mark.instructions: mark.to for mark in handoffs if mark.to}
    found: list[tuple[float, str, str]] = [(turn.start, turn.agent, turn.instructions) for turn in replies]
    begins = dict(_beginnings(said, handoffs, _first_name(marks) if handoffs else "", names))
    if handoffs:
        found += [(start, name, instructions) for start, name, instructions in begins.values()]
        found += [(mark.at, mark.to, mark.instructions) for mark in handoffs]
        found.sort(key=lambda one: one[0])
    by_key: dict[Key, dict[str, None]] = {}
    for _, name, instructions in found:
        by_key.setdefault(key_of(name, instructions), {})[instructions] = None
    numbers = {key: number for number, key in enumerate(by_key)}
    voices = tuple(Voice(name, tuple(filter(None, told))) for (name, _), told in by_key.items())
    takeovers = tuple(_takeovers(said, handoffs, numbers))
    by_conn: dict[str, list[LiveHandoff]] = {}
    for mark in handoffs:
        by_conn.setdefault(mark.conn, []).append(mark)
    return Cast(voices, takeovers, tuple(_reigns(said, marks, takeovers, begins, numbers)), numbers, by_conn)


def _first_name(marks: Iterable[Mark]) -> str:
    """Return the name that the kernel gave to the first agent, where nobody else has: of a call, not of several."""
    said = {mark.data.get("name") for mark in marks if isinstance(mark, OtherMark) and mark.name == AGENT}
    name = said.pop() if len(said) == 1 else None
    return name if isinstance(name, str) else ""


def _beginnings(
    said: Sequence[Turn], handoffs: Sequence[LiveHandoff], name: str, names: dict[str, str]
) -> Iterator[tuple[str, tuple[float, str, str]]]:
    """Yield for each connection with a handoff when it began (s), and with whom: name and instructions."""
    for conn in dict.fromkeys(mark.conn for mark in handoffs):
        first = next(mark for mark in handoffs if mark.conn == conn)
        start = min((turn.start for turn in said if turn.conn == conn), default=first.at)
        by = first.by or names.get(first.before, "") or name
        yield conn, (min(start, first.at), by, first.before)


def _takeovers(said: Sequence[Turn], handoffs: Sequence[LiveHandoff], numbers: dict[Key, int]) -> Iterator[Takeover]:
    for number, mark in enumerate(handoffs):
        until = next((each.at for each in handoffs[number + 1 :] if each.conn == mark.conn), float("inf"))
        key = key_of(mark.to, mark.instructions)
        ours = [turn for turn in said if turn.conn == mark.conn]
        first = next((turn for turn in ours if _opens(turn, key, mark.at, until)), None)
        asked = [turn.end for turn in ours if first and turn.speaker == "caller" and turn.start < first.start]
        wait = (asked[-1], first.start) if asked and first and first.start > asked[-1] else None
        yield Takeover(mark, numbers[key], wait)


def _opens(turn: Turn, key: Key, start: float, until: float) -> bool:
    """Tell whether a turn is words of an agent's that has the call from *start* *until* (s)."""
    is_its = turn.speaker == "agent" and key_of(turn.agent, turn.instructions) == key
    return is_its and start <= turn.start < until and bool(turn.generated or turn.text or turn.audio_ms)


def _reigns(
    said: Sequence[Turn],
    marks: Sequence[Mark],
    takeovers: Sequence[Takeover],
    begins: dict[str, tuple[float, str, str]],
    numbers: dict[Key, int],
) -> Iterator[Reign]:
    for conn, (start, name, instructions) in begins.items():
        changes = [(start, numbers[key_of(name, instructions)])]
        changes += [(each.mark.at, each.voice) for each in takeovers if each.mark.conn == conn]
        last = max([turn.end for turn in said if turn.conn == conn] + [mark.at for mark in marks if mark.conn == conn])
        ends = [*(at for at, _ in changes[1:]), last]
        yield from (Reign(conn, voice, at, max(at, end)) for (at, voice), end in zip(changes, ends, strict=True))
