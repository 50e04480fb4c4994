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
from .desk import Desk, subject_of
from .hands import Hands

if TYPE_CHECKING:
    from ..call import Call

_STATIC = Path(__file__).parent / "static"
_BEFORE = "The call panel. Run this cell in a live notebook to start the call here."


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
    ticket = traitlets.Any(None).tag(sync=True, to_json=lambda _, panel: panel._ticket)
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
        self._ticket: dict[str, Any] = {}
        self._to = handoff_to
        self._desk = Desk(subject_of(call), self.send, self._set, gone, bye)
        self._hands = Hands(self._desk, handoff_to, prompt, options, self._handed)
        with contextlib.suppress(RuntimeError):  # outside a loop there is no page either
            self._hands.use(asyncio.get_running_loop())
        super().__init__(
            _parts=_read(),
            facts=self._facts(),
            phase=self._desk.phase,
            clock={"began": None, "ended": None, "now": 0.0, "expires": None},
            controls=self._desk.controls(),
            counts={"rows": 0, "events": 0, "rows_dropped": 0, "events_dropped": 0},
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
        turns = [] if self.call is None else self.call.turns
        if not turns:
            return {"text/plain": _BEFORE, "text/html": f"<p>{_BEFORE}</p>"}
        transcript = self.log.transcript(heard=False)
        return {"text/plain": str(transcript), "text/html": transcript._repr_html_()}

    def _set(self, values: dict[str, Any]) -> None:
        with self.hold_sync():
            for name, value in values.items():
                self.set_trait(name, value)

    def _handed(self, result: HandoffResult | None, error: BaseException | None) -> None:
        self.ticket = result

    def _facts(self) -> dict[str, Any]:
        kernel = sys.modules.get("ipykernel")
        sound, words = presence.page_sound(getattr(kernel, "version_info", None))
        return {
            "title": self._desk.subject.label or "log",
            "mode": self._desk.subject.endpoint.mode,
            "watching": self.call is None,
            "page_sound": {"ok": sound, "words": words},
            "beat_ms": round(presence.BEAT * 1000),
            "gone_s": self._desk.presence.gone,
        }
