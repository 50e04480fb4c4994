"""What a call comes to: the usual wait for a reply, the tokens, what they cost."""

from collections.abc import Iterable
from decimal import Decimal
from statistics import median
from typing import Any, TypedDict

from ...log import EventLog
from ...wire.call_log import CallLog
from ...wire.frames import Frame, obj, text
from .cost import in_words, price
from .row import Row

_ENDS = {"response.done": "realtime", "response.completed": "responses", "response.incomplete": "responses"}
"""The events that tell the tokens of a response, by the channel in which they do."""

_HTTP = ("responses", "chat")
"""The channels whose plain answers tell their tokens."""


class TotalsJson(TypedDict):
    """Totals, ready for JSON."""

    gap_ms: int | None
    """The median wait from the caller's last word to the first of the reply."""
    tokens: int | None
    """None in a simulation, and before there are any."""
    cost: str
    """In words; empty before there is any."""
    simulated: bool


class Totals:
    """The totals of a call, or of a whole log, with its handoffs; each frame is read once.

    Args:
        source: A log, or a call within one.
    """

    def __init__(self, source: EventLog | CallLog) -> None:
        self._log = source.log if isinstance(source, CallLog) else source
        self._label = source.label if isinstance(source, CallLog) else None
        self._read = 0
        self._models: dict[str, str] = {}
        self._tokens, self._cost, self._priced, self._unpriced = 0, Decimal(0), 0, 0

    def now(self, rows: Iterable[Row]) -> TotalsJson:
        """Return the totals as they are now; *rows* are the call's."""
        simulated = self._log.header.get("mode") == "simulated"
        for frame in self._log[self._read :]:
            self._read += 1
            if not simulated and self._is_ours(frame):
                self._take(frame)
        gaps = [row["gap_ms"] for row in rows if row["kind"] == "turn" and row["gap_ms"] is not None]
        return TotalsJson(
            gap_ms=round(median(gaps)) if gaps else None,
            tokens=None if simulated or not self._tokens else self._tokens,
            cost=self._words(simulated),
            simulated=simulated,
        )

    def _words(self, simulated: bool) -> str:
        if not simulated and not self._tokens:
            return ""
        cost = self._cost if self._priced else None
        return in_words(cost, simulated=simulated, some_unknown=bool(self._unpriced))

    def _is_ours(self, frame: Frame) -> bool:
        label = self._label
        return label is None or frame.label == label or bool(frame.label and frame.label.startswith(f"{label}/"))

    def _take(self, frame: Frame) -> None:
        if frame.event in ("session.created", "session.updated"):
            if (model := text(obj(frame.data, "session"), "model")) is not None:
                self._models[frame.conn] = model
        elif _ENDS.get(frame.event) == frame.channel:
            response = obj(frame.data, "response")
            self._count(obj(response, "usage"), text(response, "model") or self._models.get(frame.conn, ""))
        elif (frame.event == "200" and frame.channel in _HTTP) or frame.event == "chat.completion.chunk":
            self._count(_standard(obj(frame.data, "usage")), text(frame.data, "model") or "")

    def _count(self, usage: dict[str, Any], model: str) -> None:
        counts = [usage.get(name) for name in ("input_tokens", "output_tokens")]
        tokens = sum(count for count in counts if type(count) is int and count >= 0)
        if not tokens:
            return
        self._tokens += tokens
        if (cost := price(usage, model)) is None:
            self._unpriced += 1
        else:
            self._priced += 1
            self._cost += cost


def _standard(usage: dict[str, Any]) -> dict[str, Any]:
    """Return usage under the names of Responses; Chat Completions has its own."""
    if "prompt_tokens" not in usage:
        return usage
    return {"input_tokens": usage.get("prompt_tokens"), "output_tokens": usage.get("completion_tokens")}
