"""Samples of queries: probabilities, weights, and the mean that they estimate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevancy.optional.clicks.statistics.sampling import SamplingMethod, draw_sample, inclusion_probabilities
from relevancy.statistics.errors import StatisticsError

FREQUENCY, STRATA, UNIFORM = SamplingMethod.FREQUENCY, SamplingMethod.STRATA, SamplingMethod.UNIFORM
# Searches that fall with the rank, as those of real logs do; the scores rise with the number of searches.
COUNTS = np.maximum(1, (400 / np.arange(1, 201) ** 1.1).astype(np.int64))
SCORES = 40 + 8 * np.log(COUNTS) + np.random.Generator(np.random.PCG64(1)).normal(0, 10, len(COUNTS))
MEAN = float(COUNTS @ SCORES / COUNTS.sum())
counts_of_logs = st.lists(st.integers(1, 10_000), min_size=1, max_size=60)


def estimates(method, size, repeats=1_500, counts=COUNTS, scores=SCORES):
    """The weighted means of repeated samples, as the score of a case is computed."""
    means = []
    for seed in range(repeats):
        sample = draw_sample(counts, size=size, method=method, seed=seed)
        means.append(sample.weights @ scores[sample.indices] / sample.weights.sum())
    return np.array(means)


@pytest.mark.parametrize("method", [FREQUENCY, STRATA])
@pytest.mark.parametrize("size", [7, 30])
def test_weighted_mean_has_no_bias(method, size):
    """The mean of 1,500 samples is less than 4 standard errors from the mean over all searches."""
    means = estimates(method, size)
    assert abs(means.mean() - MEAN) < 4 * means.std() / np.sqrt(len(means))
    assert means.std() > 0.1


def test_weights_by_frequency_alone_would_be_wrong():
    """A sample by frequency whose scores are weighted by frequency again counts frequent queries twice."""
    means = []
    for seed in range(1_000):
        drawn = draw_sample(COUNTS, size=30, method=FREQUENCY, seed=seed).indices
        means.append(COUNTS[drawn] @ SCORES[drawn] / COUNTS[drawn].sum())
    assert np.mean(means) - MEAN > 3


def test_bias_of_a_uniform_sample_is_the_documented_one():
    """The bias of the ratio estimator, to the first order, is that of the module's documentation."""
    size = 60
    means = estimates(UNIFORM, size, repeats=6_000)
    covariance = np.cov(COUNTS, COUNTS * SCORES, ddof=1)
    expected = (1 - size / len(COUNTS)) * (MEAN * covariance[0, 0] - covariance[0, 1]) / (size * COUNTS.mean() ** 2)
    assert expected < -0.3  # the sample misses the most frequent queries, which score highest
    assert means.mean() - MEAN == pytest.approx(expected, rel=0.5)


@pytest.mark.parametrize(("size", "bias"), [(10, 7.5), (50, 4.5)])
def test_bias_that_the_choice_of_the_method_names(size, bias):
    """In a log whose searches fall as 1 / rank, of queries whose scores fall with the logarithm of their searches."""
    counts = 10_000 // np.arange(1, 10_001)
    noise = np.random.Generator(np.random.PCG64(1)).normal(0, 15, len(counts))
    scores = np.clip(75 - 3 * np.log(counts) + noise, 0, 100)
    mean = counts @ scores / counts.sum()
    assert estimates(UNIFORM, size, 500, counts, scores).mean() - mean == pytest.approx(bias, abs=1.3)
    by_frequency = estimates(FREQUENCY, size, 500, counts, scores)
    assert abs(by_frequency.mean() - mean) < 4 * by_frequency.std() / np.sqrt(500)


def test_inclusion_probabilities_are_those_of_the_draws():
    size, repeats = 20, 3_000
    drawn = np.zeros(len(COUNTS))
    for seed in range(repeats):
        drawn[draw_sample(COUNTS, size=size, method=FREQUENCY, seed=seed).indices] += 1
    probabilities, _ = inclusion_probabilities(COUNTS, size)
    error = np.sqrt(probabilities * (1 - probabilities) / repeats)
    assert (np.abs(drawn / repeats - probabilities) <= 5 * error).all()


