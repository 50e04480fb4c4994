"""The check cells' helper: content with what is done, precise about what is missing, never an error."""

import asyncio
import math
from typing import Any, Literal

import numpy as np
import pytest
from conftest import ROOT
from openai import AsyncOpenAI
from pydantic import BaseModel
from pydantic_ai import Agent

import handoffkit as hk
from handoffkit import checks
from handoffkit.connect import Endpoint

SAVED = ROOT / "notebooks" / "saved"
"""Calls with sound in them, so that no model of speech has to be loaded here."""
FIRST, SECOND = "My laptop does not charge.", "Another outlet changed nothing."


class Ticket(BaseModel):
    summary: str
    priority: Literal["low", "high"]


class More(Ticket):
    device: str


GOOD, BAD = {"summary": "Dead.", "priority": "high"}, {"summary": "Dead.", "priority": "urgent"}


async def held(*turns: str, lines: tuple[Any, ...] = ("Yes?", "I see."), **options: Any) -> hk.Call:
    """Return a call that is over, with a script behind it."""
    hk.connect(model=hk.ScriptedModel(lines, [BAD, GOOD, {**GOOD, "device": "laptop"}]), **options)
    agent = Agent(instructions="Support.")

    @agent.tool_plain
    def look_up(number: int) -> str:
        """Look an order up."""
        return "packed"

    async with hk.Call(agent) as call:
        for words in turns:
            await call.send(words)
    return call


NO_CHECK_RAISES = [
    checks.blocks,
    checks.call,
    checks.heard,
    checks.interrupted,
    checks.request,
    checks.result,
    checks.tool,
    lambda found: checks.connections(found, opened=1, asked=1),
    lambda found: checks.sent(found, "a.b", 1),
]


@pytest.mark.parametrize("check", NO_CHECK_RAISES)
@pytest.mark.parametrize("found", [..., None, "a call", 7, int], ids=str)
def test_whatever_is_given_gets_a_sentence(check: Any, found: Any, connected: Endpoint) -> None:
    verdict = check(found)
    assert not verdict
    assert str(verdict).startswith("Not yet: ")
    assert ", because " in str(verdict)
    assert repr(verdict) == str(verdict)


def test_the_dots_of_the_exercise_are_known() -> None:
    expected = "Not yet: the call is missing, because the exercise cell still says `...`."
    assert str(checks.call(...)) == expected


async def test_a_forgotten_await_is_named(connected: Endpoint) -> None:
    async def handoff() -> None: ...

    forgotten = handoff()
    assert "because the word `await` is missing" in str(checks.result(forgotten))
    await forgotten


async def test_a_whole_call_is_enough() -> None:
    call = await held(FIRST, SECOND)
    assert str(checks.call(call, turns=2)) == "✓ The call has 2 turns of the caller's, and each got its answer."
    assert checks.call(call.log, turns=2)
    short = str(checks.call(call, turns=3))
    assert short == "Not yet: the call is too short, because it has 2 turns of the caller's, and 3 are asked."


async def test_a_call_that_broke_is_not() -> None:
    with pytest.raises(hk.errors.ReplyFailed):
        await held(FIRST, faults=[hk.Fault("response.done", "abort")])
    verdict = str(checks.call(hk.log()))
    assert verdict.startswith("Not yet: turn 1 has no complete answer, because the connection dropped")


async def test_a_call_that_has_to_be_handed_off_as_well() -> None:
    call = await held(FIRST)
    assert "no handoff of it was answered" in str(checks.call(call, handed_off=True))
    await call.handoff(Agent("openai:gpt-5.2", output_type=Ticket))
    assert str(checks.call(call, handed_off=True)).endswith("It was handed off, too.")


async def test_a_call_that_has_to_begin_with_an_earlier_one() -> None:
    first = await held(FIRST)
    async with hk.Call(first.agent, message_history=first.messages()) as call:
        await call.send(SECOND)
    assert str(checks.call(call, seeded=2)) == (
        "✓ The call begins with 2 earlier turns, has 1 turn of the caller's, and each got its answer."
    )
    assert "earlier" not in str(checks.call(call))
    assert str(checks.call(first, seeded=2)) == (
        "Not yet: the earlier call is not in it, because it begins with 0 turns of one, and 2 are asked; "
        "`message_history=` takes them."
    )


