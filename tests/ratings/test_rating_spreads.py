"""How far the grades of a document are apart is stored, and always what its ratings say."""

from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from relevancy import accounts, books, judging, ratings
from relevancy.books import merging
from relevancy.models import Book, Case, Rating, RatingSpread, User, Verdict
from tests.factories import make_case, make_user, query_of, rate_all, remap

pytestmark = pytest.mark.django_db

type Spread = tuple[float, int, int]
"""The difference of the grades, how many there are, and the number of decisions."""


@pytest.fixture
def case() -> Case:
    """Query 1: a 3 0 1, b 2 1, c 1; query 2: a 3 3."""
    case = make_case(2, {"query 1": {"a": 3, "b": 2, "c": 1}, "query 2": {"a": 3}})
    rate_all(case, {"query 1": {"a": 0, "b": 1}, "query 2": {"a": 3}}, second(case))
    rate_all(case, {"query 1": {"a": 1}}, make_user("Third"))
    return case


def second(case: Case) -> User:
    """A rater by a name in a file."""
    return accounts.ensure_raters(["Second"], by=case.owner)["Second"]


def stored() -> dict[tuple[str, str], Spread]:
    rows = RatingSpread.objects.values_list("query__text", "doc_id", "spread", "count", "decisions")
    return {(text, doc_id): (spread, count, decisions) for text, doc_id, spread, count, decisions in rows}


def recounted() -> dict[tuple[str, str], Spread]:
    grades: dict[tuple[str, str], list[float]] = defaultdict(list)
    decisions: dict[tuple[str, str], int] = defaultdict(int)
    for rating in Rating.objects.filter(verdict=Verdict.RATED).select_related("query"):
        key = rating.query.text, rating.doc_id
        decisions[key] += rating.is_adjudication
        if rating.value is not None and not rating.is_adjudication:
            grades[key].append(rating.value)
    return {
        key: (max(grades[key]) - min(grades[key]), len(grades[key]), count)
        for key, count in decisions.items()
        if len(grades[key]) + count > 1
    }


def test_documents_with_several_grades_are_stored(case: Case) -> None:
    assert stored() == {
        ("query 1", "a"): (3, 3, 0),
        ("query 1", "b"): (1, 2, 0),
        ("query 2", "a"): (0, 2, 0),
    }


def change_a_grade(case: Case) -> None:
    ratings.rate(query=query_of(case, "query 2"), doc_id="a", value=1, by=case.owner)


def rate_another_document(case: Case) -> None:
    rate_all(case, {"query 1": {"c": 3}}, make_user())


def remove_a_rating(case: Case) -> None:
    ratings.remove(query=query_of(case, "query 1"), doc_ids=["b"], by=case.owner)


def cannot_judge(case: Case) -> None:
    judging.judge(query=query_of(case, "query 2"), doc_id="a", by=case.owner, verdict="cannot", note="Unclear")


def decide_and_decide_otherwise(case: Case) -> None:
    judging.adjudicate(query=query_of(case, "query 1"), doc_id="c", value=2, by=make_user("Judge"))
    judging.adjudicate(query=query_of(case, "query 1"), doc_id="a", value=2, by=make_user("Judge 2"))
    judging.adjudicate(query=query_of(case, "query 1"), doc_id="a", value=0, by=case.owner)


def take_back_a_decision(case: Case) -> None:
    decide_and_decide_otherwise(case)
    assert judging.undo_adjudication(book=case.book, by=case.owner) is not None
    assert ("query 1", "a") in stored()


def undo_a_rating(case: Case) -> None:
    rate_another_document(case)
    ratings.rate(query=query_of(case, "query 1"), doc_id="c", value=0, by=case.owner)
    assert ratings.undo(book=case.book, by=case.owner) is not None


def import_for_several_raters(case: Case) -> None:
    values = {"query 1": [("c", "Ann", 3.0), ("d", "Ann", 1.0), ("d", "Ben", 2.0)], "new": [("a", "Ann", 0.0)]}
    ratings.import_ratings(
        case=case, values=values, total=4, rater=case.owner, raters=("Ann", "Ben"), by=case.owner, source="import"
    )


def change_the_scale(case: Case) -> None:
    remap(case)


def remove_a_rater(case: Case) -> None:
    books.remove_ratings(book=case.book, rater=second(case), by=case.owner)


def give_ratings_to_a_person(case: Case) -> None:
    books.assign_ratings(book=case.book, rater=second(case), person=case.owner, by=case.owner)


def merge_with_another_book(case: Case) -> None:
    other = make_case(["query 1", "other"], {"query 1": {"c": 3, "a": 2}, "other": {"a": 1}}, owner=case.owner)
    rate_all(other, {"query 1": {"e": 0}, "other": {"a": 3}}, make_user())
    rate_all(other, {"query 1": {"e": 2}}, make_user())
    merging.merge_books(book=Book.objects.get(pk=case.book_id), other=Book.objects.get(pk=other.book_id), by=case.owner)


@pytest.mark.parametrize(
    "change",
    [
        change_a_grade,
        rate_another_document,
        remove_a_rating,
        cannot_judge,
        decide_and_decide_otherwise,
        take_back_a_decision,
        undo_a_rating,
        import_for_several_raters,
        change_the_scale,
        remove_a_rater,
        give_ratings_to_a_person,
        merge_with_another_book,
    ],
)
def test_after_a_change_they_are_what_a_recount_gives(case: Case, change: Callable[[Case], None]) -> None:
    before = stored()
    change(case)
    assert stored() == recounted()
    assert stored() != before


def test_a_copy_of_a_book_has_them(case: Case) -> None:
    settings = books.book_settings(rule=case.book.rule, scale=case.book.scale)
    copy = books.copy_book(book=case.book, name="Copy", settings=settings, by=case.owner)

    def rows(book: Book) -> list[tuple[str, str, float, int]]:
        spreads = RatingSpread.objects.filter(query__book=book).order_by("query__text", "doc_id")
        return list(spreads.values_list("query__text", "doc_id", "spread", "count"))

    assert rows(copy) == rows(case.book)
    assert len(rows(copy)) == 3


def test_they_are_deleted_with_a_book(case: Case) -> None:
    book = case.book
    case.delete()
    books.delete_book(book=book, by=book.owner)
    assert not RatingSpread.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_raters_of_one_document_at_one_moment_are_all_counted() -> None:
    if connection.vendor != "postgresql" and "mode=memory" in str(connection.settings_dict["NAME"]):
        pytest.skip("SQLite in memory has one connection")
    case = make_case(1)
    query = query_of(case, "query 1")
    raters = [make_user() for _ in range(6)]

    def work(number: int) -> None:
        try:
            for round_number in range(12):
                doc_id = f"d{round_number % 3}"
                if (round_number + number) % 4 == 3:
                    ratings.remove(query=query_of(case, "query 1"), doc_ids=[doc_id], by=raters[number])
                else:
                    value = (number + round_number) % 4
                    ratings.rate(query=query_of(case, "query 1"), doc_id=doc_id, value=value, by=raters[number])
        finally:
            connection.close()

    with ThreadPoolExecutor(len(raters)) as pool:
        list(pool.map(work, range(len(raters))))
    assert query.ratings.count() > 6
    assert stored() == recounted() != {}
