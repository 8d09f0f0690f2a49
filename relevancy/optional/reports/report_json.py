"""The report of a case as JSON data."""

from typing import Any, TypedDict

from .case_report import CaseReport, ReportQuery, TagReport
from .planning import PastComparison, QueryPlan
from .search_times import SearchTimes


class ReportResult(TypedDict):
    """A run by its id and its number; scores in points, coverage 0 to 1, times in milliseconds, None for what is not known.

    score, low, high, distribution, rate_next and plan are empty while `rescoring`. documents, rated: among the first `k` results.
    """

    case: str
    run: int
    number: int
    attempt: int
    scorer: str
    k: int
    rescoring: bool
    score: float | None
    low: float | None
    high: float | None
    scored: int
    queries: int
    documents: int
    rated: int
    coverage: float | None
    no_results: list[str]
    failed: list[dict[str, str]]
    not_searched: int
    tags: list[dict[str, Any]]
    distribution: list[dict[str, int]]
    times: list[dict[str, int]]
    rate_next: list[dict[str, Any]]
    plan: dict[str, Any] | None
    per_query: dict[str, dict[str, Any]]


def build_report(report: CaseReport) -> ReportResult:
    """Returns everything that the page says."""
    texts = {query.query_id: query.text for query in report.queries}
    return {
        "case": report.run.case.name,
        "run": report.run.pk,
        "number": report.run.number,
        "attempt": report.run.attempt.number,
        "scorer": report.version.scorer.name,
        "k": report.k,
        "rescoring": report.is_being_rescored or bool(report.awaited),
        "score": report.score,
        "low": report.low,
        "high": report.high,
        "scored": report.scored,
        "queries": len(report.queries),
        "documents": report.documents,
        "rated": report.rated,
        "coverage": report.coverage,
        "no_results": [query.text for query in report.empty],
        "failed": [{"query": query.text, "error": query.error} for query in report.failed],
        "not_searched": report.not_searched,
        "tags": [_build_tag(tag) for tag in report.tags],
        "distribution": [{"from": step.low, "to": step.high, "queries": step.queries} for step in report.distribution],
        "times": [_build_times(times) for times in report.times],
        "rate_next": [
            {
                "query": texts[candidate.query_id],
                "doc_id": candidate.doc_id,
                "rank": candidate.rank,
                "narrowing": candidate.narrowing,
            }
            for candidate in report.candidates
        ],
        "plan": _build_plan(report.plan) if report.plan else None,
        "per_query": {query.text: _build_query(query) for query in report.queries},
    }


def _build_tag(tag: TagReport) -> dict[str, Any]:
    return {
        "tag": tag.tag,
        "queries": tag.queries,
        "scored": tag.scored,
        "score": tag.score,
        "documents": tag.documents,
        "rated": tag.rated,
        "coverage": tag.coverage,
        "no_results": tag.empty,
        "failed": tag.failed,
    }


def _build_times(times: SearchTimes) -> dict[str, int]:
    return {
        "run": times.run.pk,
        "number": times.run.number,
        "searches": times.searches,
        "p50": times.p50,
        "p90": times.p90,
        "p95": times.p95,
        "p99": times.p99,
        "slowest": times.slowest,
    }


def _build_plan(plan: QueryPlan) -> dict[str, Any]:
    return {
        "queries": plan.queries,
        "deviation": plan.deviation,
        "chosen": _build_comparison(plan.chosen) if plan.chosen else None,
        "comparisons": [_build_comparison(comparison) for comparison in plan.comparisons],
        "detectable": plan.detectable,
        "differences": [
            {"difference": row.difference, "queries": row.queries, "ratings": row.ratings} for row in plan.rows
        ],
    }


def _build_comparison(comparison: PastComparison) -> dict[str, Any]:
    return {
        "run": comparison.run.pk,
        "baseline": comparison.baseline.pk,
        "changed": comparison.changed,
        "deviation": comparison.deviation,
    }


def _build_query(query: ReportQuery) -> dict[str, Any]:
    return {
        "score": query.score,
        "low": query.low,
        "high": query.high,
        "documents": query.documents,
        "rated": query.rated,
        "total": query.total,
        "took_ms": query.took_ms,
        "error": query.error or query.score_error or None,
    }
