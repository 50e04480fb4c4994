"""Who may talk to the endpoint, asked over real sockets."""

import http.client
import json
import os
import socket

import pytest

import handoffkit as hk
from handoffkit.connect import Endpoint, current


@pytest.fixture(autouse=True)
def endpoint(connected: Endpoint) -> Endpoint:
    return connected


def _request(
    headers: dict[str, str], path: str = "/v1/models", method: str = "GET", body: bytes = b""
) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", current().port, timeout=10)
    try:
        connection.request(method, path, body=body or None, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_the_own_token_is_admitted() -> None:
    status, body = _request(_bearer(current().token))
    assert status == 200
    assert json.loads(body)["object"] == "list"


@pytest.mark.parametrize("headers", [{}, _bearer("sk-wrong"), _bearer(""), {"Authorization": "Basic abc"}])
def test_another_token_is_refused_and_never_repeated(headers: dict[str, str]) -> None:
    status, body = _request(headers)
    error = json.loads(body)["error"]
    assert (status, error["code"]) == (401, "invalid_api_key")
    assert "hk.connect()" in error["message"]
    assert "sk-wrong" not in body


@pytest.mark.parametrize("path", ["/v1/models", "/v1/responses", "/v1/realtime?model=gpt-realtime", "/elsewhere"])
@pytest.mark.parametrize("origin", ["http://127.0.0.1:8888", "https://evil.example", "null"])
def test_a_page_is_refused_even_with_the_token(path: str, origin: str) -> None:
    status, body = _request(_bearer(current().token) | {"Origin": origin}, path)
    assert status == 403
    assert "Origin" in json.loads(body)["error"]["message"]


def test_a_name_that_was_pointed_at_loopback_is_refused() -> None:
    status, body = _request(_bearer(current().token) | {"Host": f"evil.example:{current().port}"})
    assert status == 403
    assert "this machine only" in json.loads(body)["error"]["message"]


def test_an_upgrade_with_an_origin_is_refused() -> None:
    upgrade = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
    upgrade |= {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
    headers = _bearer(current().token) | upgrade | {"Origin": "https://evil.example"}
    status, _ = _request(headers, "/v1/realtime?model=gpt-realtime")
    assert status == 403
    assert len(hk.log()) == 0


def test_it_listens_on_loopback_alone() -> None:
    addresses = {found[4][0] for found in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    outside = sorted(str(address) for address in addresses if not str(address).startswith("127."))
    if not outside:
        with open("/proc/net/tcp") as table:
            port = f"{current().port:04X}"
            bound = [line.split()[1] for line in table if line.split()[1].endswith(f":{port}")]
        assert bound
        assert all(address.startswith("0100007F") for address in bound)
        return
    with pytest.raises(OSError, match=r"refused|timed out"), socket.create_connection((outside[0], current().port), 2):
        pass


def test_a_request_that_is_unknown_gets_the_error_of_the_service() -> None:
    status, body = _request(_bearer(current().token), "/v1/no-such-thing", "POST", b"{}")
    assert status == 404
    assert json.loads(body)["error"]["type"] == "invalid_request_error"
    status, body = _request(_bearer(current().token), "/elsewhere")
    assert (status, json.loads(body)["error"]["message"]) == (404, "Invalid URL (GET /elsewhere)")


def test_a_body_that_is_no_json_is_refused_in_words() -> None:
    status, body = _request(_bearer(current().token), "/v1/responses", "POST", b"{not json")
    assert status == 400
    assert "JSON" in json.loads(body)["error"]["message"]


def test_a_wrong_control_token_gets_no_answer() -> None:
    endpoint = current()
    with socket.create_connection(("127.0.0.1", endpoint._control_port), 5) as connection:
        question = {"token": endpoint.token, "op": "state", "log": endpoint.folder.name, "label": "call-1"}
        connection.sendall(json.dumps(question).encode() + b"\n")
        assert connection.recv(100) == b""


def test_no_token_and_no_header_reaches_the_log() -> None:
    _request(_bearer(current().token) | {"X-Secret": "hunter2"}, "/v1/responses", "POST", b'{"model": 1}')
    _request(_bearer("sk-wrong"))
    text = "".join(file.read_text() for file in current().folder.rglob("*") if file.is_file())
    assert "POST /v1/responses" in text
    for secret in (current().token, current()._control, "hunter2", "sk-wrong", os.environ["OPENAI_API_KEY"]):
        assert secret not in text
