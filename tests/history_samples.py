"""Conversations as hypothesis makes them up, in every form that a history has."""

import base64
import io
import wave
from copy import deepcopy
from dataclasses import dataclass
from datetime import date
from typing import Any

from hypothesis import strategies as st
from pydantic import BaseModel
from pydantic_ai.messages import (
    AgentInstructionSource,
    AudioUrl,
    BinaryContent,
    CachePoint,
    Citation,
    CompactionPart,
    ContentCitationAnchor,
    DocumentUrl,
    FilePart,
    ImageUrl,
    InstructionDeltaPart,
    InstructionId,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    RetryFeedbackPart,
    RetryInfo,
    RunInstructionSource,
    SpeechPart,
    SpeechTimestamp,
    SystemPromptPart,
    TextContent,
    TextPart,
    ThinkingPart,
    ToolAvailabilityDeltaPart,
    ToolCallPart,
    ToolReturnPart,
    UploadedFile,
    UserPromptPart,
    VideoUrl,
    WebCitationSource,
)
from pydantic_ai.usage import RequestUsage

from handoffkit.history import INAUDIBLE


def wav(rate: int = 24_000, frames: int = 30) -> bytes:
    """Return a WAV file of *frames* samples, mono, 16 bit."""
    target = io.BytesIO()
    with wave.open(target, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(bytes(range(frames)) * 2)
    return target.getvalue()


NASTY = (
    INAUDIBLE,
    "[Interrupted]",
    "x\n[Interrupted after 5 ms]",
    '{"a": 1}',
    " ",
    "\n",
    "0",
    "Zoë 안녕 🎈",
    "1. user: x",
)
TEXT = st.one_of(st.sampled_from(NASTY), st.text(max_size=12))
WORDS = TEXT.filter(bool)
CALL_IDS = st.sampled_from(
    ("c1", "c2", "c3", "call_of_more_than_thirty_two_characters", "functions.look_up:0", "c" * 65)
)
TOOLS = st.sampled_from(("look_up", "weather", "transfer_to_billing"))
JSON = st.recursive(
    st.one_of(st.integers(-9, 9), TEXT, st.booleans()),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(TEXT, inner, max_size=2)),
    max_leaves=4,
)


class Customer(BaseModel):
    """What a tool may return: pydantic-ai keeps the object, and a model reads its JSON."""

    id: str
    born: date


@dataclass
class Order:
    """What a tool may return: a dataclass, with names that pydantic-ai's own parts have, too."""

    id: str
    speaker: str
    settings: list[str]


OBJECTS = st.one_of(
    st.builds(Customer, id=TEXT, born=st.dates()),
    st.builds(Order, TEXT, TEXT, st.lists(TEXT, max_size=1)),
    st.dates(),
    st.frozensets(WORDS, max_size=1),
    st.dictionaries(st.one_of(st.dates(), st.integers(0, 9)), WORDS, min_size=1, max_size=1),
    st.just(b"bytes"),
)
ARGS = st.one_of(st.just(None), st.dictionaries(TEXT, JSON, max_size=2), st.just('{"number": 7}'), st.just("{broken"))
PNG = BinaryContent(b"\x89PNG", media_type="image/png")
DETAIL = st.sampled_from((None, {"detail": "low"}, {"detail": "auto"}, {"other": 1}))
AUDIO = st.sampled_from(
    (None, BinaryContent(wav(), media_type="audio/wav"), BinaryContent(wav(8000), media_type="audio/wav"))
)
FILES = st.one_of(
    st.builds(ImageUrl, st.just("https://a.example/b.png"), vendor_metadata=DETAIL, force_download=st.booleans()),
    st.builds(BinaryContent, st.just(b"\x89PNG"), media_type=st.just("image/png"), vendor_metadata=DETAIL),
    st.builds(
        BinaryContent,
        st.just(b"%PDF"),
        media_type=st.sampled_from(("application/pdf", "text/plain", "application/json")),
        identifier=st.sampled_from((None, "a.pdf")),
        vendor_metadata=DETAIL,
    ),
    st.builds(BinaryContent, st.just(b"gif"), media_type=st.sampled_from(("image/gif", "video/mp4", "audio/wav"))),
    st.builds(DocumentUrl, st.just("https://a.example/b.pdf"), vendor_metadata=DETAIL, force_download=st.booleans()),
    st.sampled_from((AudioUrl("https://a.example/b.mp3"), VideoUrl("https://a.example/b.mp4"))),
    st.builds(
        UploadedFile,
        st.just("file-1"),
        st.sampled_from(("openai", "anthropic")),
        media_type=st.sampled_from((None, "image/png")),
        vendor_metadata=DETAIL,
    ),
)
CONTENT = st.one_of(
    TEXT, FILES, st.builds(TextContent, WORDS, metadata=st.sampled_from((None, 1))), st.just(CachePoint())
)
TIMES = st.sampled_from((None, [SpeechTimestamp(text="a", start_ms=0, duration_ms=9)]))
OUTCOMES = st.sampled_from(("success", "failed", "denied", "interrupted", "retried"))

