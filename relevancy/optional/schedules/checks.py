"""What scheduled runs show: that they are complete, and that no score has dropped against their baselines."""

from datetime import datetime, timedelta

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from relevancy import activity, comparison, scores
from relevancy.models import CaseScore, ScorerVersion
from relevancy.templatetags import numbers

from .group_checks import NO_RUN, Status, examine_group
from .models import Notification, Schedule, ScheduledCheck

FAILED, DROPPED = "schedule.failed", "schedule.dropped"  # verbs of the activity log
LOST_AFTER = timedelta(seconds=60)  # a finished run whose check waits for longer was left by a worker that stopped


def finish_run(run_id: int) -> ScheduledCheck | None:
    """Finishes the check of a run that has ended, if it belongs to one that waits for no other run. Safe to call again."""
    check = ScheduledCheck.objects.filter(runs__run=run_id, status=Status.WAITING).first()
    if check is None or _is_running(check, timezone.now() - LOST_AFTER):
        return None
    return finish_check(check)


def finish_abandoned() -> int:
    """Finishes checks whose last run ended a minute ago or longer, was not started, or was deleted. Returns how many."""
    count = 0
    for check in ScheduledCheck.objects.filter(status=Status.WAITING):
        long_ago = timezone.now() - LOST_AFTER
        last_end = check.runs.aggregate(at=Max("run__finished_at"))["at"] or check.created_at
        if not _is_running(check, long_ago) and last_end <= long_ago:
            finish_check(check)
            count += 1
    return count


def _is_running(check: ScheduledCheck, started_before: datetime) -> bool:
    """Whether a run has not ended, or may still be started, as it may if the check is not from before a time."""
    rows = check.runs.select_related("run")
    if any(row.run is not None and row.run.is_active for row in rows):
        return True
    return check.created_at > started_before and any(row.run is None and not row.problem for row in rows)


def finish_check(check: ScheduledCheck) -> ScheduledCheck | None:
    """Stores the outcome of a check and what has to be sent about it; None if another process has done so."""
    schedules = Schedule.objects.filter(case=check.case_id, group=check.group_id)
    schedule = schedules.select_related("case", "group", "author").first()
    examine = _examine if check.group_id is None else examine_group
    status, message = examine(check, schedule)
    with transaction.atomic():
        waiting = ScheduledCheck.objects.filter(pk=check.pk, status=Status.WAITING)
        if not waiting.update(status=status, message=message, finished_at=timezone.now()):
            return None
        if status != Status.PASSED and check.case_id is not None:
            has_dropped = status == Status.DROPPED
            verb = DROPPED if has_dropped else FAILED
            activity.record(verb, case=check.case_id, by=None, object_id=check.pk, reason=message)
        if schedule is not None and status != Status.PASSED:
            _queue_notifications(check, schedule)
    check.refresh_from_db()
    return check


def _examine(check: ScheduledCheck, schedule: Schedule | None) -> tuple[ScheduledCheck.Status, str]:
    """Returns whether the run of a check is complete and has not dropped, and why."""
    row = check.runs.select_related("case__book", "run__attempt", "baseline__attempt").get()
    run, baseline = row.run, row.baseline
    if run is None:
        return Status.FAILED, row.problem or NO_RUN
    run.case = row.case
    versions = list(ScorerVersion.objects.used_by(run.case_id).select_related("scorer"))
    if run.done:
        scores.rescore_run(run, versions)
    if errors := comparison.find_run_errors(run, versions):
        return Status.FAILED, " ".join(errors)
    if not versions:
        return Status.FAILED, "The case has no scorer, so there is nothing to check."
    if baseline is None:
        newest = CaseScore.objects.newest().filter(run=run, version__in=versions)
        scored = dict(newest.values_list("version", "score"))
        described = ", ".join(f"{version.scorer} {numbers.score(scored.get(version.pk))}" for version in versions)
        return Status.PASSED, f"{described}. It is the first run to compare with."
    baseline.case = row.case
    try:
        drops = [
            comparison.check_drop(
                run=run, baseline=baseline, version=version, max_drop=schedule.max_drop if schedule else 0.0
            )
            for version in versions
        ]
    except ValidationError as error:
        return Status.FAILED, " ".join(error.messages)
    dropped = [drop for drop in drops if drop.has_dropped]
    status = Status.DROPPED if dropped else Status.PASSED
    return status, " ".join(drop.describe() for drop in dropped or drops)


def _queue_notifications(check: ScheduledCheck, schedule: Schedule) -> None:
    now = timezone.now()
    rows = [
        Notification(check_of=check, kind=Notification.Kind.EMAIL, recipient=user, next_at=now)
        for user in schedule.recipients.all()
    ]
    if schedule.webhook_url:
        rows.append(Notification(check_of=check, kind=Notification.Kind.WEBHOOK, next_at=now))
    Notification.objects.bulk_create(rows)
