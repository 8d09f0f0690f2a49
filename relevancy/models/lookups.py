"""A lookup for JSON lists: whether a string is one of the elements. Django's `contains` is not available on SQLite."""

import json
from typing import Any

from django.db.models import JSONField, Lookup


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
