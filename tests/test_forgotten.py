"""A forgotten `await` is said in a sentence, every time, and stands in the log: in a script, a task and a notebook."""

import asyncio
import gc
import inspect
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import agents
import agents.realtime
import pydantic_ai
import pydantic_ai.realtime
import pytest
from kernel import Kernel

import handoffkit as hk
from handoffkit import forgotten
from handoffkit.connect import Endpoint, current
from handoffkit.marks import ForgottenAwait
from handoffkit.views.lanes import score
from handoffkit.widgets.state.events import Events
from handoffkit.widgets.state.rows import Rows

SENT = "ForgottenAwait: `Call.send` was called without `await`, so the turn was not sent. Write `await call.send(...)`."


def marks() -> list[str]:
    return [str(mark) for mark in hk.log().marks if isinstance(mark, ForgottenAwait)]


def forget(coroutine: object) -> None:
    """Take a coroutine and do nothing with it, as a line without `await` does."""


@pytest.fixture(autouse=True)
def heard(connected: Endpoint) -> Iterator[list[str]]:
    """Return what is said, as it reaches whoever shows warnings; leave no hook behind, whatever was put over it."""
    gc.collect()  # what other tests have left behind says so now
    before, said = warnings.showwarning, list[str]()

    def hear(message: Warning | str, category: type[Warning], *where: object) -> None:
        said.append(f"{category.__name__}: {message}")

    warnings.showwarning = hear  # type: ignore[assignment]
    hk.connect()
    yield said
    warnings.showwarning = before


@pytest.fixture
def call(heard: list[str]) -> hk.Call:
    """A call of which no coroutine is awaited, so it never starts."""
    return hk.Call(pydantic_ai.Agent())


# What is noticed


def public_coroutines(kind: type[Any]) -> set[str]:
    """Return the qualified names of what a class has to be awaited, as Python's warning gives them."""
    found = (getattr(kind, name) for name in dir(kind) if not name.startswith("_"))
    return {method.__qualname__ for method in found if inspect.iscoroutinefunction(method)}


@pytest.mark.parametrize(
    "kind", [hk.Call, agents.realtime.RealtimeSession, pydantic_ai.realtime.RealtimeSession, agents.Runner]
)
def test_every_verb_of_a_call_a_session_and_a_run_is_known(kind: type[Any]) -> None:
    assert public_coroutines(kind) - {"RealtimeSession.on_event"} <= set(forgotten.VERBS)


def test_no_verb_is_known_that_is_not_there() -> None:
    there = set.union(
        *map(public_coroutines, (hk.Call, agents.Runner, agents.realtime.RealtimeRunner, pydantic_ai.Agent)),
        *map(public_coroutines, (agents.realtime.RealtimeSession, pydantic_ai.realtime.RealtimeSession)),
        {hk.handoff.__qualname__},
    )
    bare = {verb.name.rpartition(".")[2] for verb in forgotten.VERBS.values()}
    assert bare == {name.rpartition(".")[2] for name in there & set(forgotten.VERBS)}


def test_a_verb_is_named_after_the_class_that_learners_know(call: hk.Call, heard: list[str]) -> None:
    forget(call.handoff(pydantic_ai.Agent("openai:gpt-5.2")))
    assert heard[0].startswith("ForgottenAwait: `Call.handoff` was called without `await`, so no agent was asked.")


def test_what_is_said_names_the_verb_what_was_not_done_and_what_to_write(call: hk.Call, heard: list[str]) -> None:
    forget(call.send("Hello."))
    assert heard == [SENT]
    assert marks() == ["`Call.send` was called without `await`: the turn was not sent."]


def test_it_is_said_every_time_at_the_same_place_too(call: hk.Call, heard: list[str]) -> None:
    for _ in range(3):
        forget(call.send("Hello."))
    assert heard == [SENT] * 3
    assert len(marks()) == 3


def test_a_run_of_a_text_agent_is_noticed(heard: list[str]) -> None:
    forget(agents.Runner.run(agents.Agent(name="A"), "Hello."))
    forget(pydantic_ai.Agent("openai:gpt-5.2").run("Hello."))
    forget(hk.handoff([], pydantic_ai.Agent("openai:gpt-5.2")))
    assert [said.removeprefix("ForgottenAwait: ") for said in heard] == [
        "`Runner.run` was called without `await`, so the agent did not run. Write `await Runner.run(...)`.",
        "`Agent.run` was called without `await`, so the agent did not run. Write `await agent.run(...)`.",
        "`handoff` was called without `await`, so no agent was asked. Write `await hk.handoff(...)`.",
    ]


