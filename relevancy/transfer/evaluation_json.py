"""The result of `evaluate` as JSON data."""

from collections.abc import Mapping, Sequence
from typing import TypedDict

from relevancy.models import CaseScore, QueryScore, Ranking, Run, ScorerVersion


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


class Evaluation(TypedDict):
    """A run under some scorers. `run` is its id, `number` its number within the case; `passed` says that no check failed."""

    case: str
    attempt: int
    run: int
    number: int
    complete: bool
    seconds: float | None
    scorers: list[ScorerResult]
    comparison: None
    passed: bool


def build_evaluation(*, run: Run, versions: Sequence[ScorerVersion]) -> Evaluation:
    """Returns the scores of a run, by query text. `passed` is true if every search succeeded; callers may check more."""
    texts = dict(run.case.case_queries.present().order_by("position", "id").values_list("query_id", "query__text"))
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
