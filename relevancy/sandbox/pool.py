"""At most two children per process, started when first needed, lent to one thread at a time."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import time
from collections.abc import Iterator

from .errors import ChildEnded, ChildTooBig, ChildTooSlow, SandboxError
from .process import Child

SIZE = 2
PROMPT = 1.0  # seconds to hand over the last frame of a batch


class Lease:
    """The right to one child. The child itself is started when asked for, and replaced after it was dropped."""

    def __init__(self, pool: Pool, child: Child | None) -> None:
        self.pool, self._child = pool, child

    def child(self) -> Child:
        """A living child. `SandboxError` where none can be started."""
        if self._child and not self._child.alive():
            self.drop()
        if self._child is None:
            self._child = Child()
            self.pool.began(self._child)
        return self._child

    def drop(self) -> None:
        """Kills the child: nobody knows what state it is in."""
        child, self._child = self._child, None
        if child:
            self.pool.ended(child)

    def give_back(self) -> Child | None:
        """The child, ready for another script; None where it is gone or worn."""
        child = self._child
        if child is None:
            return None
        child.batches += 1
        child.most_megabytes = 0
        try:
            child.send(b"E", b"", time.monotonic() + PROMPT)
        except (ChildEnded, ChildTooSlow, ChildTooBig):
            self.drop()
            return None
        if child.worn():
            self.drop()
            return None
        return child


class Pool:
    """`busy`: leases out; `idle`: children that wait; `all`: every child that lives."""

    def __init__(self, size: int = SIZE) -> None:
        self.size = size
        self.forgotten()

    def forgotten(self) -> None:
        """As new; also after a fork, where the children are the other process's."""
        self.turn = threading.Condition()
        self.busy = 0
        self.idle: list[Child] = []
        self.all: set[Child] = set()

    def after_fork(self) -> None:
        for child in self.all:
            child.forget()
        self.forgotten()

    @contextlib.contextmanager
    def lease(self, deadline: float) -> Iterator[Lease]:
        """Waits for a free place until `deadline` (time.monotonic), then raises `SandboxError`."""
        with self.turn:
            while self.busy >= self.size:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise SandboxError("Other scripts are running. Try again in a moment.")
                self.turn.wait(left)
            self.busy += 1
            found = self.idle.pop() if self.idle else None
        lease, kept = Lease(self, found), None
        try:
            yield lease
            kept = lease.give_back()
        finally:
            if kept is None:
                lease.drop()
            with self.turn:
                self.busy -= 1
                if kept:
                    self.idle.append(kept)
                self.turn.notify()

    def began(self, child: Child) -> None:
        with self.turn:
            self.all.add(child)

    def ended(self, child: Child) -> None:
        with self.turn:
            self.all.discard(child)
        child.kill()

    def close(self) -> None:
        """Kills every child. One that a batch is using ends that batch's queries with an error."""
        with self.turn:
            idle, self.idle = self.idle, []
            using = self.all - set(idle)
        for child in idle:
            self.ended(child)
        for child in using:
            child.process.kill()


POOL = Pool()
os.register_at_fork(after_in_child=POOL.after_fork)


@atexit.register
def close() -> None:
    """Ends the children of this process. They come back when a script is run again."""
    POOL.close()
