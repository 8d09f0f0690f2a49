"""The processes of a site that can be killed: PostgreSQL, Redis, a search engine, the web server and workers."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
import urllib3

from tests.live.servers import free_port
from tests.processes import Site

ROOT = Path(__file__).parents[2]
START_SECONDS = 60.0
WORKERS = 2
PREPARE = """
from relevancy.management.commands.demo import web_command, worker_command
from django.conf import settings
from tests.static_names import name_static_files
name_static_files(settings.STATIC_ROOT)
print(json.dumps([web_command(int(sys.argv[1])), worker_command()]))
"""
SECRET = "faults-only-faults-only-faults-only-faults-only"


def missing_programs() -> list[str]:
    """Returns what this machine lacks: `initdb` of PostgreSQL, `redis-server`."""
    return [name for name, path in (("initdb", _initdb()), ("redis-server", shutil.which("redis-server"))) if not path]


def _initdb() -> str:
    found = shutil.which("initdb") or next(map(str, sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))), "")
    return str(found)


@dataclass
class Process:
    """A program that is started again whenever it was killed. `log`: the file that gets what it prints."""

    name: str
    command: Sequence[str]
    environment: dict[str, str]
    log: Path
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it in a session of its own."""
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                self.command,
                env=self.environment,
                cwd=ROOT,
                stdout=output,
                stderr=output,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def kill(self) -> None:
        """Kills it and everything it has started, at once."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def start_if_ended(self) -> None:
        """Starts it again if it has ended by itself, as granian does whose processes are killed one after the other."""
        if self.process is not None and self.process.poll() is not None:
            self.start()

    def kill_child(self) -> None:
        """Kills one of the processes that it has started, which it replaces."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text(encoding="ascii").split()
        if children:
            with suppress(ProcessLookupError):
                os.kill(int(children[time.monotonic_ns() % len(children)]), signal.SIGKILL)


