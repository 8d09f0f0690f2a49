"""The history of a case's scores, and what the workbench shows next to the current one."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Exists, F, Max, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from relevancy.models import Attempt, Case, CaseScore, QueryScore, Run, ScorerVersion, current_ratings

MAX_POINTS = 30  # of the history chart
MAX_SPARKLINE_POINTS = 12
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
)
_SETTLED_FIELDS = ("version__measure", "run__case", "run__fields_dropped_at")  # that `is_settled` needs as well
MIN_RATINGS = 10  # of the book, before `ids_look_wrong` draws a conclusion


def recent_case_scores(case: Case, version: ScorerVersion, limit: int = MAX_POINTS) -> list[CaseScore]:
    """Returns the newest score of each of the case's last runs, oldest run first. One SQL statement.

    Of the runs and their attempts only the number, the name and what the score needs are loaded.
    """
    later = CaseScore.objects.filter(run=OuterRef("run"), version=version, day__gt=OuterRef("day"))
    rows = CaseScore.objects.filter(~Exists(later), run__case=case, version=version)
    rows = (
        rows.select_related("run__attempt", "version")
        .with_case_revision()
        .only(
            *_SCORE_FIELDS,
            *_SETTLED_FIELDS,
            "run__number",
            "run__attempt__number",
            "run__attempt__name",
        )
    )
    return list(rows.order_by("-run__number")[:limit])[::-1]


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
    rows = rows.with_case_revision().select_related("run", "version").only(*_SCORE_FIELDS, *_SETTLED_FIELDS)
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
    """Returns the present query with the largest gap; None if no query has one.

    One SQL statement; two if no query has a gap, or if the one with the largest has been removed from the case.
    """
    scores = QueryScore.objects.filter(run=run, version=version).annotate(gap=Coalesce("ideal", 100.0) - F("score"))
    present = scores.filter(query__case_queries__case=run.case_id, query__case_queries__removed_at=None, gap__gt=0)
    ordered = present.order_by("-gap", "query__case_queries__position").values_list(
        "query__case_queries__id", "query__text", "gap"
    )
    # The largest gap is found in one table; only the queries that have it are looked up in the others.
    largest = scores.order_by().values("run").annotate(largest=Max("gap")).values("largest")[:1]
    row = ordered.filter(gap=Subquery(largest)).first() or ordered.first()
    return LargestGap(*row) if row else None


def attempts_with_scores(case: Case, version: ScorerVersion | None, limit: int = 60) -> list[Attempt]:
    """Returns the newest attempts with their parents. Two SQL statements.

    Each has `case_score`: the score, under the version, of its last complete run, or of its last finished run if none is complete;
    and `last_run`, the number of its newest run. None where there is none.
    """
    all_runs = Run.objects.filter(attempt=OuterRef("pk")).order_by("-number")
    preferred = (
        all_runs.finished().annotate(is_complete=Q(status=Run.Status.COMPLETE)).order_by("-is_complete", "-number")
    )
    attempts = case.attempts.select_related("parent", "endpoint").annotate(
        scored_run_id=Subquery(preferred.values("pk")[:1]), last_run=Subquery(all_runs.values("number")[:1])
    )
    attempts = attempts.defer("endpoint__credentials", "endpoint__headers")
    found: list[Any] = list(attempts.order_by("-number")[:limit])
    rows = CaseScore.objects.filter(run__in=[attempt.scored_run_id for attempt in found], version=version)
    rows = rows.select_related("run", "version").defer("run__config").with_case_revision().order_by("day")
    by_run = {row.run_id: row for row in rows}
    for attempt in found:
        attempt.case_score = by_run.get(attempt.scored_run_id)
    return found


def compared_attempts(attempts: Sequence[Any]) -> list[tuple[Run, Run]]:
    """Returns the last run of each attempt and the last run of its parent, of `attempts_with_scores`, as far as both have a score."""
    by_id = {attempt.pk: attempt for attempt in attempts}
    parents = [(attempt, by_id.get(attempt.parent_id)) for attempt in attempts]
    return [
        (attempt.case_score.run, parent.case_score.run)
        for attempt, parent in parents
        if attempt.case_score and parent and parent.case_score
    ]


def ids_look_wrong(run: Run, score: CaseScore | None) -> bool:
    """Returns whether no returned document is rated although there are ratings: the id field of the attempt may be wrong."""
    if score is None or (score.scored and score.score) or run.failed >= run.done:
        return False
    if run.query_scores.filter(Q(value__gt=0) | Q(score__gt=0)).exists():
        return False
    ratings = current_ratings(("id",), query__book=run.case.book_id, value__isnull=False)
    return len(ratings[:MIN_RATINGS]) == MIN_RATINGS
