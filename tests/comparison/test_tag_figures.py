"""The comparison of runs for each tag: against other computations, and kept in step with the tags."""

import itertools

import numpy as np
import pytest

from relevancy import comparison, queries
from relevancy.comparison import compare_tags, stored
from relevancy.comparison.score_tables import PresentScores, ScoreTable
from relevancy.formats.reports import comparison_json
from relevancy.models import ScorerVersion
from tests.factories import make_case, query_of

from .conftest import run_with
from .oracle import interval

TWELVE = [0, 0, 5, 12, -3, 0, 8, 0, 0, 20, -1, 0]  # the example of statistics.md


def table_of(scores, tags, weights=None):
    scores = np.array(scores, dtype=float)
    count = len(scores)
    weights = np.ones(count) if weights is None else np.array(weights, dtype=float)
    texts = [f"query {number}" for number in range(count)]
    return ScoreTable.build(
        PresentScores(list(range(count)), texts, weights, scores, np.full_like(scores, np.nan), tags)
    )


def test_a_tag_of_all_queries_has_the_figures_of_the_worked_example():
    table = table_of([[50, 50 + d] for d in TWELVE], [["all"]] * 12)
    (result,) = compare_tags(table, 2)
    assert result.difference == pytest.approx(3.4166667)
    assert result.p == result.p_holm == 0.125
    assert (result.interval.low, result.interval.high) == pytest.approx((-0.8794707, 9.1629421))
    assert not result.interval.is_reliable
    assert (result.queries, result.wins, result.ties, result.losses) == (12, 4, 6, 2)
    assert (result.score_a, result.score_b) == pytest.approx((50, 53.4166667))


def test_figures_of_tags_agree_with_the_oracle_and_with_all_patterns_of_signs():
    generator = np.random.default_rng(12)
    scores = generator.uniform(0, 100, (24, 2))
    names = ["brand", "long", "typo"]
    tags = [[name for name in names if generator.random() < 0.5] for _ in range(24)]
    result = compare_tags(table_of(scores, tags), 2)
    assert [item.tag for item in result] == names
    exact = []
    for item in result:
        d = np.array([after - before for (before, after), own in zip(scores, tags, strict=True) if item.tag in own])
        assert 7 <= len(d) <= 14
        assert [item.interval.low, item.interval.high] == pytest.approx(interval(d.tolist(), [1.0] * len(d)))
        sums = [abs(np.dot(signs, d)) for signs in itertools.product([1, -1], repeat=len(d))]
        exact.append(np.mean(np.array(sums) >= abs(d.sum()) - 1e-9))
        assert item.p == pytest.approx(exact[-1])
    # Holm: the smallest p times three, the next times two, never below an earlier one.
    largest, by_tag = 0.0, dict(zip(names, exact, strict=True))
    for factor, name in zip((3, 2, 1), sorted(names, key=by_tag.__getitem__), strict=True):
        largest = max(largest, min(1.0, factor * by_tag[name]))
        assert next(item.p_holm for item in result if item.tag == name) == pytest.approx(largest)


def test_p_is_corrected_for_all_tags_and_runs_together():
    scores = [[50, 50 + d, 50 + 2 * d] for d in TWELVE]
    result = compare_tags(table_of(scores, [["all"]] * 12), 3)
    assert [(item.other, item.p) for item in result] == [(1, 0.125), (2, 0.125)]
    assert [item.p_holm for item in result] == [0.25, 0.25]


def test_weights_count_and_a_single_query_has_no_p():
    (both, single) = compare_tags(table_of([[0, 10], [0, 40]], [["a both"], ["a both", "b one"]], [3, 1]), 2)
    assert both.difference == pytest.approx(17.5)
    assert (single.difference, single.p, single.p_holm, single.interval) == (40, None, None, None)


