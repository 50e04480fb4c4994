"""What the kernel tells the endpoint process: one JSON object a line, through a pipe that nobody else can read."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit, urlunsplit

from .faults import Fault
from .models import build
from .models.prompt import Model

OPENAI = "https://api.openai.com/v1"


@dataclass(frozen=True, slots=True)
class Settings:
    """The configuration of an endpoint from one `connect()` to the next."""

    folder: Path
    """Where this connection's log is written."""
    mode: Literal["simulated", "live"] = "simulated"
    models: dict[str, Model] = field(default_factory=dict)
    """Who answers, by the name that the client asks for; `*` answers for every other name."""
    upstream: str = OPENAI
    """The base URL of the service that a live endpoint sends on to."""
    key: str | None = field(default=None, repr=False)
    """The upstream's key; it is kept in this process only."""
    faults: tuple[Fault, ...] = ()
    pid: int = 0
    """The kernel's process id, for `recover()`."""
    speech: bool = True
    """Whether a simulated session hears and speaks, where that is installed."""
    session_seconds: float = 3600.0
    """How long a simulated session lives."""

    @classmethod
    def read(cls, message: dict[str, Any]) -> "Settings":
        """Build the settings from the kernel's JSON."""
        return cls(
            folder=Path(message["folder"]),
            mode=message["mode"],
            models={name: build(description) for name, description in message["models"].items()},
            upstream=message.get("upstream") or OPENAI,
            key=message.get("key"),
            faults=tuple(Fault(**rule) for rule in message.get("faults", [])),
            pid=message.get("pid", 0),
            speech=message.get("speech", True),
            session_seconds=message.get("session_seconds", 3600.0),
        )

    def model(self, name: str) -> Model:
        """Return who answers for the model *name*."""
        return self.models.get(name) or self.models["*"]


def shown(url: str) -> str:
    """Return *url* as it may be printed: without a user name, a password, a query or a fragment."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    return urlunsplit((parts.scheme, f"{host}:{parts.port}" if parts.port else host, parts.path, "", ""))
