"""Tool calls that wait for a person's yes: asked by the SDK, shown by the panel, decided by a click or in a cell."""

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .errors import NoSuchApproval

PATIENCE = 120.0
"""Seconds in which a tool call is approved or refused; after them it is refused."""


@dataclass(frozen=True, slots=True)
class Approval:
    """A tool call that waits for a yes."""

    id: str
    """OpenAI's id of the call."""
    name: str
    """The tool."""
    arguments: str
    """JSON, as the model wrote it."""


class Approvals:
    """The tool calls of one call that wait.

    Attributes:
        patience: Seconds until one that nobody decides is refused.
    """

    def __init__(self) -> None:
        self.patience = PATIENCE
        self._waiting: dict[str, tuple[Approval, asyncio.Future[bool | str]]] = {}
        self._watchers: list[Callable[[], None]] = []

    @property
    def pending(self) -> list[Approval]:
        """Those that wait, the oldest first."""
        return [approval for approval, _ in self._waiting.values()]

    @property
    def watched(self) -> bool:
        """Whether anybody is there to decide."""
        return bool(self._watchers)

    @contextlib.contextmanager
    def watch(self, changed: Callable[[], None]) -> Iterator[None]:
        """Be there to decide for as long as this lasts; *changed* is called when a call begins or ceases to wait."""
        self._watchers.append(changed)
        try:
            yield
        finally:
            self._watchers.remove(changed)

    async def ask(self, approval: Approval) -> bool | str:
        """Wait for a decision: True, or the words of a refusal."""
        decided: asyncio.Future[bool | str] = asyncio.get_running_loop().create_future()
        self._waiting[approval.id] = approval, decided
        self._changed()
        try:
            async with asyncio.timeout(self.patience):
                return await decided
        except TimeoutError:
            return f"Nobody approved the call within {self.patience:g} seconds."
        finally:
            self._waiting.pop(approval.id, None)
            self._changed()

    def approve(self, id: str) -> None:
        """Let a tool call run.

        Raises:
            NoSuchApproval: No such call waits.
        """
        self._decide(id, True)

    def reject(self, id: str, words: str = "") -> None:
        """Refuse a tool call; the agent is told *words*.

        Raises:
            NoSuchApproval: No such call waits.
        """
        self._decide(id, words or "The tool call was not approved.")

    def _decide(self, id: str, decision: bool | str) -> None:
        if (waiting := self._waiting.get(id)) is None or waiting[1].done():
            raise NoSuchApproval(id, list(self._waiting))
        waiting[1].set_result(decision)

    def _changed(self) -> None:
        for watcher in list(self._watchers):
            watcher()
