"""The tools by which a request wants its result."""

from ..prompt import Prompt, Tool

FINAL = "final_result"
"""What pydantic-ai calls its output tool; with several outputs, what their names begin with."""
_FINAL_WORDS = "the final response which ends this conversation"


def output_tools(prompt: Prompt) -> list[Tool]:
    """Return the tools by which the request wants its result, as pydantic-ai sends them.

    These are the tool that must be called; else those named `final_result` or `final_result_…`, or described as the
    final response; else, where some call is required, all tools. Empty: the result is text.
    """
    if prompt.tool_choice == "none":
        return []
    named = [tool for tool in prompt.tools if tool.name == prompt.tool_choice]
    final = [tool for tool in prompt.tools if is_final(tool)]
    return named or final or (list(prompt.tools) if prompt.tool_choice == "required" else [])


def is_final(tool: Tool) -> bool:
    """Say whether a tool is an output tool of pydantic-ai's, by its name or its description."""
    named = tool.name == FINAL or tool.name.startswith(f"{FINAL}_")
    return named or _FINAL_WORDS in tool.description.lower()
