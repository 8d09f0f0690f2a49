"""The queries of a case with their grades, read in parts, so that memory does not grow with the number of queries or ratings."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import batched
from typing import NamedTuple

from django.db.models import Count

from relevancy import scores
from relevancy.formats.progress import count_read
from relevancy.models import Case, Rating
from relevancy.ratings.query_batches import split_by_ratings

BATCH = 20_000  # ratings in memory at once; those of a query are never divided
MAX_QUERIES = 500  # in a batch


class GradedQuery(NamedTuple):
    """What files of grades have of a query: reading all of it takes ten times as long."""

    pk: int
    text: str
    information_need: str
    tags: list[str]


def graded_queries(
    case: Case, order: Sequence[str] = ("position", "id")
) -> Iterator[tuple[GradedQuery, Mapping[str, float]]]:
    """Yields the queries of the case in an order, each with `{document id: grade}`, sorted by document id.

    order: of its case queries.
    A statement for 20,000 ratings, or 500 queries, and two for 500 queries.
    """
    columns = (f"query__{name}" for name in GradedQuery._fields)
    rows = case.case_queries.present().order_by(*order).values_list(*columns).iterator(chunk_size=MAX_QUERIES)
    for queries in query_batches((row[0], GradedQuery(*row)) for row in rows):
        known_grades = scores.known_grades(case.book, list(queries))
        for query_id, query in queries.items():
            yield query, dict(sorted(known_grades[query_id].items()))


def query_batches[T](rows: Iterable[tuple[int, T]]) -> Iterator[dict[int, T]]:
    """Yields rows by the id of their query, of which there is one each, in parts that have at most `BATCH` ratings together, or of a
    single query. Reads 500 rows at a time, and one SQL statement for these."""
    for part in batched(rows, MAX_QUERIES):
        items = dict(part)
        ratings = Rating.objects.filter(query__in=items).order_by()
        sizes: dict[int, int] = dict(ratings.values_list("query_id").annotate(Count("pk")))
        for query_ids in split_by_ratings(items, sizes, most_ratings=BATCH, most_queries=MAX_QUERIES):
            yield {query_id: items[query_id] for query_id in query_ids}
            count_read(len(query_ids))
