"""openai-agents' realtime sessions: open one, send, interrupt, hear how a handoff goes, leave.

The SDK keeps its own transport; of what passes it hides much (a reply that failed, a refused request, a connection that
was closed in peace), and the wire tells that. A task of this session's takes the SDK's events, so that none is kept.
"""

import asyncio
import contextlib
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from agents.realtime import (
    RealtimeAgent,
    RealtimeRunConfig,
    RealtimeRunner,
    RealtimeSession,
    RealtimeSessionModelSettings,
)
from agents.realtime.model_inputs import (
    RealtimeModelSendInterrupt,
    RealtimeModelSendRawMessage,
)

from ..approvals import Approval, Approvals
from ..errors import CallNotOpened, LostInHandoff, SeedRefused, SessionRefused, WrongModel
from ..extraction.lists import told
from ..process import Endpoint
from ..speaker import Playback, Speaker
from ..transfers import Transfers
from .agent_graph import AgentGraph
from .agents_playback import HeardTracker
from .agents_transport import Transport, raw, takes
from .session import SETTLE

_OPEN = 30.0  # seconds in which a session opens; the SDK itself sets no bound to all of it


@dataclass(kw_only=True)
class AgentsOptions:
    """What `Call` passes through to `RealtimeRunner`, under the SDK's own names."""

    model: Any = "openai:gpt-realtime"
    context: Any = None
    model_settings: RealtimeSessionModelSettings | None = None
    voice: Any = None
    run_config: RealtimeRunConfig | None = None
    message_history: Sequence[Any] | None = None
    greetings: Mapping[str, str] | None = None
    max_handoffs: int = 5


