"""Ratings that were made for one run alone: the example of statistics.md, and against scores without these ratings."""

import numpy as np
import pytest

from relevancy import comparison, ratings
from relevancy.comparison.pool_bias import PoolBias
from relevancy.formats.reports import comparison_json
from relevancy.models import Rating, ScorerVersion
from tests.factories import make_case, make_scorer, query_of, run_now

from .conftest import figures_of, run_with

LISTS = {"query 1": "xab", "query 2": "ab", "query 3": "ay"}


def primary(case):
    return ScorerVersion.objects.used_by(case)[0]


def test_without_the_ratings_made_for_attempt_7_it_would_score_61_instead_of_68():
    bias = PoolBias.build(np.array([0, 3]), np.array([86.0, 50]), np.array([86.0, 36]), np.array([1.0, 1]))
    assert bias == PoolBias(documents=3, queries=2, score=68, score_without=61)
    assert bias.gain == 7


def test_queries_without_a_score_and_weights():
    bias = PoolBias.build(np.array([1, 2]), np.array([80.0, 40]), np.array([np.nan, 30]), np.array([3.0, 1]))
    assert bias == PoolBias(documents=3, queries=1, score=40, score_without=30)
    weighted = PoolBias.build(np.array([0, 2]), np.array([80.0, 40]), np.array([80.0, 20]), np.array([3.0, 1]))
    assert (weighted.score, weighted.score_without) == (70, 65)
    nothing = PoolBias.build(np.array([1.0]), np.array([80.0]), np.array([np.nan]), np.array([1.0]))
    assert (nothing.score, nothing.score_without, nothing.gain) == (None, None, 0)


@pytest.fixture
def rated(script):
    """`a` is in both runs, `b` and `y` only in the first one, `z` and `x` only in the second one; y and x are unrated."""
    ratings = {"query 1": {"a": 1, "b": 3, "z": 3}, "query 2": {"a": 2, "b": 3}, "query 3": {"a": 3, "z": 2}}
    case = make_case(3, ratings, measures=("nDCG@2",))
    runs = [
        run_with(case, {"query 1": "ab", "query 2": "ba", "query 3": "ay"}),
        run_with(case, {"query 1": "za", "query 2": "xa", "query 3": "az"}),
    ]
    return case, runs


@pytest.mark.django_db
@pytest.mark.parametrize("own", [0, 1])
def test_score_without_own_ratings_is_that_after_they_are_removed(rated, own):
    case, runs = rated
    figures = figures_of(runs, primary(case))
    bias = figures.pool[own]
    assert bias.documents == 2
    assert bias.score == pytest.approx(figures.comparison.means[own])
    removed = [("query 1", "b"), ("query 2", "b")] if own == 0 else [("query 1", "z"), ("query 3", "z")]
    for text, doc_id in removed:
        ratings.remove(query=query_of(case, text), doc_ids=[doc_id], by=Rating.objects.first().rater)
    assert comparison.compare(runs=runs, version=primary(case)).means[own] == pytest.approx(bias.score_without)


@pytest.mark.django_db
def test_what_other_kept_runs_returned_is_not_made_for_one_run(rated):
    case, runs = rated
    run_now(runs[1].attempt)  # the same attempt again: not another run that contributed
    assert figures_of(runs, primary(case)).pool[1].documents == 2
    run_with(case, {"query 1": "qz", "query 2": "q", "query 3": "qqqz"})  # among the first two for query 1 only
    assert [bias.documents for bias in figures_of(runs, primary(case)).pool] == [2, 1]


@pytest.mark.django_db
def test_rated_documents_are_those_of_all_queries_and_own_ones_of_compared_queries(rated):
    case, runs = rated
    case.case_queries.filter(query__text="query 2").update(weight=0)
    first = comparison_json.build_comparison(figures_of(runs, primary(case)))["runs"][0]
    assert (first["documents"], first["rated"], first["own_rated"]) == (6, 5, 1)


@pytest.mark.django_db
def test_page_json_and_command_say_whom_ratings_favour(script):
    case = make_case(2, {"query 1": {"a": 3, "b": 2}, "query 2": {"a": 3}}, measures=("CG@2",))
    runs = [run_with(case, {"query 1": "ba", "query 2": "a"}), run_with(case, {"query 1": "ax", "query 2": "a"})]
    figures = figures_of(runs, primary(case))
    summary = comparison.summarize_pair(figures, 1)
    listed = comparison.list_figures(figures, 1, comparison.list_rows(figures))
    first, second = figures.pool
    assert (first.documents, second.documents, second.gain) == (1, 0, 0)
    assert (
        f"Without the ratings of the 1 document that only Run 1 returned, it would score {first.score_without:.1f} "
        in next(figure.text for figure in listed if figure.key == "pool")
    )
    (warning,) = [warning for warning in summary.warnings if "favour" in warning]
    assert warning == (
        "1 rated document stands only in the results of Run 1 and none only in those of Run 2, which has 1 unrated: the ratings "
        "favour Run 1."
    )
    data = comparison_json.build_comparison(figures)
    assert data["runs"][0] == data["runs"][0] | {
        "run": runs[0].pk,
        "score": figures.comparison.means[0],
        "k": 2,
        "documents": 3,
        "rated": 3,
        "own_rated": 1,
        "own_queries": 2,
        "score_with_own": first.score,
        "score_without_own": first.score_without,
    }
    assert data["pairs"][0]["bounds"] == list(figures.comparison.pairs[0].bounds)


@pytest.mark.django_db
def test_scripts_count_documents_and_have_no_score_without_them(rated):
    _, runs = rated
    version = make_scorer("", "script", script="setScore(50)").versions.get()
    bias = figures_of(runs, version).pool[1]
    assert (bias.documents, bias.score_without) == (2, None)
