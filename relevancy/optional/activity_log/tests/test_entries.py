"""Reading a log: its order, its pages, its filter; and ratings, which have one entry for each person and day."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from relevancy import activity, judging, ratings
from relevancy.models import Activity, Case, RatingChange, User
from relevancy.optional.activity_log.entries import EntryFilter, Log
from tests.factories import import_csv, make_case, make_team, make_user, query_of

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 5, 12, tzinfo=UTC)
ALL = EntryFilter()


@pytest.fixture
def ann() -> User:
    return make_user("Ann")


@pytest.fixture
def case(ann: User) -> Case:
    """An empty log."""
    case = make_case(2, owner=ann)
    Activity.objects.all().delete()
    return case


def rate(case: Case, by: User, doc_id: str, at: datetime, source: str = "page", value: float = 1) -> None:
    query = query_of(case, "query 1")
    ratings.rate(query=query, doc_id=doc_id, value=value, by=by, source=source)
    last = RatingChange.objects.order_by("-pk")[0]
    RatingChange.objects.filter(pk=last.pk).update(at=at)


def add(case: Case, by: User | None, at: datetime, verb: Activity.Verb = Activity.Verb.RUN_PINNED) -> None:
    number = Activity.objects.count() + 1
    activity.record(verb, case=case, by=by, subject=f"run {number}")
    Activity.objects.filter(subject=f"run {number}").update(at=at)


def texts(case: Case, wanted: EntryFilter = ALL) -> list[str]:
    return [f"{entry.person}: {entry.text}" for entry in Log(case).entries(wanted)]


def test_ratings_are_counted_by_person_and_day(case: Case, ann: User) -> None:
    ben = make_user("Ben")
    for number in range(3):
        rate(case, ben, f"d{number}", NOON + timedelta(hours=number))
    rate(case, ben, "d9", NOON + timedelta(days=1), source="api")
    rate(case, ann, "d9", NOON + timedelta(hours=1))
    add(case, None, NOON + timedelta(hours=1, minutes=30))
    book = case.book.name
    assert texts(case) == [
        f"Ben: Rated 1 document in the book “{book}”",
        f"Ben: Rated 3 documents in the book “{book}”",
        "The server: Pinned run 1",
        f"Ann: Rated 1 document in the book “{book}”",
    ]


def test_imports_removals_and_postponed_documents_are_not_counted(case: Case, ann: User) -> None:
    import_csv(case=case, text="query,docid,rating\nquery 1,d,2\n", by=ann)
    Activity.objects.all().delete()
    ratings.rate(query=query_of(case, "query 1"), doc_id="e", value=1, by=ann)
    ratings.remove(query=query_of(case, "query 1"), doc_ids=["e"], by=ann)
    assert [text.partition(" in ")[0] for text in texts(case)] == ["Ann: Rated 1 document"]
    judging.adjudicate(query=query_of(case, "query 1"), doc_id="d", value=3, by=ann)
    assert texts(case)[0].endswith(", 1 of them to settle a conflict")


@pytest.mark.parametrize("limit", [1, 2, 3, 4])
def test_pages_follow_each_other_without_gaps(case: Case, ann: User, limit: int) -> None:
    """Some entries have the same time."""
    people = [make_user(f"Rater {number}") for number in range(3)]
    for number in range(4):
        add(case, ann, NOON - timedelta(days=number // 2))
    for day in range(3):
        for rater in people:
            rate(case, rater, f"d{day}", NOON - timedelta(days=day))
            rate(case, rater, f"e{day}", NOON - timedelta(days=day, hours=1))
    log = Log(case)
    wanted = list(log.entries(ALL))
    assert len(wanted) == 13
    assert [entry.at for entry in wanted] == sorted((entry.at for entry in wanted), reverse=True)
    result, cursor = [], ""
    while True:
        entries, cursor = log.page(ALL, cursor=cursor, limit=limit)
        result += entries
        if not cursor:
            break
        assert len(entries) == limit
    assert result == wanted


def test_filter(case: Case, ann: User) -> None:
    ben = make_user("Ben")
    add(case, ann, NOON)
    add(case, None, NOON - timedelta(days=2), Activity.Verb.ATTEMPT_CREATED)
    add(case, ben, NOON - timedelta(days=4))
    rate(case, ben, "d", NOON - timedelta(days=3))
    rated = f"Ben: Rated 1 document in the book “{case.book.name}”"
    lines = ["Ann: Pinned run 1", "The server: Created run 2", rated, "Ben: Pinned run 3"]
    day = NOON.date()
    for wanted, expected in (
        (EntryFilter(), lines),
        (EntryFilter(person=ben.pk), lines[2:]),
        (EntryFilter(person=0), lines[1:2]),
        (EntryFilter(kind="run"), [lines[0], lines[3]]),
        (EntryFilter(kind="rating"), lines[2:3]),
        (EntryFilter(since=day - timedelta(days=2)), lines[:2]),
        (EntryFilter(until=day - timedelta(days=2)), lines[1:]),
        (EntryFilter(since=day - timedelta(days=3), until=day - timedelta(days=3)), lines[2:3]),
        (EntryFilter(until=date.max), lines),
        (EntryFilter(since=date.max), []),
    ):
        assert texts(case, wanted) == expected, wanted
    assert Log(case).people() == [ann, ben]


def test_a_log_has_its_own_entries_only(case: Case, ann: User) -> None:
    other, team = make_case(1, book_of=case), make_team()
    Activity.objects.all().delete()
    add(other, ann, NOON)
    rate(case, ann, "d", NOON)  # on the book that both cases use
    assert len(texts(case)) == 1
    assert len(texts(other)) == 2
    assert list(Log(team).entries(ALL)) == []
    activity.record_for_book(Activity.Verb.BOOK_GUIDELINES, book=case.book, by=ann)
    assert (len(texts(case)), len(texts(other))) == (2, 3)


@pytest.mark.parametrize(
    "cursor", ["x", "1", "1-1", "1-2-3", "-1-1-1", "999999999999999999-1-1", "1-1-1-1", "１-1-1", "1-1-1\n"]
)
def test_a_wrong_cursor_is_an_error(case: Case, cursor: str) -> None:
    with pytest.raises(ValidationError, match="not a cursor"):
        Log(case).page(ALL, cursor=cursor)


def test_statements_do_not_grow_with_the_log(case: Case, ann: User, django_assert_num_queries: Any) -> None:
    for number in range(12):
        add(case, make_user(), timezone.now() - timedelta(minutes=number))
        rate(case, make_user(), "d", timezone.now())
    for limit in (2, 20):
        with django_assert_num_queries(2):
            entries, cursor = Log(case).page(ALL, limit=limit)
    with django_assert_num_queries(2):
        Log(case).page(ALL, cursor=cursor or str(entries[3].position))
    with django_assert_num_queries(1):
        assert len(Log(case).people()) == 24


@pytest.mark.parametrize("wanted", [ALL, EntryFilter(kind="run"), EntryFilter(since=date(2020, 1, 1))])
def test_a_page_of_a_long_log_is_read_by_its_index(case: Case, ann: User, wanted: EntryFilter) -> None:
    """Sorting the whole log would take longer with each entry."""
    other = make_case(0, owner=ann)
    verb, now = Activity.Verb.RUN_PINNED, timezone.now()
    Activity.objects.bulk_create(
        Activity(case=(case, other)[number % 2], by=ann, verb=verb, at=now - timedelta(minutes=number))
        for number in range(4000)
    )
    with connection.cursor() as cursor, CaptureQueriesContext(connection) as captured:
        cursor.execute("ANALYZE")
        assert len(Log(case).page(wanted)[0]) == 50
        statement = next(row["sql"] for row in captured if row["sql"].startswith("SELECT"))
        cursor.execute(f"EXPLAIN {'QUERY PLAN' if connection.vendor == 'sqlite' else ''} {statement}")
        plan = str(cursor.fetchall())
    assert "activity_of_case" in plan
    assert "Sort" not in plan
    assert "TEMP B-TREE" not in plan
