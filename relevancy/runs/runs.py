"""Runs: started, completed, cancelled, continued chunk by chunk, by one worker or by many.

The state of a run is in the database. A worker claims a part of the run for one chunk; each chunk searches queries that have no ranking
yet. So every step can be repeated, and nothing is searched or stored twice.
"""

import logging
import time
from collections.abc import Callable

from django.db import transaction
from django.db.models import Count, Exists, F, FilteredRelation, OuterRef, Q

from relevancy import activity
from relevancy.endpoints import connect_for_page
from relevancy.models import (
    Activity,
    Attempt,
    Case,
    CaseQuery,
    Ranking,
    Run,
    RunPart,
    ScorerVersion,
    UnreadableSecret,
    User,
)
from relevancy.scores import compute_scores, count_queries, lock_queries, results_changed, score_case, store

from .access import RunNotAllowed, check_usable, lock_for_run
from .attempts import next_number
from .chunks import Chunk, ChunkResult, build_ranking, endpoint_changed
from .claims import (
    MAX_WORKER_RESTARTS,
    abandoned_runs,
    claim,
    has_free_part,
    release_after_error,
    release_dead,
    waiting_behind,
)
from .depth import depth_of
from .endings import end_without_parts, fail
from .parts import PART_QUERIES, count_searched, cut, unsearched_queries
from .requests import RequestBuilder, snapshot_config

_OF_A_CHUNK = ("case__book", "case__owner", "attempt__endpoint__owner", "attempt__case", "requested_by")
CHUNK_SECONDS = 10.0
log = logging.getLogger("relevancy.runs")


def _ignore_progress(done: int, failed: int, queries: int) -> None:
    """The default for callers that do not report progress."""


def start(*, attempt: Attempt, by: User, unrestricted: bool = False) -> Run:
    """Creates a run of all queries of the attempt's case; `continue_run` searches them.

    unrestricted: for commands on the server; `by` need not be allowed to use the endpoint.
    Raises `RunNotAllowed`, also if `by` may not use the endpoint in the case, or `EngineError` for an invalid template or an
    engine that is not installed.
    """
    case = attempt.case
    if not unrestricted:
        check_usable(case=case, endpoint=attempt.endpoint, by=by)
    _check_attempt(attempt)
    with transaction.atomic():
        queries = lock_for_run(case)
        run: Run = Run.objects.create(
            case=case,
            attempt=attempt,
            number=next_number(case.runs),
            config=snapshot_config(attempt),
            rows=depth_of(case, attempt.depth),
            queries=queries,
            created_by=by,
            requested_by=None if unrestricted else by,
        )
        cut(run)
        activity.record(
            Activity.Verb.RUN_STARTED, case=case, by=by, subject=f"run {run.number}", object_id=run.pk, queries=queries
        )
    return run


def _check_attempt(attempt: Attempt) -> None:
    if attempt.endpoint.archived_at:
        raise RunNotAllowed(f"Endpoint {attempt.endpoint.name} is archived. Choose another endpoint in the settings.")
    RequestBuilder(snapshot_config(attempt), attempt.depth)


def complete(*, run: Run, by: User) -> Run:
    """Makes the newest unpinned run search its new, edited and failed queries; the other rankings stay as they are.

    Raises `RunNotAllowed`, or `EngineError` as `start` does.
    """
    check_usable(case=run.case, endpoint=run.attempt.endpoint, by=by)
    with transaction.atomic():
        case = Case.objects.select_for_update(no_key=True).get(pk=run.case_id)
        newest: Run | None = case.runs.first()
        if newest is None or newest.pk != run.pk or newest.pinned_at:
            raise RunNotAllowed(
                f"Run {run.number} is pinned or not the newest, so no results can be added to it. Start a new run."
            )
        if newest.is_active:
            raise RunNotAllowed(f"Run {run.number} is still {newest.status}. Wait until it is finished.")
        _check_attempt(newest.attempt)
        _check_endpoint_unchanged(newest)
        unchanged = CaseQuery.objects.filter(case=case, query=OuterRef("query"), options=OuterRef("options"))
        has_text = Q(former_text__in=("", F("query__text")))
        outdated = newest.rankings.filter(~Q(error_kind="") | ~has_text | ~Exists(unchanged))
        outdated_ids = list(outdated.values_list("query_id", flat=True))
        lock_queries(outdated_ids)
        results_changed(newest, outdated_ids)
        newest.status = Run.Status.WAITING
        newest.requested_by = by
        newest.queries = case.case_queries.present().count()
        newest.done, newest.failed = count_searched(newest)
        newest.done_before = newest.done
        newest.cancel_requested = False
        newest.reason = ""
        newest.started_at = newest.finished_at = None
        newest.save()
        cut(newest)
        activity.record(
            Activity.Verb.RUN_CONTINUED, case=case, by=by, subject=f"run {newest.number}", object_id=newest.pk
        )
    return newest


def _check_endpoint_unchanged(run: Run) -> None:
    if reason := endpoint_changed(run):
        raise RunNotAllowed(reason)


def cancel(*, run: Run, by: User | None = None) -> None:
    """Stops a run. It keeps its rankings. A run that no worker searches ends at once, others between two requests."""
    with transaction.atomic():
        active = Run.objects.active().filter(pk=run.pk, cancel_requested=False)
        if active.update(cancel_requested=True):
            activity.record(
                Activity.Verb.RUN_STOPPED, case=run.case_id, by=by, subject=f"run {run.number}", object_id=run.pk
            )
    end_without_parts(run.pk)


