"""pydantic-ai messages as the other SDK's items, session history and seeds, and back; held to SDKs and service."""

import asyncio
import base64
import json
import subprocess
import sys
from typing import Any

import pytest
from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    Runner,
    SQLiteSession,
    TResponseInputItem,
    set_default_openai_client,
    set_tracing_disabled,
)
from agents.handoffs import default_handoff_history_mapper
from agents.models.fake_id import FAKE_RESPONSES_ID
from agents.realtime import AssistantMessageItem, RealtimeAgent, RealtimeToolCallItem, UserMessageItem
from agents.realtime.items import AssistantAudio, InputAudio
from openai import AsyncOpenAI
from pydantic import TypeAdapter
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai.messages import (
    INTERRUPTED_TOOL_RETURN_CONTENT,
    BinaryContent,
    DocumentUrl,
    FilePart,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    NativeToolCallPart,
    NativeToolReturnPart,
    RetryPromptPart,
    SpeechPart,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UploadedFile,
    UserPromptPart,
)
from pydantic_ai.models.test import TestModel
from pydantic_ai.native_tools import (
    CodeExecutionTool,
    FileSearchTool,
    ImageGenerationTool,
    MCPServerTool,
    WebSearchTool,
)
from realtime_driver import Driver

import handoffkit as hk
from handoffkit.connect import Endpoint
from handoffkit.endpoint.models.prompt import Message, ToolCall, ToolResult
from handoffkit.errors import NotItems
from handoffkit.history import (
    INAUDIBLE,
    caller_words,
    from_items,
    from_session_history,
    to_items,
    to_seed,
    to_session_history,
)
from handoffkit.history.hosted import NAMES
from handoffkit.history.write_answers import NO_ID

set_tracing_disabled(True)

ITEMS = TypeAdapter(list[TResponseInputItem])

CALL: list[ModelMessage] = [
    ModelRequest(
        parts=[SystemPromptPart("Be kind."), UserPromptPart("My laptop does not charge.")], instructions="Ask."
    ),
    ModelResponse(parts=[TextPart("One moment."), ToolCallPart("look_up", '{"number": 7}', "call_1")]),
    ModelRequest(parts=[ToolReturnPart("look_up", {"status": "shipped"}, "call_1")]),
    ModelResponse(
        parts=[SpeechPart(speaker="assistant", transcript="It is", interrupted_at_ms=600)], state="interrupted"
    ),
]


def test_a_call_as_items() -> None:
    converted = to_items(CALL)
    assert converted.instructions == "Be kind.\n\nAsk."
    assert converted.losses == ()
    assert converted.items == [
        {"role": "user", "content": "My laptop does not charge."},
        {"type": "message", "role": "assistant", "content": "One moment."},
        {"type": "function_call", "call_id": "call_1", "name": "look_up", "arguments": '{"number": 7}'},
        {"type": "function_call_output", "call_id": "call_1", "output": '{"status":"shipped"}'},
        {
            "type": "message",
            "role": "assistant",
            "id": "__fake_id__",
            "status": "incomplete",
            "content": [{"type": "output_text", "text": "It is\n[Interrupted after 600 ms]", "annotations": []}],
        },
    ]
    ITEMS.validate_python(converted.items)


def test_items_as_a_call_again() -> None:
    converted = from_items(to_items(CALL).items)
    assert (converted.instructions, converted.losses) == ("", ())
    asked, looked, returned, said = converted.items
    assert [part.part_kind for part in looked.parts] == ["text", "tool-call"]
    assert isinstance(said, ModelResponse)
    assert (said.state, said.parts) == ("interrupted", list(CALL[-1].parts))
    assert len(asked.parts) == len(returned.parts) == 1


def test_an_empty_history_stays_empty() -> None:
    assert to_items([]).items == []
    assert from_items([]).items == []


def test_calls_at_once_keep_their_order_and_a_call_that_never_returned_says_so() -> None:
    converted = to_items(
        [
            ModelResponse(
                parts=[ToolCallPart("a", "{}", "c1"), ToolCallPart("b", "{}", "c2"), ToolCallPart("c", "{}", "c3")]
            ),
            ModelRequest(parts=[ToolReturnPart("b", "2", "c2"), ToolReturnPart("a", "1", "c1")]),
            ModelRequest(parts=[UserPromptPart("Hello?"), ToolReturnPart("x", "?", "c9")]),
        ]
    )
    assert [(item.get("call_id"), item.get("output")) for item in converted.items[3:6]] == [
        ("c2", "2"),
        ("c1", "1"),
        ("c3", INTERRUPTED_TOOL_RETURN_CONTENT),
    ]
    assert [str(loss) for loss in converted.losses] == [
        "In message 3: a result of x without a call before it is left out.",
        "In message 1: c was called and never returned; its result now says so.",
    ]


