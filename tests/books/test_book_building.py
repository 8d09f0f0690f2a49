"""Books of files: nobody sees a part of one, nobody waits for one, and nothing is left of one that failed."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from django.db import IntegrityError, connection
from django.utils import timezone

from relevancy import books, ratings
from relevancy.books import book_building
from relevancy.models import Book, Query, Rating, RatingChange, RatingImport, User, write_queue
from relevancy.queries import QueryDetails
from relevancy.ratings import NewRating, imports
from relevancy.views.books.forms import MergeForm
from tests.factories import make_user

pytestmark = pytest.mark.django_db
TEXTS = ["query 1", "query 2", "query 3"]
DETAILS = {text: QueryDetails(notes=f"Of {text}") for text in TEXTS}
RATED_AT = datetime(2026, 1, 31, 12, tzinfo=UTC)


class Killed(BaseException):
    """Ends a process in a test: nothing that follows is executed."""


def book_of(owner: User) -> Book:
    return Book(name="From a file", owner=owner, scale=[[0, ""], [1, ""]], relevant_from=1)


def new_ratings(ids: dict[str, int], rater: User, count: int = 4) -> list[NewRating]:
    return [
        NewRating(pk, f"d{number}", rater.pk, "rated", float(number % 2), "note", RATED_AT)
        for pk in ids.values()
        for number in range(count)
    ]


def nothing_is_left() -> bool:
    return not any(model.objects.exists() for model in (Book, Query, Rating, RatingChange, RatingImport))


def test_book_is_stored_with_its_log_and_seen_at_the_end() -> None:
    owner = make_user("Owner")
    with books.build_book(book=book_of(owner), by=owner, source="import") as builder:
        builder.store(new_ratings(builder.add_queries(DETAILS), owner))
        assert not Book.objects.visible_to(owner).exists()
    book = Book.objects.visible_to(owner).get()
    assert dict(book.queries.values_list("text", "notes")) == {text: f"Of {text}" for text in TEXTS}
    assert not RatingImport.objects.exists()
    values = ("rater", "verdict", "value", "note", "is_adjudication", "created_at", "updated_at")
    row = (owner.pk, "rated", 1, "note", False, RATED_AT, RATED_AT)
    assert Rating.objects.filter(query__text="query 2", doc_id="d3").values_list(*values).get() == row
    change = RatingChange.objects.get(query__text="query 2", doc_id="d3")
    assert (change.rater, change.by, change.source, change.old_value, change.new_value) == (
        owner,
        owner,
        "import",
        None,
        1,
    )
    assert (change.old_verdict, change.new_verdict, change.old_note) == ("", "rated", "")
    assert (timezone.now() - change.at).total_seconds() < 3600
    assert RatingChange.objects.count() == Rating.objects.count() == 12


def test_failed_book_is_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(book_building, "RATINGS_AT_ONCE", 5)
    monkeypatch.setattr(imports, "DELETED_AT_ONCE", 5)
    owner = make_user("Owner")
    with (
        pytest.raises(IntegrityError),
        books.build_book(book=book_of(owner), by=owner, source="import") as builder,
    ):
        new = new_ratings(builder.add_queries(DETAILS), owner)
        builder.store([*new, new[0]])
    assert nothing_is_left()


def test_killed_book_is_hidden_until_it_is_deleted(monkeypatch: pytest.MonkeyPatch) -> None:
    owner, other = make_user("Owner"), make_user("Other")
    with books.build_book(book=book_of(other), by=other, source="import") as builder:
        builder.store(new_ratings(builder.add_queries(DETAILS), other))
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(book_building, "undo_import", lambda record: None)
        with books.build_book(book=book_of(owner), by=owner, source="import") as builder:
            builder.ensure_raters(["Ann", "Ben", "Dana"])
            builder.store(new_ratings(builder.add_queries(DETAILS), owner))
            raise Killed
    with books.build_book(book=book_of(other), by=other, source="import") as builder:
        dana = User.objects.get(pk=builder.ensure_raters(["Dana"])["Dana"])
        builder.store(new_ratings(builder.add_queries({"query 1": QueryDetails()}), dana, 1))
    ratings.sweep_imports()
    assert User.objects.filter(kind=User.Kind.FILE).count() == 3
    assert not Book.objects.visible_to(owner).exists()  # it may still make progress
    assert Rating.objects.filter(rater=owner).count() == 12
    merged = MergeForm(Book.objects.filter(owner=other).first(), make_user(superuser=True)).fields["other"].queryset
    assert [book.owner for book in merged] == [other]
    RatingImport.objects.update(progressed_at="2026-01-01T00:00Z")
    assert ratings.sweep_imports() == []
    assert {book.owner for book in Book.objects.all()} == {other}
    assert Query.objects.count() == 4
    assert Rating.objects.count() == RatingChange.objects.count() == 13
    assert list(User.objects.filter(kind=User.Kind.FILE)) == [dana]
    assert not RatingImport.objects.exists()


def test_book_that_was_discarded_meanwhile_is_not_continued() -> None:
    owner = make_user("Owner")
    with (
        pytest.raises(ratings.ImportFailed, match="stopped for minutes"),
        books.build_book(book=book_of(owner), by=owner, source="import") as builder,
    ):
        ids = builder.add_queries(DETAILS)
        RatingImport.objects.update(status="undoing")
        builder.store(new_ratings(ids, owner))
    assert not Rating.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_no_transaction_stores_more_than_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(book_building, "RATINGS_AT_ONCE", 10)
    monkeypatch.setattr(write_queue, "PAUSE_SECONDS", 0)
    short_transaction = imports.short_transaction
    stored = [0]

    @contextmanager
    def counted() -> Iterator[None]:
        with short_transaction():
            yield
        assert not connection.in_atomic_block
        stored.append(Rating.objects.count())

    monkeypatch.setattr(book_building, "short_transaction", counted)
    owner = make_user("Owner")
    with books.build_book(book=book_of(owner), by=owner, source="import") as builder:
        builder.store(new_ratings(builder.add_queries(DETAILS), owner, count=45))
    assert stored[-1] == 135
    assert {after - before for before, after in pairwise(stored)} == {0, 5, 10}
