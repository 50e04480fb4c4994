"""Live: everything is sent on. A second endpoint stands for the service, so nothing leaves this machine."""

import asyncio
import json
import os
from collections.abc import Generator
from typing import Any

import openai
import pytest
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.exceptions import ModelHTTPError
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, RequestHandler

import handoffkit as hk
from handoffkit.connect import Endpoint, _message, current

FIRST = "My laptop does not charge."


class Ticket(BaseModel):
    summary: str


@pytest.fixture
def service() -> Generator[Endpoint]:
    """Return another endpoint process, which plays the service."""
    endpoint = Endpoint()
    yield endpoint
    endpoint.stop()


def live(service: Endpoint, monkeypatch: pytest.MonkeyPatch, *, key: str | None = None, **options: object) -> None:
    """Serve *options* (a model, faults) upstream, and connect to it with its key or a wrong one."""
    service.configure(_message("simulated", options.get("model"), None, options.get("faults", ())))  # type: ignore[arg-type]
    hk.disconnect()
    monkeypatch.setenv("OPENAI_API_KEY", key or service.token)
    hk.connect("live", upstream=service.base_url)


def upstream_log(service: Endpoint) -> hk.EventLog:
    return hk.EventLog(service.folder)


async def test_a_realtime_call_passes_both_ways(service: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    live(service, monkeypatch, model=hk.ScriptedModel(["From upstream."]))
    async with hk.Call(Agent()) as call:
        reply = await call.send(FIRST)
    assert reply.text == "From upstream."
    here, there = call.log, upstream_log(service)
    passed = [(f.dir, f.event, f.data, f.audio) for f in here if f.event not in ("open", "close")]
    arrived = [(f.dir, f.event, f.data, f.audio) for f in there if f.event not in ("open", "close")]
    assert len(passed) > 10
    for direction in ("client", "server"):
        assert [x for x in passed if x[0] == direction] == [x for x in arrived if x[0] == direction]
    assert {frame.label for frame in there} == {None}, "what the label says stays here"


async def test_requests_over_http_and_sse_pass_both_ways(service: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    live(service, monkeypatch)
    client = openai.AsyncOpenAI()
    whole = await client.responses.create(model="gpt-5.2", input=FIRST, extra_headers={"x-handoffkit-handoff": "h-1"})
    async with await client.responses.create(model="gpt-5.2", input=FIRST, stream=True) as stream:
        events = [event.type async for event in stream]
    chat = await client.chat.completions.create(model="gpt-5.2", messages=[{"role": "user", "content": FIRST}])
    assert whole.output_text
    assert chat.choices[0].message.content
    assert events[0] == "response.created"
    assert events[-1] == "response.completed"
    assert [f.label for f in hk.log() if f.event == "POST /v1/responses"] == ["h-1", None]
    assert {f.label for f in upstream_log(service)} == {None}
    streamed = [f.event for f in hk.log() if f.conn == "c2" and f.dir == "server" and f.event != "close"]
    assert streamed == events


async def test_a_typed_result_comes_through_the_relay(service: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    live(service, monkeypatch, model=hk.ScriptedModel(outputs=[{"summary": "No charge."}]))
    result = await Agent("openai:gpt-5.2", output_type=Ticket).run(FIRST)
    assert result.output == Ticket(summary="No charge.")


async def test_the_key_goes_upstream_and_nowhere_else(service: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    live(service, monkeypatch)
    assert os.environ["OPENAI_API_KEY"] == current().token != service.token
    async with hk.Call(Agent()) as call:
        await call.send(FIRST)
    files = [file for file in current().folder.rglob("*") if file.is_file()]
    assert all(service.token.encode() not in file.read_bytes() for file in files)
    assert service.token not in repr(vars(current()))


async def test_a_wrong_key_is_refused_in_the_services_words(service: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    live(service, monkeypatch, key="sk-wrong")
    with pytest.raises(openai.AuthenticationError, match="Incorrect API key"):
        await openai.AsyncOpenAI().responses.create(model="gpt-5.2", input=FIRST)
    with pytest.raises(ModelHTTPError) as refused:
        await hk.Call(Agent()).start()
    assert refused.value.status_code == 401
    assert "sk-wrong" not in json.dumps([frame.data for frame in hk.log()])


async def test_an_upstream_that_is_not_there_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    hk.disconnect()
    hk.connect("live", upstream="http://127.0.0.1:9/v1")
    with pytest.raises(openai.InternalServerError, match=r"127\.0\.0\.1:9/v1 cannot be reached"):
        await openai.AsyncOpenAI(max_retries=0).responses.create(model="gpt-5.2", input=FIRST)
    with pytest.raises(ModelHTTPError) as refused:
        await hk.Call(Agent()).start()
    assert refused.value.status_code == 502


@pytest.mark.parametrize("action", ["close", "abort"])
async def test_an_upstream_that_leaves_in_the_middle(
    action: str, service: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    fault = hk.Fault("response.output_audio_transcript.done", action)  # type: ignore[arg-type]
    live(service, monkeypatch, faults=(fault,))
    async with hk.Call(Agent()) as call:
        with pytest.raises(hk.errors.ReplyFailed):
            await call.send(FIRST)
    assert call.log[-1].event == "close"


@pytest.mark.parametrize("streamed", [False, True])
async def test_who_leaves_before_the_answer_takes_the_upstream_along(
    streamed: bool, service: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    event = "response.in_progress" if streamed else "POST /v1/responses"
    live(service, monkeypatch, faults=(hk.Fault(event, "delay", seconds=600),))
    create: Any = openai.AsyncOpenAI().responses.create
    leaving = asyncio.create_task(read_all(create(model="gpt-5.2", input=FIRST, stream=streamed)))
    await anext(service.log().follow("fault", idle_timeout=10))
    leaving.cancel()
    for log in (hk.log(), service.log()):
        close = await anext(log.follow("close", idle_timeout=10))
        assert close.data["by"] == "drop"


async def read_all(answer: Any) -> None:
    """Wait for an answer, and for all the events of one that is streamed."""
    came = await answer
    if hasattr(came, "__aiter__"):
        async for _ in came:
            pass


async def test_files_and_sound_pass_both_ways_and_the_log_has_their_size(monkeypatch: pytest.MonkeyPatch) -> None:
    arrived: list[bytes] = []

    class Files(RequestHandler):
        def post(self, path: str) -> None:
            arrived.append(self.request.files["file"][0].body if path == "files" else self.request.body)
            self.set_header("Content-Type", "application/json" if path == "files" else "audio/mpeg")
            self.finish('{"id": "file-1", "object": "file"}' if path == "files" else b"\xff\xfb\x90")

        def delete(self, path: str) -> None:
            self.set_status(204)

    [socket] = bind_sockets(0, "127.0.0.1")
    server = HTTPServer(Application([(r"/v1/(.*)", Files)]))
    server.add_socket(socket)
    hk.disconnect()
    hk.connect("live", upstream=f"http://127.0.0.1:{socket.getsockname()[1]}/v1")
    client = openai.AsyncOpenAI()
    assert (await client.files.create(file=("a.bin", b"\x00\xff"), purpose="user_data")).id == "file-1"
    assert (await client.audio.speech.create(model="tts-1", voice="alloy", input="Hi.")).content == b"\xff\xfb\x90"
    await client.containers.delete("cntr_1")
    server.stop()
    assert arrived[0] == b"\x00\xff"
    seen = {(frame.conn, frame.event): frame.data for frame in hk.log()}
    assert seen["c1", "POST /v1/files"].keys() == seen["c2", "200"].keys() == {"bytes"}
    assert seen["c1", "200"]["id"] == "file-1"
    assert ("c3", "204") in seen


async def test_a_chat_that_is_streamed_ends_with_its_last_word_whenever_the_upstream_closes() -> None:
    over = asyncio.Event()
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    chunk |= {"choices": [{"index": 0, "delta": {"content": "Hi."}, "finish_reason": "stop"}]}

    class Lingering(RequestHandler):
        async def post(self) -> None:
            self.set_header("Content-Type", "text/event-stream")
            self.write(f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n")
            await self.flush()
            await over.wait()

    [socket] = bind_sockets(0, "127.0.0.1")
    server = HTTPServer(Application([("/v1/chat/completions", Lingering)]))
    server.add_socket(socket)
    hk.disconnect()
    hk.connect("live", upstream=f"http://127.0.0.1:{socket.getsockname()[1]}/v1")
    asked: Any = {"model": "m", "messages": [{"role": "user", "content": FIRST}], "stream": True}
    async with await openai.AsyncOpenAI().chat.completions.create(**asked) as stream:
        said = [each.choices[0].delta.content async for each in stream]
    close = await anext(hk.log().follow("close", idle_timeout=10))
    over.set()
    server.stop()
    assert (said, close.data["by"]) == (["Hi."], "server")


async def test_a_preset_base_url_is_the_upstream(service: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    service.configure(_message("simulated", hk.ScriptedModel(["From upstream."]), None, ()))
    hk.disconnect()
    monkeypatch.setenv("OPENAI_API_KEY", service.token)
    monkeypatch.setenv("OPENAI_BASE_URL", service.base_url)
    hk.connect("live")
    async with hk.Call(Agent()) as call:
        assert (await call.send(FIRST)).text == "From upstream."


async def test_a_text_model_writes_the_replies_of_a_simulated_voice(
    service: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.configure(_message("simulated", hk.ScriptedModel(outputs=["Is the light on?"]), None, ()))
    hk.disconnect()
    monkeypatch.setenv("LOCAL_KEY", service.token)
    hk.connect(model=hk.TextModel("llama3.2", upstream=service.base_url, key_env="LOCAL_KEY"))
    async with hk.Call(Agent(instructions="Support agent.")) as call:
        assert (await call.send(FIRST)).text == "Is the light on?"
    asked = next(frame for frame in upstream_log(service) if frame.event == "POST /v1/chat/completions")
    assert [message["role"] for message in asked.data["messages"]] == ["system", "user"]
    hk.connect(model=hk.TextModel("llama3.2", upstream=service.base_url))
    async with hk.Call(Agent(instructions="Support agent.")) as call:
        with pytest.raises(hk.errors.ReplyFailed, match="key"):
            await call.send(FIRST)