RETURNED = (
    st.one_of(TEXT, JSON),
    st.one_of(OBJECTS, st.dictionaries(WORDS, OBJECTS, max_size=2)),
    st.lists(st.one_of(WORDS, FILES, OBJECTS), min_size=1, max_size=3),
)
RESULTS = st.one_of(
    *(
        st.builds(ToolReturnPart, TOOLS, each, CALL_IDS, outcome=OUTCOMES, metadata=st.sampled_from((None, 1)))
        for each in RETURNED
    )
)
ASKED = st.one_of(
    st.builds(UserPromptPart, TEXT),
    st.builds(UserPromptPart, st.lists(CONTENT, max_size=3)),
    st.builds(UserPromptPart, st.lists(FILES, min_size=1, max_size=2)),
    st.builds(
        SpeechPart, speaker=st.just("user"), transcript=st.one_of(st.none(), TEXT), audio=AUDIO, timestamps=TIMES
    ),
    RESULTS,
    st.builds(SystemPromptPart, WORDS, scope=st.sampled_from(("conversation", "request"))),
    st.builds(RetryFeedbackPart, WORDS, retry=st.just(RetryInfo(cause="model_retry"))),
    st.builds(CompactionPart, WORDS),
    st.just(ToolAvailabilityDeltaPart(tools_added=["x"])),
    st.builds(
        InstructionDeltaPart,
        id=st.sampled_from((InstructionId(RunInstructionSource(), name="a"), InstructionId(AgentInstructionSource()))),
        content=st.one_of(st.none(), WORDS),
    ),
)
OPENAI = st.sampled_from(("openai", None))
SOURCE = WebCitationSource("https://a.example", title="A", excerpts=["As it says."])
CITED = st.sampled_from((None, [Citation([SOURCE], anchor=ContentCitationAnchor(start=0, end=1))]))
ANNOTATED = [{"type": "url_citation", "url": "https://a", "title": "A", "start_index": 0, "end_index": 1}]
CALLS: st.SearchStrategy[ToolCallPart] = st.builds(
    ToolCallPart,
    TOOLS,
    ARGS,
    CALL_IDS,
    id=st.sampled_from((None, "fc_1", "item_3")),
    provider_name=st.just("openai"),
    provider_details=st.sampled_from((None, {"namespace": "shop"})),
)
SAID = st.one_of(
    st.builds(
        TextPart,
        TEXT,
        id=st.sampled_from((None, "msg_1", "msg_2", "item_1")),
        provider_name=st.just("openai"),
        citations=CITED,
        provider_details=st.sampled_from((None, {"annotations": ANNOTATED}, {"phase": "commentary"}, {"other": 1})),
    ),
    st.builds(
        SpeechPart,
        speaker=st.just("assistant"),
        transcript=st.one_of(st.none(), TEXT),
        audio=AUDIO,
        interrupted_at_ms=st.sampled_from((None, 0, 900)),
        timestamps=TIMES,
        id=st.sampled_from((None, "item_9")),
        provider_name=st.just("openai"),
    ),
    CALLS,
    st.builds(
        ThinkingPart,
        TEXT,
        id=st.sampled_from((None, "rs_1", "rs_2", "other")),
        signature=st.sampled_from((None, "sealed")),
        provider_name=st.sampled_from(("openai", "anthropic")),
        provider_details=st.sampled_from((None, {"raw_content": ["raw"]})),
    ),
    st.sampled_from(
        [
            NativeToolCallPart("web_search", {"query": "x", "type": "search"}, "ws_1", provider_name="openai"),
            NativeToolCallPart("web_search", {"query": "x"}, "ws_2", provider_name="openai"),
            NativeToolCallPart("web_search", {"query": "x", "type": "search"}, "ws_3", provider_name="google"),
            NativeToolCallPart("file_search", {"queries": ["x"]}, "fs_1", provider_name="openai"),
            NativeToolCallPart("mcp_server:shop", {"action": "list_tools"}, "mcp_1", provider_name="openai"),
            NativeToolCallPart("image_generation", None, "ig_1", provider_name="openai"),
            NativeToolCallPart("x_search", None, "xs_1", provider_name="xai"),
        ]
    ),
    st.just(NativeToolReturnPart("file_search", {"status": "failed"}, "fs_1", provider_name="openai")),
    st.builds(FilePart, st.just(BinaryContent(b"\x89PNG", media_type="image/png"))),
    st.builds(
        CompactionPart, st.none(), id=st.just("cmp_1"), provider_name=st.just("openai"),
        provider_details=st.just({"encrypted_content": "sealed"}),
    ),
    st.builds(CompactionPart, WORDS, id=st.just("cmp_2"), provider_name=st.just("anthropic")),
)  # fmt: skip
REQUESTS = st.builds(
    ModelRequest,
    parts=st.lists(ASKED, max_size=4),
    instructions=st.sampled_from((None, "Be brief.", "Be kind.")),
)
RESPONSES = st.builds(
    ModelResponse,
    parts=st.lists(SAID, max_size=4),
    state=st.sampled_from(("complete", "complete", "interrupted")),
    finish_reason=st.sampled_from((None, None, "stop", "length", "error")),
    provider_details=st.sampled_from((None, None, {"refusal": "I cannot do that."})),
    usage=st.sampled_from((RequestUsage(), RequestUsage(input_tokens=3))),
    model_name=st.sampled_from((None, "gpt-5.2")),
)


