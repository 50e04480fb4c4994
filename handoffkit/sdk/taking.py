"""Which SDK the agent is of that takes a conversation over, and the options that its SDK knows.

Neither SDK is loaded for the other's agents.
"""

import sys
from typing import TYPE_CHECKING, Any

from ..errors import NotAnAgent, OptionRefused

if TYPE_CHECKING:
    from ..extraction.run import Taker

_OF_PYDANTIC = {
    "deps": "it is pydantic-ai's; openai-agents gives its tools and instructions a `context=`",
    "usage_limits": "it is pydantic-ai's; openai-agents counts requests, `max_turns=`",
}
_OF_AGENTS = {
    "context": "it is openai-agents'; pydantic-ai gives its tools and instructions their `deps=`",
    "run_config": "it is openai-agents'; pydantic-ai takes `model=` and `model_settings=`",
    "max_turns": "it is openai-agents'; pydantic-ai takes `usage_limits=UsageLimits(request_limit=...)`",
}


def taker_of(agent: Any, options: dict[str, Any], here: str) -> "Taker":
    """Return what runs *agent*.

    Args:
        agent: A `pydantic_ai.Agent` or an `agents.Agent`.
        options: Those of `handoff`; None is one that was not given.
        here: The base URL of the endpoint.

    Raises:
        NotAnAgent: It is no agent of an SDK that is known here, or has no model.
        OptionRefused: An option is the other SDK's.
        WrongEndpoint: Its model is asked elsewhere.
    """
    given = {name: value for name, value in options.items() if value is not None}
    if _is(agent, "agents", "Agent"):
        from .agents_extraction import AgentsTaker

        _refuse(given, _OF_PYDANTIC, "an agents.Agent")
        return AgentsTaker(agent, here, **given)
    if _is(agent, "pydantic_ai.agent", "AbstractAgent"):
        from .extraction import PydanticTaker

        _refuse(given, _OF_AGENTS, "a pydantic_ai.Agent")
        return PydanticTaker(agent, here, **given)
    if _is(agent, "agents.realtime", "RealtimeAgent"):
        raise NotAnAgent(agent, "a RealtimeAgent, which talks to a caller and fills no type")
    raise NotAnAgent(agent)


def _is(agent: Any, module: str, name: str) -> bool:
    """Say whether *agent* is of a class in a module; one that was never imported has no agents."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(agent, kind)


def _refuse(given: dict[str, Any], foreign: dict[str, str], agent: str) -> None:
    for name in given:
        if name in foreign:
            raise OptionRefused(name, agent, foreign[name])
