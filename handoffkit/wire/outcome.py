"""How a request of a handoff came out, as the frame that ends it says; and to whom a live one went."""

import json
from typing import Any

from .frames import Frame, obj, text


def answered(frame: Frame, data: dict[str, Any]) -> str | None:
    """Say how a request of a handoff was answered: `ok` or the trouble; None while it is not."""
    match frame.event:
        case "response.completed":
            return "ok"
        case "response.failed" | "error":
            return trouble_of(obj(data, "response") or data) or "the response failed"
        case "response.incomplete":
            why = text(obj(obj(data, "response"), "incomplete_details"), "reason")
            return f"the response is incomplete{f': {why}' if why else ''}"
        case "close":
            # Chat Completions' stream has no last event of its own, so a clean end is a whole answer there.
            return "ok" if frame.channel == "chat" and data.get("by") != "drop" else "the connection ended too early"
    if not frame.event.isdigit():
        return None
    trouble = trouble_of(data)
    return "ok" if frame.event.startswith("2") else f"HTTP {frame.event}{f': {trouble}' if trouble else ''}"


def trouble_of(data: dict[str, Any]) -> str | None:
    """Return what an error says of itself."""
    error = obj(data, "error") or data
    return text(error, "message") or text(error, "code")


def transferred(output: str | None) -> str:
    """Return the agent that the output of a transfer names: openai-agents sends `{"assistant": name}`."""
    try:
        found = json.loads(output or "")
    except ValueError:
        return ""
    return text(found, "assistant") or "" if isinstance(found, dict) else ""
