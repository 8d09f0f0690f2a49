"""The network is blocked in tests, except for loopback addresses and Unix sockets."""

import asyncio
import gc
import http.client
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import urllib3

from tests.event_loops import run_coroutine
from tests.network import NetworkBlocked

OUTSIDE = "192.0.2.1"  # reserved for documentation: no host has it


def connect() -> None:
    with socket.socket() as client:
        client.settimeout(0.5)
        client.connect((OUTSIDE, 80))


def connect_without_blocking() -> None:
    with socket.socket() as client:
        client.setblocking(False)
        client.connect_ex((OUTSIDE, 80))


def connect_by_ipv6() -> None:
    with socket.socket(socket.AF_INET6) as client:
        client.settimeout(0.5)
        client.connect(("2001:db8::1", 80))


def send_datagram() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.sendto(b"x", (OUTSIDE, 53))


def connect_asynchronously() -> None:
    run_coroutine(asyncio.wait_for(asyncio.open_connection(OUTSIDE, 80), 0.5))


@pytest.mark.parametrize(
    "use",
    [
        connect,
        connect_without_blocking,
        connect_by_ipv6,
        send_datagram,
        connect_asynchronously,
        lambda: urllib3.request("GET", f"http://{OUTSIDE}/", timeout=0.5, retries=False),
        lambda: http.client.HTTPConnection(OUTSIDE, timeout=0.5).connect(),
        lambda: socket.getaddrinfo("search.example.org", 80),
        lambda: socket.gethostbyname("search.example.org"),
    ],
)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning")
def test_network_is_blocked(use: Callable[[], object]) -> None:
    with pytest.raises(NetworkBlocked):
        use()
    gc.collect()  # libraries leave the socket open, since they expect only OSError


def test_network_is_blocked_in_threads() -> None:
    errors: list[BaseException] = []

    def run() -> None:
        try:
            connect()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert [type(error) for error in errors] == [NetworkBlocked]


@pytest.mark.parametrize(("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET, "localhost")])
def test_loopback_is_allowed(family: socket.AddressFamily, host: str) -> None:
    with socket.create_server(("127.0.0.1", 0), family=family) as server:
        socket.create_connection((host, server.getsockname()[1]), timeout=2).close()


def test_unix_sockets_are_allowed(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        server.bind(str(tmp_path / "socket"))
        server.listen()
        client.connect(str(tmp_path / "socket"))
