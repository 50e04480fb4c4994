"""pydantic-ai messages as openai-agents' items, and back."""

from agents import TResponseInputItem
from pydantic import TypeAdapter
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SpeechPart,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from handoffkit.history import from_items, to_items

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