async def test_in_an_event_handler_and_a_task_of_a_session_of_either_sdk(connected: Endpoint, heard: list[str]) -> None:
    url = f"{connected.base_url.replace('http', 'ws', 1)}/realtime?model=gpt-realtime"
    runner = agents.realtime.RealtimeRunner(agents.realtime.RealtimeAgent(name="A"))
    async with await runner.run(model_config={"url": url, "api_key": connected.token}) as session:

        async def handler() -> None:
            async for _ in session:
                return forget(session.send_message("Hello."))

        async with asyncio.timeout(20):
            await asyncio.create_task(handler())
    async with pydantic_ai.Agent().realtime("openai:gpt-realtime").session() as other:
        forget(other.send("Hello."))
    said = [each.partition(" was called")[0] for each in heard]
    assert said == ["ForgottenAwait: `RealtimeSession.send_message`", "ForgottenAwait: `RealtimeSession.send`"]
    opened = [frame.conn for frame in hk.log().filter("open", channel="realtime")]
    assert [frame.conn for frame in hk.log().filter("forgotten_await")] == opened
    assert "conversation.item.create" not in {frame.event for frame in hk.log()}


async def test_the_mark_stands_in_the_call_that_is_open_and_in_its_views(heard: list[str]) -> None:
    async with hk.Call(pydantic_ai.Agent()) as call:
        await call.send("My laptop does not charge.")
        forget(call.send("Another outlet changed nothing."))
        (frame,) = call.log.filter("forgotten_await")
        assert (frame.conn, frame.label) == ("c1", "call-1")
        assert "`Call.send` was called without `await`" in str(call.log.table(limit=None))
        flags = score(call.log.turns, call.log.marks).flags
        assert [flag.words for flag in flags if flag.bad] == ["✕ send without await"]
        (row,) = (row for row in Rows(call.log).all() if row["bad"])
        assert row["text"] == "`Call.send` was called without `await`: the turn was not sent."
        (event,) = (event for event in Events(call.log).new()[0] if event["e"] == "forgotten_await")
        assert (event["c"], event["bad"]) == ("marks", True)


# What Python alone tells, and who hears it


async def mine() -> None: ...


def test_other_warnings_pass_as_ever(heard: list[str]) -> None:
    forget(mine())
    warnings.warn("odd", UserWarning, stacklevel=1)
    assert heard == ["RuntimeWarning: coroutine 'mine' was never awaited", "UserWarning: odd"]
    assert marks() == []


def test_one_that_is_kept_is_said_when_it_is_thrown_away(call: hk.Call, heard: list[str]) -> None:
    kept = [call.send("Hello.")]
    assert heard == []
    kept.clear()
    assert heard == [SENT]


