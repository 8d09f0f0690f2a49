"""What `evaluate` reports of a run, as data."""

from collections.abc import Sequence
from typing import Any

from relevancy import evaluation
from relevancy.models import CaseScore, QueryScore, Run, ScorerVersion


def report(*, run: Run, versions: Sequence[ScorerVersion] = ()) -> dict[str, Any]:
    """The JSON of `evaluate` (docs/commands). Scores 0–100, null where there is none; `versions`: default all of the case."""
    versions = versions or evaluation.versions_of(run.case)
    texts = dict(run.case.case_queries.present().order_by("position", "id").values_list("query_id", "query__text"))
    rankings: dict[int, dict[str, Any]] = {
        row["query_id"]: dict(row)
        for row in run.rankings.values("query_id", "total", "took_ms", "error")
        if row["query_id"] in texts
    }
    return {
        "case": run.case.name,
        "attempt": run.attempt.number,
        "run": run.number,
        "complete": run.status == Run.Status.COMPLETE,
        "seconds": run.seconds,
        "scorers": [_scorer(run, version, texts, rankings) for version in versions],
        "comparison": None,
        "passed": True,
    }


def _scorer(
    run: Run, version: ScorerVersion, texts: dict[int, str], rankings: dict[int, dict[str, Any]]
) -> dict[str, Any]:
    whole = CaseScore.objects.filter(run=run, version=version).order_by("-day").first()
    scores = {row.query_id: row for row in QueryScore.objects.filter(run=run, version=version)}
    per_query = {}
    for query_id, text in texts.items():
        ranking, score = rankings.get(query_id, {}), scores.get(query_id)
        per_query[text] = {
            "score": score.score if score else None,
            "low": score.low if score else None,
            "high": score.high if score else None,
            "total": ranking.get("total"),
            "took_ms": ranking.get("took_ms"),
            "error": ranking.get("error") or (score.error if score else "") or None,
        }
    return {
        "name": version.scorer.name,
        "score": whole.score if whole else None,
        "low": whole.low if whole else None,
        "high": whole.high if whole else None,
        "scored": whole.scored if whole else 0,
        "queries": len(texts),
        "per_query": per_query,
    }
