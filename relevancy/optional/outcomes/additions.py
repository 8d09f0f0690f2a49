"""What the app adds to the core: outcomes below the verdict of a comparison, links to their page, sentences of the activity log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from django.urls import reverse

from relevancy.hooks import Link, Panel, Place, activity_sentences, add_links, add_panel, help_pages
from relevancy.models import Case

from . import outcomes

if TYPE_CHECKING:
    from relevancy.views.compare.comparison_page import ComparisonPage

activity_sentences.update(
    {
        outcomes.IMPORTED: "Imported the online outcome “{subject}” of run {a} and run {b}",
        outcomes.DELETED: "Deleted the online outcome “{subject}” of run {a} and run {b}",
    }
)
help_pages["cases/<int:case_id>/online/"] = "comparing#online-outcomes"


@add_panel[Place.COMPARISON]
def outcome_panel(page: ComparisonPage) -> Panel | None:
    """Returns the outcomes of the two runs that a comparison page shows, whose A is its baseline. One SQL statement."""
    if page.stored is None:
        return None
    a, b = page.pair
    pair = page.figures.comparison.pairs[page.other - 1] if page.figures else None
    lines = [
        (outcomes.ComparedOutcome(outcome, page.stored, pair), outcomes.describe_outcome(outcome, page.pair_names))
        for outcome in outcomes.read_outcomes(a=a, b=b)
    ]
    return Panel("outcomes/_comparison.html", {"lines": lines}) if lines else None


@add_links[Place.COMPARISON]
def comparison_links(page: ComparisonPage) -> Iterator[Link]:
    """Yields the link to the outcomes of the case, with the two runs chosen; none for runs of other cases."""
    if page.stored is not None and {run.case_id for run in page.pair} == {page.case.pk}:
        a, b = page.pair
        url = reverse("online_outcomes", args=[page.case.pk], query={"a": a.number, "b": b.number})
        yield Link("Online outcomes", url, "online-link")


@add_links[Place.CASE_COMPARE]
def case_links(case: Case) -> Iterator[Link]:
    """Yields the link to the outcomes of a case."""
    yield Link("Online outcomes", reverse("online_outcomes", args=[case.pk]), "outcomes-link")
