"""The child processes: few, replaceable, without access to anything, and ended with their parent."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest
from py_mini_racer import JSTimeoutException

from relevancy.sandbox import Limits, SandboxError, child, close, process, scripts
from relevancy.sandbox.pool import POOL, Pool

from .script_queries import build_query, run, run_one

BUSY = "const end = Date.now() + 20; while (Date.now() < end); setScore(6)"


def has_ended(pid: int) -> bool:
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
    """The pid of the only child."""
    close()
    assert run_one("setScore(1)").score == 1
    (child,) = POOL.children
    yield child.pid


def test_child_is_reused(child_pid: int) -> None:
    assert run_one("setScore(2)").score == 2
    assert [child.pid for child in POOL.children] == [child_pid]


def test_child_shares_nothing_with_the_server(child_pid: int) -> None:
    proc = Path(f"/proc/{child_pid}")
    assert (proc / "environ").read_bytes() == b""
    assert str((proc / "cwd").readlink()) == "/"
    assert os.getsid(child_pid) == child_pid
    targets = []
    for descriptor in (proc / "fd").iterdir():
        with suppress(FileNotFoundError):  # closed since it was listed
            targets.append(str(descriptor.readlink()))
    kinds = {target.partition(":")[0].partition("[")[0] for target in targets}
    assert kinds <= {"/dev/null", "pipe", "socket", "anon_inode"}, targets
    limits = (proc / "limits").read_text()
    for name in ("Max core file size", "Max file size"):
        assert f"{name:<26}0 " in limits


@pytest.mark.parametrize("moment", [0.0, 0.1])
def test_killed_child_costs_no_query_its_score(child_pid: int, moment: float) -> None:
    def kill() -> None:
        time.sleep(moment)
        os.kill(child_pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    outcomes = run(BUSY, [build_query((1,))] * 30)
    killer.join()
    assert {outcome.score for outcome in outcomes} == {6}
    assert has_ended(child_pid)


class LateContext:
    """A context in which a query was stopped just after it had finished."""

    def __init__(self, header: str) -> None:
        self.header = header

    def call(self, _seconds: float, name: str, *_words: str | float) -> str:
        if name == "run":
            raise JSTimeoutException
        return self.header + '\n[[1, "", null, [], 0], [2, "", null, [], 0]]'


@pytest.mark.parametrize(("header", "kept"), [("2 0 1", [1]), ("2 0 0", [1, 2])])
def test_query_stopped_at_its_very_end_is_blamed(header: str, kept: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[tuple[bytes, bytes]] = []
    monkeypatch.setattr(child.signal, "setitimer", lambda *_: None)
    monkeypatch.setattr(child.Server, "write", lambda _self, kind, body: written.append((kind, body)))
    server = object.__new__(child.Server)
    server.context, server.runs_one_query = LateContext(header), False  # type: ignore[assignment]
    server.run(b"3 0.25 1\n[]")
    ((kind, body),) = written
    assert (kind, body.split(b"\n")[0]) == (b"S", b"time")
    assert [row[0] for row in json.loads(body.split(b"\n")[1])] == kept


def test_script_is_not_blamed_for_children_killed_while_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    send, killed = scripts.Child.send, []

    def kill_and_send(child: scripts.Child, kind: bytes, body: bytes, deadline: float) -> None:
        if kind == b"O" and len(killed) < 3:
            killed.append(child.pid)
            os.kill(child.pid, signal.SIGKILL)
            child.process.wait()
        send(child, kind, body, deadline)

    monkeypatch.setattr(scripts.Child, "send", kill_and_send)
    assert [outcome.score for outcome in run("setScore(4)", [build_query((1,))] * 2)] == [4, 4]
    assert len(set(killed)) == 3


def test_next_batch_runs_after_two_batches_were_stopped() -> None:
    limits = Limits(seconds_per_query=0.3, seconds_per_batch=1)
    with ThreadPoolExecutor(2) as threads:
        loops = [threads.submit(run, "for (;;);", [build_query((1,))] * 9, limits=limits) for _ in range(2)]
        assert wait_for(lambda: POOL.busy == 2)
        assert [outcome.score for outcome in run("setScore(docRating(0))", [build_query((3,)), build_query((2,))])] == [
            3,
            2,
        ]
        assert all(outcome.score is None for loop in loops for outcome in loop.result())
    assert POOL.busy == 0
    assert len(POOL.children) <= 2


def test_stopped_child_is_replaced(child_pid: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A child that neither answers nor ends."""
    monkeypatch.setattr(scripts, "COMPILE_SECONDS", 1.0)
    os.kill(child_pid, signal.SIGSTOP)
    outcomes = run("setScore(4)", [build_query((1,))] * 2, limits=Limits(seconds_per_query=0.2))
    assert [outcome.score for outcome in outcomes] == [4, 4]
    assert has_ended(child_pid)


