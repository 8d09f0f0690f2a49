"""The history of a case's scores, and what the workbench shows next to the current one."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db.models import Exists, F, Max, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce

from relevancy.models import Attempt, Case, CaseScore, QueryScore, Rating, Run, ScorerVersion

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
    "updated_at",
)
MIN_RATINGS = 10  # of the book, before `ids_look_wrong` draws a conclusion


def recent_case_scores(case: Case, version: ScorerVersion, limit: int = MAX_POINTS) -> list[CaseScore]:
    """Returns the newest score of each of the case's last runs, oldest run first. One SQL statement.

    Of the runs and their attempts only the number, the name and what the score needs are loaded.
    """
    later = CaseScore.objects.filter(run=OuterRef("run"), version=version, day__gt=OuterRef("day"))
    rows = CaseScore.objects.filter(~Exists(later), run__case=case, version=version).select_related("run__attempt")
    rows = rows.only(*_SCORE_FIELDS, "run__number", "run__case", "run__attempt__number", "run__attempt__name")
    return list(rows.order_by("-run__number")[:limit])[::-1]


@dataclass(frozen=True)
class ScoreChange:
    """The score of a run, and the score of the last run before it that has one."""

    now: CaseScore | None
    before: CaseScore | None

    @property
    def difference(self) -> float | None:
        """The score minus the score before, in points."""
        if self.now is None or self.before is None or self.now.score is None or self.before.score is None:
            return None
        return self.now.score - self.before.score

    @property
    def scored_changed(self) -> int:
        """How many more queries were scored than before. This alone can change the score."""
        return self.now.scored - self.before.scored if self.now and self.before else 0

    @property
    def fewer(self) -> int:
        """The absolute value of `scored_changed`."""
        return abs(self.scored_changed)


def score_change(points: Sequence[CaseScore], run: Run) -> ScoreChange:
    """Finds a run in the result of `recent_case_scores`."""
    now = next((row for row in points if row.run_id == run.pk), None)
    earlier = [row for row in points if row.run.number < run.number and row.score is not None]
    return ScoreChange(now, earlier[-1] if earlier else None)


@dataclass
class SecondaryScore:
    """The score of a case under one of its secondary scorers.

    now: of the displayed run; while it is active, of the last run that has a score.
    history: the scores of the case's last runs, oldest first.
    """

    version: ScorerVersion
    now: CaseScore | None = None
    history: list[float | None] = field(default_factory=list)


def secondary_scores(case: Case, versions: Sequence[ScorerVersion], run: Run | None) -> list[SecondaryScore]:
    """Returns the scores under each version, in their order. One SQL statement; none without versions."""
    scores = {version.pk: SecondaryScore(version) for version in versions}
    if not scores or run is None:
        return list(scores.values())
    last_runs = case.runs.order_by("-number").values("pk")[:MAX_SPARKLINE_POINTS]
    rows = CaseScore.objects.filter(Q(run__in=last_runs) | Q(run=run), version__in=scores)
    # Later days overwrite earlier ones of the same run.
    newest = {(row.version_id, row.run_id): row for row in rows.order_by("run__number", "day")}
    for (version_id, run_id), row in newest.items():
        score = scores[version_id]
        score.history.append(row.score)
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
    """Returns the newest attempts with their parents. One SQL statement.

    Each has `score`, that of its newest run under the version, and `last_run`, the number of its newest run; None without one.
    """
    newest = CaseScore.objects.filter(run__attempt=OuterRef("pk"), version=version).order_by("-run__number", "-day")
    attempts = case.attempts.select_related("parent", "endpoint").annotate(score=Subquery(newest.values("score")[:1]))
    runs = Run.objects.filter(attempt=OuterRef("pk")).order_by("-number")
    attempts = attempts.annotate(last_run=Subquery(runs.values("number")[:1]))
    attempts = attempts.defer("endpoint__credentials", "endpoint__headers")
    return list(attempts.order_by("-number")[:limit])


def ids_look_wrong(run: Run, score: CaseScore | None) -> bool:
    """Returns whether no returned document is rated although there are ratings: the id field of the attempt may be wrong."""
    if score is None or (score.scored and score.score):
        return False
    if run.query_scores.filter(Q(value__gt=0) | Q(score__gt=0)).exists():
        return False
    ratings = Rating.objects.filter(query__book=run.case.book_id, value__isnull=False)
    return ratings[:MIN_RATINGS].count() == MIN_RATINGS
