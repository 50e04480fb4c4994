"""What a user hangs on a RealtimeAgent reaches it in a `Call` too: which agent and which context each of it gets.

A call works on copies of its agents; none of that may be seen from here.
"""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from agents import GuardrailFunctionOutput, RunContextWrapper, function_tool, output_guardrail
from agents.lifecycle import AgentHooksBase
from agents.mcp import MCPServerStdio
from agents.realtime import RealtimeAgent, RealtimeRunner, realtime_handoff
from agents.tool_context import ToolContext
from conftest import ROOT
from pydantic import BaseModel

import handoffkit as hk
from handoffkit.connect import Endpoint
from handoffkit.errors import ReplyTimeout, ToolRaised, WrongOption

ASKS = "I was charged twice."
TO_BILLING = hk.ToolCall("transfer_to_billing", "{}")
LOOK = hk.ToolCall("look", "{}")


def scripted(*lines: Any, faults: tuple[hk.Fault, ...] = ()) -> None:
    hk.connect(model=hk.ScriptedModel(list(lines)), faults=faults)


def outputs(call: hk.Call) -> list[Any]:
    """Return what the agent's tools and transfers gave, in order."""
    return [tool.output for turn in call.turns for tool in turn.tools]


def offered(call: hk.Call) -> list[list[str]]:
    """Return the names of the tools that were offered, each time that the client said so."""
    sent = [frame.data["session"] for frame in call.log.filter("session.update", dir="client")]
    return [[tool["name"] for tool in session["tools"]] for session in sent if "tools" in session]


# Hooks


class Heard(AgentHooksBase[Any, Any]):
    """Hooks that keep what they hear."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    async def on_start(self, context: Any, agent: Any) -> None:
        self.heard.append("start")

    async def on_end(self, context: Any, agent: Any, output: Any) -> None:
        self.heard.append("end")

    async def on_handoff(self, context: Any, agent: Any, source: Any) -> None:
        self.heard.append("handoff")

    async def on_tool_start(self, context: Any, agent: Any, tool: Any) -> None:
        self.heard.append("tool start")

    async def on_tool_end(self, context: Any, agent: Any, tool: Any, result: Any) -> None:
        self.heard.append("tool end")


async def test_the_sdks_realtime_sessions_call_no_hooks_and_so_a_call_does_not(connected: Endpoint) -> None:
    """openai-agents 0.24 never reads the field `RealtimeAgent.hooks`; a version that does will be noticed here."""

    @function_tool
    def look() -> str:
        """Look."""
        return "seen"

    hooks = Heard()
    billing = RealtimeAgent(name="Billing", hooks=hooks)
    front = RealtimeAgent(name="Front", hooks=hooks, tools=[look], handoffs=[billing])
    lines = [LOOK, "I have looked.", TO_BILLING, "Billing, good morning."]
    scripted(*lines)
    async with hk.Call(front) as call:
        await call.send(ASKS)
        await call.send("Billing, please.")
    assert outputs(call) == ["seen", '{"assistant": "Billing"}']
    scripted(*lines)
    url = f"{connected.base_url.replace('http', 'ws', 1)}/realtime?model=gpt-realtime"
    config: Any = {"url": url, "api_key": connected.token}
    async with await RealtimeRunner(front).run(model_config=config) as session:
        await session.send_message(ASKS)
        async for _ in session:
            if hk.log().ends:
                break
    assert hooks.heard == []


def test_there_is_no_option_for_hooks_of_a_run(connected: Endpoint) -> None:
    with pytest.raises(WrongOption, match="found `hooks`"):
        hk.Call(RealtimeAgent(name="Front"), hooks=Heard())


# Agents of one's own, and what is asked about them


class Desk(RealtimeAgent[Any]):
    """An agent with a constructor of its own, as the SDK's sessions take it."""

    def __init__(self, name: str, room: int) -> None:
        super().__init__(name=name, instructions=f"You are {name}.")
        self.room = room


