"""Grades of documents: the ratings of all raters, combined by the rule of the book."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import batched

from relevancy import scoring
from relevancy.models import Book, current_ratings

BATCH = 500

type RatingRow = tuple[float | None, tuple[datetime, int]]
"""A rating's value, and its time with its id, which decides between two ratings of the same moment."""


def scale_of(book: Book) -> scoring.Scale:
    """Returns the rating scale of a book."""
    return scoring.Scale(book.grades, book.relevant_from)


def combine_grades(book: Book, ratings_by_document: Mapping[str, Iterable[RatingRow]]) -> dict[str, float]:
    """Returns `{document id: grade}` by the book's rule; documents without a grade are absent."""
    scale = scale_of(book)
    grades = {
        doc_id: scoring.combine_ratings(ratings, book.rule, scale) for doc_id, ratings in ratings_by_document.items()
    }
    return {doc_id: grade for doc_id, grade in grades.items() if grade is not None}


def known_grades(book: Book, query_ids: Iterable[int]) -> dict[int, dict[str, float]]:
    """Returns `{query id: {document id: grade}}` for all `query_ids`; unrated documents are absent. One SQL statement per 500."""
    query_ids = list(query_ids)
    ratings: dict[int, dict[str, list[RatingRow]]] = {query_id: defaultdict(list) for query_id in query_ids}
    for batch in batched(query_ids, BATCH):
        rows = current_ratings(("query_id", "doc_id", "value", "updated_at", "id"), query_id__in=batch)
        for query_id, doc_id, value, time, pk in rows:
            if value is not None:
                ratings[query_id][doc_id].append((value, (time, pk)))
    return {query_id: combine_grades(book, documents) for query_id, documents in ratings.items()}
