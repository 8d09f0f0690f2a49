"""Whole sites, in processes and databases of their own: backed up while raters write, and restored."""

import json
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from relevancy.optional.backups.archives import Manifest, new_archive, open_archive
from tests.processes import Site, empty_site, site

pytestmark = pytest.mark.own_database
ON_POSTGRES = os.environ.get("RELEVANCY_DATABASE_URL", "").startswith("postgres")
needs_postgres = pytest.mark.skipif(not ON_POSTGRES, reason="needs PostgreSQL")

FILL = """
from django.apps import apps
from django.contrib.auth.models import Group
from django.contrib.sessions.models import Session
from django.utils import timezone
from relevancy.models.session import UserSession
from tests.factories import scripted_engine
from tests.test_admin import make_one_of_each
with scripted_engine():
    people = make_one_of_each()
    case = make_case([f"query {number}" for number in range(20)], owner=people["owner"])
expiry = {"session_key": "key", "session_data": "data", "expire_date": timezone.now()}
UserSession.objects.create(user=people["owner"], **expiry)
Session.objects.create(**expiry)
Group.objects.create(name="Raters")
tasks.enqueue_run(Run.objects.first())
for model in apps.get_models(include_auto_created=True):
    if model._meta.auto_created and not model.objects.exists():
        keys = [field for field in model._meta.fields if field.is_relation]
        model.objects.create(**{field.name: field.related_model._base_manager.first() for field in keys})
documents = [{"id": str(number), "title": f"Film {number}"} for number in range(200)]
endpoints.connect(Endpoint(engine="embedded", url="films", name="films")).load_documents(documents)
folder = endpoints.indexes.data_folder("static")
folder.mkdir(parents=True)
(folder / "ranks.csv").write_text("query,docid\\na,1\\n")
print(case.pk)
"""
RATE = """
from itertools import count
case = Case.objects.get(pk=sys.argv[1])
for number in count():
    query = case.book.queries.order_by("pk")[number % 20]
    ratings.rate(query=query, doc_id=f"d{number}", value=1, by=case.owner)
    print(number, flush=True)
"""
# Runs commands, each a list of words, and prints their errors.
REFUSED = """
from django.core.management import call_command
from django.core.management.base import CommandError
errors = []
for words in sys.argv[1:]:
    try:
        call_command(*json.loads(words))
        errors.append("no error")
    except CommandError as error:
        errors.append(str(error) if error.returncode == 2 else f"status {error.returncode}")
print(json.dumps(errors))
"""
EMPTY_TABLES = {"django_admin_log"}
WRITTEN_BY_RATING = {
    "relevancy_rating",
    "relevancy_ratingchange",
    "relevancy_query",
    "relevancy_caserevision",
    "relevancy_case",
}


def files_of(here: Site) -> dict[str, bytes]:
    """The content of every file of the data folder but the database."""
    paths = [
        path for path in here.folder.rglob("*") if path.is_file() and not path.name.startswith("relevancy.sqlite3")
    ]
    return {str(path.relative_to(here.folder)): path.read_bytes() for path in paths}


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, str]]:
    """A site with rows in nearly every table, an index and an uploaded file; and the id of a case."""
    with site(tmp_path_factory.mktemp("source")) as here:
        yield here, str(here.ask(FILL))