class AgentsSession:
    """One realtime session of an `agents.realtime.RealtimeAgent`."""

    def __init__(
        self,
        agent: RealtimeAgent[Any],
        options: AgentsOptions,
        endpoint: Endpoint,
        label: str,
        approvals: Approvals,
    ) -> None:
        self._options, self._approvals = options, approvals
        settings = _settings(options)
        name = settings["model_name"]
        self.playback = Playback()
        """What is heard of the agent, and how much of it."""
        self.interrupts: Callable[[], bool] = lambda: True
        """Whether a caller who begins to speak stops the agent; this SDK sees to that by itself."""
        self.advice = "give it a `failure_error_function=` whose words the agent is told"
        """What to do besides where a tool raises."""
        self.transfers = Transfers(options.max_handoffs)
        """How often the call was handed on in the turn that is under way."""
        self._raised: list[Exception] = []
        side_by_side = (options.run_config or {}).get("async_tool_calls", True)
        given = agent, options.greetings or {}, self.transfers, self._raised.append
        self._graph = AgentGraph(*given, side_by_side=side_by_side)
        self._tracker = HeardTracker(self.playback)
        self._model = Transport(self._graph.replies)
        self._first = agent
        self._config: dict[str, Any] = {
            "url": f"{endpoint.base_url.replace('http', 'ws', 1)}/realtime?model={quote(name, safe='')}",
            "api_key": f"{endpoint.token}.{label}",
            "playback_tracker": self._tracker,
            "initial_model_settings": settings,
        }
        self._session: RealtimeSession | None = None
        self._listener: asyncio.Task[None] | None = None
        self._asking: set[asyncio.Task[None]] = set()
        self._filed = asyncio.Event()
        self._tripped = False
        self._failure: BaseException | None = None
        self._taken, self._refused = asyncio.Event(), ""
        self._agent: RealtimeAgent[Any] | None = None
        """Who has the call since a handoff."""

    async def open(self) -> None:
        """Open the session, with the history that it begins with; whatever keeps it from opening is raised here.

        It can be tried again; of what went wrong before, nothing counts then.
        """
        self._taken, self._refused, self._failure, self._model.leaving = asyncio.Event(), "", None, False
        try:
            async with asyncio.timeout(_OPEN):
                first, options = self._graph.ready(self._first), self._options
                runner = RealtimeRunner(first, model=self._model, config=options.run_config)
                session = await runner.run(context=options.context, model_config=self._config)  # type: ignore[arg-type]
                await session.enter()
                self._session = session
                self._tracker.playing = self._tracker.playing or self.playback.audible
                self._listener = asyncio.create_task(self._listen(session), name="handoffkit events")
                await self._settled()
                await self._seed()
        except BaseException as error:
            await self.close()
            if isinstance(error, TimeoutError):
                raise CallNotOpened(_OPEN) from error
            raise

    async def send(self, text: str) -> None:
        """Send a typed turn, which asks for a reply."""
        await self._begin()
        await self.live.send_message(text)

    async def respond(self) -> None:
        """Ask the agent to speak without a turn of the caller's."""
        await self._begin()
        await self._raw("response.create")

    async def send_audio(self, pcm: bytes) -> None:
        """Send sound of the caller's: PCM16, mono, 24000 Hz."""
        await self.live.send_audio(pcm)

    async def commit(self) -> None:
        """Say that the sound so far is a turn (push-to-talk)."""
        await self._begin()
        await self._raw("input_audio_buffer.commit")

    async def clear(self) -> None:
        """Have the sound forgotten that is no turn yet."""
        await self._raw("input_audio_buffer.clear")

    def detects(self, detection: dict[str, Any] | None) -> None:
        """Keep this turn detection where a handoff sends the settings of the session anew."""
        self._model.detection = (detection,)

    def play(self, *, realtime: bool) -> None:
        """Have what the agent says played from now on: as long as it sounds, or at once where nobody hears it."""
        self.playback.clock.realtime = realtime
        self._tracker.playing = True

    async def use(self, speaker: Speaker | None) -> None:
        """Play the agent's sound by *speaker* from now on; None for the clock that nobody hears."""
        await self.playback.use(speaker)
        if self._session is not None and not self._tracker.playing:
            self.play(realtime=True)

    async def played(self, seconds: float) -> None:
        """Wait until all that the agent has said so far has been played, *seconds* at most."""
        if self._tracker.playing:
            await self.playback.drained(seconds)

    async def settle(self, seconds: float = SETTLE) -> None:
        """Wait until the SDK has seen the end of a reply since one was asked for, *seconds* at most."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._filed.wait(), seconds)

    def replaced(self) -> bool:
        """Whether the SDK has stopped the last reply by itself, as a guardrail's, and asks for another one."""
        tripped, self._tripped = self._tripped, False
        return tripped

    def tool_error(self) -> Exception | None:
        """Return what a tool has raised since this was last asked; of several, the first."""
        raised = self._raised[:]
        self._raised.clear()
        return raised[0] if raised else None

    async def interrupt(self, played_ms: int | None) -> None:
        """Cancel the reply that is under way; with *played_ms*, cut it to what was heard.

        Where the agent's sound is played, playback stops at once, and how much was heard is known. The SDK's own
        `interrupt` leaves the reply to turn detection where that interrupts, so it is told to cancel.
        """
        if self._tracker.playing:
            self._tracker.stopped_at(await self.playback.flush())
        if played_ms is not None:
            self._tracker.heard(played_ms)
        try:
            await self.live.model.send_event(RealtimeModelSendInterrupt(force_response_cancel=True))
        finally:
            self._tracker.on_interrupted()  # the SDK says so only where it had something to cut

    async def asks(self) -> bool:
        """Have the SDK send the request for a reply that it holds back, if it does: it waits for the end of another.

        Where that end was lost on the way, the request would wait for ever.
        """
        return await self._model.let_go()

    async def given_up(self, seconds: float) -> BaseException | None:
        """Return why the SDK gave the session up by itself, if it did; it says so when it has closed everything."""
        if self._listener is not None:
            await asyncio.wait([self._listener], timeout=seconds)
        return self._failure

    async def close(self) -> BaseException | None:
        """Leave the session; return what had gone wrong with it, if anything."""
        if self._session is None:
            return None
        for task in self._asking:
            task.cancel()
        failure = await self._leave(self._session)
        if self._listener is not None:
            await asyncio.wait([self._listener], timeout=SETTLE)
            self._listener.cancel()
        return failure

    async def _leave(self, session: RealtimeSession) -> Exception | None:
        self._model.leaving = True
        try:
            async with asyncio.timeout(SETTLE):
                await session.close()
        except Exception as error:
            return error
        return None

    @property
    def live(self) -> RealtimeSession:
        """The SDK's own session."""
        assert self._session is not None, "the session is open before anybody uses it"
        return self._session

    async def _settled(self) -> None:
        """Wait until the service has taken the session's settings, for which the SDK does not wait.

        Raises:
            SessionRefused: It has refused them.
        """
        assert self._listener is not None
        taken = asyncio.create_task(self._taken.wait(), name="handoffkit session")
        try:
            await asyncio.wait([taken, self._listener], return_when=asyncio.FIRST_COMPLETED)
        finally:
            taken.cancel()
        if self._refused or not self._taken.is_set():
            raise SessionRefused(self._refused or "the connection was closed") from self._failure

    async def _begin(self) -> None:
        """Begin a turn; where the last one has used up its transfers, the agent is offered them again."""
        self._filed.clear()
        self._tripped = False
        if self.transfers.begin() and self._agent is not None:
            await self.live.update_agent(self._agent)

    async def _raw(self, event: str, **data: Any) -> None:
        """Send an event that the SDK has no verb for, through the SDK: it keeps the order of responses."""
        await self.live.model.send_event(RealtimeModelSendRawMessage(raw(event, **data)))

    async def _seed(self) -> None:
        """Put the history of an earlier conversation into this one; the SDK has no verb for that.

        Operator text of the history stays out: the agent's own instructions are in force.

        Raises:
            SeedRefused: An item is none that the SDK would send; it would drop it without a word.
        """
        if not self._options.message_history:
            return
        from ..history import to_seed

        seed = to_seed(self._options.message_history)
        if losses := told(seed.losses):
            warnings.warn(LostInHandoff(losses), stacklevel=2)
        for item in seed.items:
            if not takes(item):
                raise SeedRefused(item)
            await self._raw("conversation.item.create", item=item)

    async def _listen(self, session: RealtimeSession) -> None:
        """Take the session's events, which the log has as well; the wire says how the connection ended."""
        try:
            async for event in session:
                match event.type:
                    case "audio":
                        self._tracker.begins(event.item_id, event.content_index)
                        if self._tracker.playing:
                            self.playback.write(event.audio.data)
                    case "audio_interrupted" if self._tracker.playing:
                        await self.playback.flush()
                    case "agent_end":
                        self._filed.set()
                    case "guardrail_tripped":
                        self._tripped = True
                    case "tool_approval_required":
                        self._decide(session, event.call_id, event.tool.name, event.arguments)
                    case "handoff":
                        self._agent = event.to_agent
                        self.transfers.happened(event.to_agent.name)
                    case "error" if (words := _refusal(event.error)) is not None:
                        self.transfers.refused(words)
                    case "error" if not self._taken.is_set():
                        self._refused = str(getattr(event.error, "message", None) or event.error)
                        self._taken.set()
                    case "raw_model_event":
                        await self._raw_event(_name(event.data))
        except asyncio.CancelledError:  # the event loop ends, and the call with it: that is what its user has chosen
            await self._leave(session)
            raise
        except Exception as error:
            self._failure = error
        finally:
            self._filed.set()

    async def _raw_event(self, name: str) -> None:
        if name == "session.updated":
            self._taken.set()
        elif name == "input_audio_buffer.committed":  # what was spoken is a turn
            await self._begin()

    def _decide(self, session: RealtimeSession, call_id: str, name: str, arguments: str) -> None:
        task = asyncio.create_task(self._asked(session, Approval(call_id, name, arguments)), name="handoffkit approval")
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _asked(self, session: RealtimeSession, approval: Approval) -> None:
        """Ask a person about a tool call; where nobody is there, it is refused, as the other SDK does."""
        answer: bool | str = "Nobody is there to approve the call."
        if self._approvals.watched:
            answer = await self._approvals.ask(approval)
        if answer is True:
            await session.approve_tool_call(approval.id)
        else:
            await session.reject_tool_call(approval.id, rejection_message=str(answer))


