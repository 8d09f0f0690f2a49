"""The mean that is the score of a case."""

import pytest

from relevancy import scoring


@pytest.mark.parametrize(("weighted_sum", "weights", "mean"), [(150.0, 3.0, 50.0), (0.0, 2.0, 0.0), (0.0, 0.0, None)])
def test_case_mean(weighted_sum: float, weights: float, mean: float | None) -> None:
    assert scoring.case_mean(weighted_sum, weights) == mean
