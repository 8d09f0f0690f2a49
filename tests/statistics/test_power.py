import pytest
from hypothesis import given
from hypothesis import strategies as st

from relevancy.statistics import detectable_difference, required_queries


def test_detectable_difference_worked_example():
    assert detectable_difference(6.7616342, 12) == pytest.approx(6.0050981, abs=5e-7)
    assert detectable_difference(5, 1) is None


@pytest.mark.parametrize(
    ("deviation", "expected"), [(20, {5: 128, 3: 351, 2: 787, 1: 3142}), (6.7616342, {5: 17, 3: 42, 2: 92, 1: 361})]
)
def test_required_queries_worked_examples(deviation, expected):
    assert {difference: required_queries(deviation, difference) for difference in expected} == expected


@given(st.floats(0.5, 50), st.floats(0.5, 50))
def test_required_queries_are_the_fewest(deviation, difference):
    queries = required_queries(deviation, difference)
    assert detectable_difference(deviation, queries) <= difference + 1e-9
    if queries > 2:
        assert detectable_difference(deviation, queries - 1) > difference - 1e-9


def test_required_queries_of_more_than_10_million():
    assert required_queries(50, 0.001) is None