def continue_run(
    run_id: int,
    *,
    seconds: float = CHUNK_SECONDS,
    limit: int = PART_QUERIES,
    progress: Callable[[int, int, int], None] = _ignore_progress,
    has_more: Callable[[], None] = lambda: None,
) -> ChunkResult:
    """Searches one chunk of a part of a run: at most `limit` queries, for about `seconds`.

    Does nothing if the run has no part to search, or if its share of the requests of the endpoint is in use. `progress` is called with
    the numbers of searched, failed and all queries; `has_more` at the beginning, if another worker can search another part meanwhile.
    """
    claimed = claim(run_id)
    if claimed is None:
        # Only this worker can unblock the runs behind one that was cancelled between two chunks.
        ended = Run.objects.select_related("attempt").exclude(status__in=Run.ACTIVE_STATUSES).filter(pk=run_id).first()
        return ChunkResult(unfinished=False, unblocked_runs=waiting_behind(ended) if ended else [])
    part = claimed.part
    try:
        if claimed.has_more:
            has_more()
        run = Run.objects.select_related(*_OF_A_CHUNK).get(pk=run_id)
        Chunk(run, part, seconds, limit, progress).work()
    except UnreadableSecret as error:
        fail(run_id, str(error))
        with transaction.atomic():
            RunPart.objects.filter(pk=part.pk, claimed_by=part.claimed_by).delete()
            end_without_parts(run_id)
        return ChunkResult(unfinished=False)
    except Exception:
        log.exception("A chunk of run %s ended with an unexpected error.", run_id)
        release_after_error(part, is_failure=True)
        raise
    except BaseException:
        release_after_error(part, is_failure=False)
        raise
    return ChunkResult(unfinished=has_free_part(run_id), unblocked_runs=waiting_behind(run))


def sweep() -> list[int]:
    """Finds runs whose workers have died or whose task was lost. Returns the ids of the runs to continue.

    A run fails after `MAX_WORKER_RESTARTS` dead workers in a row at one of its parts.
    """
    hopeless = release_dead(RunPart.objects.order_by("run"), slots=0)
    for run_id in hopeless.values_list("run", flat=True).distinct():
        fail(
            run_id,
            f"{MAX_WORKER_RESTARTS} workers in a row stopped unexpectedly during this run. "
            "Check the log of the worker, then complete the run.",
        )
        end_without_parts(run_id)
    return abandoned_runs()


def finish_here(run: Run, *, progress: Callable[[int, int, int], None] = _ignore_progress) -> Run:
    """Continues a run in this process until it is finished. Waits while other workers use all requests of the endpoint, and lets runs
    that wait for it go first."""
    while True:
        result = continue_run(run.pk, progress=progress)
        run.refresh_from_db()
        if not run.is_active:
            return run
        if not result.unfinished or result.unblocked_runs:
            time.sleep(0.5)


def search_again(*, run: Run, case_query: CaseQuery, by: User) -> Ranking:
    """Searches one query of the newest unpinned run again and replaces its ranking, scored by measures.

    Its scores by scripts are missing until `scores.rescore_run` computes them, which a worker should do.

    If the search fails, its `EngineError` is raised and the present ranking stays. Raises `RunNotAllowed` for other runs.
    """
    check_usable(case=run.case, endpoint=run.attempt.endpoint, by=by)
    _check_is_open(run)
    _check_endpoint_unchanged(run)
    builder = RequestBuilder(run.config, run.rows)
    with connect_for_page(run.attempt.endpoint) as engine:
        page = engine.search(builder.requests([case_query])[0])
    ranking = build_ranking(run, case_query, page)
    versions = list(ScorerVersion.objects.used_by(run.case_id))
    measures = [version for version in versions if not version.script]
    scores = compute_scores(run, [ranking], measures)
    with transaction.atomic():
        lock_queries([case_query.query_id])
        locked_run = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        _check_is_open(locked_run)
        results_changed(run, [case_query.query_id])
        Ranking.objects.store([ranking], endpoint=run.attempt.endpoint_id)
        store(scores)
        _update_counts(locked_run)
        score_case(run, versions)
    run.refresh_from_db(fields=("done", "failed", "status", "reason"))
    return ranking


def _check_is_open(run: Run) -> None:
    if run.pinned_at or run.is_active:
        state = "pinned" if run.pinned_at else run.status
        raise RunNotAllowed(f"Run {run.number} is {state}, so its queries cannot be searched again.")
    if Run.objects.filter(case=run.case_id, number__gt=run.number).exists():
        raise RunNotAllowed(f"Run {run.number} is not the newest, so its queries cannot be searched again.")


def _update_counts(run: Run) -> None:
    run.done, run.failed = count_searched(run)
    if run.status == Run.Status.INCOMPLETE and not run.failed and not unsearched_queries(run).exists():
        run.status, run.reason = Run.Status.COMPLETE, ""
    run.save(update_fields=("done", "failed", "status", "reason"))


def count_unsearched(run: Run) -> dict[str, int]:
    """Returns `{"new", "edited"}`: how many present queries of the case have no ranking in the run, and how many had another
    text or other options then. One SQL statement.

    Of a run of more than `LARGE_CASE` queries, only how many more the case has now: which ones were edited is not looked for."""
    if run.is_large:
        return {"new": max(0, count_queries(run.case) - run.done), "edited": 0}
    # The relation is limited to the run, so that the cost does not grow with the number of runs.
    ranking = FilteredRelation("query__rankings", condition=Q(query__rankings__run=run))
    is_unchanged = Q(ranking__former_text__in=("", F("query__text")), ranking__options=F("options"))
    counts: dict[str, int] = (
        run.case.case_queries.present()
        .alias(ranking=ranking)
        .aggregate(
            new=Count("id", filter=Q(ranking__id=None)),
            edited=Count("id", filter=Q(ranking__id__isnull=False) & ~is_unchanged),
        )
    )
    return counts
