"""Background tasks of schedules."""

from relevancy.background_task import background_task
from relevancy.tasks import LOW_PRIORITY

from . import notifications


@background_task(priority=LOW_PRIORITY)
def send_notifications() -> None:
    """Sends the messages about scheduled checks that are due."""
    notifications.send_due()
