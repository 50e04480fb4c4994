"""A model that says what it is given, in order: exact, for notebooks and tests."""

import dataclasses
import itertools
import json
from collections.abc import Sequence
from typing import Any, TypeGuard

from ..protocol.api_error import ApiError
from .keywords.output_tools import output_tools
from .prompt import Prompt, Reasoning, Reply, Tool, ToolCall


class ScriptedModel:
    """A model with a script.

    Args:
        lines: What a voice agent says, one entry a reply, from the first one on in every realtime session: a str is
            spoken, a `ToolCall` is made, a list of them is one reply.
        outputs: What a text agent answers, one entry a request, in the order of the requests since `connect()`. A str
            is text; a `ToolCall` (or a list with one in it) is made; anything else is a value: it goes as JSON text, or
            as the arguments of the output tool where the request has one. Pydantic models and dataclasses count as
            their JSON. A list that begins with `Reasoning` is what the model thinks, then any of these.
        repeat: Begin again at the end, instead of refusing.

    A tool call is anything with a `name` and `arguments`, the latter a dict or a JSON object as text.

    Raises:
        TypeError: An entry is none of these, or no JSON.
        ValueError: A tool call has no name, or its arguments are no JSON object.
    """

    def __init__(self, lines: Sequence[Any] = (), outputs: Sequence[Any] = (), *, repeat: bool = False) -> None:
        self.repeat = repeat
        self._lines = [_checked_line(line, f"lines[{i}]") for i, line in enumerate(_listed(lines, "lines"))]
        self._outputs = [_checked_output(out, f"outputs[{i}]") for i, out in enumerate(_listed(outputs, "outputs"))]
        self._answered = 0

    def __repr__(self) -> str:
        return f"ScriptedModel({len(self._lines)} lines, {len(self._outputs)} outputs)"

    def reply(self, prompt: Prompt) -> Reply:
        """Return the next entry of the script.

        Raises:
            ApiError: The script is used up (status 400, code `script_exhausted`).
        """
        if prompt.spoken:
            return _spoken(self._entry(self._lines, prompt.replies, "line", "replies of this session"))
        output = self._entry(self._outputs, self._answered, "output", "requests of text agents")
        self._answered += 1
        return _answered(output, prompt)

    def describe(self) -> dict[str, Any]:
        """Return the script as JSON; the place in it is not part of it."""
        return {
            "kind": "scripted",
            "lines": [[_described(part) for part in line] for line in self._lines],
            "outputs": [[_described(part) for part in output] for output in self._outputs],
            "repeat": self.repeat,
        }

    @classmethod
    def build(cls, description: dict[str, Any]) -> "ScriptedModel":
        """Build the model that *description*, made by `describe`, tells of."""
        model = cls(repeat=bool(description.get("repeat", False)))
        model._lines = [[_rebuilt(part) for part in line] for line in description.get("lines", [])]
        model._outputs = [[_rebuilt(part) for part in output] for output in description.get("outputs", [])]
        return model

    def _entry(self, script: list[list[Any]], index: int, what: str, asked: str) -> list[Any]:
        if self.repeat and script:
            return script[index % len(script)]
        if index >= len(script):
            count = f"{len(script)} {what}{'' if len(script) == 1 else 's'}"
            raise ApiError(
                f"The script has {count}, but {what} {index + 1} was asked for (counting the {asked}). "
                f"Give ScriptedModel one more in `{what}s`, or `repeat=True`.",
                code="script_exhausted",
            )
        return script[index]


def _spoken(parts: list[Any]) -> Reply:
    return Reply(
        " ".join(part for part in parts if isinstance(part, str)),
        tuple(part for part in parts if isinstance(part, ToolCall)),
    )


def _answered(parts: list[Any], prompt: Prompt) -> Reply:
    thoughts = tuple(part.text for part in parts if isinstance(part, Reasoning))
    values = [part.value for part in parts if isinstance(part, _Value)]
    reply = _valued(values[0], prompt) if values else _spoken(parts)
    return dataclasses.replace(reply, reasoning=thoughts)


def _valued(value: Any, prompt: Prompt) -> Reply:
    tool = _tool_for(value, output_tools(prompt))
    if tool is None:
        return Reply(json.dumps(_wrapped(value, prompt.output_schema or {}), ensure_ascii=False))
    return Reply(calls=(ToolCall(tool.name, json.dumps(_wrapped(value, tool.parameters), ensure_ascii=False)),))


def _tool_for(value: Any, tools: Sequence[Tool]) -> Tool | None:
    """Return the output tool that *value* is meant for: the first that knows all its fields, else the first."""
    fields = set(value) if isinstance(value, dict) else set()
    fitting = [tool for tool in tools if fields <= set(tool.parameters.get("properties", {}))]
    return next(iter([*fitting, *tools]), None)


