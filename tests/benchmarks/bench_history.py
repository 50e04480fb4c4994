"""What it costs to turn a history into the other SDK's form and back, beside writing it down and reading it again.

The conversation is made up: spoken and typed turns, tool calls with their results, a reply cut off now and then. The
baseline is pydantic-ai's own adapter, which dumps the same messages as JSON and validates them again, in turn with us.
"""

import gc
import time
from collections.abc import Callable
from typing import Any

from measure import FIRST, SECOND, Row, ratios
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    SpeechPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from handoffkit.history import from_items, from_session_history, to_items, to_session_history

WHAT = "a history in the other SDK's form, and back"

SHORT, LONG = 100, 10_000
ROUNDS = {SHORT: 40, LONG: 5}

Way = Callable[[list[ModelMessage]], Any]


def measure(*, smallest: bool) -> list[Row]:
    """Return the rows for 100 and 10,000 messages, or for 10 and 100, once each."""
    sizes = {10: 1, 100: 1} if smallest else ROUNDS
    ways: dict[str, Way] = {
        "saved as JSON and read": _saved,
        "items and back": lambda messages: from_items(to_items(messages).items),
        "session history and back": lambda messages: from_session_history(to_session_history(messages).items),
    }
    costs = {size: _in_turn(ways, conversation(size), rounds) for size, rounds in sizes.items()}
    rows = [
        Row.of(f"{what}, {size:,} messages, per message", "µs", cost)
        for size, found in costs.items()
        for what, cost in found.items()
    ]
    baseline, *others = ways
    for size, found in costs.items():
        rows += [Row.of(f"{what} / {baseline}, {size:,}", "×", ratios(found[what], found[baseline])) for what in others]
    short, long = costs.values()
    for what in others:
        grows = min(long[what]) / min(short[what])
        rows.append(Row.of(f"{what}, a message of many / of few", "×", [grows], "1"))
    return rows


def _saved(messages: list[ModelMessage]) -> Any:
    return ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(messages))


def _in_turn(ways: dict[str, Way], messages: list[ModelMessage], rounds: int) -> dict[str, list[float]]:
    """Return the CPU of each way, in µs per message, measured one after the other in each round."""
    costs: dict[str, list[float]] = {what: [] for what in ways}
    for way in ways.values():
        way(messages[:4])  # what is built at the first use is not what a message costs
    for _ in range(rounds):
        for what, way in ways.items():
            gc.collect()
            began = time.process_time_ns()
            way(messages)
            costs[what].append((time.process_time_ns() - began) / 1000 / len(messages))
    return costs


def conversation(size: int) -> list[ModelMessage]:
    """Return a call of *size* messages."""
    turns = [_turn(number) for number in range(size // 4 + 1)]
    return [message for turn in turns for message in turn][:size]


def _turn(number: int) -> list[ModelMessage]:
    call = f"call_{number}"
    asked = UserPromptPart(FIRST) if number % 2 else SpeechPart(speaker="user", transcript=FIRST)
    cut = number % 5 == 0
    said = SpeechPart(speaker="assistant", transcript=SECOND, interrupted_at_ms=900 if cut else None)
    return [
        ModelRequest(parts=[asked], instructions="Help."),
        ModelResponse(parts=[TextPart("One moment."), ToolCallPart("look_up", '{"number": 7}', call)]),
        ModelRequest(parts=[ToolReturnPart("look_up", {"number": number, "status": "shipped"}, call)]),
        ModelResponse(parts=[said], state="interrupted" if cut else "complete"),
    ]
