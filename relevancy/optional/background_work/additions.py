"""What the app adds to the core: signs of life of workers, and the link to its page in the administration."""

from collections.abc import Iterator

from django.urls import reverse

from relevancy.hooks import Link, Place, add_links, help_pages, sweep
from relevancy.models import User

from .workers import record_sign_of_life

sweep.add(record_sign_of_life)
help_pages["administration/work/"] = "background-work"


@add_links[Place.ADMINISTRATION]
def work_link(user: User) -> Iterator[Link]:
    """Yields the link on the first page of the administration."""
    if user.is_superuser:
        yield Link("Tasks, workers, runs and sizes", reverse("background_work"), "background-work-link")
