"""Which tool a model should call."""

from .prompt import Prompt, Tool

_FINAL = "final_result"
_FINAL_WORDS = "the final response which ends this conversation"


def output_tools(prompt: Prompt) -> list[Tool]:
    """Return the tools by which the request wants its result, as pydantic-ai sends them.

    These are the tool that must be called; else those named `final_result` or `final_result_…`, or described as the
    final response; else, where some call is required, all tools. Empty: the result is text.
    """
    if prompt.tool_choice == "none":
        return []
    named = [tool for tool in prompt.tools if tool.name == prompt.tool_choice]
    final = [tool for tool in prompt.tools if _is_final(tool)]
    return named or final or (list(prompt.tools) if prompt.tool_choice == "required" else [])


def _is_final(tool: Tool) -> bool:
    named = tool.name == _FINAL or tool.name.startswith(f"{_FINAL}_")
    return named or _FINAL_WORDS in tool.description.lower()
