"""What can go wrong between a kernel, its agents and the endpoint."""

from .base import HandoffkitError


class NotConnected(HandoffkitError):
    """Something needs the endpoint, and `connect()` was not called in this kernel."""

    def __init__(self) -> None:
        super().__init__("handoffkit is not connected yet. Run `hk.connect()` first, then build your agents.")


class EndpointGone(HandoffkitError):
    """The endpoint process has ended."""

    def __init__(self, detail: str = "") -> None:
        super().__init__(
            f"The endpoint process has ended{f' ({detail})' if detail else ''}, so nothing can be sent any more. "
            "What was said is kept: `hk.log()` still reads it. Run `hk.connect()` for a new endpoint, then build your "
            "agents and start the call again (`Call(agent, message_history=...)` goes on where you were)."
        )


class ConnectError(HandoffkitError):
    """`connect()` could not do what was asked."""

    def __init__(self, why: str) -> None:
        super().__init__(f"connect() did not work: {why}. Nothing was changed; correct the call and run it again.")


class WrongModel(HandoffkitError):
    """A realtime model that the endpoint does not speak for."""

    def __init__(self, found: str) -> None:
        super().__init__(
            f"A call takes an OpenAI realtime model, as a name ('openai:gpt-realtime') or as an OpenAIRealtimeModel; "
            f"found {found!r}. Other providers do not speak the protocol that the endpoint answers."
        )


class WrongEndpoint(HandoffkitError):
    """An agent talks to another address than the endpoint."""

    def __init__(self, what: str, found: str | None, expected: str, advice: str = "") -> None:
        built = "Agents take their address when they are built: run `hk.connect()` first and build the agent after it."
        super().__init__(
            f"{what} points to {found or 'no address that can be read'}, but handoffkit listens at {expected}. "
            f"{advice or built}"
        )


class TracesStopped(UserWarning):
    """The endpoint did not take a trace in time."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"The endpoint took no trace within {seconds:g} s, so this log gets no more of them; runs go on as ever. "
            "`hk.connect()` begins a new log, with traces."
        )
