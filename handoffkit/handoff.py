"""`handoff`: a conversation goes to another agent and comes back as a typed result.

The history is taken from the wire (or is a list of messages), the agent runs with its own SDK, and what it was asked
and answered is read from the wire again: every attempt, also those that failed.
"""

from typing import TYPE_CHECKING, Any, NoReturn, get_origin

from .connect import Endpoint, current
from .errors import (
    CallIncomplete,
    EndpointGone,
    ExtractionFailed,
    HandoffkitError,
    NotAnAgent,
    ServiceFailed,
    WrongEndpoint,
)
from .extraction.attempts import Attempt, attempts
from .extraction.ready import Ready, ready
from .extraction.result import HandoffResult
from .log import EventLog
from .recorded import Recorded

if TYPE_CHECKING:
    from .sdk.extraction import Run

PROMPT = "Give your result for the conversation above."
"""What an agent is told to do where the caller of `handoff` says nothing."""
PATIENCE = 10.0
"""Seconds without anything new after which a transcript or a reply counts as not coming."""


async def handoff(
    source: Any,
    agent: Any,
    prompt: str | None = None,
    *,
    deps: Any = None,
    model: Any = None,
    model_settings: Any = None,
    usage_limits: Any = None,
    retries: Any = None,
    patience: float = PATIENCE,
) -> HandoffResult:
    """Hand a conversation to *agent* and return its typed result.

    It can be repeated: with other agents, prompts, models and schemas, after the call was hung up, on a saved call,
    several at once.

    Args:
        source: An `hk.Call`; a log (`hk.load(path)`, or `hk.log()` with one call in it); or a list of pydantic-ai
            messages (`session.all_messages()`).
        agent: A `pydantic_ai.Agent`, built after `connect()`; its `output_type` is the type of the result.
        prompt: What to do with the conversation; it follows the conversation as a user's message.
        deps, model, model_settings, usage_limits, retries: As `Agent.run` takes them.
        patience: Seconds without anything new after which a transcript or a reply that is still due counts as not
            coming. Words that never came are warned about (`InaudibleTurns`).

    Raises:
        NotConnected, EndpointGone: There is no endpoint.
        NotAnAgent, WrongEndpoint: *agent* is no agent with a model, or its model is asked elsewhere.
        CallIncomplete: A turn of the caller's got no complete answer, since something failed.
        NothingSaid: The caller has said nothing that can be read.
        NotAConversation, SeveralCalls: *source* is something else, or more than one call.
        ExtractionFailed: The agent gave no valid output; every attempt says which field was wrong and why.
        ServiceFailed: The service refused the request, or could not answer it.
    """
    endpoint = current()
    asked = _Asked(agent, model, endpoint)
    if not endpoint.alive:
        raise EndpointGone
    try:
        conversation = await ready(source, patience)
    except CallIncomplete:
        await _answers(endpoint)  # that it is gone matters more: it says how to go on
        raise
    label = _label(conversation, endpoint)
    log, prompt = endpoint.log(), prompt or PROMPT
    before = log[-1].seq if log else 0
    options = {"deps": deps, "model_settings": model_settings, "usage_limits": usage_limits, "retries": retries}
    run = await asked.run(prompt, conversation, label, options)
    found = attempts(log.filter(label=label, after_seq=before), run.verdicts, run.output_tools)
    if run.result is None or not (found and found[-1].ok):
        await _fail(run, found, label, asked.wanted, endpoint)
    facts = {"label": label, "prompt": prompt, "simulated": endpoint.mode == "simulated"}
    result = _result(asked, run, found, facts | {"seconds": _seconds(conversation, log, found[-1])})
    if isinstance(source, Recorded) and source.on_handoff is not None:
        source.on_handoff(result)
    return result


def _seconds(conversation: Ready, log: EventLog, last: Attempt) -> float | None:
    """Return the seconds from the caller's last word to the result, where one clock tells both."""
    if conversation.last_word is None or conversation.log is None or conversation.log.folder != log.folder:
        return None
    return max(0.0, last.at - conversation.last_word)


