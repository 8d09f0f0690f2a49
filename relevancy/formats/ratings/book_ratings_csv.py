"""All ratings of a book as CSV: one row per rater and document, with the grade that scorers see and who decided it."""

from collections.abc import Iterator

from relevancy import scores
from relevancy.formats.cells import Cell, write_rows
from relevancy.models import Book

from .graded_queries import MAX_QUERIES, query_batches

COLUMNS = ("query", "docid", "grade", "decided_by", "rater", "verdict", "rating", "note", "rated_at")


def export_book_ratings(*, book: Book) -> Iterator[str]:
    """Yields the ratings of the queries that are not retired, in the order of the queries, each with its document and under the query
    that it was given for.

    grade: combined from all ratings of the document by the rule of the book, or the decision of the adjudicator, whom `decided_by`
    then names. A few SQL statements for 500 queries.
    """
    return write_rows(COLUMNS, _rows(book))


def _rows(book: Book) -> Iterator[tuple[Cell, ...]]:
    queries = book.queries.filter(retired_at=None).order_by("pk").values_list("pk", "text")
    for texts in query_batches(queries.iterator(chunk_size=MAX_QUERIES)):
        for query_id, ratings in scores.QueryRatings.read_many(list(texts)).items():
            yield from _rows_of_query(book, texts[query_id], ratings)


def _rows_of_query(book: Book, text: str, ratings: scores.QueryRatings) -> Iterator[tuple[Cell, ...]]:
    grades = ratings.grades(book)
    for doc_id, records in sorted(ratings.by_document.items()):
        grade = f"{grades[doc_id]:.12g}" if doc_id in grades else ""
        decided_by = next((rating.rater_name for rating in records if rating.is_adjudication), "")
        for record in records:
            value = "" if record.value is None else f"{record.value:.12g}"
            rated_at = record.updated_at.isoformat(timespec="seconds")
            yield text, doc_id, grade, decided_by, record.rater_name, record.verdict, value, record.note, rated_at
