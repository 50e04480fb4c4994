"""Who may talk to the endpoint: its own token, from this machine, and no page in a browser.

A page that the user happens to have open can reach a loopback port, so every request that carries an `Origin` is
refused, and so is one whose `Host` is not loopback (a name that was pointed at 127.0.0.1 by somebody else).
"""

import hmac
import ipaddress
from urllib.parse import urlsplit

from tornado.httputil import HTTPServerRequest

from .protocol.api_error import ApiError


def admit(request: HTTPServerRequest, token: str) -> str | None:
    """Check a request; return the label behind the token (`TOKEN.label`), or None where it has none.

    Raises:
        ApiError: 403 for an Origin or a strange address, 401 for a wrong token; the token found is never repeated.
    """
    if "Origin" in request.headers:
        raise _forbidden(
            "This endpoint answers programs on this machine, not pages: a request with an Origin is refused."
        )
    if not _loopback(request.remote_ip or "") or not _loopback(urlsplit(f"//{request.host}").hostname or ""):
        raise _forbidden("This endpoint answers on this machine only: use http://127.0.0.1.")
    scheme, _, found = request.headers.get("Authorization", "").partition(" ")
    found, _, label = found.strip().partition(".")
    if scheme.lower() != "bearer" or not hmac.compare_digest(found.encode(), token.encode()):
        raise ApiError(
            "Incorrect API key provided. This local endpoint takes its own token only: run `hk.connect()` in this "
            "kernel before you build the agent, which puts the token into OPENAI_API_KEY.",
            status=401,
            code="invalid_api_key",
        )
    return label or None


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _forbidden(message: str) -> ApiError:
    return ApiError(message, status=403, code="forbidden")