class _Asked:
    """The agent that takes over, and the model that it will ask: checked before anything is sent."""

    def __init__(self, agent: Any, model: Any, endpoint: Endpoint) -> None:
        from pydantic_ai.agent import AbstractAgent

        if not isinstance(agent, AbstractAgent):
            raise NotAnAgent(agent)
        given = model if model is not None else agent.model
        if given is None:
            raise NotAnAgent(agent, "an Agent without a model")
        self.agent, self._here = agent, endpoint.base_url
        self.model = self._checked(given)
        self._own = model is None and not isinstance(given, str)

    @property
    def wanted(self) -> str:
        """The name of the type that is asked for."""
        return type_name(self.agent.output_type)

    async def run(self, prompt: str, conversation: Ready, label: str, options: dict[str, Any]) -> "Run":
        from .sdk.extraction import run

        model = {} if self._own else {"model": self.model}
        return await run(self.agent, prompt, conversation.messages, label, self._checked, **model, **options)

    def _checked(self, model: Any) -> Any:
        """Return *model* as an object if every address that it may talk to is the endpoint's."""
        from pydantic_ai.exceptions import UserError

        from .sdk.extraction import addresses

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


def _named(model: Any) -> str:
    return model if isinstance(model, str) else f"{type(model).__name__} {model.model_name!r}"


def type_name(wanted: Any) -> str:
    """Return how an `output_type` is called in its user's code: `SupportTicket`, `Ticket or Refusal`."""
    if isinstance(wanted, list | tuple):
        return " or ".join(type_name(each) for each in wanted)
    inner = getattr(wanted, "outputs", None) or getattr(wanted, "output", None)
    if inner is not None and not isinstance(wanted, type):
        return type_name(inner)
    name = None if get_origin(wanted) else getattr(wanted, "__name__", None)
    return str(name or wanted)


def _result(asked: _Asked, run: "Run", found: list[Attempt], facts: dict[str, Any]) -> HandoffResult:
    assert run.result is not None
    return HandoffResult(
        output=run.result.output,
        attempts=tuple(found),
        usage=run.result.usage,
        cost=run.cost,
        agent=asked.agent.name or "",
        model=asked.model.model_name,
        schema=asked.wanted,
        messages=tuple(run.messages),
        **facts,
    )


async def _answers(endpoint: Endpoint) -> None:
    """Make sure that the endpoint is there: a process that was killed a moment ago may still count as alive.

    Raises:
        EndpointGone: It does not answer.
    """
    await endpoint.ask("grew", endpoint.folder, seq=-1, timeout=0)


def _label(conversation: Ready, endpoint: Endpoint) -> str:
    """Return what the log calls this handoff; a call of an older log lends no name that a new call may have, too."""
    here = conversation.log is not None and conversation.log.folder == endpoint.folder
    handoff = endpoint.next_label("handoff")
    return f"{conversation.call}/{handoff}" if conversation.call and here else handoff


async def _fail(run: "Run", found: list[Attempt], label: str, wanted: str, endpoint: Endpoint) -> NoReturn:
    """Raise what went wrong in the words of an error of ours; what is the user's own (a limit, a tool) as it is."""
    from pydantic_ai.exceptions import AgentRunError, ModelAPIError, UnexpectedModelBehavior, UserError

    error = run.error
    if isinstance(error, ModelAPIError):
        await _answers(endpoint)
        raise ServiceFailed(found, label, getattr(error, "status_code", None), error.message) from error
    if isinstance(error, UnexpectedModelBehavior):
        raise ExtractionFailed(found, label, wanted, error.message) from error
    broken = bool(found) and found[-1].status == "failed"
    if error is None or (broken and not isinstance(error, AgentRunError | UserError | HandoffkitError)):
        # An SDK may take a stream that ends too early for whole, or stumble over an answer that is none.
        raise ServiceFailed(found, label, None, "nothing of it has passed the endpoint") from error
    raise error
