"""The history of a case's scores, and what the workbench shows next to the current one."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import F, OuterRef, Q, QuerySet, Subquery

from relevancy.models import (
    Attempt,
    Case,
    CaseQuery,
    CaseScore,
    Query,
    QueryScore,
    Rating,
    Run,
    ScorerVersion,
    compiled,
)
from relevancy.models.case import LARGE_CASE
from relevancy.models.statements import prepared_cursor

MAX_POINTS = 30  # of the history chart
MAX_SPARKLINE_POINTS = 12
MAX_ATTEMPTS = 60  # of the tree beside the template
_SCORE_FIELDS = (
    "run",
    "version",
    "day",
    "score",
    "low",
    "high",
    "scored",
    "queries",
    "unrated",
    "failed",
    "revision",
    "updated_at",
    "run__fields_dropped_at",
)
MIN_RATINGS = 10  # of the book, before `ids_look_wrong` draws a conclusion


def recent_case_scores(case: Case, version: ScorerVersion, limit: int = MAX_POINTS) -> list[CaseScore]:
    """Returns the newest score of each of the case's last runs, with its former one, oldest run first. One SQL statement.

    Of the runs and their attempts only the number, the name and what the score needs are loaded.
    """
    case_scores = _recent_case_scores(case.pk, version.pk, limit=limit)
    for row in case_scores:
        row.version, row.run.case = version, case
    return case_scores[::-1]


@compiled
def _recent_case_scores(case_id: int, version_id: int, *, limit: int) -> QuerySet[CaseScore]:
    newest = CaseScore.objects.newest().filter(run__case=case_id, version=version_id)
    rows = newest.with_case_revision(Case(pk=case_id)).with_former().select_related("run__attempt")
    shown = rows.only(*_SCORE_FIELDS, "run__number", "run__attempt__number", "run__attempt__name")
    return shown.order_by("-run__number")[:limit]


def is_settled(case_score: CaseScore) -> bool:
    """Returns whether a score is based on the present ratings, or can no longer be: scripts cannot score a run without its displayed
    fields. Its run and version have been read."""
    return case_score.is_current or bool(not case_score.version.measure and case_score.run.fields_dropped_at)


@dataclass
class SecondaryScore:
    """The score of a case under one of its secondary scorers.

    now: of the displayed run; while it is active, of the last run that has a score.
    history: the scores of the case's last runs, oldest first; None for a run without a score, or that is being rescored.
    is_being_rescored: whether `now` or the history is being computed from newer ratings.
    """

    version: ScorerVersion
    now: CaseScore | None = None
    history: list[float | None] = field(default_factory=list)
    is_being_rescored: bool = False


def secondary_scores(case: Case, versions: Sequence[ScorerVersion], run: Run | None) -> list[SecondaryScore]:
    """Returns the scores under each version, in their order. One SQL statement; none without versions."""
    scores = {version.pk: SecondaryScore(version) for version in versions}
    if not scores or run is None:
        return list(scores.values())
    last_runs = case.runs.order_by("-number").values("pk")[:MAX_SPARKLINE_POINTS]
    rows = CaseScore.objects.filter(Q(run__in=last_runs) | Q(run=run), version__in=scores)
    # Later days overwrite earlier ones of the same run.
    rows = rows.with_case_revision(case).select_related("run", "version")
    rows = rows.only(*_SCORE_FIELDS, "version__measure", "run__case")
    newest = {(row.version_id, row.run_id): row for row in rows.order_by("run__number", "day")}
    for (version_id, run_id), row in newest.items():
        score = scores[version_id]
        has_settled = is_settled(row)
        score.history.append(row.score if has_settled else None)
        score.is_being_rescored |= not has_settled
        if run_id == run.pk or run.is_active:
            score.now = row
    return list(scores.values())


@dataclass(frozen=True)
class LargestGap:
    """The query of a case with the largest gap: the points between its score and its ideal score.

    The ideal score is 100 if the scorer does not know it.
    """

    case_query_id: int
    text: str
    gap: float


def largest_gap(run: Run, version: ScorerVersion) -> LargestGap | None:
    """Returns the present query with the largest gap; None if no query has one. One SQL statement, which reads the index
    `query_score_gap` from its end."""
    with prepared_cursor() as cursor:
        cursor.execute(_LARGEST_GAP, [run.case_id, run.pk, version.pk])
        row = cursor.fetchone()
    return LargestGap(*row) if row else None


# Written by hand because every rating reads it: building the statement took longer than executing it.
_GAP = "COALESCE(stored.ideal, 100.0) - stored.score"
_LARGEST_GAP = f"""
    SELECT case_query.id, query.text, {_GAP}
    FROM {QueryScore._meta.db_table} stored
    JOIN {Query._meta.db_table} query ON query.id = stored.query_id
    JOIN {CaseQuery._meta.db_table} case_query
        ON case_query.case_id = %s AND case_query.query_id = stored.query_id AND case_query.removed_at IS NULL
    WHERE stored.run_id = %s AND stored.version_id = %s AND {_GAP} > 0
    ORDER BY {_GAP} DESC, case_query.position
    LIMIT 1
