"""The figures of a comparison as JSON that is stored, and back: what was computed once is not computed again for a page."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from relevancy.models import Run, ScorerVersion
from relevancy.statistics import Differences, Interval, PairedComparison, Verdict

from .bounds import Outlook
from .comparisons import Comparison, RunPair
from .pool_bias import PoolBias
from .query_columns import COLUMNS_OF_PAIRS, COLUMNS_OF_RUNS, Coverage, QueryColumns, read_query_columns
from .ratings_to_add import DocumentToRate, RatingPlan, plan_ratings
from .result_lists import ListOverlap
from .score_tables import Floats, PresentScores, ScoreTable
from .tag_figures import TagFigures

FORMAT = 9  # of the stored figures; part of their key, so that figures of another format are computed again
LIMIT = 100.0  # no two scores differ by more points
COLUMNS = (*COLUMNS_OF_PAIRS, *COLUMNS_OF_RUNS)
PAIRED_NUMBERS = ("p", "t", "p_t", "carriers", "detectable")
Json = dict[str, Any]


@dataclass(frozen=True)
class ComparisonFigures:
    """Everything that a page or a report shows of a comparison.

    comparison: as `compare` returned it, with the texts that the queries have now.
    columns: what is known of the result lists, for each query of `comparison.table.present`.
    plans: what to rate next for each other run and the baseline; None for scorers that give no bounds, and if nothing is unrated.
    """

    comparison: Comparison
    columns: QueryColumns
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
    present = comparison.table.present
    columns, overlaps = read_query_columns(comparison.runs, comparison.version, present.query_ids)
    positions = itertools.combinations(range(len(comparison.runs)), 2)
    pairs = [
        _with_lists(pair, overlap, present, columns, first, second)
        for pair, overlap, (first, second) in zip(comparison.pairs, overlaps, positions, strict=True)
    ]
    comparison = replace(comparison, pairs=pairs)
    plans = [_plan_ratings(comparison, columns, other) for other in range(1, len(comparison.runs))]
    return ComparisonFigures(comparison, columns, plans)


def _with_lists(
    pair: RunPair, lists: ListOverlap, present: PresentScores, columns: QueryColumns, first: int, second: int
) -> RunPair:
    """Returns the pair with what the result lists tell; its verdict then knows what is still unrated or not compared."""
    outlook, verdict = _find_outlook(present, columns, first, second), pair.verdict
    if outlook and verdict in {Verdict.EQUAL, Verdict.SAME}:
        verdict = pair.paired.decide(possible=(outlook.low, outlook.high))
    bounds = _bound_difference(present, columns, first, second)
    return replace(pair, lists=lists, outlook=outlook, bounds=bounds, verdict=verdict)


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


def _bound_difference(
    present: PresentScores, columns: QueryColumns, first: int, second: int
) -> tuple[float, float] | None:
    """Returns bounds of the difference over the compared queries; None if the scorer gives none.

    For each query, the lowest score of one run is compared with the highest of the other. The bounds hold, but need not be
    reached: a document in both lists has one grade.
    """
    ends = np.column_stack(
        [columns.low[:, second] - columns.high[:, first], columns.high[:, second] - columns.low[:, first]]
    )[present.is_compared]
    if not len(ends) or not np.isfinite(ends).all():
        return None
    ends[columns.are_same(first, second)[present.is_compared]] = 0.0
    low, high = np.average(ends, axis=0, weights=present.weights[present.is_compared]).tolist()
    return low, high


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
        "means": comparison.means,
        "warnings": comparison.warnings,
        "pairs": [_dump_pair(pair) for pair in comparison.pairs],
        "tags": [asdict(tag) for tag in comparison.tags],
        "plans": [asdict(plan) if plan else None for plan in figures.plans],
    }


def _dump_columns(array: Floats) -> list[list[float | None]]:
    """Returns one list for each column; None for what is missing, because JSON has no NaN."""
    return [[None if math.isnan(value) else value for value in column] for column in array.T.tolist()]


def _dump_pair(pair: RunPair) -> Json:
    interval = pair.paired.interval
    return {
        **{name: getattr(pair.paired, name) for name in PAIRED_NUMBERS},
        "interval": asdict(interval) if interval else None,
        "p_holm": pair.p_holm,
        "p_hsd": pair.p_hsd,
        "verdict": pair.verdict.value,
        "lists": asdict(pair.lists),
        "outlook": asdict(pair.outlook) if pair.outlook else None,
        "bounds": pair.bounds,
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
    )
    positions = itertools.combinations(range(len(runs)), 2)
    pairs = [
        _load_pair(pair, runs[first], runs[second], table, table.scores[:, second] - table.scores[:, first])
        for pair, (first, second) in zip(data["pairs"], positions, strict=True)
    ]
    tags = [TagFigures(**{**tag, "interval": _load_interval(tag["interval"])}) for tag in data["tags"]]
    comparison = Comparison(version, runs, table, data["means"], pairs, data["warnings"], tags)
    plans = [
        RatingPlan(**{**plan, "documents": [DocumentToRate(**document) for document in plan["documents"]]})
        if plan
        else None
        for plan in data["plans"]
    ]
    return ComparisonFigures(comparison, columns, plans)


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


def _load_pair(data: Json, a: Run, b: Run, table: ScoreTable, differences: Floats) -> RunPair:
    by_query = Differences.build(differences, table.weights)
    paired = PairedComparison(
        differences=by_query.merged(table.units),
        interval=_load_interval(data["interval"]),
        **{name: data[name] for name in PAIRED_NUMBERS},
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
        lists=ListOverlap(**data["lists"]),
        outlook=Outlook(**data["outlook"]) if data["outlook"] else None,
        bounds=tuple(data["bounds"]) if data["bounds"] else None,
    )