def test_inclusion_probabilities_worked_example():
    """Of 100 searches and 3 queries, the first would have 3 · 60 / 100 > 1: it is certain, and the others share 2."""
    probabilities, weight = inclusion_probabilities(np.array([60, 10, 10, 10, 10]), 3)
    assert probabilities.tolist() == [1, 0.5, 0.5, 0.5, 0.5]
    assert weight == 20
    sample = draw_sample(np.array([60, 10, 10, 10, 10]), size=3, method=FREQUENCY, seed=3)
    assert sample.weights.tolist() == [1.8, 0.6, 0.6]  # 60, 20 and 20, with the sum 3
    assert sample.certain == 1
    assert sample.effective_size == pytest.approx(9 / (1.8**2 + 2 * 0.6**2))


def test_sample_by_frequency_without_certain_queries_has_equal_weights():
    sample = draw_sample(np.full(500, 7), size=50, method=FREQUENCY)
    assert set(sample.weights) == {1.0}
    assert set(sample.inclusion) == {0.1}


def test_strata_have_the_same_number_of_queries():
    counts = np.arange(1, 501)
    sample = draw_sample(counts, size=31, method=STRATA)
    assert [(part.name, part.sampled) for part in sample.strata] == [("head", 11), ("torso", 10), ("tail", 10)]
    assert sum(part.searches for part in sample.strata) == counts.sum()
    assert counts.sum() * 0.5 <= sample.strata[0].searches < counts.sum() * 0.5 + 500
    assert counts.sum() * 0.2 >= sample.strata[2].searches > counts.sum() * 0.2 - 500
    assert sum(part.queries for part in sample.strata) == len(counts)
    few = draw_sample(np.array([50, 20, 10, 10, 10]), size=4, method=STRATA)
    assert [(part.name, part.queries, part.sampled) for part in few.strata] == [
        ("head", 1, 1),
        ("torso", 2, 2),
        ("tail", 2, 1),
    ]


@given(counts=counts_of_logs, size=st.integers(1, 70), method=st.sampled_from(SamplingMethod), seed=st.integers(0, 99))
def test_sample_has_the_size_and_the_weights_of_its_definition(counts, size, method, seed):
    counts = np.array(counts)
    sample = draw_sample(counts, size=size, method=method, seed=seed)
    assert len(sample.indices) == len(set(sample.indices.tolist())) == min(size, len(counts))
    assert sample.weights.sum() == pytest.approx(len(sample.indices))
    assert ((sample.inclusion > 0) & (sample.inclusion <= 1)).all()
    expected = counts[sample.indices] / sample.inclusion
    assert sample.weights / sample.weights.sum() == pytest.approx(expected / expected.sum(), rel=1e-6)
    if method != UNIFORM:  # what makes the mean unbiased: the weights of every sample have the same sum
        assert expected.sum() == pytest.approx(sum(part.searches for part in sample.strata))


@given(counts=counts_of_logs, size=st.integers(1, 70), factor=st.integers(2, 9), seed=st.integers(0, 99))
def test_sample_depends_on_the_shares_of_the_searches_alone(counts, size, factor, seed):
    first, second = (
        draw_sample(np.array(counts) * times, size=size, method=FREQUENCY, seed=seed) for times in (1, factor)
    )
    assert first.indices.tolist() == second.indices.tolist()
    assert first.weights == pytest.approx(second.weights)


def test_whole_log_gives_the_mean_itself():
    for method in SamplingMethod:
        sample = draw_sample(COUNTS, size=len(COUNTS), method=method)
        mean = sample.weights @ SCORES[sample.indices] / sample.weights.sum()
        assert mean == pytest.approx(MEAN, abs=1e-6), method


def test_seed_repeats_the_sample():
    for method in SamplingMethod:
        first, again, other = (draw_sample(COUNTS, size=20, method=method, seed=seed).indices for seed in (5, 5, 6))
        assert first.tolist() == again.tolist() != other.tolist()


def test_sample_of_nothing():
    assert len(draw_sample(np.zeros(0, dtype=np.int64), size=3, method=STRATA).indices) == 0
    with pytest.raises(StatisticsError, match="at least one"):
        draw_sample(COUNTS, size=0, method=FREQUENCY)
    with pytest.raises(StatisticsError, match="at least once"):
        draw_sample(np.array([1, 0]), size=1, method=FREQUENCY)
