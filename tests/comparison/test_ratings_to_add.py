"""What to rate next: against the difference after each rating, one at a time."""

import pytest

from relevancy import comparison, ratings
from relevancy.comparison import ratings_to_add
from relevancy.models import ScorerVersion
from tests.factories import make_case, make_scorer, make_user, query_of

from .conftest import figures_of, run_with

pytestmark = pytest.mark.django_db
RATINGS = {"query 1": {"a": 3, "b": 2}, "query 2": {"a": 2}, "query 3": {"a": 3, "b": 1}}
BEFORE = {"query 1": "xab", "query 2": "axy", "query 3": "ab"}
AFTER = {"query 1": "abz", "query 2": "yxa", "query 3": "ab"}


def primary(case):
    return ScorerVersion.objects.used_by(case)[0]


@pytest.mark.parametrize("measure", ["nDCG@3", "AP@3", "RBP@3", "DCG@3"])
def test_documents_change_the_difference_by_as_much_as_stated(script, measure):
    case = make_case(3, RATINGS, measures=(measure,))
    case.case_queries.filter(query__text="query 1").update(weight=2)
    runs = [run_with(case, BEFORE), run_with(case, AFTER)]
    version, rater = primary(case), make_user()
    figures = figures_of(runs, version)
    plan = figures.plans[0]
    now = figures.comparison.pairs[0].difference
    changes = {}
    for text, doc_id in (("query 1", "x"), ("query 1", "z"), ("query 2", "x"), ("query 2", "y")):
        reached = []
        for grade in (0, 3):
            ratings.rate(query=query_of(case, text), doc_id=doc_id, value=grade, by=rater)
            reached.append(abs(comparison.compare(runs=runs, version=version).pairs[0].difference - now))
        ratings.remove(query=query_of(case, text), doc_ids=[doc_id], by=rater)
        changes[query_of(case, text).pk, doc_id] = max(reached)
    assert {(item.query_id, item.doc_id): item.change for item in plan.documents} == pytest.approx(
        {key: change for key, change in changes.items() if change > 1e-9}
    )
    assert [item.change for item in plan.documents] == sorted((item.change for item in plan.documents), reverse=True)
    ranks = {(item.query_id, item.doc_id): (item.rank_a, item.rank_b) for item in plan.documents}
    assert ranks[query_of(case, "query 1").pk, "x"] == (1, None)
    assert ranks[query_of(case, "query 2").pk, "y"] == (3, 1)
    low, high = figures.comparison.pairs[0].bounds
    assert plan.width == pytest.approx(high - low)
    for query_id, doc_id in ranks:
        query = case.book.queries.get(pk=query_id)
        ratings.rate(query=query, doc_id=doc_id, value=3, by=rater)
    low, high = figures_of(runs, version).comparison.pairs[0].bounds
    assert high - low <= plan.width_after + 1e-9
    assert plan.width_after < plan.width


def test_the_search_ends_once_no_other_query_can_change_more(script, monkeypatch):
    texts = [f"query {number}" for number in range(1, 7)]
    case = make_case(texts, {text: {"a": 3} for text in texts}, measures=("P@1",))
    runs = [run_with(case, dict.fromkeys(texts, "a")), run_with(case, dict.fromkeys(texts, "xa"))]
    all_of_them = figures_of(runs, primary(case)).plans[0].documents
    assert len(all_of_them) == 6
    monkeypatch.setattr(ratings_to_add, "BATCH", 1)
    monkeypatch.setattr(ratings_to_add, "MAX_LISTED", 2)
    tried = []
    original = ratings_to_add.RatingPlanner.try_documents
    monkeypatch.setattr(
        ratings_to_add.RatingPlanner,
        "try_documents",
        lambda self, query_ids: tried.append(query_ids) or original(self, query_ids),
    )
    assert figures_of(runs, primary(case)).plans[0].documents == all_of_them[:2]
    assert len(tried) == 2


def test_no_plan_if_nothing_is_unrated_and_for_scorers_without_bounds(script):
    case = make_case(1, {"query 1": {"a": 3, "b": 0}}, measures=("P@2",))
    runs = [run_with(case, {"query 1": "ab"}), run_with(case, {"query 1": "ba"})]
    assert figures_of(runs, primary(case)).plans == [None]
    runs.append(run_with(case, {"query 1": "xa"}))
    assert [plan is None for plan in figures_of(runs, primary(case)).plans] == [True, False]
    for version in (make_scorer("AvgEdit").versions.get(), make_scorer("", script="setScore(50)").versions.get()):
        assert figures_of(runs, version).plans == [None, None]
