"""Stale scores: missing ones, and those computed from older ratings."""

from datetime import timedelta

from django.db.models import Count, F, Q
from django.utils import timezone

from relevancy.models import Case, QueryScore, Run, ScorerVersion

from .score_rankings import scoreable_versions

REQUEUE_AFTER = timedelta(seconds=60)  # a task that has not begun by then may have been lost


def stale_rankings(run: Run, version: ScorerVersion, *, including_failed: bool = False) -> list[int]:
    """Returns the ids of the run's rankings whose score under this version is missing or stale.

    `including_failed`: also of those that could not be scored.
    """
    current = QueryScore.objects.filter(run=run, version=version, revision__gte=F("query__revision"))
    if including_failed:
        current = current.filter(error="")
    rankings = run.rankings.filter(error_kind="").exclude(pk__in=current.values("ranking_id"))
    return list(rankings.values_list("pk", flat=True))


def count_stale(run: Run, *versions: ScorerVersion) -> int:
    """Returns how many scores of the run under these versions are missing or stale, and can be computed. Two SQL statements."""
    scoreable = scoreable_versions(run, versions)
    stored = QueryScore.objects.filter(run=run, version__in=scoreable).aggregate(
        total=Count("id"), stale=Count("id", filter=Q(revision__lt=F("query__revision")))
    )
    missing: int = run.rankings.filter(error_kind="").count() * len(scoreable) - stored["total"]
    return max(0, missing) + int(stored["stale"])


def queue_rescore(run: Run) -> bool:
    """Marks the run as queued for rescoring. Returns whether the caller has to enqueue the task: False if it is queued already.

    A mark that is older than a minute does not count, because the task may have been lost.
    """
    now = timezone.now()
    is_free = Q(rescore_queued_at=None) | Q(rescore_queued_at__lt=now - REQUEUE_AFTER)
    return bool(Run.objects.filter(is_free, pk=run.pk).update(rescore_queued_at=now))


def queue_history(case: Case) -> bool:
    """Marks the history of a case as queued for rescoring; see `queue_rescore`."""
    now = timezone.now()
    is_free = Q(history_queued_at=None) | Q(history_queued_at__lt=now - REQUEUE_AFTER)
    to_mark = Case.objects.filter(is_free, pk=case.pk)
    # No write if there is nothing to mark: pages that poll would make all other writers wait on SQLite.
    return bool(to_mark.exists() and to_mark.update(history_queued_at=now))
