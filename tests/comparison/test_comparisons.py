import pytest
from django.core.exceptions import ValidationError

from relevancy import comparison, queries, ratings, scores
from relevancy.formats.reports import comparison_json
from relevancy.models import QueryScore, Run, ScorerVersion
from relevancy.statistics import Verdict
from tests.factories import make_case, make_user, query_of, rescore_query, run_now

from .conftest import figures_of, run_with

pytestmark = pytest.mark.django_db


def primary(case):
    return ScorerVersion.objects.used_by(case)[0]


@pytest.fixture
def runs(case):
    worse = {"query 1": "xab", "query 2": "ab", "query 3": "xya", "query 4": "ab"}
    return run_with(case, worse), run_with(case, dict.fromkeys(worse, "ab"))


def test_compare_uses_queries_scored_in_both(case, runs):
    result = comparison.compare(runs=runs, version=primary(case))
    assert result.table.texts == ["query 1", "query 2", "query 3"]
    assert result.table.left_out == ["query 4"]
    assert result.means == [pytest.approx(100 / 3), 100]
    pair = result.pairs[0]
    assert pair.difference == pytest.approx(200 / 3)
    assert (pair.paired.differences.wins, pair.paired.differences.ties, pair.paired.differences.losses) == (2, 1, 0)
    assert pair.carriers == ["query 1", "query 3"]
    assert pair.paired.p == 0.5  # of the eight sign patterns, four give a difference as large
    assert pair.verdict is Verdict.TOO_FEW


def test_compare_a_run_with_an_identical_one_is_zero_whatever_is_rated_meanwhile(case, runs):
    again = run_now(runs[1].attempt)
    rater = make_user()
    ratings.rate(query=query_of(case, "query 1"), doc_id="b", value=3, by=rater)
    ratings.rate(query=query_of(case, "query 4"), doc_id="b", value=2, by=rater)
    for version in ScorerVersion.objects.used_by(case):
        pair = comparison.compare(runs=[runs[1], again], version=version).pairs[0]
        assert pair.difference == 0
        assert len(pair.paired.differences) == 4
        (pair,) = figures_of([runs[1], again], version).comparison.pairs
        assert (pair.lists.jaccard, pair.lists.changed) == (1, 0)


def test_compare_scores_both_runs_with_the_newest_ratings(case, runs):
    ratings.rate(query=query_of(case, "query 1"), doc_id="x", value=3, by=make_user())
    result = comparison.compare(runs=runs, version=primary(case))
    assert result.means == [pytest.approx(200 / 3), 100]
    assert result.table.stale == 0


def test_compare_refuses_scores_of_different_ratings(case, runs, monkeypatch):
    QueryScore.objects.filter(run=runs[0]).update(revision=0)
    monkeypatch.setattr("relevancy.scores.continue_rescore", lambda run, versions, seconds: True)
    with pytest.raises(ValidationError, match="being changed"):
        comparison.compare(runs=runs, version=primary(case))


def test_compare_removed_queries_are_left_out_of_both(case, runs):
    case.case_queries.filter(query__text="query 1").update(removed_at="2026-01-01T00:00Z")
    result = comparison.compare(runs=runs, version=primary(case))
    assert result.table.texts == ["query 2", "query 3"]
    assert result.means == [50, 100]


def test_compare_weights_count(case, runs):
    case.case_queries.filter(query__text="query 2").update(weight=2)
    case.case_queries.filter(query__text="query 3").update(weight=0)
    result = comparison.compare(runs=runs, version=primary(case))
    assert result.table.left_out == ["query 3", "query 4"]
    assert result.means == [pytest.approx(200 / 3), 100]
    assert result.pairs[0].difference == pytest.approx(100 / 3)


def test_compare_and_the_workbench_leave_out_queries_of_weight_0(case, runs):
    """query 1 and query 3 are better in the second run, query 2 is the same; query 4 has no score."""
    version = primary(case)
    for weights in ({"query 1": 0}, {"query 1": 0, "query 2": 0}, {"query 1": 1, "query 2": 0, "query 4": 0}):
        for text, weight in weights.items():
            case.case_queries.filter(query__text=text).update(weight=weight)
        pair = comparison.compare(runs=runs, version=version).pairs[0]
        workbench = scores.compare_runs(runs[1], runs[0], version)
        counted = pair.paired.differences
        assert (workbench.compared, workbench.better, workbench.same, workbench.worse) == (
            len(counted),
            counted.wins,
            counted.ties,
            counted.losses,
        )
        assert workbench.difference == pytest.approx(pair.difference)
        assert workbench.newly_scored == workbench.no_longer_scored == 0
        listed = case.case_queries.present().with_scores(runs[1], version, runs[0])
        for condition, count in ((scores.IS_BETTER, workbench.better), (scores.IS_SAME, workbench.same)):
            assert listed.filter(condition).count() == count


