"""Schedules for tests."""

from collections.abc import Iterable
from typing import Any

from relevancy.models import User
from relevancy.optional.schedules import schedules
from relevancy.optional.schedules.models import Schedule
from relevancy.optional.schedules.schedules import Scheduled

DEFAULTS = {
    "cron": "0 2 * * *",
    "time_zone": "UTC",
    "max_drop": 0.0,
    "webhook_url": "",
    **dict.fromkeys(("attempt", "baseline", "baseline_check")),
}


def save_schedule(
    scheduled: Scheduled,
    by: User | None = None,
    *,
    recipients: Iterable[User] = (),
    is_active: bool = True,
    **settings: Any,
) -> Schedule:
    """Saves the schedule of a case or a group. Settings that are not given have their defaults, as by the API."""
    schedule = schedules.find(scheduled)
    for name, value in {**DEFAULTS, **settings}.items():
        setattr(schedule, name, value)
    schedules.save(schedule=schedule, by=by or scheduled.owner, recipients=recipients, is_active=is_active)
    return schedule
