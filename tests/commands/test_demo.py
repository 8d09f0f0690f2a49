"""`demo`: accounts and sample once, and two processes that are kept running."""

import os
import signal
import subprocess
import sys
import time
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from relevancy.management.commands import demo
from relevancy.models import Case, Role, Run, Team, User

SUPERVISE = """
import django, json, sys
django.setup()
from relevancy.management.commands import demo
demo.MAX_FAILURES, demo.MAX_PAUSE = 2, 0.1
names = ["web server", "worker"]
services = [demo.Service(name, line, is_essential=name != "worker") for name, line in zip(names, json.loads(sys.argv[1]))]
sys.exit(demo.supervise(services))
"""


@pytest.mark.django_db
@pytest.mark.usefixtures("data_dir")
def test_load_twice_is_once() -> None:
    case = demo.load_demo()
    assert demo.load_demo() == case
    assert (Case.objects.count(), Run.objects.count(), User.objects.count(), Team.objects.count()) == (1, 3, 2, 1)
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
    """A command that writes its name and process id and waits.

    It writes them at once: with PYTHONUNBUFFERED, `print` writes each of its arguments separately, and the commands share a pipe.
    """
    return [sys.executable, "-c", f"import os, time; os.write(1, b'{name} %d\\n' % os.getpid()); time.sleep(60)"]


def alive(pid: int) -> bool:
    """Whether the process is running; a zombie is not."""
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
    return bool(state.strip()) and not state.startswith("Z")


def gone(pids: list[int], seconds: float = 10) -> bool:
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
    # One session, within which Linux respects how nice the worker is, and groups, so that Ctrl+C reaches only the parent.
    assert {os.getsid(pid) for pid in pids} == {os.getsid(parent.pid)}
    assert [os.getpgid(pid) for pid in pids] == pids
    parent.send_signal(signal.SIGINT)
    _, err = parent.communicate(timeout=30)  # its children wait for a minute
    assert (parent.returncode, err) == (0, "")
    assert gone(pids)


FAILING = [sys.executable, "-c", "import sys; sys.exit(3)"]


def test_supervise_starts_again_what_was_killed() -> None:
    parent = supervised(waiting("web"), waiting("worker"))
    assert parent.stdout is not None
    first = dict(parent.stdout.readline().split() for _ in range(2))
    os.kill(int(first["web"]), signal.SIGKILL)
    name, again = parent.stdout.readline().split()
    assert (name, again != first["web"]) == ("web", True)
    assert alive(int(first["worker"]))
    parent.send_signal(signal.SIGTERM)
    _, err = parent.communicate(timeout=30)
    assert parent.returncode == 0
    assert err == "The web server ended with exit status -9. It is started again.\n"
    assert gone([int(again), int(first["worker"])])


def test_supervise_a_worker_that_cannot_run_leaves_the_site_alone() -> None:
    parent = supervised(waiting("web"), FAILING)
    assert parent.stdout is not None and parent.stderr is not None
    web = int(parent.stdout.readline().split()[1])
    lines = [parent.stderr.readline() for _ in range(3)]
    assert lines[-1].startswith("The worker ended with exit status 3, 3 times in a row. It is not started again.")
    assert alive(web)
    assert parent.poll() is None
    parent.send_signal(signal.SIGTERM)
    parent.communicate(timeout=30)
    assert parent.returncode == 0
    assert gone([web])


def test_supervise_a_web_server_that_cannot_run_ends_all() -> None:
    parent = supervised(FAILING, waiting("worker"))
    out, err = parent.communicate(timeout=20)
    assert parent.returncode == 1
    assert "The web server ended with exit status 3, 3 times in a row. It is not started again." in err
    assert gone([int(line.split()[1]) for line in out.splitlines()])


def test_supervise_a_killed_parent_leaves_no_orphans() -> None:
    parent = supervised(waiting("web"), waiting("worker"))
    pids = started(parent)
    parent.kill()
    parent.communicate()
    if sys.platform == "linux":  # only Linux tells children that their parent has died
        assert gone(pids)


@pytest.mark.django_db
def test_demo_is_refused_on_the_database_of_a_real_site(settings: Any) -> None:
    settings.DEMO = True
    User.objects.create_superuser("admin@example.org", "secret")
    with pytest.raises(CommandError, match="RELEVANCY_DATA_DIR") as caught:
        call_command("demo", "--no-serve")
    assert caught.value.returncode == 2
    assert User.objects.count() == 1
