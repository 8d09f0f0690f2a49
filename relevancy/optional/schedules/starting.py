"""Starts the runs of schedules that are due, in the name of their authors."""

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from relevancy import engines, runs
from relevancy.models import Run

from .checks import finish_check
from .group_checks import start_group
from .models import Schedule, ScheduledCheck
from .times import next_time


def start_due() -> list[Run]:
    """Starts the runs of every schedule that is due, and returns them. Each time is started once, even if several workers look.

    Times that were missed while no worker ran are made up for by one run. A run that cannot be started is a failed check.
    """
    now = timezone.now()
    started = []
    live = Q(group__isnull=False) | Q(case__isnull=False, case__archived_at=None)
    due = Schedule.objects.filter(live, next_at__lte=now).select_related("case", "group", "author", "attempt")
    for schedule in due:
        following = next_time(schedule.cron, schedule.time_zone, after=now)
        if not Schedule.objects.filter(pk=schedule.pk, next_at=schedule.next_at).update(next_at=following):
            continue  # another worker was faster
        if schedule.group is not None:
            check, group_runs = start_group(schedule)
            if not group_runs:
                finish_check(check)
            started.extend(group_runs)
        elif (run := _start(schedule)) is not None:
            started.append(run)
    return started


def _start(schedule: Schedule) -> Run | None:
    case = schedule.case
    assert case is not None
    attempt = schedule.attempt or case.attempts.filter(archived_at=None).select_related("endpoint", "case").first()
    check = ScheduledCheck(case=case, baseline=_find_baseline(schedule))
    try:
        if attempt is None:
            raise runs.RunNotAllowed("The case has no attempt to run.")
        with transaction.atomic():
            check.run = runs.start(attempt=attempt, by=schedule.author)
            check.save()
    except (runs.RunNotAllowed, engines.EngineError) as reason:
        check.run = None
        check.save()
        finish_check(check, problem=f"The run was not started. {reason}")
        return None
    return check.run


def _find_baseline(schedule: Schedule) -> Run | None:
    """Returns the run that a new one is compared with: the chosen one, else the newest complete run that the schedule made."""
    if schedule.baseline is not None:
        return schedule.baseline
    complete: Run | None = (
        Run.objects.filter(case=schedule.case, status=Run.Status.COMPLETE, scheduled_check__isnull=False)
        .order_by("-number")
        .first()
    )
    return complete
