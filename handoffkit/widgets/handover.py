"""What the button *Hand off* does: who takes over, what that agent is told, and the ticket that comes of it."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..handoff import type_name
from .state.ticket import ticket, ticket_error

if TYPE_CHECKING:
    from ..call import Call
    from ..extraction.result import HandoffResult

_NOBODY = (
    "There is nobody to hand this call to. Write `call.panel(handoff_to=agent)` in a cell, with an agent that has an "
    "`output_type`; nothing else is lost."
)


class Handover:
    """The handoffs of one panel.

    Args:
        shown: Is told when there is another ticket, or none any more.
    """

    def __init__(self, shown: Callable[["HandoffResult | None"], None]) -> None:
        self._shown = shown
        self.agent: Any = None
        self.prompt: str | None = None
        self.options: dict[str, Any] = {}
        self.under_way = False
        self.json: dict[str, Any] = {}
        """The ticket as the page has it; empty where there is none."""

    def to(self, agent: Any, prompt: str | None, options: dict[str, Any]) -> None:
        """Have *agent* take over from now on; see `Call.handoff`."""
        self.agent, self.prompt, self.options = agent, prompt, options

    def shows(self, result: "HandoffResult") -> None:
        """Show the ticket of a handoff that a cell has made."""
        if not self.under_way:
            self._show(ticket(result), result)

    def forget(self) -> None:
        """Show no ticket any more."""
        self._show({}, None)

    async def run(self, call: "Call") -> "HandoffResult | None":
        """Hand *call* off, and show the ticket, or why there is none; return the result."""
        simulated = call.endpoint.mode == "simulated"
        title = "" if self.agent is None else type_name(getattr(self.agent, "output_type", ""))
        self.under_way = True
        self.forget()
        try:
            if self.agent is None:
                raise LookupError(_NOBODY)
            result = await call.handoff(self.agent, self.prompt, **self.options)
        except Exception as error:
            self._show(ticket_error(error, title=title, simulated=simulated), None)
            raise
        finally:
            self.under_way = False
        self._show(ticket(result), result)
        return result

    def _show(self, json: dict[str, Any], result: "HandoffResult | None") -> None:
        self.json = json
        self._shown(result)