def _refusal(error: Any) -> str | None:
    """Return the SDK's words on a tool or a transfer that is not there (`Tool … not found`), None for anything else."""
    words = str(error.get("message", "")) if isinstance(error, dict) else ""
    return words if words.startswith("Tool ") and words.endswith("not found") else None


def _name(event: Any) -> str:
    """Return the service's own name for an event; empty for what the SDK has made itself."""
    data = event.data if event.type == "raw_server_event" else {}
    return str(data.get("type", "")) if isinstance(data, dict) else ""


def _model_name(model: Any) -> str:
    """Return the name that the service knows.

    Raises:
        WrongModel: It is another provider's, or no name.
    """
    if not isinstance(model, str):
        raise WrongModel(type(model).__name__)
    provider, _, name = model.rpartition(":")
    if provider not in ("", "openai"):
        raise WrongModel(model)
    return name


def _settings(options: AgentsOptions) -> dict[str, Any]:
    """Return the settings of the session: those of the run, then the call's, as the SDK has it, and the voice.

    Raises:
        WrongModel: The model is another provider's, or no name.
    """
    of_run = (options.run_config or {}).get("model_settings")
    settings: dict[str, Any] = {"model_name": options.model, **(of_run or {}), **(options.model_settings or {})}
    settings["model_name"] = _model_name(settings["model_name"])
    if options.voice is not None:
        audio = dict(settings.get("audio") or {})
        audio["output"] = {**(audio.get("output") or {}), "voice": options.voice}
        settings |= {"voice": options.voice, "audio": audio}
    return settings
