"""`handoff`: a conversation goes to another agent and comes back as a typed result.

The history is taken from the wire (or is a list of messages), the agent runs with its own SDK, and what it was asked
and answered is read from the wire again: every attempt, also those that failed.
"""

import warnings
from typing import Any, NoReturn

from .connect import Endpoint, current
from .errors import CallIncomplete, EndpointGone, ExtractionFailed, LostInHandoff, ServiceFailed
from .extraction.attempts import Attempt, attempts
from .extraction.lists import told
from .extraction.ready import Ready, ready
from .extraction.result import HandoffResult
from .extraction.run import Run, Taker, type_name
from .log import EventLog
from .recorded import Recorded

__all__ = ["PATIENCE", "PROMPT", "handoff", "type_name"]

PROMPT = "Give your result for the conversation above."
"""What an agent is told to do where the caller of `handoff` says nothing."""
PATIENCE = 10.0
"""Seconds without anything new after which a transcript or a reply counts as not coming."""


async def handoff(
    source: Any,
    agent: Any,
    prompt: str | None = None,
    *,
    model: Any = None,
    model_settings: Any = None,
    retries: Any = None,
    deps: Any = None,
    usage_limits: Any = None,
    context: Any = None,
    run_config: Any = None,
    max_turns: int | None = None,
    patience: float = PATIENCE,
) -> HandoffResult:
    """Hand a conversation to *agent*, of either SDK, and return its typed result.

    It can be repeated: with other agents, prompts, models and schemas, after the call was hung up, on a saved call,
    several at once. Only the conversation goes over: the instructions that were in force in it do not, and the agent's
    own are.

    Args:
        source: An `hk.Call`; a log (`hk.load(path)`, or `hk.log()` with one call in it); a list of pydantic-ai
            messages (`session.all_messages()`); or a list of openai-agents items (`result.to_input_list()`) or of what
            a `RealtimeSession` has heard (the `history` of its `history_updated` events). What cannot be put in the
            form of the agent's SDK is warned about (`LostInHandoff`).
        agent: A `pydantic_ai.Agent`, built after `connect()`, or an `agents.Agent`; its `output_type` is the type of
            the result.
        prompt: What to do with the conversation; it follows the conversation as a user's message.
        model, model_settings: What takes the place of the agent's own, as the agent's SDK has it.
        retries: How often an answer that breaks the output type is sent back with what is wrong in it. By default once,
            as pydantic-ai does; openai-agents itself never does, so 0 is what it would do alone.
        deps, usage_limits: For a `pydantic_ai.Agent`, as its `run` takes them.
        context, run_config, max_turns: For an `agents.Agent`, as `Runner.run` takes them.
        patience: Seconds without anything new after which a transcript or a reply that is still due counts as not
            coming. Words that never came are warned about (`InaudibleTurns`).

    Raises:
        NotConnected, EndpointGone: There is no endpoint.
        NotAnAgent, WrongEndpoint: *agent* is no agent with a model, or its model is asked elsewhere.
        OptionRefused: An option is the other SDK's.
        CallIncomplete: A turn of the caller's got no complete answer, since something failed.
        NothingSaid: The caller has said nothing that can be read.
        NotAConversation, SeveralCalls: *source* is something else, or more than one call.
        ExtractionFailed: The agent gave no valid output; every attempt says which field was wrong and why.
        ServiceFailed: The service refused the request, or could not answer it.
        ApprovalNeeded: A tool of the agent's waits for a yes, and a handoff has nobody to ask.
    """
    from .sdk.taking import taker_of

    endpoint = current()
    options = {"deps": deps, "usage_limits": usage_limits, "context": context, "run_config": run_config}
    options |= {"model": model, "model_settings": model_settings, "retries": retries, "max_turns": max_turns}
    taker = taker_of(agent, options, endpoint.base_url)
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
    run = await taker.run(prompt, conversation.messages, label)
    if losses := told([*conversation.losses, *run.losses]):
        warnings.warn(LostInHandoff(losses), stacklevel=2)
    found = attempts(log.filter(label=label, after_seq=before), run.verdicts, run.output_tools)
    if run.failure is not None or not (found and found[-1].ok):
        await _fail(run, found, label, taker.wanted, endpoint)
    facts = {"label": label, "prompt": prompt, "simulated": endpoint.mode == "simulated"}
    result = _result(taker, run, found, facts | {"seconds": _seconds(conversation, log, found[-1])})
    if isinstance(source, Recorded) and source.on_handoff is not None:
        source.on_handoff(result)
    return result


def _seconds(conversation: Ready, log: EventLog, last: Attempt) -> float | None:
    """Return the seconds from the caller's last word to the result, where one clock tells both."""
    if conversation.last_word is None or conversation.log is None or conversation.log.folder != log.folder:
        return None
    return max(0.0, last.at - conversation.last_word)


def _result(taker: Taker, run: Run, found: list[Attempt], facts: dict[str, Any]) -> HandoffResult:
    return HandoffResult(
        output=run.output,
        attempts=tuple(found),
        usage=run.usage,
        cost=run.cost,
        agent=taker.name,
        model=taker.model,
        schema=taker.wanted,
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


async def _fail(run: Run, found: list[Attempt], label: str, wanted: str, endpoint: Endpoint) -> NoReturn:
    """Raise what went wrong in the words of an error of ours; what is the user's own (a limit, a tool) as it is."""
    failure = run.failure
    broken = bool(found) and found[-1].status == "failed"
    if failure is None or (broken and failure.kind == "unknown"):
        # An SDK may take a stream that ends too early for whole, or stumble over an answer that is none.
        cause = failure.error if failure else None
        raise ServiceFailed(found, label, None, "nothing of it has passed the endpoint") from cause
    if failure.kind == "service":
        await _answers(endpoint)
        raise ServiceFailed(found, label, failure.status, failure.words) from failure.error
    if failure.kind == "output":
        raise ExtractionFailed(found, label, wanted, failure.words) from failure.error
    raise failure.error
