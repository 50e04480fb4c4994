"""What is heard of the recorded calls, and what comes of it: wrong words per voice and noise, and right tickets.

Words are taken twice: recognised from the sound of each file, and from a call, where turn detection has cut it. The
calls are sent as fast as they go. `words` says what counts as an error.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from measure import Row, endpoint, run
from recorded import QUIET, Recorded, recorded
from spoken import hold, ticket
from words import errors, plain

from handoffkit import audio
from handoffkit.endpoint.speech.stt import Recogniser

WHAT = "What is heard of the recorded calls: wrong words, right tickets"

SNR_DB = 10.0
COLORS: tuple[Literal["pink", "white"], ...] = ("pink", "white")
FIELDS = ("category", "priority")


@dataclass
class Tally:
    """Wrong words and words in all, by what they are counted for."""

    wrong: Counter[str] = field(default_factory=Counter)
    said: Counter[str] = field(default_factory=Counter)

    def count(self, said: str, heard: str, *kinds: str) -> None:
        """Count what was heard of what was said, once for each of *kinds*."""
        words = plain(said)
        wrong = errors(words, plain(heard))
        for kind in kinds:
            self.wrong[kind] += wrong
            self.said[kind] += len(words)

    def rows(self, how: str) -> Iterator[Row]:
        """Yield a row for each kind; the one with the most words comes first."""
        for kind, of in self.said.most_common():
            yield Row.share(f"wrong words, {how}: {kind}", self.wrong[kind], of)


def measure(*, smallest: bool) -> list[Row]:
    """Return the rows for all recorded calls, or for the last turn of one."""
    calls = recorded(smallest=smallest)
    with endpoint(speech=True):
        in_calls, tickets = run(_held(calls))
    return [*_alone(calls).rows("file alone"), *in_calls.rows("in a call"), *tickets]


def _kinds(call: Recorded) -> tuple[str, ...]:
    return "all recordings", f"those with {call.noise}", f"{call.voice} ({call.how})"


def _alone(calls: Sequence[Recorded]) -> Tally:
    recogniser, tally = Recogniser(), Tally()
    for call in calls:
        for path, said in zip(call.files, call.said, strict=True):
            sound = audio.load(path)
            tally.count(said, recogniser.words(sound.pcm), *_kinds(call))
            if call.noise == QUIET:
                for color in COLORS:
                    noisy = sound.with_noise(SNR_DB, color=color)
                    tally.count(said, recogniser.words(noisy.pcm), f"those, with {color} noise at {SNR_DB:g} dB put in")
    return tally


async def _held(calls: Sequence[Recorded]) -> tuple[Tally, list[Row]]:
    """Hold every call, and have its ticket written."""
    tally, tickets = Tally(), []
    for recording in calls:
        call, heard = await hold(recording.files, realtime=False)
        for said, words in zip(recording.said, heard, strict=True):
            tally.count(said, words, *_kinds(recording))
        tickets.append(await ticket(call))
    return tally, list(_judged(calls, tickets))


def _judged(calls: Sequence[Recorded], tickets: Sequence[dict[str, Any]]) -> Iterator[Row]:
    """Yield a row for each field of the ticket; what is wrong is named below the table."""
    wrong: set[str] = set()
    for name in FIELDS:
        misses = {
            call.name: f"{call.name} is {fields[name]} and should be {call.truth[name]}"
            for call, fields in zip(calls, tickets, strict=True)
            if fields[name] != call.truth[name]
        }
        wrong |= misses.keys()
        yield _right(f"right in the ticket: {name}", list(misses.values()), len(calls))
    missing = [
        (call.name, way)
        for call, fields in zip(calls, tickets, strict=True)
        for way, there in zip(call.truth["mentions"], call.mentioned(fields["summary"]), strict=True)
        if not there
    ]
    wrong |= {name for name, _ in missing}
    of = sum(len(call.truth["mentions"]) for call in calls)
    yield _right("in the summary: what it should name", [f"{name} lacks {way}" for name, way in missing], of)
    yield Row.share("tickets that are right in all of that", len(calls) - len(wrong), len(calls))


def _right(what: str, misses: Sequence[str], of: int) -> Row:
    return Row.share(what, of - len(misses), of, "; ".join(misses))
