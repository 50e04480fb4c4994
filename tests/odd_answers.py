"""Answers of a service that are none, or no whole ones, in the form of the Responses API."""

from typing import Any


def answer(**facts: Any) -> dict[str, Any]:
    """Return a response that is complete but for *facts*."""
    part = {"type": "output_text", "text": "The lap", "annotations": []}
    message = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}
    tokens = {"input_tokens": 5, "output_tokens": 3, "total_tokens": 8}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    whole = {"id": "resp_1", "object": "response", "created_at": 1, "status": "completed", "model": "gpt-5.2"}
    rest = {"parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "usage": tokens | details}
    return whole | rest | {"output": [message]} | facts


REFUSAL = [
    {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "refusal", "refusal": "I cannot help with that."}],
    }
]
