"""The traces of openai-agents go to the log and not to the internet, whether the SDK is loaded already or comes later.

By itself the SDK sends them to OpenAI with OPENAI_API_KEY, which is a local token once `connect()` has run. `connect()`
calls `keep_here`, `disconnect()` calls `let_go`; what they need of the SDK is in `sdk/tracing.py`, loaded with the SDK.
"""

import sys
from types import ModuleType

from .process import Endpoint

__all__ = ["keep_here", "let_go"]

_SDK = "agents.tracing"

_endpoint: Endpoint | None = None
_waiting = False


def keep_here(endpoint: Endpoint) -> None:
    """Have the traces written into the newest log of *endpoint* from now on."""
    global _endpoint, _waiting
    _endpoint = endpoint
    if (loaded := sys.modules.get(_SDK)) is not None:
        _take(loaded)
    elif not _waiting:
        from wrapt import when_imported

        _waiting = True
        when_imported(_SDK)(_take)


def let_go() -> None:
    """Give the traces back to whom they went before."""
    global _endpoint
    _endpoint = None
    if (ours := sys.modules.get("handoffkit.sdk.tracing")) is not None:
        ours.give_back()


def _take(module: ModuleType) -> None:
    if _endpoint is None or not hasattr(module, "get_trace_provider"):
        return  # disconnected meanwhile, or an `agents` that is no SDK but the learner's own
    from .sdk.tracing import take

    take(_endpoint)
