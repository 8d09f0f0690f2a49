"""What scheduled runs show: that they are complete, and that no score has dropped against their baselines."""

from datetime import timedelta

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from relevancy import activity, comparison, scores
from relevancy.models import CaseScore, Run, ScorerVersion
from relevancy.scoring.rounding import format_rounded

from .group_checks import examine_group, is_running, last_end
from .models import Notification, Schedule, ScheduledCheck

FAILED, DROPPED = "schedule.failed", "schedule.dropped"  # verbs of the activity log
LOST_AFTER = timedelta(seconds=60)  # a finished run whose check waits for longer was left by a worker that stopped


def finish_run(run_id: int) -> ScheduledCheck | None:
    """Finishes the check of a run that has ended, if it belongs to one that waits for no other run. Safe to call again."""
    has_run = Q(run=run_id) | Q(group_runs__run=run_id)
    check = ScheduledCheck.objects.filter(has_run, status=ScheduledCheck.Status.WAITING).select_related("run").first()
    if check is None:
        return None
    if check.group_id is not None:
        return None if is_running(check, started_before=timezone.now() - LOST_AFTER) else finish_check(check)
    return None if check.run is None or check.run.is_active else finish_check(check)


def finish_abandoned() -> int:
    """Finishes checks whose run ended a minute ago or longer, or was deleted. Returns how many."""
    waiting = ScheduledCheck.objects.filter(status=ScheduledCheck.Status.WAITING).select_related("run")
    count = 0
    for check in waiting:
        if check.group_id is not None:
            long_ago = timezone.now() - LOST_AFTER
            if is_running(check, started_before=long_ago) or last_end(check) > long_ago:
                continue
            finish_check(check)
        elif check.run is None:
            finish_check(check, problem="The run was deleted.")
        elif (
            check.run.is_active or check.run.finished_at is None or check.run.finished_at > timezone.now() - LOST_AFTER
        ):
            continue
        else:
            finish_check(check)
        count += 1
    return count


def finish_check(check: ScheduledCheck, *, problem: str = "") -> ScheduledCheck | None:
    """Stores the outcome of a check and what has to be sent about it; None if another process has done so.

    problem: why there is no run, or none that can be examined.
    """
    schedules = Schedule.objects.filter(case=check.case_id, group=check.group_id)
    schedule = schedules.select_related("case", "group", "author").first()
    if problem:
        status, message = ScheduledCheck.Status.FAILED, problem
    else:
        examine = _examine if check.group_id is None else examine_group
        status, message = examine(check, schedule)
    with transaction.atomic():
        waiting = ScheduledCheck.objects.filter(pk=check.pk, status=ScheduledCheck.Status.WAITING)
        if not waiting.update(status=status, message=message, finished_at=timezone.now()):
            return None
        if status != ScheduledCheck.Status.PASSED and check.case_id is not None:
            has_dropped = status == ScheduledCheck.Status.DROPPED
            verb = DROPPED if has_dropped else FAILED
            activity.record(verb, case=check.case_id, by=None, object_id=check.pk, reason=message)
        if schedule is not None and status != ScheduledCheck.Status.PASSED:
            _queue_notifications(check, schedule)
    check.refresh_from_db()
    return check


def _examine(check: ScheduledCheck, schedule: Schedule | None) -> tuple[ScheduledCheck.Status, str]:
    """Returns whether the run of a check is complete and has not dropped, and why."""
    run = Run.objects.select_related("case__book", "attempt").get(scheduled_check=check)
    versions = list(ScorerVersion.objects.used_by(run.case_id).select_related("scorer"))
    if run.done:
        scores.rescore_run(run, versions)
    if errors := comparison.find_run_errors(run, versions):
        return ScheduledCheck.Status.FAILED, " ".join(errors)
    if not versions:
        return ScheduledCheck.Status.FAILED, "The case has no scorer, so there is nothing to check."
    if check.baseline_id is None:
        return ScheduledCheck.Status.PASSED, f"{_describe_scores(run, versions)}. It is the first run to compare with."
    baseline = Run.objects.select_related("case__book", "attempt").get(pk=check.baseline_id)
    try:
        drops = [
            comparison.check_drop(
                run=run, baseline=baseline, version=version, max_drop=schedule.max_drop if schedule else 0.0
            )
            for version in versions
        ]
    except ValidationError as error:
        return ScheduledCheck.Status.FAILED, " ".join(error.messages)
    dropped = [drop for drop in drops if drop.has_dropped]
    status = ScheduledCheck.Status.DROPPED if dropped else ScheduledCheck.Status.PASSED
    return status, " ".join(drop.describe() for drop in dropped or drops)


def _describe_scores(run: Run, versions: list[ScorerVersion]) -> str:
    stored = {row.version_id: row.score for row in CaseScore.objects.filter(run=run, version__in=versions)}
    return ", ".join(
        f"{version.scorer} {'–' if (score := stored.get(version.pk)) is None else format_rounded(score, 1)}"
        for version in versions
    )


def _queue_notifications(check: ScheduledCheck, schedule: Schedule) -> None:
    now = timezone.now()
    rows = [
        Notification(check_of=check, kind=Notification.Kind.EMAIL, recipient=user, next_at=now)
        for user in schedule.recipients.all()
    ]
    if schedule.webhook_url:
        rows.append(Notification(check_of=check, kind=Notification.Kind.WEBHOOK, next_at=now))
    Notification.objects.bulk_create(rows)
