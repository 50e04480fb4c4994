"""The rules of the Responses API over WebSocket: frames in, requests and errors out."""

import json
from typing import Any

import pytest
from http_service import NOW, valid
from openai.types.responses.responses_server_event import ResponseWsError

from handoffkit.endpoint.models.prompt import Reply
from handoffkit.endpoint.protocol import responses
from handoffkit.endpoint.protocol.api_error import ApiError
from handoffkit.endpoint.protocol.ids import Ids
from handoffkit.endpoint.protocol.lanes import Lanes, Request, expired
from handoffkit.endpoint.protocol.store import Store

CREATE = {"type": "response.create", "model": "gpt-5.2", "input": "Hello"}


class Service:
    """One connection to a service."""

    def __init__(self) -> None:
        self.store, self.lanes, self._ids = Store(), Lanes(), Ids("s")

    def request(self, **fields: Any) -> Request:
        request = self.lanes.read(json.dumps({**CREATE, **fields}))
        assert isinstance(request, Request), request
        return request

    def error(self, frame: str | bytes | dict[str, Any]) -> dict[str, Any]:
        found = self.lanes.read(json.dumps(frame) if isinstance(frame, dict) else frame)
        assert isinstance(found, dict), found
        valid(ResponseWsError, found)
        return found

    def answered(self, request: Request) -> str:
        """Answer a request and return the id of the response."""
        asked = responses.ask(request.body, self.store, self.lanes.recent)
        run = responses.Run(asked, self._ids, NOW)
        list(run.answer(Reply("Hi.")))
        self.lanes.keep(request, run.kept)
        return str(run.response["id"])


def test_a_frame_is_the_body_of_a_request_in_an_envelope() -> None:
    body = {"model": "gpt-5.2", "input": "Hello", "stream": True}
    assert Service().request() == Request(None, body, True)
    assert Service().request(stream=False, stream_id="a.b-C_1", generate=False) == Request("a.b-C_1", body, False)
    assert Service().request(stream_id=None, generate=None) == Request(None, body, True)


@pytest.mark.parametrize(
    ("frame", "code", "param", "message"),
    [
        ("{", None, None, "We could not parse the JSON body of your request."),
        ("[]", None, None, "We could not parse the JSON body of your request."),
        (b"{}", None, None, "We could not parse the JSON body of your request."),
        ("[" * 5000, None, None, "We could not parse the JSON body of your request."),
        ({}, "missing_required_parameter", "type", "Missing required parameter: 'type'."),
        ({"type": 7}, "invalid_value", "type", "Invalid value: ''. Supported values are: 'response.create' and "),
        ({"type": "session.update"}, "invalid_value", "type", "Invalid value: 'session.update'. Supported values are"),
        ({"type": "response.steer"}, "unsupported_value", "type", "The simulated service answers at once"),
        ({**CREATE, "generate": "no"}, "invalid_type", "generate", "Invalid type for 'generate': expected a boolean"),
        ({**CREATE, "stream_id": 7}, "invalid_type", "stream_id", "Invalid type for 'stream_id': expected a string"),
        ({**CREATE, "stream_id": ""}, "invalid_stream_id", "stream_id", "The 'stream_id' field must be a non-empty"),
        ({**CREATE, "stream_id": "a b"}, "invalid_stream_id", "stream_id", "The 'stream_id' field must be a non-empty"),
        ({**CREATE, "stream_id": "a" * 257}, "invalid_stream_id", "stream_id", "The 'stream_id' field must be a non-"),
    ],
)
def test_a_frame_that_is_not_in_order_is_refused(frame: Any, code: str | None, param: str | None, message: str) -> None:
    error = Service().error(frame)
    assert (error["type"], error["status"], error["error"]["type"]) == ("error", 400, "invalid_request_error")
    assert (error["error"]["code"], error["error"]["param"]) == (code, param)
    assert error["error"]["message"].startswith(message)
    assert "stream_id" not in error


def test_a_connection_has_32_lanes_with_a_name() -> None:
    service = Service()
    for number in range(32):
        service.request(stream_id=f"lane-{number}")
    service.request(stream_id="lane-7")
    service.request()
    assert service.error({**CREATE, "stream_id": "lane-32"})["error"]["code"] == "websocket_stream_limit_reached"


def test_what_is_wrong_on_a_lane_is_said_on_it() -> None:
    assert Service().error({**CREATE, "stream_id": "a", "generate": 1})["stream_id"] == "a"


def test_the_newest_response_of_each_lane_is_remembered_though_it_is_not_stored() -> None:
    service = Service()
    first = service.answered(service.request(store=False))
    other = service.answered(service.request(store=False, stream_id="a"))
    assert set(service.lanes.recent) == {first, other}
    second = service.answered(service.request(store=False, previous_response_id=first))
    fork = service.answered(service.request(store=False, stream_id="b", previous_response_id=second))
    assert set(service.lanes.recent) == {second, other, fork}
    assert len(service.lanes.recent[fork].context) == 6
    with pytest.raises(ApiError, match=f"Previous response with id '{first}' not found."):
        service.answered(service.request(store=False, previous_response_id=first))


def test_a_response_that_is_stored_is_found_whatever_came_after_it() -> None:
    service = Service()
    first = service.answered(service.request())
    service.answered(service.request(previous_response_id=first))
    assert service.answered(service.request(previous_response_id=first))


def test_a_lane_forgets_the_response_from_which_it_could_not_go_on() -> None:
    service = Service()
    first = service.answered(service.request(store=False))
    service.lanes.forget(service.request(stream_id="a", previous_response_id=first))
    service.lanes.forget(service.request(previous_response_id="resp_x"))
    assert set(service.lanes.recent) == {first}
    service.lanes.forget(service.request(previous_response_id=first))
    assert set(service.lanes.recent) == set()


def test_an_hour_is_over_in_the_words_of_the_service() -> None:
    valid(ResponseWsError, expired())
    assert expired()["error"]["code"] == "websocket_connection_limit_reached"
    assert "(60 minutes)" in expired()["error"]["message"]
