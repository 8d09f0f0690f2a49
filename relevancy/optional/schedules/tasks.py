"""Background tasks of schedules."""

from django.tasks import task

from relevancy.tasks import LOW_PRIORITY

from . import notifications


@task(priority=LOW_PRIORITY)
def send_notifications() -> None:
    """Sends the messages about scheduled checks that are due."""
    notifications.send_due()
