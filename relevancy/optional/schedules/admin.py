"""Schedules and what came of them in the administration."""

from relevancy.admin.read_only import register_read_only
from relevancy.admin_site import Section

from .models import CheckRun, Notification, Schedule, ScheduledCheck

register_read_only(CheckRun, "check_of case run baseline problem", related=["check_of__group"], section=Section.WORK)
register_read_only(
    Notification,
    "check_of kind recipient attempts next_at delivered_at error",
    related=["check_of__group"],
    section=Section.WORK,
)
register_read_only(Schedule, "case group cron time_zone author next_at", section=Section.WORK)
register_read_only(ScheduledCheck, "created_at case group status message", section=Section.WORK)