async def test_an_agent_of_a_class_of_ones_own(connected: Endpoint) -> None:
    @function_tool
    def look(context: ToolContext[Any]) -> str:
        """Look where the agent is."""
        assert isinstance(context.agent, Desk)
        return f"room {context.agent.room}"

    front = Desk("Front", 12)
    front.tools.append(look)
    scripted(LOOK, "Room twelve.")
    async with hk.Call(front) as call:
        reply = await call.send("Where are you?")
    assert (reply.text, reply.instructions, outputs(call)) == ("Room twelve.", "You are Front.", ["room 12"])


async def test_what_is_asked_about_an_agent_gets_the_users_own(connected: Endpoint) -> None:
    asked: dict[str, Any] = {}

    def keeps(name: str) -> Callable[[RunContextWrapper[Any], Any], bool]:
        return lambda context, agent: asked.setdefault(name, (context.context, agent)) is not None

    def instructions(context: RunContextWrapper[Any], agent: Any) -> str:
        return f"You are {agent.name} and know {', '.join(other.name for other in agent.handoffs)}."

    @function_tool(is_enabled=keeps("tool"))
    def look(context: ToolContext[Any]) -> str:
        """Look."""
        asked["look"] = context.context, context.agent
        return "seen"

    sales = RealtimeAgent(name="Sales")
    billing = RealtimeAgent(name="Billing", instructions=instructions, tools=[look], handoffs=[sales])
    front = RealtimeAgent(name="Front", handoffs=[realtime_handoff(billing, is_enabled=keeps("handoff"))])
    scripted(TO_BILLING, LOOK, "I have looked.")
    context = object()
    async with hk.Call(front, context=context) as call:
        reply = await call.send(ASKS)
    assert reply.instructions == "You are Billing and know Sales."
    assert asked == {"handoff": (context, front), "tool": (context, billing), "look": (context, billing)}
    assert all(agent is (front if name == "handoff" else billing) for name, (_, agent) in asked.items())


async def test_what_is_changed_in_an_agent_counts_when_it_has_the_call_next(connected: Endpoint) -> None:
    @function_tool
    def look() -> str:
        """Look."""
        return "seen"

    billing = RealtimeAgent(name="Billing", instructions="You are billing.")
    front = RealtimeAgent(name="Front", instructions="You are nobody.")
    scripted("Front desk.", TO_BILLING, LOOK, "I have looked.")
    call = hk.Call(front)
    front.instructions = "You are the front desk."
    front.handoffs.append(billing)
    async with call:
        assert (await call.send("Hello.")).instructions == "You are the front desk."
        billing.instructions = "You are the new billing."
        billing.tools.append(look)
        assert (await call.send(ASKS)).instructions == "You are the new billing."
    assert offered(call) == [["transfer_to_billing"], ["look"]]


async def test_tools_are_offered_as_the_context_has_it_when_an_agent_takes_over(connected: Endpoint) -> None:
    async def known(context: RunContextWrapper[set[str]], agent: Any) -> bool:
        return "number" in context.context

    @function_tool(is_enabled=known)
    def refund() -> str:
        """Refund the order."""
        return "refunded"

    @function_tool
    def look(context: RunContextWrapper[set[str]]) -> str:
        """Look the number up."""
        context.context.add("number")
        return "seen"

    billing = RealtimeAgent(name="Billing", tools=[refund])
    front = RealtimeAgent(name="Front", tools=[look, refund], handoffs=[billing])
    scripted(LOOK, TO_BILLING, hk.ToolCall("refund", "{}"), "Done.")
    async with hk.Call(front, context=set()) as call:
        assert (await call.send(ASKS)).text == "Done."
    assert offered(call) == [["look", "transfer_to_billing"], ["refund"]]
    assert outputs(call) == ["seen", '{"assistant": "Billing"}', "refunded"]


