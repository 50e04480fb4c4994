"""What is never written down: the secrets that a request may carry in its body. They pass on as they are.

A tool of kind `mcp` brings what another server asks of its callers, and a client's secret opens a realtime session.
"""

from collections.abc import Iterator
from typing import Any

HIDDEN = "<hidden>"


def masked(data: dict[str, Any]) -> dict[str, Any]:
    """Return what stands in the log for *data*: a copy without its secrets, or itself where it has none."""
    change: dict[str, Any] = {}
    for name in ("session", "response"):
        if isinstance(inner := data.get(name), dict) and (hidden := masked(inner)) is not inner:
            change[name] = hidden
    for name in ("tools", "input"):
        if isinstance(found := data.get(name), list) and any(_mcp(found)):
            change[name] = [_without_secrets(one) for one in found]
    if isinstance(secret := data.get("client_secret"), dict):
        change["client_secret"] = secret | {"value": HIDDEN}
    if isinstance(value := data.get("value"), str) and value.startswith("ek_"):
        change["value"] = HIDDEN
    return data | change if change else data


def _mcp(found: list[Any]) -> Iterator[bool]:
    """Say of each tool whether it is one of another server, and of each item whether it brings such tools."""
    for one in found:
        if isinstance(one, dict):
            yield one.get("type") == "mcp"
            if isinstance(tools := one.get("tools"), list):
                yield from _mcp(tools)


def _without_secrets(one: Any) -> Any:
    if not isinstance(one, dict):
        return one
    if isinstance(tools := one.get("tools"), list):
        one = one | {"tools": [_without_secrets(tool) for tool in tools]}
    if one.get("type") != "mcp":
        return one
    headers = one.get("headers")
    shown = {"headers": dict.fromkeys(headers, HIDDEN) if isinstance(headers, dict) else HIDDEN} if headers else {}
    return one | shown | ({"authorization": HIDDEN} if one.get("authorization") else {})
