"""`demo`: everything on one machine, with the sample, until Ctrl-C."""

import ctypes
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandParser

from relevancy import cases, transfer
from relevancy.management.command import Command as Base
from relevancy.management.command import fail
from relevancy.models import Team, User
from relevancy.transfer.sample import PASSWORD, PEOPLE

TEAM = "Search team"


class Command(Base):
    help = "Migrate, load the sample, start web and worker on this machine."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--no-serve", action="store_true", help="stop after loading")

    def work(self, **options: Any) -> None:
        if not (settings.DEMO or settings.DEBUG):
            fail("demo makes accounts with a known password, so it needs RELEVANCY_DEMO=1. Not for a public server.")
        Path(settings.DATA_DIR).mkdir(parents=True, exist_ok=True)
        call_command("migrate", verbosity=0)
        call_command("collectstatic", interactive=False, verbosity=0)
        case = load()
        self.say(f"The sample is loaded: case {case.name}, {case.case_queries.present().count()} queries.")
        if not options["no_serve"]:
            self._serve(options["port"])

    def _serve(self, port: int) -> None:
        self.say(f"\n  Relevancy is at  http://127.0.0.1:{port}/")
        for email, name, role in PEOPLE:
            self.say(f"  Sign in as       {email}  password {PASSWORD}  ({name}, {role.label})")
        self.say("  Stop with        Ctrl-C\n")
        self.stdout.flush()
        sys.exit(supervise([web(port), worker()]))


def load() -> Any:
    """Accounts, a team, the sample shared with it. Done before, it is left as it is."""
    people = []
    for email, name, _ in PEOPLE:
        user = User.objects.filter(email=email).first()
        people.append(user or User.objects.create_user(email, PASSWORD, name=name))
    owner = people[0]
    if not owner.is_superuser:
        owner.is_superuser = owner.is_staff = True
        owner.save()
    team = Team.objects.filter(name=TEAM).first() or cases.teams.create(name=TEAM, by=owner)
    for user, (_, _, role) in zip(people, PEOPLE, strict=True):
        if not team.memberships.filter(user=user).exists():
            cases.teams.add_member(team=team, email=user.email, role=role)
    case = transfer.sample.load(owner=owner)
    if not case.teams.filter(pk=team.pk).exists():
        cases.share(case=case, team=team)
    return case


def web(port: int) -> list[str]:
    """The web server's command line."""
    return [
        *(sys.executable, "-m", "granian", "--interface", "wsgi", "--host", "127.0.0.1", "--port", str(port)),
        *(
            "--workers",
            "2",
            "--blocking-threads",
            "4",
            "--no-ws",
            "--log-level",
            "warning",
            "relevancy.wsgi:application",
        ),
    ]


def worker() -> list[str]:
    """The worker's command line."""
    return [sys.executable, "-m", "relevancy", "worker", "--verbosity", "0"]


def supervise(commands: list[list[str]]) -> int:
    """Run commands side by side, each in a session of its own. A signal ends all of them; so does the death of one."""
    children = [subprocess.Popen(command, start_new_session=True, preexec_fn=_die_with_parent) for command in commands]
    ended: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda signum, frame: ended.append(signum))
    while not ended and all(child.poll() is None for child in children):
        time.sleep(0.1)
    dead = [child for child in children if child.poll() is not None]
    for child in children:
        _end(child)
    if ended:
        return 0
    said = f"{shlex.join(commands[children.index(dead[0])])} ended with {dead[0].returncode}; the others were stopped."
    print(said, file=sys.stderr)  # noqa: T201
    return 1


def _end(child: "subprocess.Popen[bytes]") -> None:
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(timeout=0.8)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()


def _die_with_parent() -> None:
    """On Linux a killed parent takes its children with it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)
