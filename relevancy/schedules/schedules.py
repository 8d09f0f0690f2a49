"""Schedules: saved and removed by editors of a case; when one is due, a run is started in the name of its author."""

import secrets
from collections.abc import Iterable
from zoneinfo import available_timezones

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from relevancy import activity, endpoints, engines, runs
from relevancy.models import Activity, Attempt, Case, Run, Schedule, ScheduledCheck, User
from relevancy.models.saving import clean_and_save

from .checks import finish_check
from .times import check_times, next_time

SECRET_BYTES = 32


def save(
    *,
    case: Case,
    by: User,
    cron: str,
    time_zone: str,
    attempt: Attempt | None = None,
    baseline: Run | None = None,
    max_drop: float = 0.0,
    recipients: Iterable[User] = (),
    webhook_url: str = "",
    is_active: bool = True,
) -> Schedule:
    """Creates or changes the schedule of a case. `by` becomes its author.

    A new webhook address gets a new secret. Raises `ValidationError` with the names of the fields: for times that cannot be read
    or come more often than every ten minutes, an endpoint that `by` may not use, recipients who cannot see the case, and a webhook
    of a user who may not create endpoints, or at a forbidden address.
    """
    now = timezone.now()
    if time_zone not in available_timezones():
        raise ValidationError({"time_zone": f"There is no time zone {time_zone!r}. Choose one from the list."})
    check_times(cron, time_zone, now=now)
    _check_attempt(case, attempt, by)
    found = list(recipients)
    people = set(possible_recipients(case).filter(pk__in=[user.pk for user in found]).values_list("pk", flat=True))
    if strangers := [str(user) for user in found if user.pk not in people]:
        raise ValidationError({"recipients": f"Not everybody can see the case: {', '.join(strangers)}."})
    stored = Schedule.objects.filter(case=case).first()
    secret = stored.webhook_secret if stored else {}
    if webhook_url != (stored.webhook_url if stored else ""):
        _check_webhook(webhook_url, by)
        secret = {"key": secrets.token_urlsafe(SECRET_BYTES)} if webhook_url else {}
    values = {
        "cron": cron,
        "time_zone": time_zone,
        "attempt": attempt,
        "baseline": baseline,
        "max_drop": max_drop,
        "webhook_url": webhook_url,
        "webhook_secret": secret,
        "author": by,
        "next_at": next_time(cron, time_zone, after=now) if is_active else None,
    }
    with transaction.atomic():
        if stored is None:
            schedule = Schedule(case=case, **values)
            clean_and_save(schedule)
        else:
            schedule = stored
            clean_and_save(schedule, **values)
        schedule.recipients.set(found)
        verb = Activity.Verb.SCHEDULE_CREATED if stored is None else Activity.Verb.SCHEDULE_CHANGED
        state = "" if is_active else ", switched off"
        activity.record(verb, case=case, by=by, subject=f"{cron}, {time_zone}{state}", object_id=schedule.pk)
    return schedule


def remove(*, case: Case, by: User | None = None) -> None:
    """Removes the schedule of a case. Its checks and runs stay."""
    with transaction.atomic():
        deleted, _ = Schedule.objects.filter(case=case).delete()
        if deleted:
            activity.record(Activity.Verb.SCHEDULE_REMOVED, case=case, by=by)


def possible_recipients(case: Case) -> QuerySet[User]:
    """Returns the people who can see a case by ownership or a team, can sign in, and have an e-mail address."""
    teams = case.teams.values("pk")
    members = User.objects.filter(memberships__team__in=teams) | User.objects.filter(pk=case.owner_id)
    return User.objects.filter(pk__in=members.values("pk"), is_active=True, kind=User.Kind.PERSON).exclude(email="")


def start_due() -> list[Run]:
    """Starts a run for every schedule that is due, and returns the runs. Each time is started once, even if several workers look.

    Times that were missed while no worker ran are made up for by one run. A run that cannot be started is a failed check.
    """
    now = timezone.now()
    started = []
    due = Schedule.objects.filter(next_at__lte=now, case__archived_at=None).select_related("case", "author", "attempt")
    for schedule in due:
        following = next_time(schedule.cron, schedule.time_zone, after=now)
        if not Schedule.objects.filter(pk=schedule.pk, next_at=schedule.next_at).update(next_at=following):
            continue  # another worker was faster
        run = _start(schedule)
        if run is not None:
            started.append(run)
    return started


def _start(schedule: Schedule) -> Run | None:
    case = schedule.case
    attempt = schedule.attempt or case.attempts.select_related("endpoint", "case").first()
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


def _check_attempt(case: Case, attempt: Attempt | None, by: User) -> None:
    chosen = attempt or case.attempts.select_related("endpoint__owner").first()
    if chosen is None:
        raise ValidationError("The case has no attempt yet, so there is nothing to run.")
    if reason := runs.why_not_usable(case=case, endpoint=chosen.endpoint, by=by):
        raise ValidationError({"attempt": reason})


def _check_webhook(url: str, by: User) -> None:
    if not url:
        return
    if not endpoints.may_create(by):
        raise ValidationError(
            {
                "webhook_url": "Only people who may create endpoints may name a webhook: the server sends requests to it. Ask an admin."
            }
        )
    try:
        endpoints.address_rules().check(url)
    except engines.EngineError as error:
        raise ValidationError({"webhook_url": str(error)}) from None
