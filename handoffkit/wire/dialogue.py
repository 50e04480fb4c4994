"""Turns: what was said as the transcript has it, and how the items of the wire become that.

`conversation.py` keeps the items; here they are put into words. Nothing here reads a frame.
"""

import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from .agents import Voice

Speaker = Literal["caller", "agent", "operator"]
Kind = Literal["message", "call", "other"]


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool that the agent called."""

    name: str
    arguments: str
    """JSON, as the model wrote it."""
    output: str | None
    """What the tool returned; None while (or because) nothing came back."""
    start: float
    """Seconds since the log began, when the call was complete on the wire."""
    end: float | None
    """Seconds since the log began, when the client sent the output."""
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of a reply, all the responses that make it up together."""

    input_tokens: int = 0
    output_tokens: int = 0
    responses: int = 1


@dataclass(frozen=True, slots=True, repr=False)
class Turn:
    """Something that one side said, whole or as far as it has come."""

    conn: str
    """The connection, `c1`, `c2`, …"""
    speaker: Speaker
    """`caller`, `agent`, or `operator` (text that steers the agent and was said by nobody)."""
    text: str
    """The words. Of an interrupted reply: only what was heard, estimated (see `heard_ms`)."""
    start: float
    """Seconds since the log began: the caller begins, or the first piece of the reply arrives."""
    end: float
    """Seconds since the log began: the caller ends, or the last piece of the reply has arrived."""
    seq: int
    """The frame with which the turn came into the conversation."""
    item_id: str
    """OpenAI's id of the item; empty while the service has not named it."""
    spoken: bool = False
    """True for sound, False for typed or written words."""
    interrupted: bool = False
    """The reply was cut off."""
    heard_ms: int | None = None
    """How much of an interrupted reply was heard, in milliseconds of its sound; None where nobody said."""
    inaudible: bool = False
    """Somebody spoke, and no words ever came of it."""
    audio_ms: int = 0
    """Length of the sound in milliseconds."""
    tools: tuple[ToolUse, ...] = ()
    """The tools that the agent called for this reply, in order."""
    instructions: str = ""
    """The instructions in force when the reply was made; empty for the caller."""
    response_id: str = ""
    """OpenAI's id of the response; empty for the caller."""
    usage: Usage | None = None
    """Tokens of the reply, once it has ended."""
    seeded: bool = False
    """Given to the session as history, not said in it."""
    generated: str = ""
    """All the words that the model made, also those that nobody heard; empty for the caller."""
    pending: bool = False
    """Words are still on their way: a transcript that is due, or a reply that is being made."""
    label: str | None = None
    """The call that the connection belongs to, if the client said so."""
    agent: str = ""
    """The name of the agent that the reply was made by; empty for the caller, and where nobody has told."""

    def __repr__(self) -> str:
        """Return one short line for a notebook; quoted, since whatever was said is text."""
        words = "[inaudible]" if self.inaudible else repr(textwrap.shorten(self.text, 300, placeholder=" …"))
        return f"{self.speaker.capitalize()}: {words}{' [interrupted]' if self.interrupted else ''}"

    def _repr_html_(self) -> str:
        from ..views import transcript

        return transcript([self])._repr_html_()


@dataclass(slots=True, eq=False)
class Reply:
    """A response of the service, as far as turns need it."""

    id: str
    instructions: str
    spoken: bool
    voice: Voice
    items: "list[Item]" = field(default_factory=list)
    usage: Usage | None = None
    behind: "Item | None" = None
    """The item that stood last when it began."""


@dataclass(slots=True, eq=False)
class Item:
    """An item of a conversation while it grows."""

    id: str
    kind: Kind
    speaker: Speaker
    seq: int
    at: float
    by_client: bool = False
    spoken: bool = False
    start: float | None = None
    end: float | None = None
    pieces: dict[int, list[str]] = field(default_factory=dict)
    """Text by the number of the content part, as it streams."""
    whole: dict[int, str] = field(default_factory=dict)
    """Text by the number of the content part, once it is whole."""
    audio_bytes: int = 0
    audio_ms: int = 0
    interrupted: bool = False
    heard_ms: int | None = None
    inaudible: bool = False
    pending: bool = False
    seeded: bool = False
    hidden: bool = False
    """Nobody said it, such as silence that the service committed."""
    reply: Reply | None = None
    name: str = ""
    arguments: str = ""
    call_id: str = ""
    output: str | None = None

    @property
    def is_nameless_reply(self) -> bool:
        """Whether it is a reply that was stopped before the service made an item of it."""
        return self.speaker == "agent" and not self.id and not self.by_client

    def text(self) -> str:
        """Return all the words so far."""
        parts = sorted(self.pieces.keys() | self.whole.keys())
        return "\n".join(filter(None, (self.part(part) for part in parts)))

    def part(self, number: int) -> str:
        """Return the words of one content part: whole, or as far as they have come."""
        streamed = self.pieces.get(number)
        if streamed is not None and len(streamed) > 1:
            streamed[:] = ["".join(streamed)]
        pieces = streamed[0] if streamed else ""
        return max(self.whole.get(number, ""), pieces, key=len)

    def tool(self) -> ToolUse:
        """Return the tool call that this item is."""
        return ToolUse(self.name, self.arguments, self.output, self.at, self.end, self.call_id)


