"""One run of a pydantic-ai agent on a history: labelled on the wire, and read afterwards, however it ended."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from pydantic import ValidationError
from pydantic_ai import RunContext, capture_run_messages
from pydantic_ai.agent import AbstractAgent, AgentRunResult
from pydantic_ai.capabilities import AbstractCapability, ReinjectSystemPrompt
from pydantic_ai.exceptions import ToolRetryError, UnexpectedModelBehavior
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse
from pydantic_ai.models import Model, ModelRequestContext, infer_model

from ..extraction.attempts import Verdict

HEADER = "x-handoffkit-handoff"
"""Carries the label of a handoff to the endpoint, which strips it."""


@dataclass
class Labelled(AbstractCapability[Any]):
    """Puts a handoff's label on each of its requests, and notes the names of the output tools."""

    label: str = ""
    check: Callable[[Model], Any] = lambda model: model
    """Refuses a model that is asked elsewhere; the run may choose another than the agent's."""
    output_tools: set[str] = field(default_factory=set)

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Add the header last, so that those of the agent, the model and the call stay beside it."""
        self.check(request_context.model)
        settings = request_context.model_settings or {}
        headers = {**settings.get("extra_headers", {}), HEADER: self.label}
        self.output_tools |= {tool.name for tool in request_context.model_request_parameters.output_tools}
        request_context.model_settings = {**settings, "extra_headers": headers}
        return request_context


@dataclass(frozen=True)
class Run:
    """How a run ended, and what it left."""

    result: AgentRunResult[Any] | None
    error: Exception | None
    messages: Sequence[ModelMessage]
    """The new ones."""
    verdicts: Sequence[Verdict]
    output_tools: frozenset[str]

    @property
    def cost(self) -> Decimal | None:
        """What the responses cost by genai-prices, in US dollars; None if that of any is unknown."""
        usages = [message.usage for message in self.messages if isinstance(message, ModelResponse)]
        if not usages or any(usage.cost is None or not usage.total_tokens for usage in usages):
            return None
        return sum((usage.cost for usage in usages if usage.cost is not None), Decimal(0))


async def run(
    agent: AbstractAgent[Any, Any],
    prompt: str,
    history: Sequence[ModelMessage],
    label: str,
    check: Callable[[Model], Any],
    **options: Any,
) -> Run:
    """Run *agent* on *history*; an error of the run is returned, a cancellation is raised.

    The agent's own instructions and system prompt are in force, and no operator text of the history's.
    """
    labelled = Labelled(label=label, check=check)
    error: Exception | None = None
    result: AgentRunResult[Any] | None = None
    with capture_run_messages() as captured:
        try:
            result = await agent.run(
                prompt,
                message_history=history,
                capabilities=[labelled, ReinjectSystemPrompt(replace_existing=True)],
                infer_name=False,
                **options,
            )
        except Exception as raised:
            error = raised
    messages = list(result.new_messages()) if result else _new(captured)
    return Run(result, error, messages, list(_verdicts(messages, error)), frozenset(labelled.output_tools))


def _new(captured: Sequence[ModelMessage]) -> list[ModelMessage]:
    run_id = captured[-1].run_id if captured else None
    return [message for message in captured if run_id is not None and message.run_id == run_id]


def _verdicts(messages: Sequence[ModelMessage], error: Exception | None) -> Iterator[Verdict]:
    """Yield what the SDK made of each response: it tells the model so in the request that follows."""
    for index, message in enumerate(messages):
        if isinstance(message, ModelResponse):
            follows = messages[index + 1] if index + 1 < len(messages) else None
            if isinstance(follows, ModelRequest) and follows.parts:
                yield Verdict(_complaint(follows))
            else:
                yield Verdict(_cause(error))


def _complaint(request: ModelRequest) -> Any:
    for part in request.parts:
        if part.part_kind in ("retry-feedback", "retry-prompt") or getattr(part, "outcome", "") == "retried":
            return getattr(part, "content", "")
    return ()


def _cause(error: BaseException | None) -> Any:
    """Return what is behind an agent's giving up: the validator's details, or the error's own words."""
    if not isinstance(error, UnexpectedModelBehavior):
        return ()
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ToolRetryError):
            return getattr(cause.tool_retry, "content", "") or str(cause)
        if isinstance(cause, ValidationError):
            return cause.errors(include_url=False, include_context=False)
        cause = cause.__cause__ or cause.__context__
    return str(error)


def addresses(model: Model | str) -> tuple[Model, list[str | None]]:
    """Return *model* as an object, and every address that it may talk to (a fallback has several)."""
    found = infer_model(model) if isinstance(model, str) else model
    return found, list(_addresses(found))


def _addresses(model: Any) -> Iterator[str | None]:
    inner = getattr(model, "models", None) or ([model.wrapped] if hasattr(model, "wrapped") else [])
    if not inner:
        yield model.base_url
    for each in inner:
        yield from _addresses(each)
