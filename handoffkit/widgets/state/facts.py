"""What is settled before a call begins: who answers and what that means, with which agent, and what comes of it."""

import dataclasses
from typing import Any
from urllib.parse import urlsplit

from ...handoff import type_name
from .safe import name

VOICE_AGENT = "Voice agent"
"""What an agent without a name is called."""

_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def facts(call: Any, handoff_to: Any, endpoint: Any, *, hears: tuple[bool, str] = (True, "")) -> dict[str, Any]:
    """Return the facts of a panel, as far as they do not depend on the page.

    Args:
        call: The call; None for a panel on the whole log.
        handoff_to: The agent that takes the conversation over; None if there is none.
        endpoint: Who the call talks to: `mode`, and if it tells, `models` (descriptions by name) and `upstream`.
        hears: Whether spoken turns can be heard, else what to do about it.
    """
    model = model_name(call)
    answers = getattr(endpoint, "models", None) or {}
    described = answers.get(model.rpartition(":")[2]) or answers.get("*")
    upstream = getattr(endpoint, "upstream", None)
    return {
        "title": agent_name(call) if call is not None else "All calls",
        "mode": endpoint.mode,
        "who": who_answers(endpoint.mode, model if call is not None else "", described, upstream),
        "agent": agent_name(call) if call is not None else "",
        "hands_to": None if handoff_to is None else name(getattr(handoff_to, "name", None) or "Handoff agent"),
        "result": None if handoff_to is None else result_words(getattr(handoff_to, "output_type", str)),
        "watching": call is None,
        "hears": {"ok": hears[0], "words": hears[1]},
    }


def agent_name(call: Any) -> str:
    """Return the name of a call's agent."""
    given = getattr(call.agent, "name", None)
    # pydantic-ai takes an agent without a name to be called what a variable of ours is called.
    return name(str(given)) if given and given != "agent" else VOICE_AGENT


def model_name(call: Any) -> str:
    """Return the realtime model of a call as its user wrote it: `openai:gpt-realtime`."""
    given = getattr(call, "model", "openai:gpt-realtime")
    return name(given if isinstance(given, str) else f"openai:{getattr(given, 'model_name', type(given).__name__)}")


def who_answers(
    mode: str, model: str = "", described: dict[str, Any] | None = None, upstream: str | None = None
) -> dict[str, str]:
    """Say who answers, whether they follow instructions, and what leaves this machine.

    Args:
        mode: `simulated` or `live`.
        model: The model that is asked for; empty where there may be several.
        described: The simulated model, as its `describe` tells.
        upstream: The base URL of the service that a live endpoint sends on to; OpenAI's if None.
    """
    if mode == "live":
        host = urlsplit(upstream or "").hostname or ""
        to_openai = host in ("", "api.openai.com")
        sent = "the provider, who charges for it" if to_openai else f"{name(host)}; it may cost money"
        head = f"Live: {model}" if model else "Live"
        return _who(head, "Follows your instructions.", f"Your voice is sent to {sent}.", head)
    kind = (described or {}).get("kind", "keyword")
    if kind == "text" and described is not None:
        return _text_model(described)
    says = "Follows a script of rules, not your instructions."
    if kind == "scripted":
        says = "Says the lines that it was given, whatever you say."
    return _who("Simulated on this machine", says, "Nothing leaves this machine. No cost.", "Simulated")


def _text_model(described: dict[str, Any]) -> dict[str, str]:
    model, host = name(str(described.get("name"))), urlsplit(str(described.get("upstream"))).hostname or ""
    near = host in _LOOPBACK
    sent = "go to a server on this machine." if near else f"are sent to {name(host)}; it may cost money."
    return _who(
        f"Simulated voice, {model} writes",
        "A text model writes the replies and is given your instructions.",
        f"Your voice stays on this machine. Your words {sent}",
        f"Simulated voice, {model}",
    )


def _who(head: str, says: str, cost: str, short: str) -> dict[str, str]:
    return {"head": head, "says": says, "cost": cost, "short": short}


def result_words(output_type: Any) -> str:
    """Return what comes of a handoff: `SupportTicket, 4 fields`."""
    if output_type in (str, None):  # None is an agents.Agent's that writes
        return "Text"
    found, title = _fields(output_type), name(type_name(output_type))
    return title if found is None else f"{title}, {found} field{'' if found == 1 else 's'}"


def _fields(output_type: Any) -> int | None:
    """Return how many fields a type has; None if it is none with fields."""
    for inner in ("output", "outputs", "output_type"):  # pydantic-ai's markers, openai-agents' AgentOutputSchema
        output_type = getattr(output_type, inner, None) or output_type
    if isinstance(fields := getattr(output_type, "model_fields", None), dict):
        return len(fields)
    if isinstance(output_type, type) and dataclasses.is_dataclass(output_type):
        return len(dataclasses.fields(output_type))
    return len(output_type.__annotations__) if hasattr(output_type, "__required_keys__") else None
