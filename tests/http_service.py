"""The service over HTTP without HTTP: official clients that talk to the protocol modules through a mock transport."""

import json
from typing import Any

import httpx2
from hypothesis import strategies as st
from openai import AsyncOpenAI
from pydantic import TypeAdapter

from handoffkit.endpoint.models.prompt import Prompt, Reply, ToolCall
from handoffkit.endpoint.protocol import chat, conversations, responses
from handoffkit.endpoint.protocol.api_error import ApiError
from handoffkit.endpoint.protocol.ids import Ids
from handoffkit.endpoint.protocol.store import Store

NOW = 1_790_000_000.25
FRANCE = ToolCall("get_capital", '{"country": "France"}')
GET_CAPITAL = {
    "type": "function",
    "name": "get_capital",
    "description": "Find a capital.",
    "parameters": {"type": "object", "properties": {"country": {"type": "string"}}, "required": ["country"]},
    "strict": False,
}

_NAMES = (
    "type", "role", "content", "id", "call_id", "tool_call_id", "tool_calls", "output", "text", "name", "arguments",
    "format", "function", "json_schema", "schema", "mode", "tools", "summary",
)  # fmt: skip
_WORDS = (
    "user", "assistant", "tool", "message", "function_call", "function", "input_text", "text", "json_schema",
    "reasoning", "web_search_call",
)  # fmt: skip
# Anything that JSON can say, made of words that the service knows.
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.sampled_from(_WORDS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_NAMES), inner, max_size=5),
    max_leaves=12,
)

_GENERATORS = {"/v1/responses": responses, "/v1/chat/completions": chat}


def valid(kind: Any, data: Any) -> Any:
    """Return *data* as the official type *kind*, which has every field that it demands."""
    return TypeAdapter(kind).validate_python(data)


class Service:
    """Answers requests with the replies that it was given, in order, and remembers what it was asked."""

    def __init__(self, *replies: Reply | ApiError) -> None:
        self.store = Store()
        self.replies = list(replies)
        self.bodies: list[Any] = []
        self.prompts: list[Prompt] = []
        self._ids = Ids("test")

    def client(self) -> AsyncOpenAI:
        """Return the official client, pointed here; it tries once."""
        http = httpx2.AsyncClient(transport=httpx2.MockTransport(self._handle))
        return AsyncOpenAI(base_url="http://service/v1", api_key="token", http_client=http, max_retries=0)

    def _handle(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content) if request.content else {}
        self.bodies.append(body)
        try:
            return self._answer(request, body)
        except ApiError as error:
            return httpx2.Response(error.status, json=error.body())

    def _answer(self, request: httpx2.Request, body: Any) -> httpx2.Response:
        path = request.url.path
        protocol: Any = _GENERATORS.get(path)
        if request.method != "POST" or protocol is None:
            query = dict(request.url.params)
            answer = conversations.handle(request.method, path, query, body, self.store, self._ids, NOW)
            return httpx2.Response(200, json=answer)
        asked = protocol.ask(body, self.store)
        self.prompts.append(asked.prompt)
        reply = self.replies.pop(0)
        if isinstance(reply, ApiError):
            raise reply
        if not asked.stream:
            return httpx2.Response(200, json=protocol.complete(asked, reply, self._ids, NOW))
        events = protocol.stream(asked, reply, self._ids, NOW)
        text = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
        end = "data: [DONE]\n\n" if protocol is chat else ""
        return httpx2.Response(200, text=text + end, headers={"content-type": "text/event-stream"})
