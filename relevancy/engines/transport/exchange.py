"""One exchange with an endpoint: time limits for all of it, from the name look-up to the last byte, and a way to end it.

A time-out of a socket limits a single read. A server that sends one byte at a time never exceeds it, so here every operation
of a socket gets the time that is left of its exchange.

See docs/decisions/0004.
"""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

_WAIT_SECONDS = 0.1  # between checks whether an exchange was aborted while a name is looked up
_current = threading.local()


class Exchange:
    """One request and its response. One thread works on it; `abort` may be called in any other.

    connect_seconds: for the connection, with its name look-up and TLS handshake.
    response_seconds: for the request and the whole response.
    deadline: when all of it has to be over, by `time.monotonic()`.
    """

    def __init__(self, connect_seconds: float, response_seconds: float, deadline: float) -> None:
        self.is_connected = False
        self.is_aborted = False
        self._response_seconds = response_seconds
        self._end = deadline
        self._deadline = min(time.monotonic() + connect_seconds, deadline)
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None

    @property
    def is_expired(self) -> bool:
        """Whether the time of the present step is over."""
        return time.monotonic() >= self._deadline

    def start_response(self) -> None:
        """Starts the time of request and response: the connection is open."""
        if not self.is_connected:
            self.is_connected = True
            self._deadline = min(time.monotonic() + self._response_seconds, self._end)

    def remaining(self) -> float:
        """Returns the seconds that are left. Raises `TimeoutError`, or `ConnectionAbortedError` after `abort`."""
        if self.is_aborted:
            raise ConnectionAbortedError("aborted")
        seconds = self._deadline - time.monotonic()
        if seconds <= 0:
            raise TimeoutError("timed out")
        return seconds

    def watch(self, watched: socket.socket) -> None:
        """Gives the next operation of a socket the time that is left, and lets `abort` end it."""
        with self._lock:
            self._socket = watched
        watched.settimeout(self.remaining())

    def abort(self) -> None:
        """Ends the exchange: its thread gets an error at once."""
        with self._lock:
            self.is_aborted = True
            if self._socket is not None:
                # Not the method of SSLSocket, which changes objects that the other thread uses.
                with suppress(OSError):
                    socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def call[Result](self, function: Callable[[], Result]) -> Result:
        """Returns what a function returns that has no time-out of its own. It may go on in a thread after an error here."""
        outcome: list[Result] = []
        errors: list[BaseException] = []
        done = threading.Event()

        def run() -> None:
            try:
                outcome.append(function())
            except BaseException as error:
                errors.append(error)
            finally:
                done.set()

        threading.Thread(target=run, daemon=True, name="engine-lookup").start()
        while not done.wait(min(_WAIT_SECONDS, self.remaining())):
            pass
        if errors:
            raise errors[0]
        return outcome[0]


@contextmanager
def working_on(exchange: Exchange) -> Iterator[None]:
    """Makes an exchange the one whose limits apply to the sockets that this thread uses."""
    _current.exchange = exchange
    try:
        yield
    finally:
        _current.exchange = None


def current() -> Exchange:
    """Returns the exchange that this thread works on."""
    exchange: Exchange = _current.exchange
    return exchange


def _watch(watched: socket.socket) -> None:
    exchange: Exchange | None = getattr(_current, "exchange", None)
    if exchange is not None:
        exchange.watch(watched)


class _Limited(socket.socket):
    """A socket whose operations take at most the time that is left of the thread's exchange."""

    def recv_into(self, *arguments: Any, **options: Any) -> int:
        _watch(self)
        return super().recv_into(*arguments, **options)

    def recv(self, *arguments: Any) -> bytes:
        _watch(self)
        return super().recv(*arguments)


class LimitedSocket(_Limited):
    """One without TLS, or to begin TLS on."""

    def connect(self, address: Any) -> None:
        _watch(self)
        super().connect(address)

    def sendall(self, *arguments: Any) -> None:
        _watch(self)
        super().sendall(*arguments)


class LimitedTLSSocket(_Limited, ssl.SSLSocket):
    """One with TLS, whose handshake is limited, too."""

    def do_handshake(self, block: bool = False) -> None:
        _watch(self)
        super().do_handshake(block)

    def send(self, *arguments: Any) -> int:
        _watch(self)
        return super().send(*arguments)
