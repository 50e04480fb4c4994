"""The agents of one call, made ready for it: greetings, tools that may fail, handoffs that are counted.

The user's agents are left as they are. Copies of them go into the session; what is reached by a handoff is copied when
it is reached, so agents may hand over in circles. What an agent says and can do is asked of the user's own: a function
that makes instructions, or says whether a tool is offered, gets that one, and what was changed in it counts.
"""

import asyncio
import copy
import functools
from collections.abc import Callable, Mapping
from typing import Any

from agents import FunctionTool, RunContextWrapper, Tool
from agents.handoffs import Handoff
from agents.realtime import RealtimeAgent, realtime_handoff
from agents.tool_context import ToolContext

from ..errors import BadGreeting, GreetingForNobody
from ..transfers import Transfers
from .agents_replies import Replies

GREETING = "When the call comes to you, speak first, and begin with these words: “{words}”"
"""What a greeting adds to the instructions of its agent."""
_FAILED = "The tool failed."
"""What the agent is told of a tool that raised, as the other SDK has it: no detail of the error."""

_Agent = RealtimeAgent[Any]


class AgentGraph:
    """The agent that a call begins with, and those that it can be handed to.

    Args:
        first: The user's agent.
        greetings: By agent's name: with which words it begins when the call comes to it.
        transfers: Counts the handoffs.
        raised: Is told what a tool raises.
        side_by_side: Whether tools are called while events go on to come.

    Raises:
        BadGreeting: A greeting has no words.
        GreetingForNobody: No agent of that name can be reached.
    """

    def __init__(
        self,
        first: _Agent,
        greetings: Mapping[str, str],
        transfers: Transfers,
        raised: Callable[[Exception], None],
        *,
        side_by_side: bool = True,
    ) -> None:
        self._greetings, self._transfers, self._raised = dict(greetings), transfers, raised
        self._copies: dict[int, tuple[_Agent, _Agent]] = {}
        self.replies = Replies(lambda kept: transfers.on_ignored(kept), side_by_side=side_by_side)
        """The replies of the model, of which each hands the call on once."""
        _check(self._greetings, first)

    def ready(self, agent: _Agent) -> _Agent:
        """Return the copy of *agent* for this call.

        It is none by the SDK's `clone`, which asks the constructor: an agent of a class of the user's own may have
        another one.
        """
        if id(agent) not in self._copies:
            made = copy.copy(agent)
            made.get_system_prompt = functools.partial(self._instructions, agent)  # type: ignore[method-assign]
            made.get_all_tools = functools.partial(self._tools, agent)  # type: ignore[method-assign]
            self._copies[id(agent)] = agent, made
            made.handoffs = [self._handoff(each, agent) for each in agent.handoffs]
        return self._copies[id(agent)][1]

    async def _instructions(self, agent: _Agent, context: RunContextWrapper[Any]) -> str:
        """Return the instructions of *agent* as they are now, and its greeting."""
        own, greeting = await agent.get_system_prompt(context), self._greetings.get(agent.name)
        return "\n\n".join(part for part in (own, greeting and GREETING.format(words=greeting)) if part)

    async def _tools(self, agent: _Agent, context: RunContextWrapper[Any]) -> list[Tool]:
        """Return the tools that *agent* offers now, those of its MCP servers too."""
        return [self._tool(tool, agent) for tool in await agent.get_all_tools(context)]

    def _tool(self, tool: Tool, agent: _Agent) -> Tool:
        """Return a tool of *agent* that answers when it raises: the SDK would end the whole session."""
        if not isinstance(tool, FunctionTool):
            return tool
        made, invoke = copy.copy(tool), tool.on_invoke_tool

        @functools.wraps(invoke)
        async def answers(context: Any, arguments: str) -> Any:
            if isinstance(context, ToolContext):
                context.agent = agent
            try:
                return await invoke(context, arguments)
            except Exception as error:
                self._raised(error)
                return _FAILED
            except asyncio.CancelledError as error:
                if _cancelled():
                    raise
                self._raised(_from_within(error))  # of something that the tool has awaited; else nobody would answer
                return _FAILED

        def late(context: RunContextWrapper[Any], error: Exception) -> str:
            self._raised(error)
            return _FAILED

        made.on_invoke_tool = answers
        if callable(enabled := tool.is_enabled):
            made.is_enabled = lambda context, copied: enabled(context, agent)
        if made.timeout_behavior == "raise_exception":
            made.timeout_behavior, made.timeout_error_function = "error_as_result", late
        return made

    def _handoff(self, given: "_Agent | Handoff[Any, Any]", owner: _Agent) -> "Handoff[Any, Any]":
        """Return a handoff that leads to the copy, is counted, and is not offered beyond the limit."""
        handoff = given if isinstance(given, Handoff) else realtime_handoff(given)
        self.replies.transfers.add(handoff.tool_name)
        made, invoke, enabled = copy.copy(handoff), handoff.on_invoke_handoff, handoff.is_enabled

        async def hand_over(context: RunContextWrapper[Any], arguments: str) -> Any:
            reply, waits = self.replies.last, self.replies.side_by_side
            try:
                return await reply.hand_over(lambda: self._invoked(invoke, context, arguments), waits=waits)
            except Exception as error:  # the SDK would end the whole session
                error.add_note(f"It was the transfer {handoff.tool_name!r}.")
                self._raised(error)
                reply.failed.add(handoff.tool_name)
                return reply.taker or self.ready(owner)

        async def is_offered(context: RunContextWrapper[Any], copied: Any) -> bool:
            if not self._transfers.allowed:
                return False
            offered = enabled(context, owner) if callable(enabled) else enabled
            return bool(await offered if hasattr(offered, "__await__") else offered)

        made.on_invoke_handoff, made.is_enabled = hand_over, is_offered
        return made

    async def _invoked(self, invoke: Callable[..., Any], context: Any, arguments: str) -> Any:
        agent = await invoke(context, arguments)
        if not isinstance(agent, RealtimeAgent):
            return agent  # the SDK says what is wrong with it
        self._transfers.taken(agent.name)
        return self.ready(agent)


def _cancelled() -> bool:
    """Whether somebody cancels the task that runs."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _from_within(error: asyncio.CancelledError) -> Exception:
    """Return what a cancellation is that no one asked for: an error of the tool's."""
    raised = RuntimeError("The tool awaited something that was cancelled.")
    raised.__cause__ = error
    return raised


def _check(greetings: Mapping[str, str], first: _Agent) -> None:
    for name, words in greetings.items():
        if not isinstance(words, str) or not words.strip():
            raise BadGreeting(name, words)
    known, all_of_them = _names(first)
    for name in greetings:
        if name not in known and all_of_them:
            raise GreetingForNobody(name, sorted(known))


def _names(first: _Agent) -> tuple[set[str], bool]:
    """Return the names of the agents that can be reached, and whether these are all: a `Handoff` hides its agent's."""
    found, todo, whole = {first.name}, [first], True
    seen = {id(first)}
    while todo:
        for each in todo.pop().handoffs:
            if isinstance(each, Handoff):
                found.add(each.agent_name)
                whole = False
            elif id(each) not in seen:
                seen.add(id(each))
                found.add(each.name)
                todo.append(each)
    return found, whole
