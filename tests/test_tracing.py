"""Traces of openai-agents stand in the log, and none of them goes to the internet."""

import math
import os
import socketserver
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from agents import (
    Agent,
    GuardrailFunctionOutput,
    OpenAIChatCompletionsModel,
    RunConfig,
    Runner,
    function_tool,
    input_guardrail,
    set_default_openai_client,
    set_tracing_disabled,
)
from agents.tracing import (
    Span,
    Trace,
    TracingProcessor,
    add_trace_processor,
    custom_span,
    get_trace_provider,
    set_trace_processors,
    set_trace_provider,
    trace,
)
from agents.tracing.processors import default_processor
from agents.tracing.provider import DefaultTraceProvider
from openai import AsyncOpenAI

import handoffkit as hk
from handoffkit.connect import Endpoint, current
from handoffkit.errors import TracesStopped
from handoffkit.wire.frames import Frame

FIRST = "My laptop does not charge."


@pytest.fixture(autouse=True)
def provider() -> Iterator[DefaultTraceProvider]:
    """Give each test a provider as a fresh program has it: tracing is on, and its only processor sends to OpenAI."""
    before, fresh = get_trace_provider(), DefaultTraceProvider()
    fresh.register_processor(default_processor())
    fresh.set_disabled(False)
    set_trace_provider(fresh)
    yield fresh
    hk.disconnect()
    set_trace_provider(before)


@pytest.fixture
def client(provider: DefaultTraceProvider) -> None:
    """Connect, and have a client of this test's own event loop."""
    connect()


def connect(*outputs: Any) -> None:
    hk.connect(model=hk.ScriptedModel(outputs=list(outputs)) if outputs else None)
    set_default_openai_client(AsyncOpenAI(), use_for_tracing=False)


def traces() -> list[Frame]:
    return list(hk.log().filter(channel="trace"))


def spans(kind: str) -> list[dict[str, Any]]:
    """Return what the log has of the spans of one kind; the SDK's `custom` ones have their kind within."""
    found = [frame.data["span_data"] for frame in traces() if frame.event == "span_end"]
    return [data for data in found if kind in (data["type"], (data.get("data") or {}).get("sdk_span_type"))]


