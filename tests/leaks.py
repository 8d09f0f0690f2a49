"""What a request may not do if it is refused: contain texts of those it has no access to, or write."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connection

from relevancy.models import (
    Annotation,
    Attempt,
    Book,
    Case,
    Endpoint,
    Query,
    Rating,
    Run,
    Scorer,
)
from tests.optional import contributed

TEXTS = {
    Annotation: ["text"],
    Attempt: ["name", "note"],
    Book: ["name", "guidelines"],
    Case: ["name"],
    Endpoint: ["name"],
    Query: ["information_need", "notes"],
    Rating: ["note"],
    Run: ["name", "note"],
    Scorer: ["name", "description"],
}
for _texts in contributed("CANARIES"):
    TEXTS |= _texts
# What a refused request may write: the session, its list, when a token was last used, and counters of failed attempts.
BOOKKEEPING = ("django_session", "relevancy_usersession", "relevancy_signincounter")
WRITE = re.compile(r'\s*(?:INSERT\s+(?:OR \w+ )?INTO|UPDATE|DELETE\s+FROM)\s+"?(\w+)"?', re.IGNORECASE)
SECRET = "secret-canary"


def plant(word: str) -> None:
    """Puts a canary with the word into every text that has none yet, and a secret where secrets are stored."""
    for model, fields in TEXTS.items():
        rows: Any = model._default_manager.exclude(**{f"{fields[-1]}__contains": "canary-"})
        if model is Scorer:
            rows = rows.filter(owner__isnull=False)
        for pk in rows.values_list("pk", flat=True):
            values = {field: f"canary-{word} {field} {pk}" for field in fields}
            model._default_manager.filter(pk=pk).update(**values)
    Query.objects.filter(notes__contains=f"canary-{word}").update(tags=[f"canary-{word}-tag"])
    Endpoint.objects.update(headers={"X-Key": SECRET}, credentials={"password": SECRET})
    for plant_secrets in contributed("plant_secrets"):
        plant_secrets(SECRET)


@contextmanager
def written() -> Iterator[list[tuple[str, Any]]]:
    """Yields the tables that are written to, with the values, but for those of the bookkeeping."""
    writes: list[tuple[str, Any]] = []

    def record(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        match = WRITE.match(sql)
        is_last_use = sql.startswith('UPDATE "relevancy_apitoken" SET "last_used_at"')
        if match and match[1] not in BOOKKEEPING and not is_last_use:
            writes.append((match[1], params))
        return execute(sql, params, many, context)

    with connection.execute_wrapper(record):
        yield writes
