"""The HTTP client of an endpoint. It enforces time-outs, retries, limits and address rules, and ignores proxies.

See docs/decisions/0004.
"""

from __future__ import annotations

import base64
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from math import ceil
from typing import Any

from urllib3 import BaseHTTPResponse
from urllib3.exceptions import (
    ConnectTimeoutError,
    DecodeError,
    HTTPError,
    NewConnectionError,
    ProtocolError,
    ReadTimeoutError,
    SSLError,
)

from relevancy import events
from relevancy.engines.errors import EndpointUnreachable, EngineError, RequestAborted, TooSlow, UnreadableResponse
from relevancy.engines.types import Connection

from .addresses import Address
from .exchange import Exchange, working_on
from .pinning import open_pool
from .rate_limit import RateLimit
from .response import MAX_BYTES, MEGABYTE, Response, check_status
from .retries import SEARCHES, RetryPolicy, delay_after_error, delay_after_response

_CHUNK = 64 * 1024
_RESERVED_HEADERS = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "content-type", "accept", "accept-encoding"}
)
_NO_TLS = {
    "WRONG_VERSION_NUMBER",
    "RECORD_LAYER_FAILURE",
    "HTTP_REQUEST",
}  # OpenSSL's reasons for a response without TLS
_MIN_SECRET_LENGTH = 6  # shorter values would be removed from the middle of ordinary words


