"""Conversations, kept responses and the list of models: what the service answers without a model."""

from typing import Any

import pytest
from http_service import GET_CAPITAL, JSON, NOW, Service, valid
from hypothesis import given
from openai import NotFoundError
from openai.types import Model
from openai.types.conversations import (
    Conversation,
    ConversationDeletedResource,
    ConversationItem,
    ConversationItemList,
)
from openai.types.responses import Response, ResponseItemList

from handoffkit.endpoint.models.prompt import Reply
from handoffkit.endpoint.protocol import conversations, responses, store
from handoffkit.endpoint.protocol.api_error import ApiError
from handoffkit.endpoint.protocol.conversations import Store
from handoffkit.endpoint.protocol.ids import Ids

CALL = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
BELOW = "Invalid 'limit': integer below minimum value. Expected a value >= 1, but got 0 instead."
ABOVE = "Invalid 'limit': integer above maximum value. Expected a value <= 100, but got 101 instead."
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "x"}


class Desk:
    """A service with one client."""

    def __init__(self) -> None:
        self.store, self._ids = Store(), Ids("s")

    def ask(self, method: str, path: str, body: Any = None, **query: str) -> dict[str, Any]:
        return conversations.handle(method, f"/v1/{path}", query, body, self.store, self._ids, NOW)

    def refusal(self, method: str, path: str, body: Any = None, **query: str) -> ApiError:
        with pytest.raises(ApiError) as caught:
            self.ask(method, path, body, **query)
        return caught.value

    def conversation(self, *items: Any) -> str:
        return str(self.ask("POST", "conversations", {"items": list(items)})["id"])

    def response(self, **body: Any) -> dict[str, Any]:
        asked = responses.ask({"model": "gpt-5.2", "input": "Hello", **body}, self.store)
        return responses.complete(asked, Reply("Hi."), self._ids, NOW)


def said(number: int) -> dict[str, Any]:
    return {"role": "user", "content": f"turn {number}"}


@pytest.fixture
def desk() -> Desk:
    return Desk()


def texts(listing: dict[str, Any]) -> list[str]:
    return [item["content"][0]["text"] for item in listing["data"]]


@pytest.mark.parametrize("body", [None, {}, {"items": []}, {"metadata": None}])
def test_a_conversation_is_made_read_changed_and_deleted(desk: Desk, body: Any) -> None:
    made = desk.ask("POST", "conversations", body)
    valid(Conversation, made)
    assert made == {"id": made["id"], "object": "conversation", "created_at": int(NOW), "metadata": {}}
    path = f"conversations/{made['id']}"
    assert desk.ask("GET", path) == made
    changed = desk.ask("POST", path, {"metadata": {"topic": "laptop"}})
    assert changed == desk.ask("GET", path) == {**made, "metadata": {"topic": "laptop"}}
    assert desk.ask("POST", path, {"metadata": None}) == made
    gone = desk.ask("DELETE", path)
    valid(ConversationDeletedResource, gone)
    assert gone == {"id": made["id"], "object": "conversation.deleted", "deleted": True}
    for method in ("GET", "DELETE"):
        assert desk.refusal(method, path).message == f"Conversation with id '{made['id']}' not found."
        assert desk.refusal(method, path).status == 404


def test_items_are_kept_in_the_shape_in_which_they_are_given_back(desk: Desk) -> None:
    sent = [
        {"role": "user", "content": "Hello"},
        {"role": "developer", "content": [{"type": "input_text", "text": "Be kind."}]},
        {"role": "user", "content": [{"type": "input_image", "image_url": "http://x/y.png"}]},
        {"role": "assistant", "content": "Hi.", "id": "msg_mine", "phase": None},
        CALL,
        {**OUTPUT, "output": [{"type": "input_text", "text": "x"}]},
        {"type": "reasoning", "id": "rs_1", "summary": []},
    ]
    path = f"conversations/{desk.conversation()}/items"
    added = desk.ask("POST", path, {"items": sent})
    valid(ConversationItemList, added)
    assert added["data"][0] == {
        "id": added["first_id"],
        "type": "message",
        "status": "completed",
        "role": "user",
        "content": [{"type": "input_text", "text": "Hello"}],
    }
    assert added["data"][2]["content"] == [{"detail": "auto", "type": "input_image", "image_url": "http://x/y.png"}]
    assert added["data"][3]["content"][0]["type"] == "output_text"
    assert [item["id"].split("_")[0] for item in added["data"]] == ["msg", "msg", "msg", "msg", "fc", "fco", "rs"]
    assert added["data"][3]["id"] == "msg_mine"
    assert desk.ask("GET", path, order="asc") == added
    for item in added["data"]:
        valid(ConversationItem, item)
        assert desk.ask("GET", f"{path}/{item['id']}") == item


