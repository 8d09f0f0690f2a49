"""Responses of endpoints, which may be incomplete, huge, not JSON, or not from a search engine at all."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from relevancy.engines.errors import (
    BadQuery,
    EndpointRefused,
    EndpointUnreachable,
    EngineError,
    TooSlow,
    UnreadableResponse,
)

MEGABYTE = 1024 * 1024
MAX_BYTES = 20 * MEGABYTE

_TAGS = re.compile(r"<(script|style)\b.*?</\1\s*>|<[^>]*>", re.IGNORECASE | re.DOTALL)
# NUL and lone surrogates are legal in JSON, but PostgreSQL's jsonb accepts neither.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_ESCAPED_UNSTORABLE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")


_REFUSED = (EndpointRefused, "refused access", "Check the endpoint's credentials.")
_NOT_READY = (EndpointUnreachable, "is not ready", "It may be starting or overloaded: try again later.")
_FEWER = "Set fewer parallel requests or fewer requests per minute in the endpoint."
_ERRORS: Mapping[int, tuple[type[EngineError], str, str]] = {
    401: _REFUSED,
    403: _REFUSED,
    404: (EndpointUnreachable, "does not exist", "Check the name at the end of the address."),
    408: (TooSlow, "timed out", "Try a cheaper query."),
    429: (EndpointUnreachable, "received too many requests", _FEWER),
    502: _NOT_READY,
    503: _NOT_READY,
    504: _NOT_READY,
}


class Response(NamedTuple):
    """A complete response. Header names are lower case; `body` is decompressed."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class SafeDecoder(json.JSONDecoder):
    """Decodes an engine's JSON. NaN and infinities become null, NUL and lone surrogates U+FFFD."""

    def __init__(self) -> None:
        super().__init__(parse_constant=lambda name: None)

    def decode(self, text: str, *args: Any) -> Any:
        """Returns any JSON value. Raises only `ValueError`."""
        try:
            value = super().decode(text, *args)
            return _replace_unstorable(value) if _ESCAPED_UNSTORABLE.search(text) else value
        except RecursionError as error:
            raise ValueError("nested too deeply") from error


DECODER = SafeDecoder()


def _replace_unstorable(value: Any) -> Any:
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_replace_unstorable(item) for item in value]
    if isinstance(value, dict):
        return {_UNSTORABLE.sub("\ufffd", key): _replace_unstorable(item) for key, item in value.items()}
    return value


def excerpt(body: bytes | str, limit: int = 160) -> str:
    """Returns the beginning of a response as one line of plain text for a message, without HTML tags."""
    text = body[:4000].decode("utf-8", "replace") if isinstance(body, bytes) else body[:4000]
    text = _TAGS.sub(" ", text) if text.lstrip().startswith("<") else text
    line = " ".join(_UNSTORABLE.sub("\ufffd", text).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def read_json(text: str | bytes, url: str) -> dict[str, Any]:
    """Returns the JSON object of a response. Raises `UnreadableResponse` with the beginning of any other response."""
    try:
        value = DECODER.decode(text.decode("utf-8", "replace") if isinstance(text, bytes) else text)
    except ValueError:
        value = None
    if isinstance(value, dict):
        return value
    raise not_json(text, url)


def not_json(text: bytes | str, url: str) -> UnreadableResponse:
    """Returns the error for a response that is not a JSON object."""
    beginning = excerpt(text)
    content = f"it begins “{beginning}”" if beginning else "it is empty"
    return UnreadableResponse(
        f"The response of {url} is not JSON: {content}.",
        hint="Check that this is the address of a search engine, without a login page in front of it.",
    )


def check_is_json(response: Response, url: str) -> None:
    """Raises `UnreadableResponse` for a response that does not claim to be JSON."""
    content_type = response.headers.get("content-type", "").partition(";")[0]
    if not content_type.endswith("json") or not response.body:
        raise not_json(response.body, url.partition("?")[0])


def check_status(response: Response, url: str, error_message: Callable[[Any], str]) -> None:
    """Raises the error for a status that is not 2xx.

    `error_message` returns the engine's own message from the JSON of an error response, or an empty string.
    """
    if 200 <= response.status < 300:
        return
    if 300 <= response.status < 400:
        raise UnreadableResponse(
            f"{url} redirects to {_redirect_target(response.headers.get('location', ''))} (status {response.status}).",
            hint="Redirects are not followed: enter the final address in the endpoint.",
            status=response.status,
        )
    try:
        message = error_message(DECODER.decode(response.body.decode("utf-8", "replace")))
    except ValueError:
        message = ""
    raise error_for_status(response.status, url, message, excerpt(response.body))


def error_for_status(status: int, url: str, message: str, beginning: str = "") -> EngineError:
    """Returns the error for a status of 400 or more.

    `message`: the engine's own message. `beginning`: of the body, used if there is no message.
    """
    message = _UNSTORABLE.sub("\ufffd", " ".join(message.split()))
    reason = f": {(message or beginning).rstrip('.')}" if message or beginning else ""
    if status in _ERRORS:
        error, problem, hint = _ERRORS[status]
        return error(f"{url} {problem} ({status}){reason}.", hint=hint, status=status)
    if message:
        return BadQuery(f"The engine rejected the query ({status}): {message}", status=status)
    return UnreadableResponse(
        f"{url} responded with status {status}{reason}.",
        hint="Check that this is the address of a search engine.",
        status=status,
    )


def _redirect_target(location: str) -> str:
    """Returns the target for a message, without credentials and query string."""
    try:
        parts = urlsplit(location)
    except ValueError:
        return "an invalid address"
    host = parts.netloc.rpartition("@")[2]
    return excerpt(f"{parts.scheme}://{host}{parts.path}" if host else parts.path) or "an empty address"
