from collections.abc import Callable

import pytest
import pytrec_eval


@pytest.fixture
def pytrec_eval_of() -> Callable[..., dict[str, dict[str, float]]]:
    """pytrec_eval's values for judgements and a run of engine scores."""

    def values(qrels: dict, run: dict, measures: set[str], level: int = 1) -> dict[str, dict[str, float]]:
        return pytrec_eval.RelevanceEvaluator(qrels, measures, relevance_level=level).evaluate(run)

    return values
