"""Which SDK an agent is of, and the session that goes with it. Neither SDK is loaded for the other's agents."""

import sys
from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ..errors import NotAVoiceAgent, WrongOption, WrongValue
from ..process import Endpoint

if TYPE_CHECKING:
    from ..approvals import Approvals
    from .session import Session

_HISTORY = (
    "Pass `call.messages()` of a call or `hk.load(path).messages()`; items of openai-agents become messages by "
    "`history.from_items(items).items` (`from handoffkit import history`)"
)
_CONFIG = "A `RunConfig` is for `Runner.run`; a realtime session has its own settings"


def session_of(
    agent: Any, options: dict[str, Any], endpoint: Endpoint, label: str, approvals: "Approvals"
) -> "Session":
    """Return the session of *agent*, not yet opened.

    Raises:
        NotAVoiceAgent: It is no agent of an SDK that is known here.
        WrongOption, WrongValue: An option is not one of its SDK's, or nothing that the SDK can use.
        WrongEndpoint, WrongModel: Its model is asked elsewhere, or is none.
    """
    if _is(agent, "agents.realtime", "RealtimeAgent"):
        from .openai_agents import AgentsOptions, AgentsSession

        return AgentsSession(agent, _checked(AgentsOptions, options, "RealtimeAgent"), endpoint, label, approvals)
    if _is(agent, "pydantic_ai", "Agent"):
        from .pydantic import Options, PydanticSession

        return PydanticSession(agent, _checked(Options, options, "pydantic_ai.Agent"), endpoint, label, approvals)
    raise NotAVoiceAgent(agent)


def _is(agent: Any, module: str, name: str) -> bool:
    """Say whether *agent* is of a class in a module; one that was never imported has no agents."""
    kind = getattr(sys.modules.get(module), name, None)
    return kind is not None and isinstance(agent, kind)


def _checked(kind: Any, options: dict[str, Any], agent: str) -> Any:
    known = [field.name for field in fields(kind)]
    for name in options:
        if name not in known:
            raise WrongOption(name, agent, known)
    _check_history(options.get("message_history"))
    if not isinstance(config := options.get("run_config"), Mapping | None):
        raise WrongValue("run_config", "a dict, as `agents.realtime.RealtimeRunConfig` describes it", config, _CONFIG)
    return kind(**options)


def _check_history(history: Any) -> None:
    """See that a history is of messages; both SDKs would only stumble over another while the session opens."""
    messages = sys.modules.get("pydantic_ai.messages")
    kinds = (messages.ModelRequest, messages.ModelResponse) if messages else ()
    if history is None or (isinstance(history, list | tuple) and all(isinstance(each, kinds) for each in history)):
        return
    raise WrongValue("message_history", "a list of pydantic-ai messages", history, _HISTORY)
