"""Removes displayed fields and explanations of old runs, which are most of what a run stores. Ids, engine scores and all scores stay.

The newest runs of a case (setting RELEVANCY_KEEP_FIELDS_RUNS) and pinned runs keep their fields. A run is marked
(`fields_dropped_at`) before the fields of its first ranking are removed, so that readers can tell. Scripts may read fields, so
their scores of a marked run are never computed again.

See docs/decisions/0015.
"""

import time

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from relevancy.models import Case, Ranking, Run

BATCH = 100  # rankings in one transaction, which must be short: ratings wait for it
PAUSE_SECONDS = 0.05  # between transactions: SQLite does not queue its writers fairly, and ratings must not wait
MAX_RUNS = 5  # per task; the next task finds the others
MAX_INTERRUPTED_RUNS = 3  # that the last tasks may have left half done


def has_prunable_runs(case_id: int) -> bool:
    """Returns whether a case has runs whose fields can be removed. Two SQL statements."""
    return bool(_prunable_runs(case_id).exists())


def prune_display_fields(case: Case) -> int:
    """Removes the displayed fields of the case's old unpinned runs, of at most five at once. Returns how many rankings changed.

    It can be interrupted at any time: the next call continues.
    """
    changed = sum(_prune_run(run) for run in _interrupted_runs(case.pk))
    for run in _prunable_runs(case.pk).order_by("number")[:MAX_RUNS]:
        # A run that has been pinned in the meantime keeps its fields.
        if _prunable_runs(case.pk).filter(pk=run.pk).update(fields_dropped_at=timezone.now()):
            changed += _prune_run(run)
    return changed


def _prunable_runs(case_id: int) -> QuerySet[Run]:
    """Returns the runs older than those that keep their fields."""
    numbers = Run.objects.newest_for(case_id).values_list("number", flat=True)
    oldest_kept = numbers[settings.KEEP_FIELDS_RUNS - 1 : settings.KEEP_FIELDS_RUNS].first()
    if oldest_kept is None:
        return Run.objects.none()
    runs = Run.objects.filter(case=case_id, number__lt=oldest_kept, pinned_at=None, fields_dropped_at=None)
    return runs.exclude(status__in=Run.ACTIVE_STATUSES)


def _interrupted_runs(case_id: int) -> list[Run]:
    """Returns marked runs that still have fields. The last ranking tells, because fields are removed in the order of ids."""
    marked = Run.objects.filter(case=case_id, pinned_at=None, fields_dropped_at__isnull=False)
    interrupted = []
    for run in marked.order_by("-fields_dropped_at", "-number")[:MAX_INTERRUPTED_RUNS]:
        last = run.rankings.filter(returned__gt=0).order_by("-id").first()
        if last is not None and _has_fields(last):
            interrupted.append(run)
    return interrupted


def _prune_run(run: Run) -> int:
    """Removes fields and snippets from the run's hits, ranking by ranking; stops if the run is pinned. Returns how many changed."""
    last_id = changed = 0
    while True:
        with transaction.atomic():
            # Pinning waits until this batch is written; the next batch sees the pin.
            unpinned = Run.objects.filter(pk=run.pk, pinned_at=None).select_for_update(no_key=True).values_list("pk")
            batch = run.rankings.filter(pk__gt=last_id, returned__gt=0).order_by("id")[:BATCH]
            rankings = list(batch) if unpinned else []
            with_fields = [ranking for ranking in rankings if _has_fields(ranking)]
            for ranking in with_fields:
                ranking.hits = [[hit[0], hit[1], {}] for hit in ranking.hits]
                ranking.explanations = None
            Ranking.objects.bulk_update(with_fields, ["hits", "explanations"])
        if not rankings:
            return changed
        last_id, changed = rankings[-1].pk, changed + len(with_fields)
        time.sleep(PAUSE_SECONDS)


def _has_fields(ranking: Ranking) -> bool:
    return any(hit[2] or len(hit) > 3 for hit in ranking.hits)
