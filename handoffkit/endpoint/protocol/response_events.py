"""The events by which one finished item of a response is streamed, without their sequence numbers."""

from collections.abc import Iterator

from .deltas import obfuscation, pieces
from .items import Record


def of_item(index: int, item: Record, *, padded: bool = True) -> Iterator[Record]:
    """Yield the events of *item*, from `response.output_item.added` to `response.output_item.done`.

    Args:
        index: The item's place in the response's output.
        item: The finished item: reasoning, a message of the assistant's or a call of a function.
        padded: Whether deltas come with `obfuscation`.
    """
    place = {"item_id": item["id"], "output_index": index}
    yield {"type": "response.output_item.added", "item": _begun(item), "output_index": index}
    match item["type"]:
        case "message":
            for number, part in enumerate(item["content"]):
                yield from _of_text({"content_index": number, **place}, part, padded)
        case "reasoning":
            for number, part in enumerate(item["summary"]):
                yield from _of_summary({**place, "summary_index": number}, part, padded)
        case _:
            yield from _of_arguments(place, item, padded)
    yield {"type": "response.output_item.done", "item": item, "output_index": index}


def _begun(item: Record) -> Record:
    """Return *item* as it stands when it begins; reasoning has no status while it is whole."""
    match item["type"]:
        case "message":
            return {**item, "status": "in_progress", "content": []}
        case "reasoning":
            return {name: value for name, value in item.items() if name != "status"} | {"summary": []}
    return {**item, "status": "in_progress", "arguments": ""}


def _of_summary(place: Record, part: Record, padded: bool) -> Iterator[Record]:
    yield {"type": "response.reasoning_summary_part.added", **place, "part": {**part, "text": ""}}
    for delta in _deltas(place, part["text"], padded):
        yield {"type": "response.reasoning_summary_text.delta", **place, **delta}
    yield {"type": "response.reasoning_summary_text.done", **place, "text": part["text"]}
    yield {"type": "response.reasoning_summary_part.done", **place, "part": part}


def _of_text(place: Record, part: Record, padded: bool) -> Iterator[Record]:
    yield {"type": "response.content_part.added", **place, "part": {**part, "text": ""}}
    for delta in _deltas(place, part["text"], padded):
        yield {"type": "response.output_text.delta", **place, **delta, "logprobs": []}
    yield {"type": "response.output_text.done", **place, "logprobs": [], "text": part["text"]}
    yield {"type": "response.content_part.done", **place, "part": part}


def _of_arguments(place: Record, item: Record, padded: bool) -> Iterator[Record]:
    for delta in _deltas(place, item["arguments"], padded):
        yield {"type": "response.function_call_arguments.delta", **place, **delta}
    yield {"type": "response.function_call_arguments.done", **place, "arguments": item["arguments"]}


def _deltas(place: Record, text: str, padded: bool) -> Iterator[Record]:
    for number, delta in enumerate(pieces(text)):
        padding = {"obfuscation": obfuscation(delta, (place["item_id"], number))} if padded else {}
        yield {"delta": delta, **padding}
