"""The trace processor that writes the traces of openai-agents into the log. Importing this loads the SDK.

A trace is a frame `trace_start`, a frame `span_end` for each of its spans (agent, turn, response or generation,
function, handoff, guardrail, …) and a frame `trace_end`, all of the channel `trace`. Their data is what the SDK itself
exports, so that what `RunConfig(trace_include_sensitive_data=False)` keeps back is not there either. Each is written
before the run goes on (about 0.4 ms), so what the log has is in order with the wire.
"""

import json
import threading
import warnings
from collections import OrderedDict
from typing import Any

from agents.tracing import Span, Trace, TraceProvider, TracingProcessor, get_trace_provider
from agents.tracing.processors import default_processor
from agents.tracing.provider import DefaultTraceProvider

from ..errors import EndpointGone, TracesStopped
from ..process import Endpoint

__all__ = ["LogTraces", "give_back", "take"]

_BOUND = 5.0
"""Seconds that a run waits for the endpoint to take a frame, once: after that the log gets no more of them."""
_LONGEST = 200_000
"""Characters of JSON in a frame: what a model read and wrote is longer only with pictures, which the wire has too."""
_TRACES = 1_000
"""So many traces keep their name `t1`, `t2`, …; one that was interrupted may be resumed much later."""


class LogTraces(TracingProcessor):
    """Writes traces into the newest log of an endpoint; into none before `write_to`."""

    def __init__(self) -> None:
        self.instead_of: TracingProcessor | None = None
        """The SDK's own processor, which sends to OpenAI and whose place this one has taken."""
        self.guest_of: TraceProvider | None = None
        """The provider of a program's own that this one was registered with, for good."""
        self._endpoint: Endpoint | None = None
        self._names: OrderedDict[str, str] = OrderedDict()
        self._count = 0
        self._lock = threading.Lock()

    def write_to(self, endpoint: Endpoint | None) -> None:
        """Write into the log of *endpoint* from now on, naming the traces from `t1`."""
        with self._lock:
            self._endpoint, self._count = endpoint, 0
            self._names.clear()

    def on_trace_start(self, trace: Trace) -> None:
        """Write the name, the group and the metadata of a trace."""
        self._write("trace_start", trace.trace_id, trace.export())

    def on_trace_end(self, trace: Trace) -> None:
        """Write the same again: the time of its frame says when the trace ended."""
        self._write("trace_end", trace.trace_id, trace.export())

    def on_span_start(self, span: Span[Any]) -> None:
        """Write nothing: a span tells all when it ends, its start too."""

    def on_span_end(self, span: Span[Any]) -> None:
        """Write what a span was, when it began and ended, and what it was a part of."""
        self._write("span_end", span.trace_id, span.export())

    def shutdown(self, timeout: float | None = None) -> None:
        """Do nothing: each frame is written at once."""

    def force_flush(self) -> None:
        """Do nothing: each frame is written at once."""

    def _write(self, event: str, trace_id: str, exported: dict[str, Any] | None) -> None:
        if (endpoint := self._endpoint) is None or exported is None:
            return
        try:
            endpoint.tell(
                "trace", endpoint.folder, bound=_BOUND, conn=self._name(trace_id), event=event, data=_plain(exported)
            )
        except EndpointGone:
            self.write_to(None)
            if endpoint.alive:
                warnings.warn(TracesStopped(_BOUND), stacklevel=2)

    def _name(self, trace_id: str) -> str:
        with self._lock:
            if (name := self._names.get(trace_id)) is None:
                self._count += 1
                name = self._names[trace_id] = f"t{self._count}"
                if len(self._names) > _TRACES:
                    self._names.popitem(last=False)
            return name


_ours = LogTraces()


def take(endpoint: Endpoint) -> None:
    """Put our processor in the place of the SDK's own one, and leave those that a program has set where they are.

    A program that calls `set_trace_processors` or `add_trace_processor` after this has the last word.
    """
    _ours.write_to(endpoint)
    provider = get_trace_provider()
    before = _processors(provider)
    if before is None and not isinstance(provider, DefaultTraceProvider):
        if _ours.guest_of is not provider:
            _ours.guest_of = provider
            provider.register_processor(_ours)
        return
    default = default_processor()
    if before is None or default in before:
        _ours.instead_of = default
    elif _ours not in before:
        _ours.instead_of = None
    provider.set_processors([_ours, *(each for each in before or () if each not in (default, _ours))])


def give_back() -> None:
    """Put the SDK's own processor where ours is, unless the program has replaced ours meanwhile; write no more."""
    _ours.write_to(None)
    default, _ours.instead_of = _ours.instead_of, None
    provider = get_trace_provider()
    before = _processors(provider) or []
    if _ours in before:
        others = [each for each in before if each is not _ours]
        provider.set_processors(others if default is None else [default, *others])


def _processors(provider: TraceProvider) -> list[TracingProcessor] | None:
    """Return the processors of *provider*; None where it does not keep them as the SDK's own does (0.24, private)."""
    found = getattr(getattr(provider, "_multi_processor", None), "_processors", None)
    return list(found) if isinstance(found, list | tuple) else None


def _plain(exported: dict[str, Any]) -> dict[str, Any]:
    """Return what was exported as JSON has it: a program's metadata, or a tool's output, may be of any kind."""
    try:
        words = json.dumps(exported, default=str, skipkeys=True)
    except Exception as error:  # a value that contains itself, or that cannot be written as text
        return {"object": exported.get("object"), "left_out": f"no JSON can be made of it ({type(error).__name__})"}
    found: dict[str, Any] = json.loads(words, parse_constant=str)  # NaN is none to those who read a log
    if len(words) > _LONGEST:
        found = _short(found) | {"left_out": f"it has {len(words):,} characters of JSON"}
    return found


def _short(data: dict[str, Any]) -> dict[str, Any]:
    """Return the names and numbers in *data*, without what is long."""
    kept: dict[str, Any] = {}
    for name, value in data.items():
        if isinstance(value, dict) and name == "span_data":
            kept[name] = _short(value)
        elif value is None or isinstance(value, int | float) or (isinstance(value, str) and len(value) < 1_000):
            kept[name] = value
    return kept