def _wrapped(value: Any, schema: dict[str, Any]) -> Any:
    """Put a value that is no object into the only property of an object schema, as SDKs wrap lists and numbers."""
    properties = list(schema.get("properties", {}))
    return {properties[0]: value} if not isinstance(value, dict) and len(properties) == 1 else value


@dataclasses.dataclass(frozen=True, slots=True)
class _Value:
    """A JSON value of the script, told apart from text."""

    value: Any


def _listed(entries: Any, name: str) -> list[Any]:
    if isinstance(entries, str | bytes | dict) or not hasattr(entries, "__iter__"):
        raise TypeError(f"`{name}` takes a list, one entry a reply; found {entries!r}. Write `{name}=[...]`.")
    return list(entries)


def _checked_line(entry: Any, where: str) -> list[str | ToolCall]:
    parts = list(entry) if isinstance(entry, list | tuple) else [entry]
    if not parts:
        raise ValueError(f"{where} is empty; a line needs words or a tool call.")
    return [_checked_part(part, where) for part in parts]


def _checked_part(part: Any, where: str) -> str | ToolCall:
    if isinstance(part, str):
        return part
    if _is_call(part):
        return _checked_call(part, where)
    raise TypeError(f"{where} is {part!r}; a voice agent's line is a str, a ToolCall, or a list of them.")


def _checked_output(entry: Any, where: str) -> list[Any]:
    if isinstance(entry, Reasoning) or (isinstance(entry, list | tuple) and _thinks(entry)):
        return _checked_thoughts(list(entry) if isinstance(entry, list | tuple) else [entry], where)
    if isinstance(entry, list | tuple) and any(_is_call(part) for part in entry):
        return [_checked_part(part, where) for part in entry]
    if isinstance(entry, str) or _is_call(entry):
        return [_checked_part(entry, where)]
    value = _plain(entry)
    try:
        return [_Value(json.loads(json.dumps(value, allow_nan=False)))]
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"{where} is {entry!r}, which is no JSON ({error}). An output is a str, a ToolCall, or a value of "
            "JSON: a dict, a list, a number, a Pydantic model."
        ) from error


def _thinks(entry: Sequence[Any]) -> bool:
    return any(isinstance(part, Reasoning) for part in entry)


def _checked_thoughts(parts: list[Any], where: str) -> list[Any]:
    """Check what the model thinks, and then what it answers, which may be nothing."""
    thoughts = list(itertools.takewhile(lambda part: isinstance(part, Reasoning), parts))
    rest = parts[len(thoughts) :]
    if _thinks(rest):
        raise ValueError(f"{where}: a model thinks before it answers; put each Reasoning at the beginning of the list.")
    for thought in thoughts:
        if not isinstance(thought.text, str):
            raise TypeError(f"{where}: Reasoning takes a str; found {thought.text!r}.")
    return [*thoughts, *(_checked_output(rest[0] if len(rest) == 1 else rest, where) if rest else ())]


def _plain(value: Any) -> Any:
    if hasattr(value, "model_dump") and not isinstance(value, type):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


def _is_call(entry: Any) -> TypeGuard[Any]:
    plain = isinstance(entry, dict | type) or hasattr(entry, "model_dump")
    return not plain and hasattr(entry, "name") and hasattr(entry, "arguments")


def _checked_call(call: Any, where: str) -> ToolCall:
    if not isinstance(call.name, str) or not call.name:
        raise ValueError(f"{where}: a tool call needs the tool's name; found {call.name!r}.")
    try:
        arguments = json.loads(call.arguments or "{}") if isinstance(call.arguments, str) else call.arguments
        text = json.dumps(arguments, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where}: the arguments of {call.name} are no JSON: {call.arguments!r} ({error}).") from error
    if not isinstance(arguments, dict):
        raise ValueError(f"{where}: the arguments of {call.name} must be a JSON object; found {call.arguments!r}.")
    return ToolCall(call.name, text)


def _described(part: Any) -> dict[str, Any]:
    match part:
        case ToolCall(name=name, arguments=arguments):
            return {"call": name, "arguments": json.loads(arguments)}
        case _Value(value=value):
            return {"value": value}
        case Reasoning(text=thought):
            return {"reasoning": thought}
        case _:
            return {"text": part}


def _rebuilt(part: dict[str, Any]) -> Any:
    if "call" in part:
        return ToolCall(part["call"], json.dumps(part["arguments"], ensure_ascii=False))
    if "reasoning" in part:
        return Reasoning(part["reasoning"])
    return _Value(part["value"]) if "value" in part else part["text"]
