"""One run of an agent on a conversation, whichever SDK it is of: what a handoff asks for, and what is left of it.

`sdk/extraction.py` and `sdk/agents_extraction.py` each have a class that fits `Taker`; this module imports neither.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_origin

from .attempts import Verdict

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.usage import RunUsage

    from ..history import Loss

HEADER = "x-handoffkit-handoff"
"""Carries the label of a handoff to the endpoint, which strips it."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a run gave no output."""

    error: Exception
    kind: Literal["service", "output", "own", "unknown"]
    """`service` (no answer), `output` (no valid one), `own` (the user's: a limit, a tool, a rule), or `unknown`, which
    the wire may explain."""
    words: str = ""
    status: int | None = None
    """The HTTP status of the service."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """How a run ended, and what it left."""

    output: Any = None
    failure: Failure | None = None
    usage: "RunUsage"
    cost: Decimal | None = None
    """US dollars by genai-prices; None if the price of any response is unknown."""
    messages: "Sequence[ModelMessage]"
    """The new ones."""
    verdicts: Sequence[Verdict]
    """What the SDK made of each response, in order."""
    output_tools: frozenset[str] = frozenset()
    """The names of the tools by which the output is given."""
    losses: "Sequence[Loss]" = field(default=())
    """What of the conversation could not be put in this SDK's form."""


class Taker(Protocol):
    """An agent that takes a conversation over, and the model that it asks: checked before anything is sent."""

    @property
    def name(self) -> str:
        """The agent's name; empty if it has none."""
        ...

    @property
    def model(self) -> str:
        """The name of the model."""
        ...

    @property
    def wanted(self) -> str:
        """The name of the type that is asked for."""
        ...

    async def run(self, prompt: str, conversation: "Sequence[ModelMessage]", label: str) -> Run:
        """Run the agent; an error of the run is returned, a cancellation is raised."""
        ...


def type_name(wanted: Any) -> str:
    """Return how an `output_type` is called in its user's code: `SupportTicket`, `Ticket or Refusal`."""
    if wanted is None:
        return "str"
    if isinstance(wanted, list | tuple):
        return " or ".join(type_name(each) for each in wanted)
    if callable(own := getattr(wanted, "name", None)) and not isinstance(wanted, type):
        return str(own())  # openai-agents' AgentOutputSchema
    inner = getattr(wanted, "outputs", None) or getattr(wanted, "output", None)
    if inner is not None and not isinstance(wanted, type):
        return type_name(inner)
    name = None if get_origin(wanted) else getattr(wanted, "__name__", None)
    return str(name or wanted)
