"""What `Call.listen` listens to: whichever microphone there is, for a while; what is wrong with it is said."""

import asyncio
import contextlib
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any

from .errors import MicrophoneError, MicrophoneTrouble, NothingToHear

if TYPE_CHECKING:
    from .microphone import Microphone
    from .widgets.panel import Panel


class Listening:
    """Opens the microphones of one call.

    Args:
        mark: Writes a mark into the call's log.
    """

    def __init__(self, mark: Callable[..., Awaitable[None]]) -> None:
        self._mark = mark
        self._marking: set[asyncio.Task[None]] = set()

    async def open(self, source: Any, panel: "Panel | None") -> "Microphone | None":
        """Open what is to be listened to; None where nothing was asked for and nothing is there.

        Raises:
            MicrophoneError: The microphone that was asked for cannot be used.
        """
        from .microphone import open_microphone

        wanted = source if source is not None else "page" if panel and panel.hears else "card"
        try:
            return await open_microphone(wanted, page=getattr(panel, "microphone", None), on_trouble=self._troubled)
        except MicrophoneError as error:
            if source is not None:
                raise
            self._troubled(NothingToHear(str(error)))
            return None

    def _troubled(self, trouble: MicrophoneTrouble) -> None:
        """Say what is wrong with a microphone, and have it stand in the log."""
        warnings.warn(trouble, stacklevel=2)
        task = asyncio.create_task(self._write(trouble), name="handoffkit mark")
        self._marking.add(task)
        task.add_done_callback(self._marking.discard)

    async def _write(self, trouble: MicrophoneTrouble) -> None:
        with contextlib.suppress(Exception):  # the endpoint may be gone, which the call says by itself
            await self._mark("microphone", trouble=trouble.kind, words=str(trouble))


async def bounded(source: AsyncIterator[bytes], seconds: float) -> AsyncIterator[bytes]:
    """Yield what *source* yields in the next *seconds*, also where it yields nothing."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    with contextlib.suppress(TimeoutError, StopAsyncIteration):
        while (left := end - loop.time()) > 0:
            yield await asyncio.wait_for(anext(source), left)
