from collections.abc import Callable

import pytest
import pytrec_eval


@pytest.fixture
def evaluate_by_pytrec_eval() -> Callable[..., dict[str, dict[str, float]]]:
    """pytrec_eval's values for judgments and a run with engine scores."""

    def evaluate(qrels: dict, run: dict, measures: set[str], level: int = 1) -> dict[str, dict[str, float]]:
        return pytrec_eval.RelevanceEvaluator(qrels, measures, relevance_level=level).evaluate(run)

    return evaluate