async def test_a_stored_prompt_reaches_the_session_of_whoever_has_the_call(connected: Endpoint) -> None:
    prompt: Any = {"id": "pmpt_1", "version": "2", "variables": {"shop": "Main Street"}}
    billing = RealtimeAgent(name="Billing", prompt={"id": "pmpt_2", "version": "1"})
    front = RealtimeAgent(name="Front", prompt=prompt, handoffs=[billing])
    scripted("Front desk.", TO_BILLING, "Billing.")
    async with hk.Call(front) as call:
        await call.send("Hello.")
        await call.send(ASKS)
    sent = [frame.data["session"] for frame in call.log.filter("session.update", dir="client")]
    prompts = [session["prompt"] for session in sent if "prompt" in session]
    assert prompts == [prompt, {"id": "pmpt_2", "version": "1", "variables": None}]
    assert "error" not in {frame.event for frame in call.log}


RUN: Any = {
    "model_name": "gpt-realtime-mini",
    "audio": {
        "input": {"turn_detection": {"type": "server_vad", "silence_duration_ms": 700}},
        "output": {"speed": 1.2},
    },
}
"""Settings of a session as openai-agents' own pages write them, in the config of the run."""


@pytest.mark.parametrize("where", ["run_config", "model_settings"])
async def test_settings_of_the_run_are_in_force_whatever_voice_is_asked_for(where: str, connected: Endpoint) -> None:
    hk.connect(model={name: hk.ScriptedModel([name]) for name in ("gpt-realtime", "gpt-realtime-mini")})
    given: Any = {where: {"model_settings": RUN} if where == "run_config" else RUN}
    async with hk.Call(RealtimeAgent(name="Front"), voice="marin", **given) as call:
        assert (await call.send(ASKS)).text == "gpt-realtime-mini"
    opened = next(frame.data["model"] for frame in call.log if frame.event == "open")
    sent = call.log.filter("session.update", dir="client")[0].data["session"]
    assert (opened, sent["model"]) == ("gpt-realtime-mini", "gpt-realtime-mini")
    assert sent["audio"]["input"]["turn_detection"] == RUN["audio"]["input"]["turn_detection"]
    assert (sent["audio"]["output"]["speed"], sent["audio"]["output"]["voice"]) == (1.2, "marin")


@pytest.mark.usefixtures("speech")
async def test_a_caller_who_speaks_stops_the_agent_also_where_the_service_would_not(connected: Endpoint) -> None:
    """With `interrupt_response: False` the service lets the reply run; this SDK cancels it, then more than ever."""
    laptop = ROOT / "audio" / "laptop-will-not-charge"
    hk.connect(model={"gpt-realtime": hk.ScriptedModel(["Let me explain that in some detail. " * 15, "Yes?"])})
    detection: Any = {"type": "server_vad", "silence_duration_ms": 700, "interrupt_response": False}
    async with hk.Call(RealtimeAgent(name="Front"), model_settings={"turn_detection": detection}) as call:
        first = asyncio.create_task(call.send_audio(laptop / "turn-1.wav"))
        async with asyncio.timeout(60):
            async for _ in hk.log().follow("response.output_audio.delta", label=call.label):
                break
        over = await call.send_audio(laptop / "turn-2.wav", over=True)
        assert (await first).interrupted
    assert over.text == "Yes?"
    assert len(call.log.filter("response.cancel", dir="client")) == 1
    assert [end.verdict for end in call.log.ends] == ["interrupted", "complete"]


# Handoffs


class Why(BaseModel):
    """What a transfer has to say."""

    reason: str


