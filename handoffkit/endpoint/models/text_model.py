"""Any OpenAI-compatible chat model as the one who answers: Ollama, vLLM, LiteLLM, a gateway.

The only model here that uses the network, and only when it is asked. tornado is imported then, not before.
"""

import json
import os
import re
from typing import Any
from urllib.parse import urlsplit

from ..protocol.api_error import ApiError
from .prompt import Message, Prompt, Reply, Tool, ToolCall, ToolResult

_THINKING = re.compile(r"^\s*<think(?:ing)?>.*?</think(?:ing)?>\s*", re.DOTALL)


class TextModel:
    """A chat model behind `POST {upstream}/chat/completions`.

    Args:
        name: The model's name there, such as `llama3.2`.
        upstream: The base URL, such as `http://localhost:11434/v1`.
        key_env: The name of the environment variable that holds the API key, read in the endpoint process at each
            request; None where no key is needed. The key itself is never described, logged or shown.
        timeout: Seconds until an answer must be complete; 60 by default.

    Raises:
        ValueError: `upstream` is no http or https URL, or carries a password or a query; `name` is empty; `timeout` is
            not positive.
    """

    def __init__(self, name: str, upstream: str, *, key_env: str | None = None, timeout: float = 60.0) -> None:
        parts = urlsplit(upstream)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"`upstream` must be a URL such as http://localhost:11434/v1; found {upstream!r}.")
        if parts.username or parts.password or parts.query:
            raise ValueError("`upstream` must not carry a password or a query, since it is shown; use `key_env`.")
        if not name or timeout <= 0:
            raise ValueError(f"A model needs a name and a positive timeout; found {name!r} and {timeout!r}.")
        self.name, self.upstream, self.key_env, self.timeout = name, upstream.rstrip("/"), key_env, float(timeout)

    def __repr__(self) -> str:
        return f"TextModel({self.name!r}, upstream={self.upstream!r})"

    def describe(self) -> dict[str, Any]:
        """Return the JSON from which the endpoint process builds this model again; no key is in it."""
        return {
            "kind": "text",
            "name": self.name,
            "upstream": self.upstream,
            "key_env": self.key_env,
            "timeout": self.timeout,
        }

    @classmethod
    def build(cls, description: dict[str, Any]) -> "TextModel":
        """Build the model that *description*, made by `describe`, tells of."""
        known = {name: description[name] for name in ("key_env", "timeout") if name in description}
        return cls(description["name"], description["upstream"], **known)

    async def reply(self, prompt: Prompt) -> Reply:
        """Ask the upstream once and return what it answers.

        Raises:
            ApiError: It cannot be reached (502), is too slow (504), refuses (its own status where that is 4xx, else
                502), or answers something that is no chat completion (502).
        """
        body = await self._post(json.dumps(self.request(prompt)))
        try:
            return read_completion(json.loads(body))
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            raise self._error(f"answered something that is no chat completion: {_short(body)}") from error

    def request(self, prompt: Prompt) -> dict[str, Any]:
        """Return the JSON body that is sent for *prompt*."""
        body: dict[str, Any] = {"model": self.name, "messages": _messages(prompt), "stream": False}
        if prompt.tools and prompt.tool_choice != "none":
            body["tools"] = [_tool(tool) for tool in prompt.tools]
            plain = prompt.tool_choice in ("auto", "required")
            named = {"type": "function", "function": {"name": prompt.tool_choice}}
            body["tool_choice"] = prompt.tool_choice if plain else named
        if prompt.output_schema is not None:
            schema = {"name": "output", "schema": prompt.output_schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif prompt.json_object:
            body["response_format"] = {"type": "json_object"}
        return body

    async def _post(self, body: str) -> str:
        from tornado.httpclient import AsyncHTTPClient, HTTPRequest
        from tornado.simple_httpclient import HTTPTimeoutError

        headers = {"Content-Type": "application/json"}
        key = os.environ.get(self.key_env, "") if self.key_env else ""
        if self.key_env and not key:
            raise self._error(f"needs a key: the environment variable {self.key_env} is not set", status=401)
        if key:
            headers["Authorization"] = f"Bearer {key}"
        request = HTTPRequest(
            f"{self.upstream}/chat/completions",
            method="POST",
            headers=headers,
            body=body,
            connect_timeout=min(10.0, self.timeout),
            request_timeout=self.timeout,
            follow_redirects=False,
        )
        client = AsyncHTTPClient(force_instance=True)
        try:
            response = await client.fetch(request, raise_error=False)
        except HTTPTimeoutError as error:
            raise self._error(f"did not answer within {self.timeout:g} s", status=504) from error
        except (OSError, ValueError) as error:
            raise self._error(f"cannot be reached ({error}). Is it running?") from error
        finally:
            client.close()
        return self._checked(response.code, response.body.decode("utf-8", "replace"), response.error)

    def _checked(self, status: int, body: str, error: BaseException | None) -> str:
        if 200 <= status < 300:
            return body
        if status == 599:
            late = "imeout" in str(error)
            said = (
                f"did not answer within {self.timeout:g} s" if late else f"cannot be reached ({error}). Is it running?"
            )
            raise self._error(said, status=504 if late else 502)
        raise self._error(f"answered {status}: {_message(body)}", status=status if 400 <= status < 500 else 502)

    def _error(self, said: str, *, status: int = 502) -> ApiError:
        kind = "invalid_request_error" if status < 500 else "server_error"
        return ApiError(f"{self.name} at {self.upstream} {said}", status=status, type=kind, code="upstream_error")


def read_completion(body: dict[str, Any]) -> Reply:
    """Return what a chat completion says; a leading <think> block is left out, since it is not meant for the caller.

    Raises:
        KeyError, TypeError, IndexError, ValueError: *body* is no chat completion with words or calls.
    """
    message = body["choices"][0]["message"]
    text = _THINKING.sub("", message.get("content") or message.get("refusal") or "", count=1)
    calls = tuple(_call(call["function"]) for call in message.get("tool_calls") or ())
    if not text and not calls:
        raise ValueError("neither words nor calls")
    return Reply(text, calls)


def _call(function: dict[str, Any]) -> ToolCall:
    arguments = function.get("arguments") or "{}"
    return ToolCall(function["name"], arguments if isinstance(arguments, str) else json.dumps(arguments))


def _messages(prompt: Prompt) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    if prompt.instructions:
        messages.append({"role": "system", "content": prompt.instructions})
    for item in prompt.history:
        match item:
            case Message(role=role, text=text):
                messages.append({"role": role, "content": text})
            case ToolResult(call_id=call_id, output=output):
                messages.append({"role": "tool", "tool_call_id": call_id, "content": output})
            case ToolCall():
                _append_call(messages, item)
    return messages


def _append_call(messages: list[dict[str, Any]], call: ToolCall) -> None:
    """Add *call* to the assistant's message before it: chat wants the calls of one reply in one message."""
    function = {"name": call.name, "arguments": call.arguments or "{}"}
    if not messages or messages[-1]["role"] != "assistant":
        messages.append({"role": "assistant", "content": None})
    messages[-1].setdefault("tool_calls", []).append({"id": call.call_id, "type": "function", "function": function})


def _tool(tool: Tool) -> dict[str, Any]:
    parameters = tool.parameters or {"type": "object", "properties": {}}
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.description, "parameters": parameters},
    }


def _message(body: str) -> str:
    try:
        error = json.loads(body)["error"]
        return _short(error if isinstance(error, str) else error["message"])
    except (ValueError, KeyError, TypeError):
        return _short(body) or "no reason given"


def _short(text: str) -> str:
    plain = " ".join(str(text).split())
    return plain if len(plain) <= 300 else plain[:299] + "…"
