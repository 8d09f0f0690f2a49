"""The figures of a comparison as JSON that is stored, and back: what was computed once is not computed again for a page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from relevancy.models import Run, ScorerVersion
from relevancy.statistics import Differences, Interval, PairedComparison, Verdict

from .bounds import DifferenceBounds, Outlook, bound_difference
from .comparisons import Comparison, RunPair
from .pool_bias import PoolBias
from .query_columns import Coverage, QueryColumns, read_query_columns
from .ratings_to_add import DocumentToRate, RatingPlan, plan_ratings
from .result_lists import ListOverlap
from .score_tables import PresentScores, ScoreTable
from .tag_figures import TagFigures

FORMAT = 8  # of the stored figures; part of their key, so that figures of another format are computed again
LIMIT = 100.0  # no two scores differ by more points
COLUMNS = ("jaccard", "rbo", "changes", "unrated", "took_ms", "low", "high", "own_rated", "score_without_own")

Floats = NDArray[np.float64]
Json = dict[str, Any]


@dataclass(frozen=True)
class ComparisonFigures:
    """Everything that a page or a report shows of a comparison.

    comparison: as `compare` returned it, with the texts that the queries have now.
    columns: what is known of the result lists, for each query of `comparison.table.present`.
    bounds: of the difference of each pair; None for scorers that give no bounds.
    plans: what to rate next for each other run and the baseline; None for scorers that give no bounds, and if nothing is unrated.
    """

    comparison: Comparison
    columns: QueryColumns
    bounds: list[DifferenceBounds | None]
    plans: list[RatingPlan | None]

    @cached_property
    def pool(self) -> list[PoolBias]:
        """What the ratings that were made for one run alone do for its score, of each run, over the compared queries."""
        present, columns = self.comparison.table.present, self.columns
        is_compared = present.is_compared
        own_rated, without = columns.own_rated[is_compared], columns.score_without_own[is_compared]
        if not self.comparison.version.script:
            without = np.where(own_rated > 0, without, present.scores[is_compared])
        return [
            PoolBias.build(own_rated[:, run], scored, without[:, run], present.weights[is_compared])
            for run, scored in enumerate(present.scores[is_compared].T)
        ]


def compute_figures(comparison: Comparison) -> ComparisonFigures:
    """Returns all figures of a comparison. Reads the result lists of its runs."""
    columns = read_query_columns(comparison.runs, comparison.version, comparison.table.present.query_ids)
    positions = {run.pk: position for position, run in enumerate(comparison.runs)}
    present = comparison.table.present
    bounds = [_bound_pair(present, columns, positions[pair.a.pk], positions[pair.b.pk]) for pair in comparison.pairs]
    comparison = replace(
        comparison,
        pairs=[
            _with_outlook(pair, _find_outlook(present, columns, positions[pair.a.pk], positions[pair.b.pk]))
            for pair in comparison.pairs
        ],
    )
    for pair, overlap in zip(comparison.pairs, columns.overlaps, strict=True):
        vars(pair)["lists"] = overlap
    plans = [_plan_ratings(comparison, columns, other) for other in range(1, len(comparison.runs))]
    return ComparisonFigures(comparison, columns, bounds, plans)


def _plan_ratings(comparison: Comparison, columns: QueryColumns, other: int) -> RatingPlan | None:
    present = comparison.table.present
    widths = (columns.high[:, other] - columns.low[:, 0]) - (columns.low[:, other] - columns.high[:, 0])
    widths[columns.are_same(0, other)] = 0.0
    compared = [int(row) for row in np.flatnonzero(present.is_compared & np.isfinite(widths))]
    return plan_ratings(
        [comparison.runs[0], comparison.runs[other]],
        comparison.version,
        widths={present.query_ids[row]: float(widths[row]) for row in compared},
        weights={present.query_ids[row]: float(present.weights[row]) for row in compared},
    )


def _bound_pair(present: PresentScores, columns: QueryColumns, first: int, second: int) -> DifferenceBounds | None:
    is_compared = present.is_compared
    return bound_difference(
        columns.low[is_compared],
        columns.high[is_compared],
        present.weights[is_compared],
        first,
        second,
        is_same=columns.are_same(first, second)[is_compared],
    )


def _with_outlook(pair: RunPair, outlook: Outlook | None) -> RunPair:
    """Returns the pair with a verdict that knows what is still unrated or not compared."""
    verdict = pair.verdict
    if outlook and verdict in {Verdict.EQUAL, Verdict.SAME}:
        verdict = pair.paired.decide(possible=(outlook.low, outlook.high))
    return replace(pair, outlook=outlook, verdict=verdict)


def _find_outlook(present: PresentScores, columns: QueryColumns, first: int, second: int) -> Outlook | None:
    """Returns what the difference can still become; None if no query has a weight.

    A query whose documents are all rated keeps its difference. Without a score in either run, then, it has none: nothing relevant is
    known that one of them could rank better. What gives no bounds can become anything.
    """
    if not present.weights.sum():
        return None
    pair = [first, second]
    scores = present.scores[:, pair]
    is_scored = np.isfinite(scores)
    is_rated = (columns.unrated[:, pair] == 0).all(axis=1) & (is_scored.all(axis=1) | ~is_scored.any(axis=1))
    settled = np.where(columns.are_same(first, second), 0.0, np.nan_to_num(scores[:, 1] - scores[:, 0]))
    lowest, highest = columns.low[:, second] - columns.high[:, first], columns.high[:, second] - columns.low[:, first]
    is_settled = columns.are_same(first, second) | (is_rated & ~np.isfinite(lowest))
    low, high = (
        np.average(np.where(is_settled, settled, np.nan_to_num(ends, nan=limit)), weights=present.weights)
        for ends, limit in ((lowest, -LIMIT), (highest, LIMIT))
    )
    considered = [columns.coverage[run] for run in pair]
    documents = sum(coverage.documents for coverage in considered)
    rated = sum(coverage.rated for coverage in considered) / documents if documents else None
    return Outlook(float(low), float(high), rated)


def dump_figures(figures: ComparisonFigures) -> Json:
    """Returns the figures as JSON data, without the texts of the queries."""
    comparison, columns = figures.comparison, figures.columns
    present = comparison.table.present
    return {
        "query_ids": present.query_ids,
        "links": present.links,
        "weights": present.weights.tolist(),
        "scores": _dump_columns(present.scores),
        "best": _dump_columns(present.best),
        **{name: _dump_columns(getattr(columns, name)) for name in COLUMNS},
        "same_as": columns.same_as.T.tolist(),
        "coverage": [asdict(coverage) for coverage in columns.coverage],
        "overlaps": [asdict(overlap) for overlap in columns.overlaps],
        "means": comparison.means,
        "warnings": comparison.warnings,
        "pairs": [_dump_pair(pair) for pair in comparison.pairs],
        "tags": [asdict(tag) for tag in comparison.tags],
        "bounds": [asdict(bounds) if bounds else None for bounds in figures.bounds],
        "plans": [asdict(plan) if plan else None for plan in figures.plans],
    }


def _dump_columns(array: Floats) -> list[list[float | None]]:
    """Returns one list for each column; None for what is missing, because JSON has no NaN."""
    return [[None if math.isnan(value) else value for value in column] for column in array.T.tolist()]


def _dump_pair(pair: RunPair) -> Json:
    paired = pair.paired
    return {
        "p": paired.p,
        "t": paired.t,
        "p_t": paired.p_t,
        "interval": asdict(paired.interval) if paired.interval else None,
        "carriers": paired.carriers,
        "detectable": paired.detectable,
        "p_holm": pair.p_holm,
        "p_hsd": pair.p_hsd,
        "verdict": pair.verdict.value,
        "outlook": asdict(pair.outlook) if pair.outlook else None,
    }


def _load_interval(data: Json | None) -> Interval | None:
    return Interval(**data) if data else None


def load_figures(
    data: Json, *, runs: Sequence[Run], version: ScorerVersion, texts: Mapping[int, str]
) -> ComparisonFigures:
    """Returns the figures that `dump_figures` wrote. texts: of the queries, by query id."""
    columns_by_name = {
        name: np.array(data[name], dtype=np.float64).T for name in ("scores", "best", *COLUMNS)
    }  # None becomes NaN
    present = PresentScores(
        query_ids=data["query_ids"],
        texts=[texts.get(query_id, "") for query_id in data["query_ids"]],
        weights=np.array(data["weights"], dtype=np.float64),
        scores=columns_by_name["scores"],
        best=columns_by_name["best"],
        links=data["links"],
    )
    table = ScoreTable.build(present)
    columns = QueryColumns(
        **{name: columns_by_name[name] for name in COLUMNS},
        same_as=np.array(data["same_as"], dtype=np.int64).T,
        coverage=[Coverage(**coverage) for coverage in data["coverage"]],
        overlaps=[ListOverlap(**overlap) for overlap in data["overlaps"]],
    )
    indexes = [(first, second) for first in range(len(runs)) for second in range(first + 1, len(runs))]
    pairs = [
        _load_pair(pair, runs[first], runs[second], table, table.scores[:, second] - table.scores[:, first])
        for pair, (first, second) in zip(data["pairs"], indexes, strict=True)
    ]
    for pair, overlap in zip(pairs, columns.overlaps, strict=True):
        vars(pair)["lists"] = overlap
    bounds = [DifferenceBounds(**bounds) if bounds else None for bounds in data["bounds"]]
    tags = [TagFigures(**{**tag, "interval": _load_interval(tag["interval"])}) for tag in data["tags"]]
    comparison = Comparison(version, runs, table, data["means"], pairs, data["warnings"], tags)
    plans = [_load_plan(plan) if plan else None for plan in data["plans"]]
    return ComparisonFigures(comparison, columns, bounds, plans)


@dataclass(frozen=True)
class PairFigures:
    """What is known of two runs alone, without what depends on other comparisons. difference: in points; None without queries."""

    difference: float | None
    interval: Interval | None
    p: float | None


def load_first_pair(pair: Json, means: Sequence[float | None]) -> PairFigures:
    """Returns the figures of the first run and the baseline from the stored `pairs` and `means`."""
    before, after = means[:2]
    difference = None if before is None or after is None else after - before
    return PairFigures(difference, _load_interval(pair["interval"]), pair["p"])


def _load_plan(data: Json) -> RatingPlan:
    return RatingPlan(**{**data, "documents": [DocumentToRate(**document) for document in data["documents"]]})


def _load_pair(data: Json, a: Run, b: Run, table: ScoreTable, differences: Floats) -> RunPair:
    by_query = Differences.build(differences, table.weights)
    paired = PairedComparison(
        differences=by_query.merged(table.units),
        p=data["p"],
        t=data["t"],
        p_t=data["p_t"],
        interval=_load_interval(data["interval"]),
        carriers=data["carriers"],
        detectable=data["detectable"],
    )
    return RunPair(
        a=a,
        b=b,
        by_query=by_query,
        paired=paired,
        p_holm=data["p_holm"],
        p_hsd=data["p_hsd"],
        verdict=Verdict(data["verdict"]),
        carriers=table.name_units(data["carriers"]),
        outlook=Outlook(**data["outlook"]) if data["outlook"] else None,
    )
