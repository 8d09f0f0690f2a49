import pytest

from relevancy.statistics import detectable_difference


def test_detectable_difference_worked_example():
    assert detectable_difference(6.7616342, 12) == pytest.approx(6.0050981, abs=5e-7)
    assert detectable_difference(5, 1) is None
