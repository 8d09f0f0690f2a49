"""The result of `compare` as JSON data."""

from collections.abc import Sequence
from typing import TypedDict

from relevancy.comparison import Comparison, RunPair, TagFigures


class RunResult(TypedDict):
    """A run by its id, and its mean score on the compared queries."""

    run: int
    score: float | None


class PairResult(TypedDict):
    """Run `b` against run `a`, both by id.

    difference, interval, detectable: in points. jaccard, rbo, changed: 0 to 1. carried_by: how many queries make up 80 % of the
    difference. p_holm: only against the first run. p_hsd: only with three runs or more.
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
    jaccard: float | None
    rbo: float | None
    changed: float | None
    verdict: str


class TagResult(TypedDict):
    """Run `b` against the first run `a`, both by id, on the compared queries with a tag. p_holm: corrected for all of them."""

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
    wins: int
    ties: int
    losses: int


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


def build_comparison(comparison: Comparison) -> ComparisonResult:
    """Returns the figures of a comparison."""
    return {
        "scorer": comparison.version.scorer.name,
        "queries": len(comparison.table),
        "independent": comparison.table.independent,
        "left_out": len(comparison.table.left_out),
        "left_out_queries": comparison.table.left_out,
        "warnings": comparison.warnings,
        "runs": [{"run": run.pk, "score": mean} for run, mean in zip(comparison.runs, comparison.means, strict=True)],
        "pairs": [_build_pair(pair) for pair in comparison.pairs],
        "tags": [_build_tag(comparison, each) for each in comparison.tags],
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
        "interval_kind": interval.kind.value if interval else None,
        "reliable": bool(interval and interval.is_reliable),
        "p_randomisation": figures.p,
        "p_holm": figures.p_holm,
        "wins": figures.wins,
        "ties": figures.ties,
        "losses": figures.losses,
    }


def _build_pair(pair: RunPair) -> PairResult:
    paired, interval = pair.paired, pair.paired.interval
    return {
        "a": pair.a.pk,
        "b": pair.b.pk,
        "difference": pair.difference,
        "interval": [interval.low, interval.high] if interval else None,
        "interval_kind": interval.kind.value if interval else None,
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
        "jaccard": pair.lists.jaccard,
        "rbo": pair.lists.rbo,
        "changed": pair.lists.changed,
        "verdict": pair.verdict.value,
    }
