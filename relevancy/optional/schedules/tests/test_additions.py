"""What schedules add to the core: to the activity log, and to deleting an account."""

from datetime import timedelta

import pytest
from django.utils import timezone

from relevancy import accounts, activity, cases, hooks
from relevancy.models import Role
from relevancy.optional.schedules import checks, schedules
from relevancy.optional.schedules.models import Schedule, ScheduledCheck
from relevancy.optional.schedules.tests.factories import save_schedule
from tests.factories import make_attempt, make_case, make_team, make_user

pytestmark = pytest.mark.django_db


def test_every_change_is_in_the_log_of_the_case(script) -> None:
    case = make_case(1)
    make_attempt(case)
    ann = case.owner
    save_schedule(case)
    save_schedule(case, is_active=False)
    ScheduledCheck.objects.create(case=case).runs.create(case=case)
    ScheduledCheck.objects.update(created_at=timezone.now() - timedelta(minutes=2))
    checks.finish_abandoned()
    for _ in range(2):
        schedules.remove(scheduled=case, by=ann)
    rows = case.activities.filter(verb__startswith="schedule.")
    assert [(row.by, activity.describe(row)) for row in rows] == [
        (ann, "Removed the schedule"),
        (None, "The scheduled check failed. The run was not started, or was deleted."),
        (ann, "Changed the schedule: 0 2 * * *, UTC, switched off"),
        (ann, "Created the schedule: 0 2 * * *, UTC"),
    ]
    assert hooks.case_activity_kinds["schedule"] == "Schedule"


def test_schedules_in_the_name_of_the_person_are_switched_off() -> None:
    ann = make_user("Ann Example")
    team = make_team(bob=Role.OWNER)
    case = make_case(["a query"], owner=make_user("Bob B"))
    cases.share(case=case, team=team)
    schedule = Schedule.objects.create(case=case, cron="0 3 * * *", time_zone="UTC", author=ann, next_at=timezone.now())
    schedule.recipients.add(ann)
    (loss,) = accounts.deletion.contents(ann).losses_by_outcome["stopped"]
    assert loss.text == f"the schedule of {case}, which makes its runs in your name"
    accounts.deletion.delete(user=ann)
    schedule.refresh_from_db()
    assert schedule.next_at is None
    assert not schedule.recipients.exists()
