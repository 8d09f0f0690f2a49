"""The ends of runs: whoever leaves a run without parts ends it, once, with its status, its scores and its line in the activity log."""

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from relevancy import activity
from relevancy.models import Activity, Run, RunPart, ScorerVersion
from relevancy.scores import baselines_of, score_case, store_comparison

from .claims import is_idle
from .parts import count_searched, unsearched_queries

_VERBS = {
    Run.Status.COMPLETE: Activity.Verb.RUN_FINISHED,
    Run.Status.INCOMPLETE: Activity.Verb.RUN_INCOMPLETE,
    Run.Status.CANCELLED: Activity.Verb.RUN_CANCELLED,
    Run.Status.FAILED: Activity.Verb.RUN_FAILED,
}


def fail(run_id: int, reason: str) -> None:
    """Lets the workers of a run stop, so that it fails. Does nothing if it is already being stopped."""
    Run.objects.active().filter(pk=run_id, cancel_requested=False).update(cancel_requested=True, reason=reason)


def end_without_parts(run_id: int) -> None:
    """Ends an active run if it has no part any more. The parts of one that is being stopped that no worker holds are deleted before.

    Call it in the transaction that deletes a part, if one is deleted. Every transaction locks the parts of a run before the run: of two
    workers that delete the last two parts, the second one sees that it was the last.
    """
    with transaction.atomic():
        if Run.objects.filter(pk=run_id, cancel_requested=True).exists():
            idle = RunPart.objects.filter(is_idle(), run=run_id)
            locked = list(idle.order_by("pk").select_for_update(of=("self",)).values_list("pk", flat=True))
            idle.filter(pk__in=locked).delete()
        of_run = Run.objects.active().filter(pk=run_id).select_for_update(of=("self",), no_key=True)
        run: Run | None = of_run.select_related("case__book").first()
        if run is not None and not run.parts.exists():
            _end(run)


def _end(run: Run) -> None:
    run.done, run.failed = count_searched(run)
    status, reason = _outcome(run)
    now = timezone.now()
    Run.objects.filter(pk=run.pk).update(
        status=status,
        reason=reason,
        done=run.done,
        failed=run.failed,
        seconds=F("seconds") + ((now - run.started_at).total_seconds() if run.started_at else 0.0),
        finished_at=now,
    )
    activity.record(
        _VERBS[status], case=run.case_id, by=None, subject=f"run {run.number}", object_id=run.pk, reason=reason
    )
    versions = list(ScorerVersion.objects.used_by(run.case_id))
    if run.done and versions:
        score_case(run, versions)
        for baseline in baselines_of(run):
            store_comparison(run, baseline, versions[0])


def _outcome(run: Run) -> tuple[Run.Status, str]:
    """Returns the status of a run that ends, and the reason."""
    if run.cancel_requested and run.reason:
        return Run.Status.FAILED, run.reason
    if run.cancel_requested and unsearched_queries(run).exists():
        searched = f"{run.done:,} of {run.queries:,} queries had been searched." if run.done else ""
        return Run.Status.CANCELLED, searched or "No query had been searched."
    if not run.failed:
        return Run.Status.COMPLETE, ""
    in_order = ("query__case_queries__position", "query__case_queries__id")
    failed = run.rankings.exclude(error_kind="").filter(query__case_queries__case=run.case_id)
    first = failed.filter(query__case_queries__removed_at=None).order_by(*in_order).values_list("error", flat=True)[0]
    return Run.Status.INCOMPLETE, f"{run.failed} of {run.queries} searches failed. First error: {first}"