async def test_a_handoff_of_ones_own_is_carried_out_as_it_says(connected: Endpoint) -> None:
    told: list[Any] = []

    async def on_handoff(context: RunContextWrapper[Any], why: Why) -> None:
        told.append((context.context, why.reason))

    async def closed(context: RunContextWrapper[Any], agent: Any) -> bool:
        return False

    billing = RealtimeAgent(name="Billing", instructions="You are billing.")
    handoff = realtime_handoff(
        billing,
        on_handoff=on_handoff,
        input_type=Why,
        tool_name_override="to_the_desk",
        tool_description_override="For money.",
    )
    sales = realtime_handoff(RealtimeAgent(name="Sales"), is_enabled=closed)
    scripted(hk.ToolCall("to_the_desk", '{"reason": "charged twice"}'), "Billing, good morning.")
    async with hk.Call(RealtimeAgent(name="Front", handoffs=[handoff, sales]), context=7) as call:
        reply = await call.send(ASKS)
    assert (told, reply.instructions) == ([(7, "charged twice")], "You are billing.")
    assert offered(call) == [["to_the_desk"], []]
    assert [str(mark) for mark in call.log.marks if mark.kind == "live_handoff"] == ["The call was handed to Billing."]


@pytest.mark.parametrize("side_by_side", [True, False])
@pytest.mark.parametrize("arguments", ['{"reason": "no desk"}', '{"wrong": 1}'])
async def test_a_transfer_that_raises_leaves_the_call_where_it_was(
    arguments: str, side_by_side: bool, connected: Endpoint
) -> None:
    """Its function raises, or the model has given it what it does not take; the SDK would end the whole session."""

    def on_handoff(context: RunContextWrapper[Any], why: Why) -> None:
        raise LookupError(why.reason)

    handoff = realtime_handoff(RealtimeAgent(name="Billing"), on_handoff=on_handoff, input_type=Why)
    front = RealtimeAgent(name="Front", instructions="You are the front desk.", handoffs=[handoff])
    scripted(hk.ToolCall("transfer_to_billing", arguments), "I could not transfer you.", "Still here.")
    async with hk.Call(front, run_config={"async_tool_calls": side_by_side}) as call:
        with pytest.raises(ToolRaised, match="the call goes on") as raised:
            await call.send(ASKS)
        assert "It was the transfer 'transfer_to_billing'." in getattr(raised.value.__cause__, "__notes__", [])
        again = await call.send("Hello?")
    assert (again.text, again.instructions) == ("Still here.", "You are the front desk.")
    assert outputs(call) == ["The transfer failed."]
    assert not [mark for mark in call.log.marks if mark.kind in ("live_handoff", "silence")]


@pytest.mark.parametrize("side_by_side", [True, False])
async def test_where_the_first_of_two_transfers_raises_the_second_counts(
    side_by_side: bool, connected: Endpoint
) -> None:
    def on_handoff(context: RunContextWrapper[Any]) -> None:
        raise LookupError("no desk")

    billing = realtime_handoff(RealtimeAgent(name="Billing"), on_handoff=on_handoff)
    sales = RealtimeAgent(name="Sales", instructions="You are sales.")
    scripted([TO_BILLING, hk.ToolCall("transfer_to_sales", "{}")], "Sales, good morning.")
    front = RealtimeAgent(name="Front", handoffs=[billing, sales])
    async with hk.Call(front, run_config={"async_tool_calls": side_by_side}) as call:
        with pytest.raises(ToolRaised, match="no desk"):
            await call.send(ASKS)
    assert [(turn.text, turn.instructions) for turn in call.turns[-1:]] == [("Sales, good morning.", "You are sales.")]
    assert sorted(outputs(call)) == ["The transfer failed.", '{"assistant": "Sales"}']
    assert len(call.log.filter("response.create", dir="client")) == 2


# MCP servers

ORDERS = """
import os
try:
    from mcp.server.mcpserver import MCPServer
except ImportError:  # before 2.0
    from mcp.server.fastmcp import FastMCP as MCPServer
server = MCPServer("orders")

@server.tool()
def order_status(number: int) -> str:
    "Look an order up."
    return f"order {number} is on its way" if number else os._exit(1)

server.run()
"""


