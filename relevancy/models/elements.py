"""A lookup for lists in JSON: whether a text is one of their elements. Django's `contains` is not there on SQLite."""

import json
from typing import Any

from django.db.models import JSONField, Lookup


@JSONField.register_lookup
class Holds(Lookup[bool]):
    """`tags__holds="brand"`: the JSON is a list with exactly this text in it."""

    lookup_name = "holds"
    prepare_rhs = False

    def as_sqlite(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        """Looks through the elements: SQLite has no index for them."""
        lhs, params = self.process_lhs(compiler, connection)
        return f"EXISTS (SELECT 1 FROM JSON_EACH({lhs}) WHERE value = %s AND type = 'text')", [*params, self.rhs]

    def as_postgresql(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        """By jsonb's own operator."""
        lhs, params = self.process_lhs(compiler, connection)
        return f"{lhs} @> %s::jsonb", [*params, json.dumps([self.rhs])]
