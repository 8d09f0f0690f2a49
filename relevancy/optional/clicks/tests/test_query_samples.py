"""Samples of a log that are added to a case: weights, and the case score that they lead to."""

import io

import numpy as np
import pytest

from relevancy import queries, scores
from relevancy.formats.errors import BadFile
from relevancy.models import CaseQuery, CaseScore
from relevancy.optional.clicks.log_formats import read_log
from relevancy.optional.clicks.query_samples import describe_mean, sample_log
from relevancy.optional.clicks.weights import add_weighted
from tests.factories import make_attempt, make_case, run_now

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("script")]
COUNTS = {"q1": 60, "q2": 10, "q3": 10, "q4": 10, "q5": 10}


def log_of(counts):
    rows = "".join(f"{text},{count}\n" for text, count in counts.items())
    return read_log(io.BytesIO(f"query,count\n{rows}".encode()))


def sample_of(case, counts=COUNTS, *, method="frequency", size=3, seed=1):
    with log_of(counts) as log:
        return sample_log(case=case, log=log, method=method, size=size, seed=seed)


def add_sample(*, case, sample, only_these=False):
    add_weighted(case=case, weights=sample.weights, only_these=only_these)


def weights_of(case):
    return dict(case.case_queries.present().values_list("query__text", "weight"))


def test_sample_is_added_with_its_weights():
    case = make_case(0)
    sample = sample_of(case)
    assert (sample.total_queries, sample.total_searches, sample.design.certain) == (5, 100, 1)
    assert sample.drawn[0].text == "q1"
    assert (sample.change.added, sample.change.others) == (3, 0)
    assert not CaseQuery.objects.filter(case=case).exists()
    add_sample(case=case, sample=sample)
    assert sorted(weights_of(case).values()) == [0.6, 0.6, 1.8]
    assert weights_of(case)["q1"] == 1.8
    assert case.case_queries.order_by("position").first().query.text == "q1"


def test_queries_of_the_case_get_the_weight_of_the_sample():
    case = make_case(["q1", "gone", "other", "zero"])
    gone = case.case_queries.get(query__text="gone")
    queries.remove(case_query=gone)
    case.case_queries.filter(query__text="zero").update(weight=0)
    sample = sample_of(case, {"q1": 5, "gone": 5}, size=2)
    assert (sample.change.added, sample.change.reweighted, sample.change.unchanged, sample.change.others) == (
        1,
        0,
        1,
        1,
    )
    assert "another query with a weight" in describe_mean(sample=sample, method="frequency", only_these=False)
    assert "without bias" in describe_mean(sample=sample, method="frequency", only_these=True)
    add_sample(case=case, sample=sample, only_these=True)
    assert weights_of(case) == {"q1": 1, "gone": 1, "other": 0, "zero": 0}


def test_removed_queries_keep_their_weight():
    case = make_case(["other", "q1"])
    other = case.case_queries.get(query__text="other")
    queries.remove(case_query=other)
    add_sample(case=case, sample=sample_of(case), only_these=True)
    other.refresh_from_db()
    assert other.weight == 1


def test_case_score_is_the_weighted_mean_and_estimates_all_searches():
    """q1 scores 100 and has 60 % of the searches, the others score 0: every sample of three gives 60."""
    ratings = {text: {"a" if text == "q1" else "z": 3} for text in COUNTS}
    case = make_case(list(COUNTS), ratings, measures=["P@1"])
    case.case_queries.all().delete()
    add_sample(case=case, sample=sample_of(case))
    run = run_now(make_attempt(case))
    score = CaseScore.objects.get(run=run).score
    assert score == pytest.approx(60)
    shares = np.array([COUNTS[text] for text in weights_of(case)])
    assert score != pytest.approx(100 * shares[0] / shares.sum())  # what the counts as weights would give


def test_scores_are_stale_after_weights_have_changed():
    case = make_case(["q1", "q2"], {"q1": {"a": 3}, "q2": {"z": 3}}, measures=["P@1"])
    run = run_now(make_attempt(case))
    assert CaseScore.objects.get(run=run).score == 50
    add_sample(case=case, sample=sample_of(case, {"q1": 30, "q2": 10}, size=2))
    scores.rescore_case(case, seconds=60)
    assert CaseScore.objects.get(run=run).score == 75


def test_uniform_sample_says_that_it_has_a_bias():
    case = make_case(0)
    sample = sample_of(case, method="uniform")
    text = describe_mean(sample=sample, method="uniform", only_these=False)
    assert "with a bias" in text
    assert "7.5 points with 10 queries" in text
    assert sum(sample.weights.values()) == pytest.approx(3)


def test_log_without_searches():
    with pytest.raises(BadFile, match="no query"):
        sample_of(make_case(0), {"q1": 0})
