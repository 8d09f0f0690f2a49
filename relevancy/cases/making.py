"""A whole case at once: endpoint, case, attempt, queries and the first run, or nothing of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from relevancy import evaluation
from relevancy.models import Book, EncryptedJSONField, Endpoint, Run, Scorer

from . import attempts, creating, endpoints, queries
from .errors import Refused


@dataclass(frozen=True)
class Pasted:
    """What was read from lines: `texts` are distinct and in order, `again` repeats, `refused` (line number, reason)."""

    texts: list[str] = field(default_factory=list)
    again: list[str] = field(default_factory=list)
    refused: list[tuple[int, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Plan:
    """Everything a new case is made from. `endpoint`: a stored one, or the arguments of `endpoints.create`.

    A book brings its scale and all its queries; without one, `scale` (or else the scorer's) makes a new book.
    """

    name: str
    scorer: Scorer
    endpoint: Endpoint | Mapping[str, Any]
    template: str
    fields: str
    texts: Sequence[str]
    scale: Sequence[Sequence[Any]] | None = None
    book: Book | None = None


def read_queries(lines: Iterable[str]) -> Pasted:
    """Queries, one to a line, as `queries.add` would take them; blank lines are passed over. Raises `Refused` for too many."""
    found = Pasted()
    seen: dict[str, None] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            text = queries.check_text(line)
        except Refused as reason:
            found.refused.append((number, str(reason)))
            continue
        if text in seen:
            found.again.append(text)
        seen[text] = None
    if len(seen) > queries.MAX_AT_ONCE:
        raise Refused(
            f"{len(seen):,} queries at once are too many: {queries.MAX_AT_ONCE:,} are possible.", field="queries"
        )
    found.texts.extend(seen)
    return found


def make(*, plan: Plan, by: Any) -> Run:
    """Make it all in one transaction; the run is waiting for a worker. Raises `Refused`, `CannotRun` or `TemplateError`."""
    texts = [*plan.texts]
    if plan.book is not None:
        texts = [*plan.book.queries.live().values_list("text", flat=True), *texts]
    with transaction.atomic():
        endpoint = plan.endpoint
        if not isinstance(endpoint, Endpoint):
            endpoint = endpoints.create(**endpoint, by=by)
        case = creating.create(name=plan.name, owner=by, scorers=[plan.scorer], scale=plan.scale, book=plan.book)
        attempt = attempts.save(case=case, endpoint=endpoint, template=plan.template, fields=plan.fields, by=by)
        queries.add(case=case, texts=texts)
        return evaluation.start(attempt=attempt, by=by)


def seal(secrets: Mapping[str, str]) -> str:
    """Secrets as a text that may wait in a session; empty for none."""
    sealed: str = EncryptedJSONField().get_prep_value(dict(secrets))
    return sealed


def unseal(sealed: str) -> dict[str, str]:
    """What was sealed. Raises `UnreadableSecret`."""
    return EncryptedJSONField().from_db_value(sealed)
