"""The index of a file of rankings: a SQLite file beside it, with a row for each query, so that a search reads one row.

The file is parsed once, as it is read, by the first process that needs it; the others wait for that. A worker holds neither the file
nor its index in memory. The index is built again if size or time of the file have changed, and can be deleted at any time.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
import time
import weakref
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any

from relevancy.engines.errors import EndpointUnreachable, RequestAborted, UnreadableResponse
from relevancy.engines.types import Hit

from .rankings_file import (
    TREC_RUN,
    ParsedFile,
    check_repetitions,
    check_single_snapshot,
    check_time,
    null_character,
    parse_file,
    sort_hits,
)

SUFFIX = ".index"
_LAYOUT = 1  # an index with another one is built again
_MAX_PENDING = 20_000  # hits and fields that are held in memory until their query ends
_ROWS_BETWEEN_CHECKS = 10_000  # of whether building is to stop
_LOCK_POLL_SECONDS = 0.1
# Queries are found by the index that is made last, of a table in the order of the file. The parts of a query whose lines do not follow
# each other are joined then. Hits are stored in the order of their lines and sorted by those who read them.
_TABLES = """
CREATE TABLE file (layout INTEGER, size INTEGER, mtime INTEGER, format TEXT, fields TEXT, queries INTEGER);
CREATE TABLE ranking (id INTEGER PRIMARY KEY, snapshot INTEGER, query TEXT, ids TEXT, ranks TEXT, fields TEXT);
"""
_BY_QUERY = "SELECT id, ids, ranks, fields FROM ranking WHERE snapshot = ? AND query = ? ORDER BY id"

type _Stored = tuple[int, str, str, str | None]
type _Found = tuple[str, Mapping[str, Any]]
type _Ranked = list[tuple[float, _Found]]  # each after its rank


class RankingsIndex:
    """An open index. Thread-safe.

    format, fields: of the file, as in `Rankings`. queries: how many it has.
    """

    def __init__(self, path: Path, stamp: tuple[int, int]) -> None:
        """Raises `sqlite3.Error` if there is no index, and `LookupError` if it is that of another file."""
        self._name = path.name
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False, isolation_level=None
        )
        weakref.finalize(self, connection.close)
        self._connection = connection
        stored = connection.execute("SELECT layout, size, mtime, format, fields, queries FROM file").fetchone()
        if stored is None or stored[:3] != (_LAYOUT, *stamp):
            raise LookupError
        self.format: str = stored[3]
        self.fields: list[str] = json.loads(stored[4])
        self.queries: int = stored[5]

    def find(self, query: str) -> list[Hit] | None:
        """Returns the ranking of a query; None if the file does not have the query."""
        stored = next(self._execute(_BY_QUERY, 0, query), None)
        return None if stored is None else self._hits(stored)

    def find_documents(self, ids: Collection[str]) -> dict[str, Hit]:
        """Returns by id those documents that the file has, each from the first ranking with it. Reads the ids of all rankings."""
        missing = set(ids)
        hits_by_id: dict[str, Hit] = {}
        for stored in self._execute("SELECT id, ids, ranks, fields FROM ranking ORDER BY id"):
            if missing.isdisjoint(json.loads(stored[1])):
                continue
            for hit in self._hits(stored):
                if hit.id in missing:
                    missing.remove(hit.id)
                    hits_by_id[hit.id] = hit
            if not missing:
                break
        return hits_by_id

    def list_queries(self) -> Iterator[str]:
        """Yields the queries in the order of the file."""
        for (query,) in self._execute("SELECT query FROM ranking ORDER BY id"):
            yield query

    def _execute(self, statement: str, *values: Any) -> Iterator[Any]:
        try:
            yield from self._connection.execute(statement, values)
        except sqlite3.Error as error:
            raise EndpointUnreachable(
                f"“{self._name}”, the index of a file of rankings, cannot be read: {error}.",
                hint="Delete it: it is built again.",
            ) from error

    def _hits(self, stored: _Stored) -> list[Hit]:
        hits = _load(stored)
        sort_hits(self.format, hits, lambda hit: hit[0])
        return [Hit(doc_id, rank if self.format == TREC_RUN else None, fields) for rank, (doc_id, fields) in hits]


def open_index(path: Path, *, is_stopped: Callable[[], bool] = lambda: False) -> RankingsIndex:
    """Opens the index of a file, after building it if the file has none or has changed: 100,000 hits in about a second.

    is_stopped: called about every second meanwhile; once it returns True, raises `RequestAborted`. Raises `UnreadableResponse` with
    line, column and value, or `EndpointUnreachable`.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            status = os.fstat(file.fileno())
            stamp = status.st_size, status.st_mtime_ns
            return _open_current(path, stamp) or _build_or_wait(path, file, stamp, is_stopped)
    except OSError as error:
        reason = "does not exist" if isinstance(error, FileNotFoundError) else f"cannot be read: {error.strerror}"
        raise EndpointUnreachable(f"The file of rankings “{path.name}” {reason}.", hint="Upload it again.") from error


