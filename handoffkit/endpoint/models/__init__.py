"""Who answers when nobody is asked over the network: simulated models, chosen by name or given in code."""

from typing import Any

from .keyword import KeywordModel
from .prompt import Item, Message, Model, Prompt, Reasoning, Reply, Tool, ToolCall, ToolResult
from .scripted import ScriptedModel
from .text_model import TextModel

__all__ = [
    "Item",
    "KeywordModel",
    "Message",
    "Model",
    "Prompt",
    "Reasoning",
    "Reply",
    "ScriptedModel",
    "TextModel",
    "Tool",
    "ToolCall",
    "ToolResult",
    "build",
]


def build(description: dict[str, Any]) -> Model:
    """Build the model that *description* tells of, as a model's `describe` made it.

    Raises:
        ValueError: `kind` is none of `keyword`, `scripted`, `text`.
    """
    match description.get("kind"):
        case "keyword":
            return KeywordModel()
        case "scripted":
            return ScriptedModel.build(description)
        case "text":
            return TextModel.build(description)
        case kind:
            raise ValueError(f"A model's kind is `keyword`, `scripted` or `text`; found {kind!r}.")
