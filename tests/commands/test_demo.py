"""`demo`: accounts and sample once, and two processes that live and die together."""

import os
import signal
import subprocess
import sys
import time

import pytest
from django.core.management import CommandError, call_command

from relevancy.management.commands import demo
from relevancy.models import Case, Role, Run, Team, User

SUPERVISE = """
import django, json, sys
django.setup()
from relevancy.management.commands.demo import supervise
sys.exit(supervise(json.loads(sys.argv[1])))
"""


@pytest.mark.django_db
@pytest.mark.usefixtures("data_dir")
def test_load_twice_is_once() -> None:
    case = demo.load_demo()
    assert demo.load_demo() == case
    assert (Case.objects.count(), Run.objects.count(), User.objects.count(), Team.objects.count()) == (1, 2, 2, 1)
    owner, rater = (User.objects.get(email=email) for email, _, _ in demo.PEOPLE)
    assert owner.is_superuser and owner.check_password(demo.PASSWORD)
    assert not rater.is_superuser
    assert Case.objects.with_role(rater).get().role == Role.RATER


def test_demo_is_not_for_public_servers() -> None:
    with pytest.raises(CommandError, match="RELEVANCY_DEMO=1") as caught:
        call_command("demo")
    assert caught.value.returncode == 2


def supervised(*commands: list[str]) -> "subprocess.Popen[str]":
    import json  # noqa: PLC0415

    return subprocess.Popen(
        [sys.executable, "-c", SUPERVISE, json.dumps(commands)],
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "relevancy.settings"},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def waiting(name: str) -> list[str]:
    """A command that tells its process id and waits."""
    return [sys.executable, "-c", f"import os, time; print('{name}', os.getpid(), flush=True); time.sleep(60)"]


def alive(pid: int) -> bool:
    """Whether the process runs; one that ended and that nobody has waited for yet does not."""
    said = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(said.strip()) and not said.startswith("Z")


def gone(pids: list[int], seconds: float = 3) -> bool:
    deadline = time.monotonic() + seconds
    while any(alive(pid) for pid in pids) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not any(alive(pid) for pid in pids)


def started(parent: "subprocess.Popen[str]", children: int = 2) -> list[int]:
    assert parent.stdout is not None
    return [int(parent.stdout.readline().split()[1]) for _ in range(children)]


def test_supervise_a_signal_ends_all() -> None:
    parent = supervised(waiting("web"), waiting("worker"))
    pids = started(parent)
    time.sleep(0.2)
    parent.send_signal(signal.SIGINT)
    began = time.monotonic()
    _, err = parent.communicate(timeout=10)
    assert (parent.returncode, err) == (0, "")
    assert time.monotonic() - began < 2.5
    assert gone(pids)


def test_supervise_one_that_dies_ends_the_others() -> None:
    parent = supervised(waiting("web"), [sys.executable, "-c", "import sys, time; time.sleep(0.5); sys.exit(3)"])
    pids = started(parent, 1)
    _, err = parent.communicate(timeout=10)
    assert parent.returncode == 1
    assert "ended with exit status 3; the others were stopped." in err
    assert gone(pids)


def test_supervise_a_killed_parent_leaves_no_orphans() -> None:
    parent = supervised(waiting("web"), waiting("worker"))
    pids = started(parent)
    parent.kill()
    parent.communicate()
    if sys.platform == "linux":  # elsewhere nobody tells children that their parent died
        assert gone(pids)
