"""How a reply that was cut off says so to a model that reads text: as pydantic-ai says it to one."""

import re

from pydantic_ai.messages import SpeechPart

_MARKER = re.compile(r"(?:\A|\n)\[Interrupted(?: after (\d+) ms)?\]\Z")


def marked(part: SpeechPart, *, cut: bool) -> str:
    """Return the words of a spoken reply, and behind them after how many milliseconds it was cut off, if it was.

    `Model.prepare_messages` of pydantic-ai (2.68) writes the same, so that an agent of either SDK reads the same.
    """
    lines = [part.transcript] if part.transcript else []
    if part.interrupted_at_ms is not None:
        lines.append(f"[Interrupted after {part.interrupted_at_ms} ms]")
    elif cut:
        lines.append("[Interrupted]")
    return "\n".join(lines)


def unmarked(text: str) -> SpeechPart | None:
    """Return the spoken reply that *text* was made from by `marked`, or None if it has no mark."""
    found = _MARKER.search(text)
    if found is None:
        return None
    after = int(found[1]) if found[1] else None
    return SpeechPart(speaker="assistant", transcript=text[: found.start()] or None, interrupted_at_ms=after)
