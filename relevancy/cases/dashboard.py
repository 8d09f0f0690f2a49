"""The cases of the home page with their scores.

The database filters and sorts the cases; details are read only for the cases of one page. The number of SQL statements does
not depend on the number of cases.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Exists, F, FloatField, Func, OuterRef, Q, QuerySet, Subquery, Window
from django.db.models.functions import Coalesce, Lower, RowNumber

from relevancy import scores
from relevancy.models import Case, CaseQuery, CaseScore, CaseScorer, Role, Run, ScorerVersion
from relevancy.models.case import LARGE_CASE
from relevancy.models.subquery_count import SubqueryCount

HISTORY_RUNS = 12
MAX_WAITING = 2_000  # cases of one user that are looked through for what waits
_UNSCORED_STATUSES = (*Run.ACTIVE_STATUSES, Run.Status.FAILED)  # whose scores say nothing about the attempt
SORT_KEYS = ("name", "score", "change", "scored", "unrated", "run")


@dataclass
class CaseRow:
    """A case as the home page lists it.

    version: the primary scorer's version; None if the case has no scorer, which only an administrator can bring about.
    query_count: the number of queries in the case; 0 if it has no scorer.
    run: the newest run.
    scored_run: the newest finished run with a score under `version`, which may be older than `run`; failed runs do not count.
    score: the newest score of `scored_run`.
    change: the difference in points between `scored_run` and the last complete run before it; see `scores.compare_runs`.
    is_being_rescored: whether `score` or `change` is being computed from newer ratings.
    history: the last scores, 0–100, oldest first; None for a run that could not be scored, or is being rescored.
    """

    case: Case
    version: ScorerVersion | None = None
    query_count: int = 0
    run: Run | None = None
    scored_run: Run | None = None
    score: CaseScore | None = None
    change: float | None = None
    is_being_rescored: bool = False
    history: list[float | None] = field(default_factory=list)

    @property
    def is_active(self) -> bool:
        """Whether the newest run is waiting or running."""
        return bool(self.run and self.run.is_active)

    @property
    def is_score_outdated(self) -> bool:
        """Whether the score belongs to an older run than the newest one."""
        return bool(self.run and self.scored_run and self.run.pk != self.scored_run.pk)


@dataclass(frozen=True)
class Waiting:
    """What waits for a person.

    failed: cases of which the newest run failed or lacks results, newest run first, for those who may run it again. Each has
        `run_number`, `run_status` and `run_failed`, the number of searches that failed.
    unrated: cases with results that the newest score counts and nobody has rated, most first, for those who may rate them.
    case_count: the number of cases that the person can see.
    """

    failed: Sequence[Any]
    unrated: Sequence[Any]
    case_count: int


def waiting_for(user: Any) -> Waiting:
    """Returns what waits for a person in the cases that are not archived. One SQL statement."""
    newest_run = Run.objects.filter(case=OuterRef("pk")).order_by("-number")
    listed: QuerySet[Any] = Case.objects.visible_to(user).live().only("name").order_by("-pk")
    cases = list(
        listed.annotate(
            run_id=Subquery(newest_run.values("pk")[:1]),
            run_number=Subquery(newest_run.values("number")[:1]),
            run_status=Subquery(newest_run.values("status")[:1]),
            run_failed=Subquery(newest_run.values("failed")[:1]),
            unrated=Subquery(primary_scores(case="pk").values("unrated")[:1]),
        )[:MAX_WAITING]
    )
    failed = [
        case
        for case in cases
        if case.role >= Role.EDITOR
        and (
            case.run_status in (Run.Status.FAILED, Run.Status.INCOMPLETE)
            or (case.run_failed and case.run_status not in Run.ACTIVE_STATUSES)
        )
    ]
    unrated = [case for case in cases if case.role >= Role.RATER and case.unrated]
    return Waiting(
        sorted(failed, key=lambda case: -case.run_id), sorted(unrated, key=lambda case: -case.unrated), len(cases)
    )


def find_cases(
    user: Any, *, archived: bool = False, text: str = "", sort: str = "", team: int | None = None
) -> QuerySet[Case]:
    """Returns the cases a user can see, each with the user's `role`, filtered and sorted.

    text: words that all have to occur in the name of the case, of its newest run's endpoint or of its primary scorer.
    team: the id of a team that the cases are shared with.
    sort: one of `SORT_KEYS`, descending with a leading "-"; anything else sorts by the newest activity. Cases without a
        value come last in both directions.
    """
    cases: QuerySet[Case] = Case.objects.visible_to(user).filter(archived_at__isnull=not archived)
    if team is not None:
        cases = cases.filter(teams=team)
    newest_run = Run.objects.filter(case=OuterRef("pk")).order_by("-number")
    primary_scorer = CaseScorer.objects.filter(case=OuterRef("pk")).order_by("position", "id")
    if text.strip():
        cases = cases.alias(
            endpoint_name=Subquery(newest_run.values("attempt__endpoint__name")[:1]),
            scorer_name=Subquery(primary_scorer.values("scorer__name")[:1]),
        )
    for word in text.split():
        cases = cases.filter(
            Q(name__icontains=word) | Q(endpoint_name__icontains=word) | Q(scorer_name__icontains=word)
        )
    newest_run_at = newest_run.values(at=Coalesce("finished_at", "created_at"))[:1]
    cases = cases.alias(active_at=Coalesce(Subquery(newest_run_at), F("created_at")))
    key = sort.removeprefix("-")
    if key not in SORT_KEYS:
        return cases.order_by("-active_at", "-pk")
    cases = cases.alias(sort_value=_sort_value(key))
    direction = F("sort_value").desc if sort.startswith("-") else F("sort_value").asc
    return cases.order_by(direction(nulls_last=True), "-active_at", "-pk")


def _sort_value(key: str) -> Func | F | Subquery:
    if key == "name":
        return Lower("name")
    if key == "run":
        return F("active_at")
    return Subquery(primary_scores(case="pk").values(key)[:1])


def primary_scores(*, case: str) -> QuerySet[Any]:
    """The scores of the case that the outer query names, under its primary scorer, of finished runs, newest first.

    Each has `change`, the difference to the last complete run before it, as far as it is up to date.
    """
    version = CaseScorer.objects.filter(case=OuterRef(OuterRef(case))).order_by("position", "id").values("version")
    finished = CaseScore.objects.exclude(run__status__in=_UNSCORED_STATUSES).order_by("-run__number", "-day")
    # A sum, which no index has: SQLite would read the scores of all cases under the version for each of them, not those of its runs.
    of_case = finished.filter(run__case=OuterRef(case)).alias(version_number=F("version_id") + 0)
    return of_case.filter(version_number=Subquery(version[:1])).annotate(change=_change())


def _change() -> Subquery:
    """The difference between the run of a case score and its baseline; null if it is not up to date."""
    comparisons = scores.current_comparisons().filter(run=OuterRef("run"), version=OuterRef("version"))
    return Subquery(comparisons.values(change=F("run_score") - F("baseline_score"))[:1], output_field=FloatField())


def case_rows(cases: Iterable[Case]) -> list[CaseRow]:
    """Returns what the home page shows of some cases, in their order. Three SQL statements, and two for each large case."""
    rows = {case.pk: CaseRow(case) for case in cases}
    for case_scorer in _primary_scorers(rows):
        row = rows[case_scorer.case_id]
        row.version, row.query_count = case_scorer.version, case_scorer.query_count
        if row.query_count > LARGE_CASE:
            row.query_count = scores.count_queries(row.case)
    runs_by_case = _newest_runs(rows)
    scores_by_run = _scores_by_run(rows.values(), runs_by_case)
    for case_id, runs in runs_by_case.items():
        _fill_in_runs(rows[case_id], runs, scores_by_run)
    return list(rows.values())


def _primary_scorers(case_ids: Iterable[int]) -> QuerySet[Any]:
    """The primary scorer of each case with its version, annotated with `query_count`, the number of queries in the case; those
    of a large case are not all counted."""
    present = CaseQuery.objects.present().filter(case=OuterRef("case")).order_by().values("pk")
    first = CaseScorer.objects.filter(case=OuterRef("case")).order_by("position", "id").values("pk")[:1]
    return (
        CaseScorer.objects.filter(case__in=list(case_ids), pk=Subquery(first))
        .annotate(query_count=SubqueryCount(present[: LARGE_CASE + 1]))
        .select_related("version__scorer")
        .defer("version__script", "version__scorer__description")
        .order_by("case_id")
    )


def _newest_runs(case_ids: Iterable[int]) -> dict[int, list[Run]]:
    """The newest runs by case, newest first: one more than the history shows, because the newest may have no score yet."""
    position = Window(RowNumber(), partition_by=F("case_id"), order_by=F("number").desc())
    ids = Run.objects.filter(case__in=list(case_ids)).annotate(position=position).filter(position__lte=HISTORY_RUNS + 1)
    runs = (
        Run.objects.filter(pk__in=ids.values("pk"))
        .select_related("attempt__endpoint")
        .defer("config", "attempt__template", "attempt__endpoint__credentials", "attempt__endpoint__headers")
        .order_by("case_id", "-number")
    )
    runs_by_case: dict[int, list[Run]] = defaultdict(list)
    for run in runs:
        runs_by_case[run.case_id].append(run)
    return runs_by_case


def _scores_by_run(rows: Iterable[CaseRow], runs_by_case: dict[int, list[Run]]) -> dict[int, Any]:
    """The newest score of each run under the primary scorer of its case: `{run id: score}`.

    Each has `change`, `is_compared`, whether this difference is up to date, and `has_baseline`, whether there should be one.
    """
    version_ids = {row.case.pk: row.version.pk for row in rows if row.version}
    case_ids = {run.pk: case_id for case_id, runs in runs_by_case.items() for run in runs}
    complete = Run.objects.filter(
        case=OuterRef("run__case"), status=Run.Status.COMPLETE, number__lt=OuterRef("run__number")
    )
    comparisons = scores.current_comparisons().filter(run=OuterRef("run"), version=OuterRef("version"))
    stored = CaseScore.objects.filter(run__in=case_ids, version__in=set(version_ids.values())).order_by("day")
    annotated: QuerySet[Any] = stored.with_case_revision().annotate(
        change=_change(), is_compared=Exists(comparisons), has_baseline=Exists(complete)
    )
    return {score.run_id: score for score in annotated if score.version_id == version_ids.get(case_ids[score.run_id])}


def _fill_in_runs(row: CaseRow, runs: Sequence[Run], scores_by_run: dict[int, Any]) -> None:
    row.run = runs[0]
    scored = [(run, scores_by_run[run.pk]) for run in runs if run.pk in scores_by_run]
    scored = [(run, score) for run, score in scored if run.status not in _UNSCORED_STATUSES]
    if not scored or row.version is None:
        return
    for run, score in scored:
        score.run, score.version = run, row.version
    row.scored_run, newest = scored[0]
    row.score, row.change = newest, newest.change
    can_change = bool(row.version.measure) or row.scored_run.fields_dropped_at is None
    is_compared = newest.is_compared or not newest.has_baseline
    row.is_being_rescored = can_change and not (newest.is_current and is_compared)
    row.history = [score.score if scores.is_settled(score) else None for _, score in reversed(scored[:HISTORY_RUNS])]
