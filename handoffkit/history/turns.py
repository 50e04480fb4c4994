"""Turns of the log as pydantic-ai's message history.

`handoff` gives this history to the next agent, and `Call.messages()` returns it.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from pydantic_ai.messages import (
    INTERRUPTED_TOOL_RETURN_CONTENT,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponsePart,
    SpeechPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from ..wire.conversation import ToolUse, Turn
from .words import INAUDIBLE


def messages(turns: Iterable[Turn]) -> list[ModelMessage]:
    """Return *turns* as pydantic-ai messages, in the order given: the order in which they were spoken.

    Typed words are `UserPromptPart` and `TextPart`, spoken ones `SpeechPart`. Each use of a tool is a call and its
    return; a call without one gets a return that says so, since no service takes a call that hangs. An interrupted
    reply holds what was heard. Operator text is nobody's turn and stays out.
    """
    found: list[ModelMessage] = []
    for turn in turns:
        if turn.speaker == "caller":
            found.append(_request(turn))
        elif turn.speaker == "agent":
            found += _reply(turn)
    return found


def _request(turn: Turn) -> ModelMessage:
    if not turn.spoken:
        return ModelRequest(parts=[UserPromptPart(turn.text)])
    words = INAUDIBLE if turn.inaudible and not turn.text else turn.text
    return ModelRequest(parts=[SpeechPart(speaker="user", transcript=words or None)])


def _reply(turn: Turn) -> Iterator[ModelMessage]:
    first = list(takewhile(lambda tool: _precedes(tool, turn), turn.tools))
    then = turn.tools[len(first) :]
    for group in _together(first):
        yield from _uses(ModelResponse(parts=[]), group)
    words = [_said(turn)] if turn.text or (turn.interrupted and turn.spoken) else []
    said = ModelResponse(parts=words, state="interrupted" if turn.interrupted else "complete")
    for group in _together(then):
        yield from _uses(said, group)
        said = ModelResponse(parts=[])
    if said.parts and not then:
        yield said


def _precedes(tool: ToolUse, turn: Turn) -> bool:
    """Say whether a tool was used before the words: they answer to its output. Else the call came with the words."""
    return turn.seeded or not turn.text or (tool.end is not None and tool.end <= turn.start)


def _together(tools: Sequence[ToolUse]) -> list[list[ToolUse]]:
    """Group the calls that one response made: those that came before the output of the first."""
    groups: list[list[ToolUse]] = []
    for tool in tools:
        if groups and (groups[-1][0].end is None or tool.start < groups[-1][0].end):
            groups[-1].append(tool)
        else:
            groups.append([tool])
    return groups


def _uses(said: ModelResponse, tools: Sequence[ToolUse]) -> Iterator[ModelMessage]:
    calls = (ToolCallPart(tool.name, tool.arguments, tool.call_id) for tool in tools)
    yield ModelResponse(parts=[*said.parts, *calls], state=said.state)
    for tool in tools:
        yield ModelRequest(parts=[_return(tool)])


def _return(tool: ToolUse) -> ToolReturnPart:
    if tool.output is None:
        return ToolReturnPart(tool.name, INTERRUPTED_TOOL_RETURN_CONTENT, tool.call_id, outcome="interrupted")
    return ToolReturnPart(tool.name, tool.output, tool.call_id)


def _said(turn: Turn) -> ModelResponsePart:
    if not turn.spoken:
        return TextPart(turn.text)
    return SpeechPart(speaker="assistant", transcript=turn.text or None, interrupted_at_ms=turn.heard_ms)
