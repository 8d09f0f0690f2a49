"""What the app adds to the core: a page of the settings of a case, a tab of the comparison, and what the worker does for rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from django.urls import reverse

from relevancy.hooks import (
    ComparisonTab,
    Link,
    Loss,
    Panel,
    Place,
    activity_sentences,
    add_links,
    case_losses,
    case_parts,
    comparison_tabs,
    help_pages,
    queries_changed,
    query_models,
    run_ended,
    sweep,
)
from relevancy.models import Case, Run, User
from relevancy.wording import counted

from . import applying, report, rules
from .case_part import CASE_PART
from .models import RuleState, TaggedQuery
from .tasks import enqueue

if TYPE_CHECKING:
    from relevancy.views.compare.comparison_page import ComparisonPage

TAB = "classes"

case_parts["query_classes"] = CASE_PART
query_models.append(TaggedQuery)
queries_changed.add(rules.queries_changed)
help_pages["cases/<int:case_id>/query-classes/"] = "query_classes"
activity_sentences.update(
    {
        rules.CREATED: "Created the rule of the tag “{subject}”: {condition}",
        rules.CHANGED: "Changed the rule of the tag “{subject}”: {condition}",
        rules.DELETED: "Deleted the rule of the tag “{subject}”: {condition}",
        applying.APPLIED: "Applied the rules of tags; tags added: {added:,}, removed: {removed:,}",
    }
)


@add_links[Place.CASE_SETTINGS]
def case_links(case: Case) -> Iterator[Link]:
    """Yields the link to the rules of a case."""
    yield Link("Query classes", reverse("query_classes", args=[case.pk]), "query-classes-link")


@comparison_tabs.add
def class_tab(page: ComparisonPage) -> ComparisonTab:
    """Returns the tab that says which classes gain and which ones fail."""

    def panel() -> Panel:
        classes = page.tag_figures
        return Panel(
            "query_classes/_comparison.html",
            {
                "sentence": page.tag_sentence,
                "chart": report.build_chart(classes),
                "table_url": f"{page.plain_url(tab='tags')}#compared-tabs",
                "rules_url": reverse("query_classes", args=[page.case.pk]),
            },
        )

    return ComparisonTab(TAB, "Which queries fail", panel)


@run_ended.add
def apply_to_results(run: Run) -> None:
    """Applies the rules of a case after a run if one of them looks at the number of results."""
    if run.status == Run.Status.COMPLETE and rules.results_changed(run.case_id):
        enqueue(run.case_id)


@sweep.add
def apply_outdated() -> None:
    """Applies the rules of cases whose queries have changed."""
    for case_id in RuleState.objects.outdated().filter(case__archived_at=None).values_list("case_id", flat=True):
        enqueue(case_id)


@case_losses.add
def losses(case: Case, user: User) -> Iterator[Loss]:
    """Yields the rules that are deleted with a case."""
    if count := len(rules.list_rules(case)):
        yield Loss("deleted", "tag_rules", f"{counted(count, 'rule')} of query classes; the tags stay")
