"""What can go wrong when a conversation is handed off to an agent that fills a type."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .base import HandoffkitError, found_words
from .call import CallError

if TYPE_CHECKING:
    from ..extraction.attempts import Attempt
    from ..history import Loss


class CallIncomplete(CallError):
    """A call cannot be handed off, since a turn of the caller's got no complete answer."""

    def __init__(self, turn: int, words: str, reason: str) -> None:
        super().__init__(
            f"Turn {turn} of the caller's ({words!r}) got no complete answer: {reason}. A result from half a call "
            "would look whole and be wrong, so nothing was extracted. Send the turn again in this call, or start a new "
            "call with `message_history=call.messages()`; then hand off."
        )


class NothingSaid(CallError):
    """A call cannot be handed off, since the caller has said nothing that can be read."""

    def __init__(self, detail: str = "the caller has not said anything yet") -> None:
        super().__init__(f"There is nothing to hand off: {detail}. Send a turn first: `await call.send('...')`.")


class SeveralCalls(CallError):
    """A log that holds several calls cannot be taken for one conversation."""

    def __init__(self, calls: object) -> None:
        names = ", ".join(str(name) for name in calls) if isinstance(calls, list) else str(calls)
        super().__init__(
            f"This log holds several calls ({names}), and a conversation that mixes them would be wrong. Take one: "
            "`log.filter(label='call-1')`, or by connection: `log.filter(conn='c1')`."
        )


class NotAConversation(CallError):
    """Something that holds no conversation was to be handed off."""

    def __init__(self, found: object) -> None:
        super().__init__(
            f"handoff takes an `hk.Call`, a log (`hk.load(path)`, `hk.log()`), a list of pydantic-ai messages "
            f"(`session.all_messages()`), or a list of openai-agents items (`result.to_input_list()`, the history of a "
            f"RealtimeSession); found {found_words(found)}."
        )


class NotAnAgent(CallError):
    """Something that cannot take over a conversation was given to a handoff."""

    def __init__(self, found: object, missing: str = "") -> None:
        found = missing or found_words(found)
        super().__init__(
            f"handoff takes a pydantic_ai.Agent with a model, or an agents.Agent; found {found}. "
            "Build one after `hk.connect()`: `Agent('openai:gpt-5.2', output_type=SupportTicket, instructions='...')` "
            "of pydantic-ai, or `Agent(name='Triage', model='gpt-5.2', output_type=SupportTicket, "
            "instructions='...')` of openai-agents."
        )


class OptionRefused(CallError, TypeError):
    """A handoff was given an option that is the other SDK's, or that it cannot take."""

    def __init__(self, name: str, agent: str, advice: str) -> None:
        super().__init__(f"A handoff to {agent} cannot take this `{name}=`: {advice}. Nothing was sent.")


class ApprovalNeeded(CallError):
    """A tool of the agent that takes over waits for a yes, and nobody is there to give it."""

    def __init__(self, tools: Sequence[str], agent: str) -> None:
        names = ", ".join(tools)
        super().__init__(
            f"The agent {agent!r} called {names}, which needs approval, and a handoff has nobody to ask. Take "
            "`needs_approval` from the tool, or run the agent yourself and decide there: `Runner.run(agent, items)`, "
            "`result.interruptions`, `state.approve(...)`."
        )


class ExtractionFailed(CallError):
    """An agent gave no valid output, or none that is whole.

    Attributes:
        attempts: Every request and its answer, with what was wrong with each field.
        label: The name of the handoff in the log.
    """

    _advice = (
        "Try another prompt or model, a schema that allows what was found, or more retries (`handoff(..., retries=3)`)."
    )

    def __init__(self, attempts: "Sequence[Attempt]", label: str, wanted: str, detail: str = "") -> None:
        self.attempts, self.label = tuple(attempts), label
        tries = f"{len(attempts)} attempt{'' if len(attempts) == 1 else 's'}"
        super().__init__(self._words(f"The agent gave no valid {wanted} in {tries}", detail, self._advice))

    def _words(self, what: str, detail: str, advice: str) -> str:
        why = f" ({detail.rstrip('. ')})" if detail else ""
        lines = [f"{what}{why}{':' if self.attempts else '.'}", *(f"  {attempt}." for attempt in self.attempts)]
        return "\n".join([*lines, f"{advice} Nothing is lost: the conversation can be handed off again."])


class ServiceFailed(ExtractionFailed):
    """The service refused the request of a handoff, or could not answer it.

    Attributes:
        status: The HTTP status; None where the connection broke off.
    """

    def __init__(self, attempts: "Sequence[Attempt]", label: str, status: int | None, detail: str = "") -> None:
        self.attempts, self.label, self.status = tuple(attempts), label, status
        said = "" if self.attempts else detail
        if status is None:
            what, advice = (
                "No whole answer came from the service",
                "Try again; where an answer is incomplete, allow more `max_tokens`.",
            )
        elif status in (401, 403):
            what, advice = "The service refused the key", "Build the agent after `hk.connect()`."
        elif status == 429:
            what, advice = "The service takes no more requests for now", "Wait a little, then try again."
        elif status < 500:
            what, advice = "The service refused the request", "Change what it names, then try again."
        else:
            what, advice = "The service could not answer", "Try again."
        CallError.__init__(self, self._words(what, said, advice))


class InaudibleTurns(UserWarning):
    """Some turns of a conversation that is handed off have no words."""

    def __init__(self, count: int) -> None:
        turns = f"{count} spoken turn{'' if count == 1 else 's'} of the caller's"
        super().__init__(
            f"{turns} stayed without words: [inaudible] stands there in the conversation. What was said there is "
            "missing from the result."
        )


class LostInHandoff(UserWarning):
    """Some of a conversation could not be handed over as it was.

    Attributes:
        losses: Each of them; see `handoffkit.history`.
    """

    _shown = 10

    def __init__(self, losses: "Sequence[Loss]") -> None:
        self.losses = tuple(losses)
        lines = [f"  {loss}" for loss in self.losses[: self._shown]]
        if (more := len(self.losses) - self._shown) > 0:
            lines.append(f"  … and {more} more (`losses` of this warning has them all).")
        super().__init__("\n".join(["Not all of the conversation went over as it was:", *lines]))


class NothingToCompare(HandoffkitError):
    """`compare` was given something else than results."""

    def __init__(self, found: str) -> None:
        super().__init__(
            f"compare takes a list of handoff results, or of pairs ('name', result); {found}. Write "
            "`hk.compare([first, second])`."
        )


class UnfillableSchema(HandoffkitError):
    """No value can satisfy a JSON schema, or none that the schema filler can find."""

    def __init__(self, path: str, why: str) -> None:
        where = f"The field `{path}`" if path else "The schema itself"
        super().__init__(f"{where} cannot be filled: {why}. Change the schema so that a value can satisfy it.")
        self.path = path
        self.why = why
