"""pydantic-ai's realtime sessions: open one, hold it across cells, send, interrupt, leave.

A session that is entered in one cell and left in another raises, since it keeps context variables; so a task of its
own enters and leaves it, and cells talk to that task's session. A second task takes the session's events, since a tool
that raises ends a session whose events nobody takes.
"""

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, RunContext, ToolDenied
from pydantic_ai.capabilities import HandleDeferredToolCalls
from pydantic_ai.messages import ModelMessage
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.realtime import (
    RealtimeError,
    RealtimeInputSpeechStartEvent,
    RealtimeModel,
    RealtimeModelSettings,
    RealtimeSession,
)
from pydantic_ai.realtime.openai import OpenAIRealtimeModel

from ..approvals import Approval, Approvals
from ..connect import Endpoint
from ..errors import WrongEndpoint, WrongModel
from ..speaker import Playback, Speaker
from .session import SETTLE

_clients: dict[str, OpenAIProvider] = {}


@dataclass(kw_only=True)
class Options:
    """What `Call` passes through to `Agent.realtime`, under the SDK's own names."""

    model: RealtimeModel | str = "openai:gpt-realtime"
    deps: Any = None
    model_settings: RealtimeModelSettings | None = None
    instructions: str | None = None
    toolsets: Sequence[Any] | None = None
    message_history: Sequence[ModelMessage] | None = None
    session: dict[str, Any] = field(default_factory=dict)


class PydanticSession:
    """One realtime session of a `pydantic_ai.Agent`, owned by a task."""

    def __init__(
        self, agent: Agent[Any, Any], options: Options, endpoint: Endpoint, label: str, approvals: Approvals
    ) -> None:
        self._realtime = agent.realtime(
            realtime_model(options.model, endpoint, label),
            deps=options.deps,
            model_settings=options.model_settings,
            instructions=options.instructions,
            toolsets=options.toolsets,
            message_history=options.message_history,
            capabilities=[HandleDeferredToolCalls(_decided_by(approvals))],
        )
        self._options = options.session
        self._session: RealtimeSession | None = None
        self._owner: asyncio.Task[None] | None = None
        self._leave = asyncio.Event()
        self._raised: list[Exception] = []
        self._player: asyncio.Task[None] | None = None
        self.playback = Playback()
        """What is heard of the agent, and how much of it."""
        self.interrupts: Callable[[], bool] = lambda: True
        """Whether a caller who begins to speak stops the agent, as the settings of turn detection have it."""
        self.advice = "raise `pydantic_ai.ModelRetry('...')` with words for the agent"
        """What to do besides where a tool raises."""

    async def open(self) -> None:
        """Open the session; whatever keeps it from opening is raised here."""
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._owner = asyncio.create_task(self._own(ready), name="handoffkit call")
        try:
            await asyncio.shield(ready)
        except asyncio.CancelledError:
            self._owner.cancel()
            raise

    async def send(self, text: str) -> None:
        """Send a typed turn, which asks for a reply."""
        await self.live.send(text)

    async def respond(self) -> None:
        """Ask the agent to speak without a turn of the caller's."""
        await self.live.create_response()

    async def send_audio(self, pcm: bytes) -> None:
        """Send sound of the caller's: PCM16, mono, 24000 Hz."""
        await self.live.send_audio(pcm)

    async def commit(self) -> None:
        """Say that the sound so far is a turn (push-to-talk)."""
        await self.live.commit_audio()

    async def clear(self) -> None:
        """Have the sound forgotten that is no turn yet."""
        await self.live.clear_audio()

    def detects(self, detection: dict[str, Any] | None) -> None:
        """Know what turn detection is in force; this SDK sends its settings once, so nothing undoes it."""

    def play(self, *, realtime: bool) -> None:
        """Have what the agent says played from now on: as long as it sounds, or at once where nobody hears it."""
        self.playback.clock.realtime = realtime
        if self._player is None:
            self._player = asyncio.create_task(self._play(self.live), name="handoffkit playback")

    async def use(self, speaker: Speaker | None) -> None:
        """Play the agent's sound by *speaker* from now on; None for the clock that nobody hears."""
        await self.playback.use(speaker)
        if self._session is not None and self._player is None:
            self.play(realtime=True)

    async def played(self, seconds: float) -> None:
        """Wait until all that the agent has said so far has been played, *seconds* at most."""
        if self._player and not self.live.closed:
            await self.playback.drained(seconds)

    async def settle(self, seconds: float = SETTLE) -> None:
        """Wait until the SDK has filed the reply that it waits for, *seconds* at most."""
        if not self.live.closed:
            with contextlib.suppress(TimeoutError):  # the wire is the judge; the SDK's own history may come later
                async with asyncio.timeout(seconds):
                    await self.live.wait_for_reply()

    def replaced(self) -> bool:
        """Whether the SDK has stopped the last reply by itself: this one never does."""
        return False

    def tool_error(self) -> Exception | None:
        """Return what a tool has raised since this was last asked; of several, the first."""
        raised = self._raised[:]
        self._raised.clear()
        return raised[0] if raised else None

    async def interrupt(self, played_ms: int | None) -> None:
        """Cancel the reply that is under way; with *played_ms*, cut it to what was heard.

        Where the agent's sound is played, playback stops at once, and how much was heard is known.
        """
        position = await self.playback.flush() if self._player else None
        if played_ms is None and position is not None:
            await self.live.interrupt(played_bytes=position)
        else:
            await self.live.interrupt(played_ms=played_ms)

    async def asks(self) -> bool:
        """Have the SDK send a request for a reply that it holds back: this one holds none."""
        return False

    async def given_up(self, seconds: float) -> BaseException | None:
        """Return why the SDK gave the session up: of this one, the wire tells all."""
        return None

    async def close(self) -> BaseException | None:
        """Leave the session; return what had gone wrong with it, if anything."""
        if self._owner is None:
            return None
        self._leave.set()
        (failure,) = await asyncio.gather(self._owner, return_exceptions=True)
        return failure

    @property
    def live(self) -> RealtimeSession:
        """The SDK's own session."""
        assert self._session is not None, "the session is open before anybody uses it"
        return self._session

    async def _own(self, ready: "asyncio.Future[None]") -> None:
        try:
            async with self._realtime.session(**self._options) as session:
                self._session = session
                if self.playback.audible:  # from the first word on, also of a greeting
                    self.play(realtime=True)
                listener = asyncio.create_task(self._listen(session), name="handoffkit events")
                if not ready.done():
                    ready.set_result(None)
                await self._leave.wait()
            await asyncio.wait([task for task in (listener, self._player) if task], timeout=SETTLE)
        except Exception as error:
            if ready.done():
                raise
            ready.set_exception(error)

    async def _play(self, session: RealtimeSession) -> None:
        """Pass the agent's sound on as it comes; the speaker counts what is heard."""
        with contextlib.suppress(RealtimeError):
            async for piece in session.stream_audio():
                self.playback.write(piece)

    async def _listen(self, session: RealtimeSession) -> None:
        """Take the session's events, which the log has as well, and keep what tools raise; then the session goes on."""
        last: Exception | None = None
        while not session.closed:
            try:
                async for event in session:
                    if isinstance(event, RealtimeInputSpeechStartEvent):
                        await self._spoken_over(session)
                return
            except RealtimeError:
                return  # the connection is gone, and the wire says how
            except Exception as error:
                if error is last:
                    return  # the same again: the session is at its end
                last = error
                self._raised.append(error)

    async def _spoken_over(self, session: RealtimeSession) -> None:
        """Stop the agent's sound where the caller begins to speak, and say how much of it was heard."""
        if self._player and self.interrupts():
            await session.interrupt(played_bytes=await self.playback.flush())


