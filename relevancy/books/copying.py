"""Ratings of several raters that are stored as they are, for books that start with those of another book or of a file."""

from collections.abc import Iterable, Mapping
from itertools import batched

from django.db import transaction
from django.utils import timezone

from relevancy import activity, scores
from relevancy.models import Activity, Book, JudgingPair, Query, QueryLink, RatingSpread, User, Verdict
from relevancy.models.saving import clean_and_save
from relevancy.models.write_queue import write_turn
from relevancy.queries import DETAILS_OF_QUERY, create_links
from relevancy.ratings.new_ratings import NewRating, insert_ratings
from relevancy.ratings.ratings import check_open

from .book_locks import lock_book
from .book_settings import BookSettings, check_new_grades

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
        raters_are_blind=book.raters_are_blind,
    )
    clean_and_save(copy)
    return copy


def copy_queries(*, queries: Iterable[Query], book: Book) -> dict[int, int]:
    """Copies queries into a book that has none of them, without their ratings. Returns `{query id: id of the copy}`.

    Copies of linked queries are linked.
    """
    queries = list(queries)
    copies = Query.objects.bulk_create(
        [
            Query(
                book=book,
                text=query.text,
                text_key=query.text_key,
                **{name: getattr(query, name) for name in DETAILS_OF_QUERY},
            )
            for query in queries
        ],
        batch_size=BATCH,
    )
    copies_by_link: dict[int, list[int]] = {}
    for query, copy in zip(queries, copies, strict=True):
        if query.link_id is not None:
            copies_by_link.setdefault(query.link_id, []).append(copy.pk)
    create_links(book=book, links=[copied for copied in copies_by_link.values() if len(copied) > 1])
    return {query.pk: copy.pk for query, copy in zip(queries, copies, strict=True)}


def copy_ratings(*, query_ids: Mapping[int, int], by: User, new_grades: Mapping[float, float] | None = None) -> int:
    """Copies all ratings of queries to queries without ratings: `{id of a query: id of the query that gets its ratings}`.

    Raters, notes and times stay; the log names `by` and the source “copy”. Call it in the transaction that creates the queries.
    Returns the number of ratings.

    new_grades: `{grade of a rating: grade of its copy}`; others stay.
    """
    new_grades = new_grades or {}
    copies = (
        _copy_of(record, copy_id, None if record.value is None else new_grades.get(record.value, record.value))
        for query_id, copy_id in query_ids.items()
        for record in scores.QueryRatings.read(query_id).records
    )
    return store_ratings(ratings=copies, by=by, source=COPY_SOURCE)


def preview_copies(query_link: QueryLink) -> dict[int, int]:
    """Returns how many ratings `copy_to_linked` would store for each of the linked queries: `{query id: number}`. One SQL statement
    for each query, and one more."""
    ratings = [scores.QueryRatings.read(pk) for pk in query_link.queries.order_by("pk").values_list("pk", flat=True)]
    return {
        source.query_id: sum(len(_missing_ratings(source, target)) for target in ratings if target is not source)
        for source in ratings
    }


def copy_to_linked(*, query: Query, by: User) -> int:
    """Copies the grades of a query to the queries that it is linked with. Returns the number of ratings that were stored.

    A document that has a grade there keeps it; so does a rater who could not judge it there, or put it off. Raters, notes, times and
    decisions stay; the log names `by` and the source “copy”. Called again, copies what has been rated since. Computes no scores.
    """
    with write_turn(), transaction.atomic():
        query_ids = sorted(_linked_ids(query))
        scores.lock_queries(query_ids)
        check_open(book=query.book_id)
        source = scores.QueryRatings.read(query.pk)
        changed: dict[int, int] = {}
        for query_id in sorted(_linked_ids(query).intersection(query_ids) - {query.pk}):
            ratings = _missing_ratings(source, scores.QueryRatings.read(query_id))
            if ratings:
                changed[query_id] = store_ratings(ratings=ratings, by=by, source=COPY_SOURCE)
        count = sum(changed.values())
        if count:
            JudgingPair.objects.update_levels(list(changed), has_only_new_ratings=True)
            scores.ratings_changed(list(changed))
            activity.record_for_book(
                Activity.Verb.RATINGS_COPIED, book=query.book, by=by, subject=query.text, count=count
            )
    return count


def _linked_ids(query: Query) -> set[int]:
    """Returns the ids of the queries that are linked with a query, its own included; none if it is not linked."""
    return set(Query.objects.filter(link__queries=query).values_list("pk", flat=True))


def _missing_ratings(source: scores.QueryRatings, target: scores.QueryRatings) -> list[NewRating]:
    """Returns the ratings of a query that another one gets; see `copy_to_linked`."""
    graded = {record.doc_id for record in target.records if record.verdict == Verdict.RATED}
    judged = {(record.doc_id, record.rater_id) for record in target.records}
    return [
        _copy_of(record, target.query_id, record.value)
        for record in source.records
        if record.verdict == Verdict.RATED
        and record.doc_id not in graded
        and (record.doc_id, record.rater_id) not in judged
    ]


def _copy_of(record: scores.RatingRecord, query_id: int, value: float | None) -> NewRating:
    return NewRating(
        query_id,
        record.doc_id,
        record.rater_id,
        record.verdict,
        value,
        record.note,
        record.updated_at,
        record.is_adjudication,
    )


def store_ratings(*, ratings: Iterable[NewRating], by: User, source: str) -> int:
    """Stores first ratings of documents, in the given order, with their log. Returns their number.

    Call it while the queries are locked, or before others can see them. Computes no scores.
    """
    count = 0
    for batch in batched(ratings, BATCH):
        insert_ratings(batch, by_id=by.pk, source=source, now=timezone.now())
        RatingSpread.objects.refresh({rating.query_id for rating in batch}, has_only_new_ratings=True)
        count += len(batch)
    return count
