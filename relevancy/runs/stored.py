"""Attempts and runs of a file, stored as they were where it was exported."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import batched
from typing import Any

from django.core.exceptions import ValidationError
from django.utils import timezone

from relevancy import engines
from relevancy.models import Attempt, Case, Endpoint, Ranking, Run, User
from relevancy.models.errors import error_text

from .attempts import MAX_TEMPLATE

BATCH = 500  # rankings written at a time


@dataclass(frozen=True)
class StoredAttempt:
    """An attempt. parent: the number of one before it, or None."""

    number: int
    endpoint: Endpoint
    template: str
    parent: int | None = None
    name: str = ""
    note: str = ""
    knobs: Mapping[str, float] = field(default_factory=dict)
    fields: str = ""
    depth: int = 10
    escape: bool = True
    is_archived: bool = False


@dataclass(frozen=True)
class StoredRun:
    """A finished run. attempt: the number of its attempt. config: as `Run.config`, without an address."""

    number: int
    attempt: int
    status: str
    config: Mapping[str, Any]
    created_at: datetime
    rows: int
    queries: int
    name: str = ""
    note: str = ""
    reason: str = ""
    version: str = ""
    seconds: float = 0
    started_at: datetime | None = None
    finished_at: datetime | None = None


@dataclass(frozen=True)
class StoredRanking:
    """What a run returned for a query. text, options: as searched. hits: as `Ranking.hits`."""

    text: str
    hits: Sequence[Any]
    asked_at: datetime
    options: Mapping[str, Any] = field(default_factory=dict)
    total: int | None = None
    took_ms: int | None = None
    error_kind: str = ""
    error: str = ""


def store_attempts(*, case: Case, attempts: Sequence[StoredAttempt], by: User) -> None:
    """Stores the attempts of a case that has none, with their numbers. Raises `ValidationError` naming the attempt.

    A template is checked if its engine is installed. Call it in the transaction that creates the case.
    """
    now = timezone.now()
    by_number: dict[int, Attempt] = {}
    for content in attempts:
        attempt = Attempt(
            case=case,
            number=content.number,
            parent=by_number.get(content.parent) if content.parent is not None else None,
            name=content.name,
            note=content.note,
            endpoint=content.endpoint,
            template=content.template,
            knobs=dict(content.knobs),
            fields=content.fields,
            depth=content.depth,
            escape=content.escape,
            created_by=by,
            archived_at=now if content.is_archived else None,
        )
        try:
            _check(attempt)
        except (ValidationError, engines.TemplateError) as error:
            raise ValidationError(f"Attempt {content.number}: {error_text(error)}") from None
        attempt.save()
        by_number[content.number] = attempt


def _check(attempt: Attempt) -> None:
    attempt.clean_fields(exclude={"case", "parent", "endpoint", "created_by"})
    if not 1 <= attempt.depth <= 1000:
        raise ValidationError(f"{attempt.depth} results cannot be shown: choose 1 to 1,000.")
    if len(attempt.template) > MAX_TEMPLATE:
        raise ValidationError(f"The template has {len(attempt.template):,} characters; {MAX_TEMPLATE:,} are possible.")
    adapter = engines.find(attempt.endpoint.engine)
    if adapter is not None:
        engines.parse_template(attempt.template, adapter.syntax)
        engines.parse_fields(attempt.fields, adapter.default_id_field)


def store_run(*, case: Case, content: StoredRun, rankings: Iterable[tuple[int, StoredRanking]], by: User) -> Run:
    """Stores a finished run as a pinned one, without scores; see `scores.rescore_run`. Raises `ValidationError`.

    rankings: with the ids of their queries. Call it after `store_attempts`, in the same transaction.
    """
    run = Run(
        case=case,
        attempt=case.attempts.get(number=content.attempt),
        number=content.number,
        status=content.status,
        reason=content.reason,
        config=dict(content.config),
        version=content.version,
        rows=content.rows,
        created_by=by,
        requested_by=by,
        started_at=content.started_at,
        finished_at=content.finished_at,
        seconds=content.seconds,
        pinned_at=content.finished_at or content.created_at,
        name=content.name,
        note=content.note,
    )
    try:
        run.clean_fields(exclude={"case", "attempt", "created_by", "requested_by"})
    except ValidationError as error:
        raise ValidationError(f"Run {content.number}: {error_text(error)}") from None
    run.save()
    for batch in batched(rankings, BATCH):
        Ranking.objects.bulk_create(_ranking(run, query_id, ranking) for query_id, ranking in batch)
        run.done += len(batch)
        run.failed += sum(bool(ranking.error_kind) for _, ranking in batch)
    run.queries = max(content.queries, run.done)
    run.save(update_fields=["done", "failed", "queries"])
    Run.objects.filter(pk=run.pk).update(created_at=content.created_at)
    return run


def _ranking(run: Run, query_id: int, content: StoredRanking) -> Ranking:
    return Ranking(
        run=run,
        query_id=query_id,
        text=content.text,
        options=dict(content.options),
        hits=list(content.hits),
        returned=len(content.hits),
        total=content.total,
        took_ms=content.took_ms,
        error_kind=content.error_kind,
        error=content.error,
        asked_at=content.asked_at,
    )
