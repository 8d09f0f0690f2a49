"""A run against the best order as JSON data."""

from collections.abc import Sequence
from typing import TypedDict

from relevancy.comparison import IdealComparison


class IdealTagResult(TypedDict):
    """The compared queries with a tag. score, ideal, gain: in points. share: of what the whole case can gain, 0 to 1."""

    tag: str
    queries: int
    score: float
    ideal: float
    gain: float
    share: float


class IdealQueryResult(TypedDict):
    """A query that counts. score, ideal, gain: in points. unrated: documents that the scorer considers and nobody has rated."""

    query: str
    score: float | None
    ideal: float | None
    gain: float | None
    unrated: int


class IdealResult(TypedDict):
    """A run against the best order of the documents that are rated today, under one scorer.

    score, ideal, gain: means over the `queries` that count, in points; None if there are none. carried_by: texts of the queries
    that make up 80 % of the gain. There is no p and no interval: the best order never scores less than the run.
    query_gains: the queries that can gain, most first.
    """

    run: int
    scorer: str
    queries: int
    at_best: int
    score: float | None
    ideal: float | None
    gain: float | None
    carried_by: Sequence[str]
    unrated: int
    left_out_queries: Sequence[str]
    warnings: Sequence[str]
    tags: list[IdealTagResult]
    query_gains: list[IdealQueryResult]


def build_ideal(result: IdealComparison) -> IdealResult:
    """Returns the figures of a comparison with the best order."""
    return {
        "run": result.run.pk,
        "scorer": result.version.scorer.name,
        "queries": result.queries,
        "at_best": result.at_best,
        "score": result.score,
        "ideal": result.ideal,
        "gain": result.gain,
        "carried_by": result.carriers,
        "unrated": result.unrated,
        "left_out_queries": result.left_out,
        "warnings": result.warnings,
        "tags": [
            {
                "tag": tag.tag,
                "queries": tag.queries,
                "score": tag.score,
                "ideal": tag.ideal,
                "gain": tag.gain,
                "share": tag.share,
            }
            for tag in result.tags
        ],
        "query_gains": [
            {
                "query": row.text,
                "score": row.score_a,
                "ideal": row.score_b,
                "gain": row.difference,
                "unrated": row.unrated_a or 0,
            }
            for row in result.gaining
        ],
    }
