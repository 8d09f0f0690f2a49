"""What a script gives, 0–1 or 0–100, as its scores for example rankings show it."""

import pytest

from relevancy import scores
from relevancy.models import ScorerDefinition
from tests.sandbox import test_published as published


def definition(script: str, top: int = 3, **values: object) -> ScorerDefinition:
    return ScorerDefinition(script=script, scale=[[grade, ""] for grade in range(top + 1)], **values)


@pytest.mark.parametrize(
    ("script", "output_range", "top"),
    [
        (published.DEFAULT, "100", 3),
        (published.DEFAULT, "100", 10),
        (published.NAMESPACE, "100", 3),
        (published.PRECISION, "1", 1),
        (published.AVERAGE_PRECISION, "1", 1),
        (published.RECIPROCAL_RANK, "1", 1),
        (published.EXPECTED_RANK, "1", 3),
        (published.SUM, "1", 3),
        (published.DCG, "1", 3),
        (published.NDCG_CUT, "1", 3),
        (published.NDCG_UNCUT, "1", 3),
        ("setScore(docRating(0) === max ? 100 : 0);", "100", 3),
        ("setScore(docRating(0) === max ? 1 : 0);", "1", 3),
        ("if (docRating(9) > 0) pass(); else fail();", "100", 3),
    ],
)
@pytest.mark.parametrize("chosen", ["1", "100"])
def test_suggest_output_range_of_published_scripts(script: str, output_range: str, top: int, chosen: str) -> None:
    assert scores.suggest_output_range(definition(script, top, output_range=chosen)) == output_range


@pytest.mark.parametrize(
    "script",
    ["setScore(null);", "setScore(0);", "setScore(-5);", "throw new Error('x');", "let a = ;", "while (true) {}"],
)
def test_suggest_output_range_without_a_score(script: str) -> None:
    assert scores.suggest_output_range(definition(script)) == ""


def test_suggest_output_range_of_a_measure() -> None:
    assert scores.suggest_output_range(ScorerDefinition(measure="P@5", scale=[[0, ""], [1, ""]])) == ""
