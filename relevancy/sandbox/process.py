"""The parent's end of one child process: frames out and in, each against the clock and against the child's size."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

from .errors import ChildEnded, ChildTooBig, ChildTooSlow, SandboxError

PROGRAM = Path(__file__).resolve().with_name("child.py")
START_SECONDS = 20.0  # on a machine that does ten other things
LOOK = 0.02  # seconds between two looks at the child's memory
LARGEST_FRAME = 64 * 1024 * 1024
PIPE_BYTES = 1 << 20
PAGE = os.sysconf("SC_PAGE_SIZE")
WORN_BATCHES, WORN_MEGABYTES = 2000, 250


class Child:
    """A running child process. Not for two threads at once."""

    def __init__(self) -> None:
        """Started by exec, never by fork alone: it has nothing of this process but two pipes."""
        line = [sys.executable, "-I", "-B", str(PROGRAM), str(os.getpid())]
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        try:
            self.process = subprocess.Popen(
                line, stdin=pipe, stdout=pipe, stderr=nothing, env={}, cwd="/", start_new_session=True, bufsize=0
            )
        except OSError as error:
            raise SandboxError(f"No process could be started to run scripts in: {error}.") from error
        assert self.process.stdin and self.process.stdout
        self.go, self.come = self.process.stdin.fileno(), self.process.stdout.fileno()
        for each in (self.go, self.come):
            os.set_blocking(each, False)
            with contextlib.suppress(OSError):  # more than a user may have: then it stays as it is
                fcntl.fcntl(each, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self.batches = 0
        self.most_megabytes = 0
        self.held = b""
        try:
            kind, _ = self.receive(time.monotonic() + START_SECONDS)
        except (ChildEnded, ChildTooSlow) as error:
            self.kill()
            raise SandboxError(
                "The process that runs scripts does not start. Is the package mini-racer installed, and is there memory?"
            ) from error
        assert kind == b"K"

    @property
    def pid(self) -> int:
        return self.process.pid

    def alive(self) -> bool:
        return self.process.poll() is None

    def worn(self) -> bool:
        """Whether it has served long enough, or kept too much memory, to be replaced while nobody waits."""
        return self.batches >= WORN_BATCHES or self.megabytes() > WORN_MEGABYTES

    def megabytes(self) -> float:
        """Resident memory; 0 for a process that is gone."""
        try:
            return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * PAGE / 2**20
        except (OSError, IndexError):
            return 0.0

    def send(self, kind: bytes, body: bytes, deadline: float) -> None:
        """One frame. `ChildEnded`, `ChildTooSlow` (deadline: of time.monotonic), `ChildTooBig`."""
        left = memoryview((len(body) + 1).to_bytes(4) + kind + body)
        while left:
            self._wait(self.go, select.POLLOUT, deadline)
            try:
                left = left[os.write(self.go, left) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise ChildEnded from error

    def receive(self, deadline: float) -> tuple[bytes, bytes]:
        """The next frame as (letter, body). Errors as `send`."""
        size = int.from_bytes(self._read(4, deadline))
        if not 1 <= size <= LARGEST_FRAME:
            raise ChildEnded
        frame = self._read(size, deadline)
        return frame[:1], frame[1:]

    def _read(self, size: int, deadline: float) -> bytes:
        parts, have = [self.held], len(self.held)
        while have < size:
            self._wait(self.come, select.POLLIN, deadline)
            try:
                part = os.read(self.come, 1 << 20)
            except BlockingIOError:
                continue
            except OSError as error:
                raise ChildEnded from error
            if not part:
                raise ChildEnded
            parts.append(part)
            have += len(part)
        whole = b"".join(parts)
        self.held = whole[size:]
        return whole[:size]

    def _wait(self, which: int, what: int, deadline: float) -> None:
        poll = select.poll()
        poll.register(which, what)
        while not poll.poll(LOOK * 1000):
            if self.most_megabytes and self.megabytes() > self.most_megabytes:
                raise ChildTooBig
            if time.monotonic() > deadline:
                raise ChildTooSlow

    def kill(self) -> None:
        """Ends the child and all it may have started, and forgets it. May be called twice."""
        if self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
            self.process.kill()
            self.process.wait()
        self.let_go()

    def let_go(self) -> None:
        """Closes this side of the pipes."""
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                with contextlib.suppress(OSError):
                    pipe.close()

    def forget(self) -> None:
        """After a fork: the child belongs to the other process."""
        self.process.returncode = 0
        self.let_go()