async def test_a_result_its_schema_and_its_attempts() -> None:
    call = await held(FIRST)
    ticket = await call.handoff(Agent("openai:gpt-5.2", output_type=Ticket))
    more = await call.handoff(Agent("openai:gpt-5.2", output_type=More))
    mended = "✓ The handoff gave a Ticket, after 2 attempts, one of them rejected for `priority`."
    assert str(checks.result(ticket, rejected="priority")) == mended
    assert "only `priority` was" in str(checks.result(ticket, rejected="summary"))
    assert "every attempt was accepted" in str(checks.result(more, rejected="summary"))
    assert "the output is a Ticket again" in str(checks.result(ticket, other_than=Ticket))
    assert checks.result(more, other_than=Ticket)
    assert str(checks.result(more, adds_to=Ticket)).startswith(
        "✓ The handoff gave a More with `device` beside the fields of Ticket"
    )
    assert "the output has only those of Ticket" in str(checks.result(ticket, adds_to=Ticket))
    assert "the field `device` is missing" in str(checks.result(ticket, adds_to=More))


async def test_frames_are_those_that_were_asked_for() -> None:
    log = (await held(FIRST)).log
    mine = log.filter(dir="client")
    assert checks.frames(mine, log, dir="client")
    assert "is none of these" in str(checks.frames(log, log, dir="client"))
    assert "belongs to it, too" in str(checks.frames(mine.filter("session.*"), log, dir="client"))
    await held(FIRST, SECOND)
    assert "frame " in str(checks.frames(hk.log(), log, dir="client")), "of another call, with more frames"
    assert "because this is a list" in str(checks.frames(list(mine), log, dir="client"))


async def test_what_the_client_sent() -> None:
    call = await held(FIRST)
    assert checks.sent(call, "session.instructions", "Support.")
    assert "because it was 'Support.'" in str(checks.sent(call, "session.instructions", "Sales."))
    assert "no event of the client's has `session.speed`" in str(checks.sent(call, "session.speed", 2))


async def test_what_the_last_request_gave_the_model_to_read(connected: Endpoint) -> None:
    assert "because no agent has been run" in str(checks.request(hk.log()))
    await AsyncOpenAI().responses.create(model="gpt-5.2", input=FIRST, instructions="Help.", store=False)
    log = hk.log()
    praise = "✓ The last request gave the model 1 item to read, as it was asked for."
    assert str(checks.request(log, items=1, words=["laptop"], without=["router"], fields=["store"])) == praise
    assert f"'router' is not in the last request, because its input is ['{FIRST}']" in str(
        checks.request(log, words=["router"])
    )
    assert "'laptop' is still in the last request, because the model" in str(checks.request(log, without=["laptop"]))
    assert "has no `conversation`, because it has only" in str(checks.request(log, fields=["conversation"]))
    assert "has not 2 items, because it has 1" in str(checks.request(log, items=2))
    await AsyncOpenAI().chat.completions.create(model="gpt-5.2", messages=[{"role": "user", "content": SECOND}])
    assert checks.request(log, items=1, words=[SECOND], without=[FIRST])
    assert str(checks.request(log, back=1, words=[FIRST])).startswith("✓ The request before the last gave the model")
    assert "is not in the request before the last" in str(checks.request(log, back=1, words=[SECOND]))
    assert "request 2 before the last is missing, because the log has only 2" in str(checks.request(log, back=2))
    await AsyncOpenAI().responses.create(model="gpt-5.2", input="Hello. " * 100)
    assert len(str(checks.request(log, words=["router"]))) < 300, "of a long input only the beginning is shown"
    call = await held(FIRST)
    assert "no request was sent" in str(checks.request(call.log)), "a voice agent's is none"


async def test_over_how_many_connections_requests_went(connected: Endpoint) -> None:
    for words in (FIRST, SECOND):
        await AsyncOpenAI().responses.create(model="gpt-5.2", input=words)
    log = hk.log()
    assert str(checks.connections(log, opened=2, asked=2)) == "✓ 2 requests went over 2 connections."
    assert "the number of connections is not 1, because it is 2" in str(checks.connections(log, opened=1, asked=2))
    assert "the number of requests is not 3, because it is 2" in str(checks.connections(log, opened=2, asked=3))