@pytest.fixture(scope="module")
def archive(source: tuple[Site, str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("archives") / "site.backup"
    made = source[0].run("backup", str(path))
    assert made.returncode == 0, made.stderr
    return path


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Site]:
    with empty_site(tmp_path / "target") as here:
        yield here


def edit(archive: Path, path: Path, *, content: bytes | None = None, **changes: Any) -> Path:
    """Writes a copy of an archive with another database or another manifest, as whole as the original."""
    with open_archive(archive) as reader, new_archive(path) as writer:
        fields = reader.manifest.model_dump() | changes
        renamed = {reader.manifest.database.member: f"database.{fields['database']['kind']}"}
        for name in reader.manifest.members:
            with writer.open(renamed.get(name, name)) as member, reader._zip.open(name) as original:
                if content is not None and name in renamed:
                    member.write(content)
                else:
                    member.copy(original)
        fields["members"] = {name: member.model_dump() for name, member in writer.members.items()}
        writer.write_manifest(Manifest.model_validate(fields))
    return path


def refused(here: Site, *commands: list[str], code: str = REFUSED) -> list[str]:
    """The errors of commands, each of which ends with status 2."""
    errors: list[str] = here.ask(code, *map(json.dumps, commands))
    return errors


@contextmanager
def cursor_of(here: Site) -> Iterator[Any]:
    if ON_POSTGRES:
        import psycopg  # noqa: PLC0415 (an extra)

        with psycopg.connect(here.environment["RELEVANCY_DATABASE_URL"]) as database:
            yield database.cursor()
        return
    with closing(sqlite3.connect(here.folder / "relevancy.sqlite3")) as database:
        yield database.cursor()


def rows_of(here: Site) -> dict[str, list[str]]:
    """All rows of every table."""
    names = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    if ON_POSTGRES:
        names = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
    with cursor_of(here) as cursor:
        tables = [name for (name,) in cursor.execute(names).fetchall()]
        return {name: sorted(map(repr, cursor.execute(f'SELECT * FROM "{name}"').fetchall())) for name in tables}


def rated_documents(here: Site) -> tuple[list[str], set[str]]:
    """The documents that `RATE` rated, in order, and those that have a log."""
    with cursor_of(here) as cursor:
        rated, logged = (
            [
                doc_id
                for (doc_id,) in cursor.execute(
                    f"SELECT doc_id FROM {table} WHERE doc_id LIKE 'd%' ORDER BY id"
                ).fetchall()
            ]
            for table in ("relevancy_rating", "relevancy_ratingchange")
        )
    return rated, set(logged)


def test_every_row_and_file_comes_back_although_raters_were_writing(
    source: tuple[Site, str], target: Site, tmp_path: Path
) -> None:
    here, case = source
    first, second = tmp_path / "first.backup", tmp_path / "second.backup"
    rater = here.start(case, code=RATE)
    try:
        assert rater.stdout is not None
        while int(rater.stdout.readline()) < 20:
            pass
        made = here.run("backup", str(first))
        assert made.returncode == 0, made.stderr
    finally:
        rater.kill()
        rater.communicate()
    assert stat.S_IMODE(first.stat().st_mode) == 0o600
    assert "RELEVANCY_SECRET_KEY" in made.stdout and list(tmp_path.glob(".*")) == []
    tables, (rated, _) = rows_of(here), rated_documents(here)
    assert {name for name, rows in tables.items() if not rows} == EMPTY_TABLES

    restored = target.run("restore", str(first))
    assert (restored.returncode, restored.stderr) == (0, "")
    tables_then, (rated_then, logged) = rows_of(target), rated_documents(target)
    assert 20 <= len(rated_then) <= len(rated)
    assert (rated_then, logged) == (rated[: len(rated_then)], set(rated_then))
    same = set(tables) - WRITTEN_BY_RATING
    assert {name: tables_then[name] for name in same} == {name: tables[name] for name in same}

    assert here.run("backup", str(second)).returncode == 0
    assert "not empty: its database has" in refused(target, ["restore", str(second)])[0]
    assert rows_of(target) == tables_then
    replaced = target.run("restore", str(second), "--replace")
    assert (replaced.returncode, replaced.stderr) == (0, "")
    assert rows_of(target) == tables
    assert files_of(target) == files_of(here)
    rater = target.start(case, code=RATE)  # ids go on behind the restored ones
    assert rater.stdout is not None
    try:
        assert rater.stdout.readline() == "0\n"
    finally:
        rater.kill()
        rater.communicate()


def test_what_is_refused_before_anything_is_touched(
    source: tuple[Site, str], archive: Path, target: Site, tmp_path: Path
) -> None:
    """A newer version, another kind of database, a site that has files, and the backup of a site without tables."""
    (target.folder / "static").mkdir(parents=True)
    (target.folder / "static" / "old.csv").write_text("query,docid\n")
    other_kind = "sqlite" if ON_POSTGRES else "postgresql"
    newer, other, new = tmp_path / "newer", tmp_path / "other", tmp_path / "new"
    with open_archive(archive) as reader:
        migrations = [*reader.manifest.migrations, ["relevancy", "0099_future"]]
    edit(archive, newer, migrations=migrations, version="9.9")
    edit(archive, other, database={"kind": other_kind})
    errors = refused(target, *(["restore", str(path)] for path in (newer, other, archive)), ["backup", str(new)])
    assert "newer version of Relevancy, 9.9" in errors[0] and "relevancy.0099_future" in errors[0]
    assert f"a site on {'SQLite' if ON_POSTGRES else 'PostgreSQL'}" in errors[1]
    assert "its data folder has 1 file, such as static/old.csv" in errors[2]
    assert "no tables yet" in errors[3]
    assert files_of(target) == {"static/old.csv": b"query,docid\n"} and not new.exists()


def test_other_keys_are_said(archive: Path, target: Site) -> None:
    target.environment["RELEVANCY_SECRET_KEY"] = "another-key-" * 5
    restored = target.run("restore", str(archive))
    assert restored.returncode == 0
    assert restored.stderr.count("Warning: ") == 2 and "RELEVANCY_CREDENTIALS_KEY" in restored.stderr


def test_an_older_backup_is_migrated(archive: Path, target: Site, tmp_path: Path) -> None:
    """It has no tables of an app that the site has, with rows."""
    old = tmp_path / "old.backup"
    with empty_site(tmp_path / "older") as older:
        older.environment["RELEVANCY_WITHOUT"] = "outcomes"
        assert older.run("migrate", "--verbosity", "0").returncode == 0
        assert older.run("backup", str(old)).returncode == 0
    assert target.run("restore", str(archive)).returncode == 0
    assert rows_of(target)["outcomes_onlineoutcome"]
    restored = target.run("restore", str(old), "--replace")
    assert (restored.returncode, restored.stderr) == (0, "")
    tables = rows_of(target)
    assert (tables["outcomes_onlineoutcome"], tables["relevancy_user"], files_of(target)) == ([], [], {})


FAIL_AT_THE_END = """
import errno
from unittest.mock import patch
from relevancy.optional.backups import data_folder
apply = data_folder.Replacement.apply
def apply_and_fail(self):
    apply(self)
    raise OSError(errno.ENOSPC, "No space left on device")
patch.object(data_folder.Replacement, "apply", apply_and_fail).start()
"""


def test_a_failed_restore_leaves_the_site_as_it_was(archive: Path, target: Site, tmp_path: Path) -> None:
    assert target.run("restore", str(archive)).returncode == 0
    (target.folder / "static" / "own.csv").write_text("query,docid\n")
    (target.folder / "static" / "ranks.csv").write_text("query,docid\nb,2\n")
    before, files = rows_of(target), files_of(target)
    with open_archive(archive) as reader:
        content = reader._zip.open(reader.manifest.database.member).read()
    cut = len(content) // 2 if ON_POSTGRES else 4096  # in the middle of the rows, or behind the first page
    parts = {"empty": b"", "cut": content[:cut], "foreign": b"x" * 100_000}
    broken = [edit(archive, tmp_path / name, content=part) for name, part in parts.items()]
    errors = refused(target, *(["restore", str(path), "--replace"] for path in broken))
    assert "no error" not in errors
    assert (rows_of(target), files_of(target)) == (before, files)
    errors = refused(target, ["restore", str(archive), "--replace"], code=FAIL_AT_THE_END + REFUSED)
    assert errors[0].startswith("No space left on device. Nothing was changed.")
    assert (rows_of(target), files_of(target)) == (before, files)


FULL_DISK = """
import errno
from unittest.mock import patch
from relevancy.optional.backups import archives
room = [0, 3_000, 20_000]
write = archives._SealedFile.write
def fill(self, content):
    if not hasattr(self, "room"):
        self.room = room.pop()
    self.room -= len(content)
    if self.room < 0:
        raise OSError(errno.ENOSPC, "No space left on device")
    return write(self, content)
patch.object(archives._SealedFile, "write", fill).start()
"""


def test_a_full_disk_leaves_the_earlier_archive(source: tuple[Site, str], tmp_path: Path) -> None:
    """Full at once, after 3 kB, and after 20 kB."""
    path = tmp_path / "site.backup"
    path.write_bytes(b"earlier")
    errors = refused(source[0], *[["backup", str(path), "--overwrite"]] * 3, code=FULL_DISK + REFUSED)
    assert [error.startswith("No space left on device.") for error in errors] == [True] * 3
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("site.backup", b"earlier")]


