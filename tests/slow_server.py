"""A server on loopback that answers as slowly as a test or a benchmark says.

    with slow_server(drip_headers(seconds=0.1)) as server: … server.url

`python -m tests.slow_server drip_body 1` serves until it is stopped, and prints its address.
"""

from __future__ import annotations

import socket
import ssl
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

Behaviour = Callable[[socket.socket, threading.Event], None]

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"


def hang(connection: socket.socket, stopped: threading.Event) -> None:
    """Accepts the connection and never sends anything; a TLS handshake never ends either."""
    stopped.wait()


def drip_status(seconds: float = 1.0) -> Behaviour:
    """Sends the status line byte by byte, without end: `seconds` between two bytes."""
    return _drip(b"", b"HTTP/1.1 200 " + b"O" * 1_000_000, seconds)


def drip_headers(seconds: float = 1.0) -> Behaviour:
    """Sends headers byte by byte, without end."""
    return _drip(HEAD, b"x-slow: " + b"y" * 1_000_000, seconds)


def drip_body(seconds: float = 1.0) -> Behaviour:
    """Sends the body byte by byte; its length is a million."""
    return _drip(HEAD + b"content-length: 1000000\r\n\r\n", b" " * 1_000_000, seconds)


def drip_chunks(seconds: float = 1.0) -> Behaviour:
    """Sends the body in chunks of one byte, without end."""
    return _drip(HEAD + b"transfer-encoding: chunked\r\n\r\n", b"1\r\n \r\n" * 200_000, seconds)


def read_slowly(connection: socket.socket, stopped: threading.Event) -> None:
    """Never reads the request, so that a large one fills the buffers of the connection."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
    stopped.wait()


def _drip(first: bytes, rest: bytes, seconds: float) -> Behaviour:
    def behave(connection: socket.socket, stopped: threading.Event) -> None:
        connection.recv(65536)
        connection.sendall(first)
        for position in range(len(rest)):
            if stopped.wait(seconds):
                return
            connection.sendall(rest[position : position + 1])

    return behave


@dataclass
class SlowServer:
    """`url`: its address. `accepted`: how many connections it has accepted. `connected`: set after the first one."""

    url: str
    accepted: int = 0
    stopped: threading.Event = field(default_factory=threading.Event)
    connected: threading.Event = field(default_factory=threading.Event)


@contextmanager
def slow_server(
    behaviour: Behaviour, scheme: str = "http", context: ssl.SSLContext | None = None
) -> Iterator[SlowServer]:
    """Runs a server on a free port of 127.0.0.1 for the duration of a `with` block. context: for TLS handshakes that succeed."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=128)
    server = SlowServer(f"{scheme}://127.0.0.1:{listener.getsockname()[1]}")
    connections: list[socket.socket] = []
    threads: list[threading.Thread] = []

    def serve(connection: socket.socket) -> None:
        with suppress(OSError):
            if context is not None:
                connection = context.wrap_socket(connection, server_side=True)
                connections.append(connection)
            behaviour(connection, server.stopped)
        connection.close()

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connections.append(connection)
            server.accepted += 1
            server.connected.set()
            thread = threading.Thread(target=serve, args=(connection,), daemon=True)
            threads.append(thread)
            thread.start()

    acceptor = threading.Thread(target=accept, daemon=True)
    acceptor.start()
    try:
        yield server
    finally:
        server.stopped.set()
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for connection in list(connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in (acceptor, *threads):
            thread.join(5)
        for connection in connections:
            connection.close()


BEHAVIOURS: dict[str, Callable[[float], Behaviour]] = {
    "hang": lambda seconds: hang,
    "drip_status": drip_status,
    "drip_headers": drip_headers,
    "drip_body": drip_body,
    "drip_chunks": drip_chunks,
}

if __name__ == "__main__":
    name, pause = (*sys.argv[1:], "drip_body", "1")[:2]
    with slow_server(BEHAVIOURS[name](float(pause))) as running:
        sys.stdout.write(f"{running.url}\n")
        sys.stdout.flush()
        threading.Event().wait()
