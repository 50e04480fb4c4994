"""`connect()`: start the endpoint process, point both SDKs at it, and say in one line who answers.

The kernel keeps one endpoint. Calling `connect()` again configures the same process anew, so its address stays and
agents that were built before stay valid; the log begins afresh.
"""

import atexit
import os
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import forgotten, tracing
from .endpoint.faults import Fault
from .endpoint.models import KeywordModel, ScriptedModel, TextModel
from .endpoint.models.prompt import Model
from .endpoint.settings import OPENAI, shown
from .errors import ConnectError, NotConnected
from .log import EventLog
from .process import Endpoint
from .wire.left_behind import sweep

__all__ = ["Endpoint", "connect", "current", "disconnect", "log"]

_LOOPBACK = ("127.0.0.1", "localhost")


_endpoint: Endpoint | None = None
_before: dict[str, str | None] = {}  # what the environment said before we pointed it here


def connect(
    mode: str | None = None,
    *,
    model: Model | Mapping[str, Model] | None = None,
    upstream: str | None = None,
    faults: Sequence[Fault] = (),
    speech: bool | None = None,
    session_seconds: float = 3600.0,
) -> None:
    """Start the local endpoint, or configure it anew, and print who answers.

    Build your agents after it: an agent takes its address when it is built. The log begins afresh. The traces of
    openai-agents go into it (`log.filter(channel="trace")`) and not to OpenAI, live too; trace processors that you set
    yourself after this have the last word.

    Args:
        mode: `simulated` (the default) or `live`. The variable HANDOFFKIT_MODE says it where the call does not. A key
            in the environment alone never makes a call live.
        model: Who answers a simulation: a model for every name, or a mapping from a model's name (`gpt-realtime`) to
            one, with `*` for the others. The default is `KeywordModel()`.
        upstream: The base URL of the service that a live endpoint sends on to; the default is OPENAI_BASE_URL as it
            stood before, else OpenAI.
        faults: Rules that delay, drop, replace or cut what passes.
        speech: Whether a simulated call hears and speaks, where the `speech` extra is installed. Its models are loaded
            in the background, about 500 MB of memory. Without it replies are silence of their length, and typed turns
            work as ever. The default is True, unless the variable HANDOFFKIT_SPEECH says `off`.
        session_seconds: How long a simulated session lives before the service ends it: an hour, as OpenAI's does. A
            few seconds show what a call's end by the service looks like.

    Raises:
        ConnectError: An unknown mode, a model for a live endpoint, no key for OpenAI, no time, or no process.
    """
    global _endpoint
    message = _message(mode, model, upstream, faults) | {"speech": _speech(speech), **_lasts(session_seconds)}
    if _endpoint is None or not _endpoint.takes(message):
        sweep(Path(tempfile.gettempdir()))
        fresh = Endpoint() if _endpoint is None else Endpoint.after(_endpoint)
        fresh.configure(message)
        _endpoint = fresh
    _point_here(_endpoint)
    tracing.keep_here(_endpoint)
    forgotten.watch(_endpoint)
    _check_kernel()
    print(_sentence(message, model))


def disconnect() -> None:
    """End the endpoint process, remove its logs, and put the environment back as it was."""
    global _endpoint
    if _endpoint:
        tracing.let_go()
        forgotten.unwatch()
        _endpoint.stop()
        _endpoint = None
        for name, value in _before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        _before.clear()


def current() -> Endpoint:
    """Return this kernel's endpoint.

    Raises:
        NotConnected: `connect()` was not called.
    """
    if _endpoint is None:
        raise NotConnected
    return _endpoint


def log() -> EventLog:
    """Return the log of all that has passed since `connect()`, whoever sent it.

    What clients had sent by then is in it, also what nobody has answered.

    Raises:
        NotConnected: `connect()` was not called.
    """
    endpoint = current()
    endpoint.settle(endpoint.folder)
    return endpoint.log()


