"""A run against the best order that today's ratings allow."""

import pytest
from django.core.exceptions import ValidationError

from relevancy import comparison, ratings, scores
from relevancy.models import CaseQuery, Query, QueryScore, ScorerVersion
from tests.comparison.conftest import run_with
from tests.factories import make_case, make_scorer, query_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script", "data_dir")]
LISTS = {"query 1": "ab", "query 2": "xab", "query 3": "xyz", "query 4": "ab"}


@pytest.fixture
def run(case):
    """Of the fixture's queries, the first is at its best, the second has its documents too far down, and the third none of them."""
    return run_with(case, LISTS)


def version_of(case, position=0):
    return ScorerVersion.objects.used_by(case)[position]


def test_a_query_gains_what_its_best_order_scores_more(case, run):
    result = comparison.compare_with_ideal(run, version_of(case))
    assert [(row.score_a, row.score_b, row.difference) for row in result.rows] == [
        (100, 100, 0),
        (0, 100, 100),
        (0, 100, 100),
        (None, None, None),
    ]
    assert (result.score, result.ideal, result.gain) == pytest.approx((100 / 3, 100, 200 / 3))
    assert (result.queries, result.at_best, result.left_out) == (3, 1, ["query 4"])
    assert result.carriers == ["query 2", "query 3"]
    assert [row.text for row in result.gaining] == ["query 2", "query 3"]
    assert "would score 100.0 instead of 33.3: 66.7 points can be gained on 3 queries" in result.sentence


def test_the_mean_gain_is_weighted_and_left_out_queries_do_not_count(case, run):
    CaseQuery.objects.filter(query__text="query 1").update(weight=3)
    CaseQuery.objects.filter(query__text="query 3").update(weight=0)
    scores.case_changed(case.pk)
    result = comparison.compare_with_ideal(run, version_of(case))
    assert result.gain == pytest.approx(25)
    assert result.left_out == ["query 3", "query 4"]


def test_a_gain_is_split_into_order_and_documents(case, run):
    """nDCG@10 of grades 3 and 1: with both in the list, a better order gains all; with neither, other documents do."""
    result = comparison.compare_with_ideal(run, version_of(case, 1))
    by_text = {row.text: row for row in result.rows}
    splits = comparison.split_gains(run, result.version, result.rows)
    order, documents = splits[by_text["query 2"].query_id], splits[by_text["query 3"].query_id]
    assert order.by_order == pytest.approx(by_text["query 2"].difference)
    assert order.by_documents == pytest.approx(0)
    assert (documents.by_order, documents.by_documents) == pytest.approx((0, 100))
    assert by_text["query 4"].query_id not in splits


def test_a_gain_of_both_kinds_adds_up(case):
    """`b` has grade 1: first it gains points, and the rest is up to `a`, which was not returned."""
    run = run_with(case, {**LISTS, "query 1": "xb"})
    result = comparison.compare_with_ideal(run, version_of(case, 1))
    row = result.rows[0]
    split = comparison.split_gains(run, result.version, [row])[row.query_id]
    ideal = 7 + 1 / 1.584962500721156  # gains 2³ − 1 and 2¹ − 1, discounts log2(rank + 1)
    assert row.score_a == pytest.approx(100 / 1.584962500721156 / ideal)
    assert split.by_order == pytest.approx(100 / ideal - row.score_a)
    assert split.by_order + split.by_documents == pytest.approx(row.difference)


def test_documents_of_one_grade_keep_their_order_and_repeats_count_once():
    assert comparison.best_order("xabcab", {"a": 1, "b": 1, "c": 3}) == ["c", "a", "b", "x"]


def test_tags_that_can_gain_most_come_first(case, run):
    for text, tags in (("query 1", ["good"]), ("query 2", ["both", "order"]), ("query 3", ["both"])):
        Query.objects.filter(pk=query_of(case, text).pk).update(tags=tags)
    result = comparison.compare_with_ideal(run, version_of(case))
    assert [(tag.tag, tag.queries, tag.gain, tag.share) for tag in result.tags] == [
        ("both", 2, 100, 1.0),
        ("order", 1, 100, 0.5),
        ("good", 1, 0, 0.0),
    ]


def test_a_run_at_its_best_has_nothing_to_gain(case):
    result = comparison.compare_with_ideal(run_with(case, dict.fromkeys(LISTS, "ab")), version_of(case))
    assert "has the best order" in result.sentence
    assert result.carriers == []


def test_without_ratings_there_is_nothing_to_compare():
    case = make_case(2, {}, measures=("P@1",))
    result = comparison.compare_with_ideal(run_with(case, {"query 1": "ab", "query 2": "ab"}), version_of(case))
    assert (result.gain, result.details, result.tags) == (None, [], [])
    assert "nothing to compare" in result.sentence


def test_a_rating_moves_the_best_order(case, run):
    ratings.rate(query=query_of(case, "query 4"), doc_id="new", value=3, by=case.owner)
    scores.rescore_run(run)
    result = comparison.compare_with_ideal(run, version_of(case))
    assert result.left_out == []
    assert result.rows[3].difference == 100
    assert any("3 documents that the scorer considers" in sentence for sentence in result.details)


def test_scripts_and_unfinished_runs_are_refused(case, run):
    script = make_scorer("", "count", script="setScore(1)").versions.get()
    with pytest.raises(ValidationError, match="is a script, so its best order is not known"):
        comparison.compare_with_ideal(run, script)
    run.status = run.Status.RUNNING
    with pytest.raises(ValidationError, match="is not finished"):
        comparison.compare_with_ideal(run, version_of(case))


def test_few_statements(case, run, django_assert_num_queries):
    version = version_of(case)
    with django_assert_num_queries(2):
        result = comparison.compare_with_ideal(run, version)
    with django_assert_num_queries(4):
        comparison.split_gains(run, version, result.rows)
    assert QueryScore.objects.filter(run=run, version=version).count() == 4
