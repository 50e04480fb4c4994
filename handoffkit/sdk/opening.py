"""Which SDK an agent is of, and the session that goes with it. Neither SDK is loaded for the other's agents."""

import sys
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ..errors import NotAVoiceAgent, WrongOption
from ..process import Endpoint

if TYPE_CHECKING:
    from ..approvals import Approvals
    from .session import Session


def session_of(
    agent: Any, options: dict[str, Any], endpoint: Endpoint, label: str, approvals: "Approvals"
) -> "Session":
    """Return the session of *agent*, not yet opened.

    Raises:
        NotAVoiceAgent: It is no agent of an SDK that is known here.
        WrongOption: An option is not one of its SDK's.
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
    return kind(**options)
