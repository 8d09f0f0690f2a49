"""Schedules of cases: saved and removed by their editors."""

from collections.abc import Callable, Iterable

from django.db import transaction
from django.db.models import QuerySet

from relevancy import activity
from relevancy.models import Attempt, Case, Run, User

from .models import Schedule
from .saving import REMOVED, check_attempt, save_schedule


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
    check: Callable[[], None] | None = None,
) -> Schedule:
    """Creates or changes the schedule of a case. `by` becomes its author.

    check: called in the transaction before anything is written; what it raises is raised.
    A new webhook address gets a new secret. Raises `ValidationError` with the names of the fields: for times that cannot be read
    or come more often than every ten minutes, an endpoint that `by` may not use, recipients who cannot see the case, and a webhook
    of a user who may not create endpoints, or at a forbidden address.
    """
    check_attempt(case, attempt, by)
    return save_schedule(
        Schedule.objects.filter(case=case).first() or Schedule(case=case),
        by=by,
        recipients=recipients,
        possible=possible_recipients(case),
        webhook_url=webhook_url,
        cron=cron,
        time_zone=time_zone,
        is_active=is_active,
        values={"attempt": attempt, "baseline": baseline, "max_drop": max_drop},
        check=check,
    )


def remove(*, case: Case, by: User | None = None) -> None:
    """Removes the schedule of a case. Its checks and runs stay."""
    with transaction.atomic():
        deleted, _ = Schedule.objects.filter(case=case).delete()
        if deleted:
            activity.record(REMOVED, case=case, by=by)


def possible_recipients(case: Case) -> QuerySet[User]:
    """Returns the people who can see a case by ownership or a team, can sign in, and have an e-mail address."""
    teams = case.teams.values("pk")
    members = User.objects.filter(memberships__team__in=teams) | User.objects.filter(pk=case.owner_id)
    return User.objects.filter(pk__in=members.values("pk"), is_active=True, kind=User.Kind.PERSON).exclude(email="")
