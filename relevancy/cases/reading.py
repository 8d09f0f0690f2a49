"""What the home page shows: every case a user sees with its score and last runs, and what happened to them lately.

The number of SQL statements does not depend on how many cases there are.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import batched, pairwise
from typing import Any

from django.db.models import Count, F, Max, Window
from django.db.models.functions import RowNumber, TruncDate

from relevancy.models import Case, CaseQuery, CaseScore, CaseScorer, RatingChange, Run, ScorerVersion, User

HISTORY = 12
CHANGES_READ = 5_000  # ratings that are looked through for the feed, newest first
EVENTS = 12
_IDS = 20_000  # in one statement


@dataclass
class CaseRow:
    """One line of the list. `scored_run` is the newest run with a score, `run` the newest of all; scores 0–100, oldest first."""

    case: Case
    version: ScorerVersion | None = None
    queries: int = 0
    run: Run | None = None
    scored_run: Run | None = None
    score: CaseScore | None = None
    change: float | None = None
    history: list[float | None] = field(default_factory=list)
    changes: dict[int, float] = field(default_factory=dict)

    @property
    def old(self) -> bool:
        """The score is not that of the newest run."""
        return bool(self.run and self.scored_run and self.run.pk != self.scored_run.pk)

    @property
    def at(self) -> datetime:
        """When something last happened: its newest run, or that it was made."""
        return self.case.created_at if self.run is None else self.run.finished_at or self.run.created_at


@dataclass(frozen=True)
class Event:
    """Something somebody did. `kind`: run, ratings, case. `count`: ratings given; `change`: of the score, by a run."""

    kind: str
    who: User
    case: Case
    at: datetime
    run: Run | None = None
    change: float | None = None
    count: int = 0


def cases_for(user: Any, *, archived: bool = False) -> list[CaseRow]:
    """Every case the user sees, live or archived, newest run first. Six SQL statements."""
    cases = Case.objects.visible_to(user).filter(archived_at__isnull=not archived).select_related("owner")
    rows = {case.pk: CaseRow(case) for case in cases}
    for case_id, version in _primary_versions(rows).items():
        rows[case_id].version = version
    for case_id, count in _query_counts(rows):
        rows[case_id].queries = count
    runs = _last_runs(rows)
    scores = _scores([run.pk for some in runs.values() for run in some])
    for case_id, some in runs.items():
        _fill(rows[case_id], some, scores)
    return sorted(rows.values(), key=lambda row: row.at, reverse=True)


def _primary_versions(case_ids: Iterable[int]) -> dict[int, ScorerVersion]:
    primary: dict[int, int] = {}
    entries = CaseScorer.objects.filter(case__in=list(case_ids)).order_by("case_id", "position", "id")
    for case_id, version_id in entries.values_list("case_id", "version_id"):
        primary.setdefault(case_id, version_id)
    versions = ScorerVersion.objects.select_related("scorer").defer("script").in_bulk(set(primary.values()))
    return {case_id: versions[version_id] for case_id, version_id in primary.items()}


def _query_counts(case_ids: Iterable[int]) -> Iterable[tuple[int, int]]:
    present = CaseQuery.objects.present().filter(case__in=list(case_ids))
    counts: Iterable[tuple[int, int]] = present.order_by().values_list("case_id").annotate(Count("id"))
    return counts


def _last_runs(case_ids: Iterable[int]) -> dict[int, list[Run]]:
    """Up to one more than the history shows, newest first, so that its oldest may be under way or without a score."""
    place = Window(RowNumber(), partition_by=F("case_id"), order_by=F("number").desc())
    runs = (
        Run.objects.filter(case__in=list(case_ids))
        .annotate(place=place)
        .filter(place__lte=HISTORY + 1)
        .select_related("attempt__endpoint")
        .defer("asked", "attempt__template", "attempt__endpoint__credentials", "attempt__endpoint__headers")
        .order_by("case_id", "-number")
    )
    found: dict[int, list[Run]] = defaultdict(list)
    for run in runs:
        found[run.case_id].append(run)
    return found


def _scores(run_ids: Sequence[int]) -> dict[tuple[int, int], CaseScore]:
    """The newest day's score by run and version; one statement for 20,000 runs."""
    found: dict[tuple[int, int], CaseScore] = {}
    for some in batched(run_ids, _IDS) if run_ids else [()]:
        for score in CaseScore.objects.filter(run__in=some).order_by("day"):
            found[score.run_id, score.version_id] = score
    return found


def _fill(row: CaseRow, runs: Sequence[Run], scores: dict[tuple[int, int], CaseScore]) -> None:
    row.run = runs[0]
    version_id = row.version.pk if row.version else 0
    known = [(run, scores[run.pk, version_id]) for run in runs if not run.under_way and (run.pk, version_id) in scores]
    if not known:
        return
    row.scored_run, row.score = known[0]
    row.history = [score.score for _, score in reversed(known[:HISTORY])]
    for (run, now), (_, before) in pairwise(known):
        if now.score is not None and before.score is not None:
            row.changes[run.pk] = now.score - before.score
    row.change = row.changes.get(row.scored_run.pk)


def lately(rows: Sequence[CaseRow]) -> list[Event]:
    """What people did to these cases, newest first: runs, ratings (one event per person, book and day), new cases. Three statements."""
    by_id = {row.case.pk: row for row in rows}
    events = [
        *_run_events(by_id),
        *_rating_events(rows),
        *(Event("case", row.case.owner, row.case, row.case.created_at) for row in rows),
    ]
    return sorted(events, key=lambda event: event.at, reverse=True)[:EVENTS]


def _run_events(rows: dict[int, CaseRow]) -> list[Event]:
    runs = (
        Run.objects.filter(case__in=list(rows), finished_at__isnull=False)
        .select_related("created_by", "attempt")
        .defer("asked", "attempt__template")
        .order_by("-finished_at")[:EVENTS]
    )
    return [
        Event(
            "run",
            run.created_by,
            rows[run.case_id].case,
            run.finished_at,
            run=run,
            change=rows[run.case_id].changes.get(run.pk),
        )
        for run in runs
        if run.finished_at
    ]


def _rating_events(rows: Sequence[CaseRow]) -> list[Event]:
    cases: dict[int, Case] = {}
    for row in rows:
        cases.setdefault(row.case.book_id, row.case)
    newest = RatingChange.objects.filter(query__book__in=list(cases)).exclude(new_verdict="").order_by("-id")
    groups = list(
        RatingChange.objects.filter(pk__in=newest.values("pk")[:CHANGES_READ])
        .order_by()
        .values("by", "query__book", day=TruncDate("at"))
        .annotate(count=Count("id"), last=Max("at"))
        .order_by("-last")[:EVENTS]
    )
    people = User.objects.in_bulk({group["by"] for group in groups})
    return [
        Event("ratings", people[group["by"]], cases[group["query__book"]], group["last"], count=group["count"])
        for group in groups
    ]
