"""What was said in one realtime connection, in the order of the conversation: the wire's items as turns.

`marks.py` feeds it every frame and asks for the turns; nothing here reads a file or waits.
"""

from dataclasses import dataclass
from typing import Literal

Speaker = Literal["caller", "agent", "operator"]


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


@dataclass(frozen=True, slots=True)
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
