"""The corrected case score: the worked example, its limits, and how often its interval contains the truth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from relevancy.optional.judge_models.statistics import correct_score, rank_correlation
from relevancy.statistics import StatisticsError

PEOPLE = [0.8, 0.4, 0.6, 1, 0.2, 0.5]
JUDGE = [0.9, 0.6, 0.6, 1, 0.5, 0.5]
OTHERS = [0.7, 0.9, 0.5, 0.8, 1, 0.6, 0.4, 0.9, 0.3, 0.8, 0.7, 0.6]


def test_worked_example() -> None:
    corrected = correct_score(PEOPLE, JUDGE, OTHERS)
    assert corrected is not None
    assert corrected.weight == pytest.approx(0.8701916, abs=1e-7)
    assert corrected.value == pytest.approx(0.5833333, abs=1e-7)
    assert corrected.standard_error == pytest.approx(0.0779538, abs=1e-7)
    assert (corrected.low, corrected.high) == (pytest.approx(0.3829467, abs=1e-7), pytest.approx(0.7837200, abs=1e-7))
    assert (corrected.sampled, corrected.others, corrected.is_reliable) == (6, 12, False)


def test_points_scale_the_result() -> None:
    points = [[100 * score for score in scores] for scores in (PEOPLE, JUDGE, OTHERS)]
    corrected = correct_score(*points)
    assert corrected is not None
    assert (corrected.value, corrected.weight) == (pytest.approx(58.33333, abs=1e-5), pytest.approx(0.8701916))


@pytest.mark.parametrize(
    ("judge", "others"),
    [
        (JUDGE, []),
        (JUDGE, [0.7]),
        ([0.5] * 6, [0.5] * 12),  # always the same score
        ([1 - score for score in PEOPLE], OTHERS),  # the opposite of people
    ],
)
def test_a_judge_that_says_nothing_about_people_has_no_weight(judge: list[float], others: list[float]) -> None:
    corrected = correct_score(PEOPLE, judge, others)
    assert corrected is not None
    assert corrected.weight == 0
    assert corrected.value == pytest.approx(np.mean(PEOPLE))
    assert corrected.standard_error == pytest.approx(np.std(PEOPLE, ddof=1) / np.sqrt(6))


def test_too_few_sampled_queries_give_nothing() -> None:
    assert correct_score([0.5], [0.6], OTHERS) is None
    assert correct_score([], [], OTHERS) is None


def test_twenty_queries_are_reliable() -> None:
    corrected = correct_score([0.1, 0.9] * 10, [0.2, 0.8] * 10, OTHERS)
    assert corrected is not None
    assert corrected.is_reliable


def test_other_queries_and_infinite_scores_are_refused() -> None:
    with pytest.raises(StatisticsError, match="6 sampled queries and the judge 5"):
        correct_score(PEOPLE, JUDGE[:5], OTHERS)
    with pytest.raises(StatisticsError, match="finite"):
        correct_score(PEOPLE, JUDGE, [float("nan")])


def test_interval_contains_the_truth_although_the_judge_is_biased() -> None:
    """1,000 samples of 30 from queries whose judge is 12 points too generous and noisy."""
    generator = np.random.default_rng(7)
    covered, widths, widths_without_judge = 0, [], []
    for _ in range(1000):
        truth = generator.uniform(20, 90, 300)
        judge = truth + 12 + generator.normal(0, 6, 300)
        corrected = correct_score(truth[:30].tolist(), judge[:30].tolist(), judge[30:].tolist())
        people_alone = correct_score(truth[:30].tolist(), judge[:30].tolist(), [])
        assert corrected is not None and people_alone is not None
        covered += corrected.low <= 55 <= corrected.high
        widths.append(corrected.high - corrected.low)
        widths_without_judge.append(people_alone.high - people_alone.low)
    assert 930 <= covered <= 975
    assert np.mean(widths) < 0.6 * np.mean(widths_without_judge)


def test_interval_is_cautious_for_the_queries_of_the_case_themselves() -> None:
    """30 of 60 queries are sampled. Their mean over the 60 is covered nearly always, that of all queries like them in about 95 %."""
    generator = np.random.default_rng(8)
    own = like_these = 0
    for _ in range(1000):
        truth = generator.uniform(20, 90, 60)
        judge = truth + 12 + generator.normal(0, 6, 60)
        corrected = correct_score(truth[:30].tolist(), judge[:30].tolist(), judge[30:].tolist())
        assert corrected is not None
        own += corrected.low <= truth.mean() <= corrected.high
        like_these += corrected.low <= 55 <= corrected.high
    assert own >= 995
    assert 930 <= like_these <= 975


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=30))
def test_rank_correlation_equals_that_of_scipy(pairs: list[tuple[int, int]]) -> None:
    first, second = [list(column) for column in zip(*pairs, strict=True)]
    expected = kendalltau(first, second).statistic
    correlation = rank_correlation(first, second)
    assert correlation is None if np.isnan(expected) else correlation == pytest.approx(expected)


def test_rank_correlation_needs_the_same_queries() -> None:
    with pytest.raises(StatisticsError, match="1 and 2 scores"):
        rank_correlation([1], [1, 2])
