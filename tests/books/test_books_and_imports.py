"""Changes of whole books while imported ratings count that are not rows of `Rating` yet, or are still being written."""

from collections.abc import Mapping
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from relevancy import books, judging, ratings, scores
from relevancy.models import (
    Book,
    Case,
    ImportedRating,
    Rating,
    RatingChange,
    RatingImport,
    User,
)
from relevancy.ratings import imports
from tests.factories import as_values, make_attempt, make_case, make_user, query_of, run_now

pytestmark = pytest.mark.django_db
ZERO_TO_TEN = [[grade, ""] for grade in range(11)]
TIMES_THREE = {0: 0, 1: 3, 2: 6, 3: 9}


def import_unmoved(monkeypatch: pytest.MonkeyPatch, case: Case, values: Mapping[str, Any], rater: User) -> None:
    """Imports ratings that count, as if the process had ended before it moved them."""
    with monkeypatch.context() as patch:
        patch.setattr(imports, "MOVED_AT_ONCE", -1)
        patch.setattr(imports, "move", lambda record: None)
        ratings.import_ratings(book=case.book, values=as_values(values), rater=rater, by=rater, with_it=len)
    assert ImportedRating.objects.applied().exists()


def begin_import(case: Case) -> RatingImport:
    """An import that is still being written."""
    return RatingImport.objects.create(book=case.book, by=case.owner, source="import", progressed_at=timezone.now())


def fresh(case: Case) -> Book:
    book: Book = Book.objects.get(pk=case.book_id)
    return book


def grades(case: Case, text: str = "query 1") -> dict[str, float]:
    """The grades of a query, by both ways to read them."""
    query = query_of(case, text)
    book = fresh(case)
    known = scores.known_grades(book, [query.pk])[query.pk]
    assert scores.QueryRatings.read(query.pk).grades(book) == known
    return known


def remap(case: Case, new_grades: Mapping[float, float] = TIMES_THREE) -> int:
    book = fresh(case)
    settings = books.book_settings(rule=book.rule, scale=ZERO_TO_TEN)
    return books.change_settings(book=book, settings=settings, new_grades=new_grades, by=case.owner)


def test_imported_ratings_get_the_new_grades(monkeypatch: pytest.MonkeyPatch) -> None:
    case = make_case(2, {"query 1": {"a": 1, "b": 3}})
    import_unmoved(monkeypatch, case, {"query 1": {"a": 2, "c": 1}, "query 2": {"a": 3}}, case.owner)
    assert books.rated_values(fresh(case)) == [1, 2, 3]
    assert remap(case) == 4
    assert grades(case) == {"a": 6, "b": 9, "c": 3}
    assert grades(case, "query 2") == {"a": 9}
    assert not ImportedRating.objects.exists()
    log = RatingChange.objects.filter(query=query_of(case, "query 1"), doc_id="a").order_by("id")
    assert [*log.values_list("source", "old_value", "new_value")][1:] == [("import", 1, 2), ("remap", 2, 6)]


def test_grades_do_not_change_while_ratings_of_the_former_scale_are_written() -> None:
    case = make_case(1, {"query 1": {"a": 1}})
    record = begin_import(case)
    with pytest.raises(ValidationError, match="Ratings are being imported into"):
        remap(case)
    assert grades(case) == {"a": 1}
    record.delete()
    assert remap(case) == 1


def test_import_ends_if_the_ratings_got_new_grades_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    case = make_case(1, {"query 1": {"a": 1}})
    write = imports._ImportWriter.write

    def remap_first(*arguments: Any) -> None:
        Book.objects.filter(pk=case.book_id).update(remapped_at=timezone.now())
        write(*arguments)

    monkeypatch.setattr(imports._ImportWriter, "write", remap_first)
    with pytest.raises(ratings.ImportFailed, match="another scale"):
        ratings.import_ratings(
            book=case.book, values=as_values({"query 1": {"a": 2}}), rater=case.owner, by=case.owner, with_it=len
        )
    assert grades(case) == {"a": 1}
    assert not RatingImport.objects.exists()


