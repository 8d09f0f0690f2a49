"""What the app adds to the core: a tab of cases."""

from collections.abc import Iterator

from django.urls import reverse

from relevancy.glossary import Term, terms
from relevancy.hooks import Link, Place, ShownRun, add_links, help_pages

terms |= {
    "narrows": Term(
        "Narrows",
        "By how many points the range of the score gets narrower if this document is rated.",
        "reports",
        "what-to-rate-next",
    ),
    "planning": Term(
        "Planning",
        "How many queries and ratings it takes to see a difference of so many points.",
        "reports",
        "planning",
    ),
}
help_pages["cases/<int:case_id>/report/"] = "reports"


@add_links[Place.CASE_TABS]
def report_link(shown: ShownRun) -> Iterator[Link]:
    """Yields the link to the report of the run."""
    query = {"run": shown.number} if shown.number else None
    yield Link("Report", reverse("report", args=[shown.case.pk], query=query), "report-link")
