"""How a simulated session listens: what its caller says is recognised in worker threads, and told on its own time.

The words of a turn come when they come. The model waits for them, the client does not: it is told of them between
the events of the reply, as the service does.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from .line import Cut
from .protocol.realtime.hearing import Sound
from .protocol.realtime.session import RealtimeSession

if TYPE_CHECKING:
    from .speech.loading import Speech
    from .speech.partials import Partials

_PATIENCE = 120.0  # seconds in which the words of a turn are recognised; ten minutes of speech take about thirty
_HOLD = 0.02  # seconds after which a pause is still one, unless sound comes faster than it sounds
_SHORTEST = 0.4  # seconds between two looks at a turn that is being spoken
_LONGEST_MS = 28_000  # of a turn that is looked at while it is spoken; more would take the recogniser a second pass

Send = Callable[..., Awaitable[None]]
Event = dict[str, Any]
T = TypeVar("T")


class Listener:
    """Recognises what the caller of one session says.

    Args:
        session: Whose sound it is.
        speech: The models.
        send: Sends events to the client.
        heard: Called when the words of a turn are known, so that a reply which waits for them can begin.
    """

    def __init__(self, session: RealtimeSession, speech: "Speech", send: Send, heard: Callable[[], None]) -> None:
        self._session, self._speech, self._send, self._heard = session, speech, send, heard
        self._tasks: set[asyncio.Task[Any]] = set()
        self._partials: dict[str, Partials] = {}
        self._ahead: tuple[Sound, asyncio.Task[str | None]] | None = None
        self._looking = False
        self._next_look = 0.0

    def listen(self) -> None:
        """Take up what has come in: turns that are complete, and the one that is being spoken."""
        for sound in self._session.sounds():
            self._do(self._recognise(sound))
        if self._begin_ahead():
            return
        if not self._looking and time.monotonic() >= self._next_look and (speaking := self._session.speaking):
            self._looking = True
            self._do(self._look(speaking))

    def close(self) -> None:
        """Stop; the client has gone."""
        for task in self._tasks:
            task.cancel()

    def _do(self, work: Coroutine[Any, Any, T]) -> "asyncio.Task[T]":
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _begin_ahead(self) -> bool:
        """Begin with the final words where the caller pauses: whoever goes on to be silent need not wait for them.

        Return whether they pause; nobody looks at the turn meanwhile, since that would take the final words' time.
        """
        if (sound := self._session.pausing) is None:
            return False
        if self._ahead is None or self._ahead[0] != sound:
            self._ahead = sound, self._do(self._words_if_silent(sound))
        return True

    async def _words_if_silent(self, sound: Sound) -> str | None:
        """Return the words of a turn that seems to be over, unless it was heard to go on while nothing was done yet."""
        await asyncio.sleep(_HOLD)
        if self._session.pausing != sound:
            return None
        with contextlib.suppress(Exception):  # the turn, once it is over, is recognised again and says what is wrong
            return await self._words(sound.pcm, True, sound.language, sound.prompt)
        return None

    async def _final_words(self, sound: Sound) -> str:
        words = None
        if self._ahead and self._ahead[0] == sound:
            words = await self._ahead[1]
        if words is None:
            words = await self._words(sound.pcm, True, sound.language, sound.prompt)
        return words

    async def _recognise(self, sound: Sound) -> None:
        try:
            words = await self._final_words(sound)
        except Exception as error:  # a library's own, whatever it is: the turn stays, without words
            events = self._session.no_words(sound.item_id, _why(error))
        else:
            partials = self._partials.pop(sound.item_id, None) or _fresh()
            events = self._session.words(sound.item_id, words, partials.rest(words))
        self._heard()
        with contextlib.suppress(Cut):
            for event in events:
                await self._send(event)
                await asyncio.sleep(0)  # the reply goes on meanwhile

    async def _look(self, sound: Sound) -> None:
        """Recognise what has been spoken of a turn so far, and tell the words that can be relied on."""
        began = time.monotonic()
        try:
            if len(sound.pcm) // 48 > _LONGEST_MS:
                return
            words = await self._words(sound.pcm, False, sound.language, None)
            partials = self._partials.setdefault(sound.item_id, _fresh())
            speaking = self._session.speaking
            if speaking and speaking.item_id == sound.item_id and (delta := partials.heard(words)):
                await self._send(*self._session.partial(sound.item_id, delta))
        except Exception:  # it is a look, and the whole turn is recognised anyhow
            return
        finally:
            took = time.monotonic() - began
            self._next_look = time.monotonic() + max(_SHORTEST, took)  # half of one core at the most
            self._looking = False

    async def _words(self, pcm: bytes, final: bool, language: str | None, prompt: str | None) -> str:
        recogniser = self._speech.recogniser
        work = asyncio.to_thread(recogniser.words, pcm, final=final, language=language, prompt=prompt)
        return await asyncio.wait_for(work, _PATIENCE)


def _fresh() -> "Partials":
    from .speech.partials import Partials

    return Partials()


def _why(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return f"The words were not recognised within {_PATIENCE:g} s."
    return f"The words could not be recognised: {type(error).__name__}: {error}"
