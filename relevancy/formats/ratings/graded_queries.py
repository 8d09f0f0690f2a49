"""The queries of a case with their grades, read in parts, so that memory does not grow with the number of queries or ratings."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import batched

from django.db.models import Count

from relevancy import scores
from relevancy.models import Case, Query, Rating

BATCH = 20_000  # ratings in memory at once; those of a query are never divided
MAX_QUERIES = 500  # in a batch


def graded_queries(
    case: Case, order: Sequence[str] = ("position", "id")
) -> Iterator[tuple[Query, Mapping[str, float]]]:
    """Yields the queries of the case in an order, each with `{document id: grade}`, sorted by document id.

    order: of its case queries.
    A statement for 20,000 ratings, or 500 queries, and two for 500 queries.
    """
    rows = case.case_queries.present().select_related("query").order_by(*order)
    for part in batched(rows.iterator(chunk_size=MAX_QUERIES), MAX_QUERIES):
        queries = {row.query_id: row.query for row in part}
        for query_ids in query_batches(queries):
            known_grades = scores.known_grades(case.book, query_ids)
            for query_id in query_ids:
                yield queries[query_id], dict(sorted(known_grades[query_id].items()))


def query_batches(query_ids: Iterable[int]) -> Iterator[list[int]]:
    """Yields the ids of queries in lists that have at most `BATCH` ratings together, or of a single one. One SQL statement for 500."""
    for part in batched(query_ids, MAX_QUERIES):
        of_part = Rating.objects.filter(query__in=part).order_by()
        counts: dict[int, int] = dict(of_part.values_list("query_id").annotate(Count("pk")))
        batch: list[int] = []
        ratings = 0
        for query_id in part:
            count = counts.get(query_id, 0)
            if batch and ratings + count > BATCH:
                yield batch
                batch, ratings = [], 0
            batch.append(query_id)
            ratings += count
        yield batch