News = tuple[Literal["interrupted", "inaudible"], Item, str]
"""What happened to an item that is worth a mark, and how it came about, in plain words."""


def turns_of(items: Sequence[Item], conn: str, label: str | None, first: int = 0) -> Iterator[tuple[int, Turn]]:
    """Yield the turns that *items* make from number *first* on, each with the number of its first item.

    A tool call belongs to the words of its own response or, where that has none, to the agent's next words; if no such
    words come before somebody else speaks, the call is a turn without words. *first* must not stand between a call and
    its words.
    """
    calls: list[tuple[int, Item]] = []
    said: tuple[int, Item, list[Item]] | None = None

    def close() -> Iterator[tuple[int, Turn]]:
        nonlocal said
        if said is not None:
            yield said[0], _turn(said[1], said[2], conn, label)
        if calls:
            yield calls[0][0], _turn(calls[0][1], [call for _, call in calls], conn, label)
            calls.clear()
        said = None

    for number in range(first, len(items)):
        item = items[number]
        if item.kind == "other":
            continue
        if item.hidden:
            yield from close()
        elif item.speaker != "agent":
            yield from close()
            yield number, _turn(item, [], conn, label)
        elif item.kind == "call" and said is not None and item.reply is not None and said[1].reply is item.reply:
            said[2].append(item)
        elif item.kind == "call":
            calls.append((number, item))
        else:
            if said is not None:
                yield said[0], _turn(said[1], said[2], conn, label)
            said = calls[0][0] if calls else number, item, [call for _, call in calls]
            calls.clear()
    yield from close()


def _turn(item: Item, calls: Sequence[Item], conn: str, label: str | None) -> Turn:
    generated = item.text() if item.speaker == "agent" else ""
    words, heard_ms = _heard(item, generated) if item.speaker == "agent" else (_words(item), None)
    start = item.at if item.start is None else item.start
    reply = item.reply
    return Turn(
        conn=conn,
        speaker=item.speaker,
        text=words if item.kind == "message" else "",
        start=start,
        end=start if item.end is None else max(start, item.end),
        seq=item.seq,
        item_id=item.id,
        spoken=item.spoken,
        interrupted=item.interrupted,
        heard_ms=heard_ms,
        inaudible=item.inaudible,
        audio_ms=item.audio_ms,
        tools=tuple(call.tool() for call in calls),
        instructions=reply.instructions if reply else "",
        response_id=reply.id if reply else "",
        usage=_usage(list(dict.fromkeys([item, *calls]))),
        seeded=item.seeded,
        generated=generated,
        pending=item.pending,
        label=label,
        agent=reply.voice.agent if reply else "",
    )


def _words(item: Item) -> str:
    """Return what a caller or an operator said; words that are recognised in pieces begin with a space."""
    return item.text().lstrip() if item.spoken else item.text()


def _heard(item: Item, generated: str) -> tuple[str, int | None]:
    """Return what of a reply was heard: the words, and the milliseconds if they are known.

    Without word from the client, the words that had arrived count as heard; sound of which nothing had arrived was not.
    """
    if not item.interrupted:
        return generated, None
    heard_ms = item.heard_ms
    if heard_ms is None and item.spoken and not item.audio_ms:
        heard_ms = 0
    return (generated, None) if heard_ms is None else (heard_prefix(generated, heard_ms, item.audio_ms), heard_ms)


def heard_prefix(words: str, heard_ms: int, audio_ms: int) -> str:
    """Return the part of *words* that was heard in the first *heard_ms* of *audio_ms* milliseconds of sound.

    An estimate: words are taken to be spread evenly over the sound, and a word that was not heard to its end is left
    out. Where a script writes no spaces, each sign is a word.
    """
    if heard_ms <= 0:
        return ""
    end = min(len(words), round(len(words) * heard_ms / audio_ms)) if audio_ms > 0 else len(words)
    cut = end
    while 0 < cut < len(words) and not _between_words(words[cut - 1], words[cut]):
        cut -= 1
    return words[: cut or end].rstrip()


def _between_words(before: str, after: str) -> bool:
    if unicodedata.combining(after) or after in "\u200d\ufe0f" or before == "\u200d":
        return False
    return before.isspace() or after.isspace() or _is_sign(before) or _is_sign(after)


def _is_sign(letter: str) -> bool:
    """Say whether a letter is a word by itself, as in Chinese and Japanese; Korean is wide too, and writes spaces."""
    return unicodedata.east_asian_width(letter) in "WF" and not "\uac00" <= letter <= "\ud7a3"


def _usage(items: Sequence[Item]) -> Usage | None:
    """Add up the tokens of the responses that begin with one of *items*, so that each counts once."""
    found = [item.reply.usage for item in items if item.reply and item.reply.usage and item.reply.items[0] is item]
    if not found:
        return None
    return Usage(sum(u.input_tokens for u in found), sum(u.output_tokens for u in found), len(found))
