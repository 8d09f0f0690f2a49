"""A database that began with the single migrations goes on with them, and has the same tables as a new one."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from tests.processes import empty_site

POSTGRES = """
SELECT concat_ws(' ', table_name, column_name, data_type, character_maximum_length, is_nullable, column_default, is_identity)
FROM information_schema.columns WHERE table_schema = 'public'
UNION ALL
SELECT concat_ws(' ', conrelid::regclass, pg_get_constraintdef(oid)) FROM pg_constraint
WHERE connamespace = 'public'::regnamespace
UNION ALL
SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'
"""  # names of constraints that Django gives to a field stay when the field is renamed
SQLITE = "SELECT type || ' ' || name || ' ' || sql FROM sqlite_master WHERE sql IS NOT NULL"


def schema() -> list[str]:
    """The columns, constraints and indexes of the database, whatever the order of the columns is."""
    with connection.cursor() as cursor:
        cursor.execute(POSTGRES if connection.vendor == "postgresql" else SQLITE)
        parts = [" ".join(sorted(re.split(r"[\s,()]+", row))) for (row,) in cursor.fetchall()]
    return sorted(part for part in parts if "django_migrations" not in part)


def migrate_in_two_steps() -> None:
    """Migrates an empty database as an older version did, then as this one does."""
    old = MigrationExecutor(connection)
    old.loader = MigrationLoader(connection, replace_migrations=False)
    old.migrate([("relevancy", "0020_judge_models")])
    call_command("migrate", verbosity=0)


@pytest.mark.own_database
@pytest.mark.django_db
def test_a_database_of_an_older_version_goes_on(tmp_path: Path) -> None:
    code = "from tests.test_migrations import migrate_in_two_steps, schema; migrate_in_two_steps(); print(json.dumps(schema()))"
    with empty_site(tmp_path) as here:
        result: Any = here.ask(code, seconds=300)
    assert len(result) > 200
    assert result == schema()
