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

    def __init__(self, what: str, found: str | None, expected: str) -> None:
        super().__init__(
            f"{what} points to {found or 'no address that can be read'}, but handoffkit listens at {expected}. "
            "Agents take their address when they are built: run `hk.connect()` first and build the agent after it."
        )


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
            f"Turn {turn} got no complete answer: {reason}. The turn is kept. If the call is still open, send it again; "
            "else start a new call with `message_history=call.messages()`."
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
            "would look whole and be wrong, so nothing was extracted. Send the turn again in this call, or start a new "
            "call with `message_history=call.messages()`; then hand off."
        )


class NothingSaid(CallError):
    """A call cannot be handed off, since the caller has said nothing that can be read."""

    def __init__(self, detail: str = "the caller has not said anything yet") -> None:
        super().__init__(f"There is nothing to hand off: {detail}. Send a turn first: `await call.send('...')`.")


class CourseMissing(HandoffkitError):
    """This installation came without the course."""

    def __init__(self, package: object) -> None:
        super().__init__(
            f"There are no notebooks of the course with this installation ({package}). Install handoffkit from its "
            "wheel, or from a whole checkout: `python -m pip install -e .` in the folder that holds `notebooks`."
        )


class CourseFolderRefused(HandoffkitError):
    """A working copy of the course cannot be where it was asked for."""

    def __init__(self, folder: object, reason: str) -> None:
        super().__init__(
            f"The working copy cannot be in {folder}: {reason}. Name another folder: `handoffkit lab FOLDER`."
        )


class LabMissing(HandoffkitError):
    """JupyterLab is not installed in this Python."""

    def __init__(self, python: str, detail: object) -> None:
        super().__init__(
            f"JupyterLab cannot be started with {python} ({detail}). Install it: `python -m pip install "
            "'jupyterlab>=4.6'`. The working copy is ready; any Jupyter that has handoffkit can open it."
        )


class CommandNotStarted(HandoffkitError):
    """The program that `handoffkit endpoint -- COMMAND` was to run does not start."""

    def __init__(self, program: str, reason: str) -> None:
        super().__init__(
            f"The command {program!r} cannot be started ({reason}). Write a program that this shell finds, and its "
            "options, after the `--`: `handoffkit endpoint -- python my_agent.py`."
        )


class NoSuchFrame(HandoffkitError, LookupError):
    """A table was asked for a frame that it does not hold."""

    def __init__(self, seq: object, known: list[int]) -> None:
        held = f"its frames are {known[0]} to {known[-1]}" if known else "it holds none"
        super().__init__(f"This table has no frame {seq!r}: {held}. Take a number from its first column.")
