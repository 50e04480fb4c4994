"""How a connection ended: was it meant, and in plain words, who did it. Pure."""

from typing import Any

_NORMAL_CLOSE = (None, 1000, 1001, 1005)
"""Codes with which a client hangs up; with any other it reports trouble (RFC 6455, section 7.4.1)."""


def hung_up(close: dict[str, Any]) -> bool:
    """Say whether a connection was closed because the client was done, not because something failed."""
    return close.get("by") == "client" and close.get("code") in _NORMAL_CLOSE


def closed_how(close: dict[str, Any]) -> str:
    """Say who closed a connection and how, in plain words."""
    code, reason = close.get("code"), close.get("reason")
    detail = ", ".join(str(part) for part in (f"code {code}" if code is not None else "", reason) if part)
    words = {"client": "the client closed the connection", "server": "the service closed the connection"}
    return words.get(str(close.get("by")), "the connection dropped") + (f" ({detail})" if detail else "")