def _decided_by(approvals: Approvals) -> Any:
    """Return what asks *approvals* about tool calls that need a yes; where nobody is there, the SDK refuses them."""

    async def decide(context: RunContext[Any], requests: DeferredToolRequests) -> DeferredToolResults | None:
        if not approvals.watched:
            return None
        asked = [Approval(call.tool_call_id, call.tool_name, call.args_as_json_str()) for call in requests.approvals]
        answers = await asyncio.gather(*(approvals.ask(one) for one in asked))
        decided = {
            one.id: answer if answer is True else ToolDenied(str(answer))
            for one, answer in zip(asked, answers, strict=True)
        }
        return requests.build_results(approvals=decided)

    return decide


def realtime_model(model: RealtimeModel | str, endpoint: Endpoint, label: str) -> RealtimeModel:
    """Return *model* with this endpoint's address and a token that carries *label* into the log.

    Raises:
        WrongModel: The name is another provider's.
        WrongEndpoint: The model is built for another address.
    """
    key = f"{endpoint.token}.{label}"
    if isinstance(model, str):
        provider, _, name = model.rpartition(":")
        if provider not in ("", "openai"):
            raise WrongModel(model)
        return OpenAIRealtimeModel(name, provider=_provider(endpoint, key))
    if not isinstance(model, OpenAIRealtimeModel):
        raise WrongModel(type(model).__name__)
    if (model.base_url or "").rstrip("/") != endpoint.base_url:
        raise WrongEndpoint("The call's model", model.base_url, endpoint.base_url)
    provider_of_call = OpenAIProvider(openai_client=model.client.copy(api_key=key))
    return OpenAIRealtimeModel(model.model_name, provider=provider_of_call, settings=model.settings)


def _provider(endpoint: Endpoint, key: str) -> OpenAIProvider:
    """Return a provider for one call; its HTTP client is shared, since a new one costs tens of milliseconds."""
    base = _clients.get(endpoint.base_url)
    if base is None:
        base = _clients[endpoint.base_url] = OpenAIProvider(base_url=endpoint.base_url, api_key=endpoint.token)
    return OpenAIProvider(openai_client=base.client.copy(api_key=key))
