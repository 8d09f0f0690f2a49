"""What the app adds to the core: a link in the head of pages of a case."""

from collections.abc import Iterator

from django.urls import reverse

from relevancy.hooks import Link, Place, ShownRun, add_links


@add_links[Place.CASE_HEAD]
def report_link(shown: ShownRun) -> Iterator[Link]:
    """Yields the link to the report of the run."""
    query = {"run": shown.number} if shown.number else None
    yield Link("Report", reverse("report", args=[shown.case.pk], query=query), "report-link")
