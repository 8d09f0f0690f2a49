"""The queries of a case with their grades, read in parts, so that memory does not grow with the number of ratings."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from django.db.models import Count

from relevancy import scores
from relevancy.models import Book, Case, Query, Rating

BATCH = 20_000  # ratings in memory at once; those of a query are never divided
MAX_QUERIES = 500  # in a batch


def graded_queries(
    case: Case, order: Sequence[str] = ("position", "id")
) -> Iterator[tuple[Query, Mapping[str, float]]]:
    """Yields the queries of the case in an order, each with `{document id: grade}`, sorted by document id.

    order: of its case queries.
    A statement for 20,000 ratings, or 500 queries, and two more.
    """
    rows = case.case_queries.present().select_related("query").order_by(*order)
    queries = {row.query_id: row.query for row in rows.iterator()}
    for query_ids in query_batches(case.book, queries):
        known_grades = scores.known_grades(case.book, query_ids)
        for query_id in query_ids:
            yield queries[query_id], dict(sorted(known_grades[query_id].items()))


def query_batches(book: Book, query_ids: Iterable[int]) -> Iterator[list[int]]:
    """Yields the ids of queries of a book in lists that have at most `BATCH` ratings together, or of a single one."""
    ratings_of_book = Rating.objects.filter(query__book=book).order_by()
    counts: dict[int, int] = dict(ratings_of_book.values_list("query_id").annotate(Count("pk")))
    batch: list[int] = []
    ratings = 0
    for query_id in query_ids:
        count = counts.get(query_id, 0)
        if batch and (ratings + count > BATCH or len(batch) == MAX_QUERIES):
            yield batch
            batch, ratings = [], 0
        batch.append(query_id)
        ratings += count
    if batch:
        yield batch
