"""What the app adds to the core: links from an attempt, and from a comparison to the attempt of its run."""

from collections.abc import Iterator
from typing import Any

from django.urls import reverse

from relevancy.hooks import Link, Panel, Place, add_links, add_panel, help_pages
from relevancy.models import Attempt

help_pages["cases/<int:case_id>/attempts/all/<int:number>/production/"] = "production"


@add_links[Place.ATTEMPT]
def production_link(attempt: Attempt) -> Iterator[Link]:
    """Yields the link from an attempt."""
    yield Link(
        "To production",
        reverse("production", args=[attempt.case_id, attempt.number]),
        f"production-{attempt.number}",
    )


@add_panel[Place.COMPARISON]
def comparison_panel(page: Any) -> Panel | None:
    """Returns the link from a comparison of two attempts of a case to the one of its run."""
    if not page.stored:
        return None
    baseline, run = page.pair
    if baseline.case_id != run.case_id or baseline.attempt_id == run.attempt_id:
        return None
    query = {"against": baseline.attempt.number}
    url = reverse("production", args=[run.case_id, run.attempt.number], query=query)
    return Panel("production/_comparison.html", {"number": run.attempt.number, "url": url})