def order(number: int) -> hk.ToolCall:
    return hk.ToolCall("order_status", f'{{"number": {number}}}')


@pytest.fixture
def server(tmp_path: Path) -> MCPServerStdio:
    (tmp_path / "orders.py").write_text(ORDERS)
    params: Any = {"command": sys.executable, "args": [str(tmp_path / "orders.py")]}
    return MCPServerStdio(params, client_session_timeout_seconds=30)


async def test_a_server_of_tools_serves_the_agent_and_the_one_that_takes_over(
    server: MCPServerStdio, connected: Endpoint
) -> None:
    scripted(order(7), "It is on its way.", TO_BILLING, order(8), "So is the other.")
    async with server:
        billing = RealtimeAgent(name="Billing", mcp_servers=[server])
        async with hk.Call(RealtimeAgent(name="Front", mcp_servers=[server], handoffs=[billing])) as call:
            assert (await call.send("Where is order 7?")).text == "It is on its way."
            assert (await call.send("Billing: order 8.")).text == "So is the other."
    assert offered(call) == [["order_status", "transfer_to_billing"], ["order_status"]]
    assert ["on its way" in output for output in outputs(call)] == [True, False, True]


async def test_a_server_of_tools_that_dies_ends_no_call(server: MCPServerStdio, connected: Endpoint) -> None:
    """With `failure_error_function` None its tools raise, as any other tool may."""
    scripted(order(0), "I cannot look.", "Goodbye.")
    async with server:
        front = RealtimeAgent(name="Front", mcp_servers=[server], mcp_config={"failure_error_function": None})
        async with hk.Call(front) as call:
            with pytest.raises(ToolRaised, match="return a value, or give it a `failure_error_function=`"):
                await call.send("Where is it?")
            assert (await call.send("Thank you.")).text == "Goodbye."
    assert outputs(call) == ["The tool failed."]


# Tools that need a yes, that take long


async def test_a_yes_is_asked_for_as_the_tool_says_and_from_whoever_has_the_call(connected: Endpoint) -> None:
    async def much(context: RunContextWrapper[Any], arguments: dict[str, Any], call_id: str) -> bool:
        return bool(arguments["amount"] > context.context)

    @function_tool(needs_approval=much)
    def refund(amount: int) -> str:
        """Refund."""
        return f"refunded {amount}"

    billing = RealtimeAgent(name="Billing", tools=[refund])
    calls = [hk.ToolCall("refund", f'{{"amount": {amount}}}') for amount in (5, 500)]
    scripted(TO_BILLING, calls[0], "Five.", calls[1], "Too much.")
    async with hk.Call(RealtimeAgent(name="Front", handoffs=[billing]), context=100) as call:
        call.approvals.patience = 0.2
        with call.approvals.watch(lambda: None):
            assert (await call.send(ASKS)).text == "Five."
            assert (await call.send("And five hundred.")).text == "Too much."
    assert outputs(call)[1:] == ["refunded 5", "Nobody approved the call within 0.2 seconds."]


async def test_hanging_up_while_a_tool_call_waits_for_a_yes_is_no_failure(connected: Endpoint) -> None:
    @function_tool(needs_approval=True)
    def refund() -> str:
        """Refund."""
        raise AssertionError("nobody has said yes")

    scripted(hk.ToolCall("refund", "{}"))
    asked = asyncio.Event()
    async with hk.Call(RealtimeAgent(name="Billing", tools=[refund])) as call:
        with call.approvals.watch(asked.set):
            sending = asyncio.create_task(call.send(ASKS))
            async with asyncio.timeout(20):
                await asked.wait()
                await call.hang_up()
                await asyncio.wait([sending])
    assert not call.approvals.pending
    assert [end.verdict for end in call.log.ends] == ["interrupted"]


