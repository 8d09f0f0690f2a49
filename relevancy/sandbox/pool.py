"""At most two child processes per process, started when they are first needed and lent to one thread at a time."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import time
from collections.abc import Iterator

from .errors import ChildError, SandboxError
from .process import Child

SIZE = 2
RELEASE_SECONDS = 1.0  # to send the last frame of a batch


class Lease:
    """The exclusive use of one child, which is started when it is first needed and again after it was dropped."""

    def __init__(self, pool: Pool, child: Child | None) -> None:
        self.pool, self._child = pool, child

    def child(self) -> Child:
        """Returns a living child. Raises `SandboxError` if none can be started."""
        if self._child and not self._child.is_alive():
            self.drop()
        if self._child is None:
            self._child = Child()
            self.pool.register(self._child)
        return self._child

    def drop(self) -> None:
        """Kills the child, whose state is unknown."""
        child, self._child = self._child, None
        if child:
            self.pool.unregister(child)

    def release(self) -> Child | None:
        """Returns the child, ready for another script; None if it has ended or needs recycling."""
        child = self._child
        if child is None:
            return None
        child.batches += 1
        child.max_megabytes = 0
        if not child.opening:
            try:
                child.send(b"E", b"", time.monotonic() + RELEASE_SECONDS)
            except ChildError:
                self.drop()
                return None
        if child.needs_recycling():
            self.drop()
            return None
        return child


class Pool:
    """The children of this process.

    Attributes:
        busy: number of leases in use.
        idle: children that are not in use.
        children: all living children.
    """

    def __init__(self, size: int = SIZE) -> None:
        self.size = size
        self.reset()

    def reset(self) -> None:
        """Forgets all children."""
        self.condition = threading.Condition()
        self.busy = 0
        self.idle: list[Child] = []
        self.children: set[Child] = set()

    def reset_after_fork(self) -> None:
        """Forgets all children, which belong to the parent process."""
        for child in self.children:
            child.detach()
        self.reset()

    @contextlib.contextmanager
    def lease(self, deadline: float) -> Iterator[Lease]:
        """Waits until a child is free. Raises `SandboxError` at the `deadline` (of time.monotonic)."""
        with self.condition:
            while self.busy >= self.size:
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    raise SandboxError("Other scripts are running. Try again in a moment.")
                self.condition.wait(remaining)
            self.busy += 1
            idle_child = self.idle.pop() if self.idle else None
        lease, reusable = Lease(self, idle_child), None
        try:
            yield lease
            reusable = lease.release()
        finally:
            if reusable is None:
                lease.drop()
            with self.condition:
                self.busy -= 1
                if reusable:
                    self.idle.append(reusable)
                self.condition.notify()

    def register(self, child: Child) -> None:
        """Adds a child that was started."""
        with self.condition:
            self.children.add(child)

    def unregister(self, child: Child) -> None:
        """Removes a child and kills it."""
        with self.condition:
            self.children.discard(child)
        child.kill()

    def close(self) -> None:
        """Kills every child. The queries of a batch that is running get an error."""
        with self.condition:
            idle, self.idle = self.idle, []
            leased = self.children - set(idle)
        for child in idle:
            self.unregister(child)
        for child in leased:
            child.process.kill()


POOL = Pool()
os.register_at_fork(after_in_child=POOL.reset_after_fork)


@atexit.register
def close() -> None:
    """Ends the children of this process. They are started again when a script runs."""
    POOL.close()
