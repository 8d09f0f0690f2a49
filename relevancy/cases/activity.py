"""The recent activity of the home page: runs, ratings and new cases."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from django.db.models import CharField, Count, F, Max, Min, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Cast, Substr

from relevancy import books, hooks
from relevancy.models import Activity, Book, Case, RatingChange, Run

from .dashboard import primary_scores

MAX_EVENTS = 12
SITTING_GAP = timedelta(minutes=30)  # a longer pause between two ratings of one person begins a new sitting
MAX_RATINGS_READ = 20_000  # counted, newest first
_IMPORT_SOURCES = ("import", "command", "sample")
MAX_RATINGS_SEARCHED = 200_000  # among which those on visible books are looked up


@dataclass
class Event:
    """Something a person did.

    kind: "run", "ratings", "import" (of ratings) or "case" (created).
    person: the person's name.
    case: the case concerned; for ratings a case of the book that the user can see, if there is one.
    run, change: of a run, its number and attempt, and the difference in points to the run before.
    book_id, book, count, first: of ratings that were given without a pause of 30 minutes, the book, its name, the number of ratings and
        the time of the first one; `is_partial`: there are more than that. Those that were taken back are not counted. Of an import, the
        book, its name and the number of ratings that were new or changed.
    """

    kind: str
    person: str
    at: datetime
    case: Case | None = None
    run: Run | None = None
    change: float | None = None
    book_id: int = 0
    book: str = ""
    count: int = 0
    first: Any = None
    is_partial: bool = False


def recent_activity(user: Any) -> list[Event]:
    """Returns what people did in the cases and books the user can see, newest first. Four SQL statements."""
    visible = Case.objects.visible_to(user).live()
    sittings, is_complete = _sittings(user)
    newest = sorted(sittings, key=lambda sitting: sitting.at, reverse=True)[:MAX_EVENTS]
    by_age = visible.order_by("-created_at", "-pk")
    needed = Q(pk__in=by_age.values("pk")[:MAX_EVENTS]) | Q(book__in={sitting.book_id for sitting in newest})
    cases = list(by_age.filter(needed).select_related("owner"))
    case_by_book = {case.book_id: case for case in sorted(cases, key=lambda case: case.pk)}
    oldest = min((sitting.first for sitting in sittings), default=None)
    for sitting in newest:
        sitting.case = case_by_book.get(sitting.book_id)
        sitting.is_partial = not is_complete and sitting.first - oldest < SITTING_GAP
    created = [Event("case", str(case.owner), case.created_at, case) for case in cases[:MAX_EVENTS]]
    events = [*_run_events(visible), *_import_events(visible), *newest, *created]
    return sorted(events, key=lambda event: event.at, reverse=True)[:MAX_EVENTS]


def _run_events(cases: QuerySet[Case]) -> Iterator[Event]:
    # The newest ids are found in the index of the foreign key; sorting by time would read every run's configuration.
    newest = Run.objects.filter(case__in=cases.values("pk")).order_by("-pk").values("pk")[: 2 * MAX_EVENTS]
    own_score = primary_scores(case="case").filter(run=OuterRef("pk"))
    runs: QuerySet[Any] = (
        Run.objects.filter(pk__in=newest, finished_at__isnull=False)
        .annotate(score_change=Subquery(own_score.values("change")[:1]))
        .select_related("created_by", "attempt", "case")
        .defer("config", "attempt__template")
        .order_by("-finished_at")[:MAX_EVENTS]
    )
    for run in runs:
        yield Event("run", str(run.created_by), run.finished_at, run.case, run, run.score_change)


def _import_events(cases: QuerySet[Case]) -> Iterator[Event]:
    imported = Activity.objects.filter(case__in=cases.values("pk"), verb=Activity.Verb.RATINGS_IMPORTED)
    listed: set[tuple[int | None, datetime]] = set()  # each case of the book has a line
    for line in imported.select_related("by", "case").order_by("-at", "case")[: 2 * MAX_EVENTS]:
        same = (line.object_id, line.at.replace(microsecond=0))
        if line.by and same not in listed:
            listed.add(same)
            count = line.details["count"]
            yield Event("import", str(line.by), line.at, line.case, book=line.subject, count=count)


def _sittings(user: Any) -> tuple[list[Event], bool]:
    """The sittings on books the user can see, and whether all of their ratings were read."""
    last_id = RatingChange.objects.order_by("-pk").values(lowest=F("pk") - MAX_RATINGS_SEARCHED)[:1]
    newest = (
        RatingChange.objects.filter(
            pk__gt=Subquery(last_id), query__book__in=Book.objects.visible_to(user).values("pk")
        )
        .filter(undoes=None, undone_by=None)
        .exclude(new_verdict="")
        .exclude(source__in=[*_IMPORT_SOURCES, *books.UNATTENDED_SOURCES, *hooks.unattended_sources])
        .order_by("-pk")
        .values("pk")[:MAX_RATINGS_READ]
    )
    # The database counts for every ten minutes: "2026-01-31 12:3" of "2026-01-31 12:34:56". Shorter than a gap, so that no
    # sitting is cut wrongly; and a function of the database itself, which Django's TruncMinute is not on SQLite.
    ten_minutes = Substr(Cast("at", CharField()), 1, 15)
    groups = (
        RatingChange.objects.filter(pk__in=newest)
        .order_by()
        .values("by", "by__name", "by__email", "query__book", "query__book__name", ten_minutes=ten_minutes)
        .annotate(count=Count("pk"), first=Min("at"), last=Max("at"))
        .order_by("by", "query__book", "first")
    )
    sittings: list[Event] = []
    total = 0
    for (_, book_id), rows in groupby(groups, key=lambda group: (group["by"], group["query__book"])):
        current: Event | None = None
        for row in rows:
            total += row["count"]
            if current and row["first"] - current.at < SITTING_GAP:
                current.count += row["count"]
                current.at = row["last"]
            else:
                current = Event(
                    "ratings",
                    row["by__name"] or row["by__email"],
                    row["last"],
                    book_id=book_id,
                    book=row["query__book__name"],
                    count=row["count"],
                    first=row["first"],
                )
                sittings.append(current)
    return sittings, total < MAX_RATINGS_READ
