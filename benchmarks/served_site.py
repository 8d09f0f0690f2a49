"""The site of a benchmark, served as `demo` serves it: granian with 2 processes of 4 threads, and a worker."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import IO

import fresh_site
import urllib3
from django.db import connection
from own_environment import ROOT, environment

from relevancy.management.commands.demo import web_command, worker_command
from tests.live.servers import free_port
from tests.static_names import name_static_files


def own_site() -> dict[str, str]:
    """Returns the environment of processes that work on the site of the benchmark."""
    own = environment(fresh_site.DATA) | {"RELEVANCY_LOG_LEVEL": "WARNING"}
    if connection.vendor == "postgresql":
        url = own["RELEVANCY_DATABASE_URL"].rpartition("/")[0]
        own["RELEVANCY_DATABASE_URL"] = f"{url}/{connection.settings_dict['NAME']}"
    return own


@contextmanager
def served(*, with_worker: bool = True) -> Iterator[str]:
    """The address of the site's web processes, with its worker beside them."""
    own = own_site()
    name_static_files(fresh_site.DATA / "collected")
    port = free_port()
    with ExitStack() as stack:
        for line in (web_command(port), worker_command())[: 1 + with_worker]:
            stack.callback(end, start(line, own))
        address = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + 60
        while not _answers(address):
            assert time.monotonic() < deadline, "the site did not start"
            time.sleep(0.1)
        yield address


def start(line: list[str], own: dict[str, str], log: IO[str] | None = None) -> subprocess.Popen[bytes]:
    """Starts a process of the site as `demo` does. own: its environment, see `own_site`. log: gets its stderr."""
    return subprocess.Popen(line, env=own, cwd=ROOT, stderr=log, process_group=0)


def end(process: subprocess.Popen[bytes]) -> None:
    """Ends a process of the site, and kills it if that takes longer than 20 seconds."""
    process.terminate()
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:  # a script that does not end
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _answers(address: str) -> bool:
    try:
        return urllib3.request("GET", f"{address}/readyz", retries=False, timeout=5.0).status == 200
    except urllib3.exceptions.HTTPError:
        return False
