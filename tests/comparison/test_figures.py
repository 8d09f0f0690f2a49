"""What the verdict knows of documents that nobody has rated, and of queries that are not compared."""

import pytest

from relevancy import comparison
from relevancy.comparison import stored
from relevancy.models import ScorerVersion
from relevancy.statistics import Verdict
from tests.factories import make_case

from .conftest import figures_of, run_with

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]
TEXTS = [f"query {number}" for number in range(1, 31)]
RATED = {text: {"a": 3, "b": 3} for text in TEXTS}


def compare_lists(before, after, *, measure="P@1", ratings=RATED, texts=TEXTS):
    case = make_case(texts, ratings, measures=(measure,))
    runs = [run_with(case, {**dict.fromkeys(texts, "ab"), **lists}) for lists in (before, after)]
    (pair,) = figures_of(runs, ScorerVersion.objects.used_by(case)[0]).comparison.pairs
    return pair


def test_everything_rated_is_settled():
    pair = compare_lists({}, dict.fromkeys(TEXTS, "ba"))
    assert (pair.outlook.low, pair.outlook.high, pair.outlook.rated) == (0, 0, 1)
    assert pair.verdict is Verdict.SAME


def test_unrated_documents_could_reverse_it():
    """Both runs have an unrated document first: all scores are 0, and each could be 100."""
    pair = compare_lists(dict.fromkeys(TEXTS, "xa"), dict.fromkeys(TEXTS, "ya"))
    assert (pair.outlook.low, pair.outlook.high, pair.outlook.rated) == (-100, 100, 0)
    assert pair.verdict is Verdict.UNRATED
    assert "Too little is rated to say: 0 %" in comparison.describe_verdict(pair)


def test_unrated_documents_of_the_same_results_cannot_reverse_it():
    pair = compare_lists(dict.fromkeys(TEXTS, "xa"), dict.fromkeys(TEXTS, "xa"))
    assert (pair.outlook.low, pair.outlook.high) == (0, 0)
    assert pair.verdict is Verdict.SAME


@pytest.mark.parametrize(("after", "verdict"), [("yx", Verdict.UNRATED), ("xy", Verdict.SAME)])
def test_a_query_that_is_not_compared_could_reverse_it(after, verdict):
    """Nothing is rated for the last of 31 queries. It could move the difference by 100/31, unless its results are the same."""
    pair = compare_lists({"last": "xy"}, {"last": after}, texts=[*TEXTS, "last"])
    assert len(pair.by_query) == 30
    assert pair.outlook.high == pytest.approx(100 / 31 if verdict is Verdict.UNRATED else 0)
    assert pair.verdict is verdict


def test_a_query_without_anything_relevant_that_is_all_rated_cannot_reverse_it():
    ratings = {**RATED, "last": {"x": 0, "y": 0}}
    pair = compare_lists({"last": "xy"}, {"last": "yx"}, measure="nDCG@10", ratings=ratings, texts=[*TEXTS, "last"])
    assert len(pair.by_query) == 30
    assert (pair.outlook.low, pair.outlook.high, pair.verdict) == (0, 0, Verdict.SAME)


@pytest.mark.parametrize(("unrated", "verdict"), [("", Verdict.SAME), ("x", Verdict.UNRATED)])
def test_scorers_without_bounds_know_what_is_unrated(unrated, verdict):
    lists = dict.fromkeys(TEXTS, f"ab{unrated}"), dict.fromkeys(TEXTS, f"ba{unrated}")
    pair = compare_lists(*lists, measure="AvgEdit")
    assert pair.verdict is verdict


def test_the_outlook_is_stored():
    case = make_case(TEXTS, RATED, measures=("P@1",))
    runs = [run_with(case, dict.fromkeys(TEXTS, letters)) for letters in ("xa", "ya")]
    version = ScorerVersion.objects.used_by(case)[0]
    stored.compute(stored.find_or_create(runs=runs, version=version).pk)
    computed = stored.find_or_create(runs=runs, version=version)
    (pair,) = stored.load(computed, runs).comparison.pairs
    assert (pair.outlook, pair.verdict) == (figures_of(runs, version).comparison.pairs[0].outlook, Verdict.UNRATED)