def test_what_is_given_back_can_be_sent_again(desk: Desk) -> None:
    path = f"conversations/{desk.conversation(said(1), CALL, OUTPUT)}/items"
    items = desk.ask("GET", path, order="asc")["data"]
    again = responses.ask({"model": "m", "input": items}, Store())
    assert len(again.prompt.history) == 3
    other = desk.conversation(*items)
    assert desk.ask("GET", f"conversations/{other}/items", order="asc")["data"] == items


def test_items_come_in_pages_newest_first(desk: Desk) -> None:
    path = f"conversations/{desk.conversation(*map(said, range(20)))}/items"
    desk.ask("POST", path, {"items": list(map(said, range(20, 25)))})
    newest = desk.ask("GET", path)
    valid(ConversationItemList, newest)
    assert texts(newest) == [f"turn {number}" for number in range(24, 4, -1)]
    assert newest["has_more"]
    rest = desk.ask("GET", path, after=newest["last_id"])
    assert (texts(rest), rest["has_more"]) == ([f"turn {number}" for number in range(4, -1, -1)], False)
    page = desk.ask("GET", path, limit="2", order="asc", include="x")
    assert texts(page) == ["turn 0", "turn 1"]
    assert (page["first_id"], page["last_id"]) == (page["data"][0]["id"], page["data"][1]["id"])
    assert texts(desk.ask("GET", path, limit="2", order="asc", after=page["last_id"])) == ["turn 2", "turn 3"]
    assert desk.ask("GET", f"conversations/{desk.conversation()}/items")["data"] == []


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"limit": "0"}, BELOW),
        (
            {"limit": "101"},
            ABOVE,
        ),
        ({"limit": "many"}, "Invalid type for 'limit': expected an integer, but got a string instead."),
        ({"order": "up"}, "Invalid value: 'up'. Supported values are: 'asc' and 'desc'."),
        ({"after": "msg_x"}, "Item with id 'msg_x' not found."),
    ],
)
def test_a_page_that_there_is_not_is_refused(desk: Desk, query: dict[str, str], message: str) -> None:
    path = f"conversations/{desk.conversation(said(1))}/items"
    assert desk.refusal("GET", path, **query).message == message


def test_an_item_can_be_deleted(desk: Desk) -> None:
    id = desk.conversation(said(1), said(2))
    first = desk.ask("GET", f"conversations/{id}/items", order="asc")["first_id"]
    left = desk.ask("DELETE", f"conversations/{id}/items/{first}")
    valid(Conversation, left)
    assert left["id"] == id
    assert texts(desk.ask("GET", f"conversations/{id}/items")) == ["turn 2"]
    error = desk.refusal("DELETE", f"conversations/{id}/items/{first}")
    assert (error.status, error.message) == (404, f"Item with id '{first}' not found in conversation '{id}'.")


@pytest.mark.parametrize(
    ("body", "param", "code"),
    [
        ({"items": "x"}, "items", "invalid_type"),
        ({"items": [{"role": "bogus"}]}, "items[0]", "invalid_value"),
        ({"items": [said(n) for n in range(21)]}, "items", "array_above_max_length"),
        ({"items": [{**said(1), "id": "msg_1"}, {**said(2), "id": "msg_1"}]}, "input", None),
        ({"zzz": 1}, "zzz", "unknown_parameter"),
        ([], "body", "invalid_type"),
    ],
)
def test_faulty_items_are_refused_and_nothing_is_kept(desk: Desk, body: Any, param: str, code: str | None) -> None:
    error = desk.refusal("POST", "conversations", body)
    assert (error.status, error.param, error.code) == (400, param, code)
    assert not desk.store.conversations


def test_what_must_be_there_must_be_there(desk: Desk) -> None:
    id = desk.conversation()
    assert desk.refusal("POST", f"conversations/{id}", {}).param == "metadata"
    assert desk.refusal("POST", f"conversations/{id}/items", {}).message == "Missing required parameter: 'items'."


def test_an_item_is_kept_once(desk: Desk) -> None:
    path = f"conversations/{desk.conversation({**said(1), 'id': 'msg_1'})}/items"
    error = desk.refusal("POST", path, {"items": [{**said(1), "id": "msg_1"}]})
    assert error.message.startswith("Duplicate item found with id msg_1.")
    assert len(desk.ask("GET", path)["data"]) == 1