async def test_a_tool_that_takes_longer_than_the_patience_is_named_and_its_reply_still_comes(
    connected: Endpoint,
) -> None:
    done = asyncio.Event()

    @function_tool
    async def look() -> str:
        """Look."""
        await done.wait()
        return "seen"

    scripted(LOOK, "I have looked.", "Goodbye.")
    async with hk.Call(RealtimeAgent(name="Front", tools=[look]), reply_timeout=1) as call:
        with pytest.raises(ReplyTimeout, match="while the tool look has not returned anything"):
            await call.send("Look.")
        done.set()
        async with asyncio.timeout(20):
            while not call.log.ends:  # noqa: ASYNC110  nobody waits for this reply any more
                await asyncio.sleep(0.02)
        assert (await call.send("Thank you.")).text == "Goodbye."
    assert [turn.text for turn in call.turns if turn.speaker == "agent" and turn.text] == ["I have looked.", "Goodbye."]
    assert [end.verdict for end in call.log.ends] == ["complete"] * 2


async def test_a_tool_that_awaits_what_is_cancelled_has_failed_and_the_call_goes_on(connected: Endpoint) -> None:
    """The SDK's task would end without a word: the agent would wait for the tool, and `send` be refused for ever."""

    @function_tool
    async def look() -> str:
        """Look."""
        looking = asyncio.create_task(asyncio.sleep(3600))
        looking.cancel()
        await looking
        return "seen"

    scripted(LOOK, "I cannot look.", "Goodbye.")
    async with hk.Call(RealtimeAgent(name="Front", tools=[look]), reply_timeout=10) as call:
        with pytest.raises(ToolRaised, match="awaited something that was cancelled"):
            await call.send("Look.")
        assert (await call.send("Thank you.")).text == "Goodbye."
    assert outputs(call) == ["The tool failed."]


# Guardrails


def stops(word: str, seen: list[Any], seconds: float = 0.0) -> Any:
    @output_guardrail(name=f"no_{word}")
    async def guardrail(context: RunContextWrapper[Any], agent: Any, output: str) -> GuardrailFunctionOutput:
        await asyncio.sleep(seconds)
        seen.append((context.context, agent.name))
        return GuardrailFunctionOutput(None, tripwire_triggered=word in output)

    return guardrail


async def test_the_guardrails_of_the_agent_that_has_taken_over_and_of_the_run(connected: Endpoint) -> None:
    seen: list[Any] = []
    billing = RealtimeAgent(name="Billing", output_guardrails=[stops("secret", seen)])
    front = RealtimeAgent(name="Front", handoffs=[billing])
    lines = "A secret of the front desk's.", TO_BILLING, "The secret is out, " * 20, "Sorry.", "A rude word.", "Sorry!"
    late = hk.Fault("response.output_audio_transcript.done", "delay", nth=2, seconds=2)  # else it may be over by then
    scripted(*lines, faults=(late,))
    config: Any = {"guardrails_settings": {"debounce_text_length": 5}, "output_guardrails": [stops("rude", seen)]}
    async with hk.Call(front, context=7, run_config=config) as call:
        assert (await call.send("Hello.")).text == "A secret of the front desk's."
        assert (await call.send(ASKS)).text == "Sorry."
    assert {(7, "Front"), (7, "Billing")} == set(seen)
    assert not [turn for turn in call.turns if turn.speaker == "caller" and "guardrail" in turn.text]


async def test_a_guardrail_that_raises_stops_nothing(connected: Endpoint) -> None:
    @output_guardrail
    def broken(context: Any, agent: Any, output: str) -> GuardrailFunctionOutput:
        raise LookupError("broken")

    scripted("One.", "Two.")
    config: Any = {"guardrails_settings": {"debounce_text_length": 1}}
    async with hk.Call(RealtimeAgent(name="Front", output_guardrails=[broken]), run_config=config) as call:
        assert [(await call.send(text)).text for text in ("A.", "B.")] == ["One.", "Two."]
