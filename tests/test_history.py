"""History from turns: held to what the SDK itself says of the same call."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai import Agent
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SpeechPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.test import TestModel
from pydantic_ai.realtime import RealtimeModelSettings
from wire_script import Wire

import handoffkit as hk
from handoffkit.connect import Endpoint
from handoffkit.history import INAUDIBLE, caller_words, messages, unanswered
from handoffkit.marks import derive
from handoffkit.wire.conversation import ToolUse, Turn

FIRST, SECOND = "My laptop does not charge.", "Another outlet changed nothing."


def caller(text: str, **facts: Any) -> Turn:
    return Turn("c1", "caller", text, 1.0, 2.0, 1, "item_1", **facts)


def agent(text: str, **facts: Any) -> Turn:
    return Turn("c1", "agent", text, 3.0, 4.0, 2, "item_2", **{"spoken": True, **facts})


def said(history: list[ModelMessage]) -> list[tuple[str, ...]]:
    """Return what a history says, without what differs between two runs: kinds, words, tools, in order."""
    return [(message.kind, *(step for part in message.parts for step in _part(part))) for message in history]


def _part(part: Any) -> tuple[str, ...]:
    if isinstance(part, ToolCallPart):
        return "calls", part.tool_name, part.args_as_json_str()
    if isinstance(part, ToolReturnPart):
        return "returns", part.tool_name, part.model_response_str()
    return part.part_kind, str(part.content)


async def both(
    texts: list[str], lines: list[Any], settings: RealtimeModelSettings | None = None, **options: Any
) -> tuple[list[ModelMessage], list[ModelMessage]]:
    """Hold a call with the SDK alone; return its history in the SDK's words and in ours."""
    hk.connect(model=hk.ScriptedModel(lines))
    voice: Agent[None, str] = Agent(instructions="Help.")

    @voice.tool_plain
    def look_up(number: int) -> dict[str, Any]:
        """Look an order up."""
        return {"number": number, "status": "shipped"}

    @voice.tool_plain
    def weather() -> str:
        """Say what the weather is."""
        return "rain"

    async with voice.realtime("openai:gpt-realtime", model_settings=settings, **options).session() as session:
        for text in texts:
            await session.send(text)
            await session.wait_for_reply()
        theirs = session.all_messages()
    return theirs, messages(hk.log().turns)


CALLS: dict[str, list[Any]] = {
    "words alone": ["Is the light on?", "Thank you."],
    "a tool": [hk.ToolCall("look_up", '{"number": 7}'), "It is on its way.", "Thank you."],
    "words before a tool": [["One moment.", hk.ToolCall("weather", "{}")], "It rains.", "Thank you."],
    "two tools at once": [[hk.ToolCall("weather", "{}"), hk.ToolCall("look_up", '{"number": 7}')], "So.", "Bye."],
    "two tools one after the other": [
        hk.ToolCall("weather", "{}"),
        hk.ToolCall("look_up", '{"number": 7}'),
        "So.",
        "Bye.",
    ],
}


