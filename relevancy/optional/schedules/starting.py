"""Starts the runs of schedules that are due, in the name of their authors."""

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from relevancy import engines, runs
from relevancy.models import Case, Run

from .checks import finish_check
from .models import CheckRun, Schedule, ScheduledCheck
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
        check, check_runs = start(schedule)
        if not check_runs:
            finish_check(check)
        started.extend(check_runs)
    return started


def start(schedule: Schedule) -> tuple[ScheduledCheck, list[Run]]:
    """Starts a run of the case, or of each case of the group that is not archived. Returns the check and the runs.

    The check has a row for each case before the first run is started: if the worker stops meanwhile, the check fails.
    """
    scheduled = schedule.scheduled
    cases = (
        [scheduled] if isinstance(scheduled, Case) else scheduled.cases.filter(archived_at=None).order_by("name", "pk")
    )
    with transaction.atomic():
        check = ScheduledCheck.objects.create(case=schedule.case, group=schedule.group)
        rows = CheckRun.objects.bulk_create(
            CheckRun(check_of=check, case=case, baseline=_find_baseline(schedule, case)) for case in cases
        )
    started = []
    for row in rows:
        attempts = row.case.attempts.filter(archived_at=None).select_related("endpoint", "case")
        attempt = schedule.attempt or attempts.first()
        try:
            if attempt is None:
                raise runs.RunNotAllowed("The case has no attempt to run.")
            with transaction.atomic():
                row.run = runs.start(attempt=attempt, by=schedule.author)
                row.save(update_fields=["run"])
            started.append(row.run)
        except (runs.RunNotAllowed, engines.EngineError) as reason:
            row.run, row.problem = None, f"The run was not started. {reason}"
            row.save(update_fields=["problem"])
    return check, started


def _find_baseline(schedule: Schedule, case: Case) -> Run | None:
    """Returns the run that a new one is compared with: the chosen one, or that of the chosen check, else the newest complete run of
    the case that the schedule made."""
    if schedule.baseline is not None:
        return schedule.baseline
    scheduled = Run.objects.filter(check_run__check_of__case=schedule.case, check_run__check_of__group=schedule.group)
    if schedule.baseline_check_id is not None:
        scheduled = scheduled.filter(check_run__check_of=schedule.baseline_check_id)
    return scheduled.filter(case=case, status=Run.Status.COMPLETE).order_by("-number").first()
