"""Sites of earlier versions, stored in `upgrades/`, are restored, migrated, and are what they were."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from relevancy.optional.backups.tests.test_backups import ON_POSTGRES, cursor_of
from relevancy.optional.backups.tests.upgrades.make import FOLDER, SECRET_KEY, see
from tests.processes import Site, empty_site, site

pytestmark = pytest.mark.own_database
KIND = "postgresql" if ON_POSTGRES else "sqlite"
ARCHIVES = sorted(FOLDER.glob(f"*-{KIND}.zip"))
# Tables of Django that have a row for each model or migration: a newer version has more.
GROWING = {"auth_permission", "django_content_type", "django_migrations"}
# What describes tables, indexes and constraints: the same migrations write the same, whatever the database began with.
DESCRIPTIONS = {
    "sqlite": ["SELECT name, sql FROM sqlite_master"],
    "postgresql": [
        "SELECT table_name, column_name, data_type, character_maximum_length, collation_name, column_default, is_nullable, is_identity "
        "FROM information_schema.columns WHERE table_schema = 'public'",
        "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
        "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint "
        "WHERE connamespace = 'public'::regnamespace",
    ],
}
# PostgreSQL places casts and brackets differently in a check that it has restored.
CASTS = re.compile(r"::[a-z]+( varying)?|[()\[\]]")


@pytest.fixture(scope="module")
def new_schema(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    with site(tmp_path_factory.mktemp("new")) as here:
        return schema_of(here)


def schema_of(here: Site) -> list[str]:
    with cursor_of(here) as cursor:
        rows = [row for text in DESCRIPTIONS[KIND] for row in cursor.execute(text).fetchall()]
    return sorted(CASTS.sub("", repr(row)) for row in rows)


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Site]:
    with empty_site(tmp_path) as here:
        here.environment["RELEVANCY_SECRET_KEY"] = SECRET_KEY
        yield here


def differences(before: Any, now: Any, where: str = "") -> Iterator[str]:
    """What `now` lacks of `before`, or has with another value. Objects may have more members than before."""
    if isinstance(before, dict) and isinstance(now, dict):
        for name, value in before.items():
            if name in now:
                yield from differences(value, now[name], f"{where}/{name}")
            else:
                yield f"{where}/{name} is missing"
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for number, (value, value_now) in enumerate(zip(before, now, strict=True)):
            yield from differences(value, value_now, f"{where}/{number}")
    elif before != now:
        yield f"{where}: {before!r} became {now!r}"


def test_there_is_a_stored_site_with_rows_in_nearly_every_table() -> None:
    """Of each kind of database, in the same versions."""
    versions = {
        kind: {path.name.removesuffix(f"-{kind}.zip") for path in FOLDER.glob(f"*-{kind}.zip")}
        for kind in ("sqlite", "postgresql")
    }
    assert versions["sqlite"] == versions["postgresql"] != set()
    for archive in ARCHIVES:
        tables = json.loads(archive.with_suffix(".json").read_text(encoding="utf-8"))["seen"]["tables"]
        assert [table for table, count in tables.items() if not count] == ["django_admin_log"]


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda archive: archive.stem)
def test_a_stored_site_is_upgraded_with_all_that_it_has(archive: Path, target: Site, new_schema: list[str]) -> None:
    stored = json.loads(archive.with_suffix(".json").read_text(encoding="utf-8"))
    restored = target.run("restore", str(archive))
    assert (restored.returncode, restored.stderr) == (0, "")
    checked = target.run("check", "--database", "default")
    assert (checked.returncode, checked.stderr) == (0, "")
    assert schema_of(target) == new_schema

    before, now = stored["seen"], see(target, stored["keys"])
    for table in GROWING:
        assert now["tables"].pop(table) >= before["tables"].pop(table)
    assert list(differences(before, now)) == []
