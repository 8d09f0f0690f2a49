"""The report of a run of a case under a scorer."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import batched
from typing import Any

from relevancy import scores, scoring
from relevancy.comparison import read_lists, unique
from relevancy.models import CaseQuery, Run, ScorerVersion

from .planning import DEFAULT_DIFFERENCES, QueryPlan, find_planned_runs, plan_queries
from .rating_candidates import OpenQuery, RatingCandidate, find_candidates
from .search_times import SearchTimes, read_search_times

BATCH = 500  # queries whose result lists are read at a time
STEP = 10  # points of the distribution of scores
MAX_TAGS = 100  # those with the most queries
_COLUMNS = (
    "pk",
    "query_id",
    "query__text",
    "query__tags",
    "weight",
    "score",
    "low",
    "high",
    "score_error",
    "scored__revision",
    "is_stale",
    "ranking_id",
    "hits",
    "returned",
    "took_ms",
    "error_kind",
    "error",
)


@dataclass(frozen=True, slots=True)
class ReportQuery:
    """A query in the run.

    case_query_id: of the case query, which addresses name.
    score, low, high: points; None if it has no score, or is being rescored.
    documents: distinct ones among the results that the scorer considers; rated: how many of them are.
    total: hits that the engine counted, or returned if it counts none; None if it was not searched successfully.
    error: why the search failed; empty if it did not. was_searched: whether the run has a result for it.
    """

    case_query_id: int
    query_id: int
    text: str
    tags: Sequence[str]
    weight: float
    score: float | None
    low: float | None
    high: float | None
    is_being_rescored: bool
    was_searched: bool
    documents: int
    rated: int
    total: int | None
    took_ms: int | None
    error: str
    score_error: str

    @property
    def coverage(self) -> float | None:
        """The rated share of the documents, 0 to 1; None without documents."""
        return self.rated / self.documents if self.documents else None

    @property
    def is_empty(self) -> bool:
        """Whether the search succeeded and found nothing."""
        return self.total == 0


@dataclass(frozen=True)
class TagReport:
    """The queries with a tag. score: weighted mean of those that are scored; None if none is."""

    tag: str
    queries: int
    scored: int
    score: float | None
    documents: int
    rated: int
    empty: int
    failed: int

    @property
    def coverage(self) -> float | None:
        """The rated share of the documents, 0 to 1; None without documents."""
        return self.rated / self.documents if self.documents else None


@dataclass(frozen=True)
class ScoreStep:
    """How many queries score from `low` up to, but not including, `high`; 100 belongs to the last step."""

    low: int
    high: int
    queries: int


@dataclass(frozen=True)
class CaseReport:
    """Everything that the report of a run says.

    score, low, high: of the case over the scored queries; None while scores are being computed, and without any.
    k: how many results the scorer considers.
    is_being_rescored: whether scores are older than the ratings, or missing. Then no figure is based on scores.
    distribution: of the scores; empty without any.
    times: of this run and others, newest first.
    candidates: what to rate next; none for scripts.
    plan: None if nothing can be said, and while scores are being computed: those of the run, or of the earlier runs in `awaited`.
    """

    run: Run
    version: ScorerVersion
    k: int
    queries: Sequence[ReportQuery]
    tags: Sequence[TagReport]
    score: float | None
    low: float | None
    high: float | None
    is_being_rescored: bool
    distribution: Sequence[ScoreStep]
    times: Sequence[SearchTimes]
    candidates: Sequence[RatingCandidate]
    plan: QueryPlan | None
    awaited: Sequence[Run]

    @property
    def scored(self) -> int:
        return sum(query.score is not None for query in self.queries)

    @property
    def documents(self) -> int:
        return sum(query.documents for query in self.queries)

    @property
    def rated(self) -> int:
        return sum(query.rated for query in self.queries)

    @property
    def coverage(self) -> float | None:
        """The rated share of the documents, 0 to 1; None without documents."""
        return self.rated / self.documents if self.documents else None

    @property
    def empty(self) -> list[ReportQuery]:
        """The queries that found nothing."""
        return [query for query in self.queries if query.is_empty]

    @property
    def failed(self) -> list[ReportQuery]:
        """The queries whose search failed."""
        return [query for query in self.queries if query.error]

    @property
    def not_searched(self) -> int:
        """How many queries the run has no result for."""
        return sum(not query.was_searched for query in self.queries)

    def slowest(self, count: int) -> list[ReportQuery]:
        """Returns the queries whose searches took longest."""
        timed = [query for query in self.queries if query.took_ms is not None]
        return sorted(timed, key=lambda query: -(query.took_ms or 0))[:count]

    def least_covered(self, count: int) -> list[ReportQuery]:
        """Returns the queries with the smallest rated share, those with the most unrated documents first; not those that are rated."""
        partly = [query for query in self.queries if query.rated < query.documents]
        return sorted(partly, key=lambda query: (query.coverage or 0.0, -query.documents))[:count]


def build_report(
    run: Run,
    version: ScorerVersion,
    *,
    differences: Sequence[float] = DEFAULT_DIFFERENCES,
    compared: int | None = None,
) -> CaseReport:
    """Returns the report of a finished run, whose case and book have been read.

    differences: in points, that the plan is for. compared: see `plan_queries`. A few SQL statements for 500 queries.
    """
    k = scores.considered_depth(version, int(run.config["depth"]))
    queries = _read_queries(run, version, k)
    is_being_rescored = any(query.is_being_rescored for query in queries)
    weights = sum(query.weight for query in queries if query.score is not None)
    is_known = weights > 0 and not is_being_rescored
    planned = [] if is_being_rescored else find_planned_runs(run, version)
    awaited = [earlier for earlier in planned[1:] if scores.count_stale(earlier, version)]
    counts = Counter(min(int(query.score // STEP), 100 // STEP - 1) for query in queries if query.score is not None)
    distribution = [ScoreStep(step * STEP, (step + 1) * STEP, counts[step]) for step in range(100 // STEP)]
    open_queries = [
        OpenQuery(query.query_id, query.weight / weights, query.high - query.low)
        for query in queries
        if is_known
        and query.score is not None
        and query.low is not None
        and query.high is not None
        and query.high > query.low
    ]
    return CaseReport(
        run=run,
        version=version,
        k=k,
        queries=queries,
        tags=_report_tags(queries, is_known=not is_being_rescored),
        score=_mean(queries, "score", weights) if is_known else None,
        low=_mean(queries, "low", weights) if is_known else None,
        high=_mean(queries, "high", weights) if is_known else None,
        is_being_rescored=is_being_rescored,
        distribution=distribution if is_known else [],
        times=read_search_times(run.case, run),
        candidates=find_candidates(run, version, open_queries) if is_known else [],
        plan=None if is_being_rescored or awaited else plan_queries(planned, version, differences, compared),
        awaited=awaited,
    )


def _read_queries(run: Run, version: ScorerVersion, k: int) -> list[ReportQuery]:
    case_queries = CaseQuery.objects.filter(case=run.case_id).present().with_scores(run, version)
    rows = list(case_queries.order_by("position", "id").values(*_COLUMNS))
    counts = _count_documents(run, [row["query_id"] for row in rows], k)
    is_final = bool(scores.missing_measures([version])) or bool(version.script and run.fields_dropped_at)
    return [_build_query(row, counts, is_final=is_final) for row in rows]


def _build_query(row: Mapping[str, Any], counts: Mapping[int, tuple[int, int]], *, is_final: bool) -> ReportQuery:
    """is_final: whether a score that is older than the ratings stays as it is."""
    was_searched = row["ranking_id"] is not None
    has_failed = bool(row["error_kind"])
    is_outdated = was_searched and not has_failed and (row["is_stale"] or row["scored__revision"] is None)
    documents, rated = counts.get(row["query_id"], (0, 0))
    returned = row["returned"] if row["hits"] is None else row["hits"]
    return ReportQuery(
        case_query_id=row["pk"],
        query_id=row["query_id"],
        text=row["query__text"],
        tags=row["query__tags"],
        weight=row["weight"],
        score=None if is_outdated else row["score"],
        low=None if is_outdated else row["low"],
        high=None if is_outdated else row["high"],
        is_being_rescored=is_outdated and not is_final,
        was_searched=was_searched,
        documents=documents,
        rated=rated,
        total=returned if was_searched and not has_failed else None,
        took_ms=None if has_failed else row["took_ms"],
        error=row["error"] if has_failed else "",
        score_error=row["score_error"] or "",
    )


def _count_documents(run: Run, query_ids: Sequence[int], k: int) -> dict[int, tuple[int, int]]:
    """Returns how many distinct documents the first k results have, and how many of them are rated, by query id."""
    counts = {}
    for batch in batched(query_ids, BATCH):
        known_grades = scores.known_grades(run.case.book, batch)
        for query_id, result in read_lists(run, batch).items():
            documents = unique(result.doc_ids[:k])
            counts[query_id] = len(documents), sum(doc_id in known_grades[query_id] for doc_id in documents)
    return counts


def _mean(queries: Sequence[ReportQuery], name: str, weights: float) -> float | None:
    """Returns the weighted mean of a column over the scored queries; None if a scored query has no value in it."""
    values = [(query.weight, getattr(query, name)) for query in queries if query.score is not None]
    if any(value is None for _, value in values):
        return None
    # Exact, so that the mean is that of the page.
    return scoring.case_mean(
        scoring.points(sum(scoring.exact_units(weight * value) for weight, value in values)), weights
    )


def _report_tags(queries: Sequence[ReportQuery], *, is_known: bool) -> list[TagReport]:
    """Returns the tags in their order. A query with several tags counts for each."""
    by_tag: dict[str, list[ReportQuery]] = {}
    for query in queries:
        for tag in query.tags:
            by_tag.setdefault(tag, []).append(query)
    chosen = sorted(sorted(by_tag, key=lambda tag: -len(by_tag[tag]))[:MAX_TAGS], key=str.casefold)
    reports = []
    for tag in chosen:
        members = by_tag[tag]
        weights = sum(query.weight for query in members if query.score is not None)
        reports.append(
            TagReport(
                tag=tag,
                queries=len(members),
                scored=sum(query.score is not None for query in members),
                score=_mean(members, "score", weights) if is_known and weights > 0 else None,
                documents=sum(query.documents for query in members),
                rated=sum(query.rated for query in members),
                empty=sum(query.is_empty for query in members),
                failed=sum(bool(query.error) for query in members),
            )
        )
    return reports