def test_a_result_without_its_call_and_a_call_without_its_result_are_repaired_the_other_way_too() -> None:
    items: list[Any] = [
        {"type": "function_call_output", "call_id": "c9", "output": "?"},
        {"type": "function_call", "call_id": "c1", "name": "look_up", "arguments": "{}"},
        {"role": "user", "content": "Hello?"},
    ]
    converted = from_items(items)
    assert [loss.kind for loss in converted.losses] == ["result", "call"]
    call, returned, asked = converted.items
    (part,) = returned.parts
    assert isinstance(part, ToolReturnPart)
    assert (part.tool_call_id, part.outcome) == ("c1", "interrupted")
    assert caller_words([call, asked]) == ["Hello?"]


def test_operator_text_is_never_what_a_caller_said() -> None:
    items: list[Any] = [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Hi."},
        {"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "Now be brief."}]},
    ]
    converted = from_items(items)
    assert converted.instructions == "Be kind.\n\nNow be brief."
    assert caller_words(converted.items) == ["Hi."]
    assert [(loss.kind, loss.where) for loss in converted.losses] == [("place", "item 3")]


def test_of_instructions_that_were_replaced_the_last_hold() -> None:
    messages: list[ModelMessage] = [
        ModelRequest(
            parts=[
                SystemPromptPart("It is Monday.", context_id="day"),
                SystemPromptPart("Be kind."),
                UserPromptPart("Hi."),
            ],
            instructions="Ask.",
        ),
        ModelResponse(parts=[TextPart("Hello.")]),
        ModelRequest(parts=[SystemPromptPart("It is Tuesday.", context_id="day")], instructions="Sum up."),
    ]
    for convert in (to_items, to_session_history, to_seed):
        converted = convert(messages)
        assert converted.instructions == "Be kind.\n\nIt is Tuesday.\n\nSum up."
        assert len(converted.items) == 2
        kinds = [(loss.kind, loss.where) for loss in converted.losses if loss.kind != "record"]
        assert sorted(kinds) == [("place", "message 3"), ("superseded", "message 1"), ("superseded", "message 1")]


async def test_an_instruction_that_changes_on_the_way_is_the_one_in_force() -> None:
    """pydantic-ai keeps the first words in `instructions` and each change as a part of a later request."""
    days = iter(["It is Monday.", "It is Tuesday.", "It is Wednesday.", "", "It is Friday."])
    agent = PydanticAgent(TestModel(custom_output_text="Yes."), instructions="Be kind.")

    @agent.instructions(on_change="append", name="day")
    def day() -> str:
        return next(days)

    history: list[ModelMessage] = []
    told = []
    for asked in ("Hi.", "And now?", "And now?", "And now?", "And now?"):
        history = (await agent.run(asked, message_history=history)).all_messages()
        told.append([convert(history).instructions for convert in (to_items, to_session_history, to_seed)])
    assert told == [
        [f"Be kind.{day}"] * 3
        for day in ("\n\nIt is Monday.", "\n\nIt is Tuesday.", "\n\nIt is Wednesday.", "", "\n\nIt is Friday.")
    ]
    kinds = [(loss.kind, loss.where) for loss in to_items(history).losses if loss.kind != "record"]
    assert sorted(kinds) == sorted(
        [
            *[("place", f"message {number}") for number in (3, 5, 9)],
            *[("superseded", f"message {number}") for number in (1, 3, 5)],
        ]
    )


@pytest.mark.filterwarnings("ignore")
def test_what_a_model_was_told_to_do_over_is_the_result_of_its_call_or_left_out() -> None:
    messages: list[ModelMessage] = [
        ModelResponse(parts=[ToolCallPart("look_up", "{}", "c1")]),
        ModelRequest(
            parts=[RetryPromptPart("No number.", tool_name="look_up", tool_call_id="c1"), RetryPromptPart("Again.")]
        ),
    ]
    converted = to_items(messages)
    assert [item["type"] for item in converted.items] == ["function_call", "function_call_output"]
    assert json.loads(converted.items[1]["output"])["error"].startswith("No number.")
    assert {loss.kind for loss in converted.losses} == {"retry", "outcome"}


def test_an_agents_handoff_is_a_call_with_its_result() -> None:
    items: list[Any] = [
        {"type": "function_call", "call_id": "c1", "name": "transfer_to_billing", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": '{"assistant": "Billing"}'},
    ]
    converted = from_items(items)
    assert converted.losses == ()
    assert to_items(converted.items).items == items


def test_a_summary_before_a_handoff_gives_the_caller_their_words_back() -> None:
    turns: list[Any] = [
        {"role": "user", "content": "It broke."},
        {"role": "assistant", "content": "Two\nlines."},
        {"type": "function_call", "call_id": "c1", "name": "transfer_to_billing", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": '{"assistant": "Billing"}'},
    ]
    converted = from_items([*default_handoff_history_mapper(turns), {"role": "user", "content": "Hello?"}])
    assert caller_words(converted.items) == ["It broke.", "Hello?"]
    assert [message.kind for message in converted.items] == ["request", "response", "request", "request"]
    assert [loss.kind for loss in converted.losses] == ["nested"]
    nested_again = default_handoff_history_mapper([*default_handoff_history_mapper(turns)])
    assert caller_words(from_items(nested_again).items) == ["It broke."]


def test_a_summary_that_cannot_be_read_is_named() -> None:
    """It stays an agent's, the caller's words too: with wrappers of one's own, or where lines run into each other."""
    (summary,) = default_handoff_history_mapper([{"role": "user", "content": "It broke."}])
    text = str(summary["content"])  # type: ignore[typeddict-item]
    for changed in (text.replace("CONVERSATION HISTORY", "TALK"), text.replace("It broke.", "It broke.\n2. Twice.")):
        converted = from_items([{**summary, "content": changed}])
        assert [(loss.kind, loss.where) for loss in converted.losses] == [("unknown", "item 1")]
        assert [message.kind for message in converted.items] == ["response"]


def test_a_file_beside_operator_text_is_named() -> None:
    shown: list[Any] = [
        {"type": "input_text", "text": "Be kind."},
        {"type": "input_image", "image_url": "https://a.example/b.png"},
    ]
    converted = from_items([{"role": "developer", "content": shown}])
    assert (converted.instructions, [loss.kind for loss in converted.losses]) == ("Be kind.", ["file"])


def test_a_reply_that_looks_like_a_summary_stays_a_reply() -> None:
    (summary,) = default_handoff_history_mapper([{"role": "user", "content": "Forged."}])
    said: Any = {"type": "output_text", "text": summary["content"], "annotations": []}  # type: ignore[typeddict-item]
    item: Any = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [said]}
    assert caller_words(from_items([item]).items) == []


def test_the_words_of_a_cut_reply_are_those_that_the_other_sdk_would_send() -> None:
    said = ModelResponse(
        parts=[SpeechPart(speaker="assistant", transcript="First check", interrupted_at_ms=900)], state="interrupted"
    )
    (prepared,) = TestModel().prepare_messages([said])
    (item,) = to_items([said]).items
    assert [part["text"] for part in item["content"]] == [
        part.content for part in prepared.parts if isinstance(part, TextPart)
    ]
    (seeded,) = to_seed([said]).items
    assert seeded["content"][0]["text"] == item["content"][0]["text"]


def test_names_of_the_sdks_are_as_they_have_them() -> None:
    assert NO_ID == FAKE_RESPONSES_ID
    kinds = (WebSearchTool, FileSearchTool, CodeExecutionTool, ImageGenerationTool, MCPServerTool, MCPServerTool)
    assert list(NAMES.values()) == [tool.kind for tool in kinds]


def test_reasoning_stays_with_what_it_was_sealed_with() -> None:
    thought = ThinkingPart("Hm.", id="rs_1", signature="sealed", provider_name="openai")
    said = TextPart("Yes.", id="msg_1", provider_name="openai")
    kept = to_items([ModelResponse(parts=[thought, said])])
    assert [item["id"] for item in kept.items] == ["rs_1", "msg_1"]
    assert from_items(kept.items).items[0].parts == [thought, said]
    alone = to_items([ModelResponse(parts=[thought]), ModelRequest(parts=[UserPromptPart("Well?")])])
    assert [item.get("type", "message") for item in alone.items] == ["message"]
    assert [loss.kind for loss in alone.losses] == ["thought"]
    new = to_items([ModelResponse(parts=[thought, TextPart("Yes.")])])
    assert new.items == [{"type": "message", "role": "assistant", "content": "Yes."}]


def test_what_a_hosted_tool_did_goes_there_and_back() -> None:
    items: list[Any] = [
        {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "x"}},
        {"type": "mcp_call", "id": "mcp_1", "server_label": "shop", "name": "find", "arguments": "{}", "output": "2"},
    ]
    converted = from_items(items)
    assert converted.losses == ()
    assert to_items(converted.items).items == items
    (response,) = converted.items
    assert [part.tool_name for part in response.parts if isinstance(part, NativeToolCallPart)] == [
        "web_search",
        "mcp_server:shop",
    ]
    own = [replace_details(part) for part in response.parts]
    again = to_items([ModelResponse(parts=own)])
    assert [{k: v for k, v in item.items() if k not in ("status", "error")} for item in again.items] == [
        {k: v for k, v in item.items() if k != "status"} for item in items
    ]


@pytest.mark.parametrize(
    "file",
    [
        DocumentUrl("https://a.example/b.pdf", force_download=True),
        DocumentUrl("https://a.example/b.pdf", vendor_metadata={"other": 1}),
        UploadedFile("file-1", "openai", vendor_metadata={"other": 1}),
        BinaryContent(b"%PDF", media_type="application/pdf", vendor_metadata={"other": 1}),
    ],
    ids=["download", "address", "uploaded", "data"],
)
def test_what_was_said_beside_a_file_is_named(file: Any) -> None:
    converted = to_items([ModelRequest(parts=[UserPromptPart([file])])])
    assert [part["type"] for part in converted.items[0]["content"]] == ["input_file"]
    assert [(loss.kind, loss.where) for loss in converted.losses] == [("file", "message 1")]


PICTURE = base64.b64encode(b"\x89PNG").decode()


@pytest.mark.parametrize(
    ("item", "args", "content"),
    [
        (
            {"type": "web_search_call", "status": "failed", "action": {"type": "search", "query": "x", "sources": [1]}},
            {"type": "search", "query": "x"},
            {"status": "failed", "sources": [1]},
        ),
        (
            {"type": "file_search_call", "status": "completed", "queries": ["x"], "results": [{"text": "found"}]},
            {"queries": ["x"]},
            {"status": "completed", "results": [{"text": "found"}]},
        ),
        (
            {
                "type": "code_interpreter_call",
                "status": "completed",
                "container_id": "cntr_1",
                "code": "1 + 1",
                "outputs": [{"type": "logs", "logs": "2"}, {"type": "image", "url": "https://a.example/b.png"}],
            },
            {"container_id": "cntr_1", "code": "1 + 1"},
            {"status": "completed", "logs": ["2"]},
        ),
        (
            {"type": "image_generation_call", "status": "completed", "result": PICTURE, "revised_prompt": "A cat."},
            None,
            {"status": "completed", "revised_prompt": "A cat."},
        ),
        (
            {"type": "mcp_call", "server_label": "shop", "name": "find", "arguments": '{"n": 1}', "error": "Gone."},
            {"action": "call_tool", "tool_name": "find", "tool_args": {"n": 1}},
            {"error": "Gone."},
        ),
        (
            {"type": "mcp_list_tools", "server_label": "shop", "tools": [{"name": "find"}]},
            {"action": "list_tools"},
            {"tools": [{"name": "find"}]},
        ),
    ],
    ids=lambda each: str(each.get("type")) if isinstance(each, dict) and "type" in each else "",
)
def test_what_a_hosted_tool_was_asked_and_gave_can_be_read(item: dict[str, Any], args: Any, content: Any) -> None:
    """And a part of pydantic-ai's own says it in an item again, as far as pydantic-ai keeps it."""
    (response,) = from_items([{**item, "id": "x_1"}]).items
    call, *made, returned = response.parts
    assert isinstance(call, NativeToolCallPart)
    assert isinstance(returned, NativeToolReturnPart)
    assert (call.args, returned.content) == (args, content)
    pictures = [part.content.data for part in made if isinstance(part, FilePart)]
    assert pictures == ([b"\x89PNG"] if "result" in item else [])
    (again,) = to_items([ModelResponse(parts=[replace_details(part) for part in response.parts])]).items
    unkept = {"revised_prompt", "outputs", "status", "action", "arguments"}
    assert {k: v for k, v in item.items() if k not in unkept}.items() <= again.items()
    assert again.get("status", "completed") == item.get("status", "completed")


def replace_details(part: Any) -> Any:
    """Return a hosted tool's part as pydantic-ai's own run makes it, without our item beside it."""
    if isinstance(part, NativeToolCallPart):
        return NativeToolCallPart(part.tool_name, part.args, part.tool_call_id, provider_name="openai")
    assert isinstance(part, NativeToolReturnPart | FilePart)
    return part


def test_a_refusal_is_a_refusal_on_both_sides() -> None:
    refused = ModelResponse(parts=[], provider_details={"refusal": "I cannot."}, finish_reason="content_filter")
    (item,) = to_items([refused]).items
    assert item["content"] == [{"type": "refusal", "refusal": "I cannot."}]
    (back,) = from_items([item]).items
    assert isinstance(back, ModelResponse)
    assert (back.finish_reason, (back.provider_details or {})["refusal"]) == ("content_filter", "I cannot.")


def test_a_sessions_history_says_what_was_heard_and_what_was_not() -> None:
    history = [
        UserMessageItem(item_id="i1", content=[InputAudio(transcript=None)]),
        AssistantMessageItem(item_id="i2", status="incomplete", content=[AssistantAudio(transcript="First check")]),
        RealtimeToolCallItem(
            item_id="i3", call_id="c1", status="completed", arguments="{}", name="look_up", output="shipped"
        ),
    ]
    converted = from_session_history(history)
    asked, said, called, returned = converted.items
    assert asked.parts == [SpeechPart(speaker="user", transcript=INAUDIBLE)]
    assert isinstance(said, ModelResponse)
    assert said.state == "interrupted"
    assert (len(called.parts), len(returned.parts)) == (1, 1)
    items = to_session_history(converted.items).items
    assert [item["item_id"] for item in items] == ["item_1", "i2", "item_2"]
    assert items[1]["status"] == "incomplete"
    assert items[2]["output"] == "shipped"


@pytest.mark.parametrize("wrong", [1, None, ["role"]])
def test_what_is_no_item_is_named(wrong: Any) -> None:
    with pytest.raises(NotItems, match="In item 2 stands"):
        from_items([{"role": "user", "content": "Hi."}, wrong])
    with pytest.raises(NotItems, match="In item 1 stands"):
        from_session_history([wrong])
    with pytest.raises(NotItems, match=r"In item 1 stands builtins\.int"):
        from_items([{"role": "user", "content": 7}])


@pytest.mark.parametrize(
    ("call_id", "refused"),
    [("functions.look_up:0", {to_seed}), ("", {to_items, to_seed}), ("c" * 65, {to_items, to_seed})],
)
def test_an_id_that_the_other_side_would_refuse_is_made_anew(call_id: str, refused: set[Any]) -> None:
    """Other services' calls have such ids. The Responses API takes 1 to 64 characters, whatever they are."""
    call = ToolCallPart("look_up", "{}", call_id, id="fc_1", provider_name="openai")
    returns = ToolReturnPart("look_up", "shipped", call_id)
    messages: list[ModelMessage] = [ModelResponse(parts=[call]), ModelRequest(parts=[returns])]
    for convert in (to_items, to_seed):
        converted = convert(messages)
        called, returned = converted.items
        assert called["call_id"] == returned["call_id"]
        assert (called["call_id"] != call_id) == (convert in refused)
        assert ("name" in [loss.kind for loss in converted.losses]) == (convert in refused)
        assert ("id" in called) == (convert not in refused and convert is to_items), "by it the old call would be found"
        assert ("record" in [loss.kind for loss in converted.losses]) == ("id" not in called)
    driver = Driver()
    for item in to_seed(messages).items:
        assert driver.send("conversation.item.create", item=item)[-1]["type"] == "conversation.item.done"


def test_a_realtime_session_takes_the_seed() -> None:
    driver = Driver()
    for item in to_seed(CALL).items:
        assert [event["type"] for event in driver.send("conversation.item.create", item=item)][
            -1
        ] == "conversation.item.done"
    assert driver.heard_so_far().history == (
        Message("user", "My laptop does not charge."),
        Message("assistant", "One moment."),
        ToolCall("look_up", '{"number": 7}', "call_1"),
        ToolResult("call_1", '{"status":"shipped"}'),
        Message("assistant", "It is\n[Interrupted after 600 ms]"),
    )


@pytest.fixture
def client(connected: Endpoint) -> AsyncOpenAI:
    """Give each test's event loop a client of its own."""
    client = AsyncOpenAI()
    set_default_openai_client(client, use_for_tracing=False)
    return client


@pytest.mark.parametrize("api", ["responses", "chat", "session"])
async def test_an_agent_of_the_other_sdk_reads_the_whole_call(api: str, client: AsyncOpenAI) -> None:
    """Through its own transports: the words of a pydantic-ai call are what the next model is given."""
    hk.connect(model=hk.ScriptedModel(outputs=["It is on its way."]))
    items: Any = to_items(CALL).items
    model = OpenAIChatCompletionsModel("gpt-5.2", client) if api == "chat" else "gpt-5.2"
    agent = Agent(name="Next", instructions=to_items(CALL).instructions, model=model)
    if api == "session":
        session = SQLiteSession("call")
        await session.add_items(items)
        result = await Runner.run(agent, "And now?", session=session)
    else:
        result = await Runner.run(agent, [*items, {"role": "user", "content": "And now?"}])
    assert result.final_output == "It is on its way."
    text = json.dumps([frame.data for frame in hk.log() if frame.dir == "client"])
    for words in ("does not charge", "One moment.", "look_up", "shipped", "[Interrupted after 600 ms]", "And now?"):
        assert words in text
    assert NO_ID not in text
    history = from_items(result.to_input_list()).items
    assert caller_words(history)[-1] == "And now?"


def test_a_history_is_turned_without_the_other_sdk() -> None:
    code = (
        "import sys, handoffkit.history as h; h.to_seed([]); h.from_session_history([]); print('agents' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout == "False\n"


async def test_reasoning_goes_to_the_other_sdk_with_what_it_was_sealed_with(client: AsyncOpenAI) -> None:
    """The service refuses reasoning without its pair and the pair without it, so it knows whether both came through."""
    thinks: list[Any] = [[hk.Reasoning("Is it plugged in?"), "Is the light on?"], "Thank you.", "Bye."]
    hk.connect(model=hk.ScriptedModel(outputs=thinks))
    first = await Runner.run(Agent(name="First", model="gpt-5.2"), "It does not charge.")
    history = from_items(first.to_input_list())
    assert [part.part_kind for message in history.items for part in message.parts] == [
        "user-prompt",
        "thinking",
        "text",
    ]
    second = await PydanticAgent("openai:gpt-5.2").run("It is off.", message_history=history.items)
    assert second.output == "Thank you."
    items: Any = to_items(second.all_messages()).items
    third = await Runner.run(Agent(name="Third", model="gpt-5.2"), [*items, {"role": "user", "content": "Bye."}])
    assert third.final_output == "Bye."
    sent = [frame.data["input"] for frame in hk.log() if frame.dir == "client" and "input" in frame.data]
    assert [[item["type"] for item in each if item.get("type") == "reasoning"] for each in sent[1:]] == [
        ["reasoning"]
    ] * 2
    assert from_items(items).losses == ()


async def test_a_reply_that_was_cut_off_in_a_session_is_interrupted(connected: Endpoint) -> None:
    slow = hk.Fault("response.output_audio.delta", "delay", nth=0, seconds=0.2)
    hk.connect(model=hk.ScriptedModel(["This is a long explanation. " * 20, "Thank you."]), faults=(slow,))
    async with hk.Call(RealtimeAgent(name="Help", instructions="Help.")) as call:
        sending = asyncio.create_task(call.send("It does not charge."))
        async with asyncio.timeout(20):
            while sum(turn.audio_ms for turn in call.turns if turn.speaker == "agent") < 400:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        await call.interrupt(played_ms=300)
        await asyncio.wait_for(sending, 20)
        await call.send("Since today.")
        history = from_session_history(call.session._history).items
    (cut, whole) = [message for message in history if isinstance(message, ModelResponse)]
    assert (cut.state, whole.state) == ("interrupted", "complete")
    assert str(cut.parts[0].content).startswith("This is a long")  # type: ignore[union-attr]
    (item,) = [item for item in to_items(history).items if item.get("status") == "incomplete"]
    assert item["content"][0]["text"].endswith("\n[Interrupted]")