LONE = "c3"
"""A result with this id belongs to no other call than one of this id; any other goes to a call that waits for one."""


def told_apart(messages: list[ModelMessage]) -> list[ModelMessage]:
    """Return messages in which most results have a call, and no two calls of one id wait for theirs at the same time.

    By chance alone hardly any result would have one, and no service makes two calls of one id that wait.
    """
    waiting: list[str] = []
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                while part.tool_call_id in waiting:
                    part.tool_call_id += "_"
                waiting.append(part.tool_call_id)
            elif isinstance(part, ToolReturnPart):
                part.tool_call_id = _answered(part.tool_call_id, waiting)
    return messages


def _answered(call_id: str, waiting: list[str]) -> str:
    """Return the id of the call that a result of *call_id* belongs to, and take it from those that wait."""
    if call_id not in waiting and call_id != LONE and waiting:
        call_id = waiting[-1]
    if call_id in waiting:
        waiting.remove(call_id)
    return call_id


EXCHANGES = st.tuples(
    st.builds(lambda said, call: ModelResponse(parts=[*said, call]), st.lists(SAID, max_size=2), CALLS),
    st.builds(lambda result, asked: ModelRequest(parts=[result, *asked]), RESULTS, st.lists(ASKED, max_size=1)),
)
MESSAGES = (
    st.lists(st.one_of(st.tuples(REQUESTS), st.tuples(RESPONSES), EXCHANGES), max_size=6)
    .map(lambda groups: deepcopy([message for group in groups for message in group]))
    .map(told_apart)
)

Items = st.SearchStrategy[Any]


def records(**fields: Any) -> Items:
    """Return dictionaries; fields that are None are left out."""
    strategies = {name: each if isinstance(each, st.SearchStrategy) else st.just(each) for name, each in fields.items()}
    return st.fixed_dictionaries(strategies).map(lambda found: {k: v for k, v in found.items() if v is not None})


