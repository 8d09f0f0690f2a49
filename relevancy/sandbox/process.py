"""The parent's end of a child process: sends and receives frames, and watches the clock and the child's memory."""

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

from .errors import ChildEnded, ChildError, ChildTooBig, ChildTooSlow, SandboxError

PROGRAM = Path(__file__).resolve().with_name("child.py")
START_SECONDS = 20.0  # generous, for a busy machine
POLL_INTERVAL = 0.02  # seconds between two checks of the child's memory
MAX_FRAME_BYTES = 64 * 1024 * 1024
PIPE_BYTES = 1 << 20
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
RECYCLE_AFTER_BATCHES, RECYCLE_ABOVE_MEGABYTES = 2000, 250


class Child:
    """A running child process. Not thread-safe."""

    def __init__(self) -> None:
        """Starts the process by exec, never by fork alone: it shares nothing with this process but two pipes.

        Raises `SandboxError` if it cannot be started.
        """
        command = [sys.executable, "-I", "-B", str(PROGRAM), str(os.getpid())]
        pipe, devnull = subprocess.PIPE, subprocess.DEVNULL
        try:
            self.process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=devnull, env={}, cwd="/", start_new_session=True, bufsize=0
            )
        except OSError as error:
            raise SandboxError(f"The process that runs scripts could not be started: {error}.") from error
        assert self.process.stdin and self.process.stdout
        self.stdin_fd, self.stdout_fd = self.process.stdin.fileno(), self.process.stdout.fileno()
        for fd in (self.stdin_fd, self.stdout_fd):
            os.set_blocking(fd, False)
            with contextlib.suppress(OSError):  # above the limit of the user, pipes keep their size
                fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        self.batches = 0
        self.max_megabytes = 0
        self.opening = b""  # of the script that stays compiled after its batch; empty for none
        self._buffer = b""
        try:
            kind, _ = self.receive(time.monotonic() + START_SECONDS)
        except ChildError as error:
            self.kill()
            raise SandboxError(
                "The process that runs scripts does not start. Check that the package mini-racer is installed and that "
                "there is enough memory."
            ) from error
        assert kind == b"K"

    @property
    def pid(self) -> int:
        return self.process.pid

    def is_alive(self) -> bool:
        return self.process.poll() is None

    def needs_recycling(self) -> bool:
        """Returns whether it has run many batches or keeps much memory, and should be replaced between two batches."""
        return self.batches >= RECYCLE_AFTER_BATCHES or self.resident_megabytes() > RECYCLE_ABOVE_MEGABYTES

    def resident_megabytes(self) -> float:
        """Returns its resident memory; 0 for a process that has ended."""
        try:
            return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * PAGE_BYTES / 2**20
        except (OSError, IndexError):
            return 0.0

    def send(self, kind: bytes, body: bytes, deadline: float) -> None:
        """Sends one frame. `deadline`: of time.monotonic. Raises a `ChildError`."""
        remaining = memoryview((len(body) + 1).to_bytes(4) + kind + body)
        while remaining:
            self._wait(self.stdin_fd, select.POLLOUT, deadline)
            try:
                remaining = remaining[os.write(self.stdin_fd, remaining) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise ChildEnded from error

    def receive(self, deadline: float) -> tuple[bytes, bytes]:
        """Returns the next frame as (kind, body). `deadline`: of time.monotonic. Raises a `ChildError`."""
        size = int.from_bytes(self._read(4, deadline))
        if not 1 <= size <= MAX_FRAME_BYTES:
            raise ChildEnded
        frame = self._read(size, deadline)
        return frame[:1], frame[1:]

    def _read(self, size: int, deadline: float) -> bytes:
        parts, length = [self._buffer], len(self._buffer)
        while length < size:
            self._wait(self.stdout_fd, select.POLLIN, deadline)
            try:
                part = os.read(self.stdout_fd, 1 << 20)
            except BlockingIOError:
                continue
            except OSError as error:
                raise ChildEnded from error
            if not part:
                raise ChildEnded
            parts.append(part)
            length += len(part)
        data = b"".join(parts)
        self._buffer = data[size:]
        return data[:size]

    def _wait(self, fd: int, event: int, deadline: float) -> None:
        poll = select.poll()
        poll.register(fd, event)
        while not poll.poll(POLL_INTERVAL * 1000):
            if self.max_megabytes and self.resident_megabytes() > self.max_megabytes:
                raise ChildTooBig
            if time.monotonic() > deadline:
                raise ChildTooSlow

    def kill(self) -> None:
        """Ends the child and every process it may have started. Can be called twice."""
        if self.process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.pid, signal.SIGKILL)
            self.process.kill()
            self.process.wait()
        self._close_pipes()

    def detach(self) -> None:
        """Leaves the child to the process that started it, after a fork."""
        self.process.returncode = 0
        self._close_pipes()

    def _close_pipes(self) -> None:
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe:
                with contextlib.suppress(OSError):
                    pipe.close()
