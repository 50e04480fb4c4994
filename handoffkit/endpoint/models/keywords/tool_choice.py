"""Which tool a keyword model calls, with which arguments, and what it must ask for first."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..prompt import Item, Message, Prompt, Tool, ToolCall
from ..schema.fill import fill_arguments
from .choices import Chooser
from .conversation import Conversation
from .judgement import Judgement
from .lexicon import lexicon
from .output_tools import FINAL, is_final
from .words import name_words, stem, stems

_ENOUGH = 2.0
"""The least score of a tool: one word of its name was said, or its topic is spoken of."""
_FEW_WORDS = 8
_CAMEL_CASE = re.compile(r"\b[A-Z][a-z]+(?:[A-Z][a-z]+)+\b")


@dataclass(frozen=True, slots=True)
class ToolWish:
    """A tool that the caller's words ask for."""

    tool: Tool
    arguments: dict[str, Any]
    missing: tuple[str, ...]
    """Required arguments that the caller has not given."""

    @property
    def call(self) -> ToolCall:
        """The call of the tool."""
        return ToolCall(self.tool.name, json.dumps(self.arguments, ensure_ascii=False))


def wanted(tools: Sequence[Tool], prompt: Prompt, conversation: Conversation) -> ToolWish | None:
    """Return the tool that the caller asks for with words that no tool has answered yet, or None.

    The words are held against the tools' names and descriptions. A transfer needs new words since the last call, so
    that agents do not send a caller round in circles; and no tool is wished for twice running with the same arguments.
    """
    fresh, last = _since_last_call(prompt.history)
    open_words = _open_words(prompt, conversation)
    judgement = Judgement(open_words)
    scored = [(_score(tool, judgement), tool) for tool in tools if fresh or not is_transfer(tool.name)]
    best = max(scored, key=lambda pair: pair[0], default=(0.0, None))
    tool = best[1] if best[0] >= _ENOUGH else _same_again(tools, last, open_words)
    if tool is None or not open_words.caller:
        return None
    wish = _with_arguments(tool, open_words, conversation)
    return None if last is not None and _same_call(wish.call, last) else wish


def choose_output(tools: Sequence[Tool], prompt: Prompt, conversation: Conversation) -> Tool:
    """Return the one of the output *tools* that fits the call best; those that were called already come last."""
    called = {item.name for item in prompt.history if isinstance(item, ToolCall)}
    judgement = Judgement(conversation)
    return max(tools, key=lambda tool: (is_final(tool) or tool.name not in called, _score(tool, judgement)))


def is_transfer(name: str) -> bool:
    """Say whether a tool of this name hands the call to another agent."""
    return bool(set(name_words(name)) & set(lexicon().data["tools"]["transfer"]))


def missing_question(wish: ToolWish, conversation: Conversation) -> str:
    """Return a question for the first missing argument that was not asked in these words yet; empty when all were."""
    name = wish.missing[0]
    thing = argument_name(name, wish.tool.parameters)
    said = "\n".join(conversation.agent)
    for template in lexicon().voice["missing"]:
        question = str(template).format(thing=thing)
        if question not in said:
            return question
    return ""


def argument_name(name: str, parameters: dict[str, Any]) -> str:
    """Return how to speak of an argument: "the order number", "the size (small, medium or large)"."""
    known: dict[str, str] = lexicon().data["tools"]["names"]
    words = ["number" if word == "id" else word for word in name_words(name)]
    spoken = known.get(name) or " ".join(["the", *words])
    members = parameters.get("properties", {}).get(name, {}).get("enum", [])
    if not 1 < len(members) <= 6:
        return spoken
    return f"{spoken} ({', '.join(map(str, members[:-1]))} or {members[-1]})"


def _since_last_call(history: Sequence[Item]) -> tuple[bool, ToolCall | None]:
    """Return whether the caller has spoken since the last call of a tool, and that call."""
    for index in range(len(history) - 1, -1, -1):
        item = history[index]
        if isinstance(item, ToolCall):
            return any(isinstance(i, Message) and i.role == "user" for i in history[index:]), item
    return True, None


def _open_words(prompt: Prompt, conversation: Conversation) -> Conversation:
    """Return the turns since the last tool answered; a transfer answers nothing, so words before it stay open."""
    calls = [
        index
        for index, item in enumerate(prompt.history)
        if isinstance(item, ToolCall) and not is_transfer(item.name) and not item.name.startswith(FINAL)
    ]
    if not calls:
        return conversation
    later = [item.text for item in prompt.history[calls[-1] :] if isinstance(item, Message)]
    turns = tuple(turn for turn in conversation.turns if any(turn.text in text for text in later))
    return Conversation(turns[-len(later) :] if later else ())


def _score(tool: Tool, judgement: Judgement) -> float:
    empty = set(lexicon().data["tools"]["empty"])
    own = [word for word in [*name_words(tool.name), *_agent_words(tool)] if word not in empty]
    said = judgement.conversation.stems
    told = {root for root in stems(tool.description[:1000]) if len(root) > 2 and root not in {stem(w) for w in empty}}
    return Chooser(judgement).fit(own) + 0.7 * min(3, len(told & said)) if own or told else 0.0


def _agent_words(tool: Tool) -> list[str]:
    """Return the words of the agents that a transfer's description names: its own name has them in small letters.

    openai-agents (0.24) makes `transfer_to_deliveryform` and "Handoff to the DeliveryForm agent" of one name.
    """
    named = _CAMEL_CASE.findall(tool.description[:1000]) if is_transfer(tool.name) else []
    return [word for name in named if name.lower() in tool.name for word in name_words(name)]


def _same_again(tools: Sequence[Tool], last: ToolCall | None, words: Conversation) -> Tool | None:
    """Return the tool of the last call if a few new words give another argument for it: "and order 1002?"."""
    tool = next((tool for tool in tools if last and tool.name == last.name and not is_transfer(tool.name)), None)
    if tool is None or not words.caller or len(words.text.split()) > _FEW_WORDS:
        return None
    return None if fill_arguments(tool.parameters, words)[1] else tool


def _with_arguments(tool: Tool, recent: Conversation, whole: Conversation) -> ToolWish:
    """Return the wish with its arguments: from the open words, and what is missing there from all that was said."""
    if not tool.parameters:
        return ToolWish(tool, {}, ())
    arguments, missing = fill_arguments(tool.parameters, recent)
    if missing and recent is not whole:
        earlier, still = fill_arguments(tool.parameters, whole)
        arguments |= {name: earlier[name] for name in missing if name in earlier}
        missing = still
    return ToolWish(tool, arguments, tuple(missing))


def _same_call(call: ToolCall, other: ToolCall) -> bool:
    try:
        return call.name == other.name and json.loads(call.arguments) == json.loads(other.arguments or "{}")
    except ValueError:
        return False
