"""One HTTP client per endpoint, in which the rules for asking live: time-outs, tries, limits, no redirects, no proxies."""

from __future__ import annotations

import base64
import random
import time
from collections.abc import Callable, Mapping
from typing import Any

from urllib3 import BaseHTTPResponse, Timeout
from urllib3.exceptions import (
    ConnectTimeoutError,
    DecodeError,
    HTTPError,
    NewConnectionError,
    ProtocolError,
    ReadTimeoutError,
    SSLError,
)

from .addresses import Address
from .answers import MAX_BYTES, MEGABYTE, Answer, check_status
from .base import Connection
from .errors import EndpointUnreachable, EngineError, TooSlow, UnreadableAnswer
from .pace import Pace
from .pinning import open_pool

TRIES = 3
LONGEST_WAIT = 10.0  # seconds; an endpoint that asks for more patience gets its error shown instead
_CHUNK = 64 * 1024
_RETRIED_STATUS = frozenset({429, 502, 503, 504})
_OURS = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "content-type", "accept", "accept-encoding"}
)


class HttpClient:
    """Asks one endpoint, from any number of threads, `connection.parallel` of them at once.

    `own_message` finds the engine's own words in the JSON of a refusal. Every request is a read, so a try whose
    connection broke off may be repeated safely. `send` raises members of `EngineError` and nothing else.
    """

    def __init__(
        self,
        connection: Connection,
        address: Address,
        own_message: Callable[[Any], str],
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.address = address
        self.pace = Pace(connection.per_minute)
        self._own_message = own_message
        self._sleep = sleep
        self._connect_timeout = connection.connect_timeout
        self._read_timeout = connection.read_timeout
        self._headers = {"user-agent": "relevancy", "accept-encoding": "identity", **sent_headers(connection)}
        self._secrets = _secrets(connection, self._headers)
        timeout = Timeout(connect=connection.connect_timeout, read=connection.read_timeout)
        self._pool = open_pool(address, connection.rules, size=connection.parallel, timeout=timeout)

    def send(
        self, method: str, path: str, *, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """One request to `path` (absolute, with its query string) on the endpoint's host; the answer is a 2xx."""
        where = self.address.base + path.partition("?")[0]
        try:
            answer = self._tried(method, path, body, {**self._headers, **(headers or {})}, where)
            check_status(answer, where, self._own_message)
            return answer
        except EngineError as error:
            raise self._without_secrets(error) from error.__cause__

    def close(self) -> None:
        """Give the connections back."""
        self._pool.close()

    def _tried(self, method: str, path: str, body: bytes | None, headers: dict[str, str], where: str) -> Answer:
        for attempt in range(1, TRIES + 1):
            last = attempt == TRIES
            try:
                answer = self._once(method, path, body, headers, where)
            except (NewConnectionError, ProtocolError) as error:
                refused = isinstance(error.__cause__, ConnectionRefusedError) or isinstance(error, ProtocolError)
                if last or not refused:
                    raise self._unreachable(error) from error
                wait = backoff(attempt)
            else:
                asked = _wait_asked(answer, attempt)
                if last or asked is None:
                    return answer
                wait = asked
            self._sleep(wait)
        raise AssertionError("the last try returns or raises")

    def _once(self, method: str, path: str, body: bytes | None, headers: dict[str, str], where: str) -> Answer:
        deadline = time.monotonic() + self._connect_timeout + self._read_timeout
        try:
            response = self._pool.urlopen(
                method, path, body=body, headers=headers, redirect=False, retries=False, preload_content=False
            )
            try:
                data = self._read(response, deadline, where)
            except BaseException:
                response.close()  # what is left of this answer must not be read as the next one
                raise
            return Answer(response.status, {k.lower(): v for k, v in response.headers.items()}, data)
        except (NewConnectionError, ProtocolError):  # the first of them is a ConnectTimeoutError too
            raise
        except ConnectTimeoutError as error:
            raise EndpointUnreachable(
                f"{self.address.base} did not accept a connection within {self._connect_timeout:g} s.",
                todo="Is the host up, and does a firewall let this machine through?",
            ) from error
        except ReadTimeoutError as error:
            raise self._too_slow(where) from error
        except SSLError as error:
            raise EndpointUnreachable(
                f"{self.address.base} cannot be trusted: {error}.",
                todo="Its certificate must be valid for this host name and signed by an authority this machine knows.",
            ) from error
        except DecodeError as error:
            raise UnreadableAnswer(f"{where} sent an answer whose compression is broken.") from error
        except (HTTPError, OSError, ValueError) as error:
            raise self._unreachable(error) from error

    def _read(self, response: BaseHTTPResponse, deadline: float, where: str) -> bytes:
        if int(response.headers.get("content-length") or 0) > MAX_BYTES:
            raise self._too_large(where)
        parts: list[bytes] = []
        size = 0
        while data := response.read1(_CHUNK, decode_content=True):
            parts.append(data)
            size += len(data)
            if size > MAX_BYTES:
                raise self._too_large(where)
            if time.monotonic() > deadline:
                raise self._too_slow(where)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _too_large(self, where: str) -> UnreadableAnswer:
        return UnreadableAnswer(
            f"{where} sent more than {MAX_BYTES // MEGABYTE} MB and was cut off.",
            todo="Ask for fewer results or fewer displayed fields.",
        )

    def _too_slow(self, where: str) -> TooSlow:
        return TooSlow(
            f"{where} gave no whole answer within {self._read_timeout:g} s.",
            todo="Try a cheaper query, or a longer time-out in the endpoint.",
        )

    def _unreachable(self, error: Exception) -> EndpointUnreachable:
        if isinstance(error, ProtocolError):
            reason = "the connection was closed before the whole answer came"
        else:
            cause = error.__cause__ if isinstance(error, NewConnectionError) else error
            reason = getattr(cause, "strerror", None) or str(cause)
        return EndpointUnreachable(
            f"Nothing usable answered at {self.address.base}: {reason}.",
            todo="Is the engine running, and the port right?",
        )

    def _without_secrets(self, error: EngineError) -> EngineError:
        for secret in self._secrets:
            if secret in str(error):  # an endpoint may repeat in its answer what it was sent
                error.what = error.what.replace(secret, "•••")
                error.args = (f"{error.what} {error.todo}".strip(),)
        return error


def sent_headers(connection: Connection) -> dict[str, str]:
    """The headers that credentials and the endpoint's own headers make. Raises `EndpointUnreachable` for one that cannot
    be sent, naming it without its value."""
    headers = {name.strip().lower(): str(value).strip() for name, value in connection.headers.items()}
    credentials = connection.credentials
    if credentials.get("username"):
        pair = f"{credentials['username']}:{credentials.get('password', '')}".encode()
        headers["authorization"] = "Basic " + base64.b64encode(pair).decode("ascii")
    elif key := credentials.get("api_key", "").strip():
        # Elasticsearch shows keys as `id:key` or already encoded; both are taken.
        headers["authorization"] = "ApiKey " + (base64.b64encode(key.encode()).decode("ascii") if ":" in key else key)
    elif token := credentials.get("bearer", "").strip():
        headers["authorization"] = "Bearer " + token
    for name, value in headers.items():
        if name in _OURS:
            raise EndpointUnreachable(f"The header “{name}” cannot be set: it is part of how requests are made.")
        if not name.replace("-", "").replace("_", "").isalnum() or not (name + value).isascii() or "\n" in value:
            raise EndpointUnreachable(f"The header “{name}” holds characters that a header cannot carry.")
    return headers


def backoff(attempt: int) -> float:
    """Seconds to wait after the `attempt`-th try (from 1): 0.2, 0.4, 0.8 …, each between half of it and the whole, so
    that many clients do not come back at the same moment."""
    return 0.2 * float(2 ** (attempt - 1)) * random.uniform(0.5, 1.0)


def _wait_asked(answer: Answer, attempt: int) -> float | None:
    """Seconds until a further try is worth it, None for never. A 429 is repeated only where it says when."""
    if answer.status not in _RETRIED_STATUS:
        return None
    asked = answer.headers.get("retry-after", "").strip()
    if asked.isdecimal():
        seconds = float(asked)
        return seconds + random.uniform(0, 0.1) if seconds <= LONGEST_WAIT else None
    return None if answer.status == 429 else backoff(attempt)


def _secrets(connection: Connection, headers: Mapping[str, str]) -> list[str]:
    values = [v for k, v in connection.credentials.items() if k != "username"] + list(connection.headers.values())
    values.append(headers.get("authorization", "").partition(" ")[2])
    return [str(value) for value in values if len(str(value)) > 5]  # shorter ones would tear up ordinary words
