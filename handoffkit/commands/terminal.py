"""`handoffkit call`: the whole job in a terminal: a call, typed or spoken, its events as they pass, a typed ticket."""

import asyncio
import contextlib
import json
import re
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TextIO

from pydantic import BaseModel

from ..call import Call
from ..connect import connect, disconnect, log
from ..errors import HandoffkitError, NoTurns
from ..log import EventLog
from ..sources import folder
from ..wire.frames import Frame

VOICE = "You are a friendly, concise phone support agent. Ask one question at a time."
TRIAGE = "You read a support call and file the ticket for it. Use only what was said."
PROMPT = "Create the support ticket for this call."

SETTINGS: dict[str, Any] = {"turn_detection": {"silence_duration_ms": 700}}
"""The service's own 200 ms of silence would cut a recorded turn of two sentences in half."""

_HOUR = 3600.0
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class SupportTicket(BaseModel):
    """What the support team needs to know about a call."""

    summary: str
    category: Literal["hardware", "software", "billing", "other"]
    priority: Literal["low", "medium", "high"]
    follow_up_questions: list[str]


@dataclass(frozen=True, slots=True)
class Turns:
    """What the caller says: recordings, or typed texts; without any, what is typed in the terminal."""

    texts: Sequence[str] = ()
    """A turn each."""
    recordings: Path | None = None
    """A WAV file, or a folder of them: a turn each, in the order of their names."""
    realtime: bool = False
    """Whether recordings are played as fast as they sound."""

    def files(self) -> list[Path]:
        """Return the recordings to play; nothing else in their folder is looked at.

        Raises:
            AudioError: There are none.
        """
        if self.recordings is None:
            return []
        return folder(self.recordings) if not self.recordings.is_file() else [self.recordings]


def run(turns: Turns, *, as_json: bool, model: str, triage_model: str) -> int:
    """Hold a call, hand it off, print the ticket and return 0.

    Args:
        turns: What the caller says.
        as_json: The ticket alone goes to standard output, as JSON; everything else goes to standard error.
        model: The voice agent's model, such as `openai:gpt-realtime`.
        triage_model: The model that writes the ticket, such as `openai:gpt-5.2`.

    Raises:
        NoTurns: Nothing was given to say.
        HandoffkitError: The call, or its handoff, failed; nothing is printed as a ticket then.
    """
    out = sys.stderr if as_json else sys.stdout
    files = turns.files()
    try:
        with contextlib.redirect_stdout(out):
            connect(speech=bool(files))
            ticket = asyncio.run(hold(turns, files, out, model, triage_model))
    finally:
        disconnect()
    if as_json:
        plain = (sys.stdout.encoding or "").lower().startswith("utf")
        print(json.dumps(ticket, ensure_ascii=not plain, indent=2))
    return 0


async def hold(turns: Turns, files: Sequence[Path], out: TextIO, model: str, triage_model: str) -> dict[str, object]:
    """Hold the call and its handoff, write what passes to *out*, and return the ticket's fields."""
    from pydantic_ai import Agent

    triage = Agent(triage_model, output_type=SupportTicket, instructions=TRIAGE, name="triage")
    call = Call(Agent(instructions=VOICE, name="voice"), model=model, model_settings=SETTINGS)
    ticker = Ticker(log(), call.label, out)
    async with ticker.running():
        async with call:
            said = await (_play(call, files, turns.realtime, ticker) if files else _type(call, turns.texts, ticker))
        if not said:
            raise NoTurns
        result = await call.handoff(triage, PROMPT)
    print(f"\n{_shown(str(result))}", file=out)
    return result.fields


async def _type(call: Call, texts: Sequence[str], ticker: "Ticker") -> int:
    said = 0
    async for text in _turns(texts):
        ticker.say("caller", text)
        reply = await call.send(text)
        ticker.say("agent", reply.text)
        said += 1
    return said


async def _play(call: Call, files: Sequence[Path], realtime: bool, ticker: "Ticker") -> int:
    for file in files:
        before = len(call.turns)
        ticker.say("caller", f"(speaks: {file.name})")
        await call.send_audio(file, realtime=realtime)
        for turn in call.turns[before:]:
            ticker.say(turn.speaker, "[inaudible]" if turn.inaudible else turn.text)
    return len(files)


class Ticker:
    """Writes each frame of one call as it passes; pieces that come in a row are counted, not listed.

    Args:
        log: The log that the frames are read from.
        label: The call's label; its handoffs count.
        out: Where the lines go.
    """

    def __init__(self, log: EventLog, label: str, out: TextIO) -> None:
        self._log, self._label, self._out = log, [label, f"{label}/*"], out
        self._last = 0
        self._pieces: Counter[tuple[str, str]] = Counter()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Follow the log for one block; what passed before its end is written before its end."""
        following = asyncio.create_task(self._follow())
        try:
            yield
        finally:
            following.cancel()
            with contextlib.suppress(asyncio.CancelledError, HandoffkitError):  # the call says it, if anything is wrong
                await following
            self._catch_up()

    def say(self, who: str, text: str) -> None:
        """Write a line of the conversation below the events that led to it."""
        self._catch_up()
        print(f"{who}: {_shown(text)}", file=self._out, flush=True)

    async def _follow(self) -> None:
        async for frame in self._log.follow(label=self._label, idle_timeout=_HOUR):
            self._show(frame)

    def _catch_up(self) -> None:
        for frame in self._log.filter(label=self._label, after_seq=self._last):
            self._show(frame)
        self._flush()

    def _show(self, frame: Frame) -> None:
        if frame.seq <= self._last or frame.channel == "mark":
            return
        self._last = frame.seq
        arrow = "->" if frame.dir == "client" else "<-"
        if frame.event.endswith((".delta", ".append")):
            self._pieces[arrow, frame.event] += 1
            return
        self._flush()
        print(f"{frame.at:9.3f} s {arrow} {_shown(frame.event)}", file=self._out, flush=True)

    def _flush(self) -> None:
        for (arrow, event), count in self._pieces.items():
            print(f"{'':11} {arrow} {event} x {count}", file=self._out)
        self._pieces.clear()


async def _turns(texts: Sequence[str]) -> AsyncIterator[str]:
    if not texts and sys.stdin.isatty():
        print("Say something as the caller. An empty line ends the call and writes the ticket.", file=sys.stderr)
        while text := (await _typed()).strip():
            yield text
        return
    for text in texts or sys.stdin.read().splitlines():
        if texts or text.strip():
            yield text


async def _typed() -> str:
    """Return the next line from the keyboard; the loop goes on meanwhile, and the session stays alive."""
    print("> ", end="", file=sys.stderr, flush=True)
    loop = asyncio.get_running_loop()
    typed: asyncio.Future[str] = loop.create_future()

    def answer(line: bytes) -> None:
        if not typed.done():
            typed.set_result(line.decode(sys.stdin.encoding, "replace"))

    def read() -> None:
        # Unbuffered: a thread that waits in `input` holds a lock, with which Python cannot end.
        with open(sys.stdin.fileno(), "rb", buffering=0, closefd=False) as keyboard:
            line = keyboard.read(1 << 16)
        with contextlib.suppress(RuntimeError):  # the loop is gone: Ctrl-C came first
            loop.call_soon_threadsafe(answer, line or b"")

    # A daemon, since nothing can wake a thread that waits for a key: Ctrl-C has to end the command all the same.
    threading.Thread(target=read, daemon=True).start()
    return await typed


def _shown(text: str) -> str:
    """Return *text* with its control characters spelled out, so that nothing said can steer the terminal."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