@pytest.mark.parametrize("lines", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("modality", ["audio", "text"])
async def test_history_from_the_wire_says_what_the_sdks_own_says(lines: list[Any], modality: Any) -> None:
    theirs, ours = await both([FIRST, SECOND], lines, {"output_modality": modality})
    assert said(ours) == said(theirs)
    assert caller_words(ours) == [FIRST, SECOND]


async def test_history_that_was_given_to_a_session_comes_first(connected: Endpoint) -> None:
    seed: list[ModelMessage] = [
        ModelRequest(parts=[UserPromptPart("It broke last week.")]),
        ModelResponse(parts=[ToolCallPart("weather", "{}", "call_1")]),
        ModelRequest(parts=[ToolReturnPart("weather", "rain", "call_1")]),
        ModelResponse(parts=[TextPart("We replaced the cable.")]),
    ]
    theirs, ours = await both([FIRST], ["And today?"], message_history=seed)
    assert said(ours) == said(theirs)
    assert len(ours) == 6


async def test_a_history_from_the_wire_can_start_the_next_call(connected: Endpoint) -> None:
    _, ours = await both([FIRST], ["Is the light on?"])
    theirs, again = await both([SECOND], ["Thank you."], message_history=ours)
    assert said(again)[:2] == [*said(ours)[:1], ("response", "text", "Is the light on?")]
    assert len(again) == len(theirs) == 4


def test_spoken_words_are_speech_and_typed_ones_a_prompt() -> None:
    (typed,), (spoken,) = messages([caller("Hello.")])[0].parts, messages([caller("Hello.", spoken=True)])[0].parts
    assert isinstance(typed, UserPromptPart)
    assert isinstance(spoken, SpeechPart)
    assert (spoken.speaker, spoken.transcript) == ("user", "Hello.")


async def test_a_turn_without_words_can_be_seen_by_a_text_model() -> None:
    history = messages(
        [caller("", spoken=True, inaudible=True), agent("Pardon?"), caller("It is broken.", spoken=True)]
    )
    model = TestModel()
    prepared = model.prepare_messages(history)
    assert [part.content for message in prepared for part in message.parts if isinstance(part, UserPromptPart)] == [
        INAUDIBLE,
        "It is broken.",
    ]
    assert caller_words(history) == ["It is broken."]


def test_words_that_are_still_being_transcribed_are_left_open() -> None:
    (part,) = messages([caller("", spoken=True, pending=True)])[0].parts
    assert isinstance(part, SpeechPart)
    assert part.transcript is None


def test_an_interrupted_reply_holds_what_was_heard_and_says_how_much() -> None:
    turn = agent("First check", interrupted=True, heard_ms=900, generated="First check the cable, then the outlet.")
    (message,) = messages([turn])
    assert isinstance(message, ModelResponse)
    assert message.state == "interrupted"
    (prepared,) = TestModel().prepare_messages([message])
    assert [part.content for part in prepared.parts if isinstance(part, TextPart)] == [
        "First check\n[Interrupted after 900 ms]"
    ]


def test_a_reply_that_nobody_heard_is_known_to_have_begun() -> None:
    (message,) = messages([agent("", interrupted=True, heard_ms=0, generated="Never heard.")])
    assert "Never" not in str(message)
    (prepared,) = TestModel().prepare_messages([message])
    assert [str(getattr(part, "content", "")) for part in prepared.parts] == ["[Interrupted after 0 ms]"]


def test_operator_text_is_nobodys_turn() -> None:
    steering = Turn("c1", "operator", "The caller is a premium customer.", 2.0, 2.0, 2, "item_9")
    history = messages([caller("Hello."), steering, agent("Hi.")])
    assert said(history) == said(messages([caller("Hello."), agent("Hi.")]))


def test_a_call_that_never_returned_is_closed() -> None:
    tool = ToolUse("look_up", "{}", None, 3.0, None, "call_1")
    call, returned = messages([agent("", tools=(tool,))])
    assert isinstance(call.parts[0], ToolCallPart)
    (part,) = returned.parts
    assert isinstance(part, ToolReturnPart)
    assert (part.tool_call_id, part.outcome) == ("call_1", "interrupted")
    assert unanswered([ModelRequest(parts=[UserPromptPart("Hi.")]), call, returned]) is None


def test_late_words_stand_where_they_were_spoken() -> None:
    wire = Wire().session().speech("u1").begin("r1").words("Is the light on?", "r1", "a1").done("r1")
    wire.transcript("It does not charge.", "u1")
    assert said(messages(derive(wire.frames).turns)) == [
        ("request", "speech", "It does not charge."),
        ("response", "speech", "Is the light on?"),
    ]


_TOOLS = st.lists(
    st.builds(
        ToolUse,
        name=st.sampled_from(["look_up", "weather"]),
        arguments=st.just("{}"),
        output=st.none() | st.text(max_size=5),
        start=st.floats(0, 5),
        end=st.none() | st.floats(0, 5),
    ),
    max_size=3,
).map(lambda tools: tuple(replace(tool, call_id=f"call_{index}") for index, tool in enumerate(tools)))
_TURNS = st.lists(
    st.builds(
        Turn,
        conn=st.just("c1"),
        speaker=st.sampled_from(["caller", "agent", "operator"]),
        text=st.text(max_size=10),
        start=st.floats(0, 5),
        end=st.floats(0, 5),
        seq=st.integers(1, 99),
        item_id=st.just(""),
        spoken=st.booleans(),
        interrupted=st.booleans(),
        heard_ms=st.none() | st.integers(0, 99),
        inaudible=st.booleans(),
        tools=_TOOLS,
        seeded=st.booleans(),
        pending=st.booleans(),
    ),
    max_size=5,
)


@given(_TURNS)
def test_any_turns_make_a_history_that_loses_no_words_and_answers_every_call(turns: list[Turn]) -> None:
    history = messages(turns)
    parts = [part for message in history for part in message.parts]
    words = [
        part.content for part in parts if isinstance(part, SpeechPart | TextPart | UserPromptPart) and part.content
    ]
    assert [w for w in words if w != INAUDIBLE] == [t.text for t in turns if t.speaker != "operator" and t.text]
    calls = [part.tool_name for part in parts if isinstance(part, ToolCallPart)]
    assert calls == [tool.name for turn in turns if turn.speaker == "agent" for tool in turn.tools]
    assert len(calls) == sum(isinstance(part, ToolReturnPart) for part in parts)
    assert all(message.parts for message in history)


WHOLE: list[ModelMessage] = [
    ModelRequest(parts=[UserPromptPart("It is broken.")]),
    ModelResponse(parts=[TextPart("Since when?")]),
]


def test_a_whole_history_lacks_nothing() -> None:
    assert unanswered([]) is None
    assert unanswered(WHOLE) is None
    called = ModelResponse(parts=[ToolCallPart("final_result", "{}", "call_1")])
    assert unanswered([*WHOLE, called, ModelRequest(parts=[ToolReturnPart("final_result", "ok", "call_1")])]) is None


@pytest.mark.parametrize(
    ("ending", "reason"),
    [
        (ModelRequest(parts=[UserPromptPart("Since today.")]), "no reply follows"),
        (ModelRequest(parts=[SpeechPart(speaker="user", transcript="Since today.")]), "no reply follows"),
        (ModelResponse(parts=[ToolCallPart("look_up", "{}", "call_1")]), "look_up was called and has not returned"),
        (ModelResponse(parts=[], finish_reason="error"), "the reply failed"),
        (ModelResponse(parts=[TextPart("Well,")], finish_reason="length"), "incomplete"),
    ],
)
def test_half_a_history_says_what_is_missing(ending: ModelMessage, reason: str) -> None:
    found = unanswered([*WHOLE, ending])
    assert found is not None
    assert reason in found.reason
    assert found.words == ("Since today." if isinstance(ending, ModelRequest) else "It is broken.")
    assert found.number == (2 if isinstance(ending, ModelRequest) else 1)


@pytest.mark.parametrize("whole", [[], WHOLE])
def test_a_turn_of_blanks_asks_for_no_answer(whole: list[ModelMessage]) -> None:
    assert unanswered([*whole, ModelRequest(parts=[UserPromptPart(" ")])]) is None


def test_words_that_were_said_again_and_answered_are_answered() -> None:
    failed = ModelResponse(parts=[], finish_reason="error")
    assert unanswered([WHOLE[0], failed, *WHOLE]) is None
