"""Starting and stopping real engines from `tests/live/engines`."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import urllib3

ENGINES = Path(__file__).parent / "engines"
# A Java that compiles once and collects garbage in one thread starts an engine with half the CPU time. Figures need the usual options.
QUICK_JVM = {"JVM_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}


@dataclass(frozen=True)
class Server:
    """A running engine. `url`: its root (`http://127.0.0.1:8983/solr`, `http://127.0.0.1:9200`); `home`: its files; `group`: the id of
    its process group."""

    url: str
    home: Path
    group: int = 0

    def cpu_seconds(self) -> float:
        """Returns the CPU time that its processes have used; 0 except on Linux."""
        ticks = 0
        for path in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):  # the process has ended
                group, *_, user, system = path.read_text().rpartition(")")[2].split()[2:13]
                ticks += (int(user) + int(system)) * (int(group) == self.group)
        return ticks / os.sysconf("SC_CLK_TCK")


def fetched(engine: str) -> bool:
    """Whether `make engines` has fetched this engine."""
    target = ENGINES / engine / "target"
    marker_files = {"solr": "cp.txt", "elasticsearch": "dist/*/elasticsearch/lib"}
    return any(target.glob(marker_files.get(engine, "ready")))


def free_port() -> int:
    """Returns a port that is currently unused."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(engine: str, home: Path, ready: str, environment: dict[str, str]) -> Iterator[Server]:
    """Starts an engine on a free port, waits until the path `ready` returns status 200, and stops it with SIGTERM at the end."""
    port = free_port()
    log = home.parent / f"{engine}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(ENGINES / engine / "start.sh"), str(port), str(home)],
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **environment},
            start_new_session=True,
        )
    try:
        root = f"http://127.0.0.1:{port}"
        _wait(lambda: _is_ready(root + ready), process, log)
        yield Server(root + ("/solr" if engine.startswith("solr") else ""), home, process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)


def _is_ready(url: str) -> bool:
    try:
        return urllib3.request("GET", url, retries=False, timeout=5.0).status == 200
    except urllib3.exceptions.HTTPError:
        return False


def _wait(ready: Callable[[], bool], process: "subprocess.Popen[bytes]", log: Path, seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while not ready():
        if process.poll() is not None or time.monotonic() > deadline:
            tail = log.read_text(errors="replace")[-3000:]
            raise RuntimeError(f"The engine did not start (exit status {process.poll()}). The end of its log:\n{tail}")
        time.sleep(0.2)
