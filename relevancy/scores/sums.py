"""Sums of the scores of a case's queries: as stored with the score of a case, and as changed by a rating of one query.

The sums are exact (`scoring.exact_units`), so that it makes no difference whether they were computed from all scores or changed
by one. Reading 5,000 scores takes longer than everything else that a rating does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from relevancy.models import QueryScore
from relevancy.scoring import case_mean, exact_units, points

_HIGH, _LOW = 2.0**26, 2.0**30  # together the units of `exact_units`: a sum of all in one column would overflow


@dataclass(frozen=True)
class StoredParts:
    """What the sums need of a score, as it was stored before a rating."""

    score: float | None
    low: float | None
    high: float | None
    unrated: int
    error: str


type ScoreParts = StoredParts | QueryScore


@dataclass(frozen=True)
class Sums:
    """Sums over the scores of the present queries of a case.

    weights: of the queries that have a score. scores, lows, highs: weighted, in units of `scoring.exact_units`.
    bounded: the number of queries with a range; failed: of those that could not be scored.
    """

    weights: float = 0.0
    scores: int = 0
    lows: int = 0
    highs: int = 0
    bounded: int = 0
    scored: int = 0
    unrated: int = 0
    failed: int = 0

    @property
    def score(self) -> float | None:
        return case_mean(points(self.scores), self.weights)

    @property
    def low(self) -> float | None:
        return case_mean(points(self.lows), self.weights) if self.bounded else None

    @property
    def high(self) -> float | None:
        return case_mean(points(self.highs), self.weights) if self.bounded else None

    def replacing(self, weight: float | None, old: ScoreParts | None, new: ScoreParts | None) -> Self | None:
        """Returns the sums after the score of one query has changed. `weight` is None if the query has been removed from the case.

        Returns None if the sum of the weights would depend on their order: all scores have to be summed.
        """
        if weight is None:
            return self
        weights = changed_weights(self.weights, weight, _has_score(old), _has_score(new))
        if weights is None:
            return None
        before, after = _of_one(weight, old), _of_one(weight, new)
        return replace(
            self,
            weights=weights,
            scores=self.scores - before.scores + after.scores,
            lows=self.lows - before.lows + after.lows,
            highs=self.highs - before.highs + after.highs,
            bounded=self.bounded - before.bounded + after.bounded,
            scored=self.scored - before.scored + after.scored,
            unrated=self.unrated - before.unrated + after.unrated,
            failed=self.failed - before.failed + after.failed,
        )

    def including(self, weight: float, score: ScoreParts) -> Self:
        """Returns the sums with the score of one more query."""
        added = _of_one(weight, score)
        return replace(
            self,
            weights=self.weights + weight if _has_score(score) else self.weights,
            scores=self.scores + added.scores,
            lows=self.lows + added.lows,
            highs=self.highs + added.highs,
            bounded=self.bounded + added.bounded,
            scored=self.scored + added.scored,
            unrated=self.unrated + added.unrated,
            failed=self.failed + added.failed,
        )

    def stored(self) -> list[float]:
        """Returns what the score of a case, which has the numbers of queries, is stored with; the opposite of `read`."""
        return [self.weights, self.scores, self.lows, self.highs, self.bounded]

    @classmethod
    def read(cls, stored: Sequence[Any], *, scored: int, unrated: int, failed: int) -> Self:
        """Returns the sums that a score of a case was stored with."""
        weights, scores, lows, highs, bounded = stored
        return cls(float(weights), scores, lows, highs, bounded, scored, unrated, failed)


def changed_weights(weights: float, weight: float, had_score: bool, has_score: bool) -> float | None:
    """Returns the sum of weights after a query of this weight got its first score, or lost it.

    None if that cannot be known exactly. Sums of integers are exact; others depend on the order of what is summed.
    """
    if had_score == has_score:
        return weights
    if not (weights.is_integer() and weight.is_integer()):
        return None
    return weights + weight if has_score else weights - weight


def _has_score(parts: ScoreParts | None) -> bool:
    return parts is not None and parts.score is not None


def _of_one(weight: float, parts: ScoreParts | None) -> Sums:
    if parts is None:
        return Sums()
    counts = {"unrated": parts.unrated, "failed": int(parts.error != "")}
    if parts.score is None:
        return Sums(bounded=int(parts.low is not None), **counts)
    return Sums(
        scores=exact_units(weight * parts.score),
        lows=exact_units(weight * (parts.score if parts.low is None else parts.low)),
        highs=exact_units(weight * (parts.score if parts.high is None else parts.high)),
        bounded=int(parts.low is not None),
        scored=1,
        **counts,
    )


def exact_sum_sql(expression: str, vendor: str) -> str:
    """Returns two columns of SQL whose values `units` combines: the exact sum of an expression that is not negative."""
    scaled = f"({expression}) * {_HIGH}"
    high = _floor(scaled, vendor)
    low = _floor(f"({scaled} - {high}) * {_LOW}", vendor)
    return f"COALESCE(SUM({high}), 0), COALESCE(SUM({low}), 0)"


def _floor(expression: str, vendor: str) -> str:
    """A float in either case: integers of the database could overflow."""
    return f"CAST(CAST({expression} AS INTEGER) AS REAL)" if vendor == "sqlite" else f"FLOOR({expression})"


def units(high: float, low: float) -> int:
    """Returns the sum that `exact_sum_sql` has read, in units of `scoring.exact_units`."""
    return int(high) * int(_LOW) + int(low)
