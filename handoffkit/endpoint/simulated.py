"""Who answers when nobody else does: the protocol's rules and a simulated model, put together.

`Simulation` drives one realtime session; `ask` has a model answer whatever protocol the question came by. The rules
themselves are pure and stand in `realtime`, `responses`, `chat` and `conversations`.
"""

import asyncio
import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from .line import Cut, Line
from .listening import Listener
from .models.prompt import Model, Prompt, Reply
from .protocol.api_error import ApiError
from .protocol.ids import Ids
from .protocol.realtime.audio import silence
from .protocol.realtime.session import LASTS, Pending, RealtimeSession
from .speaking import Pace, Utterance

if TYPE_CHECKING:
    from .speech.loading import Speech

_PATIENCE = 120.0  # seconds that a model may take for one reply


async def ask(model: Model, prompt: Prompt) -> Reply:
    """Ask a model for its reply, within a bound.

    Raises:
        ApiError: What the model refuses, or the service's own words for a model that broke or took too long.
    """
    try:
        answer = model.reply(prompt)
        return await asyncio.wait_for(answer, _PATIENCE) if inspect.isawaitable(answer) else answer
    except ApiError:
        raise
    except TimeoutError:
        raise ApiError(f"The model gave no reply within {_PATIENCE:g} s.", status=504, type="server_error") from None
    except Exception as error:
        message = f"The simulated model failed: {type(error).__name__}: {error}"
        raise ApiError(message, status=500, type="server_error", code="server_error") from error


class Simulation:
    """A realtime session that is answered on this machine.

    Args:
        model: Who asks for the session's model by name.
        ids: Where ids come from.
        answerer: Returns who answers for a model's name.
        line: To the client.
        speech: What hears and speaks; None for a session that does neither.
        lasts: Seconds that the session lives.
    """

    def __init__(
        self,
        model: str,
        ids: Ids,
        answerer: Callable[[str], Model],
        line: Line,
        speech: "Speech | None",
        lasts: float = LASTS,
    ) -> None:
        self._model, self._line, self._speech, self._lasts = answerer, line, speech, lasts
        self._session = RealtimeSession(model, ids, voice=self._speak, ears=speech, lasts=lasts)
        self._clock: asyncio.Task[None] | None = None
        self._answering: asyncio.Task[None] | None = None
        self._listener = Listener(self._session, speech, line.send, self._answer_what_is_due) if speech else None
        self._utterance: Utterance | None = None
        self._pace = Pace()

    async def open(self) -> None:
        """Greet the client as the service does."""
        self._clock = asyncio.create_task(self._expire())
        await self._line.send(*self._session.open())

    async def _expire(self) -> None:
        """End the session when it has lived its time, whatever it is at."""
        await asyncio.sleep(self._lasts)
        said, reason = self._session.expire()
        with contextlib.suppress(Cut):
            await self._line.send(said)
        self._stop()
        await self._line.end(1001, reason)

    async def receive(self, message: str | bytes) -> None:
        """Take one frame of the client's."""
        if self._speech and isinstance(message, str) and '"input_audio_buffer.append"' in message:
            await self._speech.wait()  # the models may still be loading, and no sound is lost meanwhile
            self._pace.came(len(message) * 3 // 4)
        with contextlib.suppress(Cut):
            await self._line.send(*self._session.receive(message))
            if self._listener:
                self._listener.listen()
            self._answer_what_is_due()

    def close(self) -> None:
        """Stop answering and listening; the client has gone."""
        if self._clock:
            self._clock.cancel()
        self._stop()

    def _stop(self) -> None:
        if self._answering:
            self._answering.cancel()
        if self._listener:
            self._listener.close()

    def _answer_what_is_due(self) -> None:
        if (self._answering is None or self._answering.done()) and (pending := self._session.pending()):
            self._answering = asyncio.create_task(self._answer(pending))

    async def _answer(self, first: Pending) -> None:
        pending: Pending | None = first
        with contextlib.suppress(Cut):
            while pending:
                pending = await self._reply(pending)

    async def _reply(self, pending: Pending) -> Pending | None:
        """Give the reply that is due; return the next one that is."""
        try:
            reply = await ask(self._model(pending.prompt.model), pending.prompt)
        except ApiError as error:
            await self._line.send(*self._session.fail(pending.response_id, error))
        else:
            if self._speech and reply.text and pending.spoken:
                await self._speech.wait_for_voice()
            await self._say(self._session.answer(pending.response_id, reply))
        return self._session.pending()

    def _speak(self, text: str) -> Iterator[bytes]:
        """Return the sound of *text*: of the voice, or silence where there is none."""
        if self._speech is None or not self._speech.speaks:
            return silence(text)
        self._utterance = Utterance(self._speech.voice, text, self._session.speed)
        return iter(self._utterance)

    async def _say(self, events: Iterator[dict[str, Any]]) -> None:
        self._utterance = None
        self._pace.begin()
        for event in events:
            if event["type"] == "response.function_call_arguments.done":
                # A client answers as soon as it has the arguments; the response ends before that, as on the service.
                await self._line.send(event, *events)
            else:
                await self._line.send(event)
                await asyncio.sleep(0)  # a cancel may be waiting to be read
            if self._utterance:
                await self._keep_pace(self._utterance)

    async def _keep_pace(self, utterance: Utterance) -> None:
        """Have the next piece of sound ready, at its time."""
        if wait := self._pace.wait(utterance.sent_ms):
            await asyncio.sleep(wait)
        while not utterance.ready:
            await utterance.more()
