"""The evidence says what the comparison page says, and what is missing without runs."""

from typing import Any

import pytest

from relevancy import comparison
from relevancy.models import Attempt, Case, ScorerVersion
from relevancy.optional.production.evidence import find_attempt_in_use, find_pair
from relevancy.optional.production.proposal import Proposal
from relevancy.scoring.rounding import format_rounded, format_signed
from tests.factories import make_attempt, make_case, make_user, run_now, script_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]
TEXTS = [f"query *{number}*" for number in range(12)]


@pytest.fixture
def case() -> Case:
    case = make_case(TEXTS, {text: {"a": 3, "b": 0} for text in TEXTS}, owner=make_user("Ann"), measures=("nDCG@3",))
    case.book.queries.filter(text__in=TEXTS[:4]).update(tags=["franchise"])
    return case


def child(case: Case, parent: Attempt) -> Attempt:
    """An attempt on an endpoint of its own."""
    attempt = make_attempt(case)
    attempt.parent = parent
    attempt.save()
    return attempt


def attempts(case: Case) -> tuple[Attempt, Attempt]:
    """The second one puts the relevant document first for ten queries, and loses it for two."""
    first = make_attempt(case)
    script_of(first).default = ["b", "a", "c"]
    second = child(case, first)
    script_of(second).answers = {text: ["a", "b"] for text in TEXTS[:10]} | {text: ["b"] for text in TEXTS[10:]}
    return first, second


def computed(*arguments: Any, **named: Any) -> Proposal:
    proposal = Proposal(*arguments, **named)
    assert proposal.is_pending and proposal.stored is not None and not proposal.evidence and not proposal.no_evidence
    comparison.stored.compute(proposal.stored.pk)
    return Proposal(*arguments, **named)


def test_figures_are_those_of_the_comparison(case):
    first, second = attempts(case)
    before, after = run_now(first), run_now(second)
    text = computed(second, first, site="https://relevancy.example.com").evidence
    figures = comparison.compute_figures(
        comparison.compare(runs=[before, after], version=ScorerVersion.objects.used_by(case)[0])
    )
    summary = comparison.summarize_pair(figures, 1)
    assert f"**{summary.sentence}**" in text
    (tag,) = figures.comparison.tags
    assert f"| franchise (4 queries, {tag.reason or 'p'}" in text
    assert f"| {format_rounded(tag.score_b, 1)} | {format_signed(tag.difference, 1)} |" in text
    interval = figures.comparison.pairs[0].paired.interval
    assert f"| 95 % interval | {format_signed(interval.low, 1)} to {format_signed(interval.high, 1)} |" in text
    worst = text.partition("Queries that lose most")[2].partition("\n\n")[0].splitlines()[2:]
    assert [line.split(" | ")[0] for line in worst] == ["| query \\*10\\*", "| query \\*11\\*"]
    assert (
        f"(https://relevancy.example.com/cases/{case.pk}/compare/?run={before.number}&run={after.number}&scorer="
        in text
    )
    assert "seed " in text and f"Run {after.number} of attempt {second.number}: 12 queries, 0 failed" in text
    assert "](" not in Proposal(second, first).evidence


def test_what_is_missing_is_said(case):
    first, second = attempts(case)
    proposal = Proposal(second, first)
    assert proposal.evidence == "" and not proposal.is_pending
    assert "attempt 1 and attempt 2 have no complete run" in proposal.no_evidence
    run_now(first)
    assert find_pair(second, first)[1].startswith(
        "There is no comparison, because attempt 2 has no complete run. Run attempt 2"
    )
    assert "no other attempt" in Proposal(first).no_evidence


def test_the_attempt_in_use_is_that_of_the_baseline_or_else_the_parent(case):
    first, second = attempts(case)
    assert find_attempt_in_use(second) == first  # its parent
    third = child(case, second)
    run_now(first)
    run_now(third)
    run_now(third)
    assert find_attempt_in_use(third) == first  # of the complete run before those of its own
    assert find_attempt_in_use(first) is None