def test_whoever_wants_an_error_gets_one(call: hk.Call, monkeypatch: pytest.MonkeyPatch) -> None:
    raised: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda found: raised.append(repr(found.exc_value)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hk.connect()
        forget(hk.Call(pydantic_ai.Agent()).send("Hello."))
    assert [str(error).partition("(")[0] for error in raised] == ["ForgottenAwait"]


def test_what_is_recorded_is_pythons_own_word(call: hk.Call, heard: list[str]) -> None:
    with warnings.catch_warnings(record=True) as said:
        forget(call.send("Hello."))
    assert [str(each.message) for each in said] == ["coroutine 'Call.send' was never awaited"]
    forget(call.send("Hello."))
    assert heard == [SENT]


def test_disconnecting_leaves_the_warnings_as_they_were(heard: list[str]) -> None:
    hk.disconnect()
    before, filters = warnings.showwarning, list(warnings.filters)
    hk.connect()
    hk.connect()
    assert warnings.showwarning is not before
    call = hk.Call(pydantic_ai.Agent())
    hk.disconnect()
    assert warnings.showwarning is before
    assert list(warnings.filters) == filters
    forget(call.send("Hello."))
    assert heard == ["RuntimeWarning: coroutine 'Call.send' was never awaited"]


def test_a_hook_that_was_put_over_ours_stays(heard: list[str]) -> None:
    ours, over = warnings.showwarning, list[str]()

    def theirs(message: Warning | str, *rest: Any) -> None:
        over.append(str(message))
        ours(message, *rest)

    warnings.showwarning = theirs  # type: ignore[assignment]
    hk.connect()
    forget(hk.Call(pydantic_ai.Agent()).send("Hello."))
    assert heard == [f"ForgottenAwait: {message}" for message in over] == [SENT]
    assert len(marks()) == 1
    warnings.showwarning = theirs  # type: ignore[assignment]
    call = hk.Call(pydantic_ai.Agent())
    hk.disconnect()
    assert warnings.showwarning is theirs
    forget(call.send("Hello."))
    assert heard[1:] == ["RuntimeWarning: coroutine 'Call.send' was never awaited"]


def test_in_a_plain_script_it_stands_on_standard_error() -> None:
    script = (
        "import handoffkit as hk\nfrom pydantic_ai import Agent\nhk.connect()\n"
        "call = hk.Call(Agent())\nfor _ in range(2): call.send('Hello.')\nprint(len(hk.log().marks))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines()[-1] == "2"
    assert done.stderr.count(SENT) == 2
    assert "RuntimeWarning" not in done.stderr


def test_an_endpoint_that_is_gone_keeps_nobody_from_saying_it(call: hk.Call, heard: list[str]) -> None:
    current().stop()
    forget(call.send("Hello."))
    assert heard == [SENT]
    hk.disconnect()


# In a notebook

START = """
import asyncio, handoffkit as hk
from agents.realtime import RealtimeAgent, RealtimeRunner
from handoffkit.connect import current
hk.connect()
url = current().base_url.replace("http", "ws", 1) + "/realtime?model=gpt-realtime"
session = await RealtimeRunner(RealtimeAgent(name="A")).run(model_config={"url": url, "api_key": current().token})
await session.enter()
"""
NOT_SENT = (
    "ForgottenAwait: `RealtimeSession.send_message` was called without `await`, so the message was not sent. "
    "Write `await session.send_message(...)`."
)
PLACES = {
    "mid-cell": "session.send_message('Hello.')\nx = 1",
    "last line": "# the message\n\nsession.send_message('Hello.')",
    "last line, silenced": "session.send_message('Hello.');",
    "handler": "async def handle():\n    session.send_message('Hello.')\nawait asyncio.create_task(handle())",
    "background": "async def work():\n    await asyncio.sleep(0)\n    session.send_message('Hello.')\n"
    "task = asyncio.create_task(work())\nawait asyncio.sleep(0.05)",
    "run": "from agents import Agent, Runner\nRunner.run(Agent(name='A'), 'Hello.')",
}
COUNT = "print([(mark.conn, mark.what) for mark in hk.log().marks if mark.kind == 'forgotten_await'])"


def test_in_a_kernel_it_is_said_in_each_place_and_each_time(tmp_path: Path) -> None:
    with Kernel(tmp_path) as kernel:
        kernel.run(START)
        for number, (place, code) in enumerate(PLACES.items(), 1):
            for again in range(2):
                said = kernel.run(code)
                run = place == "run"
                assert said.count("ForgottenAwait: `Runner.run` was" if run else NOT_SENT) == 1, (place, said)
                assert "RuntimeWarning" not in said
                found = kernel.run(COUNT)
                assert found.count("(") == 2 * number - 1 + again, (place, found)
                assert found.count("('c1', ") == found.count("(")
        assert "In [" in kernel.run(PLACES["last line"])
        assert kernel.run("hk.disconnect()") == ""
        assert "ForgottenAwait" not in kernel.run(PLACES["last line"])
        assert "RuntimeWarning: coroutine 'RealtimeSession.send_message'" in kernel.run(PLACES["mid-cell"])


def test_in_a_kernel_what_is_awaited_is_not_remarked_on(tmp_path: Path) -> None:
    with Kernel(tmp_path) as kernel:
        kernel.run(START)
        assert kernel.run("await session.send_message('Hello.')") == ""
        assert kernel.run("asyncio.ensure_future(session.send_message('Hello again.'))") == ""
        assert kernel.run("async def mine(): ...\nmine()") == ""
        assert kernel.run(COUNT) == "[]\n"
