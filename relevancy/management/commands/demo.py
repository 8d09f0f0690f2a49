"""`demo`: the whole product on one machine, with sample data."""

import ctypes
import hashlib
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.core.management.base import CommandParser

from relevancy import cases, teams, transfer
from relevancy.management.command import Command as Base
from relevancy.management.command import fail
from relevancy.models import Case, Team, User
from relevancy.static_files import CollectedFilesConfig
from relevancy.transfer.sample import PASSWORD, PEOPLE

TEAM = "Search team"
STOP_SECONDS = 0.8  # for a process to end after SIGTERM


class Command(Base):
    help = "Creates the database, loads sample data and starts a web server and a worker on this machine."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=8000, help="port of the web server; default: 8000")
        parser.add_argument("--no-serve", action="store_true", help="stop after loading the sample data")

    def run(self, **options: Any) -> None:
        if not (settings.DEMO or settings.DEBUG):
            fail(
                "The demo creates accounts with a public password. Set RELEVANCY_DEMO=1 to allow that; "
                "never do so on a public server."
            )
        Path(settings.DATA_DIR).mkdir(parents=True, exist_ok=True)
        call_command("migrate", verbosity=0)
        collect_static_files()
        case = load_demo()
        self.write(f"Sample data loaded: case {case.name} with {case.case_queries.present().count()} queries.")
        if not options["no_serve"]:
            self._serve(options["port"])

    def _serve(self, port: int) -> None:
        self.write(f"\n  Relevancy is at  http://127.0.0.1:{port}/")
        for email, name, role in PEOPLE:
            self.write(f"  Sign in as       {email}  password {PASSWORD}  ({name}, {role.label})")
        self.write(f"  Data is kept in  {settings.DATA_DIR}")
        self.write("  Stop with        Ctrl-C\n")
        self.stdout.flush()
        sys.exit(supervise([web_command(port), worker_command()]))


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
            teams.add_member(team=team, email=user.email, role=role)
    case = transfer.sample.load(owner=owner)
    if not case.teams.filter(pk=team.pk).exists():
        cases.share(case=case, team=team)
    return case


def web_command(port: int) -> list[str]:
    """Returns the command line of the web server."""
    server = [sys.executable, "-m", "granian", "--interface", "wsgi", "--host", "127.0.0.1", "--port", str(port)]
    processes = ["--workers", "2", "--blocking-threads", "4", "--no-ws", "--log-level", "warning"]
    return [*server, *processes, "relevancy.wsgi:application"]


def worker_command() -> list[str]:
    """Returns the command line of the worker."""
    return [sys.executable, "-m", "relevancy", "worker", "--verbosity", "0"]


def supervise(commands: list[list[str]]) -> int:
    """Runs commands side by side until SIGINT or SIGTERM, or until one of them ends; then stops the others.

    Returns the exit status: 0 after a signal, 1 after a command has ended by itself.
    """
    children = [subprocess.Popen(command, start_new_session=True, preexec_fn=_end_with_parent) for command in commands]
    received: list[int] = []

    def remember(number: int, frame: FrameType | None) -> None:
        received.append(number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, remember)
    while not received and all(child.poll() is None for child in children):
        time.sleep(0.1)
    ended = [(child, command) for child, command in zip(children, commands, strict=True) if child.poll() is not None]
    for child in children:
        _stop(child)
    if received:
        return 0
    child, command = ended[0]
    sys.stderr.write(f"{shlex.join(command)} ended with exit status {child.returncode}; the others were stopped.\n")
    return 1


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
