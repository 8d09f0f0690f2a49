"""What scoring needs of rankings, and the columns of scores that it returns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from relevancy import scoring

MAX_ERROR_LENGTH = 500


@dataclass(frozen=True)
class RankingInput:
    """What scoring needs of a ranking. `ranking_id` is None until the ranking is stored; `hits` as in `Ranking`."""

    ranking_id: int | None
    query_id: int
    text: str
    options: Mapping[str, Any]
    total: int | None
    hits: Sequence[Sequence[Any]]

    @property
    def doc_ids(self) -> list[str]:
        return [hit[0] for hit in self.hits]

    def reordered(self, doc_ids: Iterable[str]) -> RankingInput:
        """Returns the ranking with these of its documents, in this order."""
        hits = {hit[0]: hit for hit in reversed(self.hits)}
        return replace(self, hits=[hits[doc_id] for doc_id in doc_ids])


@dataclass(frozen=True)
class ScoreColumns:
    """Columns with one element per ranking.

    value, score, low, high, ideal: None if the query is not scoreable, or if the scorer does not provide it.
    unrated: number of unrated documents among those considered.
    error: why the ranking could not be scored; empty if it could.
    error_kind: why a script was stopped, see `sandbox.Outcome.stopped`; empty for other errors.
    line: the line of the script that failed.
    console: what the script wrote to its console, if requested.
    assessment: of a measure; explains the scores. None for scripts and errors.
    """

    value: list[float | None]
    score: list[float | None]
    low: list[float | None]
    high: list[float | None]
    ideal: list[float | None]
    unrated: list[int]
    error: list[str]
    error_kind: list[str]
    line: list[int | None]
    console: list[tuple[str, ...]]
    assessment: scoring.Assessment | None = None


def failed_columns(rankings: Sequence[RankingInput], error: str) -> ScoreColumns:
    """Returns columns in which every ranking has the same error."""
    count = len(rankings)
    nothing: list[float | None] = [None] * count
    return ScoreColumns(
        value=nothing,
        score=nothing,
        low=nothing,
        high=nothing,
        ideal=nothing,
        unrated=[0] * count,
        error=[error[:MAX_ERROR_LENGTH]] * count,
        error_kind=[""] * count,
        line=[None] * count,
        console=[()] * count,
    )
