"""How much space the database takes, and how much the disk has left."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import Error, connection

MAX_MEASURED = (
    2**30
)  # bytes of an SQLite file whose tables are measured while the page waits: all of its pages are read
MAX_LISTED = 20

_POSTGRESQL = """
SELECT relname, GREATEST(reltuples, 0)::bigint, pg_total_relation_size(oid)
FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
ORDER BY 3 DESC LIMIT %s
"""
_SQLITE = """
SELECT COALESCE(named.tbl_name, size.name), NULL, SUM(size.pgsize)
FROM dbstat size LEFT JOIN sqlite_master named ON named.name = size.name
WHERE size.aggregate = TRUE GROUP BY 1 ORDER BY 3 DESC LIMIT %s
"""


@dataclass(frozen=True)
class Table:
    """A table with its indexes. rows: an estimate of the database; None if it has none."""

    name: str
    rows: int | None
    size: int


@dataclass(frozen=True)
class Sizes:
    """Sizes in bytes. database: None if it cannot be told. tables: the largest ones; none if measuring them would take too long.

    free, disk: what is left of the disk with the data folder of this machine, and its size.
    """

    database: int | None
    tables: Sequence[Table]
    free: int
    disk: int


def measure() -> Sizes:
    """Returns the sizes of the database, its largest tables and the disk."""
    usage = shutil.disk_usage(settings.DATA_DIR)
    database = _database_size()
    is_too_large = connection.vendor == "sqlite" and (database or 0) > MAX_MEASURED
    return Sizes(database, [] if is_too_large else _tables(), usage.free, usage.total)


def _database_size() -> int | None:
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_database_size(current_database())")
            return int(cursor.fetchone()[0])
    path = Path(str(connection.settings_dict["NAME"]))
    return path.stat().st_size if path.is_file() else None


def _tables() -> list[Table]:
    """Returns the largest tables; none where SQLite was built without the table that tells."""
    try:
        with connection.cursor() as cursor:
            cursor.execute(_POSTGRESQL if connection.vendor == "postgresql" else _SQLITE, [MAX_LISTED])
            return [Table(*row) for row in cursor]
    except Error:
        if connection.vendor == "postgresql":
            raise
        return []
