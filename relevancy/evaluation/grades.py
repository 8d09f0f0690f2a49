"""The ratings of queries, brought together by their book's rule: what scorers see."""

from collections import defaultdict
from collections.abc import Iterable

from relevancy import scoring
from relevancy.models import Book, Rating, Verdict


def scale_of(book: Book) -> scoring.Scale:
    """The book's rating scale as arithmetic knows it."""
    return scoring.Scale(book.grades, book.relevant_from)


def known_grades(book: Book, query_ids: Iterable[int]) -> dict[int, dict[str, float]]:
    """`{query id: {document id: grade}}` for every query asked for; unrated documents are absent. One SQL statement per 500."""
    wanted = list(query_ids)
    found: dict[int, dict[str, list[tuple[float | None, object]]]] = {
        query_id: defaultdict(list) for query_id in wanted
    }
    for start in range(0, len(wanted), 500):
        rows = Rating.objects.filter(query_id__in=wanted[start : start + 500], verdict=Verdict.RATED)
        for query_id, doc_id, value, when, key in rows.values_list("query_id", "doc_id", "value", "changed_at", "id"):
            found[query_id][doc_id].append((value, (when, key)))
    scale = scale_of(book)
    return {
        query_id: {
            doc_id: grade
            for doc_id, ratings in documents.items()
            if (grade := scoring.combine(ratings, book.rule, scale)) is not None
        }
        for query_id, documents in found.items()
    }