def _message(mode: str | None, model: Any, upstream: str | None, faults: Sequence[Fault]) -> dict[str, Any]:
    mode = mode or os.environ.get("HANDOFFKIT_MODE") or ("live" if upstream else "simulated")
    if mode not in ("simulated", "live"):
        raise ConnectError(f"the mode is 'simulated' or 'live'; found {mode!r}")
    if mode == "live" and model is not None:
        raise ConnectError("a live endpoint has no simulated model; leave out `model` or `live`")
    if mode == "simulated" and upstream is not None:
        raise ConnectError("a simulated endpoint has no upstream; write connect('live', upstream=...)")
    models = dict(model) if isinstance(model, Mapping) else {"*": model or KeywordModel()}
    models.setdefault("*", KeywordModel())
    message: dict[str, Any] = {
        "mode": mode,
        "models": {name: one.describe() for name, one in models.items()},
        "faults": [fault.describe() for fault in faults],
    }
    return message | (_live(upstream) if mode == "live" else {})


def _speech(wanted: bool | None) -> bool:
    if wanted is not None:
        return wanted
    said = os.environ.get("HANDOFFKIT_SPEECH") or "on"
    if said not in ("on", "off"):
        raise ConnectError(f"HANDOFFKIT_SPEECH is 'on' or 'off'; found {said!r}")
    return said == "on"


def _lasts(seconds: float) -> dict[str, float]:
    if not 0 < seconds <= 86_400:
        raise ConnectError(f"a session lives for more than 0 and at most 86,400 seconds; found {seconds!r}")
    return {"session_seconds": float(seconds)}


def _live(upstream: str | None) -> dict[str, Any]:
    url = upstream or _outside("OPENAI_BASE_URL") or OPENAI
    key = _outside("OPENAI_API_KEY")
    if not url.startswith(("http://", "https://")):
        raise ConnectError(f"an upstream is a base URL such as http://localhost:11434/v1; found {shown(url)!r}")
    if url == OPENAI and not key:
        raise ConnectError("OpenAI needs a key: set OPENAI_API_KEY before you start Jupyter, or leave out 'live'")
    return {"upstream": url, "key": key}


def _outside(name: str) -> str | None:
    """Return what the environment says of *name*, looking past what `connect()` itself has put there."""
    value = os.environ.get(name)
    ours = _endpoint and value in (_endpoint.token, _endpoint.base_url)
    return _before.get(name) if ours else value


def _point_here(endpoint: Endpoint) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        _before[name] = _outside(name)
    os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"] = endpoint.base_url, endpoint.token
    for name in ("NO_PROXY", "no_proxy"):
        _before.setdefault(name, os.environ.get(name))
        kept = [host for host in os.environ.get(name, "").split(",") if host and host not in _LOOPBACK]
        os.environ[name] = ",".join([*kept, *_LOOPBACK])


def _sentence(message: dict[str, Any], model: Any) -> str:
    if message["mode"] == "live":
        url = shown(message["upstream"])
        return f"Live: {'OpenAI' if url == OPENAI else 'the service'} at {url} answers. Calls may cost money."
    if isinstance(model, ScriptedModel):
        who = "a script answers, word for word. It does not understand what is said"
    elif isinstance(model, TextModel):
        who = f"the text model {model.name} writes the replies, and is asked over the network"
        return f"Simulated voice on this machine: {who}."
    elif model is None or isinstance(model, KeywordModel):
        who = "a keyword model answers. It is no language model and follows no instructions"
    else:
        who = "several simulated models answer, by name. None of them is a language model"
    return f"Simulated on this machine: {who}. No key, no internet, no cost."


def _check_kernel() -> None:
    """Say so where the kernel is too old for the panel and the microphone in a page."""
    kernel = sys.modules.get("ipykernel")
    version = getattr(kernel, "version_info", (99,))
    if kernel is not None and tuple(version[:2]) < (7, 4):
        found = ".".join(str(part) for part in version[:3])
        warnings.warn(
            f"This kernel runs ipykernel {found}; 7.4 or newer is expected. Typed turns work; live messages from the "
            'page do not. Install it with `%pip install -U "ipykernel>=7.4"` and restart the kernel.',
            stacklevel=3,
        )


atexit.register(lambda: _endpoint.stop() if _endpoint else None)
