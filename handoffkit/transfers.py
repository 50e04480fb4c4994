"""How a call is handed from agent to agent while it goes on: how often in one turn, and what came of it.

A turn in which agents hand the caller on and on would never end, so there is a limit; behind it the agent who has the
call is offered no transfer until the caller's next turn.
"""

from collections.abc import Callable

from .errors import BadLimit


class Transfers:
    """The live handoffs of one call.

    Args:
        most: How many there may be in one turn of the caller's.

    Attributes:
        names: Who the call was handed to in the turn that is under way, in order.
        on_transfer: Is told in words that somebody else should speak now.
        on_limit: Is told once when the limit is reached, with all of *names*.
        on_ignored: Is told of a second transfer in one reply, which counts for nothing.

    Raises:
        BadLimit: *most* is no whole number above 0.
    """

    def __init__(self, most: int) -> None:
        if not isinstance(most, int) or isinstance(most, bool) or most < 1:
            raise BadLimit("max_handoffs", most, "a whole number above 0")
        self.most = most
        self.names: list[str] = []
        self.on_transfer: Callable[[str], None] = lambda words: None
        self.on_limit: Callable[[list[str]], None] = lambda names: None
        self.on_ignored: Callable[[str], None] = lambda name: None

    @property
    def allowed(self) -> bool:
        """Whether the turn that is under way may be handed on once more."""
        return len(self.names) < self.most

    def begin(self) -> bool:
        """Begin a turn of the caller's; return whether transfers were at their limit before it."""
        limited = not self.allowed
        self.names = []
        return limited

    def taken(self, name: str) -> None:
        """Count a handoff to *name*, which the SDK is about to carry out."""
        self.names.append(name)
        if not self.allowed:
            self.on_limit(list(self.names))

    def happened(self, name: str) -> None:
        """Say that the SDK has carried out a handoff: *name* is to speak."""
        self.on_transfer(f"{name} has taken over the call")

    def refused(self, words: str) -> None:
        """Say that the SDK has refused a transfer or a tool: it asks for no reply then."""
        self.on_transfer(f"the SDK refused what the agent asked for ({words})")
