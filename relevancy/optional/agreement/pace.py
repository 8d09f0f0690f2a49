"""How fast raters rate: the median time between two ratings that a rater gave on pages."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from django.db.models import F

from relevancy.judging.sittings import PAGE_SOURCE, working_seconds
from relevancy.models import Book, RatingChange, Verdict

MIN_INTERVALS = 10  # fewer say nothing about the pace
MAX_RATINGS = 20_000  # the newest ones, that are looked at


@dataclass(frozen=True)
class Pace:
    """A rater's pace. seconds: the median between two ratings. intervals: how many it is the median of. breaks: left out."""

    seconds: float
    intervals: int
    breaks: int


def measure_pace(book: Book) -> dict[int, Pace]:
    """Returns `{rater's id: pace}` from the newest 20,000 grades and "cannot judge" that raters gave on pages themselves.

    Ratings of one moment, such as of all documents of a query, count as one. Times of more than five minutes are breaks and left out.
    Raters with fewer than ten times are left out. One SQL statement.
    """
    own = RatingChange.objects.filter(query__book=book, source=PAGE_SOURCE, by=F("rater"))
    judged = own.filter(new_verdict__in=(Verdict.RATED, Verdict.CANNOT)).order_by("-id")
    times: dict[int, list[datetime]] = defaultdict(list)
    for rater_id, at in judged.values_list("rater_id", "at")[:MAX_RATINGS]:
        times[rater_id].append(at)
    pace_by_rater = {rater_id: _measure(sorted(set(own_times))) for rater_id, own_times in times.items()}
    return {rater_id: pace for rater_id, pace in pace_by_rater.items() if pace is not None}


def _measure(times: list[datetime]) -> Pace | None:
    working = working_seconds(times)
    if len(working) < MIN_INTERVALS:
        return None
    return Pace(median(working), len(working), len(times) - 1 - len(working))
