"""The children: few, replaceable, poor, and never left behind."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from py_mini_racer import JSTimeoutException

from relevancy.sandbox import Limits, SandboxError, batch, child, close, process
from relevancy.sandbox.pool import POOL, Pool

from .queries import one, query, run

BUSY = "const end = Date.now() + 20; while (Date.now() < end); setScore(6)"


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def wait_for(condition: Callable[[], bool], seconds: float = 20) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


@pytest.fixture
def child_pid() -> Iterator[int]:
    """The one child there is."""
    close()
    assert one("setScore(1)").score == 1
    (child,) = POOL.all
    yield child.pid


def test_child_is_used_again(child_pid: int) -> None:
    assert one("setScore(2)").score == 2
    assert [child.pid for child in POOL.all] == [child_pid]


def test_child_has_nothing_of_the_server(child_pid: int) -> None:
    there = Path(f"/proc/{child_pid}")
    assert (there / "environ").read_bytes() == b""
    assert str((there / "cwd").readlink()) == "/"
    assert os.getsid(child_pid) == child_pid
    targets = sorted(str(each.readlink()) for each in (there / "fd").iterdir())
    kinds = {target.partition(":")[0].partition("[")[0] for target in targets}
    assert kinds <= {"/dev/null", "pipe", "socket", "anon_inode"}, targets
    limits = (there / "limits").read_text()
    for name in ("Max core file size", "Max file size"):
        assert f"{name:<26}0 " in limits


@pytest.mark.parametrize("moment", [0.0, 0.1])
def test_killed_child_costs_no_query_its_score(child_pid: int, moment: float) -> None:
    def kill() -> None:
        time.sleep(moment)
        os.kill(child_pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    outcomes = run(BUSY, [query((1,))] * 30)
    killer.join()
    assert {outcome.score for outcome in outcomes} == {6}
    assert gone(child_pid)


class Late:
    """A context in which a query was stopped just when it was through."""

    def __init__(self, header: str) -> None:
        self.header = header

    def call(self, _seconds: float, name: str, *_words: str | float) -> str:
        if name == "run":
            raise JSTimeoutException
        return self.header + '\n[[1, "", null, [], 0], [2, "", null, [], 0]]'


@pytest.mark.parametrize(("header", "kept"), [("2 0 1", [1]), ("2 0 0", [1, 2])])
def test_query_stopped_at_its_very_end_is_the_guilty_one(
    header: str, kept: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[tuple[bytes, bytes]] = []
    monkeypatch.setattr(child.signal, "setitimer", lambda *_: None)
    monkeypatch.setattr(child.Server, "write", lambda _self, kind, body: written.append((kind, body)))
    server = object.__new__(child.Server)
    server.context, server.alone = Late(header), False  # type: ignore[assignment]
    server.run(b"3 0.25 1\n[]")
    ((kind, body),) = written
    assert (kind, body.split(b"\n")[0]) == (b"S", b"time")
    assert [row[0] for row in json.loads(body.split(b"\n")[1])] == kept


def test_children_killed_while_they_compile_are_not_held_against_the_script(monkeypatch: pytest.MonkeyPatch) -> None:
    send, killed = batch.Child.send, []

    def unlucky(one_child: batch.Child, kind: bytes, body: bytes, deadline: float) -> None:
        if kind == b"O" and len(killed) < 3:
            killed.append(one_child.pid)
            os.kill(one_child.pid, signal.SIGKILL)
            one_child.process.wait()
        send(one_child, kind, body, deadline)

    monkeypatch.setattr(batch.Child, "send", unlucky)
    assert [outcome.score for outcome in run("setScore(4)", [query((1,))] * 2)] == [4, 4]
    assert len(set(killed)) == 3


def test_two_busy_children_do_not_harm_who_comes_next() -> None:
    limits = Limits(seconds_per_query=0.3, seconds_per_batch=1)
    with ThreadPoolExecutor(2) as threads:
        loops = [threads.submit(run, "for (;;);", [query((1,))] * 9, limits=limits) for _ in range(2)]
        assert wait_for(lambda: POOL.busy == 2)
        assert [outcome.score for outcome in run("setScore(docRating(0))", [query((3,)), query((2,))])] == [3, 2]
        assert all(outcome.score is None for loop in loops for outcome in loop.result())
    assert POOL.busy == 0
    assert len(POOL.all) <= 2


def test_stopped_child_is_replaced(child_pid: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that neither answers nor dies."""
    monkeypatch.setattr(batch, "OPEN_SECONDS", 1.0)
    os.kill(child_pid, signal.SIGSTOP)
    outcomes = run("setScore(4)", [query((1,))] * 2, limits=Limits(seconds_per_query=0.2))
    assert [outcome.score for outcome in outcomes] == [4, 4]
    assert gone(child_pid)


