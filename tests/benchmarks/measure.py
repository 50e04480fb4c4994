"""What the benchmarks share: rows with median and spread, paired ratios, and what an endpoint process has used."""

import asyncio
import contextlib
import io
import os
import platform
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeVar

import psutil

import handoffkit as hk
from handoffkit.connect import Endpoint, _message, current

PACKAGES = ("handoffkit", "pydantic-ai-slim", "openai-agents", "openai", "tornado", "websockets", "pydantic")
SPEECH = ("faster-whisper", "ctranslate2", "onnxruntime", "hibari-tts")
"""What hears and speaks, where it is installed."""

Found = TypeVar("Found")

FIRST = "My laptop does not charge, and its light stays off when I plug it in."
SECOND = "I tried another outlet and nothing changed. I have a presentation tomorrow."
"""What the caller says in every typed call here."""

ENOUGH = 20
"""Values from which on the 95th part is told."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: a quantity, measured *n* times."""

    what: str
    unit: str
    value: float
    """The median; of a `share`, what all *n* together come to."""
    min: float | None
    p95: float | None
    """None where there are fewer than twenty values, of which no 95th part can be told."""
    max: float | None
    n: int
    aim: str = ""
    """What was hoped for; empty where nothing was."""
    note: str = ""
    """What is to be said about it below the table."""

    @classmethod
    def of(cls, what: str, unit: str, values: Sequence[float], aim: str = "") -> "Row":
        """Sum up *values*, which are in *unit*."""
        p95 = percentile(values, 95) if len(values) >= ENOUGH else None
        return cls(what, unit, statistics.median(values), min(values), p95, max(values), len(values), aim)

    @classmethod
    def share(cls, what: str, part: int, of: int, note: str = "") -> "Row":
        """Return the row that says how many in a hundred *part* of *of* are."""
        return cls(what, "%", 100 * part / of, None, None, None, of, note=note)


def percentile(values: Sequence[float], percent: float) -> float:
    """Return what *percent* of the values are no greater than; between two values it lies on the line between."""
    ordered = sorted(values)
    place = (len(ordered) - 1) * percent / 100
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def ratios(of: Sequence[float], to: Sequence[float]) -> list[float]:
    """Return how many times as much each of *of* is as what was measured beside it."""
    return [a / b for a, b in zip(of, to, strict=True)]


def machine() -> dict[str, Any]:
    """Return the facts about this machine that a number depends on, and how busy it was."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cores": os.cpu_count(),
        "memory_gb": round(psutil.virtual_memory().total / 2**30, 1),
        "load_before": [round(number, 2) for number in psutil.getloadavg()],
        "packages": {name: version(name) for name in PACKAGES} | _versions(SPEECH),
    }


def _versions(names: Sequence[str]) -> dict[str, str]:
    found = {}
    for name in names:
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


@contextmanager
def quiet() -> Iterator[None]:
    """Keep what `connect` prints out of a benchmark's output."""
    with contextlib.redirect_stdout(io.StringIO()):
        yield


@contextmanager
def endpoint(model: Any = None, *, speech: bool = False) -> Iterator[Endpoint]:
    """Connect to a simulation for one block; with *speech* it hears and speaks, else its replies are silence."""
    with quiet():
        hk.connect(model=model, speech=speech)
    try:
        yield current()
    finally:
        hk.disconnect()


@contextmanager
def relay(model: Any = None) -> Iterator[tuple[Endpoint, Endpoint]]:
    """Connect to a live endpoint whose upstream is a second one, which plays the service; yield both."""
    service = Endpoint()
    service.configure(_message("simulated", model, None, ()))
    kept = os.environ.get("OPENAI_API_KEY")
    os.environ["OPENAI_API_KEY"] = service.token
    try:
        with quiet():
            hk.connect("live", upstream=service.base_url)
        yield current(), service
    finally:
        hk.disconnect()
        service.stop()
        os.environ.pop("OPENAI_API_KEY") if kept is None else os.environ.update(OPENAI_API_KEY=kept)


def cpu(process: Endpoint) -> float:
    """Return the CPU seconds that an endpoint process has used, in the system's ticks (10 ms on Linux)."""
    times = psutil.Process(process.pid).cpu_times()
    return times.user + times.system


@dataclass(slots=True)
class Stopwatch:
    """Measures one block: CPU of this process and time on the wall, in ms."""

    cpu: float = 0.0
    wall: float = 0.0

    def __enter__(self) -> "Stopwatch":
        self.cpu, self.wall = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.cpu = 1e3 * (time.process_time() - self.cpu)
        self.wall = 1e3 * (time.perf_counter() - self.wall)


async def alternating(
    one: Callable[[], Awaitable[Found]], other: Callable[[], Awaitable[Found]], rounds: int, warm_up: int
) -> tuple[list[Found], list[Found]]:
    """Run both in turn, beginning with the other one each time; return what each found after the rounds to warm up."""
    found: tuple[list[Found], list[Found]] = [], []
    for number in range(warm_up + rounds):
        both = [(one, found[0]), (other, found[1])]
        for side, kept in both if number % 2 else both[::-1]:
            kept.append(await side())
    return found[0][warm_up:], found[1][warm_up:]


def run(measuring: Coroutine[Any, Any, Found]) -> Found:
    """Run the coroutine that measures, and return what it found."""
    return asyncio.run(measuring)


def python(*arguments: str) -> list[str]:
    """Return the command that starts a fresh interpreter like this one."""
    return [sys.executable, *arguments]
