"""What a handoff to an openai-agents agent leaves: the responses that the SDK saw, and what it made of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import openai
from agents import (
    Agent,
    AgentOutputSchema,
    AgentOutputSchemaBase,
    AgentsException,
    ItemHelpers,
    ModelBehaviorError,
    ModelRefusalError,
    ModelResponse,
    ModelTimeoutError,
    RunErrorHandlerInput,
    RunHooks,
    Usage,
)
from agents.exceptions import (
    InputGuardrailTripwireTriggered,
    OutputGuardrailTripwireTriggered,
    ToolInputGuardrailTripwireTriggered,
    ToolOutputGuardrailTripwireTriggered,
)
from agents.models.openai_responses import ResponsesWebSocketError
from pydantic import ValidationError
from pydantic_ai import messages as pydantic
from pydantic_ai.usage import RequestUsage, RunUsage

from ..errors import HandoffkitError
from ..extraction.attempts import Verdict, field_errors
from ..extraction.run import Failure

_NOTHING = "no output was given"
_STALE = (
    "The agent's client keeps connections of an event loop that has ended (another `asyncio.run`, or another thread). "
    "Give each loop a client of its own: `set_default_openai_client(AsyncOpenAI())`."
)


@dataclass(frozen=True, slots=True)
class Rejected:
    """An answer that broke the output type."""

    agent: Agent[Any]
    details: Sequence[Mapping[str, Any]] | str
    """What is wrong with it: pydantic's details, or a sentence."""
    text: str
    history: list[Any]
    """The items of the run, that answer included."""
    new: list[Any]
    """Those that the run added."""


class Record(RunHooks[Any]):
    """Sees each response of a run's own agents; agents that they use as tools have runs of their own."""

    def __init__(self) -> None:
        self.rejected: Rejected | None = None
        """The answer for which the run that goes on now has ended."""
        self.refused: HandoffkitError | None = None
        """Why a request was not sent."""
        self._agent: Any = None
        self._model = ""
        self._seen: list[tuple[ModelResponse, str]] = []
        self._details: dict[int, Sequence[Mapping[str, Any]] | str] = {}
        self._tools = 0

    @property
    def requests(self) -> int:
        """How many responses have come."""
        return len(self._seen)

    async def on_agent_start(self, context: Any, agent: Any) -> None:
        """Know whose turn it is."""
        self._agent = agent

    def asks(self, agent: Any, model: str) -> bool:
        """Say whether *agent*, about to ask *model*, is the run's own."""
        if own := agent is self._agent:
            self._model = model
        return own

    async def on_llm_end(self, context: Any, agent: Any, response: ModelResponse) -> None:
        """Keep a response."""
        self._seen.append((response, self._model))

    async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: Any) -> None:
        """Count a tool's work."""
        self._tools += 1

    def invalid(self, found: RunErrorHandlerInput[Any]) -> None:
        """Take note of an answer that is not valid: the SDK asks this before it gives up."""
        data = found.run_data
        messages = [item for item in data.raw_responses[-1].output if item.type == "message"]
        text = ItemHelpers.extract_text(messages[-1]) or "" if messages else ""
        details = (_details(data.last_agent, text) or str(found.error)) if text else _NOTHING
        self._details[len(self._seen) - 1] = details
        self.rejected = Rejected(data.last_agent, details, text, list(data.history), list(data.output))
        if not text:
            raise ModelBehaviorError(_NOTHING)  # the SDK would ask again by itself, up to `max_turns`, and say nothing

    def verdicts(self, *, done: bool) -> list[Verdict]:
        """Return what was made of each response; with *done*, the last one gave the output."""
        last = len(self._seen) - 1 if done else -1
        return [
            Verdict(self._details.get(n, ()), answer=response.response_id or "", final=n == last)
            for n, (response, _) in enumerate(self._seen)
        ]

    @property
    def usage(self) -> RunUsage:
        """Requests, tokens and uses of tools, as pydantic-ai counts them."""
        total = RunUsage(requests=self.requests, tool_calls=self._tools)
        for response, _ in self._seen:
            total.incr(_usage(response.usage))
        total.cost = self.cost
        return total

    def sign(self, messages: Sequence[pydantic.ModelMessage]) -> None:
        """Put into each response of *messages* what it took, and which model it is from, where it can be told."""
        responses = [message for message in messages if isinstance(message, pydantic.ModelResponse)]
        if len(responses) == len(self._seen):
            for message, (response, model) in zip(responses, self._seen, strict=True):
                message.usage, message.model_name, message.provider_name = _usage(response.usage), model, "openai"

    @property
    def cost(self) -> Decimal | None:
        """US dollars by genai-prices; None if the price of any response is unknown."""
        prices = [_price(_usage(response.usage), model) for response, model in self._seen]
        return (
            sum((price for price in prices if price is not None), Decimal(0)) if prices and None not in prices else None
        )