def test_threads_share_two_children() -> None:
    close()
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda number: one(f"setScore({number})").score, range(40)))
    assert found == list(range(40))
    assert 1 <= len(POOL.all) <= 2


def test_busy_pool_says_so() -> None:
    pool = Pool(1)
    with pool.lease(time.monotonic()), pytest.raises(SandboxError, match="Other scripts are running"), pool.lease(0):
        pass
    with pool.lease(time.monotonic()) as lease:
        assert lease.child().alive()
    pool.close()
    assert not pool.all


def test_close_ends_the_children_and_a_script_brings_them_back(child_pid: int) -> None:
    close()
    assert gone(child_pid)
    assert not POOL.all
    assert one("setScore(3)").score == 3


def test_worn_child_is_let_go(child_pid: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "WORN_BATCHES", 0)
    assert one("setScore(3)").score == 3
    assert gone(child_pid)


def test_child_that_does_not_start_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    close()
    monkeypatch.setattr(process, "PROGRAM", Path("/nothing/here.py"))
    with pytest.raises(SandboxError, match="does not start"):
        one("setScore(3)")
    monkeypatch.undo()
    assert one("setScore(3)").score == 3


def test_fork_leaves_the_children_to_their_parent(child_pid: int) -> None:
    code = (
        "import os, sys, warnings; warnings.simplefilter('error')\n"
        "from tests.sandbox.queries import one\n"
        "from relevancy.sandbox.pool import POOL\n"
        "one('setScore(1)'); first = [c.pid for c in POOL.all]\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    good = one('setScore(2)').score == 2 and [c.pid for c in POOL.all] != first\n"
        "    from relevancy.sandbox import close; close(); os._exit(0 if good else 1)\n"
        "_, status = os.waitpid(pid, 0)\n"
        "assert status == 0, status\n"
        "assert one('setScore(3)').score == 3 and [c.pid for c in POOL.all] == first\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("script", ["setScore(1)", "for (;;);", "(function f() { Promise.resolve().then(f) })()"])
def test_killed_parent_leaves_no_child(script: str) -> None:
    code = (
        "import sys, threading\n"
        "from tests.sandbox.queries import one\n"
        "from relevancy.sandbox import Limits\n"
        "from relevancy.sandbox.pool import POOL\n"
        "one('setScore(1)'); print(*[c.pid for c in POOL.all], flush=True)\n"
        "one(sys.argv[1], limits=Limits(seconds_per_query=30)); sys.stdin.read()\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdin
    assert parent.stdout
    with parent:
        child = int(parent.stdout.readline())
        time.sleep(0.2)
        parent.kill()
    assert wait_for(lambda: gone(child))


def test_exit_of_the_parent_leaves_no_child_and_no_warning() -> None:
    code = (
        "from tests.sandbox.queries import one\nfrom relevancy.sandbox.pool import POOL\n"
        "one('setScore(1)'); print(*[c.pid for c in POOL.all])"
    )
    line = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert wait_for(lambda: gone(int(done.stdout)))
