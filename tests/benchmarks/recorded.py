"""The recorded calls of audio/: the sound of each turn, what was said in it, and the ticket that a person would write.

Only here are the words and truths beside the recordings read; a call is given the sound alone.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

AUDIO = Path(__file__).resolve().parents[2] / "audio"
QUIET = "a quiet room"


@dataclass(frozen=True)
class Recorded:
    """One recorded call."""

    name: str
    files: tuple[Path, ...]
    """A turn each."""
    said: tuple[str, ...]
    """The words of each turn."""
    voice: str
    how: str
    """How it was recorded: rate, line and noise."""
    noise: str
    """The noise alone, or `QUIET`."""
    truth: dict[str, Any]

    def mentioned(self, summary: str) -> list[bool]:
        """Say of each thing that a summary should name whether it does: a word begins so, in any of the ways given."""
        wanted: list[str] = self.truth["mentions"]
        return [any(_begins(way, summary) for way in each.split("|")) for each in wanted]


def recorded(*, smallest: bool = False) -> list[Recorded]:
    """Return all the calls, or the shortest one."""
    calls = [_read(path.parent) for path in sorted(AUDIO.glob("*/truth.json"))]
    return [min(calls, key=lambda call: len(" ".join(call.said)))] if smallest else calls


def laptop() -> Recorded:
    """Return the call about the laptop that does not charge."""
    return _read(AUDIO / "laptop-will-not-charge")


def _read(folder: Path) -> Recorded:
    words = json.loads((folder / "words.json").read_text(encoding="utf-8"))
    truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    said = tuple(words["turns"])
    files = tuple(folder / f"turn-{number}.wav" for number in range(1, len(said) + 1))
    noise = f"{words['noise']} noise at {words['snr_db']:g} dB" if words["noise"] else QUIET
    how = [f"{words['rate'] / 1000:g} kHz", *["stereo"] * (words["channels"] == 2)]
    how += [*["telephone"] * words["telephone"], noise]
    return Recorded(folder.name, files, said, words["voice"], ", ".join(how), noise, truth)


def _begins(way: str, text: str) -> bool:
    return re.search(rf"\b{re.escape(way)}", text, re.IGNORECASE) is not None
