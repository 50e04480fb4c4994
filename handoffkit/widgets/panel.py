"""`Panel`: a call in the notebook, live, with buttons. `call.panel()` makes one for a call, `hk.panel()` for the log.

Panel and cells are two hands on the same call. The traits are the state that a page which opens again needs; what
streams goes by messages. Nothing comes back by a trait: a page asks, and `hands.py` decides.
"""

import asyncio
import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from ..extraction.result import HandoffResult
from ..log import EventLog
from . import presence
from .cards import cards
from .desk import Desk, subject_of
from .handover import Handover
from .hands import Hands
from .source import Source
from .state.facts import facts
from .twin import plain, twin

if TYPE_CHECKING:
    from ..call import Call

_STATIC = Path(__file__).parent / "static"


def _read() -> dict[str, str]:
    """Return the page's modules by name."""
    files = sorted(path for path in _STATIC.glob("*.js") if path.name != "panel.js")
    return {path.name: path.read_text("utf-8") for path in files}


class Panel(anywidget.AnyWidget):
    """A call, or whatever passes on the wire, as a widget.

    Args:
        call: The call; None shows the whole log, and drives nothing.
        handoff_to: The agent that takes the conversation over when *Hand off* is pressed.
        prompt: What that agent is told; see `Call.handoff`.
        gone: Seconds without a page after which a call that a page drives is hung up.
        bye: The same after a page has said good-bye: it may only be loading again.
        options: What else `Call.handoff` takes.
    """

    _esm = _STATIC / "panel.js"
    _css = _STATIC / "panel.css"

    _parts = traitlets.Dict().tag(sync=True)
    facts = traitlets.Dict().tag(sync=True)
    phase = traitlets.Unicode("ready").tag(sync=True)
    clock = traitlets.Dict().tag(sync=True)
    error = traitlets.Dict().tag(sync=True)
    controls = traitlets.Dict().tag(sync=True)
    approvals: Any = traitlets.List().tag(sync=True)
    counts = traitlets.Dict().tag(sync=True)
    ticket = traitlets.Any(None).tag(sync=True, to_json=lambda _, panel: panel._handover.json)
    """The result of the last handoff, an `hk` handoff result; None while there is none."""

    def __init__(
        self,
        call: "Call | None" = None,
        handoff_to: Any = None,
        prompt: str | None = None,
        *,
        gone: float = presence.GONE,
        bye: float = presence.BYE,
        **options: Any,
    ) -> None:
        kernel = sys.modules.get("ipykernel")
        self._page_sound = presence.page_sound(getattr(kernel, "version_info", None))
        self._desk = Desk(subject_of(call), self.send, self._set, gone, bye, self._page_sound[0])
        self._handover = Handover(self._shown)
        self._handover.to(handoff_to, prompt, options)
        if call is not None:
            call.on_handoff = self._handover.shows
        self._desk.handing_off = lambda: self._handover.under_way
        self._hands = Hands(self._desk, self._handover, self._hello)
        with contextlib.suppress(RuntimeError):  # outside a loop there is no page either
            self._hands.use(asyncio.get_running_loop())
        super().__init__(
            _parts=_read(),
            facts=self._facts(),
            phase=self._desk.phase,
            clock=self._desk.clock() | {"now": 0.0},
            controls=self._desk.controls(),
            counts=self._desk.feed.counts(),
        )

    @property
    def call(self) -> "Call | None":
        """The call that the panel shows now: *New call* makes a fresh one; None where it watches the log."""
        return self._desk.subject.call

    @property
    def log(self) -> EventLog:
        """What has passed in it so far."""
        call = self.call
        return self._desk.subject.log if call is None else call.log

    @property
    def hears(self) -> bool:
        """Whether a page shows it whose microphone is open, so that a cell can listen to it."""
        return bool(self._desk.presence.here) and self._desk.ear.page_is_open

    def microphone(self) -> Source:
        """Return what the page's microphone hears from now on; see `Call.listen`.

        Raises:
            NoPanel: No page shows the panel.
            PageMicrophoneOff: The microphone of the page is not open.
        """
        return self._desk.ear.lend()

    def hand_off_to(self, agent: Any, prompt: str | None = None, **options: Any) -> None:
        """Have the button *Hand off* hand the conversation to another agent; see `Call.handoff`."""
        self._handover.to(agent, prompt, options)
        self.facts = self._facts()

    def close(self) -> None:
        """Take the panel away; the call goes on."""
        if (loop := self._hands._loop) is not None and loop.is_running() and self.comm is not None:
            loop.call_soon_threadsafe(lambda: loop.create_task(self._desk.end()))
        super().close()

    def set_state(self, sync_data: Any) -> None:
        """Take no state from a page: pages ask by messages."""

    def _handle_custom_msg(self, content: Any, buffers: Any) -> None:
        self._hands.take(content, buffers)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        data, rest = bundle if isinstance(bundle, tuple) else (bundle, {})
        return {**(data or {}), **self._twin()}, rest

    def _twin(self) -> dict[str, str]:
        """Return what a saved notebook shows where no kernel runs: the same words on each run."""
        rows, totals = self._desk.feed.story.whole()
        shown = rows, totals, self._handover.json, self.facts
        return {"text/plain": plain(*shown), "text/html": twin(*shown)}

    def _set(self, values: dict[str, Any]) -> None:
        with self.hold_sync():
            for name, value in values.items():
                self.set_trait(name, value)

    def _shown(self, result: HandoffResult | None) -> None:
        """Show the ticket, which may be one that could not be made."""
        if self.ticket is result:
            self.send_state("ticket")
        self.ticket = result

    async def _hello(self) -> None:
        """Look at what may be another than when the panel was made: who hears, and the kernel's microphones."""
        await self._desk.subject.listens()
        found = self._facts() | {"card": await asyncio.to_thread(cards)}
        if found != self.facts:
            self.facts = found

    def _facts(self) -> dict[str, Any]:
        subject, (sound, words) = self._desk.subject, self._page_sound
        found = facts(self.call, self._handover.agent, subject.endpoint, hears=subject.hearing)
        if self.call is not None:
            found |= {"title": subject.agent, "agent": subject.agent}
        return found | {
            "page_sound": {"ok": sound, "words": words},
            "card": (self.facts or {}).get("card", []),
            "beat_ms": round(presence.BEAT * 1000),
            "gone_s": self._desk.presence.gone,
        }
