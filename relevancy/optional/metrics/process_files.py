"""Counts of all processes that share a data folder: each process has a file for its own, in the form of prometheus-client.

A process holds a lock on its file, which the kernel releases at its end, however that comes. What ended processes have counted moves
to one file: totals never fall, and files do not pile up. A file has a fixed size, reserved on the disk: that limits the number of time
series, and a full disk cannot end a process that writes.
"""

from __future__ import annotations

import fcntl
import logging
import os
import secrets
import struct
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import IO

from prometheus_client import Metric
from prometheus_client.mmap_dict import MmapedDict, mmap_key
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.utils import floatToGoString

FILE_BYTES = 1 << 20  # about 6,000 time series
RETRY_SECONDS = 60.0  # after a file could not be created, as on a full disk
_KINDS = ("counter", "histogram")
_ENDED = "ended"
log = logging.getLogger("relevancy.optional.metrics")


class _Full(Exception):
    """The file has no space for another time series."""


class _BoundedDict(MmapedDict):
    """A file of prometheus-client that does not grow."""

    def _init_value(self, key: str) -> None:
        if self._used + len(key.encode()) + 32 > self._capacity:
            raise _Full
        super()._init_value(key)


class _OwnFiles:
    """The files of this process, with the lock that says that it is alive. The folder must be locked."""

    def __init__(self, folder: Path) -> None:
        self.pid = os.getpid()
        name = f"{self.pid}-{secrets.token_hex(4)}"  # containers that share a folder have the same process ids
        self.files = {kind: _open(folder / f"{kind}_{name}.db") for kind in _KINDS}
        self._alive = (folder / f"counter_{name}.db").open("rb")
        fcntl.flock(self._alive, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def close(self) -> None:
        for file in self.files.values():
            file.close()
        self._alive.close()


class ProcessFiles:
    """Counts in a folder. One instance per process and folder; thread-safe.

    A time series that does not fit into the file is dropped, and a line of the log says so once.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._own: _OwnFiles | None = None
        self._retry_at = 0.0
        self._is_full = False

    def count(self, name: str, help: str, labels: Mapping[str, str]) -> None:
        """Adds one to the counter `name`, which has no `_total` at its end."""
        self._add("counter", [(_key(name, "total", help, *labels.items()), 1.0)])

    def observe(self, name: str, help: str, labels: Mapping[str, str], value: float, buckets: Sequence[float]) -> None:
        """Adds a value to a histogram. buckets: their upper limits, ascending; there is one more for larger values."""
        limit = next((limit for limit in buckets if value <= limit), float("inf"))
        bucket = _key(name, "bucket", help, *labels.items(), ("le", floatToGoString(limit)))
        self._add("histogram", [(bucket, 1.0), (_key(name, "sum", help, *labels.items()), value)])

    def read(self) -> Iterable[Metric]:
        """Returns the metrics of all processes, those that have ended included."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._locked(fcntl.LOCK_EX):
            self._merge_ended()
            metrics: Iterable[Metric] = MultiProcessCollector.merge(map(str, sorted(self.folder.glob("*.db"))))
        return metrics

    def close(self) -> None:
        """Ends counting, as the end of the process does."""
        with self._lock:
            if self._own is not None:
                self._own.close()
                self._own = None

    def _add(self, kind: str, amounts: Sequence[tuple[str, float]]) -> None:
        with self._lock:
            own = self._open_own()
            if own is None:
                return
            try:
                for key, amount in amounts:
                    _increase(own.files[kind], key, amount)
            except _Full:
                if not self._is_full:
                    log.error("A process has more time series than fit into its file; it counts no new ones.")
                self._is_full = True

    def _open_own(self) -> _OwnFiles | None:
        """Returns the files of this process, which a fork has not inherited; None for a while after an error."""
        if self._own is not None and self._own.pid == os.getpid():
            return self._own
        if time.monotonic() < self._retry_at:
            return None
        self._retry_at = time.monotonic() + RETRY_SECONDS
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._locked(fcntl.LOCK_EX):
            self._merge_ended()
            self._own = _OwnFiles(self.folder)
        self._retry_at = 0.0
        return self._own

    @contextmanager
    def _locked(self, operation: int) -> Iterator[None]:
        """Keeps other processes from creating, merging and reading files."""
        with (self.folder / "lock").open("a") as lock:
            fcntl.flock(lock, operation)
            yield

    def _merge_ended(self) -> None:
        """Adds the counts of processes that have ended to the file of all such."""
        for counters in sorted(self.folder.glob("counter_*.db")):
            name = counters.stem.partition("_")[2]
            if name == _ENDED:
                continue
            with counters.open("rb") as file:
                if not _is_free(file):
                    continue
                for kind in _KINDS:
                    self._merge(self.folder / f"{kind}_{name}.db", self.folder / f"{kind}_{_ENDED}.db")
                counters.unlink()  # last: without it, the other file would stay

    def _merge(self, path: Path, ended: Path) -> None:
        if not path.is_file():
            return
        try:
            totals = _open(ended)
            try:
                for key, value, *_ in MmapedDict.read_all_values_from_file(str(path)):
                    _increase(totals, key, value)
            finally:
                totals.close()
        except (_Full, RuntimeError, ValueError, struct.error) as error:
            log.error("The counts of %s are lost: %s", path.name, error or "the file of all ended processes is full")
        if not path.name.startswith("counter"):
            path.unlink()


@lru_cache(maxsize=8192)  # building one takes longer than counting
def _key(metric: str, suffix: str, help: str, *labels: tuple[str, str]) -> str:
    """Returns the name of a time series in a file."""
    names, values = [name for name, _ in labels], [value for _, value in labels]
    key: str = mmap_key(metric, f"{metric}_{suffix}", names, values, help)
    return key


def _open(path: Path) -> _BoundedDict:
    """Opens a file with all of its space reserved. Raises `OSError` if the disk has none."""
    with path.open("ab") as file:
        os.posix_fallocate(file.fileno(), 0, FILE_BYTES)
    return _BoundedDict(str(path))


def _increase(file: MmapedDict, key: str, amount: float) -> None:
    value, _ = file.read_value(key)
    file.write_value(key, value + amount, 0.0)


def _is_free(file: IO[bytes]) -> bool:
    """Whether no process holds the lock of a file."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
