"""Redaction: no text that a model could read keeps the word, and nothing leads back to it; on the wire, too."""

import json
import re
from copy import deepcopy
from typing import Any

import pytest
from agents.realtime import RealtimeAgent
from history_samples import MESSAGES
from hypothesis import HealthCheck, given, settings
from pydantic_ai import Agent
from pydantic_ai.messages import (
    BinaryContent,
    CompactionPart,
    DocumentUrl,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    RetryFeedbackPart,
    RetryInfo,
    SpeechPart,
    StructuredContent,
    SystemPromptPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.openai import OpenAIResponsesModel

import handoffkit as hk
from handoffkit.connect import Endpoint
from handoffkit.history import INAUDIBLE, from_items, from_session_history, redacted, to_items, to_seed

NAME, NUMBER = "Zoë", 4111111111111111


def censored(text: str) -> str:
    return text.replace(NAME, "…").replace(str(NUMBER), "…")


def dumped(messages: list[ModelMessage]) -> str:
    return json.dumps(json.loads(ModelMessagesTypeAdapter.dump_json(messages)), ensure_ascii=False)


FULL: list[ModelMessage] = [
    ModelRequest(
        parts=[
            SystemPromptPart(f"You talk to {NAME}."),
            UserPromptPart(f"I am {NAME}."),
            UserPromptPart(
                [
                    f"{NAME} it is.",
                    TextContent(f"{NAME}", metadata=NAME),
                    StructuredContent({"name": NAME, "card": NUMBER}),
                    DocumentUrl(f"https://a.example/{NAME}.pdf"),
                    BinaryContent(f"{NAME} wrote".encode(), media_type="text/plain"),
                ]
            ),
            SpeechPart(
                speaker="user", transcript=f"{NAME} speaking", audio=BinaryContent(b"snd", media_type="audio/wav")
            ),
            SpeechPart(speaker="user", audio=BinaryContent(b"snd", media_type="audio/wav")),
        ],
        instructions=f"{NAME} is premium.",
        metadata={"name": NAME},
    ),
    ModelResponse(
        parts=[
            ThinkingPart(f"It is {NAME}", id="rs_1", signature="sealed", provider_name="openai"),
            TextPart(f"Hello {NAME}", id="msg_1", provider_name="openai", provider_details={"raw": NAME}),
            ToolCallPart("look_up", json.dumps({"name": NAME, NAME: NUMBER}), "c1", id="fc_1", provider_name="openai"),
            ToolCallPart("look_up", {"name": NAME, "deep": [{"card": NUMBER}]}, "c2"),
            NativeToolCallPart("web_search", {"query": NAME}, "ws_1", provider_name="openai"),
            NativeToolReturnPart("web_search", {"sources": NAME}, "ws_1", provider_name="openai"),
            CompactionPart(id="cmp_1", provider_name="openai", provider_details={"encrypted_content": "sealed"}),
        ],
        provider_response_id="resp_1",
        provider_details={"conversation_id": "conv_1"},
    ),
    ModelRequest(
        parts=[
            ToolReturnPart("look_up", json.dumps({"name": NAME}), "c1", metadata=NAME),
            ToolReturnPart("look_up", {"name": NAME, "card": NUMBER, "yes": True}, "c2"),
            RetryFeedbackPart(f"No {NAME}", retry=RetryInfo(cause="model_retry")),
            CompactionPart(f"{NAME} called."),
        ]
    ),
    ModelResponse(
        parts=[SpeechPart(speaker="assistant", transcript=f"Bye {NAME}", id="item_1", provider_name="openai")]
    ),
    ModelResponse(parts=[], provider_details={"refusal": f"Not for {NAME}"}, finish_reason="content_filter"),
]


def test_the_word_is_nowhere() -> None:
    before = deepcopy(FULL)
    after = redacted(FULL, censored)
    assert NAME not in dumped(after)
    assert str(NUMBER) not in dumped(after)
    assert before == FULL, "what was given is not changed"
    for text in (dumped(after), str(to_items(after)), str(to_seed(after))):
        assert "sealed" not in text
        assert "resp_1" not in text
        assert "msg_1" not in text


def test_what_is_left_says_the_rest() -> None:
    request, response, results, said, refused = redacted(FULL, censored)
    assert request.parts[1].content == "I am …."  # type: ignore[union-attr]
    calls = [part.args_as_dict() for part in response.parts if isinstance(part, ToolCallPart)]
    assert calls == [{"name": "…", "…": "…"}, {"name": "…", "deep": [{"card": "…"}]}]
    contents = [part.content for part in results.parts if isinstance(part, ToolReturnPart)]
    assert contents == ['{"name": "…"}', {"name": "…", "card": "…", "yes": True}]
    assert [part.transcript for part in said.parts if isinstance(part, SpeechPart)] == ["Bye …"]
    heard = [(part.transcript, part.audio) for part in request.parts if isinstance(part, SpeechPart)]
    assert heard == [("… speaking", None), (INAUDIBLE, None)]
    assert isinstance(refused, ModelResponse)
    assert refused.provider_details == {"refusal": "Not for …"}


def test_json_stays_json_and_hides_nothing() -> None:
    hidden = ['{"n": "Zo\\u00eb"}', f'{{"n": "{NAME}", "n": 1}}', f'[{NUMBER}, {{"{NAME}": []}}]', "{}", f"{{{NAME}"]
    calls = [ToolCallPart("look_up", args, f"c{place}") for place, args in enumerate(hidden)]
    (response,) = redacted([ModelResponse(parts=calls)], censored)
    args = [part.args for part in response.parts if isinstance(part, ToolCallPart)]
    assert args == ['{"n": "…"}', '{"n": "…", "n": 1}', '["…", {"…": []}]', "{}", "{…"]


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(MESSAGES)
def test_no_letter_is_left_of_any_conversation(messages: list[ModelMessage]) -> None:
    """Every text becomes one of x alone; what a model reads of it holds no other letter."""

    def blank(text: str) -> str:
        return "x" * len(text)

    for item in to_items(redacted(messages, blank)).items:
        for text in texts(item):
            assert set(re.sub("true|false|null", "", text)) <= set('x{}[]":, '), item


def texts(item: dict[str, Any]) -> list[str]:
    """Return what a model reads of an item, but for the mark of a cut reply, and words of the kit's and the SDK's."""
    content = item.get("content", item.get("output", ""))
    parts = [content] if isinstance(content, str) else [part.get("text", part.get("refusal", "")) for part in content]
    ours = (INAUDIBLE, "The tool call was interrupted before a result was produced.")
    return [text for part in parts if (text := part.partition("[Interrupted")[0].strip()) not in ours]


SEED: list[ModelMessage] = [
    ModelRequest(parts=[SpeechPart(speaker="user", transcript=f"This is {NAME}, card {NUMBER}.")]),
    ModelResponse(parts=[ToolCallPart("look_up", json.dumps({"name": NAME}), "call_1")]),
    ModelRequest(parts=[ToolReturnPart("look_up", {"name": NAME, "card": NUMBER}, "call_1")]),
    ModelResponse(parts=[SpeechPart(speaker="assistant", transcript=f"Hello {NAME}, how can I help?")]),
]


def wire() -> str:
    """Return all that has passed, as text; escapes read as the letters that they stand for."""
    return json.dumps([frame.data for frame in hk.log()], ensure_ascii=False).replace("\\\\u00eb", "ë")


@pytest.mark.parametrize("sdk", ["pydantic-ai", "openai-agents"])
async def test_what_was_redacted_before_seeding_does_not_reach_the_wire(sdk: str, connected: Endpoint) -> None:
    hk.connect(model=hk.ScriptedModel(["Since when?"]))
    agent: Any = (
        Agent(instructions="Help.") if sdk == "pydantic-ai" else RealtimeAgent(name="Help", instructions="Help.")
    )
    async with hk.Call(agent, message_history=redacted(SEED, censored)) as call:
        await call.send("It does not charge.")
    assert "how can I help?" in wire()
    assert NAME not in wire()
    assert str(NUMBER) not in wire()


async def test_what_was_redacted_does_not_reach_a_text_agent_by_an_id(connected: Endpoint) -> None:
    """With its ids, pydantic-ai would send the stored reply's id, and the service would read its own copy."""
    hk.connect(model=hk.ScriptedModel(outputs=[f"Hello {NAME}.", "Bye."]))
    agent = Agent(OpenAIResponsesModel("gpt-5.2"))
    first = await agent.run("Greet me.")
    seen = len(hk.log())
    await agent.run("And now?", message_history=redacted(first.all_messages(), censored))
    sent = [frame for frame in list(hk.log())[seen:] if frame.dir == "client"]
    assert sent
    assert NAME not in str([frame.data for frame in sent])
    assert "msg_" not in json.dumps([frame.data for frame in sent])


async def test_a_call_begins_with_another_sdks_history(connected: Endpoint) -> None:
    """Items of openai-agents seed a call of pydantic-ai's: each word on the wire, the operator's apart."""
    items = to_items(SEED).items
    items.insert(0, {"role": "developer", "content": "The caller is premium."})
    history = from_items(items)
    assert history.instructions == "The caller is premium."
    hk.connect(model=hk.ScriptedModel(["Since when?"]))
    async with hk.Call(Agent(instructions=history.instructions), message_history=history.items) as call:
        await call.send("It does not charge.")
    seeded = [frame.data["item"] for frame in call.log.filter("conversation.item.create", dir="client")]
    assert [(item["type"], item.get("role")) for item in seeded] == [
        ("message", "user"),
        ("function_call", None),
        ("function_call_output", None),
        ("message", "assistant"),
        ("message", "user"),
    ]
    assert "premium" not in json.dumps(seeded)
    assert seeded[0]["content"] == [{"type": "input_text", "text": f"This is {NAME}, card {NUMBER}."}]
    assert [turn.text for turn in call.log.turns if turn.speaker == "caller"][-1] == "It does not charge."


async def test_a_session_of_the_other_sdk_becomes_a_history(connected: Endpoint) -> None:
    hk.connect(model=hk.ScriptedModel(["Since when?", "Thank you."]))
    async with hk.Call(RealtimeAgent(name="Help", instructions="Help.")) as call:
        await call.send("It does not charge.")
        await call.send("Since today.")
        converted = from_session_history(call.session._history)
    words = [str(getattr(part, "content", "")) for message in converted.items for part in message.parts]
    assert words == ["It does not charge.", "Since when?", "Since today.", "Thank you."]
    assert [message.kind for message in converted.items] == ["request", "response"] * 2
