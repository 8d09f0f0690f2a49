from collections.abc import Sequence

import pytest

from relevancy import comparison
from relevancy.models import Case, Run, ScorerVersion
from tests.factories import make_attempt, make_case, run_now, script_of


def run_with(case: Case, lists: dict[str, str], **fields: object) -> Run:
    """Runs a new attempt whose engine returns the letters of `lists` by query text."""
    attempt = make_attempt(case, **fields)
    script_of(attempt).answers = {text: list(documents) for text, documents in lists.items()}
    return run_now(attempt)


def figures_of(runs: Sequence[Run], version: ScorerVersion) -> comparison.ComparisonFigures:
    """All figures of runs, computed here and now."""
    return comparison.compute_figures(comparison.compare(runs=runs, version=version))


@pytest.fixture
def case(script) -> Case:
    """Four queries; `a` is perfect for each of the first three, and nothing is rated for the fourth."""
    ratings = {f"query {number}": {"a": 3, "b": 1} for number in (1, 2, 3)}
    return make_case(4, ratings, measures=("P@1", "nDCG@10"))
