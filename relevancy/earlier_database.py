"""Databases of checkouts from before the first release, whose migrations are gone.

Django would take them for migrated, because both first migrations have the same name.
"""

from collections.abc import Sequence
from typing import Any

from django.core import checks
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

EARLIER_MIGRATION = ("relevancy", "0003_endpoint_allowances")


@checks.register(checks.Tags.database)
def check_earlier_database(databases: Sequence[str] | None = None, **_: Any) -> list[checks.CheckMessage]:
    """Refuses a database that an earlier checkout has migrated. `migrate` and `demo` run this check."""
    recorder = MigrationRecorder(connection)
    if not databases or not recorder.has_table() or EARLIER_MIGRATION not in recorder.applied_migrations():
        return []
    name = connection.settings_dict["NAME"]
    return [
        checks.Error(
            f"The database {name} belongs to an earlier checkout, whose migrations are gone. Nothing was changed.",
            hint="Export its cases and books with that checkout (`export_case`, `export_book`), start with a new database, and import "
            "them (`import_case`, `import_book`). Without data to keep, delete the database.",
            id="relevancy.E001",
        )
    ]
