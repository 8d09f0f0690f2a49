"""Schedules of cases and of groups: saved and removed by their editors."""

import secrets
from collections.abc import Callable, Iterable
from zoneinfo import available_timezones

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from relevancy import activity, endpoints, engines, runs
from relevancy.models import Attempt, Case, Run, User
from relevancy.models.saving import clean_and_save
from relevancy.optional.groups.models import CaseGroup
from relevancy.wording import counted

from .models import Schedule, ScheduledCheck
from .times import check_times, next_time

CREATED, CHANGED, REMOVED = "schedule.created", "schedule.changed", "schedule.removed"  # verbs of the activity log
SECRET_BYTES = 32
type Scheduled = Case | CaseGroup


def owned_by(scheduled: Scheduled) -> dict[str, Scheduled]:
    """Returns by which values the schedule and the checks of a case or a group are found."""
    return {"group": scheduled} if isinstance(scheduled, CaseGroup) else {"case": scheduled}


def find(scheduled: Scheduled) -> Schedule:
    """Returns the schedule of a case or a group; a new one, which is not stored, if it has none."""
    stored = Schedule.objects.filter(**owned_by(scheduled)).select_related("author", "attempt").first()
    return stored or Schedule(**owned_by(scheduled))


def save(
    *,
    schedule: Schedule,
    by: User,
    recipients: Iterable[User] = (),
    is_active: bool = True,
    check: Callable[[], None] | None = None,
) -> str:
    """Stores a schedule, which has its new settings; `by` becomes its author. That of a case is logged.

    A new webhook address gets a new key, which is returned; an empty string is returned otherwise. is_active: whether runs are made.
    check: called in the transaction before anything is written; what it raises is raised. Everything else is checked outside of the
    transaction, because names of hosts are looked up for it.

    Raises `ValidationError` with the names of the fields: for times that cannot be read or come more often than every ten minutes, an
    endpoint that `by` may not use, a case of a group that `by` may not edit, recipients who cannot see what is run, and a webhook of
    a user who may not create endpoints, or at a forbidden address.
    """
    scheduled = schedule.scheduled
    if isinstance(scheduled, CaseGroup):
        _check_group(scheduled, schedule.baseline_check, by)
    else:
        _check_attempt(scheduled, schedule.attempt, by)
    now = timezone.now()
    if schedule.time_zone not in available_timezones():
        raise ValidationError({"time_zone": f"There is no time zone {schedule.time_zone!r}. Choose one from the list."})
    check_times(schedule.cron, schedule.time_zone, now=now)
    chosen = list(recipients)
    people = set(possible_recipients(scheduled).filter(pk__in=[user.pk for user in chosen]))
    if strangers := [str(user) for user in chosen if user not in people]:
        shared = "group and all of its cases" if schedule.group else "case"
        raise ValidationError({"recipients": f"Not everyone can see the {shared}: {', '.join(strangers)}."})
    schedule.webhook_url = schedule.webhook_url.strip()
    key = ""
    if schedule.webhook_url != Schedule.objects.filter(pk=schedule.pk).values_list("webhook_url", flat=True).first():
        _check_webhook(schedule.webhook_url, by)
        key = secrets.token_urlsafe(SECRET_BYTES) if schedule.webhook_url else ""
        schedule.webhook_secret = {"key": key} if key else {}
    schedule.author = by
    schedule.next_at = next_time(schedule.cron, schedule.time_zone, after=now) if is_active else None
    with transaction.atomic():
        if check is not None:
            check()
        verb = CHANGED if schedule.pk else CREATED
        clean_and_save(schedule)
        schedule.recipients.set(chosen)
        if schedule.case is not None:
            subject = f"{schedule.cron}, {schedule.time_zone}{'' if is_active else ', switched off'}"
            activity.record(verb, case=schedule.case, by=by, subject=subject, object_id=schedule.pk)
    return key


def remove(*, scheduled: Scheduled, by: User | None = None) -> None:
    """Removes the schedule of a case or a group. Its checks and runs stay."""
    with transaction.atomic():
        deleted, _ = Schedule.objects.filter(**owned_by(scheduled)).delete()
        if deleted and isinstance(scheduled, Case):
            activity.record(REMOVED, case=scheduled, by=by)


def possible_recipients(scheduled: Scheduled) -> QuerySet[User]:
    """Returns the people who can see a case, or a group and all of its cases, by ownership or a team, can sign in, and have an e-mail
    address."""
    members = User.objects.filter(memberships__team__in=scheduled.teams.values("pk")).values_list("pk", flat=True)
    seen: dict[int, set[int]] = {}
    if isinstance(scheduled, CaseGroup):
        live = scheduled.cases.filter(archived_at=None)
        for case_id, *user_ids in live.values_list("pk", "owner", "teams__memberships__user"):
            seen.setdefault(case_id, set()).update(user_id for user_id in user_ids if user_id is not None)
    people = set.intersection({scheduled.owner_id, *members}, *seen.values())
    return User.objects.filter(pk__in=people, is_active=True, kind=User.Kind.PERSON).exclude(email="")


def baseline_checks(group: CaseGroup) -> QuerySet[ScheduledCheck]:
    """Returns the checks of a group that later runs can be compared with: those that have ended, with a complete run."""
    ended = ScheduledCheck.objects.filter(group=group).exclude(status=ScheduledCheck.Status.WAITING)
    return ended.filter(runs__run__status=Run.Status.COMPLETE).distinct()


def _check_group(group: CaseGroup, baseline_check: ScheduledCheck | None, by: User) -> None:
    live = group.cases.filter(archived_at=None)
    if not live.exists():
        raise ValidationError("The group has no case yet, so there is nothing to run.")
    if missing := live.exclude(pk__in=Case.objects.editable_by(by).values("pk")).count():
        raise ValidationError(
            f"You are not an editor of {counted(missing, 'case')} of this group. Runs are made in your name, so you "
            "have to be an editor of all of them."
        )
    for case in live:
        try:
            _check_attempt(case, None, by)
        except ValidationError as error:
            raise ValidationError(f"{case}: {' '.join(error.messages)}") from None
    if baseline_check is not None and baseline_check.group_id != group.pk:
        raise ValidationError({"baseline_check": "This check belongs to another group. Choose one of this group."})


def _check_attempt(case: Case, attempt: Attempt | None, by: User) -> None:
    """Raises `ValidationError` if there is no attempt to run, or `by` may not use its endpoint in the case."""
    chosen = attempt or case.attempts.filter(archived_at=None).select_related("endpoint__owner").first()
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
