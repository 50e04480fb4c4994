"""Token counts, estimated: the simulation has no tokenizer, and its reports of usage say how big a thing was.

An estimate is four bytes of UTF-8 a token, which is about right for English prose; the real count differs.
"""

import json

from ..models.prompt import Message, Prompt, Reply, ToolCall

_BYTES = 4  # of UTF-8 a token
_ITEM = 3  # tokens that a message costs besides its words


def count_tokens(text: str) -> int:
    """Return about how many tokens *text* has: 0 for the empty text, else at least 1."""
    return -(-len(text.encode(errors="replace")) // _BYTES)


def clip(text: str, tokens: int) -> str:
    """Return the beginning of *text* that has at most *tokens* tokens, never half a character."""
    return text.encode(errors="replace")[: max(tokens, 0) * _BYTES].decode(errors="ignore")


def count_prompt(prompt: Prompt) -> int:
    """Return about how many tokens a model reads: instructions, conversation, tools and output schema."""
    total = count_tokens(prompt.instructions)
    for item in prompt.history:
        match item:
            case Message():
                total += _ITEM + count_tokens(item.text)
            case ToolCall():
                total += _ITEM + count_tokens(item.name) + count_tokens(item.arguments)
            case _:
                total += _ITEM + count_tokens(item.output)
    for tool in prompt.tools:
        total += count_tokens(tool.name + tool.description + json.dumps(tool.parameters))
    return total + (count_tokens(json.dumps(prompt.output_schema)) if prompt.output_schema else 0)


def count_reply(reply: Reply) -> int:
    """Return about how many tokens a model has written: its thoughts, its words and its calls of tools."""
    calls = sum(count_tokens(call.name) + count_tokens(call.arguments) for call in reply.calls)
    return count_thoughts(reply) + count_tokens(reply.text) + calls


def count_thoughts(reply: Reply) -> int:
    """Return about how many of the tokens of *reply* are thoughts."""
    return sum(map(count_tokens, reply.reasoning))


def within(reply: Reply, limit: int | None) -> tuple[Reply, bool]:
    """Cut *reply* off after *limit* tokens, as a model that runs out of them does; None is no limit.

    Returns:
        What was written until then, and whether that is all of it. Thoughts come before words and words before calls;
        the call that does not fit has cut arguments, and those after it are gone.
    """
    if limit is None or count_reply(reply) <= limit:
        return reply, True
    left = limit - count_thoughts(reply)
    if left <= 0:
        return Reply(reasoning=reply.reasoning), False
    text = clip(reply.text, left)
    if text != reply.text:
        return Reply(text, reasoning=reply.reasoning), False
    left, calls = left - count_tokens(text), list[ToolCall]()
    for call in reply.calls:
        left -= count_tokens(call.name)
        if left <= 0:
            break
        calls.append(ToolCall(call.name, clip(call.arguments, left), call.call_id))
        left -= count_tokens(call.arguments)
    return Reply(text, tuple(calls), reply.reasoning), False
