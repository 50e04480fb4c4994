"""What a realtime session is set to: the defaults, what `session.update` may change, what one response overrides.

Defaults and the fields that are always there are those of the live service (`gpt-realtime`, recorded in 2026). Only
the default instructions differ: the service's own speak of a language model, and none answers here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...models.prompt import Tool
from ..api_error import ApiError
from ..fields import Check, array, boolean, decimal, integer, mapping, metadata, one_of, text, wrong_type
from .check import either, not_simulated, record, tagged
from .items import CONTEXT

Config = dict[str, Any]

DEFAULT_INSTRUCTIONS = "You are a simulated voice agent on this machine. No instructions have been given."
VOICES = ("alloy", "ash", "ballad", "coral", "echo", "sage", "shimmer", "verse", "marin", "cedar")
FORMAT = {"type": "audio/pcm", "rate": 24000}  # 16 bit, mono, little-endian

_DETECTION: dict[str, Config] = {
    "server_vad": {
        "type": "server_vad",
        "threshold": 0.5,
        "prefix_padding_ms": 300,
        "silence_duration_ms": 200,
        "idle_timeout_ms": None,
        "create_response": True,
        "interrupt_response": True,
    },
    "semantic_vad": {
        "type": "semantic_vad",
        "eagerness": "auto",
        "create_response": True,
        "interrupt_response": True,
    },
}
_TRANSCRIPTION = {"model": None, "language": None, "prompt": None}


def defaults(model: str, session_id: str, expires_at: int) -> Config:
    """Return what a new session is set to; *expires_at* in seconds since 1970."""
    hearing = {"transcription": None, "noise_reduction": None, "turn_detection": {**_DETECTION["server_vad"]}}
    return {
        "type": "realtime",
        "object": "realtime.session",
        "id": session_id,
        "model": model,
        "output_modalities": ["audio"],
        "instructions": DEFAULT_INSTRUCTIONS,
        "tools": [],
        "tool_choice": "auto",
        "max_output_tokens": "inf",
        "tracing": None,
        "truncation": "auto",
        "prompt": None,
        "expires_at": expires_at,
        "audio": {
            "input": {"format": {**FORMAT}, **hearing},
            "output": {"format": {**FORMAT}, "voice": "alloy", "speed": 1.0},
        },
        "include": None,
    }


def _modalities(value: Any, param: str) -> None:
    array(one_of("text", "audio"), "strings")(value, param)
    if value not in (["text"], ["audio"]):
        message = f"Invalid modalities: {value}. Supported combinations are: ['text'] and ['audio']."
        raise ApiError(message, code="invalid_value", param=param)


def _tokens(value: Any, param: str) -> None:
    if isinstance(value, str):
        return one_of("inf")(value, param)
    integer(1, 4096)(value, param)


def _voice(value: Any, param: str) -> None:
    if not isinstance(value, str | dict):
        raise wrong_type(param, "a string or an object", value)
    either(one_of(*VOICES), record({"id": text}, ["id"]))(value, param)


_PCM = not_simulated("G.711 audio", "use audio/pcm at 24000 Hz")
_FORMAT = tagged(
    "type",
    {
        "audio/pcm": record({"type": text, "rate": integer(24000, 24000)}, ["type"]),
        "audio/pcmu": _PCM,
        "audio/pcma": _PCM,
    },
)
_DETECTING: dict[str, Check] = {"type": text, "create_response": boolean, "interrupt_response": boolean}
_INPUT = record(
    {
        "format": _FORMAT,
        "noise_reduction": record({"type": one_of("near_field", "far_field"), "strength": decimal(0)}),
        "transcription": record(
            {
                "model": text,
                "language": text,
                "prompt": text,
                "delay": one_of("minimal", "low", "medium", "high", "xhigh"),
                "keywords": array(text, "strings"),
                "languages": array(text, "strings"),
            }
        ),
        "turn_detection": tagged(
            "type",
            {
                "server_vad": record(
                    {
                        **_DETECTING,
                        "threshold": decimal(0, 1),
                        "prefix_padding_ms": integer(0),
                        "silence_duration_ms": integer(0),
                        "idle_timeout_ms": integer(5000, 30000),
                    }
                ),
                "semantic_vad": record({**_DETECTING, "eagerness": one_of("low", "medium", "high", "auto")}),
            },
        ),
    }
)
_MCP = not_simulated("An MCP server", "use tools of type 'function'")
_TOOL = tagged(
    "type",
    {
        "function": record({"type": text, "name": text, "description": text, "parameters": mapping}, ["name"]),
        "mcp": _MCP,
    },
)
_TOOL_CHOICE = either(
    one_of("none", "auto", "required"),
    tagged("type", {"function": record({"type": text, "name": text}, ["name"]), "mcp": _MCP}),
)
_COMMON: dict[str, Check] = {
    "instructions": text,
    "max_output_tokens": _tokens,
    "output_modalities": _modalities,
    "parallel_tool_calls": boolean,
    "prompt": record({"id": text, "variables": mapping, "version": text}, ["id"]),
    "reasoning": record({"effort": text, "summary": text}),
    "tool_choice": _TOOL_CHOICE,
    "tools": array(_TOOL),
}
SESSION = record(
    {
        **_COMMON,
        "type": one_of("realtime", "transcription"),
        "audio": record(
            {"input": _INPUT, "output": record({"format": _FORMAT, "voice": _voice, "speed": decimal(0.25, 1.5)})}
        ),
        "include": array(one_of("item.input_audio_transcription.logprobs"), "strings"),
        "model": text,
        "tracing": either(one_of("auto"), mapping),
        "truncation": either(one_of("auto", "disabled"), mapping),
    },
    ["type"],
)
"""The `session` of a `session.update`."""

RESPONSE = record(
    {
        **_COMMON,
        "audio": record({"output": record({"format": _FORMAT, "voice": _voice})}),
        "conversation": one_of("auto", "none"),
        "input": array(CONTEXT),
        "metadata": metadata,
    }
)
"""The `response` of a `response.create`."""

_PLAIN = (
    "max_output_tokens", "output_modalities", "parallel_tool_calls", "reasoning", "tool_choice", "truncation",
)  # fmt: skip
_NULLABLE = ("include", "prompt", "tracing")


def updated(config: Config, change: Mapping[str, Any]) -> Config:
    """Return *config* with a checked *change* merged in.

    Null turns off what can be off (transcription, noise reduction, turn detection, prompt, tracing, include) and
    leaves everything else as it is. Empty instructions bring the default ones back. `model` cannot change.
    """
    fresh = {**config, **{name: change[name] for name in _PLAIN if change.get(name) is not None}}
    fresh |= {name: change[name] for name in _NULLABLE if name in change}
    if change.get("instructions") is not None:
        fresh["instructions"] = change["instructions"] or DEFAULT_INSTRUCTIONS
    if change.get("tools") is not None:
        fresh["tools"] = [_echoed(tool) for tool in change["tools"]]
    audio, changes = config["audio"], change.get("audio") or {}
    hearing, speaking = changes.get("input") or {}, changes.get("output") or {}
    fresh["audio"] = {"input": _hearing(audio["input"], hearing), "output": {**audio["output"], **_given(speaking)}}
    return fresh


def _hearing(old: Config, change: Mapping[str, Any]) -> Config:
    fresh = {**old}
    for name, new in change.items():
        if new is not None:
            usual = _usual(name, new)
            filled = {key: usual.get(key) if value is None else value for key, value in new.items()}
            fresh[name] = {**(_base(name, old[name], new) or usual), **filled}
        elif name != "format":
            fresh[name] = None
    return fresh


def _usual(name: str, new: Mapping[str, Any]) -> Config:
    """Return the defaults of one part of the input; they fill what a change leaves open or sets to null."""
    match name:
        case "turn_detection":
            return _DETECTION[new["type"]]
        case "transcription":
            return _TRANSCRIPTION
        case "format":
            return FORMAT
    return {}


def _base(name: str, old: Config | None, new: Mapping[str, Any]) -> Config | None:
    """Return what a change of one part of the input is laid over: what was there, unless it is of another type."""
    return None if name == "turn_detection" and old and old["type"] != new["type"] else old


def _given(change: Mapping[str, Any]) -> Config:
    return {name: value for name, value in change.items() if value is not None}


def _echoed(tool: Mapping[str, Any]) -> Config:
    return {name: tool[name] for name in ("type", "name", "description", "parameters") if name in tool}


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for one response: the session's configuration with that response's own on top."""

    instructions: str
    modalities: list[str]
    tools: list[Config]
    tool_choice: Any
    max_output_tokens: int | str
    voice: Any
    metadata: dict[str, str] | None
    in_conversation: bool
    """False for a response out of band: it is not added to the conversation."""

    @classmethod
    def of(cls, config: Config, override: Mapping[str, Any]) -> "Settings":
        """Return the settings of a response that was asked for with the checked *override*."""
        fresh = updated(config, {name: value for name, value in override.items() if name in _COMMON})
        voice = ((override.get("audio") or {}).get("output") or {}).get("voice")
        return cls(
            instructions=fresh["instructions"],
            modalities=fresh["output_modalities"],
            tools=fresh["tools"],
            tool_choice=fresh["tool_choice"],
            max_output_tokens=fresh["max_output_tokens"],
            voice=voice or config["audio"]["output"]["voice"],
            metadata=override.get("metadata"),
            in_conversation=override.get("conversation") != "none",
        )

    @property
    def spoken(self) -> bool:
        """Tell whether the reply comes as audio with a transcript, rather than as text."""
        return self.modalities == ["audio"]

    @property
    def choice(self) -> str:
        """What the model must do with the tools: `auto`, `none`, `required`, or the name of the one to call."""
        return str(self.tool_choice["name"] if isinstance(self.tool_choice, dict) else self.tool_choice)

    def functions(self) -> tuple[Tool, ...]:
        """Return the tools as a model is given them."""
        return tuple(
            Tool(tool["name"], tool.get("description") or "", tool.get("parameters") or {}) for tool in self.tools
        )
