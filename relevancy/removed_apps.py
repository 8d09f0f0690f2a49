"""Tables of optional apps that a site had and has no more.

Their foreign keys would keep cases, books and runs from being deleted, and nothing shows or exports their rows.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from django.apps import apps
from django.core import checks
from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder


def find_tables() -> dict[str, list[str]]:
    """Returns the tables of each app that was migrated here and is not installed: `{app: [table, …]}`."""
    recorder = MigrationRecorder(connection)
    if not recorder.has_table():
        return {}
    labels = {label for label, _ in recorder.applied_migrations()} - {config.label for config in apps.get_app_configs()}
    names = connection.introspection.table_names()
    tables = {label: [name for name in names if name.startswith(f"{label}_")] for label in sorted(labels)}
    return {label: named for label, named in tables.items() if named}


def read_rows(tables: Sequence[str]) -> Iterator[str]:
    """Yields each row of the tables as a line of JSON: `{"table": …, "row": {column: value}}`."""
    for table in tables:
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            columns = [column[0] for column in cursor.description]
            for values in cursor:
                row = dict(zip(columns, values, strict=True))
                yield json.dumps({"table": table, "row": row}, ensure_ascii=False, cls=DjangoJSONEncoder)


def drop_tables(label: str, tables: Sequence[str]) -> None:
    """Drops the tables of an app and forgets its migrations, so that it can be installed again."""
    with connection.constraint_checks_disabled(), transaction.atomic(), connection.cursor() as cursor:
        for table in tables:
            cascade = " CASCADE" if connection.vendor == "postgresql" else ""
            cursor.execute(f"DROP TABLE {connection.ops.quote_name(table)}{cascade}")
        MigrationRecorder(connection).migration_qs.filter(app=label).delete()


@checks.register(checks.Tags.database)
def check_removed_apps(databases: Sequence[str] | None = None, **_: Any) -> list[checks.CheckMessage]:
    """Warns of tables that no installed app owns. `migrate` runs this check, and with it every start of a site."""
    if not databases:
        return []
    return [
        checks.Warning(
            f"The site has no app “{label}” any more, but its tables are here: {', '.join(tables)}. Cases, books and "
            "runs that they refer to cannot be deleted.",
            hint=f"Run `relevancy remove_app {label} --output {label}.jsonl`, which exports and drops them, or remove "
            f"“{label}” from RELEVANCY_WITHOUT.",
            id="relevancy.W001",
        )
        for label, tables in find_tables().items()
    ]
