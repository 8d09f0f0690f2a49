"""How fast a rater judges: the median gap, without breaks, of the present sitting."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from relevancy import judging
from relevancy.models import Case, Query, RatingChange, User, Verdict
from relevancy.views.judge.progress import describe_pace
from tests.factories import make_case, make_user, query_of

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)


def seconds(pace: judging.Sitting) -> float | None:
    return pace.gap.total_seconds() if pace.gap else None


def rated_at(query: Query, by: User, minutes: Sequence[float], **fields: Any) -> None:
    """Ratings that were given so many minutes before `NOW`; the first one is the oldest."""
    fields = {"source": "page", "new_verdict": Verdict.RATED, "new_value": 1.0, **fields}
    RatingChange.objects.bulk_create(
        RatingChange(query=query, doc_id=f"d{ago}", rater=by, by=by, at=NOW - timedelta(minutes=ago), **fields)
        for ago in minutes
    )


def measure(case: Case, by: User) -> judging.Sitting:
    return judging.measure_sitting(book=case.book, by=by, now=NOW)


@pytest.mark.django_db
def test_pace_is_the_median_gap_without_breaks(django_assert_num_queries: Any) -> None:
    case, rater = make_case(1), make_user()
    query = query_of(case, "query 1")
    assert measure(case, rater) == judging.Sitting(0, None)
    rated_at(query, rater, [200, 199])  # another sitting
    rated_at(query, rater, [40, 39, 38])
    rated_at(query, make_user(), [37, 36, 35])
    rated_at(query, rater, [20, 19.5, 19.5, 19, 18.5, 1])  # after a break, two at once, and after another break
    with django_assert_num_queries(1):
        pace = measure(case, rater)
    assert (pace.count, seconds(pace), pace.is_partial) == (8, 30, False)  # gaps of 60, 60, 30, 30 and 30 seconds
    assert pace.per_hour == 120
    assert pace.minutes_for(7) == 4  # 3.5, rounded to even
    assert pace.minutes_for(0) == 1


@pytest.mark.django_db
def test_few_judgments_old_ones_and_those_in_another_book_have_no_pace() -> None:
    case, other, rater = make_case(1), make_case(1), make_user()
    query = query_of(case, "query 1")
    rated_at(query, rater, [5, 4, 3, 2, 1])
    assert measure(case, rater) == judging.Sitting(5, None)
    rated_at(query, rater, [0.8, 0.6], new_verdict=Verdict.LATER, new_value=None)
    rated_at(query, rater, [0.5], source="import")
    assert measure(case, rater) == judging.Sitting(5, None)
    rated_at(query, rater, [0.4], new_verdict=Verdict.CANNOT, new_value=None)
    assert measure(case, rater).count == 6
    later = NOW + timedelta(minutes=31)
    assert judging.measure_sitting(book=case.book, by=rater, now=later) == judging.Sitting(0, None)
    rated_at(query_of(other, "query 1"), rater, [0.1])
    assert measure(case, rater) == judging.Sitting(0, None)


@pytest.mark.django_db
def test_a_long_sitting_is_read_in_part() -> None:
    case, rater = make_case(1), make_user()
    rated_at(query_of(case, "query 1"), rater, [number / 10 for number in range(300, 0, -1)])
    assert measure(case, rater) == judging.Sitting(200, timedelta(seconds=6), True)


@pytest.mark.parametrize(
    ("gap", "left", "text"),
    [
        (25.7, 60, "140 an hour, about 26 min left"),
        (25.7, 1, "140 an hour, about 1 min left"),
        (30, 170, "120 an hour, about 1 h 25 min left"),
        (30, 240, "120 an hour, about 2 h left"),
        (30, 1000, "120 an hour, more than 8 h 20 min left"),
        (299, 999, "12 an hour, about 83 h left"),
        (1.5, 0, "2,400 an hour"),
    ],
)
def test_pace_in_words(gap: float, left: int, text: str) -> None:
    progress = judging.JudgingProgress(pairs=2000, left=left, postponed=0)
    assert describe_pace(judging.Sitting(9, timedelta(seconds=gap)), progress) == text
    assert describe_pace(judging.Sitting(4, None), progress) == ""
