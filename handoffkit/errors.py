"""What can go wrong, in words: each error says what was expected, what was found and what to do.

Every class builds its own sentence from the facts that it is given, so the same trouble reads the same everywhere.
"""


class HandoffkitError(Exception):
    """Anything that handoffkit itself refuses or reports. Catch it to catch all of them."""


class NotConnected(HandoffkitError):
    """Something needs the endpoint, and `connect()` was not called in this kernel."""

    def __init__(self) -> None:
        super().__init__("handoffkit is not connected yet. Run `hk.connect()` first, then build your agents.")


class EndpointGone(HandoffkitError):
    """The endpoint process has ended."""

    def __init__(self, detail: str = "") -> None:
        super().__init__(
            f"The endpoint process has ended{f' ({detail})' if detail else ''}, so nothing can be sent any more. "
            "What was said is kept: `hk.log()` still reads it. Run `hk.connect()` for a new endpoint, then build your agents and start the "
            "call again (`Call(agent, message_history=...)` goes on where you were)."
        )


class WrongEndpoint(HandoffkitError):
    """An agent talks to another address than the endpoint."""

    def __init__(self, what: str, found: str | None, expected: str) -> None:
        super().__init__(
            f"{what} points to {found or 'no address that can be read'}, but handoffkit listens at {expected}. "
            "Agents take their address when they are built: run `hk.connect()` first and build the agent after it."
        )


class CallError(HandoffkitError):
    """Something about a call."""


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
            "The agent is still answering the last turn, so this one was not sent. Wait for that `send` to return, or "
            "`await call.interrupt()` first."
        )


class ReplyTimeout(CallError):
    """A reply stopped coming."""

    def __init__(self, seconds: float, outstanding: str) -> None:
        super().__init__(
            f"Nothing has arrived for {seconds:g} s while {outstanding}. The turn is kept and marked as unanswered. "
            "Send it again, raise `Call(..., reply_timeout=...)`, or look at `call.log` for what passed last."
        )


class CallIncomplete(CallError):
    """A call cannot be handed off, since a turn of the caller's got no complete answer."""

    def __init__(self, turn: int, words: str, reason: str) -> None:
        super().__init__(
            f"Turn {turn} of the caller's ({words!r}) got no complete answer: {reason}. A result from half a call "
            "would look whole and be wrong, so nothing was extracted. Send the turn again in this call, or start a new call "
            "with `message_history=call.messages()`; then hand off."
        )


class NothingSaid(CallError):
    """A call cannot be handed off, since the caller has said nothing that can be read."""

    def __init__(self, detail: str = "the caller has not said anything yet") -> None:
        super().__init__(f"There is nothing to hand off: {detail}. Send a turn first: `await call.send('...')`.")
