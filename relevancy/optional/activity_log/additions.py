"""What the app adds to the core: links to the logs of cases and teams."""

from collections.abc import Iterator

from django.urls import reverse

from relevancy.hooks import Link, Place, add_links, help_pages
from relevancy.models import Case, Team

help_pages |= {
    "cases/<int:case_id>/activity": "activity",
    "teams/<int:team_id>/activity": "activity",
}


@add_links[Place.CASE_HISTORY]
def case_links(case: Case) -> Iterator[Link]:
    """Yields the link to the log of a case."""
    yield Link("Activity", reverse("case_activity", args=[case.pk]), "activity-link")


@add_links[Place.TEAM]
def team_links(team: Team) -> Iterator[Link]:
    """Yields the link to the log of a team."""
    yield Link("Activity", reverse("team_activity", args=[team.pk]), "activity-link")
