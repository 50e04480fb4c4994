"""The error that the service would send: one exception that every protocol module raises."""

from typing import Any


class ApiError(Exception):
    """A request that the endpoint refuses, with the status and the body that the OpenAI API uses for it.

    Args:
        message: One sentence for a person.
        status: The HTTP status; a WebSocket session sends the same error as an `error` event.
        type: The kind, as the service names it (`invalid_request_error`, `server_error`, …).
        code: The machine-readable reason, or None.
        param: The field of the request that is wrong (`input[0].role`), or None.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int = 400,
        type: str = "invalid_request_error",
        code: str | None = None,
        param: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.type = type
        self.code = code
        self.param = param

    def error(self) -> dict[str, Any]:
        """Return the `error` object: message, type, param and code."""
        return {"message": self.message, "type": self.type, "param": self.param, "code": self.code}

    def body(self) -> dict[str, Any]:
        """Return the JSON body of the HTTP answer."""
        return {"error": self.error()}
