"""Numbers in a frame of a conversation: which part of an item it is about, how much sound, how many tokens."""

from typing import Any

from .dialogue import Usage
from .frames import AUDIO_FIELDS, Frame, text


def part_number(data: dict[str, Any]) -> int:
    """Return the number of the content part that a frame is about."""
    number = data.get("content_index")
    return number if isinstance(number, int) else 0


def sound_bytes(data: dict[str, Any], frame: Frame) -> int:
    """Return the bytes of sound in a frame; in one that is not from a log the sound is still base64."""
    if frame.audio is not None:
        return frame.audio.bytes
    return len(text(data, AUDIO_FIELDS[frame.event]) or "") * 3 // 4


def tokens(usage: dict[str, Any]) -> Usage | None:
    """Return the tokens of a response; None if it does not tell."""
    counts = [usage.get(name) for name in ("input_tokens", "output_tokens")]
    return Usage(*(count if isinstance(count, int) else 0 for count in counts)) if usage else None
