"""What a case's scores were and are: the reads behind the head of its page."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, Exists, F, FilteredRelation, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from relevancy.models import Attempt, Case, CaseScore, QueryScore, Rating, Run, ScorerVersion

POINTS = 30
FEW = 12  # points of a small history


def history(case: Case, version: ScorerVersion, limit: int = POINTS) -> list[CaseScore]:
    """The newest score of each of the case's last runs, oldest run first. One SQL statement."""
    later = CaseScore.objects.filter(run=OuterRef("run"), version=version, day__gt=OuterRef("day"))
    rows = CaseScore.objects.filter(~Exists(later), run__case=case, version=version).select_related("run__attempt")
    return list(rows.order_by("-run__number")[:limit])[::-1]


@dataclass(frozen=True)
class Standing:
    """A run's score, and that of the last run before it that has one. `query_count_changed`: scored n differs between them."""

    now: CaseScore | None
    before: CaseScore | None

    @property
    def difference(self) -> float | None:
        """Points gained since the run before."""
        if self.now is None or self.before is None or self.now.score is None or self.before.score is None:
            return None
        return self.now.score - self.before.score

    @property
    def scored_changed(self) -> int:
        """How many more queries were scored than in the run before: a difference of scores may come from that alone."""
        return self.now.scored - self.before.scored if self.now and self.before else 0

    @property
    def fewer(self) -> int:
        """`scored_changed` as a positive number."""
        return abs(self.scored_changed)


def standing(points: list[CaseScore], run: Run) -> Standing:
    """Where a run stands among the points of `history`."""
    now = next((row for row in points if row.run_id == run.pk), None)
    earlier = [row for row in points if row.run.number < run.number and row.score is not None]
    return Standing(now, earlier[-1] if earlier else None)


@dataclass
class Beside:
    """A run's score under a further scorer: `now`, of the run shown or while one is under way of the last that has one, and the
    case's last runs' scores, oldest first."""

    version: ScorerVersion
    now: CaseScore | None = None
    history: list[float | None] = field(default_factory=list)


def beside(case: Case, versions: Sequence[ScorerVersion], run: Run | None) -> list[Beside]:
    """The case's scores under several versions, in their order. One SQL statement, none without versions."""
    found = {version.pk: Beside(version) for version in versions}
    if not found or run is None:
        return list(found.values())
    last = case.runs.order_by("-number").values("pk")[:FEW]
    rows = CaseScore.objects.filter(Q(run__in=last) | Q(run=run), version__in=found)
    newest = {
        (row.version_id, row.run_id): row for row in rows.order_by("run__number", "day")
    }  # of each run its last day
    for (version_id, run_id), row in newest.items():
        each = found[version_id]
        each.history.append(row.score)
        if run_id == run.pk or run.under_way:
            each.now = row
    return list(found.values())


@dataclass(frozen=True)
class Gain:
    """A query of a case and the points it lacks to its ideal; 100 is the ideal where the scorer knows none."""

    entry_id: int
    text: str
    gap: float


def most_to_gain(run: Run, version: ScorerVersion) -> Gain | None:
    """The present query whose score lies furthest below its ideal; None where none does. One SQL statement."""
    scores = QueryScore.objects.filter(
        run=run, version=version, query__case_queries__case=run.case_id, query__case_queries__removed_at=None
    )
    place = "query__case_queries__position"
    row = (
        scores.annotate(gap=Coalesce("ideal", 100.0) - F("score"))
        .filter(gap__gt=0)
        .order_by("-gap", place)
        .values_list("query__case_queries__id", "query__text", "gap")
        .first()
    )
    return Gain(*row) if row else None


def attempts_with_scores(case: Case, version: ScorerVersion | None, limit: int = 60) -> list[Attempt]:
    """The newest attempts, each with `score` (of its newest run under the version) and its parent. One SQL statement."""
    newest = CaseScore.objects.filter(run__attempt=OuterRef("pk"), version=version).order_by("-run__number", "-day")
    attempts = case.attempts.select_related("parent", "endpoint").annotate(score=Subquery(newest.values("score")[:1]))
    attempts = attempts.defer("endpoint__credentials", "endpoint__headers")
    return list(attempts.order_by("-number")[:limit])


def unsearched(run: Run) -> dict[str, int]:
    """`{new, edited}`: present queries of the case without a ranking in the run, and those whose text or options were
    others then. One SQL statement."""
    # The relation names the run, so that the cost does not grow with the number of runs.
    there = FilteredRelation("query__rankings", condition=Q(query__rankings__run=run))
    same = Q(there__text=F("query__text"), there__options=F("options"))
    counts: dict[str, int] = (
        run.case.case_queries.present()
        .alias(there=there)
        .aggregate(
            new=Count("id", filter=Q(there__id=None)), edited=Count("id", filter=Q(there__id__isnull=False) & ~same)
        )
    )
    return counts


def ids_look_wrong(run: Run, score: CaseScore | None) -> bool:
    """Nothing returned is known to the ratings although there are many: the id field may be the wrong one."""
    if score is None or (score.scored and score.score):
        return False
    if run.query_scores.filter(Q(value__gt=0) | Q(score__gt=0)).exists():
        return False
    return bool(Rating.objects.filter(query__book=run.case.book_id, value__isnull=False)[:10].count() == 10)


def run_to_show(case: Any, number: int) -> Run | None:
    """The case's run of that number, with what its page needs; None if there is none."""
    runs = Run.objects.filter(case=case, number=number) if number else Run.objects.none()
    return _with_company(runs).first()


def newest_run(case: Any) -> Run | None:
    """The case's newest run, with what its page needs."""
    return _with_company(Run.objects.newest_for(case)).first()


def _with_company(runs: QuerySet[Run]) -> QuerySet[Run]:
    """What the page of a run needs besides it; secrets stay in the database until an engine is asked."""
    runs = runs.select_related("attempt__endpoint", "case__book", "created_by")
    return runs.defer("attempt__endpoint__credentials", "attempt__endpoint__headers")
