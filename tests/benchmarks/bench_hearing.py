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
    """Yield a row for each field of the ticket; what is wrong in it is named."""
    good = [True] * len(calls)
    for name in FIELDS:
        right = [call.truth[name] == fields[name] for call, fields in zip(calls, tickets, strict=True)]
        good = [a and b for a, b in zip(good, right, strict=True)]
        wrong = [
            f"{call.name}: {fields[name]}, not {call.truth[name]}"
            for call, fields, fits in zip(calls, tickets, right, strict=True)
            if not fits
        ]
        yield Row.share(_named(f"right tickets: {name}", wrong), sum(right), len(right))
    mentioned = [call.mentioned(fields["summary"]) for call, fields in zip(calls, tickets, strict=True)]
    good = [a and all(named) for a, named in zip(good, mentioned, strict=True)]
    missing = [
        f"{call.name}: {what}"
        for call, named in zip(calls, mentioned, strict=True)
        for what, there in zip(call.truth["mentions"], named, strict=True)
        if not there
    ]
    of = sum(map(len, mentioned))
    yield Row.share(_named("what the summary should name", missing), of - len(missing), of)
    yield Row.share("right tickets: all of that", sum(good), len(good))


def _named(what: str, wrong: Sequence[str]) -> str:
    return f"{what} (but {'; '.join(wrong)})" if wrong else what
