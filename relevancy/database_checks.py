"""How a database can differ from this version: migrations and columns of another version, and tables of optional apps.

The tables are those of apps that a site had and has no more. Their foreign keys would keep cases, books and runs from being deleted,
and nothing shows or exports their rows.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from django.apps import apps
from django.core import checks
from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from .hooks import optional_apps


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


def drop_tables(label: str, tables: Sequence[str]) -> int:
    """Drops the tables of an app and forgets its migrations, so that it can be installed again, and what it asked of accounts besides
    the password. Returns how many accounts that were."""
    with connection.constraint_checks_disabled(), transaction.atomic(), connection.cursor() as cursor:
        for table in tables:
            cascade = " CASCADE" if connection.vendor == "postgresql" else ""
            cursor.execute(f"DROP TABLE {connection.ops.quote_name(table)}{cascade}")
        MigrationRecorder(connection).migration_qs.filter(app=label).delete()
        accounts, _ = apps.get_model("relevancy", "RequiredProof").objects.filter(app=label).delete()
    return accounts


@checks.register(checks.Tags.database)
def check_removed_apps(databases: Sequence[str] | None = None, **_: Any) -> list[checks.CheckMessage]:
    """Warns of tables that no installed app owns. `migrate` runs this check, and with it every start of a site."""
    if not databases:
        return []
    return [
        checks.Warning(
            f"The site has no app “{label}” any more, but its tables are here: {', '.join(tables)}. Cases, books and "
            "runs that they refer to cannot be deleted, and users of whom it asks more than a password cannot sign in.",
            hint=f"Run `relevancy remove_app {label} --output {label}.jsonl`, which exports and drops them, or remove "
            f"“{label}” from RELEVANCY_WITHOUT.",
            id="relevancy.W001",
        )
        for label, tables in find_tables().items()
    ]


@checks.register(checks.Tags.database)
def check_unknown_migrations(databases: Sequence[str] | None = None, **_: Any) -> list[checks.CheckMessage]:
    """Refuses a database with migrations of the core or of an installed app that are not in this version. `migrate` and `demo` run
    this check.

    Django would take the database of a checkout from before the first release for migrated, because all begin with `0001_initial`.
    """
    recorder = MigrationRecorder(connection)
    if not databases or not recorder.has_table():
        return []
    known = MigrationLoader(None).disk_migrations
    ours = {"relevancy", *(app.label for app in optional_apps())}
    unknown = sorted(key for key in recorder.applied_migrations() if key[0] in ours and key not in known)
    if not unknown:
        return []
    return [_refuse(f"it has the migration {'.'.join(unknown[0])}, which is not in this one")]


@checks.register(checks.Tags.database)
def check_columns(databases: Sequence[str] | None = None, **_: Any) -> list[checks.CheckMessage]:
    """Refuses a database that has all migrations of this version, but not all of their columns. `migrate` and `demo` run this check.

    Initial migrations changed until they were kept, and Django knows a migration by its name only.
    """
    recorder = MigrationRecorder(connection)
    if not databases or not recorder.has_table():
        return []
    applied = recorder.applied_migrations()
    pending = {label for label, name in MigrationLoader(None).disk_migrations if (label, name) not in applied}
    configs = [apps.get_app_config("relevancy"), *optional_apps()]
    with connection.cursor() as cursor:
        tables = set(connection.introspection.table_names(cursor))
        for model in (model for config in configs if config.label not in pending for model in config.get_models()):
            table = model._meta.db_table
            present: set[str] = set()
            if table in tables:
                cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)} LIMIT 0")
                present = {column[0] for column in cursor.description}
            for field in model._meta.local_concrete_fields:
                if field.column not in present:
                    return [_refuse(f"its table {table} has no column {field.column}")]
    return []


def _refuse(reason: str) -> checks.CheckMessage:
    name = connection.settings_dict["NAME"]
    return checks.Error(
        f"The database {name} belongs to another version of Relevancy: {reason}. Nothing was changed.",
        hint="Start the version that it belongs to. If that was a checkout from before the first release, export its cases and books "
        "there (`export_case`, `export_book`), start with a new database, and import them (`import_case`, `import_book`). Without "
        "data to keep, delete the database.",
        id="relevancy.E001",
    )