class Mine(TracingProcessor):
    """A processor as a program sets it."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def on_trace_start(self, trace: Trace) -> None:
        self.seen.append(trace.name)

    def on_trace_end(self, trace: Trace) -> None: ...

    def on_span_start(self, span: Span[Any]) -> None: ...

    def on_span_end(self, span: Span[Any]) -> None: ...

    def shutdown(self) -> None: ...

    def force_flush(self) -> None: ...


@function_tool
def order_status(number: int) -> str:
    """Look an order up."""
    return f"Order {number} is on its way."


@input_guardrail
async def polite(context: object, agent: object, words: object) -> GuardrailFunctionOutput:
    return GuardrailFunctionOutput(output_info=None, tripwire_triggered=False)


# What the log has


async def test_a_trace_stands_in_the_log_with_its_name_group_metadata_and_spans(provider: DefaultTraceProvider) -> None:
    connect(hk.ToolCall("order_status", '{"number": 7}'), hk.ToolCall("transfer_to_billing", "{}"), "Here.")
    billing = Agent(name="Billing", model="gpt-5.2")
    front = Agent(name="Front", model="gpt-5.2", tools=[order_status], handoffs=[billing], input_guardrails=[polite])
    with trace("Two agents", group_id="call-7", metadata={"who": "a learner", "try": 2}):
        await Runner.run(front, "Where is order 7?")
    found = traces()
    assert [frame.event for frame in (found[0], found[-1])] == ["trace_start", "trace_end"]
    assert {frame.event for frame in found[1:-1]} == {"span_end"}
    assert {(frame.conn, frame.label, frame.dir) for frame in found} == {("t1", None, "client")}
    assert found[0].data["workflow_name"] == "Two agents"
    assert found[0].data["group_id"] == "call-7"
    assert found[0].data["metadata"] == {"who": "a learner", "try": 2}
    assert [span["name"] for span in spans("agent")] == ["Front", "Billing"]
    assert [(span["name"], span["input"], span["output"]) for span in spans("function")] == [
        ("order_status", '{"number": 7}', "Order 7 is on its way.")
    ]
    assert [(span["from_agent"], span["to_agent"]) for span in spans("handoff")] == [("Front", "Billing")]
    assert [(span["name"], span["triggered"]) for span in spans("guardrail")] == [("polite", False)]
    assert len(spans("response")) == 3
    assert [span["data"]["agent_name"] for span in spans("turn")] == ["Front", "Front", "Billing"]


async def test_each_span_has_its_times_and_its_parent(client: None) -> None:
    await Runner.run(Agent(name="Support", model="gpt-5.2"), FIRST)
    by_id = {frame.data["id"]: frame.data for frame in traces() if frame.event == "span_end"}
    (response,) = (data for data in by_id.values() if data["span_data"]["type"] == "response")
    assert response["started_at"] < response["ended_at"]
    kinds, span = [], by_id.get(response["id"])
    while span is not None:
        kinds.append(span["span_data"].get("name", "response"))
        span = by_id.get(span["parent_id"])
    assert kinds == ["response", "turn", "Support", "task"]


async def test_a_span_stands_behind_the_exchange_that_it_tells_of(client: None) -> None:
    await Runner.run(Agent(name="Support", model="gpt-5.2"), FIRST)
    order = [frame.event if frame.channel != "trace" else frame.data["object"] for frame in hk.log()]
    first, request = order.index("trace"), order.index("POST /v1/responses")
    assert first < request < order.index("200") < order.index("trace.span")


async def test_traces_side_by_side_are_told_apart_by_their_names(client: None) -> None:
    for name in ("One", "Two"):
        with trace(name), custom_span(f"in {name}"):
            pass
    assert [(frame.conn, frame.event) for frame in traces()] == [
        (conn, event) for conn in ("t1", "t2") for event in ("trace_start", "span_end", "trace_end")
    ]
    assert [frame.event for frame in hk.log().filter(channel="trace", conn="t2")] == [
        "trace_start",
        "span_end",
        "trace_end",
    ]


@pytest.mark.parametrize("sensitive", [True, False])
@pytest.mark.parametrize("api", ["responses", "chat_completions"])
async def test_without_sensitive_data_no_word_of_the_caller_or_a_tool_stands_in_a_trace(
    api: str, sensitive: bool, provider: DefaultTraceProvider
) -> None:
    connect(hk.ToolCall("order_status", '{"number": 7123}'), "It comes on Friday.")
    chat = api == "chat_completions"
    model = OpenAIChatCompletionsModel("gpt-5.2", AsyncOpenAI()) if chat else "gpt-5.2"
    agent = Agent(name="Support", model=model, tools=[order_status])
    config = RunConfig(trace_include_sensitive_data=sensitive)
    await Runner.run(agent, "Where is my violin?", run_config=config)
    words = str([frame.data for frame in traces()])
    assert "Support" in words
    assert ("7123" in words) is sensitive
    # A span of the kind `response` names the response and has no words in any case.
    assert ("violin" in words, "Friday" in words) == (sensitive and chat, sensitive and chat)


async def test_a_key_for_one_run_stands_nowhere_in_the_log(client: None) -> None:
    config = RunConfig(tracing={"api_key": "sk-for-this-run"})
    await Runner.run(Agent(name="Support", model="gpt-5.2"), FIRST, run_config=config)
    assert len(traces()) > 3
    assert "sk-for-this-run" not in (current().folder / "log.jsonl").read_text()


@pytest.mark.parametrize("how", ["the run", "the program"])
async def test_tracing_that_is_off_writes_nothing(how: str, client: None) -> None:
    if how == "the program":
        set_tracing_disabled(True)
    config = RunConfig(tracing_disabled=how == "the run")
    await Runner.run(Agent(name="Support", model="gpt-5.2"), FIRST, run_config=config)
    assert traces() == []


def test_metadata_of_any_kind_becomes_json(client: None) -> None:
    loop: list[Any] = []
    loop.append(loop)
    kinds: dict[Any, Any] = {"path": hk, ("a", 1): 2, "nan": math.nan, "odd": "\ud800"}
    for metadata in (kinds, {"loop": loop}):
        with trace("Any", metadata=metadata):
            pass
    first, _, last, _ = traces()
    assert first.data["metadata"] == {"path": str(hk), "nan": "NaN", "odd": "\ud800"}
    assert last.data == {"object": "trace", "left_out": "no JSON can be made of it (ValueError)"}


def test_what_is_too_long_is_left_out_and_said(client: None) -> None:
    with trace("Long"), custom_span("big", {"picture": "x" * 300_000}):
        pass
    (span,) = (frame.data for frame in traces() if frame.event == "span_end")
    assert span["span_data"] == {"type": "custom", "name": "big"}
    assert span["left_out"].startswith("it has 300,")


# Views


async def test_the_table_has_a_line_for_each(provider: DefaultTraceProvider) -> None:
    connect(hk.ToolCall("order_status", '{"number": 7}'), "Here.")
    agent = Agent(name="Support", model="gpt-5.2", tools=[order_status], input_guardrails=[polite])
    with trace("Orders", group_id="g1", metadata={"who": "me"}):
        await Runner.run(agent, "Where is order 7?")
    shown = str(hk.log().table(limit=None))
    for words in (
        "trace            trace_start         “Orders”, group g1, who me",
        "guardrail polite: passed",
        "function order_status(number=7) → Order 7 is on its way.",
        "turn 1 of Support",
        "agent Support",
        "task “Agent workflow”",
    ):
        assert words in shown, shown
    assert str(hk.log().transcript()) == str(hk.log().filter(channel="realtime").transcript())
    assert hk.log().timeline()
    assert hk.log().turns == []


async def test_a_saved_log_keeps_its_traces_and_a_saved_call_has_none(client: None, tmp_path: Any) -> None:
    from pydantic_ai import Agent as Voice

    async with hk.Call(Voice()) as call:
        await call.send(FIRST)
        await Runner.run(Agent(name="Support", model="gpt-5.2"), FIRST)
    call.save(tmp_path / "call")
    hk.log().save(tmp_path / "log")
    assert len(hk.load(tmp_path / "call").filter(channel="trace")) == 0
    assert [frame.data for frame in hk.load(tmp_path / "log").filter(channel="trace")] == [
        frame.data for frame in traces()
    ]


# Whose word is the last


def processors() -> tuple[object, ...]:
    found: tuple[object, ...] = get_trace_provider()._multi_processor._processors  # type: ignore[attr-defined]
    return found


def test_processors_set_before_stay_and_get_the_same() -> None:
    mine = Mine()
    add_trace_processor(mine)
    hk.connect()
    with trace("Both"):
        pass
    assert mine.seen == ["Both"]
    assert [frame.event for frame in traces()] == ["trace_start", "trace_end"]
    assert default_processor() not in processors()


def test_processors_set_after_are_the_last_word() -> None:
    mine = Mine()
    hk.connect()
    set_trace_processors([mine])
    with trace("Mine alone"):
        pass
    assert mine.seen == ["Mine alone"]
    assert traces() == []
    hk.disconnect()
    assert processors() == (mine,)


def test_disconnecting_puts_things_back() -> None:
    hk.connect()
    hk.connect()
    mine = Mine()
    add_trace_processor(mine)
    hk.disconnect()
    assert processors() == (default_processor(), mine)
    hk.connect()
    assert default_processor() not in processors()
    hk.disconnect()
    assert processors() == (default_processor(), mine)


def test_a_log_that_begins_afresh_counts_its_traces_anew() -> None:
    for _ in range(2):
        hk.connect()
        with trace("One"):
            pass
        assert [frame.conn for frame in traces()] == ["t1", "t1"]


def test_an_endpoint_that_is_gone_stops_no_run(connected: Endpoint) -> None:
    os.kill(connected.pid, 9)
    assert connected._process
    connected._process.wait(10)
    with trace("Nobody listens"):
        pass


def test_an_endpoint_that_hangs_holds_a_run_up_once_and_says_so(
    connected: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    import signal

    os.kill(connected.pid, signal.SIGSTOP)
    try:
        with monkeypatch.context() as hasty:
            hasty.setattr("handoffkit.sdk.tracing._BOUND", 0.2)
            with pytest.warns(TracesStopped, match="took no trace within 0.2 s"), trace("Slow"):
                pass
            with trace("Not tried"):
                pass
    finally:
        os.kill(connected.pid, signal.SIGCONT)
    hk.connect()
    with trace("Again"):
        pass
    assert [frame.data["workflow_name"] for frame in traces()] == ["Again", "Again"]


# Programs, and the internet


class Proxy(socketserver.ThreadingTCPServer):
    """Stands where the internet would begin, refuses everybody and remembers what they wanted."""

    daemon_threads = True

    def __init__(self) -> None:
        self.wanted: list[str] = []
        super().__init__(("127.0.0.1", 0), _Refusal)


class _Refusal(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        assert isinstance(self.server, Proxy)
        self.server.wanted.append(self.rfile.readline().decode().strip())
        self.wfile.write(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n")


@contextmanager
def proxy() -> Generator[Proxy]:
    with Proxy() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def run(script: str, server: Proxy, *before: str, **environment: str) -> str:
    """Run a program that has a key, and must go through *server* to leave this machine; return what it printed."""
    variables = os.environ | environment | {"OPENAI_API_KEY": "sk-not-a-key"}
    variables |= dict.fromkeys(("https_proxy", "HTTPS_PROXY"), f"http://127.0.0.1:{server.server_address[1]}")
    command = [*before, sys.executable, "-c", script]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


RUN = """
import asyncio, sys
assert ("agents" in sys.modules) == BEFORE
from agents import Agent, Runner, flush_traces, trace
asyncio.run(Runner.run(Agent(name="A", model="gpt-5.2"), "Hello."))
flush_traces()
print(len(hk.log().filter("trace_*", channel="trace")))
"""
AFTER = """
hk.disconnect()
from agents.tracing.processors import default_exporter
default_exporter().max_retries = 1
with trace("After"):
    pass
