"""What a `Call` asks of an SDK's realtime session, whichever SDK it is; this module imports neither.

`pydantic` and `openai_agents` each have a class that fits it.
"""

from collections.abc import Callable
from typing import Any, Protocol

from ..speaker import Playback, Speaker

SETTLE = 5.0
"""Seconds in which an SDK files a reply that has ended on the wire."""


class Session(Protocol):
    """One realtime session, held across cells."""

    playback: Playback
    """What is heard of the agent, and how much of it."""
    interrupts: Callable[[], bool]
    """Whether a caller who begins to speak stops the agent, as the settings of turn detection have it."""
    advice: str
    """What to do besides where a tool raises, in words that follow "or"."""

    @property
    def live(self) -> Any:
        """The SDK's own session, once it is open."""
        ...

    async def open(self) -> None:
        """Open the session; whatever keeps it from opening is raised here."""
        ...

    async def send(self, text: str) -> None:
        """Send a typed turn, which asks for a reply."""
        ...

    async def respond(self) -> None:
        """Ask the agent to speak without a turn of the caller's."""
        ...

    async def send_audio(self, pcm: bytes) -> None:
        """Send sound of the caller's: PCM16, mono, 24000 Hz."""
        ...

    async def commit(self) -> None:
        """Say that the sound so far is a turn (push-to-talk)."""
        ...

    async def clear(self) -> None:
        """Have the sound forgotten that is no turn yet."""
        ...

    def detects(self, detection: dict[str, Any] | None) -> None:
        """Know that this turn detection was put in force on the wire, so that nothing that is sent later undoes it."""
        ...

    def play(self, *, realtime: bool) -> None:
        """Have what the agent says played from now on: as long as it sounds, or at once where nobody hears it."""
        ...

    async def use(self, speaker: Speaker | None) -> None:
        """Play the agent's sound by *speaker* from now on; None for the clock that nobody hears."""
        ...

    async def played(self, seconds: float) -> None:
        """Wait until all that the agent has said so far has been played, *seconds* at most."""
        ...

    async def settle(self, seconds: float = SETTLE) -> None:
        """Wait until the SDK has filed the reply that it waits for, *seconds* at most."""
        ...

    def replaced(self) -> bool:
        """Whether the SDK has stopped the last reply by itself and asks for another one."""
        ...

    def tool_error(self) -> Exception | None:
        """Return what a tool has raised since this was last asked; of several, the first."""
        ...

    async def interrupt(self, played_ms: int | None) -> None:
        """Cancel the reply that is under way; with *played_ms*, cut it to what was heard."""
        ...

    async def asks(self) -> bool:
        """Have the SDK send a request for a reply that it holds back; return whether there was one."""
        ...

    async def given_up(self, seconds: float) -> BaseException | None:
        """Return why the SDK gave the session up by itself, if it did; wait *seconds* for that at most."""
        ...

    async def close(self) -> BaseException | None:
        """Leave the session; return what had gone wrong with it, if anything."""
        ...
