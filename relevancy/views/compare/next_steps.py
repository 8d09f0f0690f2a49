"""What to do after a comparison: the last line of its verdict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from django.urls import reverse

from relevancy import hooks
from relevancy.comparison import QueryRow, RunPair, Verdict, count_queries_to_add
from relevancy.templatetags import numbers
from relevancy.views.next_steps import NextSteps
from relevancy.wording import counted

if TYPE_CHECKING:
    from .comparison_page import ComparisonPage

MAX_STEPS = 4
REASONS = {
    Verdict.UNDECIDED: "the queries and ratings cannot prove this difference.",
    Verdict.TOO_FEW: "a few more queries can tell.",
    Verdict.UNRATED: "ratings decide this.",
}


def find_next_steps(page: ComparisonPage) -> NextSteps | None:
    """Returns what to do next; None as long as the figures are being computed, and if nothing is left to do."""
    if page.figures is None:
        return None
    pair = page.figures.comparison.pairs[page.other - 1]
    if len(pair.by_query):
        why, found = REASONS.get(pair.verdict, ""), _steps(page, pair)
    else:
        why, found = _describe_changes(page.rows), _steps_without_scores(page)
    steps = list(islice([*found, *hooks.links_at(hooks.Place.COMPARISON, page)], MAX_STEPS))
    return NextSteps(why, steps) if steps else None


def _steps(page: ComparisonPage, pair: RunPair) -> Iterator[hooks.Link]:
    is_open = (
        pair.verdict in REASONS or pair.bounds is None or pair.bounds[0] < 0 < pair.bounds[1]
    )  # ratings can decide it
    if is_open and page.documents_to_rate and page.access.can_rate:
        yield _rate(page)
    if pair.verdict in {Verdict.UNDECIDED, Verdict.TOO_FEW} and page.access.can_edit:
        yield from _add_queries(page, pair)
    losses = pair.by_query.losses
    if losses:
        worst = min((row for row in page.rows if row.difference is not None), key=lambda row: row.difference or 0.0)
        entry = page.queries[worst.query_id].case_query_id
        label = f"look at the {counted(losses, 'query', 'queries')} that got worse"
        yield hooks.Link(label, page.plain_url(state="worse", open=entry), "next-worse")
    changed = [row for row in page.rows if row.change]
    if changed and not losses and not pair.by_query.wins:
        label = f"look at the {counted(len(changed), 'result list')} that changed"
        yield hooks.Link(label, page.plain_url(state="changed"), "next-changed")
    if not page.version.script and pair.verdict not in REASONS:
        label = f"see what {page.pair_names[1]} could gain"
        yield hooks.Link(label, page.plain_url(best=1, sort="-gain"), "next-gain")


def _rate(page: ComparisonPage) -> hooks.Link:
    plan = page.figures.plans[page.other - 1] if page.figures else None
    count = len(page.documents_to_rate)
    label = "rate this document" if count == 1 else f"rate these {count} documents"
    if plan is not None and numbers.score(plan.width) != numbers.score(plan.width_after):
        label += f" ({numbers.score(plan.width)} → {numbers.score(plan.width_after)} points left open)"
    return hooks.Link(label, f"{page.plain_url(tab='rate')}#compared-tabs", "next-rate")


def _add_queries(page: ComparisonPage, pair: RunPair) -> Iterator[hooks.Link]:
    more = count_queries_to_add(pair)
    label = f"add about {counted(more, 'query', 'queries')}" if more else "add queries"
    if more or pair.verdict == Verdict.TOO_FEW:
        yield hooks.Link(label, f"{reverse('case', args=[page.case.pk])}#add-queries", "next-queries")


def _describe_changes(rows: Sequence[QueryRow]) -> str:
    changed = sum(bool(row.change) for row in rows)
    if not changed:
        return "no result list changed."
    return f"{counted(changed, 'result list')} changed. Without ratings nobody knows for better or worse."


def _steps_without_scores(page: ComparisonPage) -> Iterator[hooks.Link]:
    changed = [row for row in page.rows if row.change]
    if changed:
        entry = page.queries[changed[0].query_id].case_query_id
        label = "rate them" if page.access.can_rate else "look at them"
        yield hooks.Link(label, page.plain_url(state="changed", open=entry), "next-changed")
