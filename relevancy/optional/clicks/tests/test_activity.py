"""Sentences of the activity log about samples and clicks."""

import pytest

from relevancy.activity.sentences import describe
from relevancy.models import Activity
from relevancy.optional.clicks import click_logs, counting, weights
from relevancy.optional.clicks.models import ClickEstimate, ClickLog
from tests.factories import make_case, make_user


@pytest.mark.django_db
def test_samples_and_grades_of_clicks_are_recorded():
    case, ben = make_case(["q1"]), make_user("Ben")
    book = case.book
    log = ClickLog(book=book, name="log.csv", method="coec", strength=10, searches=1, pairs=1, created_by=ben)
    estimate = ClickEstimate(
        query=book.queries.get(), doc_id="z9", value=1, unshrunken=1, evidence=0, shown=1, clicks=1
    )
    click_logs.store_log(log, [estimate])
    Activity.objects.all().delete()
    counting.let_count(log=log, thresholds=book.grades[1:], min_evidence=1, by=ben)
    counting.withdraw(log=log, by=ben)
    weights.add_weighted(case=case, weights={"new": 2.0}, by=ben)
    rows = Activity.objects.order_by("pk").select_related("by", "person")
    assert [describe(row) for row in rows] == [
        f"Let grades from clicks count in the book “{book.name}”: 0 ratings",
        f"Removed the ratings from clicks from the book “{book.name}”: 0",
        "Added a sample of queries: 1 new, 0 with another weight; others count: yes",
    ]
    assert {(row.case_id, row.by) for row in rows} == {(case.pk, ben)}
