"""Spoken calls as the benchmarks hold them: those of `handoffkit call FOLDER`, with the same agents and settings."""

import math
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

from measure import python
from pydantic_ai import Agent
from pydantic_ai.realtime import RealtimeModelSettings

import handoffkit as hk
from handoffkit.commands import terminal
from handoffkit.errors import NothingHeard

SETTINGS = cast("RealtimeModelSettings", terminal.SETTINGS)
SILENCE_MS = int(terminal.SETTINGS["turn_detection"]["silence_duration_ms"])
"""Milliseconds of silence after which a turn is over, as `handoffkit call` has it."""
BUSY = "while True: pass"


async def hold(files: Sequence[Path], *, realtime: bool) -> tuple[hk.Call, list[str]]:
    """Speak the recordings in a call, one after the other; return the call, hung up, and what was heard in each."""
    call, began = hk.Call(Agent(instructions=terminal.VOICE), model_settings=SETTINGS), []
    async with call:
        for file in files:
            began.append(len(hk.log()))
            with suppress(NothingHeard):
                await call.send_audio(file, realtime=realtime)
    return call, _heard(call, began)


def _heard(call: hk.Call, began: list[int]) -> list[str]:
    turns = [turn for turn in call.turns if turn.speaker == "caller"]
    ends: list[float] = [*began[1:], math.inf]
    return [
        " ".join(turn.text for turn in turns if begin < turn.seq <= end) for begin, end in zip(began, ends, strict=True)
    ]


async def ticket(call: hk.Call) -> dict[str, Any]:
    """Have the ticket for a call written, and return its fields."""
    triage = Agent("openai:gpt-5.2", output_type=terminal.SupportTicket, instructions=terminal.TRIAGE)
    return (await call.handoff(triage, terminal.PROMPT)).fields


@contextmanager
def busy_core() -> Iterator[None]:
    """Keep one core busy for a block, with a process that does nothing else."""
    process = subprocess.Popen(python("-c", BUSY))
    try:
        yield
    finally:
        process.kill()
        process.wait()