def _open_current(path: Path, stamp: tuple[int, int]) -> RankingsIndex | None:
    try:
        return RankingsIndex(path.with_name(path.name + SUFFIX), stamp)
    except (sqlite3.Error, LookupError):
        return None


def _build_or_wait(path: Path, file: IO[str], stamp: tuple[int, int], is_stopped: Callable[[], bool]) -> RankingsIndex:
    target = path.with_name(path.name + SUFFIX)
    unfinished = target.with_name(target.name + ".new")
    try:
        with _locked(target.with_name(target.name + ".lock"), is_stopped):
            if index := _open_current(path, stamp):
                return index  # another process has built it meanwhile
            unfinished.unlink(missing_ok=True)  # of a process that was killed
            try:
                _build(unfinished, file, stamp, is_stopped)
                unfinished.replace(target)
            except (UnreadableResponse, UnicodeDecodeError):
                _check_characters(path)
                raise
            finally:
                unfinished.unlink(missing_ok=True)
            return RankingsIndex(target, stamp)
    except (OSError, sqlite3.Error) as error:
        raise EndpointUnreachable(
            f"The index of the file of rankings “{path.name}” cannot be written: {getattr(error, 'strerror', None) or error}.",
            hint="Check that the data folder has space and that this process may write to it.",
        ) from error


@contextmanager
def _locked(path: Path, is_stopped: Callable[[], bool]) -> Iterator[None]:
    with path.open("ab") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                _check_stopped(is_stopped)
                check_time(0)
                time.sleep(_LOCK_POLL_SECONDS)
        yield


def _check_stopped(is_stopped: Callable[[], bool]) -> None:
    if is_stopped():
        raise RequestAborted("The index of the file of rankings was not built, because its run was stopped.")


def _build(path: Path, file: IO[str], stamp: tuple[int, int], is_stopped: Callable[[], bool]) -> None:
    """Writes the index of a file. Of several errors in a file it raises the one that `parse_snapshots` raises."""
    parsed = parse_file(lambda: _lines(file))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = OFF")  # an index that is not complete is deleted
        connection.execute("PRAGMA synchronous = OFF")
        connection.executescript(_TABLES)
        connection.execute("BEGIN")
        snapshots = _store_rankings(connection, parsed, is_stopped)
        connection.execute("CREATE INDEX by_query ON ranking (snapshot, query)")
        _check_stopped(is_stopped)
        _join_parts(connection, parsed.format)
        check_single_snapshot([parsed.named(snapshot) for snapshot in snapshots])
        connection.execute(
            "INSERT INTO file SELECT ?, ?, ?, ?, ?, COUNT(*) FROM ranking",
            (_LAYOUT, *stamp, parsed.format, json.dumps(parsed.fields)),
        )
        connection.execute("COMMIT")
    with path.open("rb") as written:
        os.fsync(written.fileno())


def _lines(file: IO[str]) -> Iterator[str]:
    """Yields the lines of a file with their ends, from the first one."""
    file.seek(0)
    for number, line in enumerate(file):
        check_time(number)
        if "\0" in line:
            raise null_character(number + 1)
        yield line


