"""The tools of a request over HTTP and which of them the model may or must call: checked, then as a model reads them.

Only functions can be simulated. A tool that OpenAI itself would run (web search, file search, …) is refused, since
an answer without its results would look whole and be wrong.
"""

from typing import Any

from ..models.prompt import Tool
from .api_error import ApiError
from .fields import (
    Check,
    anything,
    array,
    boolean,
    check_fields,
    identifier,
    mapping,
    one_of,
    require,
    text,
    wrong_type,
    wrong_value,
)

HOSTED = (
    "apply_patch", "code_interpreter", "computer", "computer_use_preview", "custom", "file_search", "image_generation",
    "local_shell", "mcp", "namespace", "programmatic_tool_calling", "shell", "tool_search", "web_search",
    "web_search_2025_08_26", "web_search_preview", "web_search_preview_2025_03_11",
)  # fmt: skip

_MODES = ("none", "auto", "required")


def parameters(value: Any, param: str) -> None:
    """Demand a JSON schema of type object, or one that leaves its type out."""
    mapping(value, param)
    if value.get("type", "object") != "object":
        message = f"Invalid schema for '{param}': expected a JSON Schema of type 'object', got {value['type']!r}."
        raise ApiError(message, code="invalid_function_parameters", param=param)


FUNCTION: dict[str, Check] = {
    "name": identifier,
    "description": text,
    "parameters": parameters,
    "strict": boolean,
}
_TOOL: dict[str, Check] = {
    "type": text,
    **FUNCTION,
    "allowed_callers": anything,
    "async": boolean,
    "defer_loading": boolean,
    "output_schema": mapping,
}


def check_tool(value: Any, param: str) -> None:
    """Demand a function tool in the shape of the Responses API."""
    mapping(value, param)
    require(value, ["type"], f"{param}.")
    refuse_hosted(value["type"], f"{param}.type")
    require(value, ["name"], f"{param}.")
    check_fields(value, _TOOL, f"{param}.")


def refuse_hosted(kind: Any, param: str) -> None:
    """Refuse every type of tool but `function`, one that exists with what to do instead."""
    if isinstance(kind, str) and kind in HOSTED:
        message = (
            f"The simulated service has no '{kind}' tool: it calls functions of yours and nothing else. "
            'Leave the tool out, or have a real service answer: hk.connect("live").'
        )
        raise ApiError(message, code="unsupported_value", param=param)
    if kind != "function":
        raise wrong_value(param, kind, ("function", *HOSTED))


def check_choice(value: Any, param: str) -> None:
    """Demand a `tool_choice` in the shape of the Responses API."""
    if isinstance(value, str):
        return one_of(*_MODES)(value, param)
    if not isinstance(value, dict):
        raise wrong_type(param, "one of an object or 'none', 'auto', or 'required'", value)
    require(value, ["type"], f"{param}.")
    if value["type"] == "function":
        require(value, ["name"], f"{param}.")
        text(value["name"], f"{param}.name")
    elif value["type"] == "allowed_tools":
        require(value, ["mode", "tools"], f"{param}.")
        one_of("auto", "required")(value["mode"], f"{param}.mode")
        array(_check_allowed, "tools")(value["tools"], f"{param}.tools")


def _check_allowed(value: Any, param: str) -> None:
    mapping(value, param)
    for name in ("type", "name"):
        if name in value:
            text(value[name], f"{param}.{name}")


def echoed(tool: dict[str, Any]) -> dict[str, Any]:
    """Return *tool* as the service gives it back, with the defaults filled in."""
    return {"type": "function", "description": None, "parameters": None, "strict": True, **tool}


def read_tool(function: dict[str, Any]) -> Tool:
    """Return the function as a model reads it."""
    return Tool(function["name"], function.get("description") or "", function.get("parameters") or {})


def choose(choice: Any, tools: tuple[Tool, ...]) -> tuple[str, tuple[Tool, ...]]:
    """Return what the model must do (`auto`, `none`, `required` or a name), and the tools that it may use.

    Args:
        choice: A checked `tool_choice` in the shape of the Responses API, or None.
        tools: All the tools of the request.

    Raises:
        ApiError: If the choice names a tool that the request does not bring.
    """
    chosen: Any = choice or "auto"
    match chosen:
        case {"type": "function", "name": name}:
            return _known([name], tools)[0].name, tools
        case {"type": "allowed_tools", "mode": mode, "tools": allowed}:
            return mode, _known([entry.get("name", entry.get("type", "")) for entry in allowed], tools)
        case {"type": hosted}:
            raise _absent(str(hosted))
        case "required" if not tools:
            raise _misplaced("Tool choice 'required' must be specified with 'tools' parameter.")
    return chosen, tools


def _known(names: list[str], tools: tuple[Tool, ...]) -> tuple[Tool, ...]:
    for name in names:
        if name not in {tool.name for tool in tools}:
            raise _absent(name)
    return tuple(tool for tool in tools if tool.name in names)


def _absent(name: str) -> ApiError:
    return _misplaced(f"Tool choice '{name}' not found in 'tools' parameter.")


def _misplaced(message: str) -> ApiError:
    return ApiError(message, param="tool_choice")
