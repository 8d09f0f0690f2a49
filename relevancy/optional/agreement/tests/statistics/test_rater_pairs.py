"""Pairs of raters, against the definition, rating by rating."""

import itertools
from collections import Counter, defaultdict
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relevancy.optional.agreement.statistics import RaterTable, compare_raters

SCALE = (0.0, 1.0, 2.0, 3.0)
tables = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 3), st.sampled_from(SCALE)),
    min_size=1,
    max_size=40,
    unique_by=lambda row: row[:2],
).map(lambda rows: [(item % 3, item, rater, grade) for item, rater, grade in rows])


def table_of(*lines):
    """Each line is an item of a query of its own: the grades of raters 0, 1, …; None where a rater gave none."""
    rows = [
        (item, item, rater, float(grade))
        for item, line in enumerate(lines)
        for rater, grade in enumerate(line)
        if grade is not None
    ]
    return RaterTable.build(rows, SCALE)


def numbers(rows):
    """`{rater: number in the table}`."""
    return {rater: number for number, rater in enumerate(sorted({rater for _, _, rater, _ in rows}))}


@given(tables)
@settings(max_examples=60)
def test_kappa_follows_the_definition(rows):
    """For every pair of raters: 1 − observed / expected disagreement, item by item and grade by grade."""
    number = numbers(rows)
    result = {(pair.a, pair.b): pair for pair in compare_raters(RaterTable.build(rows, SCALE))}
    grades = defaultdict(dict)
    for _, item, rater, grade in rows:
        grades[rater][item] = grade
    expected_pairs = set()
    for a, b in itertools.combinations(sorted(grades), 2):
        shared = sorted(grades[a].keys() & grades[b].keys())
        if not shared:
            continue
        pair = result[number[a], number[b]]
        expected_pairs.add((number[a], number[b]))
        both = [(grades[a][item], grades[b][item]) for item in shared]
        assert {(int(x), int(y)): n for (x, y), n in Counter(both).items()} == {
            (x, y): int(n) for (x, y), n in np.ndenumerate(pair.confusion) if n
        }
        assert pair.agreement == pytest.approx(fmean(x == y for x, y in both))
        for name, penalty in (
            ("none", lambda x, y: x != y),
            ("linear", lambda x, y: abs(x - y)),
            ("quadratic", lambda x, y: (x - y) ** 2),
        ):
            observed = sum(penalty(x, y) for x, y in both) / len(both)
            chance = sum(penalty(x, y) for x, _ in both for _, y in both) / len(both) ** 2
            assert pair.kappa(name) == (pytest.approx(1 - observed / chance) if chance else None)
    assert result.keys() == expected_pairs