def test_a_response_can_be_read_again_and_deleted(desk: Desk) -> None:
    one = desk.response(instructions="Be kind.", tools=[GET_CAPITAL])
    two = desk.response(previous_response_id=one["id"], input=[said(2)])
    path = f"responses/{two['id']}"
    assert desk.ask("GET", path) == two
    valid(Response, desk.ask("GET", path))
    given_to_it = desk.ask("GET", f"{path}/input_items", order="asc")
    valid(ResponseItemList, given_to_it)
    assert texts(given_to_it) == ["Hello", "Hi.", "turn 2"]
    assert texts(desk.ask("GET", f"{path}/input_items", limit="1")) == ["turn 2"]
    assert desk.refusal("POST", f"{path}/cancel").message == "Cannot cancel a synchronous response."
    assert desk.refusal("GET", path, stream="true").status == 400
    assert desk.ask("DELETE", path) == {"id": two["id"], "object": "response", "deleted": True}
    error = desk.refusal("GET", path)
    assert (error.status, error.message) == (404, f"Response with id '{two['id']}' not found.")
    assert desk.ask("GET", f"responses/{one['id']}") == one


def test_the_oldest_responses_are_forgotten(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "_MOST", 2)
    made = [desk.response()["id"] for _ in range(3)]
    assert list(desk.store.responses) == made[1:]


def test_tokens_are_counted_without_a_model(desk: Desk) -> None:
    counted = desk.ask("POST", "responses/input_tokens", {"model": "m", "input": "word " * 100})
    assert counted["object"] == "response.input_tokens"
    assert 100 < counted["input_tokens"] < 200
    assert desk.refusal("POST", "responses/compact", {}).code == "unsupported_operation"


def test_models_are_listed_and_every_name_is_known(desk: Desk) -> None:
    listed = desk.ask("GET", "models")
    for model in listed["data"]:
        valid(Model, model)
    assert "gpt-realtime" in [model["id"] for model in listed["data"]]
    assert desk.ask("GET", "models/ft%3Amine%2Ftoo")["id"] == "ft:mine/too"


@pytest.mark.parametrize(
    ("method", "path", "status", "message"),
    [
        ("POST", "embeddings", 404, "Invalid URL (POST /v1/embeddings)"),
        ("GET", "conversations/a/b/c", 404, "Invalid URL (GET /v1/conversations/a/b/c)"),
        ("POST", "models", 405, "Not allowed to POST on /v1/models."),
        ("GET", "responses", 405, "Not allowed to GET on /v1/responses."),
        ("DELETE", "conversations", 405, "Not allowed to DELETE on /v1/conversations."),
    ],
)
def test_an_address_that_nobody_knows_gets_the_services_words(
    desk: Desk, method: str, path: str, status: int, message: str
) -> None:
    error = desk.refusal(method, path)
    hint = " (HINT: Perhaps you meant to use a different HTTP method?)" if status == 405 else ""
    assert (error.status, error.message, error.type) == (status, message + hint, "invalid_request_error")


def test_a_slash_at_the_end_is_no_other_address(desk: Desk) -> None:
    assert desk.ask("GET", "models/")["object"] == "list"


@given(JSON)
def test_whatever_is_sent_is_kept_or_refused(value: Any) -> None:
    desk = Desk()
    for body in (value, {"items": value}, {"items": [value]}, {"metadata": value}):
        try:
            made = desk.ask("POST", "conversations", body)
        except ApiError as error:
            assert error.status == 400  # noqa: PT017
        else:
            valid(Conversation, made)
            desk.ask("GET", f"conversations/{made['id']}/items")


async def test_the_official_client_reads_pages_to_the_end() -> None:
    service = Service()
    client = service.client()
    made = await client.conversations.create(metadata={"topic": "laptop"})
    for number in range(45):
        await client.conversations.items.create(made.id, items=[{"role": "user", "content": f"turn {number}"}])
    heard = [item async for item in client.conversations.items.list(made.id, order="asc")]
    assert [item.content[0].text for item in heard if item.type == "message"] == [f"turn {n}" for n in range(45)]  # type: ignore[union-attr]
    item = await client.conversations.items.retrieve(heard[0].id or "", conversation_id=made.id)
    assert item == heard[0]
    await client.conversations.items.delete(heard[0].id or "", conversation_id=made.id)
    await client.conversations.update(made.id, metadata={})
    await client.conversations.delete(made.id)
    with pytest.raises(NotFoundError, match="Conversation with id"):
        await client.conversations.retrieve(made.id)
    assert "gpt-realtime" in {model.id async for model in client.models.list()}
