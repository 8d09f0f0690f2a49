"""Inserts many rows by one statement. `bulk_create` makes SQL of each single value, which takes several times as long.

See docs/decisions/0051.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from types import NoneType
from typing import Any

from django.db import connection
from django.db.models import DateTimeField, Field, JSONField, Model


def insert_rows(
    model: type[Model],
    names: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    on_conflict: str = "",
    returning: Sequence[str] = (),
) -> list[tuple[Any, ...]]:
    """Inserts rows, each of which has the values of the columns `names` in their order. One SQL statement, none without rows.

    on_conflict: SQL, such as `DO NOTHING`, for rows that violate a unique constraint; otherwise they raise `IntegrityError`.
    returning: columns of the rows that were inserted, which only PostgreSQL returns, and only if `on_conflict` is given.
    The values must be those that the fields store: nothing is validated, and columns that are left out have no defaults. A text in a
    column of JSON is its JSON.
    """
    columns = list(zip(*rows, strict=True))
    if not columns:
        return []
    by_name = {field.attname: field for field in model._meta.concrete_fields}
    fields = [by_name[name] for name in names]
    values = [_as_stored(field, column) for field, column in zip(fields, columns, strict=True)]
    table = f"{model._meta.db_table} ({', '.join([str(field.column) for field in fields])})"
    conflict = f" ON CONFLICT {on_conflict}" if on_conflict else ""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql" and not on_conflict:  # takes less of both sides than arrays with types
            with connection.wrap_database_errors, cursor.copy(f"COPY {table} FROM STDIN") as copy:
                for row in zip(*values, strict=True):
                    copy.write_row(row)
        elif connection.vendor == "postgresql":
            # Types without their lengths: a cast to `varchar(10)` would cut longer texts without an error.
            types = [str(field.db_type(connection)).partition("(")[0] for field in fields]
            arrays = ", ".join(f"%s::{name}[]" for name in types)
            new = f"unnest({arrays}) new ({', '.join(names)})"
            inserted = f" RETURNING {', '.join(returning)}" if returning else ""
            literals = [as_array(column) for column in values]
            cursor.execute(f"INSERT INTO {table} SELECT * FROM {new}{conflict}{inserted}", literals)
            return cursor.fetchall() if returning else []
        else:
            placeholders = ", ".join(["%s"] * len(fields))
            rows = list(zip(*values, strict=True))
            cursor.executemany(f"INSERT INTO {table} VALUES ({placeholders}){conflict}", rows)
    return []


def _as_stored(field: "Field[Any, Any]", values: Sequence[Any]) -> list[Any]:
    if isinstance(field, DateTimeField):  # rows that are stored together share most of their times
        times = {value: field.get_db_prep_save(value, connection) for value in set(values)}
        return [times[value] for value in values]
    if isinstance(field, JSONField):
        return [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]
    return list(values)


def as_array(values: Sequence[Any]) -> str:
    """Returns numbers, texts, bytes and None as the text of an array of PostgreSQL. psycopg takes four times as long for a list."""
    kinds = set(map(type, values))
    if len(kinds) == 1:
        return f"{{{','.join(map(_WRITERS.get(kinds.pop(), _write_text), values))}}}"
    return f"{{{','.join([_WRITERS.get(type(value), _write_text)(value) for value in values])}}}"


def _write_text(value: Any) -> str:
    return '"' + str(value).replace("\\", "\\\\").replace('"', '\\"') + '"'


_WRITERS: dict[type, Callable[[Any], str]] = {
    int: str,
    float: repr,
    NoneType: lambda value: "NULL",
    bytes: lambda value: f'"\\\\x{value.hex()}"',
    memoryview: lambda value: f'"\\\\x{value.hex()}"',
}
