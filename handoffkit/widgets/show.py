"""`panel()`: whatever passes on the wire, live in the notebook, also from plain SDK code."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .panel import Panel


def panel() -> "Panel":
    """Show what passes between this kernel and whoever answers, as it passes.

    It drives nothing: for a call with buttons write `hk.Call(agent).panel()`.

    Raises:
        NotConnected: `connect()` was not called.
    """
    from .panel import Panel

    return Panel()
