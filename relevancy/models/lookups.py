"""Lookups that Django lacks: whether a JSON list has an element, on SQLite as well, and whether an id is one of hundreds."""

import json
from collections.abc import Collection
from typing import Any

from django.db.models import ForeignKey, IntegerField, JSONField, Lookup

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
