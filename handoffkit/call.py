"""`Call`: one conversation with a voice agent, in the verbs that a notebook needs.

It is thin sugar over the SDK's own session. What it adds is judgement: the log on the wire says when a reply is
complete, whether a turn was answered, and what can be handed off.
"""

import asyncio
import contextlib
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self

from .approvals import Approvals
from .connect import current
from .errors import CallNotStarted, CallOver, EmptyTurn, EndpointGone, NothingHeard
from .listening import Listening, bounded
from .live_handoffs import LiveHandoffs
from .marks import Turn
from .recorded import Recorded
from .sdk.opening import session_of
from .speaker import Playback, Speaker
from .spoken import BLOCK_MS, Spoken
from .turn_taking import TurnTaking
from .waiting import Waiting

if TYPE_CHECKING:
    from .widgets.panel import Panel

_LEAVING = 120.0  # seconds: more than hanging up takes, whatever it waits for

Phase = Literal["ready", "starting", "on", "ending", "ended"]
"""How a call stands."""
_STRANDED = "the event loop that it was started in has ended"


class Call(Recorded):
    """A call with a voice agent.

    Args:
        agent: A `pydantic_ai.Agent`, or an `agents.realtime.RealtimeAgent` with its tools and handoffs.
        model: The realtime model's name (`openai:gpt-realtime`), or an `OpenAIRealtimeModel` built after `connect()`.
            For a `RealtimeAgent`, a `model_name` in its `model_settings` or `run_config` takes the place of it.
        speak_first: The agent opens the talk: `start` returns when its greeting is complete.
        reply_timeout: Seconds without any frame after which a reply counts as not coming (60 by default). The time in
            which a person is asked about a tool call does not count.
        silence_seconds: How long an agent that takes over may be silent (4 by default); then a reply is asked for once
            more, and the log says `silence`.
        options: Of the agent's SDK, under its own names. For a pydantic-ai agent `deps`, `model_settings`,
            `instructions`, `toolsets` and `message_history`, as `Agent.realtime` takes them. For a `RealtimeAgent`
            `context`, `model_settings`, `run_config`, `voice`, `message_history` (pydantic-ai messages, such as
            `saved.messages()`), `greetings` (by agent's name: with which words it begins when the call comes to it)
            and `max_handoffs` (in one turn of the caller's, 5 by default).

    Raises:
        NotConnected: `connect()` was not called.
        NotAVoiceAgent: *agent* is no agent of an SDK that is known here.
        WrongEndpoint: The model was built for another address.
        WrongOption, WrongValue: An option is none of its SDK's, or nothing that the SDK can use.
        BadGreeting, GreetingForNobody, BadLimit: A greeting or a limit is none.
    """

    def __init__(
        self,
        agent: Any,
        *,
        model: Any = "openai:gpt-realtime",
        speak_first: bool = False,
        reply_timeout: float = 60.0,
        silence_seconds: float = 4.0,
        **options: Any,
    ) -> None:
        endpoint = current()
        super().__init__(endpoint, endpoint.next_label("call"))
        self.agent, self.model = agent, model
        self.speak_first = speak_first
        self.approvals = Approvals()
        """Tool calls that wait for a yes, where somebody is there to give it: a panel, or `approvals.watch`."""
        waits = {"reply_timeout": reply_timeout, "silence_seconds": silence_seconds}
        self._settings = {"model": model, **waits, **options}
        self._session = session_of(agent, {"model": model, **options}, self._endpoint, self.label, self.approvals)
        self._spoken = Spoken(self._session, self._wire, self._endpoint, self._folder)
        self._waiting = Waiting(self._session, self._wire, self._endpoint, self._folder, reply_timeout, self.approvals)
        self._turns = TurnTaking(self._session, self._wire, self._endpoint, self._spoken, self._waiting)
        self._started, self._over = False, ""
        self._loop: asyncio.AbstractEventLoop | None = None
        self._leaving, self._left = False, asyncio.Event()
        self._ending: asyncio.Task[None] | None = None
        self._opening = asyncio.Lock()
        self._panel: Panel | None = None
        self._listening = Listening(self.mark)
        self._session.interrupts = lambda: self._spoken.interrupts
        self._handoffs = LiveHandoffs(self._session, self._wire, self._endpoint, self._folder, silence_seconds)

    async def start(self) -> Self:
        """Open the session; called again, it does nothing.

        Raises:
            CallOver: The call has been hung up, or has ended with its event loop.
            EndpointGone: The endpoint process has ended.
        """
        async with self._opening:
            if self._over or self._stranded:
                raise CallOver(self._over or _STRANDED)
            if not self._started:
                if not self._endpoint.alive:
                    raise EndpointGone
                await self._open()
                self._started, self._loop = True, asyncio.get_running_loop()
                self._handoffs.begin(self.agent)
                if self.speak_first:
                    await self._turns.turn(self._session.respond)
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
        return await self._turns.turn(lambda: self._session.send(text))

    async def send_audio(
        self, source: Any, *, sample_rate: int | None = None, realtime: bool = True, over: bool = False
    ) -> Turn:
        """Speak a recording into the call, as a microphone would, and wait until the reply is complete; return it.

        With turn detection (the session's default) the service cuts turns by the pauses in the sound, and quiet is
        sent after it until the last turn is over; without it (push-to-talk) the recording is one turn. Where turn
        detection is told not to reply (`create_response`), the caller's last turn is returned.

        Args:
            source: The path of a WAV file, its bytes, or a numpy array; it is converted (see `audio.load`).
            sample_rate: Hz, for an array or raw bytes.
            realtime: As fast as it sounds; False sends it as fast as it goes.
            over: Begin at once, over what the agent is still saying. Else its last reply is first heard out, unless it
                is still being made, for another task that waits for it: then this recording speaks over it.

        Raises:
            AudioError: The recording cannot be used; nothing was sent.
            CallNotStarted, CallOver: There is no call to speak in.
            AudioBusy: Another recording, or a microphone, is being sent.
            SpeechMissing: Nothing here can hear.
            NothingHeard: Nobody speaks in the recording, as far as turn detection can tell. The call goes on.
            ReplyFailed, ReplyTimeout, ToolRaised, EndpointGone: As for `send`.
        """
        from .audio import load, pace

        self._check()
        sound = await asyncio.to_thread(load, source, sample_rate=sample_rate)
        await self._spoken.check()
        async with self._spoken.source(sound.name):
            if realtime and not over and not self._turns.busy and not self._wire.outstanding:
                await self._session.played(self.reply_timeout)
            said = await self._turns.say(pace(sound.blocks(BLOCK_MS), realtime=realtime), realtime=realtime)
        if said is None:
            raise NothingHeard(sound.name, sound.level, self._spoken.detection or {})
        return (await self._turns.answers(*said))[-1]

    async def listen(self, *, source: Any = None, seconds: float = 20.0) -> list[Turn]:
        """Listen to a microphone, and return what was said in the call meanwhile, by both sides.

        What is wrong with it meanwhile (no sound is arriving, it was unplugged) is a warning, and a mark in the log.

        Args:
            source: `"page"` is the browser's microphone, as a panel has it; `"card"` the kernel's own, `"card:3"` or a
                name another one of these. A recording (path, bytes, `Sound`, array) stands in for one, and so does an
                async iterator of blocks of PCM16, mono, 24000 Hz. By default it is the page's where a panel has it
                open, else the kernel's; where there is neither, that is a warning, and nothing is said.
            seconds: How long to listen, at most; a source may end earlier.

        Raises:
            MicrophoneError: The microphone that was asked for cannot be used.
            CallNotStarted, CallOver, AudioBusy, SpeechMissing, ReplyFailed, ReplyTimeout, ToolRaised, EndpointGone: As
                for `send_audio`.
        """
        self._check()
        await self._spoken.check()
        microphone = await self._listening.open(source, self._panel)
        if microphone is None:
            return []
        before = self._turns.idle_seq()
        try:
            async with self._spoken.source(microphone.name):
                said = await self._turns.say(bounded(microphone, seconds), realtime=True)
        finally:
            microphone.close()
        if said is not None:
            await self._turns.answers(*said)
        return [turn for turn in self.turns if turn.seq > before]

    async def respond(self) -> Turn:
        """Ask the agent to speak without a turn of the caller's, and wait until that is complete; return it.

        For sessions whose turn detection does not reply by itself, and to ask once more after a failure.

        Raises:
            CallNotStarted, CallOver, ReplyFailed, ReplyTimeout, ToolRaised, EndpointGone: As for `send`.
        """
        self._check()
        return await self._turns.respond()

    async def interrupt(self, *, played_ms: int | None = None) -> None:
        """Stop the reply that is under way; nothing happens if there is none.

        Args:
            played_ms: How much of the reply was heard, in milliseconds; the reply is cut to that in the conversation.
                0 leaves it marked as unheard. It is never counted beyond what has arrived.
        """
        self._check()
        await self._turns.interrupt(played_ms)

    async def hang_up(self) -> None:
        """End the call; called again, it does nothing. What was said stays readable, and can be handed off.

        Words of the caller's that are still on their way are waited for, up to ten seconds without anything new. Where
        somebody else is hanging up already (a panel), the end of that is waited for.
        """
        if self._leaving:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._left.wait(), _LEAVING)
            return
        self._leaving = True
        try:
            if not self._stranded:
                await self._last_words()
        finally:
            self._ending = asyncio.create_task(self._end(), name="handoffkit hang up")
            await asyncio.shield(self._ending)  # it goes on where whoever waits for it is interrupted

    async def _open(self) -> None:
        try:
            await self._session.open()
        except Exception:
            if self._wire.conversation is not None:
                await self._waiting.closed()
            raise

    async def _last_words(self) -> None:
        await self._handoffs.end()
        if self._started and not self._wire.closed:
            await self._spoken.end()
            with contextlib.suppress(Exception):  # whatever is wrong with the connection, the call ends
                await self._turns.cut_what_sounds()
            await self._waiting.last_words()

    async def _end(self) -> None:
        try:
            if self._stranded:  # the session has ended with its loop, and nothing of it can be awaited in another one
                await self._waiting.closed()
                self._over = self._wire.closed or _STRANDED
                return
            self._over = self._wire.closed or "hung up"
            if self._started:
                await self._session.close()
                await self._waiting.closed()
        finally:
            self._left.set()

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.hang_up()

    @property
    def reply_timeout(self) -> float:
        """Seconds without any frame after which a reply counts as not coming."""
        return self._waiting.reply_timeout

    @property
    def state(self) -> str:
        """`not started`, `open`, or how the call ended."""
        if self._stranded:
            return self._over or self._wire.closed or _STRANDED
        return self._over or self._wire.closed or ("open" if self._started else "not started")

    @property
    def phase(self) -> Phase:
        """How the call stands: not started yet, being opened, on, being hung up, or ended however that came about."""
        if self._leaving and not self._over:
            return "ending"
        if self._over or (self._started and (self._wire.closed or self._stranded or not self._endpoint.alive)):
            return "ended"
        if self._started:
            return "on"
        return "starting" if self._opening.locked() else "ready"

    @property
    def early(self) -> str:
        """How the call ended, if nobody had hung up; else empty."""
        if not self._started or self._leaving or self._over == "hung up":
            return ""
        if not self._endpoint.alive:
            return "the endpoint process is gone"
        closed = self._wire.closed or ""
        return "" if closed == "the client hung up" else closed

    @property
    def busy(self) -> bool:
        """Whether somebody waits for the reply to a turn, or sound of the caller's is being sent."""
        return self._turns.busy or self._spoken.sending

    @property
    def playback(self) -> Playback:
        """What is heard of the agent, and how much of it."""
        return self._session.playback

    @property
    def session(self) -> Any:
        """The SDK's own session: a `RealtimeSession` of pydantic-ai, or of openai-agents.

        Raises:
            CallNotStarted: It has not been opened.
        """
        if not self._started:
            raise CallNotStarted
        return self._session.live

    async def use_speaker(self, speaker: Speaker | None) -> None:
        """Play the agent's sound by *speaker* from now on; what counts as heard is then what was really played.

        Args:
            speaker: See `handoffkit.speaker.Speaker`; None for one that nobody hears, and that counts all the same.
        """
        await self._session.use(speaker)

    async def push_to_talk(self, on: bool = True) -> None:
        """Take the caller's turns by hand from now on: each `listen` or `send_audio` is one turn, whatever its pauses.

        Args:
            on: False gives the turns back to the turn detection that was in force before.

        Raises:
            CallNotStarted, CallOver, EndpointGone: As for `send`.
        """
        self._check()
        await self._spoken.push_to_talk(on)

    def panel(self, *, handoff_to: Any = None, prompt: str | None = None, **options: Any) -> "Panel":
        """Show the call live, with buttons; asked again, it shows the same panel.

        Args:
            handoff_to: The agent that the button "Hand off" hands the conversation to.
            prompt: What that agent is told to do.
            options: As `handoff` takes them.
        """
        from .widgets.panel import Panel

        if self._panel is None:
            self._panel = Panel(self, handoff_to=handoff_to, prompt=prompt, **options)
        elif handoff_to is not None or prompt is not None or options:
            self._panel.hand_off_to(handoff_to, prompt, **options)
        return self._panel

    def again(self) -> "Call":
        """Return a new call with the same agent and the same settings, not yet started."""
        return Call(self.agent, speak_first=self.speak_first, **self._settings)

    def __repr__(self) -> str:
        return f"<Call {self.label}, {self.state}>"

    @property
    def _stranded(self) -> bool:
        """Whether the event loop that the call was started in has ended, as at the end of an `asyncio.run`."""
        return self._loop is not None and self._loop.is_closed()

    def _check(self) -> None:
        if self._over or self._leaving:
            raise CallOver(self._over or "being hung up")
        if self._stranded:
            raise CallOver(_STRANDED)
        if not self._started:
            raise CallNotStarted
        if not self._endpoint.alive:
            raise EndpointGone
