"""What the app adds to the core: links to schedules, what the worker does for them, and what becomes of them with an account."""

from collections.abc import Iterator

from django.urls import reverse

from relevancy import logs, tasks
from relevancy.hooks import (
    Link,
    Loss,
    Place,
    activity_sentences,
    add_links,
    case_activity_kinds,
    help_pages,
    run_ended,
    sweep,
    user_deletion,
    user_losses,
)
from relevancy.models import Case, Run, User
from relevancy.optional.groups import pages as group_pages
from relevancy.optional.groups.models import CaseGroup

from . import checks, notifications, schedules, starting
from .models import Schedule
from .tasks import send_notifications

case_activity_kinds["schedule"] = "Schedule"
activity_sentences.update(
    {
        schedules.CREATED: "Created the schedule: {subject}",
        schedules.CHANGED: "Changed the schedule: {subject}",
        schedules.REMOVED: "Removed the schedule",
        checks.FAILED: "The scheduled check failed. {reason}",
        checks.DROPPED: "The scheduled check found a lower score. {reason}",
    }
)
help_pages |= {
    "cases/<int:case_id>/schedule/": "schedules",
    "groups/<int:group_id>/schedule/": "schedules#groups",
}


@add_links[Place.CASE_SETTINGS]
def case_links(case: Case) -> Iterator[Link]:
    """Yields the link to the schedule of a case."""
    yield Link("Schedule and alerts", reverse("case_schedule", args=[case.pk]), "schedule-link")


@group_pages.links.add
def group_links(group: CaseGroup) -> Iterator[Link]:
    """Yields the link on the page of a group."""
    yield Link("Schedule", reverse("group_schedule", args=[group.pk]), "group-schedule-link")


@run_ended.add
def finish_check(run: Run) -> None:
    """Finishes the check that the run belongs to, and sends what has to be said about it."""
    if checks.finish_run(run.pk):
        send_notifications.enqueue(reference=logs.request_id())


@sweep.add
def start_and_send() -> None:
    """Starts the runs that are due, finishes checks that a worker left, and sends messages that could not be delivered before."""
    for run in starting.start_due():
        tasks.enqueue_run(run)
    checks.finish_abandoned()
    notifications.send_due()


@user_losses.add
def switched_off(user: User) -> Iterator[Loss]:
    """Yields the schedules that make runs in the user's name."""
    for schedule in Schedule.objects.filter(author=user).exclude(next_at=None).select_related("case", "group"):
        text = f"the schedule of {schedule.case or schedule.group}, which makes its runs in your name"
        yield Loss("stopped", "schedules", text)


@user_deletion.add
def switch_off(user: User) -> None:
    """Switches off the schedules that make runs in the user's name, and tells the user nothing any more."""
    Schedule.objects.filter(author=user).update(next_at=None)
    Schedule.recipients.through.objects.filter(user=user).delete()
