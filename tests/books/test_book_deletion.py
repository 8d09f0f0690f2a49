import pytest
from django.core.exceptions import ValidationError

from relevancy import books, cases, ratings
from relevancy.books import book_deletion
from relevancy.models import Activity, Book, RatingChange, RatingImport, Role
from relevancy.ratings import imports
from tests.factories import make_case, make_team, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture
def book() -> Book:
    """A book without a case, shared with a team, with three ratings by two people."""
    case = make_case(["query 1", "query 2"], {"query 1": {"a": 1, "b": 2}})
    ratings.rate(query=case.book.queries.get(text="query 2"), doc_id="a", value=1, by=make_user("Ben"))
    team = make_team("Search", Ada=Role.VIEWER)
    cases.share(case=case, team=team)
    book = case.book
    cases.delete(case=case, by=case.owner)
    return book


def test_book_losses(book: Book) -> None:
    assert books.book_losses(book) == {"queries": 2, "ratings": 3, "raters": 2}


def test_delete_book(book: Book) -> None:
    books.delete_book(book=book, by=book.owner)
    assert not Book.objects.exists()
    assert not RatingChange.objects.exists()
    assert not RatingImport.objects.exists()
    line = Activity.objects.get(verb=Activity.Verb.BOOK_DELETED)
    assert (line.team.name, line.by) == ("Search", book.owner)


def test_delete_book_that_cases_use() -> None:
    case = make_case(["query 1"], {"query 1": {"a": 1}})
    cases.archive(case=case, by=case.owner)
    with pytest.raises(ValidationError, match="1 case uses the book"):
        books.delete_book(book=case.book, by=case.owner)
    assert case.book.queries.get().ratings.count() == 1
    assert not RatingImport.objects.exists()


def test_a_deletion_that_was_interrupted_is_finished_later(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody sees the book meanwhile."""
    with monkeypatch.context() as broken:
        broken.setattr(book_deletion, "undo_import", lambda record: None)
        books.delete_book(book=book, by=book.owner)
    assert Book.objects.get() == book
    assert not Book.objects.visible_to(book.owner).exists()
    RatingImport.objects.update(progressed_at=RatingImport.objects.get().progressed_at - imports.DEAD_AFTER)
    ratings.sweep_imports()
    assert not Book.objects.exists()


def test_rename_book() -> None:
    case = make_case(["query 1"])
    former = case.book.name
    books.change_book(book=case.book, name="  Films ", by=case.owner)
    case.refresh_from_db()
    assert case.book.name == "Films"
    line = Activity.objects.get(verb=Activity.Verb.BOOK_RENAMED)
    assert (line.case, line.subject, line.details) == (case, "Films", {"former": former})


def test_rename_book_to_nothing_changes_nothing() -> None:
    case = make_case(["query 1"])
    with pytest.raises(ValidationError):
        books.change_book(book=case.book, name=" ", by=case.owner)
    assert Book.objects.get().name != " "
