import itertools

import numpy as np
import pytest

from relevancy.statistics import Differences, Verdict, compare_paired, compare_several, correct_holm


def decide(values, **options):
    return compare_paired(Differences.build(values), permutations=999).decide(**options)


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
    assert decide([0.1, 0.2, 0.1, 0.15, 0.1, -0.4]) is Verdict.UNDECIDED


def test_decide_practically_equal_needs_to_know_enough():
    """Unrated documents or queries that are not compared could move the difference out of the margin."""
    values = np.random.default_rng(8).normal(0.4, 0.5, 40)
    assert decide(values, possible=(-0.5, 1.0)) is Verdict.EQUAL
    assert decide(values, possible=(-0.5, 1.1)) is Verdict.UNRATED
    assert decide(values, possible=(-3.0, 0.8)) is Verdict.UNRATED
    assert decide(values + 20, possible=(-3.0, 30)) is Verdict.BETTER


@pytest.mark.parametrize("count", [6, 25])
def test_decide_scored_the_same(count):
    assert decide([0.0] * count) is Verdict.SAME
    assert decide([0.0] * count, possible=(-1.0, 1.0)) is Verdict.SAME
    assert decide([0.0] * count, possible=(-1.0, 1.5)) is Verdict.UNRATED


@pytest.mark.parametrize(
    ("values", "expected"), [([40.0] * 5, Verdict.TOO_FEW), ([40.0] * 6, Verdict.BETTER), ([0.0] * 5, Verdict.TOO_FEW)]
)
def test_decide_too_few_queries_for_p_ever_to_be_below_alpha(values, expected):
    assert decide(values) is expected


def test_decide_too_few_queries_after_the_correction():
    """Six queries have a p of .031 at best, which twice the same test makes .062."""
    assert decide([40.0] * 6, p=0.0625, is_too_few=True) is Verdict.TOO_FEW


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
    assert (comparison.interval.low, comparison.interval.high) == pytest.approx((-1.2797704, 9.8259797), abs=5e-8)
    assert comparison.carriers == [3, 8]


def test_compare_several_corrects_p_for_those_that_are_tested():
    generator = np.random.default_rng(8)
    pairs = [
        Differences.build(generator.normal(mean, 10, count)) for mean, count in ((4, 40), (9, 5), (0, 30), (6, 12))
    ]
    first, few, *others = compare_several(pairs)
    assert few is None
    tested = [first, *others]
    alone = [compare_paired(pairs[number]) for number in (0, 2, 3)]
    assert [(paired.p, paired.interval) for paired, _ in tested] == [(paired.p, paired.interval) for paired in alone]
    assert [p for _, p in tested] == correct_holm([paired.p for paired, _ in tested])
    assert compare_several([]) == []
