"""The models that the simulated service lists. It answers to any name; those that it lists are for menus."""

from typing import Any

NAMES = ("gpt-4.1", "gpt-5.2", "gpt-5.2-mini", "gpt-realtime", "gpt-realtime-2.1")


def model(name: str) -> dict[str, Any]:
    """Return the description of a model; there is one for every name, since every name is answered."""
    return {"id": name, "object": "model", "created": 0, "owned_by": "handoffkit"}


def models() -> dict[str, Any]:
    """Return the list of models."""
    return {"object": "list", "data": [model(name) for name in NAMES]}
