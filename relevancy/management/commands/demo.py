"""`demo`: the whole product on one machine, with sample data."""

import contextlib
import ctypes
import hashlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.core.management.base import CommandParser, SystemCheckError
from django.db import connection

from relevancy import cases, judging, teams
from relevancy.formats.documents import sample
from relevancy.formats.documents.sample import PASSWORD, PEOPLE
from relevancy.management.command import Command as Base
from relevancy.management.command import fail
from relevancy.models import Case, Team, User
from relevancy.static_files import CollectedFilesConfig
from relevancy.wording import counted

TEAM = "Search team"
STOP_SECONDS = 0.8  # for a process to end after SIGTERM
STABLE_SECONDS = 30.0  # a process that has run for so long did not fail at its start
MAX_FAILURES = 5  # starts in a row
MAX_PAUSE = 10.0  # seconds between two of them


class Command(Base):
    help = "Creates the database, loads sample data and starts a web server and a worker on this machine."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=8000, help="port of the web server; default: 8000")
        parser.add_argument("--no-serve", action="store_true", help="stop after loading the sample data")

    def run(self, **options: Any) -> None:
        if not (settings.DEMO or settings.DEBUG):
            fail(
                "The demo creates accounts with a public password, and these are the settings of a real site: "
                f"RELEVANCY_{' or RELEVANCY_'.join(settings.REAL_SITE)} is set. Run the demo without them, or, on a "
                "machine of your own, with RELEVANCY_DEMO=1."
            )
        Path(settings.DATA_DIR).mkdir(parents=True, exist_ok=True)
        if is_real_site():
            fail(
                "The database has accounts that the demo has not created. The demo would add an admin with a public "
                "password to it. Set RELEVANCY_DATA_DIR to an empty folder, and remove RELEVANCY_DATABASE_URL."
            )
        try:
            call_command("migrate", verbosity=0, skip_checks=False)
        except SystemCheckError as error:
            fail(str(error))
        collect_static_files()
        case = load_demo()
        self.write(
            f"Sample data loaded: case {case.name} with {counted(case.case_queries.present().count(), 'query', 'queries')}."
        )
        if not options["no_serve"]:
            self._serve(options["port"])

    def _serve(self, port: int) -> None:
        self.write(f"\n  Relevancy is at  http://127.0.0.1:{port}/")
        for email, name, role in PEOPLE:
            self.write(f"  Sign in as       {email}  password {PASSWORD}  ({name}, {role.label})")
        self.write(f"  Data is kept in  {settings.DATA_DIR}")
        self.write("  Stop with        Ctrl-C\n")
        self.stdout.flush()
        sys.exit(
            supervise(
                [
                    Service("web server", web_command(port)),
                    Service("worker", worker_command(), is_essential=False),
                ]
            )
        )


def is_real_site() -> bool:
    """Whether the database was not made by a demo: the first account of a demo's database is its own."""
    if User._meta.db_table not in connection.introspection.table_names():
        return False
    first = User.objects.order_by("pk").values_list("email", flat=True).first()
    return first is not None and first not in {email for email, *_ in PEOPLE}


def collect_static_files() -> None:
    """Runs `collectstatic`, unless the files are unchanged since it last ran here."""
    fingerprint = hashlib.sha256()
    for finder in get_finders():
        for name, storage in finder.list(CollectedFilesConfig.ignore_patterns):
            status = Path(storage.path(name)).stat()
            fingerprint.update(f"{name}:{status.st_size}:{status.st_mtime_ns}\n".encode())
    stored = Path(settings.STATIC_ROOT) / "fingerprint"
    if stored.is_file() and stored.read_text(encoding="ascii") == fingerprint.hexdigest():
        return
    call_command("collectstatic", interactive=False, verbosity=0)
    stored.write_text(fingerprint.hexdigest(), encoding="ascii")


