"""Lookups that Django lacks: whether a JSON list has an element, on SQLite as well, whether an id is one of hundreds, and the ids of
rows by their keys."""

import json
from collections.abc import Collection, Sequence
from typing import Any

from django.db import connection
from django.db.models import ForeignKey, IntegerField, JSONField, Lookup, Model

from .inserts import as_array


@IntegerField.register_lookup
@ForeignKey.register_lookup
class Among(Lookup[Collection[int]]):
    """`query_id__among=ids`: as `in`, for hundreds of ids that are sent as one value instead of one each."""

    lookup_name = "among"
    prepare_rhs = False

    def as_sqlite(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        lhs, params = self.process_lhs(compiler, connection)
        return f"{lhs} IN (SELECT value FROM JSON_EACH(%s))", [*params, json.dumps(list(self.rhs))]

    def as_postgresql(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        lhs, params = self.process_lhs(compiler, connection)
        # Of the same type: PostgreSQL compares a row with all numbers of another one, instead of looking it up in a hash table.
        return f"{lhs} = ANY(%s::{self.lhs.output_field.db_type(connection)}[])", [*params, as_array(list(self.rhs))]


@JSONField.register_lookup
class HasElement(Lookup[bool]):
    """`tags__has_element="brand"`: the JSON is a list that contains exactly this string."""

    lookup_name = "has_element"
    prepare_rhs = False

    def as_sqlite(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        """Searches the elements one by one; SQLite has no index for them."""
        lhs, params = self.process_lhs(compiler, connection)
        return f"EXISTS (SELECT 1 FROM JSON_EACH({lhs}) WHERE value = %s AND type = 'text')", [*params, self.rhs]

    def as_postgresql(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        """Uses the operator of jsonb."""
        lhs, params = self.process_lhs(compiler, connection)
        return f"{lhs} @> %s::jsonb", [*params, json.dumps([self.rhs])]


def find_ids[K: (str, bytes)](
    model: type[Model], owner: str, owner_id: int, key: str, keys: Sequence[K]
) -> list[tuple[K, int]]:
    """Returns the key and the id of each row of an owner that has one of these keys, in any order. One SQL statement.

    owner, key: columns that are unique together. No other index may begin with the owner: PostgreSQL could take it, and read all rows
    of the owner for each key. keys: at most 10,000.
    """
    table, column = model._meta.db_table, str(model._meta.get_field(key).db_type(connection)).partition("(")[0]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # One look into the index for each key. While its statistics do not know the owner, PostgreSQL takes it for one with few
            # rows, and `key = ANY(…)` reads all that it has: each part of a large file or run took longer than the one before.
            cursor.execute(
                f"SELECT wanted.key, stored.id FROM unnest(%s::{column}[]) wanted(key), LATERAL ("
                f"SELECT id FROM {table} WHERE {owner} = %s AND {key} = wanted.key LIMIT 1) stored",
                [as_array(keys), owner_id],
            )
        else:
            placeholders = ", ".join(["%s"] * len(keys))
            cursor.execute(
                f"SELECT {key}, id FROM {table} WHERE {owner} = %s AND {key} IN ({placeholders})", [owner_id, *keys]
            )
        return list(cursor.fetchall())