URI = "data:image/png;base64,iVBORw=="
PICTURE = st.sampled_from(("https://a.example/b.png", URI))
GIVEN = st.one_of(
    records(type="input_text", text=TEXT),
    records(
        type="input_image",
        image_url=PICTURE,
        detail=st.sampled_from((None, "low", "auto")),
    ),
    records(type="input_image", file_id="file-2", detail="auto"),
    records(type="input_file", file_id="file-1"),
    records(type="input_file", file_url=st.sampled_from(("https://a.example/b.pdf", "https://a.example/b.mp3"))),
    records(type="input_file", file_data="data:application/pdf;base64,JVBERg==", filename="a.pdf"),
    records(type="input_text", text="cached", prompt_cache_breakpoint=st.just({"mode": "explicit"})),
)
SOUND = {"data": base64.b64encode(wav()).decode(), "format": "wav"}
HEARD = records(type="input_audio", input_audio=st.just(SOUND), transcript=st.one_of(st.none(), WORDS))
STATUS = st.sampled_from((None, "completed", "incomplete"))
EXTRA = st.sampled_from((None, None, None, "what"))
WRITTEN = st.lists(records(type="output_text", text=TEXT, annotations=st.sampled_from(([], ANNOTATED))), max_size=2)
REFUSED = st.lists(records(type="refusal", refusal=WORDS), max_size=1)
CALL = records(
    type="function_call", call_id=CALL_IDS, name=TOOLS, arguments=st.sampled_from(("{}", '{"a": 1}', "{broken")),
    id=st.sampled_from((None, "fc_1")), status=STATUS, namespace=st.sampled_from((None, "shop")), extra=EXTRA,
)  # fmt: skip
OUTPUT = records(
    type="function_call_output", call_id=CALL_IDS, extra=EXTRA,
    output=st.one_of(TEXT, st.lists(GIVEN, max_size=2)),
)  # fmt: skip
ITEM = st.one_of(
    records(role="user", content=st.one_of(TEXT, st.lists(st.one_of(GIVEN, HEARD), max_size=3)), extra=EXTRA),
    records(type="message", role="assistant", content=TEXT, phase=st.sampled_from((None, "commentary"))),
    records(
        type="message", role="assistant", id=st.sampled_from(("msg_1", "__fake_id__")), status=STATUS.filter(bool),
        content=st.builds(list.__add__, WRITTEN, REFUSED), extra=EXTRA,
    ),
    records(role=st.sampled_from(("system", "developer")), content=WORDS),
    CALL,
    OUTPUT,
    records(
        type="reasoning", id="rs_1", encrypted_content=st.sampled_from((None, "sealed")),
        summary=st.lists(records(type="summary_text", text=WORDS), max_size=2),
        content=st.sampled_from((None, [{"type": "reasoning_text", "text": "raw"}])),
    ),
    records(type="compaction", id="cmp_1", encrypted_content="sealed"),
    records(id="msg_5", type=st.sampled_from((None, "item_reference"))),
    records(type="custom_tool_call", call_id=CALL_IDS, name=TOOLS, input=TEXT),
    records(type="web_search_call", id="ws_1", status="completed", action=st.just({"type": "search", "query": "x"})),
    records(type="mcp_call", id="mcp_1", server_label="shop", name="find", arguments="{}", output="found"),
    records(type="image_generation_call", id="ig_1", status="completed", result=st.sampled_from((None, "iVBORw=="))),
    records(type=st.sampled_from(("computer_call", "shell_call", "from_the_future")), id="cu_1"),
    records(type="additional_tools", role="developer", tools=st.just([])),
)  # fmt: skip


def items_told_apart(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return items in which most outputs have a call, and no two calls of one id wait for theirs at the same time."""
    waiting: list[str] = []
    for item in items:
        if item.get("type") == "function_call" and "output" in item and item["call_id"] not in waiting:
            continue  # a call of a session's history, with its output
        if str(item.get("type")).endswith("_output"):
            item["call_id"] = _answered(item["call_id"], waiting)
        elif "call_id" in item:
            while item["call_id"] in waiting:
                item["call_id"] += "_"
            waiting.append(item["call_id"])
    return items


ITEMS = (
    st.lists(st.one_of(st.tuples(ITEM), st.tuples(ITEM, ITEM), st.tuples(CALL, OUTPUT)), max_size=6)
    .map(lambda groups: deepcopy([item for group in groups for item in group]))
    .map(items_told_apart)
)

PCM = base64.b64encode(bytes(range(60))).decode()
HISTORY_ITEM = st.one_of(
    records(
        type="message", role="user",
        content=st.lists(
            st.one_of(
                records(type="input_text", text=TEXT),
                records(type="input_audio", transcript=st.one_of(st.none(), TEXT), audio=st.sampled_from((None, PCM))),
                records(type="input_image", image_url=PICTURE, detail=st.sampled_from((None, "low"))),
            ),
            max_size=2,
        ),
    ),
    records(
        type="message", role="assistant", status=st.sampled_from((None, "completed", "incomplete", "in_progress")),
        content=st.lists(
            st.one_of(
                records(type="text", text=TEXT),
                records(type="audio", transcript=st.one_of(st.none(), TEXT), audio=st.sampled_from((None, PCM))),
            ),
            max_size=2,
        ),
    ),
    records(type="message", role="system", content=st.lists(records(type="input_text", text=WORDS), min_size=1)),
    records(
        type="function_call", call_id=CALL_IDS, name=TOOLS, arguments=st.sampled_from(("{}", '{"a": 1}')),
        status=st.sampled_from(("in_progress", "completed")), output=st.one_of(st.none(), TEXT),
    ),
)  # fmt: skip
HISTORY = (
    st.lists(HISTORY_ITEM, max_size=8)
    .map(deepcopy)
    .map(items_told_apart)
    .map(lambda items: [{"item_id": f"item_{number}", **item} for number, item in enumerate(items, 1)])
)
