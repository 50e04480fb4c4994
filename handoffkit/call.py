"""`Call`: one conversation with a voice agent, in the verbs that a notebook needs.

It is thin sugar over the SDK's own session. What it adds is judgement: the log on the wire says when a reply is
complete, whether a turn was answered, and what can be handed off.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from .connect import Endpoint, current
from .errors import (
    CallBusy,
    CallNotStarted,
    CallOver,
    EmptyTurn,
    EndpointGone,
    NotAVoiceAgent,
    ReplyFailed,
    ReplyTimeout,
    ToolRaised,
)
from .log import EventLog
from .marks import Turn
from .turns import TurnEnd
from .wire.call_log import CallLog

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

    from .extraction.result import HandoffResult
    from .sdk.pydantic import PydanticSession
    from .views import Timeline, Transcript

_CANCEL = 10.0  # seconds in which a cancelled reply ends on the wire
_CLOSE = 5.0  # seconds in which the end of a call reaches the log
_SHORT = 1.0  # seconds that a reply takes at most if it is waited for without asking the endpoint


class Call:
    """A call with a voice agent.

    Args:
        agent: A `pydantic_ai.Agent`; its instructions and tools are the voice agent's.
        model: The realtime model's name (`openai:gpt-realtime`), or an `OpenAIRealtimeModel` built after `connect()`.
        speak_first: The agent opens the talk: `start` returns when its greeting is complete.
        reply_timeout: Seconds without any frame after which a reply counts as not coming (60 by default).
        options: `deps`, `model_settings`, `instructions`, `toolsets` and `message_history`, as `Agent.realtime` takes
            them.

    Raises:
        NotConnected: `connect()` was not called.
        NotAVoiceAgent: *agent* is no agent of an SDK that is known here.
        WrongEndpoint: The model was built for another address.
    """

    def __init__(
        self,
        agent: Any,
        *,
        model: Any = "openai:gpt-realtime",
        speak_first: bool = False,
        reply_timeout: float = 60.0,
        **options: Any,
    ) -> None:
        self.agent = agent
        self.speak_first, self.reply_timeout = speak_first, reply_timeout
        self._endpoint: Endpoint = current()
        self._folder = self._endpoint.folder
        self.label = self._endpoint.next_label("call")
        self._wire = CallLog(self._endpoint.log(), self.label)
        self._session = _session(agent, {"model": model, **options}, self._endpoint, self.label)
        self._started, self._over = False, ""
        self._busy = False
        self._stopping: asyncio.Task[None] | None = None
        self._opening = asyncio.Lock()

    async def start(self) -> Self:
        """Open the session; called again, it does nothing.

        Raises:
            CallOver: The call has been hung up.
            EndpointGone: The endpoint process has ended.
        """
        async with self._opening:
            if self._over:
                raise CallOver(self._over)
            if not self._started:
                if not self._endpoint.alive:
                    raise EndpointGone
                await self._session.open()
                self._started = True
                if self.speak_first:
                    await self._turn(self._session.respond)
        return self

    async def send(self, text: str) -> Turn:
        """Send a typed turn and wait until its reply is complete; return the reply.

        Raises:
            EmptyTurn: *text* has no words.
            CallNotStarted, CallOver: There is no call to send it in.
            CallBusy: The last turn is still being answered.
            ReplyFailed: The turn got no complete answer, and why.
            ReplyTimeout: Nothing arrived for `reply_timeout` seconds.
            ToolRaised: A tool of the agent's raised an error. The agent has answered, and the call goes on.
            EndpointGone: The endpoint process has ended.
        """
        if not isinstance(text, str) or not text.strip():
            raise EmptyTurn(text)
        self._check()
        return await self._turn(lambda: self._session.send(text))

    async def interrupt(self, *, played_ms: int | None = None) -> None:
        """Stop the reply that is under way; nothing happens if there is none.

        Args:
            played_ms: How much of the reply was heard, in milliseconds; the reply is cut to that in the conversation.
                0 leaves it marked as unheard. It is never counted beyond what has arrived.
        """
        self._check()
        state = await self._ask("state")  # meanwhile the SDK receives what is in the log already
        if state["outstanding"]:
            await self._session.interrupt(self._heard(played_ms))
            await self._ask("wait", after=state["seq"], idle=_CANCEL)

    async def hang_up(self) -> None:
        """End the call; called again, it does nothing. What was said stays readable, and can be handed off."""
        if self._over:
            return
        self._over = "hung up"
        if self._started:
            await self._session.close()
            await self._closed()

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.hang_up()

    async def handoff(self, agent: Any, prompt: str | None = None, **options: Any) -> "HandoffResult":
        """Hand the conversation so far to *agent* and return its typed result; see `handoffkit.handoff`."""
        from .handoff import handoff

        return await handoff(self, agent, prompt, **options)

    @property
    def log(self) -> EventLog:
        """What has passed so far in this call and in its handoffs."""
        return self._wire.frames

    @property
    def turns(self) -> list[Turn]:
        """Who has said what so far, in the order of the conversation."""
        return self._wire.turns

    @property
    def transcript(self) -> "Transcript":
        """Who has said what so far."""
        return self.log.transcript()

    def timeline(self) -> "Timeline":
        """Draw who spoke when, with the gaps between in milliseconds."""
        return self.log.timeline()

    def messages(self) -> "list[ModelMessage]":
        """Return the conversation as pydantic-ai's message history, in the order in which it was spoken."""
        from .history import messages

        return messages(self.turns)

    def save(self, path: str | Path, *, ticket: "HandoffResult | None" = None) -> Path:
        """Save the call as a folder (`call.jsonl`, `caller.wav`, `agent.wav`), which `hk.load` opens; return its path.

        Args:
            path: The folder; an older saved call there is replaced.
            ticket: The result of a handoff, which goes into `ticket.json`.

        Raises:
            SaveRefused: Something else is there, or the place cannot be written.
        """
        return self.log.save(path, ticket=None if ticket is None else ticket.to_json())

    def __repr__(self) -> str:
        state = self._over or ("open" if self._started else "not started")
        return f"<Call {self.label}, {state}>"

    def _check(self) -> None:
        if self._over:
            raise CallOver(self._over)
        if not self._started:
            raise CallNotStarted
        if not self._endpoint.alive:
            raise EndpointGone

    async def _turn(self, act: Callable[[], Awaitable[None]]) -> Turn:
        """Have *act* cause a reply, and wait for its end on the wire."""
        if self._busy:
            raise CallBusy
        self._busy = True
        try:
            before = await self._idle()
            await self._do(act)
            return await self._reply(before)
        except asyncio.CancelledError:
            # The cell was interrupted, which is the learner's choice: the reply is stopped, and the call goes on.
            self._stopping = asyncio.create_task(self._stop())
            raise
        finally:
            self._busy = False

    async def _idle(self) -> int:
        """Return the number of the last frame, once no reply is under way."""
        if self._stopping:
            await asyncio.wait([self._stopping], timeout=_CANCEL)
            self._stopping = None
        if closed := self._wire.closed:
            self._over = closed
            raise CallOver(self._over)
        if self._wire.outstanding:
            raise CallBusy
        return self._wire.seq

    async def _do(self, act: Callable[[], Awaitable[None]]) -> None:
        try:
            await act()
        except Exception as error:
            if not self._endpoint.alive:
                raise EndpointGone from error
            raise

    async def _reply(self, after: int) -> Turn:
        end = await self._end(after)
        if end.verdict == "failed":
            raise ReplyFailed(end.ordinal, end.reason)
        if (error := self._session.tool_error()) is not None:
            raise ToolRaised(error) from error
        replies = [turn for turn in self.turns if turn.speaker == "agent" and turn.seq > after]
        return replies[-1] if replies else _nothing_said(end)

    async def _end(self, after: int) -> TurnEnd:
        """Wait for the end of the turn. The wire is its judge; a short reply's the SDK has seen first, at no cost."""
        await self._session.settle(min(_SHORT, self.reply_timeout))
        if end := self._wire.end_after(after):
            return end
        await self._ask("wait", after=after, idle=self.reply_timeout)
        if (end := self._wire.end_after(after)) is None:
            raise ReplyTimeout(self.reply_timeout, self._wire.outstanding or "no reply was asked for")
        if end.verdict != "failed":
            await self._session.settle()
        return end

    async def _closed(self) -> None:
        """Wait until the log has the end of the call, so that it is the same whoever looks first."""
        with contextlib.suppress(EndpointGone, TimeoutError):
            async with asyncio.timeout(_CLOSE):
                while not self._wire.closed:
                    await self._endpoint.ask("grew", self._folder, seq=self._wire.seq, timeout=_CLOSE)

    async def _stop(self) -> None:
        with contextlib.suppress(Exception):
            await self.interrupt()

    async def _ask(self, op: str, **question: Any) -> dict[str, Any]:
        bound = question.get("idle", 0.0) + 660.0
        return await self._endpoint.ask(op, self._folder, bound=bound, label=self.label, **question)

    def _heard(self, played_ms: int | None) -> int | None:
        """Never more than has arrived, and nothing to cut where nothing was heard."""
        if played_ms is None:
            return None
        arrived = [turn.audio_ms for turn in self.turns if turn.speaker == "agent"]
        return min(played_ms, arrived[-1] if arrived else 0) or None


def _session(agent: Any, options: dict[str, Any], endpoint: Endpoint, label: str) -> "PydanticSession":
    from pydantic_ai import Agent

    from .sdk.pydantic import Options, PydanticSession

    if not isinstance(agent, Agent):
        raise NotAVoiceAgent(agent)
    return PydanticSession(agent, Options(**options), endpoint, label)


def _nothing_said(end: TurnEnd) -> Turn:
    """Return the reply of an agent that ended its turn without a word."""
    return Turn(end.conn, "agent", "", end.at, end.at, end.end_seq, "")
