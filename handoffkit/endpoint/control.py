"""The control socket: the kernel asks how far the log is, and waits for the end of a turn.

One question a connection: a line of JSON with the control token, answered by a line of JSON. It is not HTTP, so no
page can speak it, and its token is not the one that the SDKs hold.
"""

import asyncio
import hmac
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any

from .speech.loading import Speech
from .tap import Tap

_LINE = 1 << 20
_LONGEST = 600.0
_ROUNDS = 10  # of the event loop; two or three take in what lies in the sockets


Client = Callable[[str], Awaitable[None]]
"""Takes a frame as if the client of a connection had sent it."""


class Control:
    """Answers the kernel's questions about the logs of this endpoint, and about what it can hear.

    Args:
        token: What a question has to bring.
        tap: Returns a log's tap by the name of its folder.
        speech: Returns what hears, None where nothing does.
        client: Returns who takes frames for the connection of that name in that log; None where it is closed.
    """

    def __init__(
        self,
        token: str,
        tap: Callable[[str], Tap],
        speech: Callable[[], Speech | None],
        client: Callable[[str, str], Client | None],
    ) -> None:
        self._token, self._tap, self._speech, self._client = token, tap, speech, client

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one question and close."""
        try:
            question = json.loads(await asyncio.wait_for(reader.readline(), 10))
            if hmac.compare_digest(str(question.pop("token", "")).encode(), self._token.encode()):
                answer = await self._answer(question.pop("op"), **question)
                writer.write(json.dumps(answer).encode() + b"\n")
                await writer.drain()
        except (ValueError, KeyError, TypeError, AttributeError, OSError, TimeoutError):
            pass  # not our kernel, or one that has gone: the closed connection says enough
        finally:
            writer.close()

    async def _answer(self, op: str, *, log: str, **question: Any) -> dict[str, Any]:
        tap = self._tap(log)
        match op:
            case "state":
                return self._state(tap, **question)
            case "wait":
                return await self._wait(tap, **question)
            case "grew":
                return await self._grew(tap, **question)
            case "settle":
                return await self._settle(tap)
            case "mark":
                return self._mark(tap, **question)
            case "trace":
                return self._trace(tap, **question)
            case "say":
                return await self._say(tap, **question)
            case "speech":
                return await self._hearing(**question)
        raise KeyError(op)

    def _state(self, tap: Tap, label: str) -> dict[str, Any]:
        conn = next(reversed(tap.conns.get(label, [])), None)
        outstanding = tap.tracker.open_turn(conn) if conn else None
        idle = round(tap.idle(conn), 3) if conn else 0.0
        closed = tap.closed.get(conn) if conn else None
        return {"seq": tap.seq, "conn": conn, "outstanding": outstanding, "idle": idle, "closed": closed}

    async def _wait(self, tap: Tap, label: str, after: int, idle: float) -> dict[str, Any]:
        """Wait for the first turn of *label* that ends after the frame *after*; give up after *idle* s of silence."""
        loop = asyncio.get_running_loop()
        seen, deadline = 0, loop.time() + _LONGEST
        while loop.time() < deadline:
            conns = tap.conns.get(label, [])
            for end in tap.ended[seen:]:
                if end.conn in conns and end.end_seq > after:
                    return {"end": asdict(end), **self._state(tap, label)}
            seen = len(tap.ended)
            left = idle - (min(tap.idle(conn) for conn in conns) if conns else idle)
            if left <= 0 or not await tap.moved(min(left, 60)):
                state = self._state(tap, label)
                if state["idle"] >= idle or not conns:
                    return {"end": None, **state}
        return {"end": None, **self._state(tap, label)}

    async def _hearing(self, timeout: float) -> dict[str, Any]:
        """Say whether speech is heard, once the models are loaded."""
        speech = self._speech()
        if speech is None:
            return {"hears": False, "problem": ""}
        await speech.wait(timeout)
        return {"hears": speech.hears, "problem": speech.problem, "state": speech.state}

    async def _grew(self, tap: Tap, seq: int, timeout: float) -> dict[str, Any]:
        if tap.seq <= seq:
            await tap.moved(min(timeout, _LONGEST))
        return {"seq": tap.seq}

    async def _settle(self, tap: Tap) -> dict[str, Any]:
        """Answer once all is written down that clients had sent before the question."""
        for _ in range(_ROUNDS):
            await asyncio.sleep(0)
        return {"seq": tap.seq}

    def _mark(
        self, tap: Tap, kind: str, data: dict[str, Any], label: str | None = None, newest: bool = False
    ) -> dict[str, Any]:
        """Write a mark about the call *label*, or about the newest that is open where nobody can say which."""
        if newest:
            label, conn = self._newest(tap)
        else:
            conn = (tap.conns.get(label or "") or ["kernel"])[-1]
        tap.write(conn, "mark", "client", kind, data, label)
        return {"seq": tap.seq}

    def _newest(self, tap: Tap) -> tuple[str | None, str]:
        """Return label and name of the realtime connection that was opened last of those that are open."""
        for conn in reversed(tap.last_at):
            if self._client(tap.folder.name, conn) is not None:
                return next((label for label, conns in tap.conns.items() if conn in conns), None), conn
        return None, "kernel"

    def _trace(self, tap: Tap, conn: str, event: str, data: dict[str, Any]) -> dict[str, Any]:
        tap.write(conn, "trace", "client", event, data, None)
        return {"seq": tap.seq}

    async def _say(self, tap: Tap, label: str, event: dict[str, Any]) -> dict[str, Any]:
        """Send *event* on the newest connection of *label*, beside what its own client sends."""
        conn = next(reversed(tap.conns.get(label, [])), "")
        client = self._client(tap.folder.name, conn)
        if client is not None:
            await client(json.dumps(event))
        return {"seq": tap.seq, "sent": client is not None}