def load_demo() -> Case:
    """Creates the accounts, their team and the sample case where they are missing. Returns the case."""
    users = []
    for email, name, _ in PEOPLE:
        user = User.objects.filter(email=email).first()
        users.append(user or User.objects.create_user(email, PASSWORD, name=name))
    owner = users[0]
    if not owner.is_superuser:
        owner.is_superuser = owner.is_staff = True
        owner.save()
    team = Team.objects.filter(name=TEAM).first() or teams.create(name=TEAM, by=owner)
    for user, (_, _, role) in zip(users, PEOPLE, strict=True):
        if not team.memberships.filter(user=user).exists():
            teams.add_member(team=team, email=user.email, role=role, by=owner)
    case = sample.load(owner=owner)
    if not case.teams.filter(pk=team.pk).exists():
        cases.share(case=case, team=team, by=owner)
    if judging.judging_queue(case.book).built_at is None:
        judging.build_judging_queue(book=case.book)
    return case


def web_command(port: int) -> list[str]:
    """Returns the command line of the web server."""
    server = [sys.executable, "-m", "granian", "--interface", "asginl", "--host", "127.0.0.1", "--port", str(port)]
    processes = ["--workers", "2", "--respawn-failed-workers", "--respawn-interval", "1", "--workers-kill-timeout", "5"]
    limits = ["--http", "1", "--no-ws", "--backpressure", "2048", "--http1-header-read-timeout", "15000"]
    return [*server, *processes, *limits, "--log-level", "warning", "relevancy.asgi:application"]


def worker_command() -> list[str]:
    """Returns the command line of the worker. On a busy machine, pages come first: it has about a tenth of a processor then."""
    return ["nice", "-n", "10", sys.executable, "-m", "relevancy", "worker", "--verbosity", "0"]


@dataclass
class Service:
    """A command that is started again when it ends.

    Attributes:
        name: what messages call it.
        command: its command line.
        is_essential: whether everything stops when it cannot be kept running.
    """

    name: str
    command: list[str]
    is_essential: bool = True
    process: "subprocess.Popen[bytes] | None" = None
    started_at: float = 0.0
    start_at: float = 0.0  # when to start it again, while it is not running
    failures: int = 0  # starts in a row that ended at once
    is_given_up: bool = False

    def start(self) -> None:
        """Starts the command in a process group of its own, not a session: Linux shares processors between sessions first
        (`sched_autogroup`), so the worker would have as much of them as the web server, however nice it is."""
        self.process = subprocess.Popen(self.command, process_group=0, preexec_fn=_end_with_parent)
        self.started_at = time.monotonic()

    def check(self) -> None:
        """Starts the command again if it has ended: at once at first, then after growing pauses."""
        if self.is_given_up:
            return
        if self.process is None:
            if time.monotonic() >= self.start_at:
                self.start()
            return
        if self.process.poll() is None:
            return
        status = self.process.returncode
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)  # processes it has left behind may hold its port
        self.process = None
        ran_for = time.monotonic() - self.started_at
        self.failures = 1 if ran_for >= STABLE_SECONDS else self.failures + 1
        sentence = f"The {self.name} ended with exit status {status}"
        if self.failures > MAX_FAILURES:
            self.is_given_up = True
            remedy = "" if self.is_essential else " Pages and ratings still work; runs and rescoring wait."
            say(f"{sentence}, {self.failures} times in a row. It is not started again.{remedy}")
            return
        pause = 0.0 if self.failures == 1 else min(0.5 * 2**self.failures, MAX_PAUSE)
        self.start_at = time.monotonic() + pause
        say(f"{sentence}. It is started again{f' in {pause:g} s' if pause else ''}.")

    def stop(self) -> None:
        """Stops the command and everything it has started."""
        if self.process is not None:
            _stop(self.process)


def say(text: str) -> None:
    """Writes a line to stderr."""
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def supervise(services: list[Service]) -> int:
    """Keeps services running side by side until SIGINT or SIGTERM, or until an essential one cannot be kept running.

    Returns the exit status: 0 after a signal, 1 otherwise.
    """
    received: list[int] = []

    def remember(number: int, frame: FrameType | None) -> None:
        received.append(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, remember)
    for service in services:
        service.start()
    while not received and not any(service.is_given_up and service.is_essential for service in services):
        time.sleep(0.1)
        for service in services:
            service.check()
    for service in services:
        service.stop()
    return 0 if received else 1


def _stop(child: "subprocess.Popen[bytes]") -> None:
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(timeout=STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()


def _end_with_parent() -> None:
    """On Linux, asks the kernel to terminate this process when its parent dies."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)
