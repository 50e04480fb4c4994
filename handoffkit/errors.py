"""What can go wrong, in words: each error says what was expected, what was found and what to do.

Every class builds its own sentence from the facts that it is given, so the same trouble reads the same everywhere.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .extraction.attempts import Attempt


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


class ToolRaised(CallError):
    """A tool of the voice agent's raised an error, which is this one's cause."""

    def __init__(self, error: Exception) -> None:
        super().__init__(
            f"A tool raised {error!r}. The agent was told only that the tool failed, and it has answered; the reply is "
            "in `call.transcript`, and the call goes on. Let the tool return a value, or raise "
            "`pydantic_ai.ModelRetry('...')` with words for the agent."
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


class SeveralCalls(CallError):
    """A log that holds several calls cannot be handed off as one."""

    def __init__(self, calls: object) -> None:
        names = ", ".join(str(name) for name in calls) if isinstance(calls, list) else str(calls)
        super().__init__(
            f"This log holds several calls ({names}), and a result that mixes them would be wrong. Hand off one: "
            "`hk.handoff(log.filter(label='call-1'), agent)`, or by connection: `log.filter(conn='c1')`."
        )


class NotAConversation(CallError):
    """Something that holds no conversation was to be handed off."""

    def __init__(self, found: object) -> None:
        kind = type(found)
        super().__init__(
            f"handoff takes an `hk.Call`, a log (`hk.load(path)`, `hk.log()`) or a list of pydantic-ai messages "
            f"(`session.all_messages()`); found {kind.__module__}.{kind.__qualname__}."
        )


class NotAnAgent(CallError):
    """Something that cannot take over a conversation was given to a handoff."""

    def __init__(self, found: object, missing: str = "") -> None:
        kind = type(found)
        what = missing or f"{kind.__module__}.{kind.__qualname__}"
        super().__init__(
            f"handoff takes a pydantic_ai.Agent with a model; found {what}. Build one after `hk.connect()`: "
            "`Agent('openai:gpt-5.2', output_type=SupportTicket, instructions='...')`."
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
            f"{turns} stayed without words and stand in the conversation as [inaudible]. What was said there is "
            "missing from the result."
        )


class NothingToCompare(HandoffkitError):
    """`compare` was given something else than results."""

    def __init__(self, found: str) -> None:
        super().__init__(
            f"compare takes a list of handoff results, or of pairs ('name', result); {found}. Write "
            "`hk.compare([first, second])`."
        )


class CannotWrite(HandoffkitError):
    """A file cannot be written where it was asked for."""

    def __init__(self, path: object, reason: str, advice: str) -> None:
        super().__init__(f"{path} cannot be written: {reason}. {advice}; nothing was changed.")


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


class LogError(HandoffkitError):
    """Something about an event log or a saved call."""


class LogNotFound(LogError):
    """There is no log in a folder."""

    def __init__(self, folder: object, *, exists: bool) -> None:
        found = "the folder has neither `call.jsonl` nor `log.jsonl`" if exists else "there is no such folder"
        super().__init__(
            f"There is no call in {str(folder)!r}: {found}. Give the folder that `call.save(...)` has written; what a "
            "kernel that died has left is opened by `hk.recover()`."
        )


class NotALog(LogError):
    """A file has the name of a log and is none."""

    def __init__(self, path: object, found: str) -> None:
        super().__init__(
            f"{str(path)!r} is no event log: its first line should be JSON with the key `handoffkit`; found {found!r}. "
            "Give the folder that `call.save(...)` has written."
        )


class LogUnknown(LogError):
    """A log was written by another version."""

    def __init__(self, path: object, found: object, known: int) -> None:
        super().__init__(
            f"{str(path)!r} is of schema {found!r}; this version of handoffkit reads schema {known}. Open it with the "
            "version that wrote it: `python -m pip install -U handoffkit` brings the newest."
        )


class LogEmpty(LogError):
    """A log has not even a first line."""

    def __init__(self, path: object) -> None:
        super().__init__(
            f"{str(path)!r} is empty, so there is no call in it. Its first line never came: take another copy."
        )


class NothingToRecover(LogError):
    """No kernel that died has left a log."""

    def __init__(self, root: object) -> None:
        super().__init__(
            f"No log of a kernel that died is left in {str(root)!r}. Kernels that end in peace remove theirs, so save "
            "what you want to keep: `call.save('folder')`."
        )


class SaveRefused(LogError):
    """A call cannot be saved where it was asked for."""

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(
            f"The call was not saved to {str(path)!r}: {reason}. Nothing there was changed, and nothing of the call is "
            "lost. Save it under another name or in another folder."
        )


class NotOurSound(HandoffkitError):
    """A sound file is not what a call can take."""

    def __init__(self, path: object, found: str) -> None:
        super().__init__(
            f"{str(path)!r} is {found}; a call takes WAV with 24000 Hz, 16 bits, 1 channel. Convert it, for example "
            "with `ffmpeg -i IN -ar 24000 -ac 1 -c:a pcm_s16le OUT.wav`."
        )


class LogDamaged(UserWarning):
    """A log could be read only in part."""

    def __init__(self, damage: str) -> None:
        super().__init__(
            f"{damage[0].upper()}{damage[1:]}. Everything else was loaded. If a process was killed while it wrote, "
            "only what that line said is missing; `log.save('another folder')` makes a copy without damage."
        )


class UnfillableSchema(HandoffkitError):
    """No value can satisfy a JSON schema, or none that the schema filler can find."""

    def __init__(self, path: str, why: str) -> None:
        where = f"The field `{path}`" if path else "The schema itself"
        super().__init__(f"{where} cannot be filled: {why}. Change the schema so that a value can satisfy it.")
        self.path = path
        self.why = why


class NoTurns(HandoffkitError):
    """`handoffkit call` was given nothing to say."""

    def __init__(self) -> None:
        super().__init__(
            "The caller said nothing, so there is no ticket. Give each turn with an option, "
            "`handoffkit call --text 'My laptop will not charge.'`, or type it when you are asked."
        )
