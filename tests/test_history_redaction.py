"""Redaction: no text that a model could read keeps the word, and nothing leads back to it; on the wire, too."""

import base64
import json
import re
from copy import deepcopy
from datetime import date
from typing import Any

import pytest
from agents.realtime import RealtimeAgent
from history_samples import MESSAGES, Customer, Order
from hypothesis import HealthCheck, given, settings
from pydantic_ai import Agent
from pydantic_ai.messages import (
    BinaryContent,
    CachePoint,
    Citation,
    CompactionPart,
    ContentCitationAnchor,
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
    WebCitationSource,
)
from pydantic_ai.models.openai import OpenAIResponsesModel

import handoffkit as hk
from handoffkit.connect import Endpoint
from handoffkit.history import (
    INAUDIBLE,
    from_items,
    from_session_history,
    redacted,
    to_items,
    to_seed,
    to_session_history,
)

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
    hidden += ['{"n": "Zo\\u00eb', 'It says {"n": "Zo\\u00eb"}', '{"n": "Zo\\u00eb", "n": 1}', '{"m": "No\\u00eb']
    calls = [ToolCallPart("look_up", args, f"c{place}") for place, args in enumerate(hidden)]
    (response,) = redacted([ModelResponse(parts=calls)], censored)
    args = [part.args for part in response.parts if isinstance(part, ToolCallPart)]
    assert args[:5] == ['{"n": "…"}', '{"n": "…", "n": 1}', '["…", {"…": []}]', "{}", "{…"]
    assert args[5:] == ['{"n": "…', 'It says {"n": "…"}', '{"n": "…", "n": 1}', '{"m": "No\\u00eb']


@pytest.mark.parametrize(
    "returned",
    [
        Customer(id=NAME, born=date(1980, 2, 1)),
        {"all": [Customer(id="7", born=date(1980, 2, 1)), Order(NAME, "x", [])]},
        Order("7", "x", [NAME]),
        {NAME},
        {date(1980, 2, 1): 1},
        NAME.encode(),
        json.dumps(NAME),
        [NAME, BinaryContent(b"%PDF", media_type="application/pdf", identifier=f"{NAME}.pdf")],
        [NAME, BinaryContent(json.dumps({"name": NAME}).encode(), media_type="application/json")],
    ],
    ids=["model", "objects in a list", "dataclass", "set", "keys", "bytes", "JSON text", "file name", "JSON file"],
)
@pytest.mark.parametrize("outcome", ["success", "failed"])
def test_what_a_tool_returned_is_read_as_a_model_reads_it(returned: Any, outcome: Any) -> None:
    part = ToolReturnPart("look_up", returned, "c1", outcome=outcome)
    call = ModelResponse(parts=[ToolCallPart("look_up", "{}", "c1")])
    before: list[ModelMessage] = [call, ModelRequest(parts=[part])]
    after = redacted(before, lambda text: text.replace(NAME, "…").replace("1980", "…"))
    (kept,) = after[1].parts
    assert isinstance(kept, ToolReturnPart)
    assert b"\\u00eb" not in b"".join(file.data for file in kept.files if isinstance(file, BinaryContent))
    for converted in (to_items(after), to_seed(after), to_session_history(after)):
        told = json.dumps(converted.items, ensure_ascii=False)
        assert "…" in told
        assert NAME not in told.replace("\\u00eb", "ë")
        assert "1980" not in told
    assert redacted(before, str) == before, "what holds nothing of the kind stays as it is"


def test_digits_can_be_hidden_without_breaking_what_counts() -> None:
    """Of a source the place goes, since the words have moved; how long and where are no text."""
    cited = Citation([WebCitationSource("https://a.example/7")], anchor=ContentCitationAnchor(start=0, end=1))
    asked = ModelRequest(parts=[UserPromptPart(["Room 7.", CachePoint()])])
    said = ModelResponse(parts=[TextPart("Room 7.", citations=[cited])], history_digest="of the old words")
    request, response = redacted([asked, said], lambda text: re.sub(r"\d", "#", text))
    assert request.parts[0].content == ["Room #.", CachePoint()]  # type: ignore[union-attr]
    (part,) = response.parts
    assert isinstance(part, TextPart)
    assert (part.content, part.citations) == ("Room #.", [Citation([WebCitationSource("https://a.example/#")])])
    assert isinstance(response, ModelResponse)
    assert response.history_digest is None


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(MESSAGES)
def test_no_letter_is_left_of_any_conversation(messages: list[ModelMessage]) -> None:
    """Every text becomes one of x alone; what a model reads of it holds no other letter."""

    def blank(text: str) -> str:
        return "x" * len(text)

    after = redacted(messages, blank)
    for convert in (to_items, to_seed, to_session_history):
        converted = convert(after)
        for text in [converted.instructions, *(text for item in converted.items for text in texts(item))]:
            assert set(re.sub("true|false|null", "", text)) <= set('x{}[]":, \\\n'), converted.items
    said = [part for message in after for part in message.parts if isinstance(part, TextPart)]
    assert {each.anchor for part in said for each in part.citations or ()} <= {None}
    assert len(ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(after))) == len(messages)


def texts(item: dict[str, Any]) -> list[str]:
    """Return what a model reads of an item, but for the mark of a cut reply, and words of the kit's and the SDK's."""
    content = item.get("content") or item.get("output") or ""
    parts = [content] if isinstance(content, str) else [text for part in content for text in part_texts(part)]
    parts.append(item.get("arguments", ""))
    ours = (INAUDIBLE, "The tool call was interrupted before a result was produced.")
    found = [part.partition("[Interrupted")[0].strip().removeprefix('{"error":') for part in parts]
    return [text for text in found if text not in ours]


def part_texts(part: dict[str, Any]) -> list[str]:
    """Return the words of a part, its file's name, and what is in the file, if that is text."""
    found = [part.get(name) or "" for name in ("text", "refusal", "transcript")]
    name = str(part.get("filename", "")).removesuffix(".pdf").removesuffix(".txt")
    head, _, body = str(part.get("file_data", "")).partition(",")
    inside = base64.b64decode(body).decode() if "text/plain" in head else ""
    return [*found, inside, re.sub("[0-9a-f]{6}", "", name)]


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