class HttpClient:
    """Sends requests to one endpoint, at most `connection.parallel` at a time, from any number of threads.

    `error_message` returns the engine's own message from the JSON of an error response. Every request is a read, so a
    request whose connection broke off can be repeated. `send` raises only members of the `EngineError` family, and it takes at
    most as long as both time-outs together, repetitions included.
    """

    def __init__(
        self,
        connection: Connection,
        address: Address,
        error_message: Callable[[Any], str],
        sleep: Callable[[float], object] | None = None,
        retries: RetryPolicy = SEARCHES,
    ) -> None:
        self.address = address
        self._label = connection.label
        self._retries = retries
        self.rate_limit = RateLimit(connection.per_minute, connection.reserve)
        self._error_message = error_message
        self._lock = threading.Lock()
        self._exchanges: set[Exchange] = set()
        self._aborted = threading.Event()
        self._sleep = sleep or self._aborted.wait
        self._connect_timeout = connection.connect_timeout
        self._read_timeout = connection.read_timeout
        self._headers = {"user-agent": "relevancy", "accept-encoding": "identity", **request_headers(connection)}
        secrets = [value for name, value in connection.credentials.items() if name != "username"]
        secrets += [*map(str, connection.headers.values()), self._headers.get("authorization", "").partition(" ")[2]]
        self._secrets = [secret for secret in secrets if len(secret) >= _MIN_SECRET_LENGTH]
        self._pool = open_pool(address, connection.rules, size=connection.parallel)

    def send(
        self, method: str, path: str, *, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Response:
        """Sends a request to `path` (absolute, with its query string) and returns its response, whose status is 2xx."""
        response = self.fetch(method, path, body=body, headers=headers)
        with self._redacting():
            check_status(response, self._url(path), self._error_message)
        return response

    def fetch(
        self, method: str, path: str, *, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Response:
        """Does what `send` does, and returns the response whatever its status is. Its body may repeat secrets: see `redact`."""
        url, all_headers = self._url(path), {**self._headers, **(headers or {})}
        started = time.monotonic()
        deadline = started + self._connect_timeout + self._read_timeout
        for attempt in count(1):
            failure: EngineError | None = None
            with self._redacting(), self._exchange(deadline) as exchange:
                try:
                    response = self._send_once(method, path, body, all_headers)
                    delay = delay_after_response(response, attempt, self._retries)
                except (HTTPError, OSError, ValueError) as error:
                    failure = self._converted(error, exchange, url)
                    failure.__cause__ = error
                    is_over = exchange.is_aborted or exchange.is_expired
                    delay = None if is_over else delay_after_error(error, attempt, self._retries)
            if delay is None or attempt == self._retries.attempts or time.monotonic() + delay > deadline:
                break
            self._sleep(delay)
        outcome = failure.kind if failure else "ok" if response.status < 400 else f"{response.status // 100}xx"
        events.record("engine_request", time.monotonic() - started, endpoint=self._label, outcome=outcome)
        if failure:
            with self._redacting():
                raise failure
        return response

    def redact(self, text: str) -> str:
        """Returns a text without the endpoint's secrets: an endpoint may repeat in its response what it received."""
        for secret in self._secrets:
            text = text.replace(secret, "•••")
        return text

    def abort(self) -> None:
        """Ends the requests in progress and refuses further ones: they raise `RequestAborted`. For another thread."""
        with self._lock:
            self._aborted.set()
            for exchange in self._exchanges:
                exchange.abort()

    def close(self) -> None:
        """Closes the connections."""
        self.rate_limit.close()
        self._pool.close()

    def _url(self, path: str) -> str:
        return self.address.base + path.partition("?")[0]

    def _send_once(self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> Response:
        raw = self._pool.urlopen(
            method,
            path,
            body=body,
            headers=headers,
            redirect=False,
            retries=False,
            preload_content=False,
            pool_timeout=ceil(self._connect_timeout),
        )
        try:
            content = self._read(raw, self._url(path))
        except BaseException:
            raw.close()  # the unread rest must not be taken for the beginning of the next response
            raise
        return Response(raw.status, {name.lower(): value for name, value in raw.headers.items()}, content)

    @contextmanager
    def _exchange(self, deadline: float) -> Iterator[Exchange]:
        exchange = Exchange(self._connect_timeout, self._read_timeout, deadline)
        with self._lock:
            if self._aborted.is_set():
                raise _aborted(self.address.base)
            self._exchanges.add(exchange)
        try:
            with working_on(exchange):
                yield exchange
        finally:
            with self._lock:
                self._exchanges.discard(exchange)

    def _converted(self, error: Exception, exchange: Exchange, url: str) -> EngineError:
        if exchange.is_aborted:
            return _aborted(url)
        is_time_out = isinstance(error, ConnectTimeoutError | ReadTimeoutError) and not isinstance(
            error, NewConnectionError
        )
        if exchange.is_expired or is_time_out:
            if exchange.is_connected:
                return TooSlow(
                    f"{url} did not complete its response within {self._read_timeout:g} s.",
                    hint="Try a cheaper query, or set a longer read_timeout in the endpoint's options.",
                )
            return EndpointUnreachable(
                f"{self.address.base} did not accept a connection within {self._connect_timeout:g} s.",
                hint="Check that the host is up and that no firewall blocks this server.",
            )
        if isinstance(error, SSLError):
            if any(getattr(cause, "reason", "") in _NO_TLS for cause in error.args):
                return EndpointUnreachable(
                    f"{self.address.base} does not use TLS.",
                    hint="Write http:// in the address, or use the port at which the engine serves https.",
                )
            return EndpointUnreachable(
                f"{self.address.base} cannot be trusted: {error}.",
                hint="Its certificate must be valid for this host name and signed by an authority that this server trusts.",
            )
        if isinstance(error, DecodeError):
            return UnreadableResponse(
                f"{url} sent a response that cannot be decompressed.", hint="Check the proxies in front of the engine."
            )
        if isinstance(error, ProtocolError):
            reason = "the connection was closed before the response was complete"
        else:
            cause = error.__cause__ if isinstance(error, NewConnectionError) else error
            reason = getattr(cause, "strerror", None) or str(cause)
        return EndpointUnreachable(
            f"Could not connect to {self.address.base}: {reason}.",
            hint="Check that the engine is running and that the port is right.",
        )

    def _read(self, raw: BaseHTTPResponse, url: str) -> bytes:
        if int(raw.headers.get("content-length") or 0) > MAX_BYTES:
            raise _too_large(url)
        chunks: list[bytes] = []
        size = 0
        while chunk := raw.read1(_CHUNK, decode_content=True):
            chunks.append(chunk)
            size += len(chunk)
            if size > MAX_BYTES:
                raise _too_large(url)
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)

    @contextmanager
    def _redacting(self) -> Iterator[None]:
        try:
            yield
        except EngineError as error:
            error.problem = self.redact(error.problem)
            error.args = (f"{error.problem} {error.hint}".strip(),)
            raise


def request_headers(connection: Connection) -> dict[str, str]:
    """Returns the headers made of credentials and the endpoint's own headers.

    Raises `EndpointUnreachable` for an invalid one, naming it without its value.
    """
    headers = {name.strip().lower(): str(value).strip() for name, value in connection.headers.items()}
    credentials = connection.credentials
    if credentials.get("username"):
        pair = f"{credentials['username']}:{credentials.get('password', '')}".encode()
        headers["authorization"] = "Basic " + base64.b64encode(pair).decode("ascii")
    elif key := credentials.get("api_key", "").strip():
        # Elasticsearch displays keys as `id:key` or encoded; both are accepted.
        headers["authorization"] = "ApiKey " + (base64.b64encode(key.encode()).decode("ascii") if ":" in key else key)
    elif token := credentials.get("bearer", "").strip():
        headers["authorization"] = "Bearer " + token
    for name, value in headers.items():
        if name in _RESERVED_HEADERS:
            raise EndpointUnreachable(
                f"The header “{name}” cannot be set: Relevancy sets it itself.", hint="Remove it."
            )
        if not name.replace("-", "").replace("_", "").isalnum() or not (name + value).isascii() or "\n" in value:
            raise EndpointUnreachable(
                f"The header “{name}” contains characters that are not allowed in a header.",
                hint="Use ASCII letters, digits, - and _ in its name, and ASCII on one line in its value.",
            )
    return headers


def _aborted(url: str) -> RequestAborted:
    return RequestAborted(f"The request to {url} was ended before its response was complete.", hint="Run it again.")


def _too_large(url: str) -> UnreadableResponse:
    return UnreadableResponse(
        f"{url} sent more than {MAX_BYTES // MEGABYTE} MB; the response was cut off.",
        hint="Request fewer results or fewer displayed fields.",
    )
