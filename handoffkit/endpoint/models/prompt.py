"""What a model is asked and what it answers, whatever protocol the question came by.

`realtime`, `responses` and `chat` turn their wire's conversation into a `Prompt`; a model turns it into a `Reply`;
the protocol turns that back into its own events.
"""

from collections.abc import Awaitable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol


@dataclass(frozen=True, slots=True)
class Message:
    """Something that was said, or an operator's instruction in the middle of a conversation."""

    role: Literal["system", "user", "assistant"]
    """`system` covers `developer` too: the operator, never the caller."""
    text: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool by the model."""

    name: str
    arguments: str
    """A JSON object, as text."""
    call_id: str = ""
    """Empty in a `Reply`: the protocol gives the id."""


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool returned."""

    call_id: str
    output: str


Item = Message | ToolCall | ToolResult


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that the model may call."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    """A JSON schema of type object; empty for a tool without arguments."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """Everything that a model is given for one reply."""

    model: str
    """The name that the client asked for, such as `gpt-realtime`."""
    instructions: str = ""
    history: tuple[Item, ...] = ()
    """The conversation so far, oldest first."""
    tools: tuple[Tool, ...] = ()
    tool_choice: str = "auto"
    """`auto`, `none`, `required`, or the name of the one tool that must be called."""
    output_schema: dict[str, Any] | None = None
    """The JSON schema that the text must follow (`text.format` json_schema), or None."""
    json_object: bool = False
    """The text must be a JSON object of no stated schema (`json_object`)."""
    spoken: bool = False
    """True for a realtime session: the reply is said to a caller."""
    session: str = ""
    """The id of the realtime session; empty for a request over HTTP."""
    replies: int = 0
    """How many replies the model has already given in this session."""
    handoff: bool = False
    """The last message of the user's is what an operator asks about the call before it, and no word of the caller's."""


@dataclass(frozen=True, slots=True)
class Reasoning:
    """What a model thinks before it answers, in a script.

    The service sends its words only where a summary of them is asked for (`reasoning.summary` in the request), and a
    reasoning item with an id in any case.
    """

    text: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answers: words, calls of tools, or both."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    reasoning: tuple[str, ...] = ()
    """What it thought before, part by part; empty for a model that does not reason."""


class Model(Protocol):
    """Something that answers. `describe` is what crosses from the kernel to the endpoint process, as JSON."""

    def reply(self, prompt: Prompt) -> Reply | Awaitable[Reply]:
        """Answer *prompt*; a model that asks somebody else returns an awaitable."""
        ...

    def describe(self) -> dict[str, Any]:
        """Return the JSON from which the endpoint process builds this model again (`kind` names the class)."""
        ...
