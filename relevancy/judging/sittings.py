"""The present sitting of a rater: how many documents, how fast, and about how long the rest takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median

from relevancy.models import Book, RatingChange, User

from .judging import JUDGED

PAGE_SOURCE = "page"
BREAK = timedelta(minutes=5)  # a longer time between two ratings is a break
SITTING_GAP = timedelta(minutes=30)  # a longer one ends the sitting
MIN_GAPS = 5  # fewer say nothing about the pace
MAX_READ = 200  # changes, newest first


@dataclass(frozen=True)
class Sitting:
    """The judgments of a sitting.

    count: judgments; with `is_partial` there are more. gap: the median time between two of them, breaks left out; None if there are
        fewer than `MIN_GAPS` gaps.
    """

    count: int
    gap: timedelta | None
    is_partial: bool = False

    @property
    def per_hour(self) -> int | None:
        """Judgments per hour, rounded to two digits."""
        return None if self.gap is None else _rounded(timedelta(hours=1) / self.gap)

    def minutes_for(self, documents: int) -> int | None:
        """Returns about how many minutes so many documents take at this pace, at least 1; None without a pace."""
        return None if self.gap is None else max(1, _rounded(documents * self.gap / timedelta(minutes=1)))


def measure_sitting(*, book: Book, by: User, now: datetime) -> Sitting:
    """Returns the pace of a rater in a book, in the sitting that goes on at `now`. One SQL statement, whatever the book's size.

    A sitting ends with a pause of 30 minutes, or where the rater went to another book.
    """
    changes = RatingChange.objects.filter(by=by, source=PAGE_SOURCE).order_by("-pk")
    rows = list(changes.values_list("at", "query__book", "new_verdict")[:MAX_READ])
    times: list[datetime] = []
    is_partial = False
    for at, book_id, verdict in rows:
        if book_id != book.pk or (times[-1] if times else now) - at > SITTING_GAP:
            break
        if verdict in JUDGED and at not in times[-1:]:  # several documents can be rated at once
            times.append(at)
    else:
        is_partial = len(rows) == MAX_READ
    gaps = working_seconds(reversed(times))
    gap = timedelta(seconds=median(gaps)) if len(gaps) >= MIN_GAPS else None
    return Sitting(len(times), gap, is_partial)


def working_seconds(times: Iterable[datetime]) -> list[float]:
    """Returns the seconds between times, the earliest first, without breaks and times that are the same."""
    between = (later - earlier for earlier, later in pairwise(times))
    return [time.total_seconds() for time in between if timedelta(0) < time <= BREAK]


def _rounded(number: float) -> int:
    """Rounds to two digits: more would not be honest."""
    return round(number) if number < 100 else int(float(f"{number:.1e}"))
