"""What pages say about a score that is not what it was."""

from datetime import UTC, date, datetime

import pytest
from django.utils import timezone

from relevancy import scores
from relevancy.views.former_scores import describe_changes, describe_day


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (scores.ChangesSince(given=112), "112 ratings since"),
        (scores.ChangesSince(given=1, removed=3), "1 rating, 3 removed since"),
        (scores.ChangesSince(removed=1), "1 rating removed since"),
        (scores.ChangesSince(given=2, others=True), "2 ratings, other changes since"),
        (scores.ChangesSince(given=2, removed=1, is_partial=True), "at least 2 ratings, 1 removed since"),
        (scores.ChangesSince(is_partial=True), "many ratings since"),
        (scores.ChangesSince(others=True), "queries, weights or the rule of the book changed since"),
    ],
)
def test_describe_changes(changes, text):
    assert describe_changes(changes) == text


def test_describe_day_names_the_time_of_today_and_the_year_of_others(monkeypatch):
    monkeypatch.setattr(timezone, "localdate", lambda: date(2026, 11, 27))
    days = (
        datetime(2026, 11, 27, 14, 5, tzinfo=UTC),
        datetime(2026, 11, 23, 9, tzinfo=UTC),
        datetime(2025, 11, 23, 9, tzinfo=UTC),
    )
    assert [describe_day(day) for day in days] == ["at 14:05", "on 23 November", "on 23 November 2025"]
