"""The result of `evaluate` as JSON data."""

from collections.abc import Mapping, Sequence
from typing import TypedDict

from relevancy.comparison import DropCheck
from relevancy.models import CaseScore, QueryScore, Ranking, Run, ScorerVersion
from relevancy.statistics import INTERVAL_KIND, TIE

MAX_WORST = 10  # queries that are named in a comparison


class QueryResult(TypedDict):
    """One query under one scorer. Scores are 0–100 and None if the query cannot be scored."""

    score: float | None
    low: float | None
    high: float | None
    total: int | None
    took_ms: int | None
    error: str | None


class ScorerResult(TypedDict):
    """A whole case under one scorer. `scored` of its `queries` have a score."""

    name: str
    score: float | None
    low: float | None
    high: float | None
    scored: int
    queries: int
    per_query: dict[str, QueryResult]


class Check(TypedDict):
    """A condition of the release gate. `message` says why it failed; empty if it passed.

    `is_error`: the gate could not decide, because a file, the engine or a scorer failed; it says nothing about the scores.
    """

    name: str
    passed: bool
    message: str
    is_error: bool


class ScorerDifference(TypedDict):
    """A run against its baseline under one scorer, in points. `dropped`: by more than is allowed, and not by chance.

    `too_few`: so few queries cannot show a drop.
    """

    name: str
    queries: int
    left_out: int
    score: float | None
    baseline_score: float | None
    difference: float
    interval: list[float]
    interval_kind: str
    reliable: bool
    p_randomisation: float | None
    wins: int
    ties: int
    losses: int
    worst: dict[str, float]
    dropped: bool
    non_inferior: bool
    too_few: bool


class BaselineComparison(TypedDict):
    """A run against a baseline, whose id is `baseline` and whose number within its case is `number`."""

    baseline: int
    number: int
    max_drop: float
    alpha: float
    scorers: list[ScorerDifference]


class Evaluation(TypedDict):
    """A run under some scorers. `run` is its id, `number` its number within the case; `passed` says that no check failed."""

    case: str
    attempt: int
    run: int
    number: int
    complete: bool
    seconds: float | None
    scorers: list[ScorerResult]
    comparison: BaselineComparison | None
    passed: bool


def build_evaluation(*, run: Run, versions: Sequence[ScorerVersion]) -> Evaluation:
    """Returns the scores of a run, by query text. `passed` is true if every search succeeded; callers may check more."""
    texts = run.case.case_queries.texts()
    rankings = {
        ranking.query_id: ranking
        for ranking in run.rankings.only("query_id", "total", "took_ms", "error")
        if ranking.query_id in texts
    }
    is_complete = run.status == Run.Status.COMPLETE
    return {
        "case": run.case.name,
        "attempt": run.attempt.number,
        "run": run.pk,
        "number": run.number,
        "complete": is_complete,
        "seconds": run.seconds,
        "scorers": [_scorer_result(run, version, texts, rankings) for version in versions],
        "comparison": None,
        "passed": is_complete,
    }


def build_baseline_comparison(drops: Sequence[DropCheck]) -> BaselineComparison:
    """Returns the differences of a run and its baseline, one element per scorer."""
    first = drops[0]
    baseline = first.comparison.runs[0]
    return {
        "baseline": baseline.pk,
        "number": baseline.number,
        "max_drop": first.max_drop,
        "alpha": first.alpha,
        "scorers": [_scorer_difference(drop) for drop in drops],
    }


def _scorer_difference(drop: DropCheck) -> ScorerDifference:
    comparison, differences = drop.comparison, drop.comparison.pairs[0].by_query
    losses = sorted(zip(differences.values.tolist(), comparison.table.texts, strict=True))[:MAX_WORST]
    return {
        "name": comparison.version.scorer.name,
        "queries": len(comparison.table),
        "left_out": len(comparison.table.left_out),
        "score": comparison.means[1],
        "baseline_score": comparison.means[0],
        "difference": drop.difference,
        "interval": [drop.interval.low, drop.interval.high],
        "interval_kind": INTERVAL_KIND,
        "reliable": drop.interval.is_reliable,
        "p_randomisation": comparison.pairs[0].paired.p,
        "wins": differences.wins,
        "ties": differences.ties,
        "losses": differences.losses,
        "worst": {text: difference for difference, text in losses if difference <= -TIE},
        "dropped": drop.has_dropped,
        "non_inferior": drop.is_non_inferior,
        "too_few": drop.is_too_few,
    }


def _scorer_result(
    run: Run, version: ScorerVersion, texts: Mapping[int, str], rankings: Mapping[int, Ranking]
) -> ScorerResult:
    case_score = CaseScore.objects.filter(run=run, version=version).order_by("-day").first()
    query_scores = {row.query_id: row for row in QueryScore.objects.filter(run=run, version=version)}
    return {
        "name": version.scorer.name,
        "score": case_score.score if case_score else None,
        "low": case_score.low if case_score else None,
        "high": case_score.high if case_score else None,
        "scored": case_score.scored if case_score else 0,
        "queries": len(texts),
        "per_query": {
            text: _query_result(rankings.get(query_id), query_scores.get(query_id)) for query_id, text in texts.items()
        },
    }


def _query_result(ranking: Ranking | None, score: QueryScore | None) -> QueryResult:
    return {
        "score": score.score if score else None,
        "low": score.low if score else None,
        "high": score.high if score else None,
        "total": ranking.total if ranking else None,
        "took_ms": ranking.took_ms if ranking else None,
        "error": (ranking.error if ranking else "") or (score.error if score else "") or None,
    }
