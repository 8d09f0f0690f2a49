"""The report of a case as JSON data."""

from typing import Any

from ninja import Schema
from pydantic import Field

from .case_report import CaseReport, ReportQuery


class TagResult(Schema):
    """The queries with a tag. no_results, failed: how many of them."""

    tag: str
    queries: int
    scored: int
    score: float | None
    documents: int
    rated: int
    coverage: float | None
    no_results: int = Field(validation_alias="empty")
    failed: int


class TimesResult(Schema):
    """Search times of a run by its id and its number."""

    run: int = Field(validation_alias="run.pk")
    number: int = Field(validation_alias="run.number")
    searches: int
    p50: int
    p90: int
    p95: int
    p99: int
    slowest: int


class ComparisonResult(Schema):
    """A run and the one before it, by their ids."""

    run: int = Field(validation_alias="run.pk")
    baseline: int = Field(validation_alias="baseline.pk")
    changed: int
    deviation: float


class DifferenceResult(Schema):
    """What a difference needs."""

    difference: float
    queries: int | None
    ratings: int | None


class PlanResult(Schema):
    """What the queries can show."""

    queries: int
    deviation: float
    chosen: ComparisonResult | None
    comparisons: list[ComparisonResult]
    detectable: float | None
    differences: list[DifferenceResult] = Field(validation_alias="rows")


class QueryResult(Schema):
    """A query. error: of its search, or else of the scorer."""

    score: float | None
    low: float | None
    high: float | None
    documents: int
    rated: int
    total: int | None
    took_ms: int | None
    error: str | None

    @staticmethod
    def resolve_error(query: ReportQuery) -> str | None:
        return query.error or query.score_error or None


class ReportResult(Schema):
    """A run by its id and its number; scores in points, coverage 0 to 1, times in milliseconds, None for what is not known.

    score, low, high, distribution, rate_next and plan are empty while `rescoring`. documents, rated: among the first `k` results.
    """

    case: str = Field(validation_alias="run.case.name")
    run: int = Field(validation_alias="run.pk")
    number: int = Field(validation_alias="run.number")
    attempt: int = Field(validation_alias="run.attempt.number")
    scorer: str = Field(validation_alias="version.scorer.name")
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
    tags: list[TagResult]
    distribution: list[dict[str, int]]
    times: list[TimesResult]
    rate_next: list[dict[str, Any]]
    plan: PlanResult | None
    per_query: dict[str, QueryResult]

    @staticmethod
    def resolve_rescoring(report: CaseReport) -> bool:
        return report.is_being_rescored or bool(report.awaited)

    @staticmethod
    def resolve_queries(report: CaseReport) -> int:
        return len(report.queries)

    @staticmethod
    def resolve_no_results(report: CaseReport) -> list[str]:
        return [query.text for query in report.empty]

    @staticmethod
    def resolve_failed(report: CaseReport) -> list[dict[str, str]]:
        return [{"query": query.text, "error": query.error} for query in report.failed]

    @staticmethod
    def resolve_distribution(report: CaseReport) -> list[dict[str, int]]:
        return [{"from": step.low, "to": step.high, "queries": step.queries} for step in report.distribution]

    @staticmethod
    def resolve_rate_next(report: CaseReport) -> list[dict[str, Any]]:
        texts = {query.query_id: query.text for query in report.queries}
        return [
            {"query": texts[row.query_id], "doc_id": row.doc_id, "rank": row.rank, "narrowing": row.narrowing}
            for row in report.candidates
        ]

    @staticmethod
    def resolve_per_query(report: CaseReport) -> dict[str, ReportQuery]:
        return {query.text: query for query in report.queries}


def build_report(report: CaseReport) -> dict[str, Any]:
    """Returns everything that the page says."""
    return ReportResult.from_orm(report).model_dump()
