"""What the app adds to the core: a tab of the comparison, a line below its verdict, a page, sentences of the activity log."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from django.urls import reverse

from relevancy.hooks import (
    ComparisonTab,
    Link,
    Panel,
    Place,
    activity_sentences,
    add_links,
    add_panel,
    comparison_tabs,
    help_pages,
)
from relevancy.models import Case

from . import outcomes

if TYPE_CHECKING:
    from relevancy.views.compare.comparison_page import ComparisonPage

TAB = "outcomes"

activity_sentences.update(
    {
        outcomes.IMPORTED: "Imported the online outcome “{subject}” of run {a} and run {b}",
        outcomes.DELETED: "Deleted the online outcome “{subject}” of run {a} and run {b}",
    }
)
help_pages["cases/<int:case_id>/online/"] = "comparing#online-outcomes"


def _outcomes_of(page: ComparisonPage) -> list[tuple[outcomes.ComparedOutcome, str]]:
    """Returns the outcomes of the two runs that a comparison page shows, whose A is its baseline, and what users decided. One SQL
    statement."""
    assert page.stored is not None
    a, b = page.pair
    pair = page.figures.comparison.pairs[page.other - 1] if page.figures else None
    return [
        (outcomes.ComparedOutcome(outcome, page.stored, pair), outcomes.describe_outcome(outcome, page.pair_names))
        for outcome in outcomes.read_outcomes(a=a, b=b)
    ]


@add_panel[Place.COMPARISON]
def outcome_panel(page: ComparisonPage) -> Panel | None:
    """Returns below the verdict whether users agree with it."""
    lines = _outcomes_of(page) if page.figures is not None else []
    url = f"{page.plain_url(tab=TAB)}#compared-tabs" if lines else ""
    return Panel("outcomes/_agreement.html", {"lines": lines, "url": url}) if lines else None


@comparison_tabs.add
def outcome_tab(page: ComparisonPage) -> ComparisonTab:
    """Returns the tab with the outcomes of the two runs, and the link to import one; none for runs of other cases."""

    def panel() -> Panel:
        a, b = page.pair
        is_own = {run.case_id for run in page.pair} == {page.case.pk}
        url = reverse("online_outcomes", args=[page.case.pk], query={"a": a.number, "b": b.number}) if is_own else ""
        return Panel("outcomes/_comparison.html", {"lines": _outcomes_of(page), "outcomes_url": url})

    return ComparisonTab(TAB, "Online outcomes", panel)


@add_links[Place.CASE_COMPARE]
def case_links(case: Case) -> Iterator[Link]:
    """Yields the link to the outcomes of a case."""
    yield Link("Online outcomes", reverse("online_outcomes", args=[case.pk]), "outcomes-link")
