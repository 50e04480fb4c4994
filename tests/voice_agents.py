"""An agent of each SDK, so that a test of a call can be held with one and with the other."""

from typing import Any

import pytest
from agents.realtime import RealtimeAgent
from pydantic_ai import Agent

INSTRUCTIONS = "You are a phone support agent."
SDKS = ("pydantic-ai", "openai-agents")

in_use = SDKS[0]


@pytest.fixture(params=SDKS)
def sdk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Hold the calls of a test with one SDK, then with the other; return its name."""
    monkeypatch.setattr(f"{__name__}.in_use", request.param)
    return str(request.param)


def voice_agent() -> Any:
    """Return an agent of the SDK in use."""
    if in_use == "pydantic-ai":
        return Agent(instructions=INSTRUCTIONS)
    return RealtimeAgent(name="Support", instructions=INSTRUCTIONS)


def settings(detection: dict[str, Any] | None, *, transcribes: bool = True) -> dict[str, Any]:
    """Return the settings of the SDK in use for a turn detection; None is push-to-talk."""
    if in_use == "pydantic-ai":
        given: dict[str, Any] = {"openai_turn_detection": detection} if detection else {"turn_detection": False}
        return given | ({} if transcribes else {"input_transcription_model": None})
    heard: dict[str, Any] = {"turn_detection": detection} | ({} if transcribes else {"transcription": None})
    return {"audio": {"input": heard}}
