"""Results made by hand, for what shows and saves them."""

from decimal import Decimal
from typing import Any

from pydantic_ai.usage import RunUsage

from handoffkit.extraction.attempts import Attempt, FieldError
from handoffkit.extraction.result import HandoffResult

REJECTED = Attempt(
    1, "rejected", '{"priority": "urgent"}', (FieldError("priority", "'urgent'", "'low' or 'high'", "Input ..."),)
)


def result(output: Any, **facts: Any) -> HandoffResult:
    given: dict[str, Any] = {
        "output": output,
        "attempts": (Attempt(1, "accepted", "{}"),),
        "usage": RunUsage(input_tokens=30, output_tokens=4, requests=1),
        "cost": Decimal("0.00012345"),
        "seconds": 1.23456,
        "label": "call-1/handoff-1",
        "agent": "triage",
        "model": "gpt-5.2",
        "schema": type(output).__name__,
        "prompt": "Create the ticket.",
        "messages": (),
        "simulated": True,
    }
    return HandoffResult(**given | facts)
