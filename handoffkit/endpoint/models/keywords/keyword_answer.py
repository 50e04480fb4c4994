"""How the keyword model answers: what it says in a call, what it writes about one, which tools it calls."""

import json
from typing import Any

from handoffkit.errors import UnfillableSchema

from ...protocol.api_error import ApiError
from ..prompt import Message, Prompt, Reply, Tool, ToolCall, ToolResult
from ..schema.fill import fill
from .conversation import Conversation, is_request
from .greeting import greeting
from .judgement import Judgement
from .lexicon import lexicon
from .output_tools import output_tools
from .results import spoken_result
from .spoken import sayable
from .summary import summary
from .talk import Talk
from .tool_choice import ToolWish, choose_output, is_transfer, missing_question, wanted

_MAX_BRACES = 200
_UNTITLED: dict[str, Any] = {
    "type": "object",
    "properties": {"summary": {"type": "string"}, "topic": {"type": "string"}, "priority": {"type": "string"}},
    "required": ["summary", "topic", "priority"],
}
"""What is filled when a JSON object is asked for and no schema is found."""


def answer(prompt: Prompt) -> Reply:
    """Answer *prompt*.

    Raises:
        ApiError: The schema of the output, or of a tool that must be called, cannot be filled (status 400, code
            `unfillable_schema`; the message names the field).
    """
    conversation = Conversation.from_prompt(prompt)
    return _speak(prompt, conversation) if prompt.spoken else _write(prompt, conversation)


def _speak(prompt: Prompt, conversation: Conversation) -> Reply:
    reply = _spoken_reply(prompt, conversation)
    return Reply(sayable(reply.text), reply.calls) if reply.text else reply


def _spoken_reply(prompt: Prompt, conversation: Conversation) -> Reply:
    outputs = output_tools(prompt)
    if outputs and prompt.tool_choice != "auto":
        return _output_call(outputs, prompt, conversation)
    last = prompt.history[-1] if prompt.history else None
    moved = isinstance(last, ToolResult) and any(
        isinstance(item, ToolCall) and is_transfer(item.name) for item in prompt.history[-2:]
    )
    if (moved or last is None) and (words := greeting(prompt.instructions)):
        return Reply(words)
    if isinstance(last, ToolResult):
        return Reply(Talk(conversation, spoken_result(last.output), transferred=moved).reply())
    wish = None if conversation.unheard else _wish(list(prompt.tools), prompt, conversation)
    if wish and not wish.missing:
        return Reply(calls=(wish.call,))
    question = missing_question(wish, conversation) if wish else ""
    if question:
        return Reply(" ".join([*Talk(conversation).reaction(), question]))
    return Reply(Talk(conversation).reply())


def _write(prompt: Prompt, conversation: Conversation) -> Reply:
    outputs = output_tools(prompt)
    others = [tool for tool in prompt.tools if tool not in outputs or prompt.tool_choice == "required"]
    wish = _wish([tool for tool in others if not _ends(tool, outputs, prompt)], prompt, conversation)
    if wish and not wish.missing:
        return Reply(calls=(wish.call,))
    if outputs:
        return _output_call(outputs, prompt, conversation)
    if prompt.output_schema is not None:
        return Reply(_json(prompt.output_schema, "the output", conversation))
    if prompt.json_object:
        return Reply(_json(_schema_in_words(prompt) or _UNTITLED, "the JSON object", conversation))
    return Reply(_plain(prompt, conversation, wish))


def _wish(tools: list[Tool], prompt: Prompt, conversation: Conversation) -> ToolWish | None:
    """Return the tool that the caller wishes for; a tool whose schema cannot be filled is never called."""
    if not tools or prompt.tool_choice == "none":
        return None
    try:
        return wanted(tools, prompt, conversation)
    except UnfillableSchema:
        return None


def _output_call(tools: list[Tool], prompt: Prompt, conversation: Conversation) -> Reply:
    tool = choose_output(tools, prompt, conversation)
    arguments = _json(tool.parameters or {"type": "object"}, f"the arguments of {tool.name}", conversation)
    return Reply(calls=(ToolCall(tool.name, arguments),))


def _json(schema: dict[str, Any], what: str, conversation: Conversation) -> str:
    try:
        return json.dumps(fill(schema, conversation), ensure_ascii=False)
    except UnfillableSchema as error:
        raise ApiError(
            f"The keyword model was asked for {what}. {error}", code="unfillable_schema", param=error.path or None
        ) from error


def _plain(prompt: Prompt, conversation: Conversation, wish: ToolWish | None) -> str:
    """Return plain text: what a tool returned, an answer to somebody who chats, or else a summary of the call."""
    last = prompt.history[-1] if prompt.history else None
    if isinstance(last, ToolResult):
        moved = any(isinstance(i, ToolCall) and is_transfer(i.name) for i in prompt.history[-2:])
        result = spoken_result(last.output)
        return Talk(conversation, result, transferred=True).reply() if moved else result
    if not _is_chat(conversation):
        return summary(Judgement(conversation)) or str(lexicon().voice["summary_none"])
    question = missing_question(wish, conversation) if wish else ""
    return " ".join([*Talk(conversation).reaction(), question]) if question else Talk(conversation).reply()


def _ends(tool: Tool, outputs: list[Tool], prompt: Prompt) -> bool:
    """Say whether calling *tool* is the result itself, so that it is not called for its words."""
    return tool in outputs and (prompt.tool_choice != "required" or len(outputs) < len(prompt.tools))


def _is_chat(conversation: Conversation) -> bool:
    """Say whether somebody talks to a text agent rather than asks it about a call: the last turn is their own."""
    last = conversation.turns[-1] if conversation.turns else None
    return not conversation.requests and last is not None and last.role == "user" and not is_request(last.text)


def _schema_in_words(prompt: Prompt) -> dict[str, Any] | None:
    """Return the JSON schema that stands in the instructions, as prompted output has it, or None."""
    texts = [prompt.instructions, *(i.text for i in prompt.history if isinstance(i, Message) and i.role == "system")]
    for text in reversed(texts):
        for value in _objects_in(text):
            if isinstance(value, dict) and {"properties", "$ref", "anyOf", "oneOf", "type"} & value.keys():
                return value
    return None


def _objects_in(text: str) -> list[Any]:
    """Return the JSON objects that stand in a text, outermost ones only."""
    found, decoder, start = [], json.JSONDecoder(), text.find("{")
    for _ in range(_MAX_BRACES):
        if start < 0:
            break
        try:
            value, end = decoder.raw_decode(text, start)
            found.append(value)
        except (ValueError, RecursionError):
            end = start + 1
        start = text.find("{", end)
    return found
