"""What can go wrong in a call and its turns."""

from .base import HandoffkitError, found_words


class CallError(HandoffkitError):
    """Something about a call."""


class NotAVoiceAgent(CallError):
    """Something that is no agent was given to a call."""

    def __init__(self, found: object) -> None:
        kind = type(found)
        super().__init__(
            f"A call takes a pydantic_ai.Agent or an agents.realtime.RealtimeAgent; found "
            f"{kind.__module__}.{kind.__qualname__}. Build one with `Agent(instructions='...')`, or with "
            "`RealtimeAgent(name='...', instructions='...')`, and pass it to `hk.Call`."
        )


class WrongOption(CallError, TypeError):
    """A call was given an option that its agent's SDK does not know."""

    def __init__(self, found: str, agent: str, known: list[str]) -> None:
        super().__init__(
            f"A call with a {agent} takes {', '.join(f'`{name}`' for name in known)}; found `{found}`. Each SDK has "
            "its own names: leave it out, or use the one that fits."
        )


class WrongValue(CallError, TypeError):
    """A call was given something as an option that its agent's SDK cannot use."""

    def __init__(self, name: str, wanted: str, found: object, advice: str) -> None:
        super().__init__(f"`{name}` of a call is {wanted}; found {found_words(found)}. {advice}. No call was started.")


class ReplyFailed(CallError):
    """A turn got no complete answer."""

    def __init__(self, turn: int, reason: str) -> None:
        super().__init__(
            f"Turn {turn} got no complete answer: {reason.rstrip('. ')}. The turn is kept. If the call is still open, "
            "send it again; else start a new call with `message_history=call.messages()`."
        )


class CallNotOpened(CallError):
    """A call's session did not open in time."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"The session did not open within {seconds:g} s. Nothing was said yet: start the call again, or look at "
            "`hk.log()` for what passed last."
        )


class SessionRefused(CallError):
    """The service did not take the settings of a session."""

    def __init__(self, words: str) -> None:
        super().__init__(
            f"The service did not open the session: {words.rstrip('. ')}. Change what it names in `model_settings`, "
            "`voice` or the agent's tools, and start a new call."
        )


class CallNotStarted(CallError):
    """A call was used before it was started."""

    def __init__(self) -> None:
        super().__init__(
            "This call has not started. Use `async with hk.Call(agent) as call:` or `await call.start()` first."
        )


class CallOver(CallError):
    """A call was used after it had ended."""

    def __init__(self, how: str) -> None:
        super().__init__(
            f"This call is over ({how}). What was said is kept: `call.transcript` and `await call.handoff(...)` still "
            "work. For more turns start a new call: `hk.Call(agent, message_history=call.messages())`."
        )


class EmptyTurn(CallError):
    """A turn without words was sent."""

    def __init__(self, found: object) -> None:
        super().__init__(f"A typed turn needs words; found {found!r}. Nothing was sent: call `send` again with text.")


class CallBusy(CallError):
    """A second turn was sent while a reply was under way."""

    def __init__(self) -> None:
        super().__init__(
            "The agent is still answering the last turn, so this one was not sent. Wait for that `send` to return; "
            "`await call.interrupt()` stops the reply; a tool that is running comes to its end first."
        )


class ReplyTimeout(CallError):
    """A reply stopped coming."""

    def __init__(self, seconds: float, outstanding: str) -> None:
        super().__init__(
            f"Nothing has arrived for {seconds:g} s while {outstanding}. The turn is kept and marked as unanswered. "
            "Send it again, raise `Call(..., reply_timeout=...)`, or look at `call.log` for what passed last."
        )


class ToolRaised(CallError):
    """A tool of the voice agent's raised an error, which is this one's cause."""

    def __init__(self, error: Exception, advice: str) -> None:
        super().__init__(
            f"A tool raised {error!r}. The agent was told only that the tool failed, and it has answered; the reply is "
            f"in `call.transcript`, and the call goes on. Let the tool return a value, or {advice}."
        )


class NoSuchApproval(CallError):
    """A tool call was decided that does not wait for it."""

    def __init__(self, id: str, waiting: list[str]) -> None:
        found = f"{', '.join(waiting)} wait" if waiting else "none waits"
        super().__init__(
            f"No tool call {id!r} waits for approval; {found}. It may have been decided already, or have waited too "
            "long: `call.approvals.pending` lists those that wait."
        )


class BadGreeting(CallError):
    """A greeting has no words."""

    def __init__(self, agent: str, found: object) -> None:
        super().__init__(
            f"`greetings` maps an agent's name to the words with which it begins; found {found!r} for {agent!r}. Write "
            f"`greetings={{{agent!r}: 'Delivery desk. What is your address?'}}`."
        )


class GreetingForNobody(CallError):
    """A greeting is for an agent that the call cannot reach."""

    def __init__(self, name: str, known: list[str]) -> None:
        super().__init__(
            f"`greetings` has words for {name!r}, and no such agent is in this call; it can reach {', '.join(known)}. "
            "Use the agent's `name`, or put the agent into `handoffs`."
        )


class BadLimit(CallError, ValueError):
    """A limit of a call is none."""

    def __init__(self, name: str, found: object, wanted: str) -> None:
        super().__init__(f"`{name}` is {wanted}; found {found!r}.")


class SeedRefused(CallError):
    """An item of a history cannot be put into a realtime session."""

    def __init__(self, item: object) -> None:
        kind = item.get("type") if isinstance(item, dict) else type(item).__name__
        super().__init__(
            f"The session takes messages, tool calls and their outputs as history; an item of type {kind!r} in "
            "`message_history` is none that it would send. Leave it out, or turn it into words."
        )


class HandoffLimit(UserWarning):
    """A call was handed on so often in one turn that it is not handed on any more in it."""

    def __init__(self, names: list[str]) -> None:
        route = " → ".join(names)
        super().__init__(
            f"In one turn the call was handed on {len(names)} times ({route}). The agent who has it now is offered no "
            "further transfer until the caller's next turn. Make the agents' descriptions differ, or raise "
            "`Call(..., max_handoffs=...)`."
        )


class ForgottenAwait(RuntimeWarning):
    """A verb was called and not awaited. It stands in the place of Python's own warning, so it is of the same kind."""

    def __init__(self, what: str, undone: str, write: str) -> None:
        super().__init__(f"`{what}` was called without `await`, so {undone}. Write `{write}`.")