async def test_a_tool_and_the_turn_that_it_was_called_for() -> None:
    call = await held(FIRST, SECOND, lines=("Which order?", hk.ToolCall("look_up", '{"number": 7}'), "Packed."))
    assert checks.tool(call)
    assert str(checks.tool(call, "look_up", turn=2)).startswith("✓ The agent called `look_up` for turn 2")
    assert "because it was called for turn 2" in str(checks.tool(call, "look_up", turn=1))
    assert "because the agent called only `look_up`" in str(checks.tool(call, "cancel"))
    assert "another tool was not called" in str(checks.tool(call, other_than=["look_up"]))
    assert "the agent called no tool" in str(checks.tool(await held(FIRST)))


async def test_what_the_agent_got_from_a_tool_or_from_who_refused_it() -> None:
    call = await held(FIRST, lines=(hk.ToolCall("look_up", '{"number": 7}'), "Packed."))
    assert checks.tool(call, "look_up", gave="pack")
    refused = "the agent did not get 'No.' for `look_up`, because it got 'packed'."
    assert str(checks.tool(call, gave="No.")) == f"Not yet: {refused}"


def test_what_was_heard_is_held_loosely_to_what_was_said() -> None:
    log = hk.load(SAVED / "a-spoken-turn")
    found = checks.heard(log, "laptop", "charge", "light", turns=1)
    assert (
        str(found) == "✓ The caller was heard in 1 spoken turn, with most of these words: `laptop`, `charge`, `light`."
    )
    assert checks.heard(log)
    assert checks.heard(log, "Laptops", "charg"), "misheard by a letter, and only its beginning"
    assert checks.heard(log, "laptop", "charge", "giraffe"), "two of three"
    assert "`giraffe`, `zebra` was not heard, because what was heard is " in str(checks.heard(log, "giraffe", "zebra"))
    assert "it became 1 turn" in str(checks.heard(log, turns=2))


async def test_typed_words_were_not_heard() -> None:
    assert "because the call has no spoken turn" in str(checks.heard(await held(FIRST), "laptop"))


def hum(hertz: int, seconds: float = 1.0) -> list[bytes]:
    wave = [0.3 * math.sin(2 * math.pi * hertz * n / 24_000) for n in range(round(24_000 * seconds))]
    return list(hk.audio.load(np.array(wave), sample_rate=24_000).blocks())


def test_blocks_are_what_a_microphone_gives() -> None:
    words = "✓ 25 blocks of sound, the loudest tone at 1000 Hz: a call can listen to it."
    assert str(checks.blocks(hum(1000), hertz=1000)) == words
    assert checks.blocks(hum(440, 2.01), hertz=440, seconds=2), "a last block may be shorter"


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (hum(500), "it has no tone of 1000 Hz, because the loudest one in it has 500 Hz."),
        (hum(1000, 2), "it does not last 1 s, because the blocks have 2000 ms at 24000 Hz."),
        ([], "it does not last 1 s, because the blocks have 0 ms at 24000 Hz."),
        ([bytes(1920)] * 25, "there is no sound in it, because all its samples are zero."),
        ([*hum(1000), "end"], "block 26 is no sound, because it is a str, and sound is bytes."),
        (
            [bytes(960)] * 50,
            "block 1 has no 40 ms, because it has 960 bytes, and 40 ms of PCM16 at 24000 Hz are 1920.",
        ),
    ],
    ids=["tone", "long", "none", "silent", "words", "short"],
)
def test_what_is_no_microphone_s_sound_is_named(found: list[Any], why: str) -> None:
    assert str(checks.blocks(found, hertz=1000)) == f"Not yet: {why}"


async def test_an_interrupted_reply_and_what_of_it_was_heard() -> None:
    log = hk.load(SAVED / "an-interruption")
    assert str(checks.interrupted(log)) == "✓ The caller cut 1 reply short, and only what was heard stayed."
    assert "(1 of 2), because the others were said to their end" in str(checks.interrupted(log, replies=2))
    assert "could say each of them to its end" in str(checks.interrupted(await held(FIRST)))


async def test_a_reply_of_which_nothing_was_heard_does_not_count() -> None:
    """It is cancelled before anything of it is sent, which a fault makes time for."""
    hold = hk.Fault("response.output_item.added", "delay", seconds=2)
    hk.connect(model=hk.ScriptedModel(["Yes?"]), faults=[hold])
    async with hk.Call(Agent()) as call:
        asking = asyncio.create_task(call.send(FIRST))
        async for _ in hk.log().follow("response.created", label=call.label):
            break
        await call.interrupt(played_ms=0)
        await asking
    assert str(checks.interrupted(call)).endswith("(0 of 1), because of one nothing was heard.")