def test_a_tag_with_too_few_queries_for_p_ever_to_be_below_alpha_is_not_tested():
    """Five queries have a p of .062 at best. The six others are corrected for one test, not for two."""
    tags = [["five"]] * 5 + [["six"]] * 6
    five, six = compare_tags(table_of([[0, 10 + number] for number in range(11)], tags), 2)
    assert (five.p, five.p_holm, five.interval, five.reason) == (None, None, None, "too few queries to tell")
    assert (six.p, six.p_holm, six.reason) == (0.03125, 0.03125, "")
    assert six.interval.low > 0


def test_tags_with_too_few_queries_after_the_correction_are_not_tested():
    tags = [["one", "other"]] * 6
    assert {item.reason for item in compare_tags(table_of([[0, 10]] * 6, tags), 2)} == {"too few queries to tell"}


def test_a_query_without_a_score_in_one_run_is_left_out_of_its_tag():
    table = table_of([[0, 10], [0, np.nan], [5, 5]], [["x"], ["x"], []])
    (result,) = compare_tags(table, 2)
    assert result.queries == 1


def test_no_tags_no_figures():
    assert compare_tags(table_of([[0, 10]], [[]]), 2) == []


LISTS = {"query 1": "xab", "query 2": "ab", "query 3": "xya", "query 4": "ab"}


def primary(case):
    return ScorerVersion.objects.used_by(case)[0]


@pytest.mark.django_db
def test_stored_figures_and_json_have_the_tags(case):
    queries.tags.add(book=case.book, queries=[query_of(case, f"query {number}").pk for number in (1, 3)], tags="brand")
    runs = [run_with(case, LISTS), run_with(case, dict.fromkeys(LISTS, "ab"))]
    result = stored.find_or_create(runs=runs, version=primary(case))
    stored.compute(result.pk)
    result = stored.find_or_create(runs=runs, version=primary(case))
    loaded = stored.load(result, runs)
    fresh = comparison.compare(runs=runs, version=primary(case))
    assert loaded.comparison.tags == fresh.tags
    (tag,) = comparison_json.build_comparison(loaded)["tags"]
    assert (tag["tag"], tag["a"], tag["b"], tag["queries"]) == ("brand", runs[0].pk, runs[1].pk, 2)
    assert (tag["difference"], tag["wins"], tag["ties"], tag["losses"]) == (100, 2, 0, 0)
    assert (tag["p_randomisation"], tag["p_holm"], tag["interval"]) == (None, None, None)
    assert tag["reason"] == "too few queries to tell"


@pytest.mark.django_db
@pytest.mark.parametrize("how", ["add", "remove", "set", "edit"])
def test_stored_figures_are_out_of_date_once_tags_change(case, how):
    query = query_of(case, "query 1")
    queries.tags.set_tags(query=query, tags="old")
    other = make_case(0, book_of=case)
    queries.add(case=other, texts=["query 1"])
    runs = [run_with(case, LISTS), run_with(case, LISTS)]
    result = stored.find_or_create(runs=runs, version=primary(case))
    stored.compute(result.pk)
    assert stored.find_or_create(runs=runs, version=primary(case)).is_current
    if how == "add":
        queries.tags.add(book=case.book, queries=[query.pk], tags="new")
    elif how == "remove":
        queries.tags.remove(book=case.book, queries=[query.pk], tags="old")
    elif how == "set":
        queries.tags.set_tags(query=query, tags="new")
    else:  # in another case on the same book
        queries.edit(case_query=other.case_queries.get(), text="query 1", tags=["new"])
    assert not stored.find_or_create(runs=runs, version=primary(case)).is_current


def test_linked_queries_of_a_tag_count_once():
    links = [None, None, None, 7, None, None, 7, None, None, None, None, 8]
    scores = np.array([[50, 50 + d] for d in TWELVE], dtype=float)
    texts = [str(number) for number in range(12)]
    table = ScoreTable.build(PresentScores(list(range(12)), texts, np.ones(12), scores, scores, [["all"]] * 12, links))
    (result,) = compare_tags(table, 2)
    assert (result.queries, result.wins, result.p) == (12, 4, 0.25)
    assert (result.interval.low, result.interval.high) == pytest.approx((-1.2797704, 9.8259797), abs=5e-8)