flush_traces()
"""


@pytest.mark.parametrize("first", ["import agents", "from agents import Agent", "import agents.realtime", ""])
def test_whenever_the_sdk_is_imported_nothing_leaves_this_machine_while_connected(first: str) -> None:
    start = f"{first}\nimport handoffkit as hk\nhk.connect()\nBEFORE = {'agents' in first}"
    with proxy() as server:
        assert run(start + RUN, server).splitlines()[-1] == "2"
        assert server.wanted == []


def test_once_disconnected_traces_go_where_they_went_before() -> None:
    with proxy() as server:
        run("import handoffkit as hk\nhk.connect()\nBEFORE = False" + RUN + AFTER, server)
        assert set(server.wanted) == {"CONNECT api.openai.com:443 HTTP/1.1"}


def test_live_too_traces_stay_here(connected: Endpoint) -> None:
    start = f"import handoffkit as hk\nhk.connect('live', upstream={connected.base_url!r})\nBEFORE = False"
    with proxy() as server:
        script = start + RUN.replace("asyncio.run(Runner", "with trace('T'): pass\n0 and asyncio.run(Runner")
        assert run(script, server).splitlines()[-1] == "2"
        assert server.wanted == []


def test_the_variable_that_turns_tracing_off_is_heeded() -> None:
    with proxy() as server:
        start = "import handoffkit as hk\nhk.connect()\nBEFORE = False"
        assert run(start + RUN, server, OPENAI_AGENTS_DISABLE_TRACING="1").splitlines()[-1] == "0"
        assert server.wanted == []


def test_a_module_of_the_learners_own_that_is_called_agents_is_left_alone(tmp_path: Any) -> None:
    (tmp_path / "agents").mkdir()
    for name in ("__init__.py", "tracing.py"):
        (tmp_path / "agents" / name).write_text("mine = True\n")
    with proxy() as server:
        script = "import handoffkit as hk\nhk.connect()\nimport agents.tracing\nprint(agents.tracing.mine)"
        assert run(script, server, PYTHONPATH=str(tmp_path)).splitlines()[-1] == "True"


PLAIN = """
import asyncio
from agents import Agent, ModelSettings, Runner, flush_traces
from agents.tracing.processors import default_exporter
default_exporter().max_retries = 1
asyncio.run(Runner.run(Agent(name="A", model="gpt-5.2"), "Hello."))
flush_traces()
"""


@pytest.mark.parametrize(("asked", "sent"), [({}, False), ({"OPENAI_AGENTS_DISABLE_TRACING": "0"}, True)])
def test_a_plain_program_at_the_endpoint_sends_no_traces_unless_asked(asked: dict[str, str], sent: bool) -> None:
    with proxy() as server:
        run(PLAIN, server, sys.executable, "-m", "handoffkit", "endpoint", "--", **asked)
        assert bool(server.wanted) is sent
