"""Groups of cases: their mean, its history, and the verdict on the newest runs of all cases."""

import numpy as np
import pytest
from django.core.exceptions import ValidationError

from relevancy import cases, comparison, queries, ratings, scores
from relevancy.models import Role, ScorerVersion
from relevancy.optional.groups import figures, groups, stored_groups
from relevancy.optional.groups.models import CaseGroup, StoredGroupComparison
from relevancy.statistics import Differences, Verdict, find_interval
from tests.comparison.conftest import run_with
from tests.factories import make_case, make_team, make_user, query_of

pytestmark = pytest.mark.django_db
RATINGS = {f"query {number}": {"a": 3, "b": 1} for number in (1, 2, 3, 4)}


def make_group(owner, *members, weighting="cases"):
    group = groups.create(name="Markets", by=owner, weighting=weighting)
    for case in members:
        groups.add_case(group=group, case=case)
    return read(group, owner)[0]


def read(group, user):
    stored = CaseGroup.objects.visible_to(user).get(pk=group.pk)
    return stored, groups.read_group(group=stored, by=user)


@pytest.fixture
def owner():
    return make_user()


@pytest.fixture
def markets(owner, script):
    """Two cases with P@1, of two and of four queries: 50 → 100 and 25 → 50 points, in two runs each."""
    texts = list(RATINGS)
    small = make_case(2, {text: RATINGS[text] for text in texts[:2]}, owner=owner, measures=("P@1",))
    large = make_case(4, RATINGS, owner=owner, measures=("P@1",))
    run_with(small, {"query 1": "ab", "query 2": "xb"})
    run_with(large, {"query 1": "ab", "query 2": "xb", "query 3": "xb", "query 4": "xb"})
    run_with(small, {"query 1": "ab", "query 2": "ab"})
    run_with(large, {"query 1": "ab", "query 2": "ab", "query 3": "xb", "query 4": "xb"})
    for case in (small, large):
        assert scores.rescore_case(case, seconds=60)
    return small, large


@pytest.mark.parametrize(("weighting", "mean"), [("cases", 75), ("queries", (2 * 100 + 4 * 50) / 6)])
def test_the_mean_weighs_cases_or_queries(owner, markets, weighting, mean):
    _, view = read(make_group(owner, *markets, weighting=weighting), owner)
    assert view.mean.score == pytest.approx(mean)
    assert (view.mean.counted, view.hidden) == (2, 0)


def test_the_mean_leaves_out_cases_without_a_score_and_refuses_different_scorers(owner, markets):
    group = make_group(owner)
    assert read(group, owner)[1].mean.reason == "The group has no cases."
    groups.add_case(group=group, case=make_case(1, owner=owner, measures=("P@1",)))
    assert read(group, owner)[1].mean.reason == "No case has a score yet."
    groups.add_case(group=group, case=markets[0])
    mean = read(group, owner)[1].mean
    assert (mean.score, mean.counted) == (100, 1)
    other = make_case(1, {"query 1": {"a": 3}}, owner=owner, measures=("nDCG@10",))
    run_with(other, {"query 1": "a"})
    groups.add_case(group=group, case=other)
    mean = read(group, owner)[1].mean
    assert mean.score is None
    assert "nDCG@10, P@1" in mean.reason


def test_members_see_the_mean_of_the_cases_they_may_see(owner, markets):
    team = make_team("Search", Vera=Role.VIEWER, Edith=Role.EDITOR)
    group = make_group(owner, *markets)
    groups.set_teams(group=group, teams=[team], by=make_user(superuser=True))
    cases.share(case=markets[0], team=team)
    people = {member.user.name: member.user for member in team.memberships.select_related("user")}
    for name, hidden in (("Vera", 0), ("Edith", 1)):
        _, view = read(group, people[name])
        assert [row.case for row in view.rows] == [markets[0]]
        assert (view.mean.score, view.hidden) == (100, hidden)


def test_the_history_begins_when_every_case_has_a_score(owner, markets):
    group = make_group(owner, *markets)
    points = groups.history_of(read(group, owner)[1].rows, group)
    assert [(point.score, list(point.by_case)) for point in points] == [
        (37.5, [50, 25]),
        (62.5, [100, 25]),
        (75, [100, 50]),
    ]


