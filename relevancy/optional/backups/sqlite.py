"""Copies of an SQLite database, while others read and write it."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from django.db import connection, connections

from .errors import BackupError

MAX_WAIT = 60.0  # seconds for another process that keeps the database locked


def dump(target: Path) -> None:
    """Copies the database to a new file, as it is at one moment. Raises `BackupError` if it is damaged, and `sqlite3.Error`.

    It is one read transaction: with the write-ahead log, writers go on meanwhile.
    """
    with closing(_connect(_database_file())) as source, closing(_connect(target)) as copy:
        _copy(source, copy)
        copy.execute("PRAGMA journal_mode=DELETE")
        problems = [problem for (problem,) in copy.execute("PRAGMA quick_check(3)")]
    if problems != ["ok"]:
        raise BackupError(f"The database is damaged: {'; '.join(problems)}. No backup was made; keep the earlier ones.")


def replace(source: Path) -> None:
    """Replaces the content of the database by that of a file, in one transaction of SQLite. Raises `sqlite3.Error`.

    The file stays where it is, so that no process goes on with one that has been deleted.
    """
    with closing(_connect(source)) as new, closing(_connect(_database_file())) as database:
        _copy(new, database)


@contextmanager
def using(path: Path) -> Iterator[None]:
    """Everything inside uses the database in this file."""
    settings, connection_before = connections.settings["default"], connections["default"]
    connections.settings["default"] = {**settings, "NAME": str(path), "CONN_MAX_AGE": 0}
    connections["default"] = connections.create_connection("default")
    try:
        yield
    finally:
        connections["default"].close()
        connections.settings["default"] = settings
        connections["default"] = connection_before


def _database_file() -> Path:
    name = str(connection.settings_dict["NAME"])
    if ":" in name:
        raise BackupError(f"The database {name} is in memory, so there is nothing to back up.")
    return Path(name)


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=MAX_WAIT, isolation_level=None)


def _copy(source: sqlite3.Connection, target: sqlite3.Connection) -> None:
    deadline = time.monotonic() + MAX_WAIT

    def stop_waiting(status: int, remaining: int, total: int) -> None:
        if status in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED} and time.monotonic() > deadline:
            raise BackupError(
                f"The database was locked for {MAX_WAIT:.0f} s. Stop the web server and the workers, and try again."
            )

    source.backup(target, progress=stop_waiting)
