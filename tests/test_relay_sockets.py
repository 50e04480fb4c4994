"""Sockets that are passed on, with a bare upstream: who leaves when, and what is left open."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed, ConnectionClosedOK
from websockets.frames import CloseCode

import handoffkit as hk
from handoffkit.connect import current
from handoffkit.endpoint.masking import masked

PATHS = ["responses", "realtime?model=gpt-realtime"]
BOUND = 20  # seconds


async def silent(socket: ServerConnection) -> None:
    """Take whatever comes, and say nothing."""
    async for _ in socket:
        pass


async def nothing(connection: ServerConnection, request: Any) -> None:
    """Let a handshake pass."""


@asynccontextmanager
async def upstream(answer: Any = silent, handshake: Any = nothing) -> AsyncIterator[Server]:
    """Have a service of our own answer, and connect to it."""
    hk.disconnect()
    async with serve(answer, "127.0.0.1", 0, process_request=handshake) as server:
        hk.connect("live", upstream=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
        yield server


def client(path: str) -> connect:
    own = {"Authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"}
    url = f"{current().base_url.replace('http', 'ws', 1)}/{path}"
    return connect(url, additional_headers=own, open_timeout=BOUND, close_timeout=BOUND)


async def send_head(path: str, *headers: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Send the head of a request by hand."""
    reader, writer = await asyncio.open_connection("127.0.0.1", current().port)
    own = f"Authorization: Bearer {os.environ['OPENAI_API_KEY']}"
    lines = [f"GET /v1/{path} HTTP/1.1", "Host: 127.0.0.1", own, "Connection: Upgrade", *headers, "", ""]
    writer.write("\r\n".join(lines).encode())
    return reader, writer


KEY = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
VERSION = "Sec-WebSocket-Version: 13"


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("realtime?model=gpt-realtime", (), 426),
        ("realtime?model=gpt-realtime", ("Upgrade: websocket",), 400),
        ("responses", ("Upgrade: websocket", KEY), 400),
        ("responses", ("Upgrade: websocket", KEY, "Sec-WebSocket-Version: 12"), 400),
        ("responses", ("Upgrade: websocket", VERSION), 400),
    ],
)
async def test_what_is_no_handshake_is_refused_before_the_upstream_is_asked(
    path: str, headers: tuple[str, ...], status: int
) -> None:
    asked: list[str] = []

    async def note(connection: ServerConnection, request: Any) -> None:
        asked.append(request.path)

    async with asyncio.timeout(BOUND), upstream(handshake=note):
        reader, writer = await send_head(path, *headers)
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(line for line in head.split(b"\r\n") if line.lower().startswith(b"content-length"))
        body = await reader.readexactly(int(length.split(b":")[1]))
        writer.close()
        assert head.split()[1] == str(status).encode()
        assert json.loads(body)["error"]["type"] == "invalid_request_error"
        assert (asked, list(hk.log())) == ([], [])


@pytest.mark.parametrize("path", PATHS)
async def test_a_client_that_leaves_while_the_upstream_is_reached_leaves_nothing_open(path: str) -> None:
    reached, left, ended = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def hold(connection: ServerConnection, request: Any) -> None:
        reached.set()
        await left.wait()

    async def until_left(socket: ServerConnection) -> None:
        await silent(socket)
        ended.set()

    async with asyncio.timeout(BOUND), upstream(until_left, hold):
        _, writer = await send_head(path, "Upgrade: websocket", KEY, VERSION)
        await reached.wait()
        writer.transport.abort()
        assert (await anext(hk.log().follow("close", idle_timeout=BOUND))).data["by"] == "drop"
        left.set()
        await ended.wait()


@pytest.mark.parametrize("path", PATHS)
async def test_a_client_that_leaves_takes_its_upstream_along(path: str) -> None:
    ended = asyncio.Queue[int | None]()

    async def until_left(socket: ServerConnection) -> None:
        await socket.send("{}")
        with pytest.raises(ConnectionClosed):
            await socket.recv()
        ended.put_nowait(socket.close_code)

    async with asyncio.timeout(BOUND), upstream(until_left):
        async with client(path) as socket:
            await socket.recv()
        assert await ended.get() == 1000
        async with client(path) as socket:
            await socket.recv()
            socket.transport.abort()
        assert await ended.get() == 1000
    by = [frame.data["by"] for frame in hk.log().filter("close")]
    assert by == ["client", "drop"]


@pytest.mark.parametrize("path", PATHS)
async def test_an_upstream_may_close_without_a_code(path: str) -> None:
    async def close_without_a_code(socket: ServerConnection) -> None:
        async with socket.send_context():
            socket.protocol.send_close()

    async with asyncio.timeout(BOUND), upstream(close_without_a_code), client(path) as socket:
        with pytest.raises(ConnectionClosedOK):
            await socket.recv()
        assert socket.close_code == CloseCode.NO_STATUS_RCVD
    assert (hk.log()[-1].event, hk.log()[-1].data["by"]) == ("close", "server")


async def test_what_is_nested_as_deep_as_it_can_be_passes_too() -> None:
    async def nests(socket: ServerConnection) -> None:
        for depth in range(900, 1000):
            await socket.send('{"type": "deep", "a": ' + "[" * depth + "]" * depth + "}")
        await silent(socket)

    async with asyncio.timeout(BOUND), upstream(nests), client("responses") as socket:
        for _ in range(100):
            assert str(await socket.recv()).startswith('{"type": "deep"')


@pytest.mark.parametrize(("path", "kind"), list(zip(PATHS, ["response.create", "session.update"], strict=True)))
async def test_the_secrets_of_a_tool_pass_and_are_not_in_the_log(path: str, kind: str) -> None:
    tool = {"type": "mcp", "server_label": "shop", "authorization": "s3cret", "headers": {"X-Key": "s3cret"}}
    brought = {"type": "additional_tools", "tools": [tool]}
    holder = {"tools": [tool, {"type": "function", "name": "f"}], "input": ["x", brought]}
    sent = json.dumps({"type": kind, **holder, "session": holder, "response": holder})

    async def echo(socket: ServerConnection) -> None:
        async for message in socket:
            await socket.send(message)

    async with asyncio.timeout(BOUND), upstream(echo), client(path) as socket:
        await socket.send(sent)
        assert await socket.recv() == sent, "what passes is as it was"
    assert b"s3cret" not in (current().folder / "log.jsonl").read_bytes()
    for frame in hk.log().filter(kind):
        for found in (frame.data, frame.data["session"], frame.data["response"]):
            assert found["tools"][0]["headers"] == {"X-Key": "<hidden>"}
            assert found["tools"][0]["server_label"] == found["input"][1]["tools"][0]["server_label"] == "shop"


def test_a_clients_secret_is_not_in_the_log() -> None:
    assert masked({"value": "ek_1", "expires_at": 7}) == {"value": "<hidden>", "expires_at": 7}
    assert masked({"session": {"client_secret": {"value": "ek_1"}}}) == {
        "session": {"client_secret": {"value": "<hidden>"}}
    }
    plain = {"type": "x", "tools": [{"type": "function"}], "value": 7, "input": "x"}
    assert masked(plain) is plain
