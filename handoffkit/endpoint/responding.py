"""The Responses API over WebSocket, answered on this machine: the rules of `lanes` put together with a model."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

from .line import Cut, Line
from .models.prompt import Model
from .protocol import responses
from .protocol.api_error import ApiError
from .protocol.ids import Ids
from .protocol.lanes import AT_ONCE, Lanes, Request, expired, refusal, stamped
from .protocol.store import Store, held
from .simulated import ask


class ResponsesSimulation:
    """One connection on which responses are asked for.

    Args:
        ids: Where ids come from.
        answerer: Returns who answers for a model's name.
        store: What the service remembers.
        line: To the client.
        lasts: Seconds that the connection lives.
    """

    def __init__(self, ids: Ids, answerer: Callable[[str], Model], store: Store, line: Line, lasts: float) -> None:
        self._model, self._store, self._line, self._lasts = answerer, store, line, lasts
        self._ids, self._lanes = ids, Lanes()
        self._running = asyncio.Semaphore(AT_ONCE)
        self._tasks: set[asyncio.Task[None]] = set()
        self._last: dict[str | None, asyncio.Task[None]] = {}
        """By lane: the request that came last."""
        self._clock: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Begin to count the time; the service says nothing before it is asked."""
        self._clock = asyncio.create_task(self._expire())

    async def receive(self, message: str | bytes) -> None:
        """Take one frame of the client's; a response is made beside this."""
        request = self._lanes.read(message)
        if isinstance(request, Request):
            task = asyncio.create_task(self._answer(request, self._last.get(request.lane)))
            self._last[request.lane] = task
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            await self._line.send(request)

    def close(self) -> None:
        """Stop answering; the client has gone."""
        if self._clock:
            self._clock.cancel()
        self._stop()

    def _stop(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def _expire(self) -> None:
        await asyncio.sleep(self._lasts)
        with contextlib.suppress(Cut):
            await self._line.send(expired())
            self._stop()
            await self._line.end(1001, "the connection has lived its time")

    async def _answer(self, request: Request, before: asyncio.Task[None] | None) -> None:
        """Answer a request when the one before it on its lane is answered."""
        if before:
            await asyncio.wait([before])
        with contextlib.suppress(Cut):
            async with self._running:
                try:
                    await self._respond(request)
                except ApiError as error:
                    await self._refuse(request, error)
                except Cut:
                    raise
                except Exception as error:  # a fault of ours is said as well: else the client would wait for ever
                    message = f"The simulated service failed: {type(error).__name__}: {error}"
                    await self._refuse(request, ApiError(message, status=500, type="server_error"))

    async def _refuse(self, request: Request, error: ApiError) -> None:
        self._lanes.forget(request)
        await self._line.send(refusal(error, request.lane))

    async def _respond(self, request: Request) -> None:
        asked = responses.ask(request.body, self._store, self._lanes.recent)
        with held(asked.conversation):
            run = responses.Run(asked, self._ids, time.time())
            events = await self._events(request, asked, run)
            for event in stamped(events, request.lane):
                await self._line.send(event)
        self._lanes.keep(request, run.kept)

    async def _events(self, request: Request, asked: responses.Ask, run: responses.Run) -> Iterator[dict[str, Any]]:
        if not request.generate:
            return chain(run.opening(), run.silence())
        prompt = replace(asked.prompt, handoff=self._line.connection.label is not None)
        try:
            reply = await ask(self._model(prompt.model), prompt)
        except ApiError as error:
            if error.status < 500:
                raise
            self._lanes.forget(request)
            return chain(run.opening(), run.failure(error))
        return chain(run.opening(), run.answer(reply))
