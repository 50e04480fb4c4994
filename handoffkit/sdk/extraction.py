"""One run of a pydantic-ai agent on a history: labelled on the wire, and read afterwards, however it ended."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from pydantic import ValidationError
from pydantic_ai import RunContext, capture_run_messages
from pydantic_ai.agent import AbstractAgent, AgentRunResult
from pydantic_ai.capabilities import AbstractCapability, ReinjectSystemPrompt
from pydantic_ai.exceptions import AgentRunError, ModelAPIError, ToolRetryError, UnexpectedModelBehavior, UserError
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse
from pydantic_ai.models import Model, ModelRequestContext, infer_model
from pydantic_ai.usage import RunUsage

from ..errors import HandoffkitError, NotAnAgent, OptionRefused, WrongEndpoint
from ..extraction.attempts import Verdict
from ..extraction.run import HEADER, Failure, Run, type_name

_KIND = "a pydantic_ai.Agent"


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


class PydanticTaker:
    """A pydantic-ai agent that takes a conversation over.

    Args:
        agent: The agent.
        here: The base URL of the endpoint.
        model: Another model than the agent's; a name or an object.
        options: `deps`, `model_settings`, `usage_limits` and `retries`, as `Agent.run` takes them.

    Raises:
        NotAnAgent: It has no model.
        OptionRefused: An option is none of this SDK's.
        WrongEndpoint: Its model is asked elsewhere.
    """

    def __init__(self, agent: AbstractAgent[Any, Any], here: str, model: Any = None, **options: Any) -> None:
        _check(model, options.get("model_settings"))
        given = model if model is not None else agent.model
        if given is None:
            raise NotAnAgent(agent, "an Agent without a model")
        self._agent, self._here, self._options = agent, here, options
        self._model = self._checked(given)
        self._own = model is None and not isinstance(given, str)

    @property
    def name(self) -> str:
        """The agent's name; empty if it has none."""
        return self._agent.name or ""

    @property
    def model(self) -> str:
        """The name of the model."""
        return self._model.model_name

    @property
    def wanted(self) -> str:
        """The name of the type that is asked for."""
        return type_name(self._agent.output_type)

    async def run(self, prompt: str, conversation: Sequence[ModelMessage], label: str) -> Run:
        """Run the agent; an error of the run is returned, a cancellation is raised.

        The agent's own instructions and system prompt are in force, and no operator text of the history's.
        """
        labelled = Labelled(label=label, check=self._checked)
        model: dict[str, Any] = {} if self._own else {"model": self._model}
        error: Exception | None = None
        result: AgentRunResult[Any] | None = None
        with capture_run_messages() as captured:
            try:
                result = await self._agent.run(
                    prompt,
                    message_history=conversation,
                    capabilities=[labelled, ReinjectSystemPrompt(replace_existing=True)],
                    infer_name=False,
                    **model,
                    **self._options,
                )
            except Exception as raised:
                error = raised
        messages = list(result.new_messages()) if result else _new(captured)
        return Run(
            output=result.output if result else None,
            failure=_failure(error) if error else None,
            usage=result.usage if result else RunUsage(),
            cost=_cost(messages),
            messages=messages,
            verdicts=list(_verdicts(messages, error)),
            output_tools=frozenset(labelled.output_tools),
        )

    def _checked(self, model: Any) -> Model:
        """Return *model* as an object if every address that it may talk to is the endpoint's."""
        try:
            found, urls = addresses(model)
        except (ImportError, UserError) as error:
            if not isinstance(model, str) or model.startswith("openai"):
                raise
            raise WrongEndpoint(f"The model of the agent ({_named(model)})", None, self._here) from error
        for url in urls:
            if (url or "").rstrip("/") != self._here:
                raise WrongEndpoint(f"The model of the agent ({_named(model)})", url, self._here)
        return found


def _check(model: Any, model_settings: Any) -> None:
    if not isinstance(model, str | Model | None):
        raise OptionRefused("model", _KIND, f"it is a name or a `pydantic_ai.models.Model`; found {_type(model)}")
    if not isinstance(model_settings, Mapping | None) and not callable(model_settings):
        raise OptionRefused("model_settings", _KIND, f"it is a dict, a `ModelSettings`; found {_type(model_settings)}")


def _type(value: Any) -> str:
    return type(value).__qualname__


def _named(model: Any) -> str:
    return model if isinstance(model, str) else f"{type(model).__name__} {model.model_name!r}"


def _failure(error: Exception) -> Failure:
    if isinstance(error, ModelAPIError):
        return Failure(error, "service", error.message, getattr(error, "status_code", None))
    if isinstance(error, UnexpectedModelBehavior):
        return Failure(error, "output", error.message)
    return Failure(error, "own" if isinstance(error, AgentRunError | UserError | HandoffkitError) else "unknown")


def _cost(messages: Sequence[ModelMessage]) -> Decimal | None:
    usages = [message.usage for message in messages if isinstance(message, ModelResponse)]
    if not usages or any(usage.cost is None or not usage.total_tokens for usage in usages):
        return None
    return sum((usage.cost for usage in usages if usage.cost is not None), Decimal(0))


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