def test_threads_share_two_children() -> None:
    close()
    with ThreadPoolExecutor(8) as threads:
        scores = list(threads.map(lambda number: run_one(f"setScore({number})").score, range(40)))
    assert scores == list(range(40))
    assert 1 <= len(POOL.children) <= 2


def test_busy_pool_is_an_error() -> None:
    pool = Pool(1)
    with pool.lease(time.monotonic()), pytest.raises(SandboxError, match="Other scripts are running"), pool.lease(0):
        pass
    with pool.lease(time.monotonic()) as lease:
        assert lease.child().is_alive()
    pool.close()
    assert not pool.children


def test_close_ends_the_children_and_the_next_script_starts_one(child_pid: int) -> None:
    close()
    assert has_ended(child_pid)
    assert not POOL.children
    assert run_one("setScore(3)").score == 3


def test_child_is_recycled(child_pid: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "RECYCLE_AFTER_BATCHES", 0)
    assert run_one("setScore(3)").score == 3
    assert has_ended(child_pid)


def test_child_that_does_not_start_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    close()
    monkeypatch.setattr(process, "PROGRAM", Path("/nothing/here.py"))
    with pytest.raises(SandboxError, match="does not start"):
        run_one("setScore(3)")
    monkeypatch.undo()
    assert run_one("setScore(3)").score == 3


def test_fork_does_not_share_children(child_pid: int) -> None:
    code = (
        "import os, sys, warnings; warnings.simplefilter('error')\n"
        "from tests.sandbox.script_queries import run_one\n"
        "from relevancy.sandbox.pool import POOL\n"
        "run_one('setScore(1)'); first = [c.pid for c in POOL.children]\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    good = run_one('setScore(2)').score == 2 and [c.pid for c in POOL.children] != first\n"
        "    from relevancy.sandbox import close; close(); os._exit(0 if good else 1)\n"
        "_, status = os.waitpid(pid, 0)\n"
        "assert status == 0, status\n"
        "assert run_one('setScore(3)').score == 3 and [c.pid for c in POOL.children] == first\n"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("script", ["setScore(1)", "for (;;);", "(function f() { Promise.resolve().then(f) })()"])
def test_killed_parent_leaves_no_child(script: str) -> None:
    code = (
        "import sys, threading\n"
        "from tests.sandbox.script_queries import run_one\n"
        "from relevancy.sandbox import Limits\n"
        "from relevancy.sandbox.pool import POOL\n"
        "run_one('setScore(1)'); print(*[c.pid for c in POOL.children], flush=True)\n"
        "run_one(sys.argv[1], limits=Limits(seconds_per_query=30)); sys.stdin.read()\n"
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
    assert wait_for(lambda: has_ended(child))


def test_exit_of_the_parent_leaves_no_child_and_no_warning() -> None:
    code = (
        "from tests.sandbox.script_queries import run_one\nfrom relevancy.sandbox.pool import POOL\n"
        "run_one('setScore(1)'); print(*[c.pid for c in POOL.children])"
    )
    command = [sys.executable, "-W", "error", "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    assert wait_for(lambda: has_ended(int(result.stdout)))


# --- what the kernel refuses ---

FORBIDDEN = {
    "open": "open('/etc/passwd')",
    "write": "open('/tmp/relevancy-test', 'w')",
    "remove": "os.unlink('/tmp/relevancy-test')",
    "socket": "socket.socket()",
    "fork": "os.fork()",
    "exec": "os.execv('/bin/true', ['true'])",
    "spawn": "os.posix_spawn('/bin/true', ['true'], {})",
    "kill": "os.kill(os.getppid(), 0)",
    "new session": "os.setsid()",
}
RUN_FILTERED = """
import os, sys, socket, threading
sys.path.insert(0, {folder!r})
import child
child.forbid_system_calls()
thread = threading.Thread(target=lambda: print("thread"))
thread.start()
thread.join()
try:
    {code}
except PermissionError:
    print("refused")
"""


def test_kernel_filters_the_system_calls_of_the_child(child_pid: int) -> None:
    status = Path(f"/proc/{child_pid}/status").read_text()
    assert "Seccomp:\t2" in status
    assert "NoNewPrivs:\t1" in status


@pytest.mark.parametrize("code", FORBIDDEN.values(), ids=FORBIDDEN)
def test_child_may_start_threads_but_not(code: str) -> None:
    program = RUN_FILTERED.format(folder=str(process.PROGRAM.parent), code=code)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["thread", "refused"], done


def test_child_works_where_the_kernel_refuses_filters(monkeypatch: pytest.MonkeyPatch) -> None:
    class Filter:
        def __init__(self, action: object) -> None:
            raise OSError(22, "Invalid argument")

    monkeypatch.setitem(sys.modules, "pyseccomp", SimpleNamespace(SyscallFilter=Filter, ALLOW=0))
    child.forbid_system_calls()
    monkeypatch.setitem(sys.modules, "pyseccomp", None)  # importing it fails
    child.forbid_system_calls()
