"""The client by which an openai-agents agent of a handoff is asked, where its user has given none."""

import asyncio
import os
from weakref import WeakKeyDictionary

from agents import ModelProvider, MultiProvider
from agents.models._openai_shared import get_default_openai_client
from openai import AsyncOpenAI

_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, tuple[tuple[str | None, ...], AsyncOpenAI]] = WeakKeyDictionary()


def provider() -> ModelProvider:
    """Return the SDK's own provider; by the client of `set_default_openai_client`, if there is one.

    Else the SDK would share one HTTP client among all event loops, and trip over the connections of one that has ended
    (`asyncio.run`, twice): `RuntimeError: Event loop is closed`. So each loop has a client of its own here. It is made
    of the same variables, and again when they change.
    """
    if get_default_openai_client() is not None:
        return MultiProvider()
    loop = asyncio.get_running_loop()
    names = ("OPENAI_BASE_URL", "OPENAI_WEBSOCKET_BASE_URL", "OPENAI_API_KEY")
    base, websocket, key = said = tuple(os.environ.get(name) for name in names)
    known = _clients.get(loop)
    if known is None or known[0] != said:
        known = said, AsyncOpenAI(base_url=base, websocket_base_url=websocket, api_key=key)
        _clients[loop] = known
    return MultiProvider(openai_client=known[1])
