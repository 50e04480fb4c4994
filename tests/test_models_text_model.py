"""A chat model elsewhere is asked once, in its own protocol, and its trouble is told in words."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from tornado.httpserver import HTTPServer
from tornado.testing import bind_unused_port
from tornado.web import Application, RequestHandler

from handoffkit.endpoint.models import Message, Prompt, Reply, TextModel, Tool, ToolCall, ToolResult, build
from handoffkit.endpoint.models.text_model import read_completion
from handoffkit.endpoint.protocol.api_error import ApiError

Answer = Callable[[RequestHandler], Awaitable[None] | None]


def said(content: str | None, **rest: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": content, **rest}}]}


class Upstream:
    """A chat service that answers what a test tells it to, and keeps what it was asked."""

    def __init__(self) -> None:
        self.answer: Answer = lambda handler: handler.finish(json.dumps(said("Hello.")))
        self.bodies: list[Any] = []
        self.headers: list[Any] = []
        upstream = self

        class Handler(RequestHandler):
            async def post(self) -> None:
                upstream.bodies.append(json.loads(self.request.body))
                upstream.headers.append(self.request.headers)
                answered = upstream.answer(self)
                if answered is not None:
                    await answered

        socket, self.port = bind_unused_port()
        self.server = HTTPServer(Application([("/v1/chat/completions", Handler)]))
        self.server.add_socket(socket)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"


@pytest.fixture
async def upstream() -> AsyncIterator[Upstream]:
    service = Upstream()
    yield service
    service.server.stop()
    await service.server.close_all_connections()


PROMPT = Prompt(
    "gpt-realtime",
    "Be brief.",
    (
        Message("user", "Where is order 7?"),
        Message("assistant", "One moment."),
        ToolCall("lookup", '{"id": "7"}', "c1"),
        ToolResult("c1", "shipped"),
    ),
    (Tool("lookup", "Look up.", {"type": "object", "properties": {"id": {"type": "string"}}}),),
)


async def test_a_prompt_becomes_a_chat_request(upstream: Upstream) -> None:
    model = TextModel("llama3.2", upstream=upstream.url + "/")
    assert await model.reply(PROMPT) == Reply("Hello.")
    body = upstream.bodies[0]
    assert body["model"] == "llama3.2"
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "tool"]
    assert body["messages"][2]["content"] == "One moment."
    assert body["messages"][2]["tool_calls"][0]["function"] == {"name": "lookup", "arguments": '{"id": "7"}'}
    assert body["tools"][0]["function"]["name"] == "lookup"
    assert body["tool_choice"] == "auto"
    assert "Authorization" not in upstream.headers[0]


def test_schemas_and_forced_tools_are_passed_on() -> None:
    model = TextModel("m", upstream="http://localhost:1/v1")
    schema = model.request(Prompt("m", output_schema={"type": "object"}))["response_format"]
    assert (schema["type"], schema["json_schema"]["schema"]) == ("json_schema", {"type": "object"})
    assert model.request(Prompt("m", json_object=True))["response_format"] == {"type": "json_object"}
    forced = model.request(Prompt("m", tools=(Tool("f"),), tool_choice="f"))
    assert forced["tool_choice"] == {"type": "function", "function": {"name": "f"}}
    assert "tools" not in model.request(Prompt("m", tools=(Tool("f"),), tool_choice="none"))


def test_calls_come_back_and_thoughts_do_not() -> None:
    function = {"name": "lookup", "arguments": {"id": "7"}}
    reply = read_completion(said("<think>hmm</think>\nOne moment.", tool_calls=[{"function": function}]))
    assert reply == Reply("One moment.", (ToolCall("lookup", '{"id": "7"}'),))


async def test_the_key_is_read_when_it_is_needed_and_shown_nowhere(
    upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = build(TextModel("m", upstream=upstream.url, key_env="CHAT_KEY", timeout=5).describe())
    assert isinstance(model, TextModel)
    monkeypatch.delenv("CHAT_KEY", raising=False)
    with pytest.raises(ApiError, match=r"CHAT_KEY is not set") as missing:
        await model.reply(PROMPT)
    assert missing.value.status == 401
    monkeypatch.setenv("CHAT_KEY", "sk-very-secret")
    await model.reply(PROMPT)
    assert upstream.headers[0]["Authorization"] == "Bearer sk-very-secret"
    assert "secret" not in json.dumps(model.describe()) + repr(model)


def refuse(status: int, body: str) -> Answer:
    async def answer(handler: RequestHandler) -> None:
        handler.set_status(status)
        await handler.finish(body)

    return answer


@pytest.mark.parametrize(
    ("status", "body", "seen", "words"),
    [
        (404, '{"error": {"message": "model not found"}}', 404, "answered 404: model not found"),
        (429, '{"error": "slow down"}', 429, "slow down"),
        (503, "busy", 502, "answered 503: busy"),
        (302, "", 502, "answered 302"),
        (200, "<html>", 502, "no chat completion: <html>"),
        (200, '{"choices": []}', 502, "no chat completion"),
        (200, json.dumps(said("")), 502, "no chat completion"),
    ],
)
async def test_what_goes_wrong_there_is_told(upstream: Upstream, status: int, body: str, seen: int, words: str) -> None:
    upstream.answer = refuse(status, body)
    with pytest.raises(ApiError) as caught:
        await TextModel("m", upstream=upstream.url).reply(PROMPT)
    assert caught.value.status == seen
    assert words in caught.value.message
    assert upstream.url in caught.value.message


async def test_an_answer_that_does_not_come_is_given_up(upstream: Upstream) -> None:
    release = asyncio.Event()

    async def hang(handler: RequestHandler) -> None:
        await asyncio.wait_for(release.wait(), 20)

    upstream.answer = hang
    with pytest.raises(ApiError, match=r"did not answer within 0\.2 s") as caught:
        await TextModel("m", upstream=upstream.url, timeout=0.2).reply(PROMPT)
    release.set()
    assert caught.value.status == 504


async def test_nobody_there_is_told(unused_tcp_port: int) -> None:
    with pytest.raises(ApiError, match=r"cannot be reached.*Is it running") as caught:
        await TextModel("m", upstream=f"http://127.0.0.1:{unused_tcp_port}/v1").reply(PROMPT)
    assert caught.value.status == 502


@pytest.mark.parametrize(
    ("name", "upstream", "timeout"),
    [
        ("m", "localhost:11434", 60),
        ("m", "http://user:pw@localhost/v1", 60),
        ("m", "http://localhost/v1?key=x", 60),
        ("", "http://localhost/v1", 60),
        ("m", "http://localhost/v1", 0),
    ],
)
def test_a_wrong_description_is_refused(name: str, upstream: str, timeout: float) -> None:
    with pytest.raises(ValueError, match=r"upstream|name"):
        TextModel(name, upstream=upstream, timeout=timeout)
