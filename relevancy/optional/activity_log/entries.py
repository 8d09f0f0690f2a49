"""Reads the activity log of a case or a team, newest first.

Ratings have a log of their own, `RatingChange`: the log of a case has one entry for what a person rated on one day (UTC), so that
rating writes nothing more.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from heapq import merge
from itertools import islice
from operator import attrgetter
from typing import Any, Self

from django.core.exceptions import ValidationError
from django.db.models import CharField, Count, Exists, Max, OuterRef, Q, QuerySet
from django.db.models.functions import Cast, Substr
from django.utils import timezone

from relevancy.activity import KINDS, describe, kind_of
from relevancy.hooks import case_activity_kinds, team_activity_kinds
from relevancy.models import Activity, Case, RatingChange, Team, User, Verdict
from relevancy.wording import counted

PAGE_SIZE = 50
SERVER = "The server"
RATING_KIND = "rating"
CASE_KINDS = tuple(kind for kind in KINDS if kind not in ("team", "member", "endpoint"))
TEAM_KINDS = ("team", "member", "sharing", "case", "endpoint", "scorer")
# Changes that a person made rating by rating. Imports, copies, merges and the like have entries of their own.
RATED_BY_HAND = ("page", "api", "adjudication")
RATED = "rating.given"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_DAY, _LAST_DAY = (
    date(1970, 1, 2),
    date(5000, 1, 1),
)  # no entry is outside, and no time zone moves them out of range
_MICROSECOND = timedelta(microseconds=1)
_CURSOR = re.compile(r"(\d{1,17})-([01])-(\d{1,18})", re.ASCII)


@dataclass(frozen=True, order=True)
class Position:
    """Where an entry stands. rank: 1 for rows of `Activity`, 0 for ratings; pk: of the row, or of the person who rated."""

    at: datetime
    rank: int
    pk: int

    def __str__(self) -> str:
        return f"{(self.at - _EPOCH) // _MICROSECOND}-{self.rank}-{self.pk}"

    @classmethod
    def parse(cls, cursor: str) -> Self:
        """Returns the position of a cursor. Raises `ValidationError`."""
        match = _CURSOR.fullmatch(cursor)
        if match is None:
            raise ValidationError({"cursor": "This is not a cursor of this log. Use `next` of the page before."})
        return cls(_EPOCH + int(match[1]) * _MICROSECOND, int(match[2]), int(match[3]))


@dataclass(frozen=True)
class Entry:
    """One line of a log.

    person: the name of who did it. action: a verb of `Activity`, or "rating.given". subject, object_id: of what was changed.
    """

    position: Position
    person: str
    person_id: int | None
    action: str
    text: str
    subject: str = ""
    object_id: int | None = None

    @property
    def at(self) -> datetime:
        return self.position.at

    @property
    def kind(self) -> str:
        return kind_of(self.action)

    @property
    def kind_label(self) -> str:
        return {**KINDS, **case_activity_kinds, **team_activity_kinds}.get(self.kind, self.kind)


@dataclass(frozen=True)
class EntryFilter:
    """Which entries of a log. person: the id of a user, or 0 for the server. since, until: days in the current time zone."""

    person: int | None = None
    kind: str = ""
    since: date | None = None
    until: date | None = None

    def apply[M: Any](self, rows: QuerySet[M]) -> QuerySet[M]:
        """Limits rows with `at` and `by` to the person and the days."""
        if self.person is not None:
            rows = rows.filter(by=self.person or None)
        if self.since is not None:
            rows = rows.filter(at__gte=_midnight(self.since))
        if self.until is not None:
            rows = rows.filter(at__lt=_midnight(self.until) + timedelta(days=1))
        return rows


class Log:
    """The log of a case or a team."""

    def __init__(self, owner: Case | Team) -> None:
        self._owner = owner

    @property
    def kinds(self) -> list[tuple[str, str]]:
        """The kinds of entries that the log can have, with their labels."""
        is_case = isinstance(self._owner, Case)
        names, added = (CASE_KINDS, case_activity_kinds) if is_case else (TEAM_KINDS, team_activity_kinds)
        return [*((name, KINDS[name]) for name in names), *added.items()]

    def people(self) -> list[User]:
        """Returns the users who have an entry, by name. One SQL statement."""
        has_entry = Q(Exists(self._activities().order_by().filter(by=OuterRef("pk"))))
        if isinstance(self._owner, Case):
            has_entry |= Q(Exists(self._ratings(self._owner).order_by().filter(by=OuterRef("pk"))))
        return list(User.objects.filter(has_entry).order_by("name", "email"))

    def entries(
        self, wanted: EntryFilter, *, before: Position | None = None, limit: int | None = None
    ) -> Iterator[Entry]:
        """Yields the entries, newest first: only those behind `before`, and at most `limit`. Two SQL statements."""
        rows: Iterator[Entry] | list[Entry] = self._rows(wanted, before, limit)
        oldest = None
        if limit is not None:
            rows = list(rows)
            oldest = rows[-1].at if limit and len(rows) == limit else None
        ratings = self._rating_entries(wanted, before, limit, oldest)
        return islice(merge(rows, ratings, key=attrgetter("position"), reverse=True), limit)

    def page(self, wanted: EntryFilter, *, cursor: str = "", limit: int = PAGE_SIZE) -> tuple[list[Entry], str]:
        """Returns the entries of a page, and the cursor of the older ones, empty if there are none. Two SQL statements.

        Raises `ValidationError` for the cursor.
        """
        before = Position.parse(cursor) if cursor else None
        entries = list(self.entries(wanted, before=before, limit=limit + 1))
        return entries[:limit], str(entries[limit - 1].position) if len(entries) > limit else ""

    def _activities(self) -> QuerySet[Activity]:
        owner = {"case": self._owner} if isinstance(self._owner, Case) else {"team": self._owner}
        activities: QuerySet[Activity] = Activity.objects.filter(**owner)
        return activities

    def _rows(self, wanted: EntryFilter, before: Position | None, limit: int | None) -> Iterator[Entry]:
        rows = wanted.apply(self._activities())
        if wanted.kind:
            rows = rows.filter(verb__startswith=f"{wanted.kind}.")
        if before is not None:
            behind = Q(at__lt=before.at)
            if before.rank == 1:
                behind |= Q(at=before.at, pk__lt=before.pk)
            rows = rows.filter(behind)
        rows = rows.select_related("by", "person").order_by("-at", "-pk")
        for row in rows.iterator() if limit is None else rows[:limit]:
            yield Entry(
                Position(row.at, 1, row.pk),
                str(row.by) if row.by else SERVER,
                row.by_id,
                row.verb,
                describe(row),
                row.subject,
                row.object_id,
            )

    def _ratings(self, case: Case) -> QuerySet[RatingChange]:
        given = RatingChange.objects.filter(query__book=case.book_id, source__in=RATED_BY_HAND)
        ratings: QuerySet[RatingChange] = given.exclude(new_verdict__in=("", Verdict.LATER)).exclude(
            source="adjudication", new_is_adjudication=False
        )
        return ratings

    def _rating_entries(
        self, wanted: EntryFilter, before: Position | None, limit: int | None, oldest: datetime | None
    ) -> Iterator[Entry]:
        """Yields one entry for each person and day. oldest: entries before it are not needed, so that fewer ratings are counted."""
        case = self._owner
        if not isinstance(case, Case) or wanted.kind not in ("", RATING_KIND):
            return
        rows = wanted.apply(self._ratings(case))
        # A function of the database itself, which Django's TruncDate is not on SQLite.
        day = Substr(Cast("at", CharField()), 1, 10)
        if before is not None:
            rows = rows.filter(at__lt=before.at + timedelta(days=1))
        if oldest is not None:  # with the whole of its day, which is counted at once
            rows = rows.filter(at__gte=datetime.combine(oldest.astimezone(UTC), time.min, UTC))
        groups: Any = (
            rows.order_by()
            .values("by", "by__name", "by__email", day=day)
            .annotate(
                count=Count("pk"),
                decided=Count("pk", filter=Q(source="adjudication")),
                last=Max("at"),
                book=Max("query__book__name"),  # one book: any aggregate returns its name
            )
            .order_by("-last", "-by")
        )
        if before is not None:
            behind = Q(last__lt=before.at)
            behind |= Q(last=before.at) if before.rank == 1 else Q(last=before.at, by__lt=before.pk)
            groups = groups.filter(behind)
        for group in groups if limit is None else groups[:limit]:
            text = describe_ratings(count=group["count"], decided=group["decided"], book=group["book"])
            person = group["by__name"] or group["by__email"]
            yield Entry(
                Position(group["last"], 0, group["by"]), person, group["by"], RATED, text, group["book"], case.book_id
            )


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(min(max(day, _FIRST_DAY), _LAST_DAY), time.min))


def describe_ratings(*, count: int, decided: int, book: str) -> str:
    """Returns the sentence for the ratings that a person gave on one day; `decided` of them as an adjudicator."""
    documents = counted(count, "document")
    text = f"Rated {documents} in the book “{book}”"
    return f"{text}, {decided:,} of them to settle a conflict" if decided else text