def _check_characters(path: Path) -> None:
    """Raises `UnreadableResponse` for bytes that are not UTF-8, then for U+0000, wherever they are in the file."""
    with path.open("rb") as file:
        for number, content in enumerate(file, 1):
            try:
                content.decode("utf-8")
            except UnicodeDecodeError as error:
                raise UnreadableResponse(
                    f"The file of rankings “{path.name}” is not UTF-8: line {number} contains the byte {content[error.start]:#04x}.",
                    hint="Save it as UTF-8 and upload it again.",
                ) from None
    with path.open(encoding="utf-8-sig", newline="") as text:
        for _ in _lines(text):
            pass


def _store_rankings(
    connection: sqlite3.Connection, parsed: ParsedFile, is_stopped: Callable[[], bool]
) -> list[tuple[str, ...]]:
    """Writes the rankings of a file, of queries whose lines do not follow each other in parts. Returns its snapshots."""
    snapshots: dict[tuple[str, ...], int] = {}
    pending: dict[tuple[int, str], _Ranked] = {}
    key, size = (-1, ""), 0
    hits: _Ranked = []
    for number, row in enumerate(parsed.rows):
        if number % _ROWS_BETWEEN_CHECKS == 0:
            _check_stopped(is_stopped)
        own = snapshots.setdefault(row.snapshot, len(snapshots)), row.query
        if own != key:
            if size > _MAX_PENDING:
                _write(connection, pending)
                pending, size = {}, 0
            key, hits = own, pending.setdefault(own, [])
        size += 1 + len(row.fields)
        if row.doc_id:
            hits.append((row.rank, (row.doc_id, row.fields)))
    _write(connection, pending)
    return list(snapshots)


def _write(connection: sqlite3.Connection, pending: Mapping[tuple[int, str], _Ranked]) -> None:
    connection.executemany(
        "INSERT INTO ranking (snapshot, query, ids, ranks, fields) VALUES (?, ?, ?, ?, ?)",
        ((*key, *_dump(hits)) for key, hits in pending.items()),
    )


def _dump(hits: _Ranked) -> tuple[str, str, str | None]:
    fields = [fields for _, (_, fields) in hits]
    return (
        json.dumps([doc_id for _, (doc_id, _) in hits], ensure_ascii=False, separators=(",", ":")),
        json.dumps([rank for rank, _ in hits], separators=(",", ":")),
        json.dumps(fields, ensure_ascii=False, separators=(",", ":")) if any(fields) else None,
    )


def _load(stored: _Stored) -> _Ranked:
    _, ids, ranks, fields = stored
    doc_ids = json.loads(ids)
    documents = zip(doc_ids, json.loads(fields) if fields else [{}] * len(doc_ids), strict=True)
    return list(zip(json.loads(ranks), documents, strict=True))


def _join_parts(connection: sqlite3.Connection, file_format: str) -> None:
    """Joins the parts of each query and checks its hits for repetitions, in the order of snapshots and queries in the file."""
    connection.execute(
        "CREATE TEMPORARY TABLE split AS SELECT MIN(id) AS id, snapshot, query FROM ranking "
        "GROUP BY snapshot, query HAVING COUNT(*) > 1"
    )
    for snapshot, query in connection.execute("SELECT snapshot, query FROM split ORDER BY id"):
        parts = connection.execute(_BY_QUERY, (snapshot, query)).fetchall()
        joined = _dump([hit for part in parts for hit in _load(part)])
        connection.executemany("DELETE FROM ranking WHERE id = ?", [(part[0],) for part in parts[1:]])
        connection.execute("UPDATE ranking SET ids = ?, ranks = ?, fields = ? WHERE id = ?", (*joined, parts[0][0]))
    for query, ids, ranks in connection.execute("SELECT query, ids, ranks FROM ranking ORDER BY snapshot, id"):
        doc_ids = json.loads(ids)
        if len(set(doc_ids)) < len(doc_ids):
            check_repetitions(file_format, query, list(zip(doc_ids, json.loads(ranks), strict=True)))
