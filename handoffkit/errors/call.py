"""What can go wrong in a call and its turns."""

from .base import HandoffkitError


class CallError(HandoffkitError):
    """Something about a call."""


class NotAVoiceAgent(CallError):
    """Something that is no agent was given to a call."""

    def __init__(self, found: object) -> None:
        kind = type(found)
        super().__init__(
            f"A call takes a pydantic_ai.Agent; found {kind.__module__}.{kind.__qualname__}. Build one with "
            "`Agent(instructions='...')` and pass it to `hk.Call`."
        )


class ReplyFailed(CallError):
    """A turn got no complete answer."""

    def __init__(self, turn: int, reason: str) -> None:
        super().__init__(
            f"Turn {turn} got no complete answer: {reason}. The turn is kept. If the call is still open, send it "
            "again; else start a new call with `message_history=call.messages()`."
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
            "`await call.interrupt()` makes it return at once."
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

    def __init__(self, error: Exception) -> None:
        super().__init__(
            f"A tool raised {error!r}. The agent was told only that the tool failed, and it has answered; the reply is "
            "in `call.transcript`, and the call goes on. Let the tool return a value, or raise "
            "`pydantic_ai.ModelRetry('...')` with words for the agent."
        )


class NoSuchApproval(CallError):
    """A tool call was decided that does not wait for it."""

    def __init__(self, id: str, waiting: list[str]) -> None:
        found = f"{', '.join(waiting)} wait" if waiting else "none waits"
        super().__init__(
            f"No tool call {id!r} waits for approval; {found}. It may have been decided already, or have waited too "
            "long: `call.approvals.pending` lists those that wait."
        )
