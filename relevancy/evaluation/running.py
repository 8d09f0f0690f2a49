"""A run, from the first request to the last: started, completed, cancelled, worked on chunk by chunk.

The run's row is the truth. Whoever holds the claim works on it; the next chunk is always "queries without a ranking", so
anything may be repeated and nothing doubles.
"""

import logging
import time
from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, Max, OuterRef, Q
from django.utils import timezone

from relevancy.models import Attempt, Case, CaseQuery, Ranking, Run, UnreadableSecret

from .asking import Asker, asked
from .chunk import Chunk, Step, counts, moved_away, ranking_row, to_search
from .claiming import claim, waiting_behind
from .connecting import connect
from .figures import compute, ranked
from .scorers import depth_of, versions_of
from .scores import lock_queries, score_case, store

CHUNK_QUERIES = 500
CHUNK_SECONDS = 10.0
log = logging.getLogger("relevancy.runs")


class CannotRun(Exception):
    """Why a run cannot be started, for the person who asked for it."""


def start(*, attempt: Attempt, by: Any) -> Run:
    """A new run of every query of the attempt's case. Raises `CannotRun`, or `TemplateError` for a template that cannot be used."""
    case = attempt.case
    _check(attempt)
    with transaction.atomic():
        Case.objects.select_for_update().get(pk=case.pk)
        if busy := case.runs.under_way().first():
            raise CannotRun(f"Run {busy.number} is still {busy.status}. Wait for it, or stop it first.")
        queries = case.case_queries.present().count()
        if not queries:
            raise CannotRun("The case has no queries yet. Add some, one per line.")
        last = case.runs.aggregate(last=Max("number"))["last"] or 0
        run: Run = Run.objects.create(
            case=case,
            attempt=attempt,
            number=last + 1,
            asked=asked(attempt),
            rows=depth_of(case, attempt.depth),
            queries=queries,
            created_by=by,
        )
    return run


def _check(attempt: Attempt) -> None:
    if attempt.endpoint.archived_at:
        raise CannotRun(f"Endpoint {attempt.endpoint.name} is archived. Choose another one in the settings.")
    Asker(asked(attempt), attempt.depth)


def complete(*, run: Run, by: Any) -> Run:
    """Search the new, edited and failed queries of the newest unpinned run again; the other rankings stay as they are."""
    with transaction.atomic():
        case = Case.objects.select_for_update().get(pk=run.case_id)
        newest: Run | None = case.runs.first()
        if newest is None or newest.pk != run.pk or newest.pinned_at:
            raise CannotRun(f"Run {run.number} is pinned or not the newest, so nothing can join it. Start a new run.")
        if newest.under_way:
            raise CannotRun(f"Run {run.number} is still {newest.status}.")
        _check(newest.attempt)
        _check_same_engine(newest)
        _outdated(newest).delete()
        newest.status = Run.Status.WAITING
        newest.queries = case.case_queries.present().count()
        newest.done, newest.failed = counts(newest)
        newest.tries = 0
        newest.cancel_requested = False
        newest.reason = ""
        newest.finished_at = None
        newest.save()
    return newest


def _outdated(run: Run) -> Any:
    """Rankings that `complete` makes anew: failed ones, and those whose text or options are not what would be asked now."""
    now = CaseQuery.objects.filter(case=run.case_id, query=OuterRef("query"), options=OuterRef("options"))
    return run.rankings.filter(~Q(error_kind="") | ~Q(text=F("query__text")) | ~Exists(now))


def _check_same_engine(run: Run) -> None:
    if moved := moved_away(run):
        raise CannotRun(moved)


def cancel(*, run: Run) -> None:
    """Stop a run between two requests. What was searched stays; one that nobody holds ends at once."""
    with transaction.atomic():
        Run.objects.filter(pk=run.pk).under_way().update(cancel_requested=True)
        idle = Run.objects.select_related("case").filter(pk=run.pk, claimed_by="").under_way().first()
        if idle is None:
            return
        reason = "Stopped." if idle.done else "Stopped before it began."
        ended = Run.objects.filter(pk=run.pk, claimed_by="").under_way()
        if ended.update(status=Run.Status.CANCELLED, reason=reason, finished_at=timezone.now()) and idle.done:
            score_case(idle, versions_of(idle.case))


def continue_run(
    run_id: int,
    *,
    seconds: float = CHUNK_SECONDS,
    limit: int = CHUNK_QUERIES,
    progress: Callable[[int, int, int], None] = lambda done, failed, queries: None,
) -> Step:
    """Work on a run for one chunk: at most `limit` queries or `seconds`. Harmless when the run is over or held by someone else."""
    token = claim(run_id)
    if not token:
        # A run that was stopped between two chunks has nobody else to wake those that wait behind it.
        over = Run.objects.select_related("attempt").exclude(status__in=Run.UNDER_WAY).filter(pk=run_id).first()
        return Step(more=False, wake=waiting_behind(over) if over else [])
    held = Run.objects.filter(pk=run_id, claimed_by=token)
    try:
        run = Run.objects.select_related("case__book", "attempt__endpoint", "attempt__case").get(pk=run_id)
        return Chunk(run, token, seconds, limit, progress).work()
    except UnreadableSecret as error:
        held.update(status=Run.Status.FAILED, reason=str(error), claimed_by="", finished_at=timezone.now())
        return Step(more=False)
    except Exception:
        log.exception("Run %s stopped at something unforeseen.", run_id)
        held.update(claimed_by="", tries=F("tries") + 1)
        raise
    except BaseException:
        held.update(claimed_by="")
        raise


def finish_here(run: Run, *, progress: Callable[[int, int, int], None] = lambda done, failed, queries: None) -> Run:
    """Work on a run in this process until it is over; waits while another run holds the endpoint."""
    while True:
        step = continue_run(run.pk, progress=progress)
        run.refresh_from_db()
        if not run.under_way:
            return run
        if not step.more:
            time.sleep(0.5)


def search_again(*, run: Run, entry: CaseQuery) -> Ranking:
    """Ask one query of the newest unpinned run again, now. On an error the ranking that was there stays, and the error is raised."""
    _check_open(run)
    _check_same_engine(run)
    asker = Asker(run.asked, run.rows)
    with connect(run.attempt.endpoint) as engine:
        page = engine.search(asker.request(entry.query.text, entry.options))
    row = ranking_row(run, entry, page)
    versions = versions_of(run.case)
    scores = compute(run, ranked([row]), versions)
    with transaction.atomic():
        lock_queries([entry.query_id])
        now = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        _check_open(now)
        run.rankings.filter(query=entry.query).delete()
        row.save()
        for score in scores:
            score.ranking_id = row.pk
        store(scores)
        _count(now)
        score_case(run, versions)
    run.refresh_from_db(fields=("done", "failed", "status", "reason"))
    return row


def _check_open(run: Run) -> None:
    if run.pinned_at or run.under_way:
        raise CannotRun(
            f"Run {run.number} is {'pinned' if run.pinned_at else run.status}: its queries cannot be searched again."
        )
    if Run.objects.filter(case=run.case_id, number__gt=run.number).exists():
        raise CannotRun(f"Run {run.number} is not the newest: its queries cannot be searched again.")


def _count(run: Run) -> None:
    run.done, run.failed = counts(run)
    if run.status == Run.Status.INCOMPLETE and not run.failed and not to_search(run).exists():
        run.status, run.reason = Run.Status.COMPLETE, ""
    run.save(update_fields=("done", "failed", "status", "reason"))