def compute(group, view):
    """What the worker does after the page was opened for the first and the second time."""
    waiting = groups.compare_group(group=group, view=view)
    assert waiting.to_compute and waiting.figures is None and waiting.is_pending
    for stored in waiting.to_compute:
        comparison.stored.compute(stored.pk)
    waiting = groups.compare_group(group=group, view=view)
    assert not waiting.to_compute and waiting.figures is None and waiting.is_pending
    return compute_group(waiting, group, view)


def compute_group(waiting, group, view):
    stored_groups.compute(waiting.stored.pk)
    return groups.compare_group(group=group, view=view)


def test_the_newest_runs_are_compared_once_their_figures_are_computed(owner, markets, monkeypatch):
    group, view = read(make_group(owner, *markets), owner)
    compared = compute(group, view)
    assert [item.figures.difference for item in compared.cases] == [50, 25]
    assert [item.figures.p_holm for item in compared.cases] == [None, None]  # too few queries
    # Of the 2 ** 6 patterns of signs of (0, 50) / 2 and (0, 100, 0, 0) / 4, half are as large: only two queries differ.
    together = compared.figures.together
    assert together.difference == pytest.approx(37.5)
    assert (together.queries, together.independent) == (6, 6)
    assert (together.p, together.verdict) == (0.5, Verdict.UNDECIDED)
    # Reading them again tests nothing.
    monkeypatch.setattr(figures, "compare_paired", lambda differences: pytest.fail("tested again"))
    assert groups.compare_group(group=group, view=view) == compared
    assert StoredGroupComparison.objects.count() == 1


def test_a_case_has_figures_before_the_others(owner, markets):
    group, view = read(make_group(owner, *markets), owner)
    first, second = groups.compare_group(group=group, view=view).to_compute
    comparison.stored.compute(second.pk)
    waiting = groups.compare_group(group=group, view=view)
    assert waiting.to_compute == [first] and [item.pair is None for item in waiting.cases] == [True, False]
    comparison.stored.compute(first.pk)
    waiting = groups.compare_group(group=group, view=view)
    assert waiting.is_pending and [item.pair.difference for item in waiting.cases] == [50, 25]
    compared = compute_group(waiting, group, view)
    assert [item.pair for item in compared.cases] == [None, None]
    for item, before in zip(compared.cases, waiting.cases, strict=True):
        assert vars(before.pair).items() <= vars(item.figures).items()


def test_the_verdict_is_computed_again_after_a_rating_another_weighting_and_for_other_members(owner, markets):
    group, view = read(make_group(owner, *markets), owner)
    before = compute(group, view).figures.together
    groups.change(group=group, name="Markets", weighting="queries")
    group, view = read(group, owner)
    waiting = groups.compare_group(group=group, view=view)
    assert waiting.figures is None and not waiting.to_compute
    stored_groups.compute(waiting.stored.pk)
    weighted = groups.compare_group(group=group, view=view).figures.together
    assert weighted.difference == pytest.approx((2 * 50 + 4 * 25) / 6) != before.difference
    # A rating changes what a comparison that is about to be computed was asked for: it is not stored.
    ratings.rate(query=query_of(markets[0], "query 2"), doc_id="x", value=3, by=owner)
    StoredGroupComparison.objects.update(figures=None)
    stored_groups.compute(waiting.stored.pk)
    assert not StoredGroupComparison.objects.filter(pk=waiting.stored.pk).exists()
    assert groups.compare_group(group=group, view=view).to_compute


def test_cases_under_different_scorers_are_compared_without_a_verdict_on_all(owner, markets):
    other = make_case(2, {"query 1": {"a": 3, "b": 1}, "query 2": {"a": 1}}, owner=owner, measures=("nDCG@10",))
    run_with(other, {"query 1": "ba", "query 2": "ab"})
    run_with(other, {"query 1": "ab", "query 2": "ab"})
    group, view = read(make_group(owner, markets[0], other), owner)
    compared = compute(group, view)
    assert all(item.figures.difference > 0 for item in compared.cases)
    assert compared.figures.together is None and compared.sentence == ""


