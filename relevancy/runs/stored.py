"""Attempts and runs of a file, stored as they were where it was exported."""

from collections.abc import Iterable
from itertools import batched

from django.core.exceptions import ValidationError

from relevancy import engines
from relevancy.models import Attempt, Case, Ranking, Run, User
from relevancy.models.errors import error_text

from .attempts import MAX_TEMPLATE

BATCH = 500  # rankings written at a time


def store_attempts(*, attempts: Iterable[tuple[Attempt, int | None]]) -> None:
    """Stores new attempts of a case that has none, each with the number of its parent. Raises `ValidationError` naming the attempt.

    A template is checked if its engine is installed. Call it in the transaction that creates the case.
    """
    stored: dict[int | None, Attempt] = {}
    for attempt, parent in attempts:
        attempt.parent = stored.get(parent)
        try:
            _check(attempt)
        except (ValidationError, engines.TemplateError) as error:
            raise ValidationError(f"Attempt {attempt.number}: {error_text(error)}") from None
        attempt.save()
        stored[attempt.number] = attempt


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


def store_run(*, case: Case, run: Run, rankings: Iterable[tuple[int, Ranking]], by: User) -> None:
    """Stores a finished run as a pinned one, without scores; see `scores.rescore_run`. Raises `ValidationError`.

    run: new, with an attempt that has nothing but a number. rankings: new, with the ids of their queries. Call it after
    `store_attempts`, in the same transaction.
    """
    created_at, queries = run.created_at, run.queries
    run.case, run.attempt = case, case.attempts.get(number=run.attempt.number)
    run.created_by = run.requested_by = by
    run.pinned_at = run.finished_at or created_at
    try:
        run.clean_fields(exclude={"case", "attempt", "created_by", "requested_by"})
    except ValidationError as error:
        raise ValidationError(f"Run {run.number}: {error_text(error)}") from None
    run.save()
    for batch in batched(rankings, BATCH):
        for query_id, ranking in batch:
            ranking.run, ranking.query_id = run, query_id
        Ranking.objects.store([ranking for _, ranking in batch], endpoint=run.attempt.endpoint_id)
        run.done += len(batch)
        run.failed += sum(bool(ranking.error_kind) for _, ranking in batch)
    run.queries = max(queries, run.done)
    run.save(update_fields=["done", "failed", "queries"])
    Run.objects.filter(pk=run.pk).update(created_at=created_at)
