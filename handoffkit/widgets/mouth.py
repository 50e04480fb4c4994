"""The agent's sound in one panel: it is played by the page, as long as a page that can play it is there."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .desk import Desk


class Mouth:
    """The speaker of one panel.

    Args:
        desk: The panel's.
    """

    def __init__(self, desk: "Desk") -> None:
        self._desk = desk
        self.kind = "none"
        """`page`, `card` or `none`."""

    async def look(self) -> None:
        """Play by the page if there is one."""
