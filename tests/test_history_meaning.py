"""Meaning survives every conversion of a history, both ways, and what does not is named: for made-up conversations."""

import contextlib
from itertools import zip_longest
from typing import Any

from agents import TResponseInputItem
from agents.handoffs import default_handoff_history_mapper
from agents.realtime import RealtimeItem
from history_meaning import Meaning, kept_or_named, of_items, of_messages, of_session
from history_samples import HISTORY, ITEMS, MESSAGES
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openai.types.realtime import ConversationItem
from pydantic import TypeAdapter
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter

from handoffkit.endpoint.protocol.realtime.items import ITEM
from handoffkit.endpoint.protocol.responses import ask
from handoffkit.endpoint.protocol.store import Store
from handoffkit.errors import NotItems
from handoffkit.history import (
    KINDS,
    Converted,
    from_items,
    from_session_history,
    to_items,
    to_seed,
    to_session_history,
)

RESPONSES = TypeAdapter(list[TResponseInputItem])
SESSION = TypeAdapter(list[RealtimeItem])
REALTIME = TypeAdapter(list[ConversationItem])

FIELDS = (
    *("type", "role", "content", "status", "id", "call_id", "name", "arguments", "output", "summary", "text"),
    *("transcript", "audio", "input_audio", "image_url", "detail", "file_data", "action", "encrypted_content"),
)
thorough = settings(max_examples=1000, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def saved(messages: list[ModelMessage]) -> list[ModelMessage]:
    """Return messages as they come back from a file."""
    return ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(messages))


def plain(converted: Converted[Any]) -> Converted[Any]:
    assert {loss.kind for loss in converted.losses} <= set(KINDS)
    return converted


@thorough
@given(MESSAGES)
def test_messages_as_items(messages: list[ModelMessage]) -> None:
    converted = plain(to_items(messages))
    kept_or_named(of_messages(messages), of_items(converted.items), converted)
    RESPONSES.validate_python(converted.items)
    if converted.items and not any(item.get("type") == "reasoning" for item in converted.items):
        sent = [{k: v for k, v in item.items() if v != "__fake_id__"} for item in converted.items]
        assert len(ask({"model": "gpt-5.2", "input": sent}, Store()).new) == len(sent)
    ids = [item["id"] for item in converted.items if item.get("id", "__fake_id__") != "__fake_id__"]
    assert len(set(ids)) == len(ids)


@thorough
@given(MESSAGES)
def test_messages_as_a_seed(messages: list[ModelMessage]) -> None:
    converted = plain(to_seed(messages))
    kept_or_named(of_messages(messages), of_items(converted.items), converted)
    REALTIME.validate_python(converted.items)
    for item in converted.items:
        ITEM(item, "item")


@thorough
@given(MESSAGES)
def test_messages_as_session_history(messages: list[ModelMessage]) -> None:
    converted = plain(to_session_history(messages))
    kept_or_named(of_messages(messages), of_session(converted.items), converted)
    SESSION.validate_python(converted.items)
    assert len({item["item_id"] for item in converted.items}) == len(converted.items)


@thorough
@given(ITEMS)
def test_items_as_messages(items: list[dict[str, Any]]) -> None:
    converted = plain(from_items(items))
    kept_or_named(of_items(items), of_messages(converted.items), converted)
    assert of_messages(saved(converted.items)) == of_messages(converted.items)


@thorough
@given(HISTORY)
def test_session_history_as_messages(history: list[dict[str, Any]]) -> None:
    converted = plain(from_session_history(history))
    kept_or_named(of_session(history), of_messages(converted.items), converted)
    assert of_messages(saved(converted.items)) == of_messages(converted.items)
    objects = SESSION.validate_python(history)
    assert meaning_of(from_session_history(objects)) == meaning_of(converted)


def meaning_of(converted: Converted[ModelMessage]) -> tuple[Meaning, str]:
    return of_messages(converted.items), converted.instructions


@thorough
@given(ITEMS)
def test_items_and_back(items: list[dict[str, Any]]) -> None:
    once = to_items(from_items(items).items)
    again = to_items(from_items(once.items).items)
    assert again.items == once.items, "what has been there and back once does not change any more"


@thorough
@given(ITEMS)
def test_a_summary_before_a_handoff_says_what_its_turns_say(items: list[dict[str, Any]]) -> None:
    (summary,) = default_handoff_history_mapper(items)  # type: ignore[arg-type]
    unfolded, straight = from_items([summary]), from_items(items)
    assert unfolded.losses[0].kind == "nested"
    assert unfolded.instructions == straight.instructions


ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=3)),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.sampled_from(FIELDS), inner, max_size=3)),
    max_leaves=6,
)


WRONG = st.dictionaries(st.sampled_from(FIELDS), ANYTHING, max_size=3)


@thorough
@given(st.one_of(ITEMS, HISTORY), st.lists(WRONG, max_size=4))
def test_whatever_stands_in_a_list_is_read_or_named(items: list[dict[str, Any]], wrong: list[dict[str, Any]]) -> None:
    nothing: dict[str, Any] = {}
    broken = [item | other for item, other in zip_longest(items, wrong, fillvalue=nothing)]
    for convert in (from_items, from_session_history):
        with contextlib.suppress(NotItems):
            saved(convert(broken).items)
