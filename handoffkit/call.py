"""`Call`: one conversation with a voice agent, in the verbs that a notebook needs.

It is thin sugar over the SDK's own session. What it adds is judgement: the log on the wire says when a reply is
complete, whether a turn was answered, and what can be handed off.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from .approvals import Approvals
from .connect import Endpoint, current
from .errors import (
    CallBusy,
    CallNotStarted,
    CallOver,
    EmptyTurn,
    EndpointGone,
    NotAVoiceAgent,
    NothingHeard,
)
from .listening import Listening, bounded
from .marks import Turn
from .recorded import Recorded
from .speaker import Speaker
from .spoken import BLOCK_MS, Spoken
from .waiting import Waiting, nothing_said

if TYPE_CHECKING:
    from .sdk.pydantic import PydanticSession
    from .widgets.panel import Panel

_CANCEL = 10.0  # seconds in which a cancelled reply ends on the wire
_CUT = 2.0  # seconds in which the wire has how much was heard of a reply that was stopped


class Call(Recorded):
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
        endpoint = current()
        super().__init__(endpoint, endpoint.next_label("call"))
        self.agent = agent
        self.speak_first = speak_first
        self.approvals = Approvals()
        """Tool calls that wait for a yes, where somebody is there to give it: a panel, or `approvals.watch`."""
        self._settings = {"model": model, "reply_timeout": reply_timeout, **options}
        self._session = _session(agent, {"model": model, **options}, self._endpoint, self.label, self.approvals)
        self._spoken = Spoken(self._session, self._wire, self._endpoint, self._folder)
        self._waiting = Waiting(self._session, self._wire, self._endpoint, self._folder, reply_timeout)
        self._started, self._over = False, ""
        self._busy = self._leaving = False
        self._stopping: asyncio.Task[None] | None = None
        self._opening = asyncio.Lock()
        self._panel: Panel | None = None
        self._listening = Listening(self.mark)
        self._session.interrupts = lambda: self._spoken.interrupts

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
            if realtime and not over and not self._busy and not self._wire.outstanding:
                await self._session.played(self.reply_timeout)
            said = await self._say(pace(sound.blocks(BLOCK_MS), realtime=realtime), realtime=realtime)
        if said is None:
            raise NothingHeard(sound.name, sound.level, self._spoken.detection or {})
        return (await self._answers(*said))[-1]

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
        before = self._idle_seq()
        try:
            async with self._spoken.source(microphone.name):
                said = await self._say(bounded(microphone, seconds), realtime=True)
        finally:
            microphone.close()
        if said is not None:
            await self._answers(*said)
        return [turn for turn in self.turns if turn.seq > before]

    async def respond(self) -> Turn:
        """Ask the agent to speak without a turn of the caller's, and wait until that is complete; return it.

        For sessions whose turn detection does not reply by itself, and to ask once more after a failure.

        Raises:
            CallNotStarted, CallOver, ReplyFailed, ReplyTimeout, ToolRaised, EndpointGone: As for `send`.
        """
        self._check()
        before = self._idle_seq()
        await self._do(self._session.respond)
        return await self._waiting.reply(before)

    async def interrupt(self, *, played_ms: int | None = None) -> None:
        """Stop the reply that is under way; nothing happens if there is none.

        Args:
            played_ms: How much of the reply was heard, in milliseconds; the reply is cut to that in the conversation.
                0 leaves it marked as unheard. It is never counted beyond what has arrived.
        """
        self._check()
        state = await self._waiting.ask("state")  # meanwhile the SDK receives what is in the log already
        if state["outstanding"]:
            await self._session.interrupt(self._heard(played_ms))
            await self._waiting.ask("wait", after=state["seq"], idle=_CANCEL)
        else:
            await self._cut_what_sounds()

    async def hang_up(self) -> None:
        """End the call; called again, it does nothing. What was said stays readable, and can be handed off.

        Words of the caller's that are still on their way are waited for, up to ten seconds without anything new.
        """
        if self._over or self._leaving:
            return
        self._leaving = True
        try:
            if self._started and not self._wire.closed:
                await self._spoken.end()
                with contextlib.suppress(Exception):  # whatever is wrong with the connection, the call ends
                    await self._cut_what_sounds()
                await self._waiting.last_words()
        finally:
            self._over = self._over or "hung up"
            if self._started:
                await self._session.close()
                await self._waiting.closed()

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
        return self._over or self._wire.closed or ("open" if self._started else "not started")

    @property
    def busy(self) -> bool:
        """Whether somebody waits for the reply to a turn."""
        return self._busy

    async def use_speaker(self, speaker: "Speaker | None") -> None:
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

    def _check(self) -> None:
        if self._over or self._leaving:
            raise CallOver(self._over or "being hung up")
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
            return await self._waiting.reply(before)
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
        before = self._idle_seq()
        if self._wire.outstanding:
            raise CallBusy
        return before

    def _idle_seq(self) -> int:
        """Return the number of the last frame, if the call is still connected."""
        if closed := self._wire.closed:
            self._over = closed
            raise CallOver(self._over)
        return self._wire.seq

    async def _say(self, blocks: "AsyncIterator[bytes]", *, realtime: bool) -> tuple[int, int] | None:
        """Send sound; return the last frame before it and the last one with it, or None if nobody speaks in it."""
        before = self._idle_seq()
        heard = False

        async def send() -> None:
            nonlocal heard
            heard = await self._spoken.stream(blocks, realtime=realtime)

        await self._do(send)
        return (before, self._wire.seq) if heard else None

    async def _answers(self, before: int, last: int) -> list[Turn]:
        """Return the replies to the turns that began between two frames, or these turns where no reply is due."""
        if not self._spoken.replies:
            return [turn for turn in self.turns if turn.speaker == "caller" and before < turn.seq <= last]
        if not self._spoken.interrupts:
            await self._waiting.passed_over(before, last)
        ends = await self._waiting.answered(before, last)
        return await self._waiting.replies(ends) or [nothing_said(ends[-1])]

    async def _do(self, act: Callable[[], Awaitable[None]]) -> None:
        try:
            await act()
        except Exception as error:
            if not self._endpoint.alive:
                raise EndpointGone from error
            raise

    async def _stop(self) -> None:
        with contextlib.suppress(Exception):
            await self.interrupt()

    async def _cut_what_sounds(self) -> None:
        """Where somebody hears the agent, stop what has arrived and has not sounded, and say that it was not heard."""
        if self._session.playback.audible and self._session.playback.sounding and not self._wire.outstanding:
            seq = self._wire.seq
            await self._session.interrupt(None)
            await self._waiting.passed("conversation.item.truncate", seq, _CUT)

    def _heard(self, played_ms: int | None) -> int | None:
        """Never more than has arrived, and nothing to cut where nothing was heard."""
        if played_ms is None:
            return None
        arrived = [turn.audio_ms for turn in self.turns if turn.speaker == "agent"]
        return min(played_ms, arrived[-1] if arrived else 0) or None


def _session(
    agent: Any, options: dict[str, Any], endpoint: Endpoint, label: str, approvals: Approvals
) -> "PydanticSession":
    from pydantic_ai import Agent

    from .sdk.pydantic import Options, PydanticSession

    if not isinstance(agent, Agent):
        raise NotAVoiceAgent(agent)
    return PydanticSession(agent, Options(**options), endpoint, label, approvals)