@pytest.mark.parametrize("is_own", [False, True])
def test_decision_and_imported_rating(is_own: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The decision of another user counts; one's own ends with a rating of another grade, before and after that is moved."""
    case = make_case(1, {"query 1": {"a": 0, "b": 1}})
    judge, query = make_user("Judge"), query_of(case, "query 1")
    judging.adjudicate(query=query, doc_id="a", value=2, by=judge)
    import_unmoved(monkeypatch, case, {"query 1": {"a": 3, "b": 3}}, judge if is_own else case.owner)
    for _ in range(2):
        assert grades(case) == {"a": 3 if is_own else 2, "b": 3}
        assert judging.count_adjudications(case.book) == (0 if is_own else 1)
        ratings.move_ratings_of(query)
    assert Rating.objects.filter(is_adjudication=True).count() == (0 if is_own else 1)
    change = RatingChange.objects.filter(doc_id="a").order_by("id").last()
    assert change is not None and change.source == "import"
    assert (change.old_is_adjudication, change.new_is_adjudication) == (is_own, False)


@pytest.mark.parametrize("is_withdrawn", [False, True])
def test_decision_after_an_import(is_withdrawn: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    case = make_case(1, {"query 1": {"a": 0}})
    import_unmoved(monkeypatch, case, {"query 1": {"a": 3}}, other := make_user("Other"))
    rows = judging.find_conflicts(book=case.book, difference=1)
    assert [(row["doc_id"], row["spread"]) for row in rows] == [("a", 3)]
    query = query_of(case, "query 1")
    assert judging.adjudicate(query=query, doc_id="a", value=1, by=other)
    assert grades(case) == {"a": 1}
    if is_withdrawn:
        judging.withdraw_adjudication(query=query, doc_id="a", by=case.owner)
        assert grades(case) == {"a": 3}
        assert Rating.objects.filter(rater=other, value=3, is_adjudication=False).exists()


def test_merge_has_imported_ratings_of_both_books(monkeypatch: pytest.MonkeyPatch) -> None:
    case = make_case(2, {"query 1": {"a": 1}})
    other = make_case(["query 1", "yours"], {"query 1": {"a": 0}}, owner=case.owner)
    import_unmoved(monkeypatch, other, {"query 1": {"a": 3, "b": 2}, "yours": {"c": 1}}, case.owner)
    import_unmoved(monkeypatch, case, {"query 2": {"a": 2}}, case.owner)
    result = books.merge_books(book=fresh(case), other=fresh(other), by=case.owner)
    assert (result.ratings, result.replaced) == (3, 1)
    assert (grades(case), grades(case, "query 2")) == ({"a": 3, "b": 2}, {"a": 2})
    assert grades(case, "yours") == {"c": 1}
    assert not ImportedRating.objects.exists()


@pytest.mark.parametrize("is_into_first", [False, True])
def test_no_merge_while_ratings_are_imported(is_into_first: bool) -> None:
    case = make_case(1, {"query 1": {"a": 1}})
    other = make_case(1, owner=case.owner)
    record = begin_import(case if is_into_first else other)
    for act in (books.merge_books, books.preview_merge):
        with pytest.raises(ValidationError, match="Ratings are being imported into"):
            act(book=fresh(case), other=fresh(other), by=case.owner)
    RatingImport.objects.filter(pk=record.pk).update(progressed_at="2026-01-01T00:00Z")  # its process has died
    books.merge_books(book=fresh(case), other=fresh(other), by=case.owner)
    assert grades(case) == {"a": 1}


@pytest.mark.usefixtures("script")
def test_imported_ratings_are_moved_to_other_documents(monkeypatch: pytest.MonkeyPatch) -> None:
    case = make_case(1, {"query 1": {"old": 1}})
    import_unmoved(monkeypatch, case, {"query 1": {"old": 3}}, make_user("Other"))
    run_now(make_attempt(case))
    assert books.find_orphaned_ratings(book=case.book).unknown == 1
    assert books.move_ratings(book=case.book, ids={"old": "new"}, by=case.owner) == 2
    assert grades(case) == {"new": 3}


def test_grades_of_one_rating_and_of_several_are_the_same_by_both_ways_to_read_them() -> None:
    """The scale has fractions, which the rule of Quepid's books rounds, also for a single rating."""
    case = make_case(1)
    Book.objects.filter(pk=case.book_id).update(scale=[[0, ""], [0.5, ""], [1.5, ""], [2.25, ""]], relevant_from=0.5)
    raters = [case.owner, *(make_user() for _ in range(3))]
    query = query_of(case, "query 1")
    values = (0.5, 2.25, 0.5, 1.5)
    for number in range(4):  # document 0 has one rating, document 3 has four
        for rater, value in list(zip(raters, values, strict=True))[: number + 1]:
            ratings.rate(query=query, doc_id=str(number), value=value, by=rater)
        ratings.rate(query=query, doc_id=f"{number} alone", value=values[number], by=case.owner)
    for rule in Book.Rule.values:
        Book.objects.filter(pk=case.book_id).update(rule=rule)
        assert len(grades(case)) == 8
