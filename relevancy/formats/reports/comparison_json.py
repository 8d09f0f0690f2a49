"""The result of `compare` as JSON data."""

from collections.abc import Sequence
from typing import TypedDict

from relevancy.comparison import Comparison, ComparisonFigures, Gain, RunPair, TagFigures, find_gain
from relevancy.statistics import INTERVAL_KIND


class GainResult(TypedDict):
    """What a run can gain with the best order that today's ratings allow, on the `gain_queries` whose best order is known.

    ideal, gain: the score of the best order, and the points that it adds. at_best: queries that have their best order already.
    gain_carried_by: texts of the queries that make up 80 % of the gain.
    """

    gain_queries: int
    at_best: int
    ideal: float | None
    gain: float | None
    gain_carried_by: Sequence[str]


class RunResult(GainResult):
    """A run by its id, and its mean score on the compared queries.

    rated: documents that are rated among the first k; documents: all of them; k: what the scorer considers.
    own_rated: rated documents that no other kept run has among its first k. score_without_own: the score without their ratings,
    on the own_queries that still have one; score_with_own: the score of the same queries with all ratings.
    """

    run: int
    score: float | None
    k: int
    documents: int
    rated: int
    own_rated: int
    own_queries: int
    score_with_own: float | None
    score_without_own: float | None


class PairResult(TypedDict):
    """Run `b` against run `a`, both by id.

    difference, interval, detectable: in points. jaccard, rbo, changed: 0 to 1. carried_by: how many queries make up 80 % of the
    difference. bounds: of the difference over all grades of unrated documents; None for scorers without bounds. p_holm: only against
    the first run. p_hsd: only with three runs or more.
    """

    a: int
    b: int
    difference: float | None
    interval: list[float] | None
    interval_kind: str | None
    reliable: bool
    effect: float | None
    p_randomisation: float | None
    p_t: float | None
    p_holm: float | None
    p_hsd: float | None
    wins: int
    ties: int
    losses: int
    carried_by: int
    detectable: float | None
    bounds: list[float] | None
    jaccard: float | None
    rbo: float | None
    changed: float | None
    verdict: str


class TagResult(TypedDict):
    """Run `b` against the first run `a`, both by id, on the compared queries with a tag. p_holm: corrected for all of them.

    gain: points that they can gain in run `b` with their best order; None unless that is known.
    reason: why there is no p and no interval; None if there are.
    """

    tag: str
    a: int
    b: int
    queries: int
    difference: float
    interval: list[float] | None
    interval_kind: str | None
    reliable: bool
    p_randomisation: float | None
    p_holm: float | None
    reason: str | None
    wins: int
    ties: int
    losses: int
    gain: float | None


class ComparisonResult(TypedDict):
    """Runs under one scorer, on the `queries` that were scored in all of them; the first run is the baseline.

    independent: what tests and intervals count: linked queries are one.
    """

    scorer: str
    queries: int
    independent: int
    left_out: int
    left_out_queries: Sequence[str]
    warnings: Sequence[str]
    runs: list[RunResult]
    pairs: list[PairResult]
    tags: list[TagResult]


def build_comparison(figures: ComparisonFigures) -> ComparisonResult:
    """Returns the figures of a comparison."""
    comparison = figures.comparison
    return {
        "scorer": comparison.version.scorer.name,
        "queries": len(comparison.table),
        "independent": comparison.table.independent,
        "left_out": len(comparison.table.left_out),
        "left_out_queries": comparison.table.left_out,
        "warnings": comparison.warnings,
        "runs": [_build_run(figures, position) for position in range(len(comparison.runs))],
        "pairs": [_build_pair(pair) for pair in comparison.pairs],
        "tags": [_build_tag(comparison, tag) for tag in comparison.tags],
    }


def _build_run(figures: ComparisonFigures, position: int) -> RunResult:
    coverage, bias = figures.columns.coverage[position], figures.pool[position]
    return {
        "run": figures.comparison.runs[position].pk,
        "score": figures.comparison.means[position],
        "k": coverage.k,
        "documents": coverage.documents,
        "rated": coverage.rated,
        "own_rated": bias.documents,
        "own_queries": bias.queries,
        "score_with_own": bias.score,
        "score_without_own": bias.score_without,
        **build_gain(find_gain(figures.comparison.table.present, position)),
    }


def build_gain(gain: Gain) -> GainResult:
    """Returns what a run can gain."""
    return {
        "gain_queries": gain.queries,
        "at_best": gain.at_best,
        "ideal": gain.best,
        "gain": gain.points,
        "gain_carried_by": gain.carriers,
    }


def _build_tag(comparison: Comparison, figures: TagFigures) -> TagResult:
    interval = figures.interval
    return {
        "tag": figures.tag,
        "a": comparison.runs[0].pk,
        "b": comparison.runs[figures.other].pk,
        "queries": figures.queries,
        "difference": figures.difference,
        "interval": [interval.low, interval.high] if interval else None,
        "interval_kind": INTERVAL_KIND if interval else None,
        "reliable": bool(interval and interval.is_reliable),
        "p_randomisation": figures.p,
        "p_holm": figures.p_holm,
        "reason": figures.reason or None,
        "wins": figures.wins,
        "ties": figures.ties,
        "losses": figures.losses,
        "gain": figures.gain,
    }


def _build_pair(pair: RunPair) -> PairResult:
    paired, interval = pair.paired, pair.paired.interval
    return {
        "a": pair.a.pk,
        "b": pair.b.pk,
        "difference": pair.difference,
        "interval": [interval.low, interval.high] if interval else None,
        "interval_kind": INTERVAL_KIND if interval else None,
        "reliable": bool(interval and interval.is_reliable),
        "effect": paired.differences.effect,
        "p_randomisation": paired.p,
        "p_t": paired.p_t,
        "p_holm": pair.p_holm,
        "p_hsd": pair.p_hsd,
        "wins": pair.by_query.wins,
        "ties": pair.by_query.ties,
        "losses": pair.by_query.losses,
        "carried_by": len(pair.carriers),
        "detectable": paired.detectable,
        "bounds": list(pair.bounds) if pair.bounds else None,
        "jaccard": pair.lists.jaccard,
        "rbo": pair.lists.rbo,
        "changed": pair.lists.changed,
        "verdict": pair.verdict.value,
    }