def test_a_rating_of_a_query_of_weight_0_changes_no_count(case, runs):
    case.case_queries.filter(query__text="query 1").update(weight=0)
    version = primary(case)
    before = scores.store_comparison(runs[1], runs[0], version)
    ratings.rate(query=query_of(case, "query 1"), doc_id="x", value=3, by=case.owner)
    rescore_query(runs[1], query_of(case, "query 1").pk)
    stored = scores.stored_differences([(runs[1], runs[0])], version)
    fresh = scores.compare_runs(runs[1], runs[0], version)
    assert (fresh.compared, fresh.better, fresh.worse) == (before.compared, before.better, before.worse)
    for figures in stored.values():
        assert (figures.compared, figures.better, figures.worse) == (fresh.compared, fresh.better, fresh.worse)


def test_compare_three_runs_corrects_for_the_number_of_comparisons(case, runs):
    third = run_with(case, {"query 1": "ba", "query 2": "ba", "query 3": "ab"})
    result = comparison.compare(runs=[*runs, third], version=primary(case))
    assert [(pair.a, pair.b) for pair in result.pairs] == [(runs[0], runs[1]), (runs[0], third), (runs[1], third)]
    assert [pair.p_holm is None for pair in result.pairs] == [False, False, True]
    assert all(0 < pair.p_hsd <= 1 for pair in result.pairs)
    assert result.pairs[0].p_holm >= result.pairs[0].paired.p


def test_compare_runs_of_two_cases_on_one_book(case, runs):
    other = make_case(["query 1", "query 2", "own query"], book_of=case, owner=case.owner, measures=("P@1",))
    run = run_with(other, {"query 1": "ab", "query 2": "ba", "own query": "a"})
    result = comparison.compare(runs=[runs[0], run], version=primary(case))
    assert result.table.texts == ["query 1", "query 2"]
    assert figures_of([runs[0], run], primary(case)).comparison.pairs[0].lists.queries == 2


def test_compare_runs_without_a_shared_query(case, runs):
    other = make_case(["own query"], book_of=case, owner=case.owner, measures=("P@1",))
    result = comparison.compare(runs=[runs[0], run_with(other, {"own query": "a"})], version=primary(case))
    assert result.pairs[0].difference is None
    assert result.pairs[0].verdict is Verdict.TOO_FEW
    assert result.means == [None, None]
    assert result.warnings == []
    assert "none of their queries" in comparison.describe_verdict(result.pairs[0])


def test_compare_warns_of_shallow_and_incomplete_runs(case, runs):
    deep = ScorerVersion.objects.used_by(make_case(1, measures=("P@50",)))[0]
    Run.objects.filter(pk=runs[1].pk).update(status=Run.Status.INCOMPLETE, reason="The engine stopped.")
    fresh = list(Run.objects.filter(case=case).order_by("number"))
    warnings = comparison.compare(runs=fresh, version=deep).warnings
    assert sum("considers 50 results" in warning for warning in warnings) == 2
    assert any("The engine stopped." in warning for warning in warnings)


def test_compare_refuses(case, runs):
    version = primary(case)
    elsewhere = run_with(make_case(1), {"query 1": "a"})
    waiting = run_with(case, {})
    Run.objects.filter(pk=waiting.pk).update(status=Run.Status.RUNNING)
    waiting.refresh_from_db()
    for refused, message in [
        ([runs[0]], "Name two to 5 runs"),
        ([*runs] * 3, "Name two to 5 runs"),
        ([runs[0], runs[0]], "with itself"),
        ([runs[0], elsewhere], "same book"),
        ([runs[0], waiting], "not finished"),
    ]:
        with pytest.raises(ValidationError, match=message):
            comparison.compare(runs=refused, version=version)


def test_read_score_table_costs_few_statements(case, runs, django_assert_num_queries):
    version = primary(case)
    with django_assert_num_queries(2):
        comparison.read_score_table(runs, version)


def test_compare_result_lists(case, runs):
    lists = figures_of(runs, primary(case)).comparison.pairs[0].lists
    assert lists.queries == 4
    assert lists.jaccard == pytest.approx((2 / 3 + 1 + 1 / 4 + 1) / 4)
    assert (lists.changed, lists.changed_set) == (0.5, 0.5)


def test_compare_result_lists_leaves_out_failed_searches(case, runs):
    runs[0].rankings.filter(query__text="query 1").update(error_kind="refused", error="no")
    assert figures_of(runs, primary(case)).comparison.pairs[0].lists.queries == 3


@pytest.mark.parametrize(
    ("better", "words"), [(True, "is better than"), (False, "is worse than")], ids=["better", "worse"]
)
def test_describe_verdict(script, better, words):
    texts = [f"query {number}" for number in range(1, 31)]
    case = make_case(texts, {text: {"a": 3} for text in texts}, measures=("P@1",))
    low, high = (
        {text: ("ba" if number % 2 else "ab") for number, text in enumerate(texts)},
        dict.fromkeys(texts, "ab"),
    )
    first, second = (low, high) if better else (high, low)
    result = comparison.compare(runs=[run_with(case, first), run_with(case, second)], version=primary(case))
    sentence = comparison.describe_verdict(result.pairs[0])
    assert f"Run 2 {words} Run 1" in sentence
    assert ("+50.0 points" if better else "−50.0 points") in sentence
    assert "on the same 30 queries" in sentence
    assert "p < .001" in sentence