def comparison_of(case):
    version = ScorerVersion.objects.used_by(case)[0]
    return comparison.compare(runs=list(case.runs.order_by("number")), version=version)


def test_combine_cases_of_equal_weights_and_sizes_is_one_comparison(owner, markets):
    """Two cases of as many queries: the figures are those of all queries together."""
    again = make_case(4, RATINGS, owner=owner, measures=("P@1",))
    for doc_ids in ("xb", "ab"):
        run_with(again, {text: "ab" if text == "query 1" else doc_ids for text in RATINGS})
    compared = [comparison_of(markets[1]), comparison_of(again)]
    doc_ids = figures.combine_cases(compared, [1.0, 1.0])
    values = np.concatenate([item.pairs[0].by_query.values for item in compared])
    interval = find_interval(Differences.build(values))
    together = doc_ids.together
    assert (together.interval.low, together.interval.high) == pytest.approx((interval.low, interval.high))
    assert together.difference == pytest.approx(values.mean())
    weighted = figures.combine_cases(compared, [3.0, 1.0]).together
    assert weighted.difference == pytest.approx((3 * 25 + 75) / 4)
    none = figures.combine_cases([], [])
    assert (none.together, figures.describe_group(none)[:8]) == (None, "No query")
    assert figures.combine_cases(compared, [0.0, 1.0]).counted == 1


def test_combine_cases_knows_that_too_little_is_rated_as_it_was_stored(owner, script):
    texts = [f"query {number}" for number in range(1, 31)]
    case = make_case(texts, {text: {"a": 3, "b": 3} for text in texts}, owner=owner, measures=("P@1",))
    runs = [run_with(case, dict.fromkeys(texts, letters)) for letters in ("xa", "ya")]
    version = ScorerVersion.objects.used_by(case)[0]
    comparison.stored.compute(comparison.stored.find_or_create(runs=runs, version=version).pk)
    computed = comparison.stored.find_or_create(runs=runs, version=version)
    together = figures.combine_cases([comparison.stored.load(computed, runs).comparison], [1]).together
    assert together.verdict is Verdict.UNRATED


def test_combine_cases_counts_a_query_of_two_cases_once(owner, markets):
    """Two cases on one book, compared over the same queries, prove no more than one of them."""
    case = markets[1]
    other = make_case(list(RATINGS), book_of=case, owner=owner, measures=("P@1",))
    for doc_ids in ("xb", "ab"):
        run_with(other, {"query 1": "ab", "query 2": doc_ids, "query 3": "xb", "query 4": "xb"})
    alone, compared = comparison_of(case), [comparison_of(case), comparison_of(other)]
    doc_ids = figures.combine_cases(compared, [1.0, 1.0])
    paired = alone.pairs[0].paired
    together = doc_ids.together
    assert (together.queries, together.independent) == (8, 4)
    assert (together.difference, together.p) == pytest.approx((paired.differences.mean, paired.p))
    assert together.interval.low == pytest.approx(paired.interval.low)
    assert "8 queries (4 independent) of 2 cases" in figures.describe_group(doc_ids)
    queries.link(queries=[query_of(case, "query 1"), query_of(case, "query 2")])
    linked = figures.combine_cases([comparison_of(case), comparison_of(other)], [1.0, 1.0]).together
    assert linked.independent == 3


def test_add_case_refuses_too_many(owner, monkeypatch):
    monkeypatch.setattr("relevancy.optional.groups.groups.MAX_CASES", 1)
    group = make_group(owner, make_case(1, owner=owner))
    with pytest.raises(ValidationError, match="which is the maximum"):
        groups.add_case(group=group, case=make_case(1, owner=owner))
    groups.add_case(group=group, case=group.cases.get())


def test_change_and_delete_keep_the_cases(owner, markets):
    group = make_group(owner, *markets)
    groups.change(group=group, name="Regions", weighting="queries")
    with pytest.raises(ValidationError):
        groups.change(group=group, name="", weighting="queries")
    groups.remove_case(group=group, case_id=markets[0].pk)
    assert [row.case for row in read(group, owner)[1].rows] == [markets[1]]
    groups.delete(group=group, by=group.owner)
    assert {case.pk for case in cases.find_cases(owner)} == {case.pk for case in markets}
