"""Ratings of several raters that are stored as they are, for books that start with those of another book or of a file."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import batched

from django.db import transaction
from django.utils import timezone

from relevancy import scores
from relevancy.models import Book, Query, QueryLink, User
from relevancy.models.saving import clean_and_save
from relevancy.models.write_queue import write_turn
from relevancy.queries import create_links

from .book_locks import lock_book
from .book_settings import BookSettings, check_new_grades
from .imports import finish_imports
from .new_ratings import NewRating, insert_ratings

COPY_SOURCE = "copy"
BATCH = 500


def copy_book(
    *,
    book: Book,
    name: str,
    settings: BookSettings,
    new_grades: Mapping[float, float] | None = None,
    can_merge_grades: bool = False,
    by: User,
) -> Book:
    """Creates a copy of a book with other settings: its queries that are not retired, its guidelines and all their ratings. It belongs
    to `by`, is not shared, and no case uses it.

    The other arguments are those of `change_settings`. Raises `ValidationError`; nothing is created then.
    """
    finish_imports(book)
    with write_turn(), transaction.atomic():
        lock_book(book)
        check_new_grades(book, settings, new_grades, can_merge_grades=can_merge_grades)
        copy = create_copy(book=book, name=name, settings=settings, by=by)
        query_ids = copy_queries(queries=Query.objects.live().filter(book=book).order_by("pk"), book=copy)
        copy_ratings(query_ids=query_ids, by=by, new_grades=new_grades)
    return copy


def create_copy(*, book: Book, name: str, settings: BookSettings, by: User) -> Book:
    """Creates a book with the guidelines of another one and without queries. It belongs to `by` and is not shared.

    Raises `ValidationError`.
    """
    copy = Book(
        name=name,
        owner=by,
        scale=settings.scale,
        relevant_from=settings.relevant_from,
        rule=settings.rule,
        guidelines=book.guidelines,
    )
    clean_and_save(copy)
    return copy


def copy_queries(*, queries: Iterable[Query], book: Book) -> dict[int, int]:
    """Copies queries into a book that has none of them, without their ratings. Returns `{query id: id of the copy}`.

    Copies of linked queries are linked, and share ratings as the originals do.
    """
    queries = list(queries)
    copies = Query.objects.bulk_create(
        [
            Query(
                book=book,
                text=query.text,
                text_key=query.text_key,
                information_need=query.information_need,
                reference_answer=query.reference_answer,
                notes=query.notes,
                tags=query.tags,
            )
            for query in queries
        ],
        batch_size=BATCH,
    )
    _copy_links(queries, copies, book)
    return {query.pk: copy.pk for query, copy in zip(queries, copies, strict=True)}


def _copy_links(queries: Sequence[Query], copies: Sequence[Query], book: Book) -> None:
    copies_by_link: dict[int, list[int]] = {}
    for query, copy in zip(queries, copies, strict=True):
        if query.link_id is not None:
            copies_by_link.setdefault(query.link_id, []).append(copy.pk)
    shares = {
        pk: shares_ratings
        for batch in batched(copies_by_link, BATCH)
        for pk, shares_ratings in QueryLink.objects.filter(pk__in=batch).values_list("pk", "shares_ratings")
    }
    links = ((copied, shares[link_id]) for link_id, copied in copies_by_link.items() if len(copied) > 1)
    create_links(book=book, links=links)


def with_shared_ratings(queries: Sequence[Query]) -> list[Query]:
    """Returns queries of one book, and behind them the others whose ratings count for them because they share ratings."""
    chosen = {query.pk for query in queries}
    link_ids = {query.link_id for query in queries if query.link_id is not None}
    sharing = (
        query
        for batch in batched(sorted(link_ids), BATCH)
        for query in Query.objects.filter(link__in=batch, link__shares_ratings=True).order_by("pk")
    )
    return [*queries, *(query for query in sharing if query.pk not in chosen)]


def copy_ratings(*, query_ids: Mapping[int, int], by: User, new_grades: Mapping[float, float] | None = None) -> int:
    """Copies all ratings of queries to queries without ratings: `{id of a query: id of the query that gets its ratings}`.

    Raters, notes and times stay; the log names `by` and the source “copy”. Call it in the transaction that creates the queries.
    Returns the number of ratings.

    new_grades: `{grade of a rating: grade of its copy}`; others stay.
    """
    new_grades = new_grades or {}
    copies = (
        NewRating(
            copy_id,
            record.doc_id,
            record.rater_id,
            record.verdict,
            None if record.value is None else new_grades.get(record.value, record.value),
            record.note,
            record.updated_at,
            record.is_adjudication,
        )
        for query_id, copy_id in query_ids.items()
        for record in scores.QueryRatings.read_given(query_id).records
    )
    return store_ratings(ratings=copies, by=by, source=COPY_SOURCE)


def store_ratings(*, ratings: Iterable[NewRating], by: User, source: str) -> int:
    """Stores ratings of queries that have none, in the given order, with their log. Returns their number.

    Call it in the transaction that creates the queries, or before others can see their book. Computes no scores.
    """
    count = 0
    for batch in batched(ratings, BATCH):
        insert_ratings(batch, by_id=by.pk, source=source, now=timezone.now())
        count += len(batch)
    return count
