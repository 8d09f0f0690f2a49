import itertools

import numpy as np
import pytest

from relevancy.statistics import Differences, Verdict, compare_paired


def decide(values, **options):
    return compare_paired(Differences.build(values), resamples=500, permutations=999).decide(**options)


def test_decide():
    generator = np.random.default_rng(8)
    assert decide(generator.normal(6, 5, 40)) is Verdict.BETTER
    assert decide(generator.normal(-6, 5, 40)) is Verdict.WORSE
    assert decide(generator.normal(0, 20, 40)) is Verdict.UNDECIDED
    assert decide([4.0]) is Verdict.TOO_FEW
    assert decide([]) is Verdict.TOO_FEW


def test_decide_practically_equal_needs_a_reliable_interval_within_the_margin():
    values = np.random.default_rng(8).normal(0.4, 0.5, 40)
    assert decide(values) is Verdict.EQUAL
    assert decide(values, margin=0.3) is Verdict.BETTER
    assert decide([0.1, 0.2, 0.1, 0.15]) is Verdict.UNDECIDED
    assert decide([0.0] * 25) is Verdict.EQUAL


def test_decide_uses_the_corrected_p():
    values = np.random.default_rng(8).normal(6, 5, 40)
    assert decide(values, p=0.2) is Verdict.UNDECIDED


def test_figures_of_the_worked_example():
    comparison = compare_paired(Differences.build([0, 0, 5, 12, -3, 0, 8, 0, 0, 20, -1, 0]))
    assert comparison.p == pytest.approx(0.125)
    assert comparison.detectable == pytest.approx(6.0050981, abs=5e-8)
    assert comparison.carriers == [9, 3, 6]
    assert comparison.decide() is Verdict.UNDECIDED


def test_linked_queries_of_the_worked_example_count_once():
    """The fourth and the seventh query are variants of one: their mean of 10 counts twice in D, and once in the test."""
    units = np.array([0, 1, 2, 3, 4, 5, 3, 6, 7, 8, 9, 10])
    differences = Differences.build([0, 0, 5, 12, -3, 0, 8, 0, 0, 20, -1, 0]).merged(units)
    assert len(differences) == 11
    comparison = compare_paired(differences)
    assert differences.mean == pytest.approx(3.4166667, abs=5e-8)
    # 5, 20 (of both), −3, 20 and −1 have a sign: of their 32 patterns, 8 reach a sum of 41.
    sums = [abs(np.dot(signs, (5, 20, -3, 20, -1))) for signs in itertools.product((1, -1), repeat=5)]
    assert comparison.p == pytest.approx(np.mean(np.array(sums) >= 41 - 1e-9)) == 0.25
    assert (comparison.interval.low, comparison.interval.high) == pytest.approx((-1.2797704, 8.1131038), abs=5e-8)
    assert comparison.carriers == [3, 8]
