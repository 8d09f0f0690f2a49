"""What a run can gain with the best order that today's ratings allow."""

import numpy as np
import pytest
from django.core.exceptions import ValidationError

from relevancy import comparison, ratings, scores
from relevancy.models import CaseQuery, Query, QueryScore, ScorerVersion
from tests.comparison.conftest import figures_of, run_with
from tests.factories import make_case, make_scorer, query_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script", "data_dir")]
LISTS = {"query 1": "ab", "query 2": "xab", "query 3": "xyz", "query 4": "ab"}


@pytest.fixture
def run(case):
    """Of the fixture's queries, the first is at its best, the second has its documents too far down, and the third none of them."""
    return run_with(case, LISTS)


def version_of(case, position=0):
    return ScorerVersion.objects.used_by(case)[position]


def gain_of(run, version):
    return comparison.find_gain(comparison.read_score_table([run], version).present)


def points_of(run, version):
    table = comparison.read_score_table([run], version)
    return dict(zip(table.query_ids, np.hstack([table.scores, table.best]).tolist(), strict=True))


def test_a_run_gains_what_the_best_orders_score_more(case, run):
    table = comparison.read_score_table([run], version_of(case))
    assert (table.scores[:, 0].tolist(), table.best[:, 0].tolist()) == ([100, 0, 0], [100, 100, 100])
    gain = comparison.find_gain(table.present)
    assert (gain.score, gain.best, gain.points) == pytest.approx((100 / 3, 100, 200 / 3))
    assert (gain.queries, gain.at_best, table.left_out) == (3, 1, ["query 4"])
    assert gain.carriers == ["query 2", "query 3"]
    assert gain.describe("Run 1") == [
        "With the best order that today’s ratings allow, Run 1 would score 100.0 instead of 33.3: 66.7 points can be gained on 3 "
        "queries.",
        "2 queries make up 80 % of that.",
    ]


def test_the_mean_gain_is_weighted_and_left_out_queries_do_not_count(case, run):
    CaseQuery.objects.filter(query__text="query 1").update(weight=3)
    CaseQuery.objects.filter(query__text="query 3").update(weight=0)
    scores.case_changed(case.pk)
    gain = gain_of(run, version_of(case))
    assert (gain.points, gain.queries, gain.carriers) == (pytest.approx(25), 2, ["query 2"])


def test_linked_queries_carry_a_gain_together(case, run):
    query, other = query_of(case, "query 2"), query_of(case, "query 3")
    link = type(query).link.field.related_model.objects.create(book=case.book)
    Query.objects.filter(pk__in=[query.pk, other.pk]).update(link=link)
    assert gain_of(run, version_of(case)).carriers == ["query 2 (and 1 linked)"]


def test_the_gain_of_a_run_in_a_comparison_counts_the_compared_queries(case, run):
    """Query 1 failed in the other run, so that it is not compared."""
    other = run_with(case, {**LISTS, "query 1": ""})
    other.rankings.filter(query__text="query 1").update(error_kind="refused")
    other.query_scores.filter(query__text="query 1").update(score=None)
    figures = figures_of([other, run], version_of(case))
    assert figures.comparison.table.left_out == ["query 1", "query 4"]
    gains = [comparison.find_gain(figures.comparison.table.present, position) for position in (0, 1)]
    assert [(gain.queries, gain.points) for gain in gains] == [(2, 100), (2, 100)]
    rows = {row.text: row for row in comparison.list_rows(figures)}
    assert [rows[f"query {number}"].gain for number in (1, 2, 3, 4)] == [0, 100, 100, None]


def test_a_gain_is_split_into_order_and_documents(case, run):
    """nDCG@10 of grades 3 and 1: with both in the list, a better order gains all; with neither, other documents do."""
    version = version_of(case, 1)
    points = points_of(run, version)
    splits = comparison.split_gains(run, version, points)
    second, third, fourth = (query_of(case, f"query {number}").pk for number in (2, 3, 4))
    score, best = points[second]
    assert (splits[second].by_order, splits[second].by_documents) == pytest.approx((best - score, 0))
    assert (splits[third].by_order, splits[third].by_documents) == pytest.approx((0, 100))
    assert fourth not in splits


def test_a_gain_of_both_kinds_adds_up(case):
    """`b` has grade 1: first it gains points, and the rest is up to `a`, which was not returned."""
    run = run_with(case, {**LISTS, "query 1": "xb"})
    version, query = version_of(case, 1), query_of(case, "query 1").pk
    score, best = points_of(run, version)[query]
    split = comparison.split_gains(run, version, {query: (score, best)})[query]
    ideal = 7 + 1 / 1.584962500721156  # gains 2³ − 1 and 2¹ − 1, discounts log2(rank + 1)
    assert score == pytest.approx(100 / 1.584962500721156 / ideal)
    assert split.by_order == pytest.approx(100 / ideal - score)
    assert split.by_order + split.by_documents == pytest.approx(best - score)


def test_documents_of_one_grade_keep_their_order_and_repeats_count_once():
    assert comparison.best_order("xabcab", {"a": 1, "b": 1, "c": 3}) == ["c", "a", "b", "x"]


def test_tags_have_what_their_queries_can_gain(case, run):
    for text, tags in (("query 1", ["good"]), ("query 2", ["both", "order"]), ("query 3", ["both"])):
        Query.objects.filter(pk=query_of(case, text).pk).update(tags=tags)
    figures = figures_of([run_with(case, LISTS), run], version_of(case))
    assert [(tag.tag, tag.queries, tag.gain) for tag in figures.comparison.tags] == [
        ("both", 2, 100),
        ("good", 1, 0),
        ("order", 1, 100),
    ]


def test_a_run_at_its_best_has_nothing_to_gain(case):
    gain = gain_of(run_with(case, dict.fromkeys(LISTS, "ab")), version_of(case))
    assert gain.describe("Run 1") == ["Run 1 has the best order that today’s ratings allow: 100.0 on 3 queries."]
    assert gain.carriers == []


def test_without_ratings_nothing_is_known():
    case = make_case(2, {}, measures=("P@1",))
    gain = gain_of(run_with(case, {"query 1": "ab", "query 2": "ab"}), version_of(case))
    assert (gain.points, gain.queries) == (None, 0)
    assert "no query with a score and a known best order" in gain.describe("Run 1")[0]


def test_a_rating_moves_the_best_order(case, run):
    ratings.rate(query=query_of(case, "query 4"), doc_id="new", value=3, by=case.owner)
    scores.rescore_run(run)
    table = comparison.read_score_table([run], version_of(case))
    assert table.left_out == []
    assert (table.scores[3, 0], table.best[3, 0]) == (0, 100)


def test_the_best_order_of_a_script_is_not_known(case, run):
    script = make_scorer("", "count", script="setScore(1)").versions.get()
    with pytest.raises(ValidationError, match="is a script, so its best order is not known"):
        comparison.check_best_order(script)
    scores.rescore_run(run, [script])
    assert gain_of(run, script).points is None


def test_few_statements(case, run, django_assert_num_queries):
    version = version_of(case)
    with django_assert_num_queries(2):
        comparison.read_score_table([run], version)
    points = points_of(run, version)
    with django_assert_num_queries(5):
        comparison.split_gains(run, version, points)
    assert QueryScore.objects.filter(run=run, version=version).count() == 4