@dataclass
class PostgreSQL:
    """A cluster in a folder. Only durable settings: what it has committed survives a kill."""

    folder: Path
    port: int
    options: str = ""
    _as: tuple[str, ...] = field(default=("runuser", "-u", "postgres", "--") if os.getuid() == 0 else ())

    @property
    def url(self) -> str:
        return f"postgres://postgres@127.0.0.1:{self.port}/postgres"

    def create(self) -> None:
        """Creates the cluster, with small WAL files so that it fits on a small disk."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self._as:
            shutil.chown(self.folder, "postgres")
        self._run("initdb", "-D", self._data, "-U", "postgres", "-A", "trust", "--wal-segsize=1")

    @property
    def _data(self) -> str:
        return str(self.folder / "data")

    def _run(self, program: str, *words: str, check: bool = True) -> bool:
        line = [*self._as, str(Path(_initdb()).with_name(program)), *words]
        done = subprocess.run(line, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        assert done.returncode == 0 or not check, f"{program} ended with {done.returncode}"
        return done.returncode == 0

    def start(self, *, may_run: bool = False) -> None:
        """Starts the server; after a kill, processes of the old one may need a moment to end. may_run: it need not have ended."""
        options = f"-p {self.port} -k {self.folder} -c listen_addresses=127.0.0.1 -c max_wal_size=32MB {self.options}"
        words = ("-D", self._data, "-w", "-l", str(self.folder / "log"), "-o", options, "start")
        deadline = time.monotonic() + START_SECONDS
        while not self._run("pg_ctl", *words, check=False) and not (may_run and _accepts(self.port)):
            assert time.monotonic() < deadline, (self.folder / "log").read_text(errors="replace")[-2000:]
            time.sleep(0.1)

    def stop(self) -> None:
        """Stops it at once, without a checkpoint: the next start recovers from the log of changes."""
        self._run("pg_ctl", "-D", self._data, "-m", "immediate", "stop", check=False)

    def kill(self) -> None:
        """Kills the main process; its children find that out and end."""
        with suppress(OSError, ValueError):
            pid = int((Path(self._data) / "postmaster.pid").read_text(encoding="ascii").splitlines()[0])
            os.kill(pid, signal.SIGKILL)

    def kill_connection(self) -> None:
        """Kills one process that serves a connection, whereupon the server ends all others and recovers."""
        with suppress(psycopg.Error, ProcessLookupError), self.connect() as connection:
            rows = connection.execute(
                "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() "
                "ORDER BY query_start DESC NULLS LAST LIMIT 1"
            ).fetchall()
            for (pid,) in rows:
                os.kill(pid, signal.SIGKILL)

    def connect(self) -> psycopg.Connection[Any]:
        """Opens a connection of its own, which commits each statement."""
        return psycopg.connect(self.url, autocommit=True, connect_timeout=5)


@dataclass
class FaultSite:
    """A running site, whose processes can be killed one by one.

    address: of the web server. engine: URL of the search engine. site: starts commands and Python code on it.
    """

    folder: Path
    postgres: PostgreSQL
    processes: dict[str, Process]
    address: str
    engine: str
    site: Site

    def wait_until_ready(self) -> float:
        """Returns after how many seconds the site was ready. Raises `AssertionError` after a minute."""
        begun = time.monotonic()
        while not _answers(f"{self.address}/readyz"):
            self.supervise()
            assert time.monotonic() < begun + START_SECONDS, f"the site is not ready; see {self.folder}"
            time.sleep(0.1)
        return time.monotonic() - begun

    def supervise(self) -> None:
        """Starts processes again that have ended by themselves, as a supervisor does."""
        for process in self.processes.values():
            process.start_if_ended()

    def kill(self, name: str) -> None:
        """Kills something and starts it again, as a supervisor does. name: one of `FAULTS`."""
        if name == "postgres stop":
            self.postgres.stop()
            self.postgres.start()
        elif name == "postgres":
            self.postgres.kill()
            self.postgres.start()
        elif name == "postgres connection":
            self.postgres.kill_connection()
        elif name == "web process":
            self.processes["web"].kill_child()
        else:
            self.processes[name].kill()
            self.processes[name].start()

    def logs(self) -> str:
        """Returns what the web server and the workers have printed."""
        return "\n".join(path.read_text(errors="replace") for path in sorted(self.folder.glob("*.log")))


FAULTS = (
    "web",
    "web process",
    *(f"worker {number}" for number in range(1, WORKERS + 1)),
    "postgres stop",
    "postgres",
    "postgres connection",
    "redis",
    "engine",
)


def _answers(url: str) -> bool:
    try:
        return urllib3.request("GET", url, retries=False, timeout=5.0).status == 200
    except urllib3.exceptions.HTTPError:
        return False


def _accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def running_site(
    folder: Path, *, tasks: str = "celery", database_folder: Path, data_folder: Path, without: str = ""
) -> Iterator[FaultSite]:
    """A migrated site with all its processes, for the duration of a `with` block.

    tasks: "celery" or "database". database_folder, data_folder: of the cluster and of the site, which may have file systems of their
    own. without: optional apps that are left out.
    """
    folder.mkdir(parents=True, exist_ok=True)
    data_folder.mkdir(parents=True, exist_ok=True)
    postgres = PostgreSQL(database_folder, free_port())
    ports = {name: free_port() for name in ("web", "redis", "engine")}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RELEVANCY_")}
    environment |= {
        "DJANGO_SETTINGS_MODULE": "relevancy.settings",
        "PYTHONPATH": str(ROOT),
        "RELEVANCY_ENV_FILE": os.devnull,
        "RELEVANCY_SECRET_KEY": SECRET,
        "RELEVANCY_DATA_DIR": str(data_folder),
        "RELEVANCY_WITHOUT": without,
        "RELEVANCY_ENDPOINT_HOSTS": "127.0.0.0/8",
        "RELEVANCY_API_PER_MINUTE": "0",
        "RELEVANCY_DATABASE_URL": postgres.url,
        "RELEVANCY_TASKS": tasks,
        "RELEVANCY_BROKER_URL": f"redis://127.0.0.1:{ports['redis']}/0",
    }
    # Nothing is kept of what waits in Redis: the worst that can happen to a queue.
    redis = ["redis-server", "--port", str(ports["redis"]), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    site = Site(data_folder, environment)
    web, worker = site.ask(PREPARE, str(ports["web"]))
    commands = {
        "redis": (redis, environment),
        "engine": ([sys.executable, "-m", "tests.faults.engine", str(ports["engine"])], environment),
        "web": (web, environment),
        **{f"worker {number}": (worker, environment) for number in range(1, WORKERS + 1)},
    }
    processes = {
        name: Process(name, line, variables, folder / f"{name.replace(' ', '-')}.log")
        for name, (line, variables) in commands.items()
    }
    with ExitStack() as stack:
        postgres.create()
        stack.callback(postgres.stop)
        postgres.start()
        done = site.run("migrate", "--verbosity", "0", seconds=240)
        assert done.returncode == 0, done.stderr
        for process in processes.values():
            stack.callback(process.kill)
            process.start()
        here = FaultSite(
            folder,
            postgres,
            processes,
            f"http://127.0.0.1:{ports['web']}",
            f"http://127.0.0.1:{ports['engine']}",
            site,
        )
        here.wait_until_ready()
        deadline = time.monotonic() + START_SECONDS
        while not _accepts(ports["engine"]):
            assert time.monotonic() < deadline, "the engine did not start"
            time.sleep(0.05)
        yield here
