"""Dumps of a PostgreSQL database by its own programs, and how one is restored within one transaction."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from django.db import connection

from relevancy import database_checks

from .archives import DatabaseInfo, MemberWriter
from .errors import BackupError

LOCK_WAIT = 30  # seconds for tables that another transaction uses
_CONNECTION_PARAMETERS = frozenset(
    (
        "host",
        "hostaddr",
        "port",
        "dbname",
        "user",
        "options",
        "sslmode",
        "sslrootcert",
        "sslcert",
        "sslkey",
        "connect_timeout",
    )
)
BUFFER = 256 * 1024  # bytes of rows that are sent at once


def describe() -> DatabaseInfo:
    """Returns the versions of the server and of `pg_dump`. Raises `BackupError` if that is missing or too old for the server."""
    client, server = _version("pg_dump"), _server_version()
    if client < server:
        raise BackupError(
            f"pg_dump is version {client}, but the server is PostgreSQL {server}, which only pg_dump {server} or later can back up. "
            f"Install the client programs of PostgreSQL {server} (Debian: postgresql-client-{server}), and put them first on PATH."
        )
    return DatabaseInfo(kind="postgresql", schema_name=_schema(), server=server, client=client)


def dump(member: MemberWriter) -> None:
    """Writes the tables of the site to a member of an archive in the custom format, as they are at one moment."""
    tables = [f'--table="{_schema()}"."{name}"' for name in list_tables()]
    with _login() as login:
        words = ["--format=custom", "--strict-names", f"--lock-wait-timeout={LOCK_WAIT}s", "--no-password", *tables]
        with _running("pg_dump", *_PORTABLE, *words, f"--dbname={login}") as output:
            member.copy(output)


def list_tables() -> list[str]:
    """Returns the tables of the site that exist: of its apps, and of apps that it had."""
    with connection.cursor() as cursor:
        present = set(connection.introspection.table_names(cursor))
    ours = {*connection.introspection.django_table_names(), "django_migrations"}
    return sorted((ours & present).union(*database_checks.find_tables().values()))


def check_archive(database: DatabaseInfo) -> None:
    """Raises `BackupError` if `pg_restore` is missing or cannot read the dump, or if its tables belong to another schema."""
    if (client := _version("pg_restore")) < database.client:
        raise BackupError(
            f"pg_restore is version {client}, but the backup was made by pg_dump {database.client}. Install the client programs of "
            f"PostgreSQL {database.client} or later (Debian: postgresql-client-{database.client}), and put them first on PATH."
        )
    if database.schema_name != _schema():
        raise BackupError(
            f"The tables of the backup are in the schema {database.schema_name}, and this site uses {_schema()}. "
            f"Set the search_path of its role to {database.schema_name}."
        )


def restore(dump_file: Path) -> None:
    """Replaces the tables of the site by those of a dump. Must be called in a transaction, in which nothing else was done.

    `pg_restore` writes the statements, and this connection executes them, so that they, the migrations and the files of the data
    folder become valid at once or not at all.
    """
    with connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL lock_timeout = '{LOCK_WAIT}s'")
        # Constraints that are checked at the end of the transaction would keep migrations from changing tables with new rows.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        if tables := list_tables():
            # Without CASCADE, which would drop views of others.
            cursor.execute(f"DROP TABLE {', '.join(map(connection.ops.quote_name, tables))}")
        cursor.execute("SHOW search_path")
        (search_path,) = cursor.fetchone()
        for section in ("pre-data", "data", "post-data"):
            with _running("pg_restore", *_PORTABLE, f"--section={section}", "--file=-", str(dump_file)) as output:
                if section == "data":
                    _copy_rows(cursor.cursor, output)
                else:
                    # Without the commands of `psql` that newer versions write around the script.
                    cursor.execute(re.sub(r"^\\(?:un)?restrict .*$", "", output.read().decode(), flags=re.MULTILINE))
        cursor.execute("SELECT set_config('search_path', %s, false)", [search_path])


_PORTABLE = ("--no-owner", "--no-privileges")  # roles have other names on another server


def _copy_rows(cursor: Any, script: IO[bytes]) -> None:
    """Executes the script of the rows: a statement on each line, and below `COPY … FROM stdin;` rows up to the line `\\.`."""
    for line in script:
        if not line.strip() or line.startswith((b"--", b"\\restrict ", b"\\unrestrict ")):
            continue
        if not (line.startswith(b"COPY ") and line.endswith(b" FROM stdin;\n")):
            cursor.execute(line.decode())
            continue
        with cursor.copy(line.decode().rstrip("\n;")) as copy:
            rows = bytearray()
            for row in script:
                if row == b"\\.\n":
                    break
                rows += row
                if len(rows) >= BUFFER:
                    copy.write(bytes(rows))
                    rows.clear()
            else:
                raise BackupError("pg_restore ended in the middle of a table. Nothing was changed.")
            copy.write(bytes(rows))


def _schema() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_schema()")
        return str(cursor.fetchone()[0])


def _server_version() -> int:
    return int(connection.pg_version) // 10_000  # type: ignore[attr-defined]


def _version(program: str) -> int:
    """Returns the major version of a program on PATH. Raises `BackupError` if it is not there."""
    if shutil.which(program) is None:
        server = _server_version()
        raise BackupError(
            f"{program} was not found on PATH. The server is PostgreSQL {server}: install its client programs in version {server} or "
            f"later (Debian: postgresql-client-{server})."
        )
    printed = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    match = re.search(r"\) (\d+)", printed)
    if match is None:
        raise BackupError(f"{program} --version printed {printed.strip()!r}, which is not a version of PostgreSQL.")
    return int(match[1])


@contextmanager
def _login() -> Iterator[str]:
    """Yields the parameters of this site's connection, with the password in a file: every user of a machine can read arguments."""
    connection.ensure_connection()
    info = connection.connection.info
    # Those that every version of libpq knows: the one of psycopg may be newer than that of `pg_dump`.
    parameters = {name: value for name, value in info.get_parameters().items() if name in _CONNECTION_PARAMETERS}
    password = re.sub(r"([\\:])", r"\\\1", info.password)
    with tempfile.NamedTemporaryFile("w", prefix="relevancy-", encoding="utf-8") as file:  # mode 0600
        file.write(f"*:*:*:*:{password}\n")
        file.flush()
        yield connection.Database.conninfo.make_conninfo(**parameters, passfile=file.name)  # type: ignore[attr-defined]


@contextmanager
def _running(program: str, *words: str) -> Iterator[IO[bytes]]:
    """Yields what a program prints. Raises `BackupError` with its last message if it fails."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen([program, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors)
        assert process.stdout is not None
        try:
            with process.stdout:
                yield process.stdout
        except BaseException:
            process.kill()
            process.wait()
            raise
        if process.wait():
            errors.seek(0)
            lines = errors.read().decode(errors="replace").splitlines()
            last = " ".join(line.strip() for line in lines[-3:]) or "it printed no reason."
            raise BackupError(f"{program} failed: {last}")
