"""The figures of runs of large cases (`LARGE_CASE`): sums, tests and counts over all queries, which queries lost and gained most, and
nothing that grows with them.

Result lists are not read, so that nothing is known of their overlap, of what is unrated and of what ratings could change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from relevancy.models import Run
from relevancy.models.case import LARGE_CASE
from relevancy.statistics import TIE, Interval

from .comparisons import Comparison
from .distributions import SCORE_STEP, Distribution
from .score_tables import Floats
from .sentences import describe_carriers, describe_lopsided, describe_verdict
from .tag_figures import TagFigures

DIFFERENCE_STEP = 5  # points
MAX_RANKED = 1_000  # queries that lost most, and as many that gained most: nobody reads more of them
ONLY_FIGURES = (
    f"Of runs of more than {LARGE_CASE:,} queries only figures over all queries are kept: of this comparison there is no file but that "
    "of its queries, as CSV."
)


@dataclass(frozen=True)
class LargePair:
    """A run against the baseline.

    sentence: the verdict. details: what has to be known beside it. difference, effect, detectable: in points; interval: 95 %.
    p, p_t, p_holm, p_hsd: as those of a `RunPair`. wins, ties, losses: queries. carriers: how many carry 80 % of the difference.
    differences: how many of the wins and losses lie in each step of 5 points from −100 to 100.
    largest_losses, largest_gains: the ids of the queries that lost and gained most, those with the largest difference first, of equal
        ones the first in the order of the case. At most 1,000 each.
    """

    sentence: str
    details: Sequence[str]
    difference: float | None
    interval: Interval | None
    p: float | None
    p_t: float | None
    p_holm: float | None
    p_hsd: float | None
    effect: float | None
    detectable: float | None
    wins: int
    ties: int
    losses: int
    carriers: int
    differences: Sequence[int]
    largest_losses: Sequence[int] = ()
    largest_gains: Sequence[int] = ()


@dataclass(frozen=True)
class LargeFigures:
    """What is kept of a comparison. means: of each run, over the compared queries. pairs: each other run against the baseline.

    scores: [runs] how many queries lie in each step of 10 points. queries, independent, left_out: numbers of queries, as a `ScoreTable`
    counts them.
    """

    queries: int
    independent: int
    left_out: int
    means: Sequence[float | None]
    pairs: Sequence[LargePair]
    tags: Sequence[TagFigures]
    warnings: Sequence[str]
    scores: Sequence[Sequence[int]]

    def distribute_scores(self, other: int) -> Distribution:
        """Returns the scores of the baseline and of the run at the position `other`."""
        steps = [f"{edge}–{edge + SCORE_STEP}" for edge in range(0, 100, SCORE_STEP)]
        return Distribution("score", steps, self.scores[0], self.scores[other])


def has_large(runs: Sequence[Run]) -> bool:
    """Returns whether only these figures of the runs can be computed."""
    return any(run.is_large for run in runs)


def build_large(comparison: Comparison) -> LargeFigures:
    """Returns the figures of a comparison."""
    table, pairs = comparison.table, []
    for pair in comparison.pairs[: len(comparison.runs) - 1]:
        paired, by_query = pair.paired, pair.by_query
        pairs.append(
            LargePair(
                sentence=describe_verdict(pair),
                details=[sentence for sentence in (describe_carriers(pair), describe_lopsided(pair)) if sentence],
                difference=pair.difference,
                interval=paired.interval,
                p=paired.p,
                p_t=paired.p_t,
                p_holm=pair.p_holm,
                p_hsd=pair.p_hsd,
                effect=paired.differences.effect,
                detectable=paired.detectable,
                wins=by_query.wins,
                ties=by_query.ties,
                losses=by_query.losses,
                carriers=len(pair.carriers),
                differences=_count(by_query.values[np.abs(by_query.values) >= TIE], -100, DIFFERENCE_STEP),
                largest_losses=_rank(by_query.values, table.query_ids),
                largest_gains=_rank(-by_query.values, table.query_ids),
            )
        )
    return LargeFigures(
        queries=len(table),
        independent=table.independent,
        left_out=len(table.left_out),
        means=comparison.means,
        pairs=pairs,
        tags=comparison.tags,
        warnings=comparison.warnings,
        scores=[_count(scores, 0, SCORE_STEP) for scores in table.scores.T],
    )


def _count(values: Floats, lowest: int, step: int) -> list[int]:
    """Returns how many values lie in each step up to 100; the upper end of a step belongs to the next one, but for 100."""
    counts, _ = np.histogram(values, bins=np.arange(lowest, 100 + step, step))
    return [int(count) for count in counts]


def _rank(differences: Floats, query_ids: Sequence[int]) -> list[int]:
    """Returns the ids of the queries with the smallest differences below 0."""
    positions = np.flatnonzero(differences <= -TIE)
    ranked = positions[np.argsort(differences[positions], kind="stable")[:MAX_RANKED]]
    return [query_ids[position] for position in ranked.tolist()]


def dump_large(figures: LargeFigures) -> dict[str, Any]:
    """Returns the figures as JSON data."""
    return {"is_large": True, **asdict(figures)}


def load_large(data: Mapping[str, Any]) -> LargeFigures:
    """Returns the figures that `dump_large` wrote."""
    fields = {name: value for name, value in data.items() if name != "is_large"}
    pairs = [LargePair(**{**pair, "interval": _interval(pair["interval"])}) for pair in data["pairs"]]
    tags = [TagFigures(**{**tag, "interval": _interval(tag["interval"])}) for tag in data["tags"]]
    return LargeFigures(**{**fields, "pairs": pairs, "tags": tags})


def _interval(data: Mapping[str, Any] | None) -> Interval | None:
    return Interval(**data) if data else None