def test_describe_groups(script):
    texts = [f"query {number}" for number in range(1, 31)]
    case = make_case(texts, {text: {"a": 3} for text in texts}, measures=("P@1",))
    good, bad = dict.fromkeys(texts, "ab"), dict.fromkeys(texts, "xa")
    first, second, third = run_with(case, bad), run_with(case, good), run_with(case, {**good, "query 1": "xa"})
    version = primary(case)
    assert comparison.describe_groups(comparison.compare(runs=[first, second], version=version)) == []
    three = comparison.compare(runs=[first, second, third], version=version)
    assert comparison.describe_groups(three) == ["Among all pairs, Run 2 and Run 3 cannot be told apart."]
    between = run_with(case, {text: ("ab" if number < 15 else "xa") for number, text in enumerate(texts)})
    apart = comparison.compare(runs=[first, between, second], version=version)
    assert comparison.describe_groups(apart) == [
        "Among all pairs, each run differs from every other one by more than chance explains."
    ]
    case.case_queries.update(removed_at="2026-01-01T00:00Z")
    assert comparison.describe_groups(comparison.compare(runs=[first, second, third], version=version)) == []


def test_a_verdict_that_all_pairs_do_not_confirm_is_explained(script):
    """7 of 40 queries are better: p is below .05 if it is corrected for two comparisons, and above it among all pairs."""
    texts = [f"query {number}" for number in range(1, 41)]
    case = make_case(texts, {text: {"a": 3} for text in texts}, measures=("P@1",))
    base = {text: "ab" if number < 20 else "xa" for number, text in enumerate(texts)}
    better = {text: "ab" if number < 27 else "xa" for number, text in enumerate(texts)}
    swings = {text: "xa" if number < 20 else "ab" for number, text in enumerate(texts)}
    runs = [run_with(case, lists) for lists in (base, better, swings)]
    result = comparison.compare(runs=runs, version=primary(case))
    pair = result.pairs[0]
    assert pair.p_holm < 0.05 < pair.p_hsd
    sentences = comparison.describe_groups(result)
    assert any(sentence.startswith("The verdict on Run 2 stands all the same") for sentence in sentences)


def test_compare_counts_linked_queries_once(case, runs):
    """Queries 1 and 3, the only ones that differ, are variants of one: nothing is left to prove."""
    before = comparison.compare(runs=runs, version=primary(case))
    queries.link(queries=[query_of(case, "query 1"), query_of(case, "query 3")])
    result = comparison.compare(runs=runs, version=primary(case))
    pair = result.pairs[0]
    assert (len(result.table), result.table.independent) == (3, 2)
    assert result.means == before.means
    assert pair.difference == pytest.approx(before.pairs[0].difference)
    assert (pair.by_query.wins, pair.by_query.ties, pair.by_query.losses) == (2, 1, 0)
    assert pair.paired.p == 1  # both patterns of the sign of one unit
    assert pair.carriers == ["query 1 (and 1 linked)"]
    assert "3 queries, 2 independent." in comparison.describe_verdict(pair)
    three = comparison.compare(runs=[*runs, run_now(runs[1].attempt)], version=primary(case))
    assert three.pairs[0].p_hsd == 1
    queries.link(queries=[query_of(case, "query 1"), query_of(case, "query 2")])
    single = comparison.compare(runs=runs, version=primary(case)).pairs[0]
    assert "the 3 queries scored in both are variants of one" in comparison.describe_verdict(single)
    queries.unlink(query=query_of(case, "query 2"))
    # A single variant in the comparison is a query as any other.
    queries.remove(case_query=case.case_queries.get(query__text="query 3"))
    assert comparison.compare(runs=runs, version=primary(case)).table.units is None


def test_unlinking_restores_every_figure(case, runs):
    before = comparison_json.build_comparison(figures_of(runs, primary(case)))
    linked = [query_of(case, f"query {number}") for number in (1, 2, 3)]
    queries.link(queries=linked)
    assert comparison_json.build_comparison(figures_of(runs, primary(case))) != before
    queries.unlink(query=linked[0])
    queries.unlink(query=linked[1])
    assert comparison_json.build_comparison(figures_of(runs, primary(case))) == before


def test_check_drop_uses_independent_queries(case, runs):
    version = primary(case)
    before = comparison.check_drop(run=runs[1], baseline=runs[0], version=version, alpha=0.1)
    queries.link(queries=[query_of(case, "query 1"), query_of(case, "query 3")])
    after = comparison.check_drop(run=runs[1], baseline=runs[0], version=version, alpha=0.1)
    assert after.interval.high - after.interval.low > before.interval.high - before.interval.low
    assert "3 queries, 2 independent" in after.describe()
