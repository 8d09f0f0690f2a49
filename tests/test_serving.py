"""The web server as `demo` starts it, while clients send their requests byte by byte."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from relevancy.management.commands.demo import web_command
from tests.live.servers import free_port
from tests.processes import Site, site

TOKEN = "a" * 32
DRIP = (
    f"POST /login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: csrftoken={TOKEN}\r\n"
    "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\na"
).encode()


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site(tmp_path_factory.mktemp("site")) as made:
        yield made


@contextmanager
def web(here: Site) -> Iterator[tuple[str, int]]:
    """Serves the site. Yields its address and the id of the server's main process."""
    port = free_port()
    (here.folder / "collected").mkdir(exist_ok=True)
    process = subprocess.Popen(web_command(port), env=here.environment, start_new_session=True)
    address = f"http://127.0.0.1:{port}"
    try:
        assert until_up(address), "the site did not start"
        yield address, process.pid
    finally:
        process.terminate()
        process.wait(20)


def status(url: str, data: bytes | None = None) -> int:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, data=data, timeout=15) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def until_up(address: str) -> bool:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            return status(f"{address}/healthz") == 200
        except OSError:
            time.sleep(0.1)
    return False


def test_dripping_clients_do_not_stop_the_site(here: Site) -> None:
    with web(here) as (address, _), ExitStack() as stack:
        port = int(address.rpartition(":")[2])
        clients = [stack.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(40)]
        for client in clients:
            client.sendall(DRIP)
        time.sleep(0.3)
        for client in clients:
            client.sendall(b"a")
        assert [status(f"{address}{path}") for path in ("/healthz", "/readyz") * 5] == [200] * 10
        for client in clients:
            client.setblocking(False)
            with pytest.raises(BlockingIOError):  # there is no response yet, because these requests are not complete
                client.recv(1)


def test_a_request_that_is_too_large_gets_a_message(here: Site) -> None:
    with web(here) as (address, _):
        assert status(f"{address}/login/", data=b"x" * (65 * 1024 * 1024)) == 413


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_killed_web_process_is_started_again(here: Site) -> None:
    with web(here) as (address, main):
        children = Path(f"/proc/{main}/task/{main}/children").read_text().split()
        workers = [int(pid) for pid in children if "resource_tracker" not in Path(f"/proc/{pid}/cmdline").read_text()]
        assert len(workers) == 2
        for pid in workers:
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.2)
        assert until_up(address)
