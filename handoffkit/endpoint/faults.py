"""Faults on the wire: rules that delay, drop, replace or cut what passes, to see what a failure looks like.

A rule names an event (`response.done`, or `POST /v1/responses` for a request, or `open` for a handshake) and what
happens to it. Rules are data: they cross to the endpoint process as JSON, and each counts its own matches.
"""

from dataclasses import asdict, dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Literal

Action = Literal["delay", "drop", "replace", "patch", "text", "close", "abort", "status"]


@dataclass(frozen=True, slots=True)
class Fault:
    """One rule on the wire."""

    event: str
    """The event it waits for; `*` and `?` stand for any characters."""
    action: Action
    """`delay` waits (a simulated request is being answered meanwhile, and its conversation locked); `drop` swallows;
    `replace` sends `data` instead; `patch` puts `data` into the event; `text` sends a frame that is no JSON; `close`
    closes the connection cleanly; `abort` cuts it; `status` answers a request or a handshake with `status`, and a
    `response.create` of the client's on a socket of the Responses API with an `error` event that has it."""
    nth: int = 1
    """Which match it strikes, counted from 1; 0 strikes every one."""
    direction: Literal["server", "client"] = "server"
    """Who sends the event. A request and a handshake come from the client whatever is said here."""
    seconds: float = 0.0
    """For `delay`: seconds."""
    code: int = 1001
    """For `close`: the WebSocket close code."""
    status: int = 500
    """For `status`: the HTTP status."""
    data: dict[str, Any] = field(default_factory=dict)
    """For `replace`: the event; for `patch`: what to change in it; for `status`: the body."""

    def __post_init__(self) -> None:
        actions = Action.__args__  # type: ignore[attr-defined]
        if self.action not in actions:
            raise ValueError(f"A fault's action is one of {', '.join(actions)}; found {self.action!r}.")
        if self.nth < 0 or self.seconds < 0:
            raise ValueError(f"A fault's nth and seconds are not negative; found {self.nth} and {self.seconds}.")

    def describe(self) -> dict[str, Any]:
        """Return the rule as JSON."""
        return asdict(self)


class Faults:
    """The rules that are in force, and how often each has matched."""

    def __init__(self, rules: list[Fault]) -> None:
        self._rules = rules
        self._counts = [0] * len(rules)

    def strike(self, direction: str, event: str) -> Fault | None:
        """Count this event against every rule, and return the first rule that strikes it."""
        exchange = event == "open" or " " in event
        struck: Fault | None = None
        for index, rule in enumerate(self._rules):
            if (exchange or rule.direction == direction) and fnmatchcase(event, rule.event):
                self._counts[index] += 1
                if struck is None and rule.nth in (0, self._counts[index]):
                    struck = rule
        return struck


def patched(event: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """Return *event* with *change* put into it, object by object."""
    both = {name for name in change if isinstance(change[name], dict) and isinstance(event.get(name), dict)}
    return event | {name: patched(event[name], change[name]) if name in both else change[name] for name in change}