def test_a_file_that_exists_is_kept(source: tuple[Site, str], tmp_path: Path) -> None:
    path = tmp_path / "site.backup"
    path.write_bytes(b"earlier")
    inside, nowhere = source[0].folder / "site.backup", tmp_path / "no" / "site.backup"
    errors = refused(source[0], *(["backup", str(name)] for name in (path, inside, nowhere)))
    assert f"{path} exists" in errors[0] and "in the data folder" in errors[1] and "does not exist" in errors[2]
    assert path.read_bytes() == b"earlier"
    assert source[0].run("backup", str(path), "--overwrite").returncode == 0
    assert path.read_bytes().startswith(b"PK")


@needs_postgres
def test_programs_of_postgresql_are_named_if_they_are_missing_or_old(
    source: tuple[Site, str], archive: Path, tmp_path: Path
) -> None:
    here, file = source[0], tmp_path / "new.backup"
    path = here.environment["PATH"]
    old = tmp_path / "old"
    old.mkdir()
    for program in ("pg_dump", "pg_restore"):
        (old / program).write_text(f"#!/bin/sh\necho '{program} (PostgreSQL) 9.6.24'\n")
        (old / program).chmod(0o755)
    commands = [["backup", str(file)], ["restore", str(archive), "--replace"]]
    try:
        here.environment["PATH"] = str(tmp_path)
        errors = refused(here, *commands)
        assert "pg_dump was not found on PATH. The server is PostgreSQL" in errors[0]
        assert "pg_restore was not found on PATH" in errors[1]
        here.environment["PATH"] = f"{old}:{path}"
        errors = refused(here, *commands)
        assert "pg_dump is version 9, but the server is PostgreSQL" in errors[0]
        assert "pg_restore is version 9, but the backup was made by pg_dump" in errors[1]
    finally:
        here.environment["PATH"] = path
    assert not file.exists()
