"""The `usage` of a realtime response, estimated from the conversation: no tokenizer is shipped.

Text is counted by `usage.count_tokens`, and every item costs a few tokens more. Sound counts as the service documents
it: a token for 100 ms of a caller, for 50 ms of an agent. Cached is what the response before already counted, in whole
blocks of 64 tokens, sound first, as long as instructions and tools have not changed. Under the same instructions
totals come within about a third of recorded ones: near enough to see what a longer prompt costs, not to bill by.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ..usage import count_tokens as count
from .config import Settings
from .items import Entry

_ITEM = 4  # tokens that an item costs besides its words
_BLOCK = 64  # tokens that are cached together
_AROUND = {"message": 2, "spoken": 6, "function_call": 10}  # tokens that a reply costs besides its words


@dataclass(frozen=True, slots=True)
class Tally:
    """A number of tokens of text and of sound."""

    text: int = 0
    audio: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(self.text + other.text, self.audio + other.audio)

    @property
    def total(self) -> int:
        """Both together."""
        return self.text + self.audio


def given(settings: Settings, entries: Iterable[Entry]) -> Tally:
    """Return what a response reads: instructions, tools and the conversation."""
    tools = count(json.dumps(settings.tools)) // 2 if settings.tools else 0  # the service writes them shorter than JSON
    return sum((_read(entry) for entry in entries), Tally(count(settings.instructions) + tools))


def _read(entry: Entry) -> Tally:
    item = entry.item
    words = [str(item[name]) for name in ("name", "arguments", "output") if name in item]
    ms_per_token = 50 if item.get("role") == "assistant" else 100
    return Tally(_ITEM + sum(map(count, [*words, entry.words()])), entry.audio_ms // ms_per_token)


def made(outputs: Iterable[Entry], spoken: bool) -> Tally:
    """Return what a response wrote and said."""
    return sum((_written(entry, spoken) for entry in outputs), Tally())


def _written(entry: Entry, spoken: bool) -> Tally:
    item = entry.item
    if item["type"] == "function_call":
        return Tally(_AROUND["function_call"] + count(item["name"]) + count(item["arguments"]))
    return Tally(_AROUND["spoken" if spoken else "message"] + count(entry.words()), entry.audio_ms // 50)


def cached(read: Tally, before: Tally) -> Tally:
    """Return how much of *read* was already in the response *before*."""
    total = _blocks(min(read.total, before.total))
    audio = min(_blocks(min(read.audio, before.audio)), total)
    return Tally(min(total - audio, read.text), audio)


def _blocks(tokens: int) -> int:
    return tokens // _BLOCK * _BLOCK


def block(read: Tally, written: Tally, kept: Tally) -> dict[str, Any]:
    """Return the `usage` object; *kept* is the part of *read* that was cached."""
    return {
        "total_tokens": read.total + written.total,
        "input_tokens": read.total,
        "output_tokens": written.total,
        "input_token_details": {
            "text_tokens": read.text,
            "audio_tokens": read.audio,
            "image_tokens": 0,
            "cached_tokens": kept.total,
            "cached_tokens_details": {"text_tokens": kept.text, "audio_tokens": kept.audio, "image_tokens": 0},
        },
        "output_token_details": {"text_tokens": written.text, "audio_tokens": written.audio},
    }