def _details(agent: Agent[Any], text: str) -> Sequence[Mapping[str, Any]] | str:
    """Return what is wrong with an output, field by field. The SDK's own error keeps it to itself by default."""
    schema: Any = agent.output_type
    if not isinstance(schema, AgentOutputSchemaBase):
        schema = AgentOutputSchema(schema)
    if (adapter := getattr(schema, "_type_adapter", None)) is not None:
        try:
            adapter.validate_json(text, strict=True if schema.is_strict_json_schema() else None)
        except ValidationError as error:
            return [dict(each) for each in error.errors(include_url=False, include_context=False)]
    return ""


def feedback(rejected: Rejected) -> dict[str, Any]:
    """Return what the model is told about an answer that is not valid, as an item of a user's."""
    wrong = "\n".join(f"- {error}" for error in field_errors(rejected.details, rejected.text))
    return {"role": "user", "content": f"Validation feedback:\n{wrong}\n\nFix the errors and try again."}


def _usage(usage: Usage) -> RequestUsage:
    read, made = usage.input_tokens_details, usage.output_tokens_details
    reasoning = made.reasoning_tokens if made else 0
    return RequestUsage(
        input_tokens=usage.input_tokens,
        cache_read_tokens=(read.cached_tokens if read else 0) or 0,
        cache_write_tokens=getattr(read, "cache_write_tokens", 0) or 0,
        output_tokens=usage.output_tokens,
        details={"reasoning_tokens": reasoning or 0},
    )


def _price(usage: RequestUsage, model: str) -> Decimal | None:
    if not usage.total_tokens:
        return None
    try:
        return (
            pydantic.ModelResponse(parts=[], usage=usage, model_name=model, provider_name="openai").cost().total_price
        )
    except LookupError:
        return None


def failure(error: Exception, rejected: Rejected | None = None) -> Failure:
    """Return why a run has failed; what is the user's own gets a note, where the SDK says too little."""
    match error:
        case _ if rejected is not None:
            return Failure(error, "output")
        case openai.APIStatusError():
            return Failure(error, "service", error.message, error.status_code)
        case openai.APIError():
            return Failure(error, "service", error.message)
        case ResponsesWebSocketError():
            return Failure(error, "service", error.error_message or str(error), _status(error.payload))
        case ModelTimeoutError():
            return Failure(error, "service", str(error))
        case ModelBehaviorError() | ModelRefusalError():
            return Failure(error, "output", str(error))
        case InputGuardrailTripwireTriggered() | OutputGuardrailTripwireTriggered():
            error.add_note(f"It was the guardrail {error.guardrail_result.guardrail.get_name()!r}.")
        case ToolInputGuardrailTripwireTriggered() | ToolOutputGuardrailTripwireTriggered():
            error.add_note(f"It was the guardrail {error.guardrail.get_name()!r}.")
        case RuntimeError() if str(error) == "Event loop is closed":
            error.add_note(_STALE)
            return Failure(error, "own")  # what reached the endpoint before it broke off explains nothing
    if type(error).__module__.startswith("websockets."):
        response = getattr(error, "response", None)
        return Failure(error, "service", str(error), getattr(response, "status_code", None))
    return Failure(error, "own" if isinstance(error, AgentsException | HandoffkitError) else "unknown")


def _status(payload: Mapping[str, Any]) -> int | None:
    status = payload.get("status")
    return status if isinstance(status, int) else None
