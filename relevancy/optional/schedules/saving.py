"""What schedules of cases and of groups have in common when they are saved."""

import secrets
from collections.abc import Callable, Iterable
from typing import Any
from zoneinfo import available_timezones

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from relevancy import activity, endpoints, engines, runs
from relevancy.models import Attempt, Case, User
from relevancy.models.saving import clean_and_save

from .models import Schedule
from .times import check_times, next_time

SECRET_BYTES = 32
CREATED, CHANGED, REMOVED = "schedule.created", "schedule.changed", "schedule.removed"  # verbs of the activity log


def save_schedule(
    schedule: Schedule,
    *,
    by: User,
    recipients: Iterable[User],
    possible: QuerySet[User],
    webhook_url: str,
    cron: str,
    time_zone: str,
    is_active: bool,
    values: dict[str, Any],
    check: Callable[[], None] | None = None,
) -> Schedule:
    """Saves a schedule, new or stored; that of a case is logged. possible: who may be a recipient. values: its other attributes.

    check: called in the transaction before anything is written; what it raises is raised. Everything else is checked outside of the
    transaction, because names of hosts are looked up for it.

    Raises `ValidationError` with the names of the fields.
    """
    now = timezone.now()
    if time_zone not in available_timezones():
        raise ValidationError({"time_zone": f"There is no time zone {time_zone!r}. Choose one from the list."})
    check_times(cron, time_zone, now=now)
    chosen = list(recipients)
    people = set(possible.filter(pk__in=[user.pk for user in chosen]).values_list("pk", flat=True))
    if strangers := [str(user) for user in chosen if user.pk not in people]:
        shared = "case" if schedule.case_id else "group and all of its cases"
        raise ValidationError({"recipients": f"Not everyone can see the {shared}: {', '.join(strangers)}."})
    secret = schedule.webhook_secret
    if webhook_url != schedule.webhook_url:
        _check_webhook(webhook_url, by)
        secret = {"key": secrets.token_urlsafe(SECRET_BYTES)} if webhook_url else {}
    changes = {
        **values,
        "cron": cron,
        "time_zone": time_zone,
        "webhook_url": webhook_url,
        "webhook_secret": secret,
        "author": by,
        "next_at": next_time(cron, time_zone, after=now) if is_active else None,
    }
    with transaction.atomic():
        if check is not None:
            check()
        is_new = schedule.pk is None
        if is_new:
            for name, value in changes.items():
                setattr(schedule, name, value)
            clean_and_save(schedule)
        else:
            clean_and_save(schedule, **changes)
        schedule.recipients.set(chosen)
        if schedule.case is not None:
            verb = CREATED if is_new else CHANGED
            state = "" if is_active else ", switched off"
            subject = f"{cron}, {time_zone}{state}"
            activity.record(verb, case=schedule.case, by=by, subject=subject, object_id=schedule.pk)
    return schedule


def check_attempt(case: Case, attempt: Attempt | None, by: User) -> None:
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
