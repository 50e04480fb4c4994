"""A handoff to an openai-agents agent: one run, and more of them where its answer breaks the output type.

The SDK itself ends a run whose output is not valid. Here the answer goes back with what is wrong in it, as pydantic-ai
does, so that agents of both SDKs can be compared.
"""

import inspect
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from agents import (
    Agent,
    Model,
    ModelSettings,
    OpenAIResponsesWSModel,
    RunConfig,
    RunErrorHandlers,
    Runner,
    RunResult,
    ToolApprovalItem,
    UserError,
)
from agents.run_config import CallModelData, ModelInputData
from pydantic_ai.messages import ModelMessage

from ..errors import ApprovalNeeded, OptionRefused, WrongEndpoint
from ..extraction.run import HEADER, Failure, Run, type_name
from ..history import from_items, to_items
from .agents_client import provider
from .agents_record import Record, failure, feedback

RETRIES = 1
"""How often an answer that is not valid goes back, where nobody says: as often as pydantic-ai does."""
_KIND = "an agents.Agent"
_ADVICE = (
    "openai-agents asks through the client of the model, of the RunConfig's provider or of "
    "`set_default_openai_client`: run `hk.connect()` first and make that client after it, `AsyncOpenAI()`."
)


class AgentsTaker:
    """An openai-agents agent that takes a conversation over.

    Args:
        agent: The agent.
        here: The base URL of the endpoint.
        model: Another model than the agents'; a name or an object.
        model_settings: A `ModelSettings` or a dict; what it says replaces what the agents' and *run_config*'s say.
        run_config: The `RunConfig` of the run, or a dict of its fields.
        retries: How often an answer that is not valid goes back.
        options: `context` and `max_turns`, as `Runner.run` takes them.

    Raises:
        OptionRefused: An option is none of this SDK's.
        WrongEndpoint: The agent's model is asked elsewhere.
    """

    def __init__(
        self,
        agent: Agent[Any],
        here: str,
        *,
        model: Any = None,
        model_settings: Any = None,
        run_config: Any = None,
        retries: Any = RETRIES,
        **options: Any,
    ) -> None:
        _check(model, model_settings, run_config, retries)
        self._agent, self._here, self._retries, self._options = agent, here, retries, options
        self._owned = run_config is None or (isinstance(run_config, dict) and "model_provider" not in run_config)
        own = {"model_provider": provider()} if self._owned else {}
        given = run_config if isinstance(run_config, RunConfig) else RunConfig(**{**own, **(run_config or {})})
        settings = (given.model_settings or ModelSettings()).resolve(model_settings)
        self._config = replace(given, model=model if model is not None else given.model, model_settings=settings)
        self._model, self._filler = self._checked(agent), agent

    @property
    def name(self) -> str:
        """The agent's name."""
        return self._agent.name

    @property
    def model(self) -> str:
        """The name of the model."""
        return _name(self._model)

    @property
    def wanted(self) -> str:
        """The name of the type that is asked for: that of the agent which answers in the end."""
        return type_name(self._filler.output_type)

    async def run(self, prompt: str, conversation: Sequence[ModelMessage], label: str) -> Run:
        """Run the agent; an error of the run is returned, a cancellation is raised.

        The agent's own instructions are in force, and no operator text of the history's.
        """
        history = to_items(conversation)
        asked: dict[str, Any] = {"role": "user", "content": prompt}
        record = Record()
        config = self._labelled(label, record)
        try:
            result, failed, new = await self._tries([*history.items, asked], record, config)
        finally:
            if self._owned:
                await config.model_provider.aclose()
        messages = from_items([asked, *new]).items if result else []
        record.sign(messages)
        return Run(
            output=result.final_output if result else None,
            failure=failed,
            usage=record.usage,
            cost=record.cost,
            messages=messages,
            verdicts=record.verdicts(done=failed is None),
            losses=history.losses,
        )

    async def _tries(
        self, items: list[Any], record: Record, config: RunConfig
    ) -> tuple[RunResult | None, Failure | None, list[Any]]:
        """Run until an answer is valid or no try is left; return the items that came, too."""
        agent, new = self._agent, list[Any]()
        handlers: RunErrorHandlers[Any] = {"invalid_final_output": record.invalid}
        for left in range(self._retries, -1, -1):
            record.rejected = None
            try:
                result = await Runner.run(
                    agent, items, run_config=config, hooks=record, error_handlers=handlers, **self._options
                )
            except Exception as error:
                rejected = record.rejected
                if rejected is None or record.refused or not left:
                    refused = record.refused
                    return None, failure(refused) if refused else failure(error, rejected), new
            else:
                self._filler = result.last_agent
                failed = _unfinished(result, record)
                return (None if failed else result), failed, [*new, *_items(result)]
            told = feedback(rejected)
            agent = self._filler = rejected.agent
            items, new = [*rejected.history, told], [*new, *rejected.new, told]
        raise AssertionError("a range that counts down to 0 has a last step")

    def _labelled(self, label: str, record: Record) -> RunConfig:
        """Return the config with the label on each request of the run's own, beside the headers that it has anyway.

        The input filter is what the SDK asks last before it looks its model and settings up; it knows the agent. Agents
        that run as tools share the config: their requests bear no label, and their models are checked all the same.
        """
        config = replace(self._config)
        settings, filtered = config.model_settings or ModelSettings(), config.call_model_input_filter

        async def before(data: CallModelData[Any]) -> ModelInputData:
            made: ModelInputData | Awaitable[ModelInputData] = filtered(data) if filtered else data.model_data
            if inspect.isawaitable(made):
                made = await made
            try:
                model = self._checked(data.agent)
            except WrongEndpoint as error:
                record.refused = error  # else a tool would tell the model about it, and nobody else
                raise
            config.model_settings = settings
            if record.asks(data.agent, _name(model)):
                config.model_settings = replace(
                    settings, extra_headers={**_headers(settings, data.agent), HEADER: label}
                )
            return made

        config.call_model_input_filter = before
        return config

    def _checked(self, agent: Agent[Any]) -> Model:
        """Return the model that the run asks for *agent*, if its address is the endpoint's."""
        given = self._config.model if self._config.model is not None else agent.model
        what = f"The model of the agent {agent.name!r}" + (f" ({_named(given)})" if given else "")
        if isinstance(given, Model):
            model = given
        else:
            try:
                model = self._config.model_provider.get_model(given)
            except (ImportError, UserError) as error:
                raise WrongEndpoint(what, None, self._here, _ADVICE) from error
        url = _address(model)
        if url is None or url.rstrip("/") not in (self._here, self._here.replace("http", "ws", 1)):
            raise WrongEndpoint(what, url, self._here, _ADVICE)
        return model


