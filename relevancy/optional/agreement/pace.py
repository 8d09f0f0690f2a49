"""How fast raters rate: the median time between two ratings that a rater gave on pages."""

from collections import defaultdict
from datetime import datetime
from statistics import median

from django.db.models import F

from relevancy.judging.sittings import PAGE_SOURCE, working_seconds
from relevancy.models import Book, RatingChange, Verdict

MIN_INTERVALS = 10  # fewer say nothing about the pace
MAX_RATINGS = 20_000  # the newest ones, that are looked at


def measure_pace(book: Book) -> dict[int, float]:
    """Returns `{rater's id: median seconds between two ratings}` from the newest 20,000 grades and "cannot judge" that raters gave on
    pages themselves.

    Ratings of one moment, such as of all documents of a query, count as one. Times of more than five minutes are breaks and left out.
    Raters with fewer than ten times are left out. One SQL statement.
    """
    own = RatingChange.objects.filter(query__book=book, source=PAGE_SOURCE, by=F("rater"))
    judged = own.filter(new_verdict__in=(Verdict.RATED, Verdict.CANNOT)).order_by("-id")
    times: dict[int, list[datetime]] = defaultdict(list)
    for rater_id, at in judged.values_list("rater_id", "at")[:MAX_RATINGS]:
        times[rater_id].append(at)
    working = {rater_id: working_seconds(sorted(set(own_times))) for rater_id, own_times in times.items()}
    return {rater_id: median(seconds) for rater_id, seconds in working.items() if len(seconds) >= MIN_INTERVALS}