"""


@dataclass(frozen=True)
class ScoredAttempt:
    """An attempt with its parent, and how its runs scored.

    case_score: the score of its last complete run, or of its last finished run if none is complete; None where there is none.
    last_run: the number of its newest run; None without one.
    """

    attempt: Attempt
    case_score: CaseScore | None
    last_run: int | None

    @property
    def is_settled(self) -> bool:
        """Whether the score does not wait for newer ratings; see `is_settled`. True without a score."""
        return self.case_score is None or is_settled(self.case_score)

    @property
    def score(self) -> float | None:
        """The score, 0–100; None as long as it is being rescored."""
        return self.case_score.score if self.case_score and self.is_settled else None


def attempts_with_scores(
    case: Case,
    version: ScorerVersion | None,
    limit: int = MAX_ATTEMPTS,
    *,
    numbers: Collection[int] = (),
    also: int = 0,
) -> list[ScoredAttempt]:
    """Returns attempts with their scores under the version, newest first: those with the given numbers, or else the newest ones. Two
    SQL statements.

    also: the number of an attempt that is returned as well, however old it is.
    """
    listed = (
        list(_attempts_with_runs(case.pk).filter(number__in=numbers))
        if numbers
        else _newest_attempts(case.pk, also, limit=limit)
    )
    for attempt in listed:
        attempt.case = case
    rows = CaseScore.objects.filter(run__in=[attempt.scored_run_id for attempt in listed], version=version)
    rows = rows.select_related("run", "version").defer("run__config").with_case_revision(case).order_by("day")
    by_run = {row.run_id: row for row in rows}
    return [ScoredAttempt(attempt, by_run.get(attempt.scored_run_id), attempt.last_run) for attempt in listed]


@compiled
def _newest_attempts(case_id: int, also: int, *, limit: int) -> QuerySet[Any]:
    newest = Attempt.objects.filter(case=case_id).order_by("-number").values("number")[:limit]
    return _attempts_with_runs(case_id).filter(Q(number__in=newest) | Q(number=also))


def _attempts_with_runs(case_id: int) -> QuerySet[Any]:
    """The attempts of a case, newest first, with the run whose score counts and the number of the newest run."""
    all_runs = Run.objects.filter(attempt=OuterRef("pk")).order_by("-number")
    preferred = (
        all_runs.finished().annotate(is_complete=Q(status=Run.Status.COMPLETE)).order_by("-is_complete", "-number")
    )
    attempts = Attempt.objects.filter(case=case_id).select_related("parent", "endpoint", "created_by")
    attempts = attempts.annotate(
        scored_run_id=Subquery(preferred.values("pk")[:1]), last_run=Subquery(all_runs.values("number")[:1])
    )
    return attempts.defer("endpoint__credentials", "endpoint__headers").order_by("-number")


def compared_attempts(attempts: Sequence[ScoredAttempt]) -> list[tuple[Run, Run]]:
    """Returns the last run of each attempt and the last run of its parent, as far as both have a score."""
    by_id = {scored.attempt.pk: scored for scored in attempts}
    pairs = [(scored, by_id.get(scored.attempt.parent_id or 0)) for scored in attempts]
    return [
        (scored.case_score.run, parent.case_score.run)
        for scored, parent in pairs
        if scored.case_score and parent and parent.case_score
    ]


def count_queries(case: Case) -> int:
    """Returns the number of present queries of a case; of one with more than `LARGE_CASE`, what its newest score has counted and
    what was added since. At most two SQL statements."""
    present = case.case_queries.present().order_by()
    counted: int = present[: LARGE_CASE + 1].count()
    if counted <= LARGE_CASE:
        return counted
    newest: int = _newest_scores(case.pk).values_list("queries", flat=True).first() or 0
    return newest if newest > LARGE_CASE else present.count()


def queries_added(case_id: int, count: int) -> None:
    """Lets `count_queries` count queries that a large case has got since its newest score. One SQL statement, on one row."""
    newest = Subquery(_newest_scores(case_id).values("pk")[:1])
    CaseScore.objects.filter(pk=newest, queries__gt=LARGE_CASE).update(queries=F("queries") + count)


def _newest_scores(case_id: int) -> QuerySet[CaseScore]:
    return CaseScore.objects.filter(run__case=case_id).order_by("-updated_at", "-pk")


def ids_look_wrong(run: Run, score: CaseScore | None = None) -> bool:
    """Returns whether no returned document is rated although there are ratings: the id field of the attempt may be wrong.

    `score`: one of the run, if it has been read; it saves a statement. A run without a score has nothing to be told by.
    """
    if run.failed >= run.done or (score is not None and score.scored and score.score):
        return False
    if run.query_scores.filter(Q(value__gt=0) | Q(score__gt=0)).exists():
        return False
    if score is None and not CaseScore.objects.filter(run=run).exists():
        return False
    ratings = Rating.objects.filter(query__book=run.case.book_id, value__isnull=False)
    return len(ratings[:MIN_RATINGS]) == MIN_RATINGS