def _check(model: Any, model_settings: Any, run_config: Any, retries: Any) -> None:
    if isinstance(model, str) and model.partition(":")[0] in ("openai", "openai-chat", "openai-responses"):
        raise OptionRefused("model", _KIND, f"openai-agents calls it {model.partition(':')[2]!r}")
    if not isinstance(model, str | Model | None):
        raise OptionRefused("model", _KIND, f"it is a name or an `agents.Model`; found {type(model).__qualname__}")
    if not isinstance(model_settings, ModelSettings | Mapping | None):
        found = type(model_settings).__qualname__
        raise OptionRefused("model_settings", _KIND, f"it is an `agents.ModelSettings` or a dict; found {found}")
    if not isinstance(run_config, RunConfig | dict | None):
        raise OptionRefused("run_config", _KIND, f"it is an `agents.RunConfig`; found {type(run_config).__qualname__}")
    if not isinstance(retries, int) or retries < 0:
        raise OptionRefused("retries", _KIND, f"it is a number, 0 or more; found {retries!r}")


def _headers(settings: ModelSettings, agent: Agent[Any]) -> Mapping[str, Any]:
    """Return the headers that the SDK would send; those of the run replace the agent's."""
    own = settings.extra_headers if settings.extra_headers is not None else agent.model_settings.extra_headers
    return own or {}


def _named(model: Any) -> str:
    return model if isinstance(model, str) else f"{type(model).__name__} {_name(model)!r}"


def _name(model: Model) -> str:
    return str(getattr(model, "model", "") or type(model).__name__)


def _address(model: Model) -> str | None:
    """Return where *model* is asked; the SDK keeps it in the client, which it does not show."""
    client = getattr(model, "_client", None)
    url = getattr(client or model, "base_url", None)
    if isinstance(model, OpenAIResponsesWSModel):
        url = getattr(client, "websocket_base_url", None) or url
    return None if url is None else str(url)


def _unfinished(result: RunResult, record: Record) -> Failure | None:
    if record.refused:
        return Failure(record.refused, "own")
    if result.interruptions:
        names = [item.tool_name or "a tool" for item in result.interruptions]
        return Failure(ApprovalNeeded(names, result.last_agent.name), "own")
    return None


def _items(result: RunResult) -> list[Any]:
    return [item.to_input_item() for item in result.new_items if not isinstance(item, ToolApprovalItem)]
